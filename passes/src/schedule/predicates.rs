// SPDX-License-Identifier: Apache-2.0
//! Predicates that are evaluated before the reductions which they do not depend on.

use super::body::Operand;
use super::payload::Known;
use super::writer::{Point, Predicate, State, Writer};
use crate::ir::ops;

impl Writer<'_> {
    /// The reduction loops from `level` on, which the predicate does not depend on: without it where it holds at all
    /// points, not at all where it holds at none.
    pub(super) fn hoisted(
        &mut self,
        level: usize,
        predicate: &Operand,
        state: &State,
        points: &[Point],
        accumulators: &[String],
    ) -> Vec<String> {
        let values = self.bools(predicate, state, points);
        let distinct = distinct(&values);
        let all = self.folded(ops::arith::ANDI, &distinct);
        let any = self.folded(ops::arith::ORI, &distinct);
        self.choice(
            &all,
            accumulators.len(),
            |w| w.reductions(level, &state.with(Predicate::Holds), points, accumulators.to_vec()),
            |w| {
                if distinct.len() == 1 {
                    return accumulators.to_vec();
                }
                let some = state.with(Predicate::Values(values.clone()));
                w.choice(
                    &any,
                    accumulators.len(),
                    |w| w.reductions(level, &some, points, accumulators.to_vec()),
                    |_| accumulators.to_vec(),
                )
            },
        )
    }

    /// The reduction loops from `level` on: not at all where no point contributes.
    pub(super) fn skipped(
        &mut self,
        level: usize,
        skips: &Operand,
        state: &State,
        points: &[Point],
        accumulators: &[String],
    ) -> Vec<String> {
        let values = distinct(&self.bools(skips, state, points));
        let any = self.folded(ops::arith::ORI, &values);
        let all = state.with(Predicate::Holds);
        self.choice(
            &any,
            accumulators.len(),
            |w| w.reductions(level, &all, points, accumulators.to_vec()),
            |_| accumulators.to_vec(),
        )
    }

    /// A scalar bool of the payload at each point.
    fn bools(&mut self, value: &Operand, state: &State, points: &[Point]) -> Vec<String> {
        let mut known = Known::default();
        let mut bool_at = |point| self.payload(value, state, point, &mut known).name;
        points.iter().map(&mut bool_at).collect()
    }

    /// Bools combined by an operation.
    fn folded(&mut self, name: &str, bools: &[String]) -> String {
        let Some((first, rest)) = bools.split_first() else {
            return String::new();
        };
        rest.iter().fold(first.clone(), |all, value| self.define(&format!("{name} {all}, {value} : i1")))
    }

    /// A branch whose results are accumulators.
    pub(super) fn choice(
        &mut self,
        condition: &str,
        count: usize,
        then: impl FnOnce(&mut Self) -> Vec<String>,
        otherwise: impl FnOnce(&mut Self) -> Vec<String>,
    ) -> Vec<String> {
        let element = self.body.accumulator.clone();
        let kinds = vec![self.vector_type(&element); count].join(", ");
        let results = self.fresh();
        self.line(&format!("{results}:{count} = scf.if {condition} -> ({kinds}) {{"));
        self.depth += 1;
        let values = then(self);
        self.line(&format!("scf.yield {} : {kinds}", values.join(", ")));
        self.depth -= 1;
        self.line("} else {");
        self.depth += 1;
        let values = otherwise(self);
        self.line(&format!("scf.yield {} : {kinds}", values.join(", ")));
        self.depth -= 1;
        self.line("}");
        (0..count).map(|r| format!("{results}#{r}")).collect()
    }
}

/// The names without those that occur twice, sorted.
fn distinct(names: &[String]) -> Vec<String> {
    let mut names = names.to_vec();
    names.sort();
    names.dedup();
    names
}
