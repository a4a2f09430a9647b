// SPDX-License-Identifier: Apache-2.0
//! Integers as polynomials.

use super::{Walk, is_number};
use crate::ir::arith::{CompareIntegers, Constant};
use crate::ir::shape::Dim;
use crate::ir::{self, ValueKey, ops};
use melior::ir::Value;
use melior::ir::operation::{OperationLike, OperationRef};
use skript_dialect::melior;
use skript_symbolic::{Definition, Polynomial};

/// Numbers of `arith.cmpi`'s predicates.
const EQ: i64 = 0;
const SIGNED_LESS: [i64; 4] = [2, 3, 4, 5];
const UNSIGNED_LESS: [i64; 4] = [6, 7, 8, 9];

impl<'c: 'a, 'a> Walk<'_, 'c, 'a> {
    /// The number of a value: a new symbol if nothing is known of it.
    pub(super) fn number(&mut self, value: Value<'c, 'a>) -> Polynomial {
        if let Some(known) = self.numbers.get(&ValueKey::of(value)) {
            return known.clone();
        }
        let number = self.unknown();
        self.numbers.insert(ValueKey::of(value), number.clone());
        number
    }

    /// A number that depends on elements of arrays.
    pub(super) fn unknown(&mut self) -> Polynomial {
        self.define(Definition::Between(None, None), true)
    }

    /// A new symbol of a definition.
    pub(super) fn define(&mut self, definition: Definition, of_elements: bool) -> Polynomial {
        let symbol = self.prover.define(definition);
        self.mark(of_elements);
        symbol
    }

    /// Records that the newest symbols depend on elements if one of these numbers does.
    pub(super) fn extend_marks(&mut self, of: &[&Polynomial]) {
        let of_elements = of.iter().any(|number| self.depends_on_elements(number));
        self.mark(of_elements);
    }

    /// Records of the newest symbols whether they depend on elements.
    fn mark(&mut self, of_elements: bool) {
        let count = self.prover.next_symbol().0;
        self.from_elements.resize(count, of_elements);
    }

    /// Whether a number depends on elements of arrays.
    pub(super) fn depends_on_elements(&self, value: &Polynomial) -> bool {
        let mut symbols = value.symbols();
        symbols.any(|symbol| self.from_elements.get(symbol.0).copied().unwrap_or(true))
    }

    /// An index from `first` up to, not including, `end`, in steps.
    pub(super) fn index(&mut self, first: &Polynomial, end: &Polynomial, step: &Polynomial) -> Polynomial {
        let span = end.sub(first);
        let step = step.as_constant().filter(|step| *step > 1);
        let is_exact = |step: &i64| span.as_ref().is_some_and(|s| s.is_multiple_of(*step));
        let Some(last) = end.plus(-step.filter(is_exact).unwrap_or(1)) else {
            return self.unknown();
        };
        self.prover.assume_at_most(first, &last);
        self.prover.derive_positive(end);
        let of_elements = self.depends_on_elements(first) || self.depends_on_elements(&last);
        self.define(Definition::Range(first.clone(), last), of_elements)
    }

    /// Records the results of an operation on integers.
    pub(super) fn scalar(&mut self, op: OperationRef<'c, 'a>, name: &str) {
        for result in op.results().map(Value::from) {
            if !is_number(result) {
                continue;
            }
            let operands: Vec<Value> = op.operands().collect();
            let of_elements = operands.iter().any(|operand| {
                let known = self.numbers.get(&ValueKey::of(*operand));
                known.is_some_and(|number| self.depends_on_elements(number))
            });
            let number = self.computed(op, name, &operands);
            self.mark(of_elements);
            let number = number.unwrap_or_else(|| self.unknown());
            self.numbers.insert(ValueKey::of(result), number);
        }
    }

    /// The result of an operation; `None` if it is unknown.
    fn computed(
        &mut self,
        op: OperationRef<'c, 'a>,
        name: &str,
        operands: &[Value<'c, 'a>],
    ) -> Option<Polynomial> {
        match (name, operands) {
            (ops::arith::CONSTANT, []) => Some(Polynomial::constant(Constant::cast(op)?.integer()?)),
            (ops::memref::DIM, [array, _]) => {
                let array = self.arrays.get(&ValueKey::of(*array))?;
                array.extents.get(Dim::cast(op)?.dimension()?).cloned()
            }
            (ops::arith::INDEX_CAST | ops::arith::INDEX_CASTUI | ops::arith::EXTSI, [x]) => {
                Some(self.number(*x))
            }
            (ops::arith::SELECT, [_, x, y]) => {
                let (x, y) = (self.number(*x), self.number(*y));
                Some(self.prover.either(&x, &y))
            }
            (_, [x, y]) => {
                let (x, y) = (self.number(*x), self.number(*y));
                self.binary(name, &x, &y)
            }
            _ => None,
        }
    }

    fn binary(&mut self, name: &str, x: &Polynomial, y: &Polynomial) -> Option<Polynomial> {
        let zero = Polynomial::constant(0);
        let is_natural = |walk: &Self, value: &Polynomial| walk.prover.at_most(&zero, value);
        Some(match name {
            ops::arith::ADDI => x.add(y)?,
            ops::arith::SUBI => x.sub(y)?,
            ops::arith::MULI => x.mul(y)?,
            ops::arith::SHLI => x.scale(power_of_two(y)?)?,
            ops::arith::MINSI => self.prover.min(x, y),
            ops::arith::MAXSI => self.prover.max(x, y),
            ops::arith::MINUI if is_natural(self, x) && is_natural(self, y) => self.prover.min(x, y),
            // Any number, as unsigned: the extents that a caller passes are clamped like this.
            ops::arith::MINUI => {
                let most = [x, y].into_iter().filter_map(Polynomial::as_constant).min();
                let most = most.filter(|most| *most >= 0)?;
                self.define(Definition::Between(Some(0), Some(most)), false)
            }
            ops::arith::MAXUI if is_natural(self, x) && is_natural(self, y) => self.prover.max(x, y),
            ops::arith::FLOORDIVSI => self.prover.quotient(x, y.as_constant()?)?,
            ops::arith::DIVUI | ops::arith::DIVSI if is_natural(self, x) => {
                self.prover.quotient(x, y.as_constant()?)?
            }
            ops::arith::SHRUI | ops::arith::SHRSI if is_natural(self, x) => {
                self.prover.quotient(x, power_of_two(y)?)?
            }
            ops::arith::CEILDIVSI | ops::arith::CEILDIVUI if is_natural(self, x) => {
                let divisor = y.as_constant()?;
                let up = x.plus(divisor.checked_sub(1)?)?;
                self.prover.quotient(&up, divisor)?
            }
            ops::arith::REMUI | ops::arith::REMSI if is_natural(self, x) && is_natural(self, y) => {
                self.prover.remainder(x, y)
            }
            ops::arith::ANDI => {
                let mask = [x, y].into_iter().filter_map(Polynomial::as_constant).min();
                let mask = mask.filter(|mask| *mask >= 0)?;
                self.define(Definition::Between(Some(0), Some(mask)), false)
            }
            _ => return None,
        })
    }

    /// Assumes what a condition says if it is true, or if it is not.
    pub(super) fn learn(&mut self, condition: Value<'c, 'a>, holds: bool) {
        let Some((op, _)) = ir::definition(condition) else {
            return;
        };
        if holds && ir::name(op) == ops::arith::ANDI {
            for operand in op.operands() {
                self.learn(operand, true);
            }
            return;
        }
        let Some((comparison, [x, y])) = CompareIntegers::cast(op).zip(ir::both_operands(op).ok()) else {
            return;
        };
        let (Some(predicate), true) = (comparison.predicate(), is_number(x)) else {
            return;
        };
        let (x, y) = (self.number(x), self.number(y));
        let zero = Polynomial::constant(0);
        if UNSIGNED_LESS.contains(&predicate)
            && !(self.prover.at_most(&zero, &x) && self.prover.at_most(&zero, &y))
        {
            return;
        }
        let orders = [SIGNED_LESS, UNSIGNED_LESS].concat();
        // Less, at most, greater, at least.
        let order = orders.iter().position(|own| *own == predicate);
        let (low, high, is_strict) = match (order.map(|order| order % 4), holds) {
            (Some(0), true) | (Some(3), false) => (x, y, true),
            (Some(1), true) | (Some(2), false) => (x, y, false),
            (Some(2), true) | (Some(1), false) => (y, x, true),
            (Some(3), true) | (Some(0), false) => (y, x, false),
            _ if predicate == EQ && holds => return self.prover.assume_equal(&x, &y),
            _ => return,
        };
        if let Some(low) = low.plus(i64::from(is_strict)) {
            self.prover.assume_at_most(&low, &high);
            self.prover.derive_positive(&high);
        }
    }
}

/// Two to the power of a constant.
fn power_of_two(exponent: &Polynomial) -> Option<i64> {
    let exponent = u32::try_from(exponent.as_constant()?).ok()?;
    1_i64.checked_shl(exponent).filter(|power| *power > 0)
}
