// SPDX-License-Identifier: Apache-2.0
//! Principal branches of complex hyperbolic, inverse trigonometric and inverse hyperbolic functions, computed by parts.
//!
//! W. Kahan, "Branch cuts for complex elementary functions" (1987): products of roots of `1 - z` and `1 + z` instead of
//! a root of `1 - z²`, which cancels. On a branch cut, the sign of zero selects the side, as in C99, annex G.

use crate::import::scalar_to_arith::principal::{self, Pair, greater_and_ratio, log_of_size, sqrt, turned};
use crate::import::terms::{Real, Test};
use skript_passes::ir::builder::arith::Reals;
use std::f64::consts::{FRAC_PI_2, LN_2};

/// Computes the named function of `x + iy`; `None` for other functions.
pub(super) fn function<'c, 'a>(name: &str, (x, y): Pair<'c, 'a>) -> Option<Pair<'c, 'a>> {
    Some(match name {
        "sinh" => turned(x, y, principal::sine),
        "cosh" => principal::cosine(-y, x),
        "asin" => sine(x, y),
        "acos" => cosine(x, y),
        "acosh" => hyperbolic_cosine(x, y),
        "atanh" => hyperbolic_tangent(x, y),
        "asinh" => turned(x, y, sine),
        "atan" => turned(x, y, hyperbolic_tangent),
        _ => return None,
    })
}

/// Whether 1 is negligible compared with `|z|`. Does not compute the square of z, which may overflow.
fn is_far<'c, 'a>(x: Real<'c, 'a>, y: Real<'c, 'a>) -> Test<'c, 'a> {
    let reach = x.abs().max(y.abs());
    let limit = if x.is_double() { 2f64.powi(56) } else { 2f64.powi(28) };
    reach.is(Reals::Greater, limit)
}

/// `log |2 z|`
fn log_of_double<'c, 'a>(x: Real<'c, 'a>, y: Real<'c, 'a>) -> Real<'c, 'a> {
    log_of_size(x, y) + LN_2
}

/// `√(1 - z)` and `√(1 + z)`
fn roots<'c, 'a>(x: Real<'c, 'a>, y: Real<'c, 'a>) -> (Pair<'c, 'a>, Pair<'c, 'a>) {
    (sqrt(1.0 - x, -y), sqrt(x + 1.0, y))
}

/// `Im(conj(a) b)`
fn crossed<'c, 'a>(a: Pair<'c, 'a>, b: Pair<'c, 'a>) -> Real<'c, 'a> {
    a.0 * b.1 - a.1 * b.0
}

fn sine<'c, 'a>(x: Real<'c, 'a>, y: Real<'c, 'a>) -> Pair<'c, 'a> {
    let (less, more) = roots(x, y);
    let re = x.atan2(less.0 * more.0 - less.1 * more.1);
    let im = crossed(less, more).asinh();
    let (is_far, log) = (is_far(x, y), log_of_double(x, y));
    (is_far.select(x.atan2(y.abs()), re), is_far.select(log.copysign(y), im))
}

fn cosine<'c, 'a>(x: Real<'c, 'a>, y: Real<'c, 'a>) -> Pair<'c, 'a> {
    let (less, more) = roots(x, y);
    let half = less.0.atan2(more.0);
    let im = crossed(more, less).asinh();
    let (is_far, log) = (is_far(x, y), log_of_double(x, y));
    (is_far.select(y.abs().atan2(x), half + half), is_far.select(log.copysign(-y), im))
}

fn hyperbolic_cosine<'c, 'a>(x: Real<'c, 'a>, y: Real<'c, 'a>) -> Pair<'c, 'a> {
    let (less, more) = (sqrt(x + -1.0, y), sqrt(x + 1.0, y));
    let re = (less.0 * more.0 + less.1 * more.1).asinh();
    let half = less.1.atan2(more.0);
    let (is_far, log) = (is_far(x, y), log_of_double(x, y));
    (is_far.select(log, re), is_far.select(y.atan2(x), half + half))
}

fn hyperbolic_tangent<'c, 'a>(x: Real<'c, 'a>, y: Real<'c, 'a>) -> Pair<'c, 'a> {
    // Odd in the real part: computes log((1 + z) / (1 - z)) for |x|, where it does not cancel.
    let (of_x, of_y) = (x.abs(), y.abs());
    let (less, more) = (1.0 - of_x, of_x + 1.0);
    let other = y * y;
    let ratio = of_x * 4.0 / (less * less + other);
    let re = ratio.log_plus_one() * 0.25;
    // Near the pole, the squares underflow.
    let close = (log_of_size(more, y) - log_of_size(less, y)) * 0.5;
    let distance = less.abs().max(of_y);
    let re = distance.is(Reals::Less, 0.01).select(close, re);
    let im = (y + y).atan2(less * more - other) * 0.5;
    // For large |z|, the real part is that of 1 / z, and the imaginary part is ±π / 2.
    let is_far = is_far(x, y);
    let (reach, ratio) = greater_and_ratio(of_x, of_y);
    let far_re = of_x / reach / (reach * (ratio * ratio + 1.0));
    let far_re = reach.is_infinite().select(0.0, far_re);
    let far_im = x.constant(FRAC_PI_2).copysign(y);
    let (re, im) = (is_far.select(far_re, re), is_far.select(far_im, im));
    (re.copysign(x), im)
}
