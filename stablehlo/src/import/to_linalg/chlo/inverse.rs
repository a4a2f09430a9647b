// SPDX-License-Identifier: Apache-2.0
//! Principal branches of complex hyperbolic, inverse trigonometric and inverse hyperbolic functions, computed by parts.
//!
//! W. Kahan, "Branch cuts for complex elementary functions" (1987): products of roots of `1 - z` and `1 + z` instead of
//! a root of `1 - z²`, which cancels. On a branch cut, the sign of zero selects the side, as in C99, annex G.

use crate::import::element::Float;
use crate::import::scalar_to_arith::principal::{self, Pair, greater_and_ratio, log_of_size, sqrt, turned};
use crate::import::terms::{Real, Test};
use std::f64::consts::{FRAC_PI_2, LN_2};

/// Computes the named function of `x + iy`; `None` for other functions.
pub(super) fn function<'t>(name: &str, (x, y): Pair<'t>) -> Option<Pair<'t>> {
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
fn is_far<'t>(x: Real<'t>, y: Real<'t>) -> Test<'t> {
    let reach = x.abs().max(y.abs());
    let limit = if x.float() == Float::F64 { 2f64.powi(56) } else { 2f64.powi(28) };
    reach.is("ogt", limit)
}

/// `log |2 z|`
fn log_of_double<'t>(x: Real<'t>, y: Real<'t>) -> Real<'t> {
    log_of_size(x, y) + LN_2
}

/// `√(1 - z)` and `√(1 + z)`
fn roots<'t>(x: Real<'t>, y: Real<'t>) -> (Pair<'t>, Pair<'t>) {
    (sqrt(1.0 - x, -y), sqrt(x + 1.0, y))
}

/// `Im(conj(a) b)`
fn crossed<'t>(a: Pair<'t>, b: Pair<'t>) -> Real<'t> {
    a.0 * b.1 - a.1 * b.0
}

fn sine<'t>(x: Real<'t>, y: Real<'t>) -> Pair<'t> {
    let (less, more) = roots(x, y);
    let re = x.atan2(less.0 * more.0 - less.1 * more.1);
    let im = crossed(less, more).asinh();
    let (is_far, log) = (is_far(x, y), log_of_double(x, y));
    (is_far.select(x.atan2(y.abs()), re), is_far.select(log.copysign(y), im))
}

fn cosine<'t>(x: Real<'t>, y: Real<'t>) -> Pair<'t> {
    let (less, more) = roots(x, y);
    let half = less.0.atan2(more.0);
    let im = crossed(more, less).asinh();
    let (is_far, log) = (is_far(x, y), log_of_double(x, y));
    (is_far.select(y.abs().atan2(x), half + half), is_far.select(log.copysign(-y), im))
}

fn hyperbolic_cosine<'t>(x: Real<'t>, y: Real<'t>) -> Pair<'t> {
    let (less, more) = (sqrt(x + -1.0, y), sqrt(x + 1.0, y));
    let re = (less.0 * more.0 + less.1 * more.1).asinh();
    let half = less.1.atan2(more.0);
    let (is_far, log) = (is_far(x, y), log_of_double(x, y));
    (is_far.select(log, re), is_far.select(y.atan2(x), half + half))
}

fn hyperbolic_tangent<'t>(x: Real<'t>, y: Real<'t>) -> Pair<'t> {
    // Odd in the real part: computes log((1 + z) / (1 - z)) for |x|, where it does not cancel.
    let (of_x, of_y) = (x.abs(), y.abs());
    let (less, more) = (1.0 - of_x, of_x + 1.0);
    let other = y * y;
    let ratio = of_x * 4.0 / (less * less + other);
    let re = ratio.log_plus_one() * 0.25;
    // Near the pole, the squares underflow.
    let close = (log_of_size(more, y) - log_of_size(less, y)) * 0.5;
    let distance = less.abs().max(of_y);
    let re = distance.is("olt", 0.01).select(close, re);
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
