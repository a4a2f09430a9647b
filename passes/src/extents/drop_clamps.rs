// SPDX-License-Identifier: Apache-2.0
//! `skript-drop-clamps`: removes clamps and conditions of formulas that shape constraints make redundant.
//!
//! A check establishes that extents are equal or ordered; an index is less than its limit. So `min(i, n - 1)` is `i` if a
//! check establishes that n is the limit of i, and `n > 0` is true inside of a loop up to n. Checks, and the extents of
//! tensors and loops, are not changed.
//!
//! Requires: upper bounds of the entry's arguments (`skript.bounds`).

use super::bounds::Bounds;
use crate::facts::{Facts, end};
use crate::ir;
use crate::ir::copy::{arguments, operation_name};
use crate::ir::ops;
use crate::ir::skript::Formula;
use crate::ir::{blocks, erase, operations, replace_uses};
use crate::ir::{regions, types};

use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, OperationRef, TypeLike, Value, ValueLike};
use skript_dialect::{Pass, PassError, PassOption, melior};
use skript_semantics::{Scalar, ScalarKind};
use skript_symbolic::{Definition, Polynomial};
use std::collections::VecDeque;

/// The pass `skript-drop-clamps`.
pub const PASS: Pass = Pass {
    flag: "skript-drop-clamps",
    summary: "remove clamps and conditions that shape constraints make redundant",
    anchor: Some(ops::builtin::MODULE),
    options: &[PassOption {
        name: "if-bounded",
        summary: "leave a module unchanged, instead of failing, if a dynamic extent has no upper bound",
        default: "false",
    }],
    run: |root, options, _| {
        let lenient: bool = options.get("if-bounded")?;
        match Bounds::new(root) {
            Ok(bounds) => Ok(drop_clamps(root, &bounds)?),
            Err(_) if lenient => Ok(()),
            Err(refusal) => Err(PassError::at(refusal.op, refusal.what)),
        }
    },
    ..Pass::NONE
};

/// Rewrites the formulas of all functions of a module.
///
/// # Errors
/// An operation cannot be built.
pub fn drop_clamps<'c: 'a, 'a>(
    module: OperationRef<'c, 'a>,
    bounds: &Bounds<'c, 'a>,
) -> Result<(), melior::Error> {
    let mut dead = Vec::new();
    for function in blocks(module).into_iter().flat_map(operations) {
        let mut walk = Walk { facts: Facts::with_bounds(bounds.known()), inside: false, dead: Vec::new() };
        for block in blocks(function) {
            walk.block(block)?;
        }
        dead.append(&mut walk.dead);
    }
    dead.into_iter().for_each(erase);
    Ok(())
}

struct Walk<'b, 'c, 'a> {
    facts: Facts<'b>,
    /// Whether the walk is in a formula.
    inside: bool,
    /// Unused operations. They are erased at the end, because values are identified by address.
    dead: Vec<OperationRef<'c, 'a>>,
}

impl<'c: 'a, 'a> Walk<'_, 'c, 'a> {
    fn block(&mut self, block: BlockRef<'c, 'a>) -> Result<(), melior::Error> {
        let mut pending: VecDeque<_> = operations(block).into();
        while let Some(op) = pending.pop_front() {
            let name = operation_name(op);
            match name.as_str() {
                ops::skript::FORMULA => self.formula(op)?,
                ops::scf::IF => match self.selected(op)? {
                    Some(branch) => {
                        for copy in self.inline(op, branch)?.into_iter().rev() {
                            pending.push_front(copy);
                        }
                    }
                    None => self.branch(op)?,
                },
                ops::skript::CHECK => self.facts.learn(ir::operand(op)?),
                _ if blocks(op).is_empty() => self.scalar(op, &name)?,
                _ => {
                    let mark = self.facts.mark();
                    for block in blocks(op) {
                        self.block(block)?;
                        self.facts.rollback(mark);
                    }
                }
            }
        }
        Ok(())
    }

    fn formula(&mut self, op: OperationRef<'c, 'a>) -> Result<(), melior::Error> {
        let formula = Formula::cast(op).ok_or(melior::Error::OperationBuild)?;
        let mark = self.facts.mark();
        let first = self.facts.prover.next_symbol();
        let mut operands = op.operands();
        let mut indices = Vec::new();
        for bound in formula.static_bounds() {
            let limit = match bound {
                types::DYNAMIC => self.facts.number(operands.next().ok_or(melior::Error::OperationBuild)?),
                extent => Polynomial::constant(extent),
            };
            let prover = &mut self.facts.prover;
            // The body is executed only if no loop is empty.
            prover.assume_at_most(&Polynomial::constant(1), &limit);
            prover.derive_positive(&limit);
            indices.push(match limit.as_constant() {
                Some(1) => Polynomial::constant(0),
                _ => prover.define(Definition::Below(limit)),
            });
        }
        self.facts.decide();
        let outside = std::mem::replace(&mut self.inside, true);
        // The body is visited first, because the predicate may read its results.
        for (number, block) in blocks(op).into_iter().rev().enumerate() {
            for (argument, index) in arguments(block).into_iter().zip(&indices) {
                self.facts.set(argument, index.clone());
            }
            self.block(block)?;
            if number == 0 {
                self.facts.learn_positions(op, indices.len(), first);
            }
        }
        self.inside = outside;
        self.facts.rollback(mark);
        Ok(())
    }

    /// The branch of a conditional in a formula that is executed for all indices.
    fn selected(&mut self, op: OperationRef<'c, 'a>) -> Result<Option<usize>, melior::Error> {
        let condition = ir::operand(op)?;
        Ok(if !self.inside {
            None
        } else if self.facts.is_true(condition) {
            Some(0)
        } else {
            self.facts.is_false(condition).then_some(1)
        })
    }

    /// Moves the operations of a branch before the operation; returns them.
    fn inline(
        &mut self,
        op: OperationRef<'c, 'a>,
        branch: usize,
    ) -> Result<Vec<OperationRef<'c, 'a>>, melior::Error> {
        let mut moved = blocks(op).get(branch).map(|b| operations(*b)).unwrap_or_default();
        moved.pop();
        let taken = regions::take(op, branch)?;
        let values = regions::inline(op, &taken)?;
        for (result, value) in op.results().zip(values) {
            replace_uses(result.into(), value);
        }
        self.dead.push(op);
        Ok(moved)
    }

    /// Visits the branches; the first branch assumes that the condition holds.
    fn branch(&mut self, op: OperationRef<'c, 'a>) -> Result<(), melior::Error> {
        let mark = self.facts.mark();
        for (number, block) in blocks(op).into_iter().enumerate() {
            if number == 0 {
                self.facts.learn(ir::operand(op)?);
                self.facts.decide();
            }
            self.block(block)?;
            self.facts.rollback(mark);
        }
        for (position, result) in op.results().enumerate() {
            let ends = blocks(op).into_iter().filter_map(|block| end(block).get(position).copied());
            let ends: Vec<_> = ends.filter(|v| v.r#type().is_index()).collect();
            if let [then, otherwise] = ends.as_slice() {
                let (then, otherwise) = (self.facts.number(*then), self.facts.number(*otherwise));
                let number = self.facts.prover.either(&then, &otherwise);
                self.facts.set(result.into(), number);
            }
        }
        Ok(())
    }

    /// Simplifies an operation on integers or bools.
    fn scalar(&mut self, op: OperationRef<'c, 'a>, name: &str) -> Result<(), melior::Error> {
        let Some(result) = op.results().next().map(Value::from) else {
            return Ok(());
        };
        let is_rewritten = self.inside && name != ops::arith::CONSTANT;
        if result.r#type().is_index() {
            let number = self.facts.number(result);
            if is_rewritten {
                self.replace(op, result, &number)?;
            }
        } else if is_rewritten && types::kind_of(result.r#type()) == Some(ScalarKind::Bool) {
            self.flag(op, name, result)?;
        }
        Ok(())
    }

    /// Replaces an integer that equals an operand or a constant.
    fn replace(
        &mut self,
        op: OperationRef<'c, 'a>,
        result: Value<'c, 'a>,
        number: &Polynomial,
    ) -> Result<(), melior::Error> {
        let same = op
            .operands()
            .find(|operand| operand.r#type().is_index() && self.facts.known(*operand) == Some(number));
        let owner = op.context();
        let value = match (same, number.as_constant()) {
            (Some(same), _) => same,
            (None, Some(value)) => regions::before(op, &owner)?.idx(value),
            (None, None) => return Ok(()),
        };
        self.facts.set(value, number.clone());
        replace_uses(result, value);
        self.dead.push(op);
        Ok(())
    }

    /// Replaces a condition that always or never holds by a constant, and a conjunction by its only conjunct that is not known to hold.
    fn flag(
        &mut self,
        op: OperationRef<'c, 'a>,
        name: &str,
        result: Value<'c, 'a>,
    ) -> Result<(), melior::Error> {
        let open: Vec<_> = op.operands().filter(|o| !self.facts.is_recorded(*o)).collect();
        if let (ops::skript::AND, [other]) = (name, open.as_slice()) {
            replace_uses(result, *other);
            self.dead.push(op);
        } else {
            let is_true = self.facts.is_true(result);
            if is_true || self.facts.is_false(result) {
                let owner = op.context();
                let at = regions::before(op, &owner)?;
                let constant = at.constant(Scalar::Bool(is_true), result.r#type())?;
                if is_true {
                    self.facts.set_true(constant);
                }
                replace_uses(result, constant);
                self.dead.push(op);
            }
        }
        Ok(())
    }
}
