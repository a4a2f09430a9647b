// SPDX-License-Identifier: Apache-2.0
//! `skript-yield-offsets`: yields the offsets of views from branches instead of the views.
//!
//! After `skript-plan-memory` both branches of an `scf.if` mostly yield views of the arena. The branch yields the
//! offset, and the view is created after it. An offset can be a result of an outlined function
//! (`skript-outline-parts`), an array cannot. Views of different arrays stay.

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

/// Rewrites branches below an op in textual order, inner ones first: a branch may yield the result of an inner one.
fn below<'c: 'a, 'a>(context: &'c Context, op: OperationRef<'c, 'a>) -> Result<(), PassError> {
    for block in ir::blocks(op) {
        for inner in ir::operations(block) {
            below(context, inner)?;
        }
    }
    match ir::name(op).as_str() {
        ops::scf::IF => branch(context, op),
        _ => Ok(()),
    }
}

/// The replacement of a result.
enum Selected<'c, 'a> {
    /// Itself.
    Same(Type<'c>),
    /// A view of the array; its offset and its sizes are those that an arm has each, or those that both have.
    View(Value<'c, 'a>, Vec<Option<Value<'c, 'a>>>),
}

fn branch<'c: 'a, 'a>(context: &'c Context, op: OperationRef<'c, 'a>) -> Result<(), PassError> {
    let ends = ir::blocks(op).into_iter().filter_map(|block| ir::operations(block).last().copied());
    let [first, second] = ends.collect::<Vec<_>>()[..] else {
        return Ok(());
    };
    let mut chosen = Vec::with_capacity(op.result_count());
    for (number, result) in op.results().enumerate() {
        let (first, second) = (first.operand(number)?, second.operand(number)?);
        chosen.push(match (view(first), view(second)) {
            (Some(one), Some(other)) if one.buffer() == other.buffer() => {
                let (left, right) = (one.op(), other.op());
                let pairs = left.operands().zip(right.operands()).skip(1);
                let shared = pairs.map(|(one, other)| (one == other).then_some(one));
                Selected::View(one.buffer()?, shared.collect())
            }
            _ => Selected::Same(result.r#type()),
        });
    }
    if !(chosen.iter()).any(|chosen| matches!(chosen, Selected::View(..))) {
        return Ok(());
    }
    let index = Type::index(context);
    let types = chosen.iter().flat_map(|chosen| match chosen {
        Selected::Same(r#type) => vec![*r#type],
        Selected::View(_, shared) => vec![index; shared.iter().filter(|s| s.is_none()).count()],
    });
    let types: Vec<Type> = types.collect();
    for end in [first, second] {
        let mut yielded = Vec::with_capacity(types.len());
        for (operand, chosen) in end.operands().zip(&chosen) {
            match (chosen, view(operand)) {
                (Selected::View(_, shared), Some(view)) => {
                    let view = view.op();
                    let own = view.operands().skip(1).zip(shared);
                    yielded.extend(own.filter(|(_, s)| s.is_none()).map(|(own, _)| own));
                }
                _ => yielded.push(operand),
            }
        }
        ir::set_operands(end, &yielded);
    }
    let at = Builder::before(context, op)?.with_location(op.location());
    let arms = vec![regions::take(op, 0)?, regions::take(op, 1)?];
    let condition = If::cast(op).ok_or("not a branch")?.condition()?;
    let again = at.create(ops::scf::IF, &[condition], &[], &types, arms)?;
    let mut results = again.results().map(Value::from);
    let missing = || PassError::at(again, "a branch without one of its results");
    for (old, chosen) in op.results().zip(chosen) {
        let new = match chosen {
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

/// The view that a value is.
fn view<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<ByteView<'c, 'a>> {
    ByteView::of(value)
}
