// SPDX-License-Identifier: Apache-2.0
//! Converts operations on complex numbers.

use super::principal;
use crate::import::terms::Real;
use melior::ir::{Value, ValueLike};
use skript_dialect::melior;
use skript_passes::ir::builder::arith::Reals;
use skript_passes::ir::{Builder, ops, types};

pub(super) fn of_pairs<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    name: &str,
    [x, y]: [Value<'c, 'a>; 2],
) -> Option<Value<'c, 'a>> {
    let part = types::complex_part(x.r#type())?;
    let unary = match name {
        "abs" => Some((ops::complex::ABS, part)),
        "negate" => Some((ops::complex::NEG, x.r#type())),
        "exponential" => Some((ops::complex::EXP, x.r#type())),
        "sign" => Some((ops::complex::SIGN, x.r#type())),
        "real" => Some((ops::complex::RE, part)),
        "imag" => Some((ops::complex::IM, part)),
        _ => None,
    };
    if let Some((unary, result)) = unary {
        return Some(at.make(unary, &[x], &[], result));
    }
    let binary = match name {
        "add" => ops::complex::ADD,
        "subtract" => ops::complex::SUB,
        "multiply" => ops::complex::MUL,
        "divide" => ops::complex::DIV,
        "power" => ops::complex::POW,
        "atan2" => ops::complex::ATAN2,
        "logistic" => return logistic(at, x),
        "maximum" => return Some(extreme(at, [x, y], Reals::Greater)),
        "minimum" => return Some(extreme(at, [x, y], Reals::Less)),
        _ => return principal::by_parts(at, x, |pair| principal::function(name, pair)),
    };
    Some(at.make(binary, &[x, y], &[], x.r#type()))
}

/// `1 / (1 + e⁻ᶻ)`, or `eᶻ / (eᶻ + 1)` where `e⁻ᶻ` can overflow. Near a pole, where the sum cancels,
/// `(1 + tanh(z / 2)) / 2`.
fn logistic<'c: 'a, 'a>(at: &Builder<'c, 'a>, z: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    let t = z.r#type();
    let apply = |op, operands: &[Value<'c, 'a>]| at.make(op, operands, &[], t);
    let re = Real { at: *at, value: at.make(ops::complex::RE, &[z], &[], types::complex_part(t)?) };
    let left = re.is(Reals::Less, 0.0).value;
    let falling = at.select(left, z, apply(ops::complex::NEG, &[z]));
    let power = apply(ops::complex::EXP, &[falling]);
    let one = apply(ops::complex::CREATE, &[re.constant(1.0).value, re.constant(0.0).value]);
    let above = at.select(left, power, one);
    let below = apply(ops::complex::ADD, &[power, one]);
    let value = apply(ops::complex::DIV, &[above, below]);
    let near = principal::by_parts(at, z, |(re, im)| {
        let (re, im) = principal::tanh(re * 0.5, im * 0.5);
        Some(((re + 1.0) * 0.5, im * 0.5))
    })?;
    let (re, im) = principal::parts(at, below);
    let is_near = re.abs().max(im.abs()).is(Reals::Less, 0.5);
    Some(at.select(is_near.value, near, value))
}

/// The greater or lesser pair in lexicographic order: real parts first, then imaginary parts. An operand with a NaN takes
/// precedence.
fn extreme<'c: 'a, 'a>(at: &Builder<'c, 'a>, [x, y]: [Value<'c, 'a>; 2], before: Reals) -> Value<'c, 'a> {
    let [(x_re, x_im), (y_re, y_im)] = [x, y].map(|z| principal::parts(at, z));
    let second = x_re.is(Reals::Equal, y_re).and(x_im.is(before, y_im));
    let nan = x_re.is(Reals::Unordered, x_im);
    let wins = x_re.is(before, y_re).or(second).or(nan);
    let other_nan = y_re.is(Reals::Unordered, y_im);
    let best = at.select(wins.value, x, y);
    let other = at.select(nan.value, x, y);
    at.select(other_nan.value, other, best)
}
