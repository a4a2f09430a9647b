// SPDX-License-Identifier: Apache-2.0
//! Models integers as polynomials.

use super::{Verifier, is_number};
use crate::ir::arith::{CompareIntegers, Constant};
use crate::ir::shape::Dim;
use crate::ir::{self, ValueKey, ops};
use melior::ir::Value;
use melior::ir::operation::{OperationLike, OperationRef};
use skript_dialect::melior;
use skript_symbolic::{Definition, Polynomial};

// The predicate values of `arith.cmpi`; the lists contain less, at most, greater, at least.
const EQ: i64 = 0;
const SIGNED_LESS: [i64; 4] = [2, 3, 4, 5];
const UNSIGNED_LESS: [i64; 4] = [6, 7, 8, 9];

impl<'c: 'a, 'a> Verifier<'_, 'c, 'a> {
    /// Returns the polynomial of a value: a new symbol if the value is not modelled.
    pub(super) fn number(&mut self, value: Value<'c, 'a>) -> Polynomial {
        if let Some(known) = self.numbers.get(&ValueKey::of(value)) {
            return known.clone();
        }
        let number = self.unknown();
        self.numbers.insert(ValueKey::of(value), number.clone());
        number
    }

    /// Defines a new symbol without bounds that depends on elements of arrays.
    pub(super) fn unknown(&mut self) -> Polynomial {
        self.define(Definition::Between(None, None), true)
    }

    /// Defines a new symbol.
    pub(super) fn define(&mut self, definition: Definition, depends_on_elements: bool) -> Polynomial {
        let symbol = self.prover.define(definition);
        self.mark(depends_on_elements);
        symbol
    }

    /// Records that the newest symbols depend on elements if one of `sources` does.
    pub(super) fn extend_marks(&mut self, sources: &[&Polynomial]) {
        let depends_on_elements = sources.iter().any(|number| self.depends_on_elements(number));
        self.mark(depends_on_elements);
    }

    /// Records whether the newest symbols depend on elements.
    fn mark(&mut self, depends_on_elements: bool) {
        let count = self.prover.next_symbol().0;
        self.from_elements.resize(count, depends_on_elements);
    }

    /// Whether a number depends on elements of arrays.
    pub(super) fn depends_on_elements(&self, value: &Polynomial) -> bool {
        // A symbol without a mark may depend on anything.
        value.symbols().any(|symbol| self.from_elements.get(symbol.0) != Some(&false))
    }

    /// Defines an index in the half-open range from `first` to `end`, with a step.
    pub(super) fn index(&mut self, first: &Polynomial, end: &Polynomial, step: &Polynomial) -> Polynomial {
        let span = end.sub(first);
        let is_exact = |step: &i64| *step > 1 && span.as_ref().is_some_and(|s| s.is_multiple_of(*step));
        let last_step = step.as_constant().filter(is_exact).unwrap_or(1);
        let Some(last) = end.plus(-last_step) else {
            return self.unknown();
        };
        self.prover.assume_at_most(first, &last);
        self.prover.derive_positive(end);
        let depends_on_elements = self.depends_on_elements(first) || self.depends_on_elements(&last);
        self.define(Definition::Range(first.clone(), last), depends_on_elements)
    }

    /// Records the results of an operation on integers.
    pub(super) fn scalar(&mut self, op: OperationRef<'c, 'a>, name: &str) {
        for result in op.results().map(Value::from) {
            if !is_number(result) {
                continue;
            }
            let operands: Vec<Value> = op.operands().collect();
            let depends_on_elements = operands.iter().any(|operand| {
                let known = self.numbers.get(&ValueKey::of(*operand));
                known.is_some_and(|number| self.depends_on_elements(number))
            });
            let number = self.computed(op, name, &operands);
            self.mark(depends_on_elements);
            let number = number.unwrap_or_else(|| self.unknown());
            self.numbers.insert(ValueKey::of(result), number);
        }
    }

    /// Computes the result of an operation; `None` if the operation is not modelled.
    fn computed(
        &mut self,
        op: OperationRef<'c, 'a>,
        name: &str,
        operands: &[Value<'c, 'a>],
    ) -> Option<Polynomial> {
        match (name, operands) {
            (ops::arith::CONSTANT, []) => Some(Polynomial::constant(Constant::cast(op)?.integer()?)),
            (ops::memref::DIM, [array, _]) => {
                self.arrays.get(&ValueKey::of(*array))?.extents.get(Dim::cast(op)?.dimension()?).cloned()
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
        let is_natural = |verifier: &Self, value: &Polynomial| verifier.prover.at_most(&zero, value);
        Some(match name {
            ops::arith::ADDI => x.add(y)?,
            ops::arith::SUBI => x.sub(y)?,
            ops::arith::MULI => x.mul(y)?,
            ops::arith::SHLI => x.scale(power_of_two(y)?)?,
            ops::arith::MINSI => self.prover.min(x, y),
            ops::arith::MAXSI => self.prover.max(x, y),
            ops::arith::MINUI if is_natural(self, x) && is_natural(self, y) => self.prover.min(x, y),
            // Emitted code clamps the extents that a caller passes by such operations: as unsigned numbers, they are arbitrary.
            ops::arith::MINUI | ops::arith::ANDI => {
                let constants = [x, y].into_iter().filter_map(Polynomial::as_constant);
                let max = constants.min().filter(|max| *max >= 0)?;
                self.define(Definition::Between(Some(0), Some(max)), false)
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
            _ => return None,
        })
    }

    /// Assumes that a condition holds, or that it does not hold.
    pub(super) fn learn(&mut self, condition: Value<'c, 'a>, holds: bool) {
        let Some(op) = ir::defining_op(condition) else {
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
        let order = orders.iter().position(|order| *order == predicate);
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

/// Returns 2 to the power of a constant.
fn power_of_two(exponent: &Polynomial) -> Option<i64> {
    let exponent = u32::try_from(exponent.as_constant()?).ok()?;
    1_i64.checked_shl(exponent).filter(|power| *power > 0)
}
