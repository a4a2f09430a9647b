// SPDX-License-Identifier: Apache-2.0
//! Replaces divisions by a loop-invariant divisor by multiplications.
//!
//! With `r = 1 / s`, rounded, and `q = x · r`, one fused operation computes the remainder `e = x - q · s`. A second one computes
//! `q + e · r`, which is `x / s` rounded correctly (P. Markstein, *Computation of elementary functions on the IBM RISC System/6000
//! processor*, 1990). `q` is within 1.5 ulp of the quotient, so the error of `e · r` is at most 3 · 2⁻²⁴ ulp: only a quotient that is this
//! close to the midpoint of two numbers could be rounded incorrectly. The test below computes all of these quotients.
//!
//! This requires that all products are normal numbers. The elements of several vectors are compared with [`MIN_NUMERATOR`] and
//! [`MAX_NUMERATOR`] at once. If an element is out of this range, infinite, NaN or zero, all elements are divided.

use super::splat;
use crate::ir::attributes;
use crate::ir::builder::arith::Integers;
use crate::ir::{self, Builder, ValueKey, ops, types, vector};
use melior::Error;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::IntegerType;
use melior::ir::{Type, TypeLike, Value, ValueLike};
use std::collections::HashMap;

/// 2⁻⁹⁵ and 2⁹⁰, as the bits of f32: the range of the magnitude of a numerator. The last bit of the remainder is at least 2⁻⁹⁵ · 2⁻⁴⁸, and
/// the magnitudes of quotients are between 2⁻¹²⁵ and 2¹²⁰.
const MIN_NUMERATOR: i64 = (127 - 95) << 23;
const MAX_NUMERATOR: i64 = (127 + 90) << 23;

/// 2⁻³⁰ and 2³⁰, as the bits of f32: the range of the magnitude of a divisor.
const MIN_DIVISOR: i64 = (127 - 30) << 23;
const MAX_DIVISOR: i64 = (127 + 30) << 23;

/// All bits except the sign.
const MAGNITUDE: i64 = 0x7fff_ffff;

/// Returns the divisor of a division if it is invariant in the innermost loop, and the numerator is not.
pub(super) fn divisor<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    varying: &HashMap<ValueKey, ()>,
) -> Option<Value<'c, 'a>> {
    let is_division = ir::name(op) == ops::arith::DIVF;
    let (x, s) = (ir::operand_at(op, 0)?, ir::operand_at(op, 1)?);
    let differs = |value| varying.contains_key(&ValueKey::of(value));
    let is_real = is_division && s.r#type().is_f32();
    (is_real && differs(x) && !differs(s)).then_some(s)
}

/// The values that are computed from a divisor before the loop.
pub(super) struct Divisor<'c, 'a> {
    /// Splat vector of the divisor.
    value: Value<'c, 'a>,
    /// Splat vector of the reciprocal.
    reciprocal: Value<'c, 'a>,
    /// Splat vector of the number of bit patterns, from [`MIN_NUMERATOR`] on, that are valid numerators: 0 if the divisor is out of range.
    patterns: Value<'c, 'a>,
    lanes: i64,
}

impl<'c: 'a, 'a> Divisor<'c, 'a> {
    pub(super) fn new(divisor: Value<'c, 'a>, lanes: i64, at: &Builder<'c, 'a>) -> Result<Self, Error> {
        let (real, word) = (divisor.r#type(), word(at));
        let one = at.real(1.0, real);
        let reciprocal = at.divf(one, divisor);

        let constant = |value: i64| -> Result<Value<'c, 'a>, Error> {
            let value = IntegerAttribute::new(word, value).into();
            at.value(ops::arith::CONSTANT, &[], &[("value", value)], word)
        };
        let bits = at.value(ops::arith::BITCAST, &[divisor], &[], word)?;
        let bits = at.andi(bits, constant(MAGNITUDE)?);
        let above = at.subi(bits, constant(MIN_DIVISOR)?);
        let range = constant(MAX_DIVISOR - MIN_DIVISOR)?;
        let is_in_range = at.cmpi(Integers::Less, above, range);
        let (all, none) = (constant(MAX_NUMERATOR - MIN_NUMERATOR)?, constant(0)?);
        let patterns = at.select(is_in_range, all, none);
        Ok(Divisor {
            value: splat(divisor, lanes, at)?,
            reciprocal: splat(reciprocal, lanes, at)?,
            patterns: splat(patterns, lanes, at)?,
            lanes,
        })
    }

    /// Computes the quotients of several vectors.
    pub(super) fn quotients(
        &self,
        numerators: &[Value<'c, 'a>],
        at: &Builder<'c, 'a>,
    ) -> Result<Vec<Value<'c, 'a>>, Error> {
        let words = vector::of(&[self.lanes], word(at));
        let constant = |value: i64| -> Result<Value<'c, 'a>, Error> { Ok(at.int(value, words)) };
        let mut greatest = None;
        for x in numerators {
            let bits = at.value(ops::arith::BITCAST, &[*x], &[], words)?;
            let bits = at.andi(bits, constant(MAGNITUDE)?);
            let above = at.subi(bits, constant(MIN_NUMERATOR)?);
            greatest = Some(match greatest {
                None => above,
                Some(other) => at.maxui(other, above),
            });
        }
        let greatest = greatest.ok_or(Error::OperationBuild)?;
        let beyond = at.cmpi(Integers::AtLeast, greatest, self.patterns);
        let kind = attributes::combining(at.context, "or");
        let any = at.value(ops::vector::REDUCTION, &[beyond], &[("kind", kind)], types::flag(at.context))?;

        let kinds: Vec<Type> = numerators.iter().map(|x| x.r#type()).collect();
        let (divided, then, _) = at.region(&[]);
        let quotients: Vec<Value> = numerators
            .iter()
            .map(|x| then.value(ops::arith::DIVF, &[*x, self.value], &[], x.r#type()))
            .collect::<Result<_, Error>>()?;
        then.create(ops::scf::YIELD, &quotients, &[], &[], Vec::new())?;
        let (corrected, otherwise, _) = at.region(&[]);
        let quotients = numerators.iter().map(|x| self.corrected(*x, &otherwise));
        let quotients: Vec<Value> = quotients.collect::<Result<_, Error>>()?;
        otherwise.create(ops::scf::YIELD, &quotients, &[], &[], Vec::new())?;
        let branch = at.create(ops::scf::IF, &[any], &[], &kinds, vec![divided, corrected])?;
        Ok(branch.results().map(Value::from).collect())
    }

    fn corrected(&self, x: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
        let kind = x.r#type();
        let apply = |name, operands: &[Value<'c, 'a>]| at.value(name, operands, &[], kind);
        let q = apply(ops::arith::MULF, &[x, self.reciprocal])?;
        let opposite = apply(ops::arith::NEGF, &[q])?;
        let remainder = apply(ops::math::FMA, &[opposite, self.value, x])?;
        apply(ops::math::FMA, &[remainder, self.reciprocal, q])
    }
}

fn word<'c>(at: &Builder<'c, '_>) -> Type<'c> {
    IntegerType::new(at.context, 32).into()
}

#[cfg(test)]
mod tests {
    /// The algorithm on scalars.
    fn quotient(x: f32, s: f32) -> f32 {
        let r = 1.0 / s;
        let q = x * r;
        let e = (-q).mul_add(s, x);
        e.mul_add(r, q)
    }

    /// Compares the quotients of 24-bit integers that are near a midpoint of two numbers with divisions; returns the number of quotients.
    ///
    /// With `2ᵉ · x = m · s + k`, the quotient `x / s` is `|k| / (2ᵉ · s)` away from the midpoint `m / 2ᵉ`. For each `s` and `k`, the
    /// equation has few solutions: `m = -k / s` modulo `2ᵉ`.
    fn compare_near_middles(divisors: impl Iterator<Item = u64>) -> u64 {
        const FIRST: u64 = 1 << 23;
        const MAX_DISTANCE: i64 = 8;
        let mut compared = 0;
        for s in divisors {
            let zeros = s.trailing_zeros();
            let odd = s >> zeros;
            let inverse = (0..6)
                .fold(odd, |inverse, _| inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse))));
            for e in [24, 25] {
                for k in (-MAX_DISTANCE..=MAX_DISTANCE).filter(|k| *k != 0 && k.trailing_zeros() >= zeros) {
                    let step = 1_u64 << (e - zeros);
                    let first = (-(k >> zeros)).cast_unsigned().wrapping_mul(inverse) % step;
                    let middles = (first..1 << 25).step_by(step as usize);
                    for m in middles.filter(|m| *m >= 1 << 24 && m % 2 == 1) {
                        let scaled = (m * s).wrapping_add_signed(k);
                        let x = scaled >> e;
                        let is_middle = if e == 25 { x < s } else { x >= s };
                        if scaled % (1 << e) == 0 && is_middle && (FIRST..2 * FIRST).contains(&x) {
                            let (x, s) = (x as f32, s as f32);
                            assert_eq!(quotient(x, s).to_bits(), (x / s).to_bits(), "{x} {s}");
                            compared += 1;
                        }
                    }
                }
            }
        }
        compared
    }

    #[test]
    fn all_quotients_near_the_middle_are_rounded_correctly() {
        assert!(compare_near_middles(1 << 23..1 << 24) > 40_000_000);
    }

    #[test]
    fn quotients_at_the_ends_of_the_ranges_are_rounded_correctly() {
        let of = |bits: i64| f32::from_bits(bits as u32);
        let ends = [super::MIN_NUMERATOR, super::MAX_NUMERATOR - 1].map(of);
        let divisors = [super::MIN_DIVISOR, super::MAX_DIVISOR - 1].map(of);
        for x in ends.iter().flat_map(|x| [*x, -x, x * 1.100_001, x / 1.3 * 1.3]) {
            for s in divisors.iter().flat_map(|s| [*s, -s, s * 0.700_003, s * 1.3]) {
                assert_eq!(quotient(x, s).to_bits(), (x / s).to_bits(), "{x:e} {s:e}");
            }
        }
    }
}
