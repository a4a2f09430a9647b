// SPDX-License-Identifier: Apache-2.0
//! Hoists predicates out of the reductions that they do not depend on.

use super::body::Operand;
use super::payload::Known;
use super::writer::{Point, Predicate, State, Writer};
use crate::ir::{Builder, ValueKey};
use melior::ir::Value;
use std::collections::HashSet;

impl<'c: 'a, 'a> Writer<'_, 'c, 'a> {
    /// Emits the reduction loops from `level` on, which the predicate does not depend on. If the predicate holds at all points, the
    /// loops do not evaluate it; if it holds at none, the loops do not run.
    pub(super) fn hoisted(
        &mut self,
        level: usize,
        predicate: &Operand,
        state: &State<'c, 'a>,
        points: &[Point],
        accumulators: &[Value<'c, 'a>],
    ) -> Vec<Value<'c, 'a>> {
        let values = self.bools(predicate, state, points);
        let distinct = distinct(&values);
        let all = self.folded(Builder::andi, &distinct);
        let any = self.folded(Builder::ori, &distinct);
        self.choice(all, accumulators.len(), |w, all_hold| {
            if all_hold {
                return w.reductions(level, &state.with(Predicate::Holds), points, accumulators.to_vec());
            }
            if distinct.len() == 1 {
                return accumulators.to_vec();
            }
            let some = state.with(Predicate::Values(values.clone()));
            w.choice(any, accumulators.len(), |w, any_holds| {
                let unchanged = accumulators.to_vec();
                if any_holds { w.reductions(level, &some, points, unchanged) } else { unchanged }
            })
        })
    }

    /// Emits the reduction loops from `level` on; they do not run if no point contributes.
    pub(super) fn skipped(
        &mut self,
        level: usize,
        skips: &Operand,
        state: &State<'c, 'a>,
        points: &[Point],
        accumulators: &[Value<'c, 'a>],
    ) -> Vec<Value<'c, 'a>> {
        let values = distinct(&self.bools(skips, state, points));
        let any = self.folded(Builder::ori, &values);
        let all = state.with(Predicate::Holds);
        self.choice(any, accumulators.len(), |w, any_holds| {
            let unchanged = accumulators.to_vec();
            if any_holds { w.reductions(level, &all, points, unchanged) } else { unchanged }
        })
    }

    /// Computes a scalar bool of the payload at each point.
    fn bools(&mut self, value: &Operand, state: &State<'c, 'a>, points: &[Point]) -> Vec<Value<'c, 'a>> {
        let mut known = Known::default();
        points.iter().map(|point| self.payload(value, state, point, &mut known)).collect()
    }

    /// Reduces bools by an operation.
    fn folded(
        &self,
        combine: impl Fn(&Builder<'c, 'a>, Value<'c, 'a>, Value<'c, 'a>) -> Value<'c, 'a>,
        bools: &[Value<'c, 'a>],
    ) -> Value<'c, 'a> {
        let combined = bools.iter().copied().reduce(|all, bool| combine(&self.at, all, bool));
        combined.unwrap_or_else(|| unreachable!("internal compiler error: a tile without points"))
    }

    /// Emits a branch whose results are accumulators: `branch` first writes the case where the condition holds, then the other case.
    pub(super) fn choice(
        &mut self,
        condition: Value<'c, 'a>,
        count: usize,
        branch: impl FnMut(&mut Self, bool) -> Vec<Value<'c, 'a>>,
    ) -> Vec<Value<'c, 'a>> {
        let kinds = vec![self.sums(); count];
        self.branch(condition, &kinds, branch)
    }
}

/// Returns the values without duplicates.
fn distinct<'c, 'a>(values: &[Value<'c, 'a>]) -> Vec<Value<'c, 'a>> {
    let mut seen = HashSet::new();
    values.iter().copied().filter(|value| seen.insert(ValueKey::of(*value))).collect()
}
