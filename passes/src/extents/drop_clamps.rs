// SPDX-License-Identifier: Apache-2.0
//! `skript-drop-clamps`: removes clamps and conditions of formulas that shape constraints make redundant.
//!
//! A check establishes that extents are equal, or ordered; an index is below its limit. So `min(i, n - 1)` is `i` if a
//! check establishes that n is the limit of i, and `n > 0` is true inside of a loop up to n. Checks, and extents of
//! tensors and loops, stay.
//!
//! Requires: upper bounds of the entry's arguments (`skript.bounds`).

use super::bounds::{Bounds, constant, end, open_dimensions};
use super::updated_positions::Taken;
use crate::ir;
use crate::ir::arith::Constant;
use crate::ir::copy::{arguments, operation_name};
use crate::ir::ops;
use crate::ir::skript::Formula;
use crate::ir::{ValueKey, regions, types};
use crate::ir::{blocks, erase, operations, replace_uses};

use melior::ir::operation::{OperationLike, OperationResult};
use melior::ir::{BlockRef, OperationRef, TypeLike, Value, ValueLike};
use skript_dialect::{Pass, PassError, PassOption, melior};
use skript_semantics::{Scalar, ScalarKind};
use skript_symbolic::{Definition, Polynomial, Prover, SymbolId};
use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

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
        match Bounds::of(root) {
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
    let mut idle = Vec::new();
    for function in blocks(module).into_iter().flat_map(operations) {
        let mut walk = Walk {
            bounds,
            prover: Prover::default(),
            numbers: HashMap::new(),
            dimensions: HashMap::new(),
            positions: HashMap::new(),
            elements: HashMap::new(),
            taken_at: HashMap::new(),
            holds: HashSet::new(),
            choices: Vec::new(),
            inside: false,
            idle: Vec::new(),
        };
        for block in blocks(function) {
            walk.block(block)?;
        }
        idle.append(&mut walk.idle);
    }
    idle.into_iter().for_each(erase);
    Ok(())
}

/// The maximum number of selects that a formula considers, counted from the last one, because long models have many.
const MOST_CHOICES: usize = 64;

/// Whether the result of an operation may overflow i64 if its operands do not.
fn is_sum(name: &str) -> bool {
    matches!(
        name,
        ops::skript::ADD
            | ops::arith::ADDI
            | ops::skript::SUB
            | ops::arith::SUBI
            | ops::skript::MUL
            | ops::arith::MULI
            | ops::skript::NEG
    )
}

/// `x ≤ y` for each pair.
type Condition = Vec<(Polynomial, Polynomial)>;

pub(super) struct Walk<'b, 'c, 'a> {
    bounds: &'b Bounds<'c, 'a>,
    pub(super) prover: Prover,
    pub(super) numbers: HashMap<ValueKey, Polynomial>,
    dimensions: HashMap<(ValueKey, i64), Polynomial>,
    /// For each argument that is a formula's destination: its possible elements.
    pub(super) positions: HashMap<ValueKey, Vec<Taken>>,
    /// Elements that were read from these.
    pub(super) elements: HashMap<ValueKey, Polynomial>,
    /// For each result of a formula: the symbols of its points, without captured ones.
    pub(super) taken_at: HashMap<ValueKey, Range<SymbolId>>,
    /// Flags that are true where they are used.
    holds: HashSet<ValueKey>,
    /// Disjunctions that hold: at least one alternative of each is true.
    choices: Vec<Vec<Condition>>,
    /// Whether it is in a formula.
    inside: bool,
    /// Unused operations. They are erased at the end, because values are identified by address.
    idle: Vec<OperationRef<'c, 'a>>,
}

impl<'c: 'a, 'a> Walk<'_, 'c, 'a> {
    fn block(&mut self, block: BlockRef<'c, 'a>) -> Result<(), melior::Error> {
        let mut pending: VecDeque<_> = operations(block).into();
        while let Some(op) = pending.pop_front() {
            let name = operation_name(op);
            match name.as_str() {
                ops::skript::FORMULA => self.formula(op)?,
                ops::scf::IF if self.inside && self.is_true(ir::operand(op)?) => {
                    for copy in self.inline(op)?.into_iter().rev() {
                        pending.push_front(copy);
                    }
                }
                ops::scf::IF => self.branch(op)?,
                ops::skript::CHECK => {
                    let held = ir::operand(op)?;
                    let condition = self.condition(held);
                    self.learn(&condition);
                    let alternatives = self.alternatives(held);
                    self.choices.extend(alternatives.filter(|all| all.len() > 1));
                }
                _ if blocks(op).is_empty() => self.scalar(op, &name)?,
                _ => {
                    let (mark, choices) = (self.prover.mark(), self.choices.len());
                    for block in blocks(op) {
                        self.block(block)?;
                        self.choices.truncate(choices);
                        self.prover.rollback(mark);
                    }
                }
            }
        }
        Ok(())
    }

    fn formula(&mut self, op: OperationRef<'c, 'a>) -> Result<(), melior::Error> {
        let formula = Formula::cast(op).ok_or(melior::Error::OperationBuild)?;
        let mark = self.prover.mark();
        let first = self.prover.next_symbol();
        let mut operands = op.operands();
        let mut indices = Vec::new();
        for bound in formula.static_bounds() {
            let limit = match bound {
                types::DYNAMIC => {
                    let limit = operands.next().ok_or(melior::Error::OperationBuild)?;
                    self.number(limit)
                }
                extent => Polynomial::constant(extent),
            };
            let zero = Polynomial::constant(0);
            // Points exist only if no loop is empty.
            self.prover.assume_at_most(&Polynomial::constant(1), &limit);
            self.prover.derive_positive(&limit);
            let index = match limit.as_constant() {
                Some(1) => zero,
                _ => self.prover.define(Definition::Below(limit.clone())),
            };
            indices.push(index);
        }
        self.decide();
        let outside = std::mem::replace(&mut self.inside, true);
        // The body first: the predicate may read its results.
        for (number, block) in blocks(op).into_iter().rev().enumerate() {
            for (argument, index) in arguments(block).into_iter().zip(&indices) {
                self.numbers.insert(ValueKey::of(argument), index.clone());
            }
            self.block(block)?;
            if number == 0 {
                self.learn_positions(op, indices.len(), first);
            }
        }
        self.inside = outside;
        self.prover.rollback(mark);
        Ok(())
    }

    /// Moves the operations of the first branch before the operation; returns them.
    fn inline(&mut self, op: OperationRef<'c, 'a>) -> Result<Vec<OperationRef<'c, 'a>>, melior::Error> {
        let mut moved = blocks(op).first().map(|b| operations(*b)).unwrap_or_default();
        moved.pop();
        let then = regions::take(op, 0)?;
        let values = regions::inline(op, &then)?;
        for (result, value) in op.results().zip(values) {
            replace_uses(result.into(), value);
        }
        self.idle.push(op);
        Ok(moved)
    }

    /// Branches in which the value of the condition is known.
    fn branch(&mut self, op: OperationRef<'c, 'a>) -> Result<(), melior::Error> {
        let condition = self.condition(ir::operand(op)?);
        let mark = self.prover.mark();
        for (number, block) in blocks(op).into_iter().enumerate() {
            if number == 0 {
                self.learn(&condition);
                self.decide();
            }
            let choices = self.choices.len();
            self.block(block)?;
            self.choices.truncate(choices);
            self.prover.rollback(mark);
        }
        for (position, result) in op.results().enumerate() {
            let ends = blocks(op).into_iter().filter_map(|block| end(block).get(position).copied());
            let ends: Vec<_> = ends.filter(|v| v.r#type().is_index()).collect();
            if let [then, otherwise] = ends.as_slice() {
                let (then, otherwise) = (self.number(*then), self.number(*otherwise));
                let number = self.prover.either(&then, &otherwise);
                self.numbers.insert(ValueKey::of(result), number);
            }
        }
        Ok(())
    }

    /// An operation on integers or flags.
    fn scalar(&mut self, op: OperationRef<'c, 'a>, name: &str) -> Result<(), melior::Error> {
        let Some(result) = op.results().next().map(Value::from) else {
            return Ok(());
        };
        if result.r#type().is_index() {
            let number = self.computed(op, name);
            let number = number
                .filter(|number| self.prover.is_exact(number) || !is_sum(name))
                .unwrap_or_else(|| self.prover.define(Definition::Between(None, None)));
            self.numbers.insert(ValueKey::of(result), number.clone());
            if self.inside && name != ops::arith::CONSTANT {
                self.replace(op, result, &number)?;
            }
        } else if self.inside
            && name != ops::arith::CONSTANT
            && types::kind_of(result.r#type()) == Some(ScalarKind::Bool)
        {
            self.flag(op, name, result)?;
        }
        Ok(())
    }

    /// An integer that is an operand, or a constant.
    fn replace(
        &mut self,
        op: OperationRef<'c, 'a>,
        result: Value<'c, 'a>,
        number: &Polynomial,
    ) -> Result<(), melior::Error> {
        let same = op.operands().find(|operand| {
            operand.r#type().is_index() && self.numbers.get(&ValueKey::of(*operand)) == Some(number)
        });
        let owner = op.context();
        let value = match (same, number.as_constant()) {
            (Some(same), _) => same,
            (None, Some(value)) => regions::before(op, &owner)?.index(value)?,
            (None, None) => return Ok(()),
        };
        self.numbers.insert(ValueKey::of(value), number.clone());
        replace_uses(result, value);
        self.idle.push(op);
        Ok(())
    }

    /// Records a condition that holds, or the conjuncts of a conjunction.
    fn flag(
        &mut self,
        op: OperationRef<'c, 'a>,
        name: &str,
        result: Value<'c, 'a>,
    ) -> Result<(), melior::Error> {
        let open: Vec<_> = op.operands().filter(|o| !self.holds.contains(&ValueKey::of(*o))).collect();
        if let (ops::skript::AND, [other]) = (name, open.as_slice()) {
            replace_uses(result, *other);
            self.idle.push(op);
        } else if self.is_true(result) {
            let owner = op.context();
            let at = regions::before(op, &owner)?;
            let always = at.constant(Scalar::Bool(true), result.r#type())?;
            self.holds.insert(ValueKey::of(always));
            replace_uses(result, always);
            self.idle.push(op);
        }
        Ok(())
    }

    fn is_true(&self, flag: Value<'c, 'a>) -> bool {
        if self.holds.contains(&ValueKey::of(flag)) {
            return true;
        }
        let Some(op) = OperationResult::try_from(flag).ok().map(|r| r.owner()) else {
            return false;
        };
        if operation_name(op) == ops::skript::AND {
            return op.operands().all(|o| self.is_true(o));
        }
        let condition = self.condition(flag);
        !condition.is_empty() && condition.iter().all(|(x, y)| self.prover.at_most(x, y))
    }

    fn learn(&mut self, condition: &Condition) {
        let mut left: Vec<_> = condition.iter().collect();
        while let Some((x, y)) = left.pop() {
            match left.iter().position(|(z, w)| (z, w) == (y, x)) {
                Some(same) => {
                    left.remove(same);
                    self.prover.assume_equal(x, y);
                }
                None => self.prover.assume_at_most(x, y),
            }
        }
    }

    /// Records the remaining alternative if all others are excluded.
    fn decide(&mut self) {
        let before = self.choices.len().saturating_sub(MOST_CHOICES);
        for choice in self.choices.iter().skip(before).cloned().collect::<Vec<_>>() {
            let mut left = choice.iter().filter(|condition| {
                let mut parts = condition.iter();
                !parts.any(|(x, y)| y.plus(1).is_some_and(|next| self.prover.at_most(&next, x)))
            });
            if let (Some(only), None) = (left.next(), left.next()) {
                self.learn(only);
            }
        }
    }

    /// The alternatives of a disjunction; `None` if the flag is not one.
    fn alternatives(&self, flag: Value<'c, 'a>) -> Option<Vec<Condition>> {
        let op = OperationResult::try_from(flag).ok()?.owner();
        if operation_name(op) != ops::skript::OR {
            let own = self.condition(flag);
            return (!own.is_empty()).then(|| vec![own]);
        }
        let each: Option<Vec<_>> = op.operands().map(|o| self.alternatives(o)).collect();
        each.map(|each| each.concat())
    }

    /// The integer conditions that a flag consists of; empty if there are none.
    fn condition(&self, flag: Value<'c, 'a>) -> Condition {
        let Some(op) = OperationResult::try_from(flag).ok().map(|r| r.owner()) else {
            return Vec::new();
        };
        let operands: Vec<_> = op.operands().collect();
        let [x, y] = operands.as_slice() else {
            return Vec::new();
        };
        let name = operation_name(op);
        if name == ops::skript::AND {
            return [self.condition(*x), self.condition(*y)].concat();
        }
        let known = |value: &Value<'c, 'a>| self.numbers.get(&ValueKey::of(*value)).cloned();
        let (Some(x), Some(y)) = (known(x), known(y)) else {
            return Vec::new();
        };
        let below = |x: &Polynomial, y: &Polynomial| {
            let pair = x.plus(1).map(|next| (next, y.clone()));
            pair.into_iter().collect()
        };
        match name.as_str() {
            ops::skript::EQ => vec![(x.clone(), y.clone()), (y, x)],
            ops::skript::LE => vec![(x, y)],
            ops::skript::GE => vec![(y, x)],
            ops::skript::LT => below(&x, &y),
            ops::skript::GT => below(&y, &x),
            _ => Vec::new(),
        }
    }

    fn number(&mut self, value: Value<'c, 'a>) -> Polynomial {
        match self.numbers.get(&ValueKey::of(value)) {
            Some(number) => number.clone(),
            None => {
                let number = self.prover.define(Definition::Between(None, None));
                self.numbers.insert(ValueKey::of(value), number.clone());
                number
            }
        }
    }

    /// `None`: it is unknown.
    fn computed(&mut self, op: OperationRef<'c, 'a>, name: &str) -> Option<Polynomial> {
        let operands: Vec<_> = op.operands().collect();
        match (name, operands.as_slice()) {
            (ops::arith::CONSTANT, []) => Some(Polynomial::constant(Constant::cast(op)?.integer()?)),
            (ops::tensor::DIM, [tensor, dimension]) => self.extent(*tensor, constant(*dimension)?),
            (ops::skript::SELECT | ops::arith::SELECT, [_, x, y]) => {
                let (x, y) = (self.number(*x), self.number(*y));
                Some(self.prover.either(&x, &y))
            }
            (ops::skript::NEG, [x]) => self.number(*x).scale(-1),
            (ops::skript::CAST | ops::arith::INDEX_CAST, [_]) => self.integer(ir::result(op).ok()?),
            (_, [x, y]) => {
                let (x, y) = (self.number(*x), self.number(*y));
                match name {
                    ops::skript::ADD | ops::arith::ADDI => x.add(&y),
                    ops::skript::SUB | ops::arith::SUBI => x.sub(&y),
                    ops::skript::MUL | ops::arith::MULI => x.mul(&y),
                    ops::skript::MIN | ops::arith::MINSI => Some(self.prover.min(&x, &y)),
                    ops::skript::MAX | ops::arith::MAXSI => Some(self.prover.max(&x, &y)),
                    ops::skript::DIV | ops::skript::CEILDIV => {
                        let (mut x, mut divisor) = (x, y.as_constant()?);
                        if divisor < 0 {
                            (x, divisor) = (x.scale(-1)?, divisor.checked_neg()?);
                        }
                        let up = match name {
                            ops::skript::DIV => 0,
                            _ => divisor.checked_sub(1)?,
                        };
                        self.prover.quotient(&x.plus(up)?, divisor)
                    }
                    ops::skript::MOD => Some(self.prover.remainder(&x, &y)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// One extent of a tensor.
    fn extent(&mut self, tensor: Value<'c, 'a>, dimension: i64) -> Option<Polynomial> {
        let key = (ValueKey::of(tensor), dimension);
        if let Some(known) = self.dimensions.get(&key) {
            return Some(known.clone());
        }
        let position = usize::try_from(dimension).ok()?;
        let bound = self.bounds.extents(tensor).get(position).copied()?;
        let fixed = !open_dimensions(tensor.r#type()).contains(&position);
        let extent = match self.made_with(tensor, position) {
            Some(made) => made,
            None if fixed => Polynomial::constant(bound),
            None => self.prover.define(Definition::Between(Some(0), Some(bound))),
        };
        self.dimensions.insert(key, extent.clone());
        Some(extent)
    }

    /// The dynamic extent that an operation creates a tensor with.
    fn made_with(&mut self, tensor: Value<'c, 'a>, position: usize) -> Option<Polynomial> {
        let result = OperationResult::try_from(tensor).ok()?;
        let op = result.owner();
        let operands: Vec<_> = op.operands().collect();
        let open = open_dimensions(tensor.r#type());
        let number = open.iter().position(|d| *d == position)?;
        match operation_name(op).as_str() {
            ops::tensor::EMPTY => Some(self.number(*operands.get(number)?)),
            ops::tensor::SPLAT => Some(self.number(*operands.get(number + 1)?)),
            ops::skript::FORMULA => {
                let first = operands.len().checked_sub(op.result_count())?;
                let out = *operands.get(first + result.result_number())?;
                self.extent(out, i64::try_from(position).ok()?)
            }
            _ => None,
        }
    }
}
