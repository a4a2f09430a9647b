// SPDX-License-Identifier: Apache-2.0
//! The table's real functions at run-time width, over f32 numbers, against the C library's in f64.
//!
//! The reference is accurate to about 2⁻²⁸ of a unit in the last place of f32. `test/numerics/` measures compiled
//! code.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use skript_semantics::{ScalarOp, real};

/// The distance between the bit patterns of samples; `SKRIPT_STRIDE=1` measures all 2³² numbers.
const STRIDE: usize = 65_521;

unsafe extern "C" {
    safe fn sqrt(x: f64) -> f64;
    safe fn exp(x: f64) -> f64;
    safe fn log(x: f64) -> f64;
    safe fn sin(x: f64) -> f64;
    safe fn cos(x: f64) -> f64;
    safe fn tan(x: f64) -> f64;
    safe fn asin(x: f64) -> f64;
    safe fn acos(x: f64) -> f64;
    safe fn atan(x: f64) -> f64;
    safe fn sinh(x: f64) -> f64;
    safe fn cosh(x: f64) -> f64;
    safe fn tanh(x: f64) -> f64;
    safe fn asinh(x: f64) -> f64;
    safe fn acosh(x: f64) -> f64;
    safe fn atanh(x: f64) -> f64;
    safe fn erf(x: f64) -> f64;
}

/// The distance in f32 ulp between a result and the exact value; infinite if one is NaN or infinite and the other is
/// not.
fn distance(found: f64, wanted: f64) -> f64 {
    if found.is_nan() || wanted.is_nan() {
        let both = found.is_nan() && wanted.is_nan();
        return if both { 0.0 } else { f64::INFINITY };
    }
    let same_sign = found.is_sign_negative() == wanted.is_sign_negative();
    if found == wanted || found.is_infinite() && wanted.abs() >= f64::from(f32::MAX) {
        return if same_sign { 0.0 } else { f64::INFINITY };
    }
    let exponent = (wanted.abs().to_bits() >> 52).cast_signed() - 1023;
    let unit = 2f64.powi(i32::try_from(exponent.max(-126)).unwrap() - 23);
    (found - wanted).abs() / unit
}

/// Rounding to nearest contributes at most half an ulp; the functions in f64 contribute almost nothing.
fn measure(op: ScalarOp, reference: extern "C" fn(f64) -> f64) {
    let function = real::unary(op).unwrap();
    let stride = std::env::var("SKRIPT_STRIDE").ok();
    let stride = stride.map_or(STRIDE, |s| s.parse().unwrap());
    let mut worst = (0.0, 0f32);
    for bits in (0..=u32::MAX).step_by(stride) {
        let x = f32::from_bits(bits);
        let error = distance(real::narrow(function(x.into())), reference(x.into()));
        if error > worst.0 {
            worst = (error, x);
        }
    }
    println!("{op:?} {:.7} at {:e}", worst.0, worst.1);
    assert!(worst.0 < 0.500_001, "{op:?}({:e}): {}", worst.1, worst.0);
}

macro_rules! functions {
    ($($name:ident: $op:ident,)*) => {
        /// One test per function, so that they run in parallel.
        mod rounds_to_nearest {
            use super::*;
            $(
                #[test]
                fn $name() {
                    measure(ScalarOp::$op, super::$name);
                }
            )*
        }
    };
}

functions! {
    sqrt: Sqrt,
    exp: Exp,
    log: Log,
    sin: Sin,
    cos: Cos,
    tan: Tan,
    asin: Asin,
    acos: Acos,
    atan: Atan,
    sinh: Sinh,
    cosh: Cosh,
    tanh: Tanh,
    asinh: Asinh,
    acosh: Acosh,
    atanh: Atanh,
    erf: Erf,
}
