// SPDX-License-Identifier: Apache-2.0
//! Complex functions whose textbook formulas lose accuracy: principal branches, in terms of real functions.
//!
//! Both parts are accurate to a few ulp, on branch cuts (where the sign of a zero decides), near zeros of the function,
//! and where an intermediate result would overflow. Infinities and NaN follow C99, annex G. W. Kahan, "Branch cuts for
//! complex elementary functions" (1987), for the logarithm and the tangent.

use crate::import::element::Float;
use crate::import::terms::Terms;
use skript_passes::ir::ops;

/// Real and imaginary part.
pub(crate) type Pair = (String, String);

/// The function of `x + iy`; `None` if its textbook formula is accurate.
pub(crate) fn function(t: &mut Terms, name: &str, x: &str, y: &str) -> Option<Pair> {
    Some(match name {
        "sqrt" => sqrt(t, x, y),
        "rsqrt" => rsqrt(t, x, y),
        "cbrt" => cbrt(t, x, y),
        "log" => (log_of_size(t, x, y), t.op(ops::math::ATAN2, &[y, x])),
        "log_plus_one" => log_plus_one(t, x, y),
        "exponential_minus_one" => exp_minus_one(t, x, y),
        "sine" => sine(t, x, y),
        "cosine" => cosine(t, x, y),
        "tanh" => tanh(t, x, y),
        "tan" => {
            let minus = t.op(ops::arith::NEGF, &[y]);
            let (re, im) = tanh(t, &minus, x);
            (im, t.op(ops::arith::NEGF, &[&re]))
        }
        _ => return None,
    })
}

/// `|x|`
pub(crate) fn size(t: &mut Terms, x: &str) -> String {
    t.op(ops::math::ABSF, &[x])
}

/// Whether a value is an infinity.
pub(crate) fn infinite(t: &mut Terms, size: &str) -> String {
    let infinity = t.infinity();
    t.compare(size, "oeq", &infinity)
}

/// A sum and its rounding error.
fn two_sum(t: &mut Terms, a: &str, b: &str) -> Pair {
    let sum = t.add(a, b);
    let of_b = t.sub(&sum, a);
    let of_a = t.sub(&sum, &of_b);
    let (lost_a, lost_b) = (t.sub(a, &of_a), t.sub(b, &of_b));
    let lost = t.add(&lost_a, &lost_b);
    (sum, lost)
}

/// A square and its rounding error.
fn square(t: &mut Terms, a: &str) -> Pair {
    let square = t.mul(a, a);
    let minus = t.op(ops::arith::NEGF, &[&square]);
    let lost = t.op(ops::math::FMA, &[a, a, &minus]);
    (square, lost)
}

/// The greater of two absolute values, and the ratio of the lesser to it: `max · √(1 + ratio²)` is the length.
pub(crate) fn greater_and_share(t: &mut Terms, a: &str, b: &str) -> Pair {
    let greater = t.op(ops::arith::MAXIMUMF, &[a, b]);
    let lesser = t.op(ops::arith::MINIMUMF, &[a, b]);
    let share = t.div(&lesser, &greater);
    // 0 / 0 and ∞ / ∞
    let same = t.compare(&lesser, "oeq", &greater);
    let zero = t.is(&greater, "oeq", 0.0);
    let (one, none) = (t.number(1.0), t.number(0.0));
    let share = t.select(&same, &one, &share);
    (greater, t.select(&zero, &none, &share))
}

/// `log(a² + b²) / 2`
pub(crate) fn log_of_size(t: &mut Terms, x: &str, y: &str) -> String {
    let (x, y) = (size(t, x), size(t, y));
    let (a, share) = greater_and_share(t, &x, &y);
    let b = t.op(ops::arith::MINIMUMF, &[&x, &y]);
    // Far from the unit circle.
    let log = t.op(ops::math::LOG, &[&a]);
    let more = t.mul(&share, &share);
    let more = t.log_plus_one(&more);
    let more = t.times(&more, 0.5);
    let far = t.add(&log, &more);
    // Near it: a² + b² - 1 without cancellation; the subtracted part is exact.
    let ((aa, lost_a), (bb, lost_b)) = (square(t, &a), square(t, &b));
    let (less_one, all) = (t.plus(&aa, -1.0), t.plus(&aa, -0.5));
    let rest = t.plus(&bb, -0.5);
    let (apart, together) = (t.add(&less_one, &bb), t.add(&all, &rest));
    let alike = t.is(&b, "oge", 0.5);
    let sum = t.select(&alike, &together, &apart);
    let lost = t.add(&lost_a, &lost_b);
    let sum = t.add(&sum, &lost);
    let near = t.log_plus_one(&sum);
    let near = t.times(&near, 0.5);
    let (above, below) = (t.is(&a, "ogt", 0.5), t.is(&a, "olt", 2.0));
    let is_near = t.both(&above, &below);
    let value = t.select(&is_near, &near, &far);
    // An infinity wins over a NaN.
    let infinity = t.infinity();
    let (of_x, of_y) = (infinite(t, &x), infinite(t, &y));
    let value = t.select(&of_x, &infinity, &value);
    t.select(&of_y, &infinity, &value)
}

fn log_plus_one(t: &mut Terms, x: &str, y: &str) -> Pair {
    let sum = t.plus(x, 1.0);
    let far = log_of_size(t, &sum, y);
    // x² + 2x + y², where the terms may cancel.
    let ((xx, lost_x), (yy, lost_y)) = (square(t, x), square(t, y));
    let double = t.add(x, x);
    let (part, lost_part) = two_sum(t, &double, &yy);
    let (whole, lost) = two_sum(t, &part, &xx);
    let small = t.add(&lost_x, &lost_y);
    let lost = t.add(&lost, &lost_part);
    let small = t.add(&small, &lost);
    let whole = t.add(&whole, &small);
    let near = t.log_plus_one(&whole);
    let near = t.times(&near, 0.5);
    // Above, 1 + x is exact or accurate enough.
    let (of_x, of_y) = (size(t, x), size(t, y));
    let reach = t.op(ops::arith::MAXIMUMF, &[&of_x, &of_y]);
    let (right, close) = (t.is(x, "ogt", -0.5), t.is(&reach, "olt", 4.0));
    let is_near = t.both(&right, &close);
    let re = t.select(&is_near, &near, &far);
    (re, t.op(ops::math::ATAN2, &[y, &sum]))
}

/// Both parts, scaled by a power of four so that half of them and their sum stay in range, and the inverse of that
/// power's square root.
fn scaled(t: &mut Terms, x: &str, y: &str) -> (String, String, String) {
    let (of_x, of_y) = (size(t, x), size(t, y));
    let reach = t.op(ops::arith::MAXIMUMF, &[&of_x, &of_y]);
    let huge = t.is(&reach, "ogt", 2f64.powi(100));
    let tiny = t.is(&reach, "olt", 2f64.powi(-100));
    // Not larger: elements that are small beside the greater part must not be lost.
    let mut pick = |up: i32, down: i32| {
        let (up, down) = (t.number(2f64.powi(up)), t.number(2f64.powi(down)));
        let one = t.number(1.0);
        let other = t.select(&tiny, &up, &one);
        t.select(&huge, &down, &other)
    };
    let (scale, back) = (pick(100, -4), pick(-50, 2));
    let (x, y) = (t.mul(x, &scale), t.mul(y, &scale));
    (x, y, back)
}

/// `√((|x| + |z|) / 2)`, the part of the root that does not cancel, of scaled parts; and `|z|`.
fn greater_part(t: &mut Terms, x: &str, y: &str) -> Pair {
    let (of_x, of_y) = (size(t, x), size(t, y));
    let (reach, share) = greater_and_share(t, &of_x, &of_y);
    let squared = t.mul(&share, &share);
    let length = t.plus(&squared, 1.0);
    let length = t.op(ops::math::SQRT, &[&length]);
    let length = t.mul(&reach, &length);
    let sum = t.add(&of_x, &length);
    let half = t.times(&sum, 0.5);
    (t.op(ops::math::SQRT, &[&half]), length)
}

/// The root of scaled parts before it is scaled back; and `|z|`, scaled.
fn scaled_root(t: &mut Terms, x: &str, y: &str) -> (Pair, String) {
    let (root, length) = greater_part(t, x, y);
    let (of_x, of_y) = (size(t, x), size(t, y));
    let (endless_x, endless_y) = (infinite(t, &of_x), infinite(t, &of_y));
    let infinity = t.infinity();
    let root = t.select(&endless_x, &infinity, &root);
    let double = t.add(&root, &root);
    let other = t.div(y, &double);
    let none = t.is(&root, "oeq", 0.0);
    let other = t.select(&none, y, &other);
    let left = t.is(x, "olt", 0.0);
    let (other_size, turned) = (size(t, &other), t.op(ops::math::COPYSIGN, &[&root, y]));
    let (re, im) = (t.select(&left, &other_size, &root), t.select(&left, &turned, &other));
    let (re, im) = (t.select(&endless_y, &infinity, &re), t.select(&endless_y, y, &im));
    ((re, im), length)
}

/// The principal square root.
pub(crate) fn sqrt(t: &mut Terms, x: &str, y: &str) -> Pair {
    let (x, y, back) = scaled(t, x, y);
    let ((re, im), _) = scaled_root(t, &x, &y);
    (t.mul(&re, &back), t.mul(&im, &back))
}

/// The reciprocal square root: the conjugate of the root divided by the length. Infinity for zero, zero for infinities.
fn rsqrt(t: &mut Terms, x: &str, y: &str) -> Pair {
    let (x, y, back) = scaled(t, x, y);
    let ((re, im), length) = scaled_root(t, &x, &y);
    let (re, im) = (t.div(&re, &length), t.div(&im, &length));
    let one = t.number(1.0);
    let up = t.div(&one, &back);
    let (re, im) = (t.mul(&re, &up), t.mul(&im, &up));
    let im = t.op(ops::arith::NEGF, &[&im]);
    let (of_x, of_y) = (size(t, &x), size(t, &y));
    let reach = t.op(ops::arith::MAXIMUMF, &[&of_x, &of_y]);
    let (none, infinity, nan) = (t.is(&reach, "oeq", 0.0), t.infinity(), t.nan());
    let (re, im) = (t.select(&none, &infinity, &re), t.select(&none, &nan, &im));
    let (endless_x, endless_y) = (infinite(t, &of_x), infinite(t, &of_y));
    let zero = t.number(0.0);
    let (re, im) = (t.select(&endless_x, &zero, &re), t.select(&endless_x, &zero, &im));
    (t.select(&endless_y, &zero, &re), t.select(&endless_y, &zero, &im))
}

/// The cube root in polar form: a third of the angle has no branch cut of its own.
fn cbrt(t: &mut Terms, x: &str, y: &str) -> Pair {
    let (of_x, of_y) = (size(t, x), size(t, y));
    let (reach, share) = greater_and_share(t, &of_x, &of_y);
    let squared = t.mul(&share, &share);
    let length = t.plus(&squared, 1.0);
    let length = t.op(ops::math::SQRT, &[&length]);
    let (reach, length) = (t.op(ops::math::CBRT, &[&reach]), t.op(ops::math::CBRT, &[&length]));
    let length = t.mul(&reach, &length);
    let angle = t.op(ops::math::ATAN2, &[y, x]);
    let three = t.number(3.0);
    let angle = t.div(&angle, &three);
    let (cos, sin) = (t.op(ops::math::COS, &[&angle]), t.op(ops::math::SIN, &[&angle]));
    let (re, im) = (t.mul(&length, &cos), t.mul(&length, &sin));
    let (straight, zero) = (t.is(&angle, "oeq", 0.0), t.number(0.0));
    let flat = t.op(ops::math::COPYSIGN, &[&zero, y]);
    (re, t.select(&straight, &flat, &im))
}

/// `exp(x)` as two factors, neither of which overflows if their product with a small number does not.
fn factors(t: &mut Terms, x: &str) -> (String, String) {
    let limit = match t.float {
        Float::F64 => 700.0,
        _ => 80.0,
    };
    let (half, one) = (t.times(x, 0.5), t.number(1.0));
    let (part, whole) = (t.op(ops::math::EXP, &[&half]), t.op(ops::math::EXP, &[x]));
    let large = t.is(x, "ogt", limit);
    (t.select(&large, &part, &whole), t.select(&large, &part, &one))
}

fn exp_minus_one(t: &mut Terms, x: &str, y: &str) -> Pair {
    let (first, second) = factors(t, x);
    let (cos, sin) = (t.op(ops::math::COS, &[y]), t.op(ops::math::SIN, &[y]));
    let im = t.mul(&sin, &first);
    let im = t.mul(&im, &second);
    // expm1(x) cos y - (1 - cos y)
    let half = t.times(y, 0.5);
    let half = t.op(ops::math::SIN, &[&half]);
    let twice = t.add(&half, &half);
    let versine = t.mul(&half, &twice);
    let less_one = t.exp_minus_one(x);
    let near = t.mul(&less_one, &cos);
    let near = t.sub(&near, &versine);
    let far = t.mul(&cos, &first);
    let far = t.mul(&far, &second);
    let is_far = t.is(x, "ogt", 40.0);
    let re = t.select(&is_far, &far, &near);
    let real = t.is(y, "oeq", 0.0);
    (t.select(&real, &less_one, &re), t.select(&real, y, &im))
}

/// `(a cosh y, b sinh y)`, where `a` and `b` are sine and cosine of the other part: no intermediate result overflows
/// before the result does.
fn stretched(t: &mut Terms, a: &str, b: &str, y: &str) -> Pair {
    let of_y = size(t, y);
    let (first, second) = factors(t, &of_y);
    let half = t.times(&first, 0.5);
    let turned = t.op(ops::math::COPYSIGN, &[&half, y]);
    let (cosh, sinh) = (t.op(ops::math::COSH, &[y]), t.op(ops::math::SINH, &[y]));
    let large = t.is(&second, "une", 1.0);
    let (cosh, sinh) = (t.select(&large, &half, &cosh), t.select(&large, &turned, &sinh));
    let (re, im) = (t.mul(a, &cosh), t.mul(b, &sinh));
    (t.mul(&re, &second), t.mul(&im, &second))
}

fn sine(t: &mut Terms, x: &str, y: &str) -> Pair {
    let (sin, cos) = (t.op(ops::math::SIN, &[x]), t.op(ops::math::COS, &[x]));
    let (re, im) = stretched(t, &sin, &cos, y);
    // Zero times an infinity is zero on the axes.
    let (imaginary, real) = (t.is(x, "oeq", 0.0), t.is(y, "oeq", 0.0));
    let flat = t.op(ops::math::COPYSIGN, &[y, &im]);
    (t.select(&imaginary, x, &re), t.select(&real, &flat, &im))
}

fn cosine(t: &mut Terms, x: &str, y: &str) -> Pair {
    let (cos, sin) = (t.op(ops::math::COS, &[x]), t.op(ops::math::SIN, &[x]));
    let (re, im) = stretched(t, &cos, &sin, y);
    let im = t.op(ops::arith::NEGF, &[&im]);
    let (imaginary, real) = (t.is(x, "oeq", 0.0), t.is(y, "oeq", 0.0));
    let (one, none) = (t.number(1.0), t.number(0.0));
    let (up, right) = (t.op(ops::math::COPYSIGN, &[&one, y]), t.op(ops::math::COPYSIGN, &[&none, x]));
    let flat = t.mul(&up, &right);
    let flat = t.op(ops::arith::NEGF, &[&flat]);
    let im = t.select(&imaginary, &flat, &im);
    let still = t.op(ops::math::COPYSIGN, &[&none, &im]);
    (re, t.select(&real, &still, &im))
}

/// The hyperbolic tangent.
pub(crate) fn tanh(t: &mut Terms, x: &str, y: &str) -> Pair {
    let tan = t.op(ops::math::TAN, &[y]);
    let sinh = t.op(ops::math::SINH, &[x]);
    let (tans, sinhs) = (t.mul(&tan, &tan), t.mul(&sinh, &sinh));
    let (beta, rho) = (t.plus(&tans, 1.0), t.plus(&sinhs, 1.0));
    let rho = t.op(ops::math::SQRT, &[&rho]);
    let below = t.mul(&beta, &sinhs);
    let below = t.plus(&below, 1.0);
    let above = t.mul(&beta, &rho);
    let above = t.mul(&above, &sinh);
    let (re, im) = (t.div(&above, &below), t.div(&tan, &below));
    // Where the hyperbolic tangent is 1.
    let limit = match t.float {
        Float::F64 => 22.0,
        _ => 11.0,
    };
    let of_x = size(t, x);
    let far = t.is(&of_x, "ogt", limit);
    let one = t.number(1.0);
    let sign = t.op(ops::math::COPYSIGN, &[&one, x]);
    let (sin, cos) = (t.op(ops::math::SIN, &[y]), t.op(ops::math::COS, &[y]));
    let minus = t.op(ops::arith::NEGF, &[&of_x]);
    let fall = t.op(ops::math::EXP, &[&minus]);
    let product = t.mul(&sin, &cos);
    let product = t.times(&product, 4.0);
    let product = t.mul(&product, &fall);
    let product = t.mul(&product, &fall);
    // At infinity any angle is possible; elsewhere it must be a number.
    let (endless, none) = (infinite(t, &of_x), t.number(0.0));
    let flat = t.op(ops::math::COPYSIGN, &[&none, &product]);
    let nothing = t.times(&product, 0.0);
    let whole = t.add(&sign, &nothing);
    let (sign, product) = (t.select(&endless, &sign, &whole), t.select(&endless, &flat, &product));
    let (re, im) = (t.select(&far, &sign, &re), t.select(&far, &product, &im));
    let real = t.is(y, "oeq", 0.0);
    (re, t.select(&real, y, &im))
}
