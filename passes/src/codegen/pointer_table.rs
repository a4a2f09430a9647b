// SPDX-License-Identifier: Apache-2.0
//! `skript-point-arguments`: passes arrays of the entry as pointers, or in a table of pointers if there are many.
//!
//! MLIR's conversion of functions and several LLVM passes are quadratic in the number of arguments. If the entry has more
//! than `most` arguments, the read-only arguments (without `llvm.noalias`) are passed in a table of pointers, which is the
//! last argument. The attribute `skript.slot` of each remaining argument is its original position.
//!
//! Requires: an entry of one block whose arrays are contiguous, static and of rank 1, as after `skript-open-arguments`.
//! Guarantees: each array is an `!llvm.ptr`, and its memref is created before its first use.

use super::order::Order;
use crate::ir;
use crate::ir::attribute_names::{self, NOALIAS};
use crate::ir::mutation::retype;
use crate::ir::ops;
use crate::ir::{Builder, attributes, types};
use melior::dialect::llvm::r#type::{array, pointer, r#struct};
use melior::ir::attribute::{ArrayAttribute, IntegerAttribute};
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationLike;
use melior::ir::r#type::MemRefType;
use melior::ir::{ShapedTypeLike, Type, TypeLike, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError, PassOption};

/// The pass `skript-point-arguments`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-point-arguments",
    summary: "pass arrays of the entry as pointers, or in a table if there are many",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Llvm],
    options: &[PassOption {
        name: "most",
        summary: "maximum number of arguments of an entry without a table",
        default: "64",
    }],
    run: |root, options, rewriter| {
        let max_arguments: usize = options.get("most")?;
        let entry = ir::uncalled_entry(root)?;
        let body = ir::body(entry)?;
        let context = rewriter.context();
        let pointer = pointer(context, 0);
        let order = Order::new(body);
        let count = body.argument_count();
        let attributes_before = ir::argument_attributes(entry);
        let table = (count > max_arguments).then(|| body.add_argument(pointer, entry.location()));
        let (mut dictionaries, mut tabled) = (Vec::new(), Vec::new());
        for n in 0..count {
            let argument: Value = body.argument(n)?.into();
            let array = argument.r#type();
            let extent = extent(array);
            if array.is_mem_ref() && extent.is_none() {
                let why = "is not a contiguous array of rank 1: run `skript-open-arguments` first";
                return Err(PassError::at(entry, format!("argument {n} {why}")));
            }
            let noalias = attributes_before.get(n).and_then(|entries| attributes::entry(*entries, NOALIAS));
            let is_written = noalias.is_some();
            let table = if array.is_mem_ref() && !is_written { table } else { None };
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
            let number = attributes::i64(context, ir::signed(n));
            let mut entries = vec![(attribute_names::SLOT, number)];
            if is_written {
                entries.push((NOALIAS, attributes::unit(context)));
            }
            dictionaries.push(attributes::dictionary(context, &entries));
        }
        if table.is_some() {
            for n in tabled.into_iter().rev() {
                ir::mutation::erase_argument(body, n);
            }
            let marks = [NOALIAS, "llvm.readonly", attribute_names::TABLE];
            dictionaries.push(attributes::units(context, &marks));
            let dictionaries = ArrayAttribute::new(context, &dictionaries).into();
            ir::set_attribute(entry, "arg_attrs", dictionaries);
        }
        ir::set_signature(entry, None)?;
        Ok(())
    },
};

/// Loads the pointer in a slot of the table.
fn slot<'c: 'a, 'a>(
    table: Value<'c, 'a>,
    number: usize,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let pointer = table.r#type();
    let number = i32::try_from(number).map_err(|_| "more arguments than a table can have")?;
    let address = at.element_pointer(table, &[number], pointer);
    // The load is volatile, so that LLVM does not move it: for other loads, LLVM searches all preceding blocks for an available
    // value, and it would spill thousands of pointers that are loaded early.
    let volatile = [("volatile_", attributes::unit(at.context))];
    Ok(at.value(ops::llvm::LOAD, &[address], &volatile, pointer)?)
}

/// Returns the extent of a contiguous array of rank 1.
fn extent(array: Type) -> Option<i64> {
    let memref = MemRefType::try_from(array).ok()?;
    if memref.rank() != 1 || memref.strides_and_offset() != (vec![1], 0) {
        return None;
    }
    types::shape(array).first().copied().filter(|extent| *extent >= 0)
}

/// Replaces the uses of the array `argument` by the memref descriptor that its type is lowered to. The pointer of the descriptor
/// is loaded from the table, or is the argument itself, whose type becomes a pointer.
fn describe<'c: 'a, 'a>(
    argument: Value<'c, 'a>,
    from_table: Option<Value<'c, 'a>>,
    pointer: Type<'c>,
    extent: i64,
    at: &Builder<'c, 'a>,
) -> Result<(), PassError> {
    let word = types::word(at.context);
    let words = array(word, 1);
    let descriptor = r#struct(at.context, &[pointer, pointer, word, words, words], false);
    let number = |value: i64| {
        let value = IntegerAttribute::new(word, value).into();
        at.value(ops::llvm::MLIR_CONSTANT, &[], &[("value", value)], word)
    };
    // A placeholder for the argument until its users are rewritten.
    let stand_in = at.create(ops::llvm::MLIR_POISON, &[], &[], &[pointer], Vec::new())?;
    let base = stand_in.result(0)?.into();
    let mut fields = at.value(ops::llvm::MLIR_POISON, &[], &[], descriptor)?;
    let values: [(Value, &[i64]); 5] =
        [(base, &[0]), (base, &[1]), (number(0)?, &[2]), (number(extent)?, &[3, 0]), (number(1)?, &[4, 0])];
    for (value, position) in values {
        let position = [("position", attributes::i64s(at.context, position))];
        fields = at.value(ops::llvm::INSERTVALUE, &[fields, value], &position, descriptor)?;
    }
    let cast = ops::builtin::UNREALIZED_CONVERSION_CAST;
    let array = at.value(cast, &[fields], &[], argument.r#type())?;
    ir::replace_uses(argument, array);
    ir::replace_uses(base, from_table.unwrap_or(argument));
    ir::erase(stand_in);
    Ok(())
}
