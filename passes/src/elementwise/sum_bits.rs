// SPDX-License-Identifier: Apache-2.0
//! `skript-sum-bits`: computes sums over the bits of integers as operations on whole integers.
//!
//! The language has no operators on bits. A formula reads bit k of x as `x / 2 ** k % 2`, and sums over k: the sum of the bits is their
//! number, and the sum of bits times `2 ** k` is an integer with these bits. If the terms are boolean functions of bits, as in
//! `a / 2 ** k % 2 != b / 2 ** k % 2 ? 2 ** k : 0`, the same function of the integers computes all of them at once.
//!
//! Requires: `linalg.generic` on tensors with shifts instead of divisions (`skript-fold-integers`). Guarantees: results do not change.

mod term;

use super::hoist_invariants::tensor_nest;
use crate::ir::generic::{Access, LoopNest, PayloadPart, all_loops, rebuild};
use crate::ir::walk::named;
use crate::ir::{self, Builder, ops};
use melior::Error;
use melior::ir::OperationRef;
use skript_dialect::melior;
use skript_dialect::{Dialect, Pass, PassError};
use term::{Term, Terms};

pub(crate) const PASS: Pass = Pass {
    flag: "skript-sum-bits",
    summary: "compute sums over the bits of integers as operations on whole integers",
    dependent_dialects: &[Dialect::Arith, Dialect::Linalg, Dialect::Math],
    run: |root, _, rewriter| {
        for op in named(root, ops::linalg::GENERIC) {
            if let Some(sum) = Sum::new(op) {
                sum.replace(&Builder::before(rewriter.context(), op)?)?;
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Largest number of bits of a sum, which remains a positive 64-bit integer.
const MAX_BITS: i64 = 62;

/// A reduction over the bits of integers.
struct Sum<'c, 'a> {
    nest: LoopNest<'c, 'a>,
    /// The number of bits.
    count: i64,
    term: Term<'c, 'a>,
}

impl<'c: 'a, 'a> Sum<'c, 'a> {
    /// `None` for an operation that is not changed.
    fn new(op: OperationRef<'c, 'a>) -> Option<Self> {
        let nest = tensor_nest(op)?;
        let [bits] = nest.loops(true).collect::<Vec<_>>()[..] else {
            return None;
        };
        let count = nest.extent(bits).filter(|count| (1..=MAX_BITS).contains(count))?;
        let accumulation = nest.accumulation()?;
        let is_sum = ir::name(accumulation.op) == ops::arith::ADDI && term::is_wide(accumulation.value);
        if !is_sum || !nest.loops(false).eq(nest.output()?.indices()?) {
            return None;
        }
        let term = Terms::new(&nest, bits, count).term(accumulation.value)?;
        term.is_sum().then_some(Sum { nest, count, term })
    }

    /// Replaces the reduction by a map.
    fn replace(&self, at: &Builder<'c, 'a>) -> Result<(), PassError> {
        let parallel: Vec<usize> = self.nest.loops(false).collect();
        let all = 0..self.nest.extents.len();
        let renamed = all.map(|l| parallel.iter().position(|other| *other == l)).collect();
        let part = PayloadPart::new(&self.nest, &self.term.values(), renamed).ok_or(Error::OperationBuild)?;
        let output = self.nest.output().ok_or(Error::OperationBuild)?;
        let accesses = [part.inputs.clone(), vec![Access(output.value, all_loops(parallel.len()))]].concat();
        let op = rebuild(at, &self.nest, &accesses, &vec![false; parallel.len()], |inside, new| {
            let copier = part.copy(new, inside)?;
            let before = *new.last().ok_or(Error::OperationBuild)?;
            let sum = self.term.sum(self.count, &copier, inside, before)?;
            Ok::<_, PassError>(vec![inside.addi(before, sum)])
        })?;
        ir::replace_uses(self.nest.op.result(0)?.into(), ir::result(op)?);
        ir::erase(self.nest.op);
        Ok(())
    }
}
