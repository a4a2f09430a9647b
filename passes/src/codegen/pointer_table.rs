// SPDX-License-Identifier: Apache-2.0
//! `skript-point-arguments`: passes arrays of the entry as pointers, many of them in a table.
//!
//! Upstream's conversion of functions takes time that grows with the square of the number of arguments, and so do
//! several passes of LLVM. If the entry has more than `most` arguments, those that it only reads (without
//! `llvm.noalias`) come from a table of pointers, the last argument; the attribute `skript.slot` of each remaining
//! argument states its original position.
//!
//! Requires: an entry of one block whose arrays are contiguous, static and of rank 1, as `skript-open-arguments` leaves
//! them. Guarantees: each array is an `!llvm.ptr`, and its memref is created where it is first needed.

use super::order::Order;
use crate::ir;
use crate::ir::attribute_names;
use crate::ir::mutation::retype;
use crate::ir::ops;
use crate::ir::outline::NOALIAS;
use crate::ir::{Builder, attributes, types};
use melior::ir::attribute::{ArrayAttribute, IntegerAttribute, TypeAttribute};
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationLike;
use melior::ir::r#type::{DimSize, MemRefType};
use melior::ir::{ShapedTypeLike, Type, TypeLike, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError, PassOption};

/// The pass `skript-point-arguments`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-point-arguments",
    summary: "pass arrays of the entry as pointers, many of them in a table",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Llvm],
    options: &[PassOption {
        name: "most",
        summary: "maximum number of arguments of an entry without a table",
        default: "64",
    }],
    run: |root, options, rewriter| {
        let most: usize = options.get("most")?;
        let entry = ir::uncalled_entry(root)?;
        let body = ir::body(entry)?;
        let context = rewriter.context();
        let pointer = ir::parse_type(entry.context(), "!llvm.ptr")?;
        let order = Order::of(body);
        let count = body.argument_count();
        let known = ir::argument_attributes(entry);
        let table = (count > most).then(|| body.add_argument(pointer, entry.location()));
        let (mut dictionaries, mut tabled) = (Vec::new(), Vec::new());
        for n in 0..count {
            let argument: Value = body.argument(n)?.into();
            let array = argument.r#type();
            let extent = extent(array);
            if array.is_mem_ref() && extent.is_none() {
                let why = "is not a contiguous array of rank 1: run `skript-open-arguments` first";
                return Err(PassError::at(entry, format!("argument {n} {why}")));
            }
            let own = known.get(n).and_then(|own| attributes::entry(*own, NOALIAS));
            let is_written = own.is_some();
            let table = table.filter(|_| array.is_mem_ref() && !is_written);
            if let (Some(extent), Some(first)) = (extent, order.first_user(argument)) {
                let at = Builder::before(context, first)?;
                let slot = table.map(|table| slot(table, n, &at)).transpose()?;
                describe(argument, slot, pointer, extent, &at)?;
            }
            if extent.is_some() {
                retype(argument, pointer);
            }
            if table.is_some() {
                tabled.push(n);
                continue;
            }
            let slot = format!("{} = {n} : i64", attribute_names::SLOT);
            let own = if is_written { format!("{{{NOALIAS}, {slot}}}") } else { format!("{{{slot}}}") };
            dictionaries.push(ir::parse_attribute(entry.context(), &own)?);
        }
        if table.is_some() {
            for n in tabled.into_iter().rev() {
                ir::mutation::erase_argument(body, n);
            }
            let own = format!("{{{NOALIAS}, llvm.readonly, {}}}", attribute_names::TABLE);
            dictionaries.push(ir::parse_attribute(entry.context(), &own)?);
            let dictionaries = ArrayAttribute::new(context, &dictionaries).into();
            ir::set_attribute(entry, "arg_attrs", dictionaries);
        }
        ir::set_signature(entry, None)?;
        Ok(())
    },
};

/// The pointer in a slot of the table.
fn slot<'c: 'a, 'a>(
    table: Value<'c, 'a>,
    number: usize,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let pointer = table.r#type();
    let number = i32::try_from(number).map_err(|_| "more arguments than a table holds")?;
    let place = at.value(
        ops::llvm::GETELEMENTPTR,
        &[table],
        &[
            ("rawConstantIndices", attributes::i32s(at.context, &[number])),
            ("elem_type", TypeAttribute::new(pointer).into()),
        ],
        pointer,
    )?;
    // Volatile, so that it stays here: for any other, LLVM looks for a value in all blocks before, and of thousands of
    // pointers that are loaded early it keeps all in memory.
    let stays = [("volatile_", attributes::unit(at.context))];
    Ok(at.value(ops::llvm::LOAD, &[place], &stays, pointer)?)
}

/// The extent of a contiguous array of rank 1.
fn extent(array: Type) -> Option<i64> {
    let memref = MemRefType::try_from(array).ok()?;
    if memref.rank() != 1 || memref.strides_and_offset() != (vec![1], 0) {
        return None;
    }
    match memref.dim_size(0).ok()? {
        DimSize::Static(extent) => i64::try_from(extent).ok(),
        DimSize::Dynamic => None,
    }
}

/// Replaces the array `argument` for its users by the descriptor that its type is lowered to, made of the pointer from
/// the table, or of the pointer that the argument becomes.
fn describe<'c: 'a, 'a>(
    argument: Value<'c, 'a>,
    from_table: Option<Value<'c, 'a>>,
    pointer: Type<'c>,
    extent: i64,
    at: &Builder<'c, 'a>,
) -> Result<(), PassError> {
    let word = types::word(at.context);
    let descriptor =
        ir::parse_type(pointer.context(), "!llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>")?;
    let number = |value: i64| {
        let value = IntegerAttribute::new(word, value).into();
        at.value(ops::llvm::MLIR_CONSTANT, &[], &[("value", value)], word)
    };
    // Replaces the argument until its users are rewritten.
    let stand_in = at.create(ops::llvm::MLIR_POISON, &[], &[], &[pointer], Vec::new())?;
    let base = stand_in.result(0)?.into();
    let mut built = at.value(ops::llvm::MLIR_POISON, &[], &[], descriptor)?;
    let fields: [(Value, &[i64]); 5] =
        [(base, &[0]), (base, &[1]), (number(0)?, &[2]), (number(extent)?, &[3, 0]), (number(1)?, &[4, 0])];
    for (value, place) in fields {
        let place = [("position", attributes::i64s(at.context, place))];
        built = at.value(ops::llvm::INSERTVALUE, &[built, value], &place, descriptor)?;
    }
    let cast = ops::builtin::UNREALIZED_CONVERSION_CAST;
    let array = at.value(cast, &[built], &[], argument.r#type())?;
    ir::replace_uses(argument, array);
    ir::replace_uses(base, from_table.unwrap_or(argument));
    ir::erase(stand_in);
    Ok(())
}
