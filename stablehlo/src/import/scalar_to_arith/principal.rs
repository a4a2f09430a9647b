// SPDX-License-Identifier: Apache-2.0
//! Principal branches of complex functions whose textbook formulas lose accuracy, in terms of real functions.
//!
//! Both parts are accurate to a few ulp, also on branch cuts (where the sign of zero selects the side), near zeros of
//! the function, and where an intermediate result would overflow. Infinities and NaN follow C99, annex G. The logarithm
//! and the tangent follow W. Kahan, "Branch cuts for complex elementary functions" (1987).

use crate::import::terms::Real;
use melior::ir::{Value, ValueLike};
use skript_dialect::melior;
use skript_passes::ir::builder::arith::Reals;
use skript_passes::ir::{Builder, ops, types};

/// Real and imaginary part.
pub(crate) type Pair<'c, 'a> = (Real<'c, 'a>, Real<'c, 'a>);
/// The real and imaginary part of a complex number.
pub(crate) fn parts<'c: 'a, 'a>(at: &Builder<'c, 'a>, z: Value<'c, 'a>) -> Pair<'c, 'a> {
    let part = types::complex_part(z.r#type()).unwrap_or_else(|| z.r#type());
    let [re, im] =
        [ops::complex::RE, ops::complex::IM].map(|op| Real { at: *at, value: at.make(op, &[z], &[], part) });
    (re, im)
}

/// Computes a complex number from the parts of `z`.
pub(crate) fn by_parts<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    z: Value<'c, 'a>,
    formula: impl FnOnce(Pair<'c, 'a>) -> Option<Pair<'c, 'a>>,
) -> Option<Value<'c, 'a>> {
    let (re, im) = formula(parts(at, z))?;
    Some(at.make(ops::complex::CREATE, &[re.value, im.value], &[], z.r#type()))
}

/// Computes the named function of `x + iy`; `None` for functions whose textbook formula is accurate.
pub(crate) fn function<'c, 'a>(name: &str, (x, y): Pair<'c, 'a>) -> Option<Pair<'c, 'a>> {
    Some(match name {
        "sqrt" => sqrt(x, y),
        "rsqrt" => rsqrt(x, y),
        "cbrt" => cbrt(x, y),
        "log" => (log_of_size(x, y), y.atan2(x)),
        "log_plus_one" => log_plus_one(x, y),
        "exponential_minus_one" => exp_minus_one(x, y),
        "sine" => sine(x, y),
        "cosine" => cosine(x, y),
        "tanh" => tanh(x, y),
        "tan" => turned(x, y, tanh),
        _ => return None,
    })
}

/// `-i f(i z)`: the trigonometric function for a hyperbolic function, and vice versa.
pub(crate) fn turned<'c, 'a>(
    x: Real<'c, 'a>,
    y: Real<'c, 'a>,
    f: fn(Real<'c, 'a>, Real<'c, 'a>) -> Pair<'c, 'a>,
) -> Pair<'c, 'a> {
    let (re, im) = f(-y, x);
    (im, -re)
}

/// A sum and its rounding error.
fn two_sum<'c, 'a>(a: Real<'c, 'a>, b: Real<'c, 'a>) -> Pair<'c, 'a> {
    let sum = a + b;
    let of_b = sum - a;
    let of_a = sum - of_b;
    (sum, (a - of_a) + (b - of_b))
}

/// A square and its rounding error.
fn square<'c, 'a>(a: Real<'c, 'a>) -> Pair<'c, 'a> {
    let square = a * a;
    (square, a.apply(ops::math::FMA, &[a, -square]))
}

/// The greater of two absolute values, and the ratio of the lesser to the greater: the length is `max · √(1 + ratio²)`.
pub(crate) fn greater_and_ratio<'c, 'a>(a: Real<'c, 'a>, b: Real<'c, 'a>) -> Pair<'c, 'a> {
    let (greater, lesser) = (a.max(b), a.min(b));
    let ratio = lesser / greater;
    // 0 / 0 and ∞ / ∞
    let ratio = lesser.is(Reals::Equal, greater).select(1.0, ratio);
    (greater, greater.is(Reals::Equal, 0.0).select(0.0, ratio))
}

/// `log(a² + b²) / 2`
pub(crate) fn log_of_size<'c, 'a>(x: Real<'c, 'a>, y: Real<'c, 'a>) -> Real<'c, 'a> {
    let (x, y) = (x.abs(), y.abs());
    let (a, ratio) = greater_and_ratio(x, y);
    let b = x.min(y);
    // Far from the unit circle.
    let far = a.apply(ops::math::LOG, &[]) + (ratio * ratio).log_plus_one() * 0.5;
    // Near the unit circle: a² + b² - 1 without cancellation; the subtraction is exact.
    let ((aa, lost_a), (bb, lost_b)) = (square(a), square(b));
    let (apart, together) = ((aa + -1.0) + bb, (aa + -0.5) + (bb + -0.5));
    let sum = b.is(Reals::AtLeast, 0.5).select(together, apart);
    let near = (sum + (lost_a + lost_b)).log_plus_one() * 0.5;
    let value = a.is(Reals::Greater, 0.5).and(a.is(Reals::Less, 2.0)).select(near, far);
    // An infinity takes precedence over NaN.
    let value = x.is_infinite().select(x.infinity(), value);
    y.is_infinite().select(y.infinity(), value)
}

fn log_plus_one<'c, 'a>(x: Real<'c, 'a>, y: Real<'c, 'a>) -> Pair<'c, 'a> {
    let sum = x + 1.0;
    let far = log_of_size(sum, y);
    // x² + 2x + y², where the terms may cancel.
    let ((xx, lost_x), (yy, lost_y)) = (square(x), square(y));
    let (part, lost_part) = two_sum(x + x, yy);
    let (whole, lost) = two_sum(part, xx);
    let small = (lost_x + lost_y) + (lost + lost_part);
    let near = (whole + small).log_plus_one() * 0.5;
    // For larger arguments, 1 + x is exact or accurate enough.
    let reach = x.abs().max(y.abs());
    let is_near = x.is(Reals::Greater, -0.5).and(reach.is(Reals::Less, 4.0));
    (is_near.select(near, far), y.atan2(sum))
}

/// Scales both parts by a power of four, so that the sum of their absolute values and halves of it do not overflow or
/// underflow; also returns the inverse of the square root of the power.
fn scaled<'c, 'a>(x: Real<'c, 'a>, y: Real<'c, 'a>) -> (Real<'c, 'a>, Real<'c, 'a>, Real<'c, 'a>) {
    let reach = x.abs().max(y.abs());
    let huge = reach.is(Reals::Greater, 2f64.powi(100));
    let tiny = reach.is(Reals::Less, 2f64.powi(-100));
    // The exponents are small enough that a part that is much smaller than the other part does not underflow.
    let pick = |up: i32, down: i32| {
        let other = tiny.select(2f64.powi(up), x.constant(1.0));
        huge.select(2f64.powi(down), other)
    };
    let (scale, back) = (pick(100, -4), pick(-50, 2));
    (x * scale, y * scale, back)
}

/// `√((|x| + |z|) / 2)`, the part of the root that does not cancel, and `|z|`, for scaled parts.
fn greater_part<'c, 'a>(x: Real<'c, 'a>, y: Real<'c, 'a>) -> Pair<'c, 'a> {
    let of_x = x.abs();
    let (reach, ratio) = greater_and_ratio(of_x, y.abs());
    let length = reach * (ratio * ratio + 1.0).sqrt();
    (((of_x + length) * 0.5).sqrt(), length)
}

/// The root of scaled parts before it is scaled back, and the scaled `|z|`.
fn scaled_root<'c, 'a>(x: Real<'c, 'a>, y: Real<'c, 'a>) -> (Pair<'c, 'a>, Real<'c, 'a>) {
    let (root, length) = greater_part(x, y);
    let (endless_x, endless_y) = (x.abs().is_infinite(), y.abs().is_infinite());
    let infinity = x.infinity();
    let root = endless_x.select(infinity, root);
    let other = y / (root + root);
    let other = root.is(Reals::Equal, 0.0).select(y, other);
    let left = x.is(Reals::Less, 0.0);
    let (re, im) = (left.select(other.abs(), root), left.select(root.copysign(y), other));
    ((endless_y.select(infinity, re), endless_y.select(y, im)), length)
}

/// The principal square root.
pub(crate) fn sqrt<'c, 'a>(x: Real<'c, 'a>, y: Real<'c, 'a>) -> Pair<'c, 'a> {
    let (x, y, back) = scaled(x, y);
    let ((re, im), _) = scaled_root(x, y);
    (re * back, im * back)
}

/// The reciprocal square root: the conjugate of the root divided by the length. Infinity for zero, zero for infinities.
fn rsqrt<'c, 'a>(x: Real<'c, 'a>, y: Real<'c, 'a>) -> Pair<'c, 'a> {
    let (x, y, back) = scaled(x, y);
    let ((re, im), length) = scaled_root(x, y);
    let up = 1.0 / back;
    let (re, im) = (re / length * up, -(im / length * up));
    let (of_x, of_y) = (x.abs(), y.abs());
    let none = of_x.max(of_y).is(Reals::Equal, 0.0);
    let (re, im) = (none.select(x.infinity(), re), none.select(x.nan(), im));
    let (endless_x, endless_y) = (of_x.is_infinite(), of_y.is_infinite());
    let finite = |part: Real<'c, 'a>| endless_y.select(0.0, endless_x.select(0.0, part));
    (finite(re), finite(im))
}

/// The cube root in polar form: dividing the angle by 3 adds no branch cut.
fn cbrt<'c, 'a>(x: Real<'c, 'a>, y: Real<'c, 'a>) -> Pair<'c, 'a> {
    let (reach, ratio) = greater_and_ratio(x.abs(), y.abs());
    let length = (ratio * ratio + 1.0).sqrt();
    let length = reach.apply(ops::math::CBRT, &[]) * length.apply(ops::math::CBRT, &[]);
    let angle = y.atan2(x) / 3.0;
    let (re, im) = (length * angle.cos(), length * angle.sin());
    let flat = x.constant(0.0).copysign(y);
    (re, angle.is(Reals::Equal, 0.0).select(flat, im))
}

/// `exp(x)` as two factors. If the product of `exp(x)` and a small number does not overflow, the factors do not either.
fn factors<'c, 'a>(x: Real<'c, 'a>) -> Pair<'c, 'a> {
    let limit = if x.is_double() { 700.0 } else { 80.0 };
    let (part, whole) = ((x * 0.5).exp(), x.exp());
    let large = x.is(Reals::Greater, limit);
    (large.select(part, whole), large.select(part, x.constant(1.0)))
}

fn exp_minus_one<'c, 'a>(x: Real<'c, 'a>, y: Real<'c, 'a>) -> Pair<'c, 'a> {
    let (first, second) = factors(x);
    let (cos, sin) = (y.cos(), y.sin());
    let im = sin * first * second;
    // expm1(x) cos y - (1 - cos y)
    let half = (y * 0.5).sin();
    let versine = half * (half + half);
    let less_one = x.exp_minus_one();
    let near = less_one * cos - versine;
    let far = cos * first * second;
    let re = x.is(Reals::Greater, 40.0).select(far, near);
    let real = y.is(Reals::Equal, 0.0);
    (real.select(less_one, re), real.select(y, im))
}

/// `(a cosh y, b sinh y)`, where `a` and `b` are sine and cosine of the other part. No intermediate result overflows
/// unless the result does.
fn stretched<'c, 'a>(a: Real<'c, 'a>, b: Real<'c, 'a>, y: Real<'c, 'a>) -> Pair<'c, 'a> {
    let (first, second) = factors(y.abs());
    let half = first * 0.5;
    let turned = half.copysign(y);
    let (cosh, sinh) = (y.apply(ops::math::COSH, &[]), y.apply(ops::math::SINH, &[]));
    let large = second.is(Reals::NotEqual, 1.0);
    let (cosh, sinh) = (large.select(half, cosh), large.select(turned, sinh));
    (a * cosh * second, b * sinh * second)
}

pub(crate) fn sine<'c, 'a>(x: Real<'c, 'a>, y: Real<'c, 'a>) -> Pair<'c, 'a> {
    let (re, im) = stretched(x.sin(), x.cos(), y);
    // Zero times an infinity is zero on the axes.
    let (imaginary, real) = (x.is(Reals::Equal, 0.0), y.is(Reals::Equal, 0.0));
    (imaginary.select(x, re), real.select(y.copysign(im), im))
}

pub(crate) fn cosine<'c, 'a>(x: Real<'c, 'a>, y: Real<'c, 'a>) -> Pair<'c, 'a> {
    let (re, im) = stretched(x.cos(), x.sin(), y);
    let (imaginary, real) = (x.is(Reals::Equal, 0.0), y.is(Reals::Equal, 0.0));
    let flat = -(x.constant(1.0).copysign(y) * x.constant(0.0).copysign(x));
    let im = imaginary.select(flat, -im);
    (re, real.select(x.constant(0.0).copysign(im), im))
}

/// The hyperbolic tangent.
pub(crate) fn tanh<'c, 'a>(x: Real<'c, 'a>, y: Real<'c, 'a>) -> Pair<'c, 'a> {
    let tan = y.apply(ops::math::TAN, &[]);
    let sinh = x.apply(ops::math::SINH, &[]);
    let (sinhs, beta) = (sinh * sinh, tan * tan + 1.0);
    let rho = (sinhs + 1.0).sqrt();
    let below = beta * sinhs + 1.0;
    let (re, im) = (beta * rho * sinh / below, tan / below);
    // Beyond this limit, the hyperbolic tangent of the real part rounds to 1.
    let limit = if x.is_double() { 22.0 } else { 11.0 };
    let of_x = x.abs();
    let far = of_x.is(Reals::Greater, limit);
    let sign = x.constant(1.0).copysign(x);
    let fall = (-of_x).exp();
    let product = y.sin() * y.cos() * 4.0 * fall * fall;
    // At infinity, the imaginary part may be infinite or NaN; elsewhere, infinities and NaN propagate.
    let endless = of_x.is_infinite();
    let flat = x.constant(0.0).copysign(product);
    let sign = endless.select(sign, sign + product * 0.0);
    let product = endless.select(flat, product);
    let (re, im) = (far.select(sign, re), far.select(product, im));
    (re, y.is(Reals::Equal, 0.0).select(y, im))
}
