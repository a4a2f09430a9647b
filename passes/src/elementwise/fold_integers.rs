// SPDX-License-Identifier: Apache-2.0
//! `skript-fold-integers`: decides comparisons of bounded integers in payloads and loops, divides by powers of two with shifts, and
//! converts small integers to reals from 32 bits.
//!
//! The quotient of two integers is expanded with tests for the divisors 0 and -1, and a power with a test for a negative exponent. In
//! `x / 2 ** k % 2` with a loop index `k`, the bounds of the loop decide all of them. The quotient
//! is then a shift. Processors have no instruction that divides vectors of integers. A power that remains is a loop over the bits of its
//! exponent, which LLVM does not vectorize. AVX2 converts vectors of 32-bit integers to reals, but 64-bit integers one by one.
//!
//! Guarantees: results do not change.

use crate::elementwise::hoist_invariants::tensor_nest;
use crate::facts::interval::{self, EXTENT};
use crate::ir::arith::{integer, without_index_casts};
use crate::ir::builder::arith::Integers;
use crate::ir::generic::LoopNest;
use crate::ir::linalg::index_of;
use crate::ir::scf::Bounds;
use crate::ir::walk::{named, nested, parents};
use crate::ir::{self, Builder, ValueKey, ops, types};
use melior::Context;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{TypeLike, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::{Dialect, Pass, PassError, op};
use skript_symbolic::Interval;
use std::collections::HashMap;

/// The pass `skript-fold-integers`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-fold-integers",
    summary: "decide comparisons of bounded integers, divide by powers of two with shifts, convert small integers from 32 bits",
    dependent_dialects: &[Dialect::Arith],
    run: |root, _, rewriter| {
        for op in named(root, ops::linalg::GENERIC) {
            if let Some(nest) = tensor_nest(op) {
                Fold::new(Some(&nest)).fold(&nest.payload, rewriter.context())?;
            }
        }
        let is_loop = |op: &OperationRef| !Bounds::all(*op).is_empty();
        let is_outermost = |op: &OperationRef| is_loop(op) && !parents(*op).any(|parent| is_loop(&parent));
        // Folding erases operations inside of loops.
        let loops: Vec<_> = nested(root).into_iter().filter(is_outermost).collect();
        for op in loops {
            let operations = [vec![op], nested(op)].concat();
            Fold::new(None).fold(&operations, rewriter.context())?;
        }
        Ok(())
    },
    ..Pass::NONE
};

/// The largest exponent of a power of two in a 64-bit integer.
const MAX_EXPONENT: i64 = 62;

struct Fold<'n, 'c, 'a> {
    /// The nest whose payload is folded. `None` for loops.
    nest: Option<&'n LoopNest<'c, 'a>>,
    /// The known intervals of indices and 64-bit integers.
    intervals: HashMap<ValueKey, Interval>,
    /// The exponents of powers of two.
    exponents: HashMap<ValueKey, Value<'c, 'a>>,
}

impl<'n, 'c: 'a, 'a> Fold<'n, 'c, 'a> {
    fn new(nest: Option<&'n LoopNest<'c, 'a>>) -> Self {
        Fold { nest, intervals: HashMap::new(), exponents: HashMap::new() }
    }

    /// Folds operations. Each follows those that compute its operands.
    fn fold(mut self, operations: &[OperationRef<'c, 'a>], context: &'c Context) -> Result<(), PassError> {
        let mut is_changed = false;
        for op in operations {
            self.bound_indices(*op);
            let results: Vec<Value> = op.results().map(Value::from).collect();
            let [result] = results[..] else {
                continue;
            };
            let interval = self.interval_of(*op, result);
            let folded = self.folded(*op, &Builder::before(context, *op)?);
            if let Some(folded) = folded {
                ir::replace_uses(result, folded);
                is_changed = true;
            }
            if let Some(interval) = interval {
                // A selected value may have a smaller interval than both values of the selection.
                self.intervals.entry(ValueKey::of(folded.unwrap_or(result))).or_insert(interval);
            }
        }
        for op in operations.iter().rev().filter(|_| is_changed) {
            let is_pure = ["arith.", "math."].iter().any(|dialect| ir::name(*op).starts_with(dialect));
            if is_pure && op.results().all(|result| !op::is_used(result)) {
                ir::erase(*op);
            }
        }
        Ok(())
    }

    /// Records the intervals of the indices of a loop.
    fn bound_indices(&mut self, op: OperationRef<'c, 'a>) {
        let indices = ir::first_block(op).into_iter().flat_map(ir::arguments);
        for (bounds, index) in Bounds::all(op).into_iter().zip(indices) {
            let [lower, upper, step] =
                [bounds.lower, bounds.upper, bounds.step].map(|value| self.interval(value));
            if let (Some(lower), Some(upper), true) = (lower, upper, step.is_some_and(|step| step.low > 0)) {
                let high = upper.high.saturating_sub(1).max(lower.low);
                self.intervals.insert(ValueKey::of(index), Interval { low: lower.low, high });
            }
        }
    }

    fn interval_of(&self, op: OperationRef<'c, 'a>, result: Value) -> Option<Interval> {
        if let Some(index) = index_of(op) {
            let below = |extent: i64| Interval { low: 0, high: (extent - 1).max(0) };
            return Some(self.nest.and_then(|nest| nest.extent(index)).map_or(EXTENT, below));
        }
        let is_known =
            is_wide(result) && op.operands().all(|x| is_wide(x) || types::bits(x.r#type()) == Some(1));
        interval::of_result(op, |n| self.interval(ir::operand_at(op, n)?)).filter(|_| is_known)
    }

    fn interval(&self, value: Value<'c, 'a>) -> Option<Interval> {
        let known = self.intervals.get(&ValueKey::of(value)).copied();
        known.or_else(|| integer(value).map(Interval::point))
    }

    /// The value that replaces the result of an operation.
    fn folded(&mut self, op: OperationRef<'c, 'a>, at: &Builder<'c, 'a>) -> Option<Value<'c, 'a>> {
        let operands: Vec<Value> = op.operands().collect();
        match (ir::name(op).as_str(), operands.as_slice()) {
            (ops::arith::CMPI, [x, y]) => {
                let holds = decide(ir::arith::predicate(op)?, self.interval(*x)?, self.interval(*y)?)?;
                Some(at.truth(holds))
            }
            (ops::arith::SELECT, [condition, then, otherwise]) => {
                let decided = integer(*condition).map(|holds| if holds == 0 { *otherwise } else { *then });
                decided.or_else(|| remainder(*condition, *then, *otherwise, at))
            }
            (ops::arith::ORI, [x, y]) | (ops::arith::ORI, [y, x]) if integer(*x) == Some(0) => Some(*y),
            (ops::math::IPOWI, [base, exponent]) => self.power(*base, *exponent, at),
            (ops::arith::FLOORDIVSI, [x, y]) => Some(at.shrsi(*x, self.exponent(*x, *y, at)?)),
            (ops::arith::DIVSI, [x, y]) => Some(truncated(*x, *y, self.exponent(*x, *y, at)?, at)),
            (ops::arith::REMSI, [x, y]) => {
                let exponent = self.exponent(*x, *y, at)?;
                let multiple = at.shli(truncated(*x, *y, exponent, at), exponent);
                Some(at.subi(*x, multiple))
            }
            (ops::arith::SITOFP, [x]) if is_wide(*x) && is_small(self.interval(*x)?) => {
                let small = at.convert(ops::arith::TRUNCI, *x, types::int(at.context, 32));
                Some(at.convert(ops::arith::SITOFP, small, op.result(0).ok()?.r#type()))
            }
            _ => None,
        }
    }

    /// The power of a constant power of two: `1 << exponent * log2(base)`.
    fn power(
        &mut self,
        base: Value<'c, 'a>,
        exponent: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Option<Value<'c, 'a>> {
        let (base, interval) = (integer(base).filter(|_| is_wide(base))?, self.interval(exponent)?);
        let factor = (base > 1 && base & (base - 1) == 0).then(|| i64::from(base.trailing_zeros()))?;
        if interval.low < 0 || interval.high.checked_mul(factor)? > MAX_EXPONENT {
            return None;
        }
        let r#type = exponent.r#type();
        let exponent = if factor == 1 { exponent } else { at.muli(exponent, at.int(factor, r#type)) };
        let power = at.shli(at.int(1, r#type), exponent);
        self.exponents.insert(ValueKey::of(power), exponent);
        Some(power)
    }

    /// The exponent of a divisor that is a power of two, with the type of the dividend.
    fn exponent(
        &self,
        dividend: Value<'c, 'a>,
        divisor: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Option<Value<'c, 'a>> {
        let power = Some(without_index_casts(divisor)).filter(|_| is_wide(dividend))?;
        let exponent = *self.exponents.get(&ValueKey::of(power))?;
        let is_same = exponent.r#type() == dividend.r#type();
        Some(if is_same { exponent } else { at.index_cast(exponent, dividend.r#type()) })
    }
}

/// Whether a value is an index or a 64-bit integer.
fn is_wide(value: Value) -> bool {
    let r#type = value.r#type();
    r#type.is_index() || r#type.is_integer() && types::bits(r#type) == Some(64)
}

/// Whether the integers have 32 bits.
fn is_small(interval: Interval) -> bool {
    i64::from(i32::MIN) <= interval.low && interval.high <= i64::from(i32::MAX)
}

/// The result of a signed comparison, if it is the same for all values.
pub(crate) fn decide(predicate: i64, x: Interval, y: Interval) -> Option<bool> {
    let below = |x: Interval, y: Interval| {
        if x.high < y.low { Some(true) } else { (x.low >= y.high).then_some(false) }
    };
    let not = |holds: Option<bool>| holds.map(|holds| !holds);
    let equal = || {
        let is_point = x.low == x.high && x == y;
        if is_point { Some(true) } else { (x.high < y.low || y.high < x.low).then_some(false) }
    };
    match predicate {
        p if p == Integers::Equal as i64 => equal(),
        p if p == Integers::NotEqual as i64 => not(equal()),
        p if p == Integers::SignedLess as i64 => below(x, y),
        p if p == Integers::SignedAtLeast as i64 => not(below(x, y)),
        p if p == Integers::SignedGreater as i64 => below(y, x),
        p if p == Integers::SignedAtMost as i64 => not(below(y, x)),
        _ => None,
    }
}

/// The quotient by `power`, 2 to the `exponent`, rounded toward zero.
fn truncated<'c: 'a, 'a>(
    x: Value<'c, 'a>,
    power: Value<'c, 'a>,
    exponent: Value<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Value<'c, 'a> {
    let is_negative = at.cmpi(Integers::SignedLess, x, at.zero(x.r#type()));
    let largest_remainder = at.subi(power, at.int(1, power.r#type()));
    let biased = at.addi(x, at.select(is_negative, largest_remainder, at.zero(x.r#type())));
    at.shrsi(biased, exponent)
}

/// The remainder of a floor division by a constant power of two: its lowest bits.
fn remainder<'c: 'a, 'a>(
    condition: Value<'c, 'a>,
    then: Value<'c, 'a>,
    otherwise: Value<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Option<Value<'c, 'a>> {
    let operands = |value: Value<'c, 'a>, name: &str| {
        let (op, _) = ir::definition(value).filter(|(op, _)| op::is(op, name))?;
        Some((op, ir::both_operands(op).ok()?))
    };
    let (_, [x, divisor]) = operands(otherwise, ops::arith::REMSI).filter(|_| is_wide(otherwise))?;
    let power = integer(divisor).filter(|divisor| *divisor > 1 && divisor & (divisor - 1) == 0)?;
    let (_, [truncated, added]) = operands(then, ops::arith::ADDI)?;
    let (_, conditions) = operands(condition, ops::arith::ANDI)?;
    let is_tested = |predicate: Integers| {
        conditions.iter().any(|condition| {
            operands(*condition, ops::arith::CMPI).is_some_and(|(op, [value, zero])| {
                ir::arith::predicate(op) == Some(predicate as i64)
                    && value == otherwise
                    && integer(zero) == Some(0)
            })
        })
    };
    let is_negative = is_tested(Integers::NotEqual) && is_tested(Integers::SignedLess);
    let is_remainder = is_negative && truncated == otherwise && integer(added) == Some(power);
    is_remainder.then(|| at.andi(x, at.int(power - 1, x.r#type())))
}
