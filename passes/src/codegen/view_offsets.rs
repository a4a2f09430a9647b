// SPDX-License-Identifier: Apache-2.0
//! `skript-yield-offsets`: yields the offsets of views from branches instead of the views.
//!
//! After `skript-plan-memory`, the branches of an `scf.if` usually yield views of the arena. This pass yields the offsets
//! instead, and creates the view after the branch. An outlined function (`skript-outline-parts`) can return an offset, but
//! not an array. Branches that yield views of different arrays are not changed.

use crate::ir;
use crate::ir::memref::ByteView;
use crate::ir::ops;
use crate::ir::scf::If;
use crate::ir::{Builder, regions};
use melior::Context;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError};

/// The pass `skript-yield-offsets`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-yield-offsets",
    summary: "yield offsets of views from branches instead of views",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::MemRef],
    run: |root, _, rewriter| below(rewriter.context(), root),
    ..Pass::NONE
};

/// Rewrites nested branches in textual order, inner branches first: a branch may yield the result of an inner branch.
fn below<'c: 'a, 'a>(context: &'c Context, op: OperationRef<'c, 'a>) -> Result<(), PassError> {
    for inner in ir::children(op) {
        below(context, inner)?;
    }
    match ir::name(op).as_str() {
        ops::scf::IF => branch(context, op),
        _ => Ok(()),
    }
}

/// The replacement of a result.
enum Selected<'c, 'a> {
    /// A result of this type.
    Same(Type<'c>),
    /// A view of the buffer. For its offset and each of its sizes, the value that both branches share, or `None` for a
    /// result.
    View(Value<'c, 'a>, Vec<Option<Value<'c, 'a>>>),
}

fn branch<'c: 'a, 'a>(context: &'c Context, op: OperationRef<'c, 'a>) -> Result<(), PassError> {
    let ends = ir::blocks(op).into_iter().filter_map(|block| ir::operations(block).last().copied());
    let [first, second] = ends.collect::<Vec<_>>()[..] else {
        return Ok(());
    };
    let mut selected = Vec::with_capacity(op.result_count());
    for (number, result) in op.results().enumerate() {
        let (first, second) = (first.operand(number)?, second.operand(number)?);
        selected.push(match (ByteView::of(first), ByteView::of(second)) {
            (Some(one), Some(other)) if one.buffer() == other.buffer() => {
                let (left, right) = (one.op(), other.op());
                let pairs = left.operands().zip(right.operands()).skip(1);
                let shared = pairs.map(|(one, other)| (one == other).then_some(one));
                Selected::View(one.buffer()?, shared.collect())
            }
            _ => Selected::Same(result.r#type()),
        });
    }
    if !selected.iter().any(|selected| matches!(selected, Selected::View(..))) {
        return Ok(());
    }
    let index = Type::index(context);
    let types = selected.iter().flat_map(|selected| match selected {
        Selected::Same(r#type) => vec![*r#type],
        Selected::View(_, shared) => vec![index; shared.iter().filter(|s| s.is_none()).count()],
    });
    let types: Vec<Type> = types.collect();
    for terminator in [first, second] {
        ir::set_operands(terminator, &yielded(terminator, &selected));
    }
    let arms = vec![regions::take(op, 0)?, regions::take(op, 1)?];
    let condition = If::cast(op).ok_or("not a branch")?.condition()?;
    let at = Builder::at(op);
    let branch = at.create(ops::scf::IF, &[condition], &[], &types, arms)?;
    let mut results = branch.results().map(Value::from);
    let missing = || PassError::at(branch, "a branch without one of its results");
    for (old, selected) in op.results().zip(selected) {
        let new = match selected {
            Selected::Same(_) => results.next().ok_or_else(missing)?,
            Selected::View(array, shared) => {
                let mut operands = vec![array];
                for shared in shared {
                    operands.push(shared.or_else(|| results.next()).ok_or_else(missing)?);
                }
                at.value(ops::memref::VIEW, &operands, &[], old.r#type())?
            }
        };
        ir::replace_uses(old.into(), new);
    }
    ir::erase(op);
    Ok(())
}

/// Returns the operands of a terminator. Each view is replaced by its offset and sizes, except those that both branches share.
fn yielded<'c: 'a, 'a>(
    terminator: OperationRef<'c, 'a>,
    selected: &[Selected<'c, 'a>],
) -> Vec<Value<'c, 'a>> {
    let mut yielded = Vec::new();
    for (operand, selected) in terminator.operands().zip(selected) {
        match (selected, ByteView::of(operand)) {
            (Selected::View(_, shared), Some(view)) => {
                let view = view.op();
                let values = view.operands().skip(1).zip(shared);
                yielded.extend(values.filter(|(_, shared)| shared.is_none()).map(|(value, _)| value));
            }
            _ => yielded.push(operand),
        }
    }
    yielded
}
