// SPDX-License-Identifier: Apache-2.0
//! `skript-forward-copies`: computes arrays that are only copied where they are copied to.
//!
//! A formula that runs in order starts from the elements that another one computes, as in `y[i] = 0.0, …; y[i + 1] := …`. Its loops change a
//! separate array, to which the start values are copied. If nothing else reads them, they are computed in this array.
//!
//! Arrays that depend on variables, and functions of positions, are copied as before: `skript-prepare-variables` computes them once.
//!
//! Requires: buffers. Guarantees: arrays have the same elements.

use super::buffer_uses::{BufferUses, has_own_buffer};
use crate::ir::attribute_names::{ENTRY, ROLE};
use crate::ir::memref::{Copy, root};
use crate::ir::walk::{named, nested, parents};
use crate::ir::{self, attributes, func, ops};
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, TypeLike, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::{Pass, op};

/// The pass `skript-forward-copies`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-forward-copies",
    summary: "compute arrays that are only copied where they are copied to",
    run: |root, _, _| {
        for op in named(root, ops::memref::COPY) {
            if let Some(forward) = Forward::new(op) {
                forward.apply();
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// A copy that is not needed.
struct Forward<'c, 'a> {
    copy: OperationRef<'c, 'a>,
    /// The array that remains, and the one that it replaces, which is allocated.
    kept: Value<'c, 'a>,
    replaced: Value<'c, 'a>,
}

impl<'c: 'a, 'a> Forward<'c, 'a> {
    /// `None` for a copy that is needed.
    fn new(op: OperationRef<'c, 'a>) -> Option<Self> {
        let copy = Copy::cast(op)?;
        let (source, target) = (copy.source().ok()?, copy.target().ok()?);
        let is_whole = source.r#type() == target.r#type() && [source, target].iter().all(|x| root(*x) == *x);
        if !is_whole || !is_static_allocation(source) || !has_own_buffer(target) {
            return None;
        }
        let (from, to) = (BufferUses::new(source, op)?, BufferUses::new(target, op)?);
        let is_only_copied = from.is_local && from.after.is_empty() && to.before.is_empty();
        if !is_only_copied || from.before.iter().any(|user| may_be_prepared(*user, source)) {
            return None;
        }
        // The allocation of the source is before all uses; the one of the target may be after some.
        if is_static_allocation(target) {
            return to.is_local.then_some(Forward { copy: op, kept: source, replaced: target });
        }
        let is_result = role(target, op) == Some(None);
        is_result.then_some(Forward { copy: op, kept: target, replaced: source })
    }

    fn apply(&self) {
        let allocation = ir::definition(self.replaced);
        ir::erase(self.copy);
        ir::replace_uses(self.replaced, self.kept);
        if let Some((allocation, _)) = allocation {
            ir::erase(allocation);
        }
    }
}

fn is_static_allocation(array: Value) -> bool {
    ir::definition(array).is_some_and(|(op, _)| op::is(&op, ops::memref::ALLOC) && op.operand_count() == 0)
}

/// Whether an operation that writes an array may be one that is executed once: it reads nothing and computes functions, or
/// it reads what may depend on variables.
fn may_be_prepared<'c: 'a, 'a>(op: OperationRef<'c, 'a>, array: Value<'c, 'a>) -> bool {
    let inside = [vec![op], nested(op)].concat();
    let arrays = inside.iter().flat_map(|op| op.operands()).filter(|value| value.r#type().is_mem_ref());
    let mut read = arrays.map(root).filter(|read| *read != array).peekable();
    if read.peek().is_none() {
        return inside.iter().any(|op| ir::name(*op).starts_with("math."));
    }
    read.any(|array| role(array, op) != Some(Some("input".to_owned())))
}

/// The role of an argument of the entry around an operation; `None` for other arrays. A result has no role.
fn role<'c: 'a, 'a>(array: Value<'c, 'a>, inside: OperationRef<'c, 'a>) -> Option<Option<String>> {
    let number = ir::argument(array)?.argument_number();
    let function = parents(inside).find(|op| op::is(op, ops::func::FUNC))?;
    let is_entry =
        function.attribute(ENTRY).is_ok() && ir::arguments(ir::first_block(function)?).contains(&array);
    let dictionary = func::argument_attributes(function).get(number).copied().filter(|_| is_entry)?;
    Some(attributes::entry(dictionary, ROLE).and_then(attributes::text))
}
