// SPDX-License-Identifier: Apache-2.0
//! Inverse circular and hyperbolic functions of complex numbers: principal branches, by parts.
//!
//! W. Kahan, "Branch cuts for complex elementary functions" (1987): products of roots of `1 - z` and `1 + z` instead of
//! a root of `1 - z²`, which cancels. On a cut the sign of a zero decides, as in C99, annex G.

use crate::import::element::Float;
use crate::import::scalar_to_arith::principal::{Pair, greater_and_share, infinite, log_of_size, size, sqrt};
use crate::import::terms::Terms;
use skript_passes::ir::ops;
use std::f64::consts::{FRAC_PI_2, LN_2};

/// The function of `x + iy`; `None` if it is not one of these.
pub(super) fn function(t: &mut Terms, name: &str, x: &str, y: &str) -> Option<Pair> {
    Some(match name {
        "asin" => sine(t, x, y),
        "acos" => cosine(t, x, y),
        "acosh" => hyperbolic_cosine(t, x, y),
        "atanh" => hyperbolic_tangent(t, x, y),
        "asinh" => turned(t, x, y, sine),
        "atan" => turned(t, x, y, hyperbolic_tangent),
        _ => return None,
    })
}

/// `-i f(i z)`: circular functions from hyperbolic ones, and the other way around.
fn turned(t: &mut Terms, x: &str, y: &str, f: fn(&mut Terms, &str, &str) -> Pair) -> Pair {
    let minus = t.op(ops::arith::NEGF, &[y]);
    let (re, im) = f(t, &minus, x);
    (im, t.op(ops::arith::NEGF, &[&re]))
}

/// The threshold above which 1 is negligible compared with z, even if the square of z overflows.
fn is_far(t: &mut Terms, x: &str, y: &str) -> String {
    let (of_x, of_y) = (size(t, x), size(t, y));
    let reach = t.op(ops::arith::MAXIMUMF, &[&of_x, &of_y]);
    let limit = match t.float {
        Float::F64 => 2f64.powi(56),
        _ => 2f64.powi(28),
    };
    t.is(&reach, "ogt", limit)
}

/// `log |2 z|`
fn log_of_double(t: &mut Terms, x: &str, y: &str) -> String {
    let log = log_of_size(t, x, y);
    t.plus(&log, LN_2)
}

/// `√(1 - z)` and `√(1 + z)`
fn roots(t: &mut Terms, x: &str, y: &str) -> (Pair, Pair) {
    let one = t.number(1.0);
    let (less, minus) = (t.sub(&one, x), t.op(ops::arith::NEGF, &[y]));
    let more = t.plus(x, 1.0);
    (sqrt(t, &less, &minus), sqrt(t, &more, y))
}

/// `Im(conj(a) b)`
fn crossed(t: &mut Terms, a: &Pair, b: &Pair) -> String {
    let (first, second) = (t.mul(&a.0, &b.1), t.mul(&a.1, &b.0));
    t.sub(&first, &second)
}

fn sine(t: &mut Terms, x: &str, y: &str) -> Pair {
    let (less, more) = roots(t, x, y);
    let (first, second) = (t.mul(&less.0, &more.0), t.mul(&less.1, &more.1));
    let beside = t.sub(&first, &second);
    let re = t.op(ops::math::ATAN2, &[x, &beside]);
    let im = crossed(t, &less, &more);
    let im = t.op(ops::math::ASINH, &[&im]);
    let far = is_far(t, x, y);
    let of_y = size(t, y);
    let log = log_of_double(t, x, y);
    let (far_re, far_im) = (t.op(ops::math::ATAN2, &[x, &of_y]), t.op(ops::math::COPYSIGN, &[&log, y]));
    (t.select(&far, &far_re, &re), t.select(&far, &far_im, &im))
}

fn cosine(t: &mut Terms, x: &str, y: &str) -> Pair {
    let (less, more) = roots(t, x, y);
    let half = t.op(ops::math::ATAN2, &[&less.0, &more.0]);
    let re = t.add(&half, &half);
    let im = crossed(t, &more, &less);
    let im = t.op(ops::math::ASINH, &[&im]);
    let far = is_far(t, x, y);
    let (of_y, minus) = (size(t, y), t.op(ops::arith::NEGF, &[y]));
    let log = log_of_double(t, x, y);
    let (far_re, far_im) = (t.op(ops::math::ATAN2, &[&of_y, x]), t.op(ops::math::COPYSIGN, &[&log, &minus]));
    (t.select(&far, &far_re, &re), t.select(&far, &far_im, &im))
}

fn hyperbolic_cosine(t: &mut Terms, x: &str, y: &str) -> Pair {
    let (less, more) = (t.plus(x, -1.0), t.plus(x, 1.0));
    let (less, more) = (sqrt(t, &less, y), sqrt(t, &more, y));
    let (first, second) = (t.mul(&less.0, &more.0), t.mul(&less.1, &more.1));
    let re = t.add(&first, &second);
    let re = t.op(ops::math::ASINH, &[&re]);
    let half = t.op(ops::math::ATAN2, &[&less.1, &more.0]);
    let im = t.add(&half, &half);
    let far = is_far(t, x, y);
    let (far_re, far_im) = (log_of_double(t, x, y), t.op(ops::math::ATAN2, &[y, x]));
    (t.select(&far, &far_re, &re), t.select(&far, &far_im, &im))
}

fn hyperbolic_tangent(t: &mut Terms, x: &str, y: &str) -> Pair {
    // Odd in the real part: log((1 + z) / (1 - z)) where it does not cancel.
    let of_x = size(t, x);
    let (one, of_y) = (t.number(1.0), size(t, y));
    let (less, more) = (t.sub(&one, &of_x), t.plus(&of_x, 1.0));
    let (squared, other) = (t.mul(&less, &less), t.mul(y, y));
    let below = t.add(&squared, &other);
    let above = t.times(&of_x, 4.0);
    let ratio = t.div(&above, &below);
    let log = t.log_plus_one(&ratio);
    let re = t.times(&log, 0.25);
    // Near the pole the squares vanish.
    let (to_pole, from_other) = (log_of_size(t, &less, y), log_of_size(t, &more, y));
    let close = t.sub(&from_other, &to_pole);
    let close = t.times(&close, 0.5);
    let beside = size(t, &less);
    let distance = t.op(ops::arith::MAXIMUMF, &[&beside, &of_y]);
    let is_close = t.is(&distance, "olt", 0.01);
    let re = t.select(&is_close, &close, &re);
    let product = t.mul(&less, &more);
    let (rest, double) = (t.sub(&product, &other), t.add(y, y));
    let angle = t.op(ops::math::ATAN2, &[&double, &rest]);
    let im = t.times(&angle, 0.5);
    // Far away it is 1 / z, near a right angle.
    let far = is_far(t, x, y);
    let (reach, share) = greater_and_share(t, &of_x, &of_y);
    let length = t.mul(&share, &share);
    let length = t.plus(&length, 1.0);
    let length = t.mul(&reach, &length);
    let part = t.div(&of_x, &reach);
    let far_re = t.div(&part, &length);
    let (endless, none) = (infinite(t, &reach), t.number(0.0));
    let far_re = t.select(&endless, &none, &far_re);
    let quarter = t.number(FRAC_PI_2);
    let far_im = t.op(ops::math::COPYSIGN, &[&quarter, y]);
    let (re, im) = (t.select(&far, &far_re, &re), t.select(&far, &far_im, &im));
    (t.op(ops::math::COPYSIGN, &[&re, x]), im)
}
