// SPDX-License-Identifier: Apache-2.0
//! `skript-open-arguments`: turns arrays of the entry into views of byte arrays.
//!
//! C passes pointers. MLIR's bare-pointer convention supports neither zero nor dynamic extents; byte arrays always
//! work. A view is created where it is first needed.
//!
//! Requires: a bufferized entry of one block with contiguous arrays; an argument with dynamic extents has upper bounds
//! in `skript.bounds`, and another argument, marked `skript.extents` with its position, holds its i64 extents; one marked
//! `skript.result_extents` receives those of a result.
//! Guarantees: every array argument of the entry is bytes or extents.

use super::order::Order;
use crate::extents::size;
use crate::ir;
use crate::ir::attribute_names;
use crate::ir::ops;
use crate::ir::{Builder, attributes, mutation, types};
use melior::ir::attribute::{DenseI64ArrayAttribute, IntegerAttribute};
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationRef;
use melior::ir::r#type::{DimSize, MemRefType};
use melior::ir::{Attribute, AttributeLike, ShapedTypeLike, Type, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError};

/// The pass `skript-open-arguments`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-open-arguments",
    summary: "turn arrays of the entry into views of bytes",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::MemRef],
    run: |root, _, rewriter| {
        let entry = ir::uncalled_entry(root)?;
        let body = ir::body(entry)?;
        let context = rewriter.context();
        let order = Order::of(body);
        let arguments: Vec<Value> =
            (0..body.argument_count()).filter_map(|n| body.argument(n).ok().map(Into::into)).collect();
        let attributes = ir::argument_attributes(entry);
        for (n, argument) in arguments.iter().enumerate() {
            let Ok(memref) = MemRefType::try_from(argument.r#type()) else {
                continue;
            };
            let element = memref.element().to_string();
            // Slots of outputs, and arrays that are as good as those.
            let is_bytes = element == "i8" && matches!(bounds(memref, None).as_deref(), Some([n]) if *n > 0);
            let marks = [attribute_names::EXTENTS, attribute_names::RESULT_EXTENTS];
            let is_extents = marks.iter().any(|mark| named(&attributes, n, mark).is_some());
            if is_extents || is_bytes {
                continue;
            }
            let refuse = |why: &str| PassError::at(entry, format!("argument {n} {why}"));
            if !memref.layout().is_affine_map() {
                return Err(refuse("is not a contiguous array: its layout has strides"));
            }
            let bounds = bounds(memref, named(&attributes, n, attribute_names::BOUNDS))
                .ok_or_else(|| refuse("has a dynamic extent without an upper bound"))?;
            let element = size::element_bytes(&element);
            let bytes = bounds
                .iter()
                .try_fold(element.unwrap_or(0), |v, e| v.checked_mul(*e))
                .and_then(|b| i64::try_from(b).ok())
                .filter(|_| element.is_some())
                .ok_or_else(|| refuse("has no size"))?;
            let holder = (0..arguments.len())
                .find(|m| number(named(&attributes, *m, attribute_names::EXTENTS)) == Some(n as i64))
                .and_then(|m| arguments.get(m));
            if holder.is_none() && !memref.has_static_shape() {
                return Err(refuse("has a dynamic extent, and no argument with `skript.extents` holds it"));
            }
            // No array of no bytes: its pointer need not exist.
            let bytes = types::memref(&[bytes.max(1)], byte(context));
            let Some(first) = order.first_user(*argument) else {
                mutation::retype(*argument, bytes);
                continue;
            };
            let at = Builder::before(context, first)?;
            let mut operands = vec![*argument, at.index(0)?];
            if let Some(extents) = holder {
                for dimension in dynamic(memref) {
                    let bound = bounds.get(dimension).copied().unwrap_or_default();
                    operands.push(load(*extents, dimension, bound, &at)?);
                }
            }
            let view = at.create(ops::memref::VIEW, &operands, &[], &[argument.r#type()], Vec::new())?;
            ir::replace_uses(*argument, view.result(0)?.into());
            mutation::set_operand(view, 0, *argument);
            // The only use of the argument is the view, which accepts bytes.
            mutation::retype(*argument, bytes);
        }
        ir::set_signature(entry, None)?;
        Ok(())
    },
    ..Pass::NONE
};

/// Extents, with bounds for those known only at run time.
fn bounds(memref: MemRefType, attribute: Option<Attribute>) -> Option<Vec<u64>> {
    let declared = attribute.and_then(|a| DenseI64ArrayAttribute::try_from(a).ok());
    (0..memref.rank())
        .map(|n| match memref.dim_size(n).ok()? {
            DimSize::Static(extent) => Some(extent),
            DimSize::Dynamic => u64::try_from(declared.as_ref()?.element(n).ok()?).ok(),
        })
        .collect()
}

/// The dimensions whose extents are known only at run time.
fn dynamic(memref: MemRefType) -> Vec<usize> {
    let is_dynamic = |n: &usize| matches!(memref.dim_size(*n), Ok(DimSize::Dynamic));
    (0..memref.rank()).filter(is_dynamic).collect()
}

/// Loads an extent that the caller passes, clamped to its upper bound.
fn load<'c: 'a, 'a>(
    extents: Value<'c, 'a>,
    dimension: usize,
    bound: u64,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let too_large = || PassError::from("an extent beyond 64 bits");
    let index = Type::index(at.context);
    let place = at.index(i64::try_from(dimension).map_err(|_| too_large())?)?;
    let word = types::word(at.context);
    let extent = at.value(ops::memref::LOAD, &[extents, place], &[], word)?;
    let extent = at.value(ops::arith::INDEX_CAST, &[extent], &[], index)?;
    let bound = at.index(i64::try_from(bound).map_err(|_| too_large())?)?;
    Ok(at.value(ops::arith::MINUI, &[extent, bound], &[], index)?)
}

fn byte(context: &melior::Context) -> Type<'_> {
    melior::ir::r#type::IntegerType::new(context, 8).into()
}

fn named<'c>(dictionaries: &[Attribute<'c>], argument: usize, name: &str) -> Option<Attribute<'c>> {
    attributes::entry(*dictionaries.get(argument)?, name)
}

/// The arguments of the entry whose extents another one holds.
pub(crate) fn extents_from_caller(entry: OperationRef) -> Vec<usize> {
    let attributes = ir::argument_attributes(entry);
    let described =
        (0..attributes.len()).filter_map(|n| number(named(&attributes, n, attribute_names::EXTENTS)));
    described.filter_map(|n| usize::try_from(n).ok()).collect()
}

fn number(attribute: Option<Attribute>) -> Option<i64> {
    Some(IntegerAttribute::try_from(attribute?).ok()?.value())
}
