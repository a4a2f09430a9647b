// SPDX-License-Identifier: Apache-2.0
//! Quotients by one divisor, without divisions.
//!
//! With `r = 1 / s`, rounded, and `q = x · r`, the remainder `e = x - q · s` of one fused operation gives `q + e · r`, fused, which is
//! `x / s` rounded correctly (P. Markstein, *Computation of elementary functions on the IBM RISC System/6000 processor*, 1990). `q` is within
//! 1.5 units in the last place of the quotient, so that `e · r` errs by at most 3 · 2⁻²⁴ of them: only a quotient as near to the middle of
//! two numbers could be rounded the other way. The test below computes all of these quotients.
//!
//! That needs numbers whose products do not leave the range of normal ones. The elements of several vectors are compared with
//! [`LEAST`] and [`GREATEST`] at once; where one is beyond them, infinite, NaN or zero, all of them are divided.

use super::{all, splat};
use crate::ir::{self, Builder, ValueKey, ops, types, vector};
use melior::Error;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Type, TypeLike, Value, ValueLike};
use std::collections::HashMap;

/// 2⁻⁹⁵ and 2⁹⁰, as the bits of f32: a numerator is between them, or negative and its opposite is. The last bit of the remainder is at least
/// 2⁻⁹⁵ · 2⁻⁴⁸, and quotients are between 2⁻¹²⁵ and 2¹²⁰.
const LEAST: i64 = (127 - 95) << 23;
const GREATEST: i64 = (127 + 90) << 23;

/// 2⁻³⁰ and 2³⁰, in which a divisor is.
const LEAST_DIVISOR: i64 = (127 - 30) << 23;
const GREATEST_DIVISOR: i64 = (127 + 30) << 23;

/// All bits but the sign.
const MAGNITUDE: i64 = 0x7fff_ffff;

/// The divisor of a division, if it does not differ along the innermost loop, and the numerator does.
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

/// What is computed of a divisor before the loop.
pub(super) struct Divisor<'c, 'a> {
    /// Vectors of it and of its reciprocal.
    value: Value<'c, 'a>,
    reciprocal: Value<'c, 'a>,
    /// Vector of the number of bit patterns from [`LEAST`] on that numerators may have: 0 if the divisor is out of its range.
    patterns: Value<'c, 'a>,
    lanes: i64,
}

impl<'c: 'a, 'a> Divisor<'c, 'a> {
    pub(super) fn new(divisor: Value<'c, 'a>, lanes: i64, at: &Builder<'c, 'a>) -> Result<Self, Error> {
        let (real, word) = (divisor.r#type(), word(at));
        let one = Attribute::parse(at.context, "1.0 : f32").ok_or(Error::OperationBuild)?;
        let one = at.value(ops::arith::CONSTANT, &[], &[("value", one)], real)?;
        let reciprocal = at.value(ops::arith::DIVF, &[one, divisor], &[], real)?;

        let constant = |value: i64| -> Result<Value<'c, 'a>, Error> {
            let value = IntegerAttribute::new(word, value).into();
            at.value(ops::arith::CONSTANT, &[], &[("value", value)], word)
        };
        let binary = |name, a, b| at.value(name, &[a, b], &[], word);
        let bits = at.value(ops::arith::BITCAST, &[divisor], &[], word)?;
        let bits = binary(ops::arith::ANDI, bits, constant(MAGNITUDE)?)?;
        let above = binary(ops::arith::SUBI, bits, constant(LEAST_DIVISOR)?)?;
        let range = constant(GREATEST_DIVISOR - LEAST_DIVISOR)?;
        let suits = at.compare(UNSIGNED_LESS, above, range)?;
        let (most, none) = (constant(GREATEST - LEAST)?, constant(0)?);
        let patterns = at.value(ops::arith::SELECT, &[suits, most, none], &[], word)?;
        Ok(Divisor {
            value: splat(divisor, lanes, at)?,
            reciprocal: splat(reciprocal, lanes, at)?,
            patterns: splat(patterns, lanes, at)?,
            lanes,
        })
    }

    /// The quotients of several vectors.
    pub(super) fn quotients(
        &self,
        numerators: &[Value<'c, 'a>],
        at: &Builder<'c, 'a>,
    ) -> Result<Vec<Value<'c, 'a>>, Error> {
        let words = vector::of(&[self.lanes], word(at));
        let constant = |value: i64| -> Result<Value<'c, 'a>, Error> {
            let value = all(at, words, &format!("{value} : i32"))?;
            at.value(ops::arith::CONSTANT, &[], &[("value", value)], words)
        };
        let binary = |name, a, b| at.value(name, &[a, b], &[], words);
        let mut greatest = None;
        for x in numerators {
            let bits = at.value(ops::arith::BITCAST, &[*x], &[], words)?;
            let bits = binary(ops::arith::ANDI, bits, constant(MAGNITUDE)?)?;
            let above = binary(ops::arith::SUBI, bits, constant(LEAST)?)?;
            greatest = Some(match greatest {
                None => above,
                Some(other) => binary(ops::arith::MAXUI, other, above)?,
            });
        }
        let greatest = greatest.ok_or(Error::OperationBuild)?;
        let beyond = at.compare(UNSIGNED_NOT_LESS, greatest, self.patterns)?;
        let kind = Attribute::parse(at.context, "#vector.kind<or>").ok_or(Error::OperationBuild)?;
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

/// Codes of `arith.cmpi`.
const UNSIGNED_LESS: i64 = 6;
const UNSIGNED_NOT_LESS: i64 = 9;

#[cfg(test)]
mod tests {
    /// The operations of the vectors, on scalars.
    fn quotient(x: f32, s: f32) -> f32 {
        let r = 1.0 / s;
        let q = x * r;
        let e = (-q).mul_add(s, x);
        e.mul_add(r, q)
    }

    /// Compares the quotients of 24-bit integers that are near to the middle of two numbers with divisions; returns how many these are.
    ///
    /// With `2ᵉ · x = m · s + k`, the quotient `x / s` is `|k| / (2ᵉ · s)` away from the middle `m / 2ᵉ`. For each `s` and `k`, the
    /// equation has few solutions: `m = -k / s` modulo `2ᵉ`.
    fn compare_near_middles(divisors: impl Iterator<Item = u64>) -> u64 {
        const FIRST: u64 = 1 << 23;
        const FARTHEST: i64 = 8;
        let mut compared = 0;
        for s in divisors {
            let zeros = s.trailing_zeros();
            let odd = s >> zeros;
            let inverse = (0..6)
                .fold(odd, |inverse, _| inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse))));
            for e in [24, 25] {
                for k in (-FARTHEST..=FARTHEST).filter(|k| *k != 0 && k.trailing_zeros() >= zeros) {
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
        let ends = [super::LEAST, super::GREATEST - 1].map(of);
        let divisors = [super::LEAST_DIVISOR, super::GREATEST_DIVISOR - 1].map(of);
        for x in ends.iter().flat_map(|x| [*x, -x, x * 1.100_001, x / 1.3 * 1.3]) {
            for s in divisors.iter().flat_map(|s| [*s, -s, s * 0.700_003, s * 1.3]) {
                assert_eq!(quotient(x, s).to_bits(), (x / s).to_bits(), "{x:e} {s:e}");
            }
        }
    }
}
