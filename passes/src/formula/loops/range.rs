// SPDX-License-Identifier: Apache-2.0
//! Computes the ranges of loops whose indices the predicate bounds.

use super::Lowering;
use super::dialect::{End, Range};
use crate::formula::Refusal;
use crate::ir::skript::Access;
use crate::ir::walk::parents;
use crate::ir::{self, Builder, ValueKey, ops};
use crate::structure::TermId;
use crate::structure::order::Side;
use melior::ir::operation::{OperationLike, OperationResult};
use melior::ir::{OperationRef, Type, Value, ValueLike};
use skript_semantics::ScalarOp;

impl<'c: 'a, 'a> Lowering<'_, 'c, 'a> {
    /// Computes the range of the loop at a depth: up to `end`, or less if the predicate bounds the index.
    pub(super) fn range(
        &mut self,
        depth: usize,
        end: End<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Range<'c, 'a>, Refusal> {
        let index_of_loop = self.plan.order.get(depth).copied();
        let bounds: Vec<_> =
            self.plan.bounds.iter().filter(|b| Some(b.index) == index_of_loop).copied().collect();
        let mut range = Range::to(end);
        let index = Type::index(at.context);
        for bound in bounds {
            let value = self.bounding(bound.conjunct, bound.value, at)?;
            if bound.side.is_low() {
                // An exclusive lower bound becomes inclusive by adding 1. It is first clamped to -1, so that the sum does not wrap.
                let min = at.idx(if bound.side == Side::Above { -1 } else { 0 });
                let mut low = at.scalar(ScalarOp::Max, &[value, min], index)?;
                if bound.side == Side::Above {
                    low = at.scalar(ScalarOp::Add, &[low, at.idx(1)], index)?;
                }
                range.start = Some(match range.start {
                    Some(start) => at.scalar(ScalarOp::Max, &[start, low], index)?,
                    None => low,
                });
            }
            if bound.side.is_high() {
                let one = at.idx(1);
                let end = range.end.value(at);
                let high = match bound.side {
                    Side::Below => value,
                    // An inclusive upper bound becomes exclusive by adding 1. It is first clamped to the end, so that the sum does not
                    // wrap.
                    _ => {
                        let last = at.scalar(ScalarOp::Min, &[value, end], index)?;
                        at.scalar(ScalarOp::Add, &[last, one], index)?
                    }
                };
                range.end = End::Value(at.scalar(ScalarOp::Min, &[end, high], index)?);
            }
        }
        Ok(range)
    }

    /// Whether the operation is a conjunct of the predicate that holds at all points of the loops.
    pub(super) fn is_implied(&self, op: OperationRef<'c, 'a>) -> bool {
        if self.plan.bounds.is_empty() {
            return false;
        }
        let term = ir::result(op).ok().and_then(|value| self.reading.find(value));
        let compares = op.operand_count() == 2 && op.result_count() == 1;
        compares && term.is_some_and(|term| self.plan.holds(term))
    }

    /// Computes, at this point, the value that bounds an index in a comparison, as an index.
    fn bounding(
        &mut self,
        conjunct: TermId,
        value: TermId,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Refusal> {
        let missing = || Refusal::Shape("has a bound that no comparison states");
        let block = self.reading.predicate.ok_or_else(missing)?;
        self.map_indices(block);
        let nested = ir::nested(self.reading.op).into_iter();
        let mut comparisons = nested.filter(|op| {
            let result = ir::result(*op).ok();
            op.operand_count() == 2 && result.and_then(|value| self.reading.find(value)) == Some(conjunct)
        });
        let comparison = comparisons.next().ok_or_else(missing)?;
        let mut operands = comparison.operands();
        let operand =
            operands.find(|operand| self.reading.find(*operand) == Some(value)).ok_or_else(missing)?;
        let outer = self.copier.clone();
        let built = self.on_demand(operand, at)?;
        self.copier = outer;
        let index = Type::index(at.context);
        if built.r#type() == index {
            return Ok(built);
        }
        Ok(at.value(ops::skript::CAST, &[built], &[], index)?)
    }

    /// Computes a value of a region at this point: copies its operation, and the operations that it depends on.
    fn on_demand(&mut self, value: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, Refusal> {
        let known = self.copier.get(value);
        if ValueKey::of(known) != ValueKey::of(value) {
            return Ok(known);
        }
        let Ok(result) = OperationResult::try_from(value) else {
            return Ok(value);
        };
        let op = result.owner();
        if !parents(op).any(|parent| parent == self.reading.op) {
            return Ok(value);
        }
        // The tensor of an access is not a value of the region.
        let skipped = usize::from(Access::cast(op).is_some());
        for operand in op.operands().skip(skipped) {
            let built = self.on_demand(operand, at)?;
            self.copier.set(operand, built);
        }
        self.copy(&[op], at)?;
        Ok(self.copier.get(value))
    }
}
