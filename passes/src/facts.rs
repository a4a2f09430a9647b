// SPDX-License-Identifier: Apache-2.0
//! Facts about extents and indices.
//!
//! [`definition()`] finds the definition of an extent, and [`interval`] bounds an index. `crate::extents::size` uses both to bound extents and
//! buffers. [`Facts`] proves relations between indices from their definitions and from known conditions. Passes have no other analyses.

mod definition;
pub(crate) mod interval;
mod positions;
#[cfg(test)]
mod tests;

pub(crate) use definition::{Definition, computes_elements, definition};

use crate::ir::{self, ValueKey, ops};
use melior::ir::operation::{OperationLike, OperationRef, OperationResult};
use melior::ir::{BlockRef, TypeLike, Value, ValueLike};
use positions::Taken;
use skript_symbolic as symbolic;
use skript_symbolic::{Extent, Polynomial, Prover, SymbolId};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Maximum depth of the operations that compute a value.
const MAX_DEPTH: usize = 64;

/// The maximum number of disjunctions that [`Facts::decide`] considers, counted from the last one, because long models have many.
const MAX_CHOICES: usize = 64;

/// The upper bounds of the extents of tensors with dynamic extents.
pub(crate) type UpperBounds = HashMap<ValueKey, Vec<i64>>;

/// Facts that several formulas share.
pub(crate) type SharedFacts = RefCell<Facts<'static>>;

/// `x ≤ y` for each pair.
type Condition = Vec<(Polynomial, Polynomial)>;

/// Known facts about indices and extents at a point of a function.
///
/// Indices are polynomials of symbols, which a [`Prover`] compares. Known conditions have a scope, which [`Prover::rollback`] ends. Therefore, an
/// index that is computed in a scope must be analyzed there with [`Facts::number`], and not later.
///
/// Requires: analyzed values must outlive the facts. Tensors may be replaced by equal ones.
#[derive(Default)]
pub(crate) struct Facts<'b> {
    /// Without bounds, a dynamic extent may have any value of an extent.
    bounds: Option<&'b UpperBounds>,
    pub(crate) prover: Prover,
    numbers: HashMap<ValueKey, Polynomial>,
    /// Extents that no operation defines.
    extents: HashMap<(ValueKey, usize), Polynomial>,
    /// The possible elements of each argument that is a destination of a formula.
    positions: HashMap<ValueKey, Vec<Taken>>,
    /// Elements that are read from these arguments.
    elements: HashMap<ValueKey, Polynomial>,
    /// The symbols of the points of each result of a formula, without captured symbols.
    taken_at: HashMap<ValueKey, Range<SymbolId>>,
    /// Flags that are true where they are used.
    holds: HashSet<ValueKey>,
    /// Disjunctions that are true, because at least one alternative of each is true.
    choices: Vec<Vec<Condition>>,
    depth: usize,
}

/// A state of the known conditions.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    prover: symbolic::Mark,
    choices: usize,
}

impl<'b> Facts<'b> {
    pub(crate) fn with_bounds(bounds: &'b UpperBounds) -> Self {
        Facts { bounds: Some(bounds), ..Facts::default() }
    }

    /// The state of the known conditions at this point.
    pub(crate) fn mark(&self) -> Mark {
        Mark { prover: self.prover.mark(), choices: self.choices.len() }
    }

    /// Removes the conditions that were learned after the mark.
    pub(crate) fn rollback(&mut self, mark: Mark) {
        self.choices.truncate(mark.choices);
        self.prover.rollback(mark.prover);
    }

    /// An unknown integer.
    fn unknown(&mut self) -> Polynomial {
        self.prover.define(symbolic::Definition::Between(None, None))
    }

    pub(crate) fn number(&mut self, value: Value) -> Polynomial {
        let key = ValueKey::of(value);
        if let Some(number) = self.numbers.get(&key) {
            return number.clone();
        }
        self.depth += 1;
        let computed = if self.depth <= MAX_DEPTH { self.computed(value) } else { None };
        self.depth -= 1;
        let number = computed.unwrap_or_else(|| self.unknown());
        self.numbers.insert(key, number.clone());
        number
    }

    /// An index that has been analyzed before.
    pub(crate) fn known(&self, value: Value) -> Option<&Polynomial> {
        self.numbers.get(&ValueKey::of(value))
    }

    pub(crate) fn set(&mut self, value: Value, number: Polynomial) {
        self.numbers.insert(ValueKey::of(value), number);
    }

    /// Whether a flag was recorded as true.
    pub(crate) fn is_recorded(&self, flag: Value) -> bool {
        self.holds.contains(&ValueKey::of(flag))
    }

    pub(crate) fn set_true(&mut self, flag: Value) {
        self.holds.insert(ValueKey::of(flag));
    }

    fn computed(&mut self, value: Value) -> Option<Polynomial> {
        let result = OperationResult::try_from(value).ok().filter(|result| result.result_number() == 0)?;
        let op = result.owner();
        let name = ir::name(op);
        let number = self.operation(op, &name)?;
        let may_wrap = matches!(
            name.as_str(),
            ops::skript::ADD
                | ops::arith::ADDI
                | ops::skript::SUB
                | ops::arith::SUBI
                | ops::skript::MUL
                | ops::arith::MULI
                | ops::skript::NEG
        );
        (!may_wrap || self.prover.is_exact(&number)).then_some(number)
    }

    /// The first result of an operation, which is an index, assuming that sums do not overflow. `None` if it is unknown.
    fn operation(&mut self, op: OperationRef, name: &str) -> Option<Polynomial> {
        let operands: Vec<_> = op.operands().collect();
        match (name, operands.as_slice()) {
            (ops::arith::CONSTANT, []) => ir::integer(ir::result(op).ok()?).map(Polynomial::constant),
            (ops::tensor::DIM, [tensor, dimension]) => {
                Some(self.extent(*tensor, usize::try_from(ir::integer(*dimension)?).ok()?))
            }
            (ops::skript::SELECT | ops::arith::SELECT, [_, x, y]) => {
                let (x, y) = (self.number(*x), self.number(*y));
                Some(self.prover.either(&x, &y))
            }
            (ops::skript::NEG, [x]) => self.number(*x).scale(-1),
            (ops::skript::CAST | ops::arith::INDEX_CAST, [x]) => {
                self.converted(*x, ir::result(op).ok()?.r#type())
            }
            (_, [x, y]) if x.r#type().is_index() && y.r#type().is_index() => {
                let (x, y) = (self.number(*x), self.number(*y));
                self.arithmetic(name, x, &y)
            }
            _ => None,
        }
    }

    fn arithmetic(&mut self, name: &str, x: Polynomial, y: &Polynomial) -> Option<Polynomial> {
        match name {
            ops::skript::ADD | ops::arith::ADDI => x.add(y),
            ops::skript::SUB | ops::arith::SUBI => x.sub(y),
            ops::skript::MUL | ops::arith::MULI => x.mul(y),
            ops::skript::MIN | ops::arith::MINSI => Some(self.prover.min(&x, y)),
            ops::skript::MAX | ops::arith::MAXSI => Some(self.prover.max(&x, y)),
            ops::skript::DIV | ops::skript::CEILDIV => {
                let (mut x, mut divisor) = (x, y.as_constant()?);
                if divisor < 0 {
                    (x, divisor) = (x.scale(-1)?, divisor.checked_neg()?);
                }
                let up = if name == ops::skript::DIV { 0 } else { divisor.checked_sub(1)? };
                self.prover.quotient(&x.plus(up)?, divisor)
            }
            ops::skript::MOD => Some(self.prover.remainder(&x, y)),
            _ => None,
        }
    }

    pub(crate) fn extent<'c: 'a, 'a>(
        &mut self,
        mut tensor: Value<'c, 'a>,
        mut dimension: usize,
    ) -> Polynomial {
        loop {
            match definition(tensor, dimension) {
                Definition::Fixed(extent) => return Polynomial::constant(extent),
                Definition::Value(extent) => return self.number(extent),
                Definition::Same(other, position) => (tensor, dimension) = (other, position),
                Definition::Product(..) | Definition::Unknown => break,
            }
        }
        let key = (ValueKey::of(tensor), dimension);
        if let Some(extent) = self.extents.get(&key) {
            return extent.clone();
        }
        let largest = self.bounds.map_or(Extent::LARGEST, |bounds| {
            let bound = bounds.get(&key.0).and_then(|extents| extents.get(dimension));
            // A tensor without a bound is in a function that is never called.
            bound.copied().unwrap_or(0).max(0)
        });
        let extent = self.prover.define(symbolic::Definition::Between(Some(0), Some(largest)));
        self.extents.insert(key, extent.clone());
        extent
    }

    /// Whether the extent of a dimension of a tensor is always `factor` times `size`, which is also an extent.
    pub(crate) fn is_extent(&mut self, tensor: Value, dimension: usize, size: Value, factor: i64) -> bool {
        if self.known(size).is_none() && ir::argument(size).is_some() {
            let extent = symbolic::Definition::Between(Some(0), Some(Extent::LARGEST));
            let extent = self.prover.define(extent);
            self.set(size, extent);
        }
        let (extent, size) = (self.extent(tensor, dimension), self.number(size).scale(factor));
        size.is_some_and(|size| self.prover.is_equal(&extent, &size))
    }

    /// Whether a flag is true at all uses.
    pub(crate) fn is_true(&mut self, flag: Value) -> bool {
        if self.is_recorded(flag) {
            return true;
        }
        if let Some(parts) = conjuncts(flag) {
            return parts.into_iter().all(|part| self.is_true(part));
        }
        if let Some(equality) = self.inequality(flag) {
            return self.fails(&equality);
        }
        let condition = self.condition(flag);
        !condition.is_empty() && condition.iter().all(|(x, y)| self.prover.at_most(x, y))
    }

    /// Whether a flag is false at all uses.
    pub(crate) fn is_false(&mut self, flag: Value) -> bool {
        if ir::integer(flag) == Some(0) {
            return true;
        }
        if let Some(parts) = conjuncts(flag) {
            return parts.into_iter().any(|part| self.is_false(part));
        }
        match self.inequality(flag) {
            Some(equality) => equality.iter().all(|(x, y)| self.prover.at_most(x, y)),
            None => {
                let condition = self.condition(flag);
                self.fails(&condition)
            }
        }
    }

    /// Whether a part of a conjunction is false.
    fn fails(&mut self, condition: &Condition) -> bool {
        condition.iter().any(|(x, y)| y.plus(1).is_some_and(|next| self.prover.at_most(&next, x)))
    }

    /// Records that a flag is true from here on.
    pub(crate) fn learn(&mut self, flag: Value) {
        let condition = self.condition(flag);
        self.assume(&condition);
        let alternatives = self.alternatives(flag);
        self.choices.extend(alternatives.filter(|all| all.len() > 1));
    }

    fn assume(&mut self, condition: &Condition) {
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

    /// Records the remaining alternative of each disjunction, if all other alternatives are false.
    pub(crate) fn decide(&mut self) {
        let before = self.choices.len().saturating_sub(MAX_CHOICES);
        for choice in self.choices.iter().skip(before).cloned().collect::<Vec<_>>() {
            let mut left = choice.iter().filter(|condition| !self.fails(condition));
            if let (Some(only), None) = (left.next(), left.next()) {
                self.assume(only);
            }
        }
    }

    /// The alternatives of a disjunction. `None` if one of them is not a condition on indices.
    fn alternatives(&mut self, flag: Value) -> Option<Vec<Condition>> {
        let op = OperationResult::try_from(flag).ok()?.owner();
        if !matches!(ir::name(op).as_str(), ops::skript::OR | ops::arith::ORI) {
            let condition = self.condition(flag);
            return (!condition.is_empty()).then(|| vec![condition]);
        }
        let each: Option<Vec<_>> = op.operands().map(|operand| self.alternatives(operand)).collect();
        each.map(|each| each.concat())
    }

    /// The equality whose negation is the flag; `None` for other flags.
    fn inequality(&mut self, flag: Value) -> Option<Condition> {
        let op = OperationResult::try_from(flag).ok()?.owner();
        let is_inequality = match ir::name(op).as_str() {
            ops::skript::NE => true,
            ops::arith::CMPI => ir::arith::predicate(op) == Some(1),
            _ => false,
        };
        let [x, y] = ir::both_operands(op).ok().filter(|_| is_inequality)?;
        let is_index = x.r#type().is_index() && y.r#type().is_index();
        is_index.then(|| equal(self.number(x), self.number(y)))
    }

    /// The conditions on indices whose conjunction is the flag; empty for other flags.
    fn condition(&mut self, flag: Value) -> Condition {
        if let Some(parts) = conjuncts(flag) {
            return parts.into_iter().flat_map(|part| self.condition(part)).collect();
        }
        let Some(op) = OperationResult::try_from(flag).ok().map(|result| result.owner()) else {
            return Vec::new();
        };
        let operands = ir::both_operands(op).ok();
        let Some([x, y]) = operands.filter(|all| all.iter().all(|value| value.r#type().is_index())) else {
            return Vec::new();
        };
        let (x, y) = (self.number(x), self.number(y));
        let below = |x: Polynomial, y| x.plus(1).map(|next| (next, y)).into_iter().collect();
        match (ir::name(op).as_str(), ir::arith::predicate(op)) {
            (ops::skript::EQ, _) | (ops::arith::CMPI, Some(0)) => equal(x, y),
            (ops::skript::LT, _) | (ops::arith::CMPI, Some(2)) => below(x, y),
            (ops::skript::LE, _) | (ops::arith::CMPI, Some(3)) => vec![(x, y)],
            (ops::skript::GT, _) | (ops::arith::CMPI, Some(4)) => below(y, x),
            (ops::skript::GE, _) | (ops::arith::CMPI, Some(5)) => vec![(y, x)],
            _ => Vec::new(),
        }
    }
}

/// The conditions for equality.
fn equal(x: Polynomial, y: Polynomial) -> Condition {
    vec![(x.clone(), y.clone()), (y, x)]
}

/// The operands of the terminator of a block.
pub(crate) fn end<'c: 'a, 'a>(block: BlockRef<'c, 'a>) -> Vec<Value<'c, 'a>> {
    ir::operations(block).last().copied().map(|op| op.operands().collect()).unwrap_or_default()
}

/// The flags of a conjunction.
fn conjuncts<'c: 'a, 'a>(flag: Value<'c, 'a>) -> Option<[Value<'c, 'a>; 2]> {
    let op = OperationResult::try_from(flag).ok()?.owner();
    let is_conjunction = matches!(ir::name(op).as_str(), ops::skript::AND | ops::arith::ANDI);
    ir::both_operands(op).ok().filter(|_| is_conjunction)
}
