// SPDX-License-Identifier: Apache-2.0
//! The storage types of `real` and `int`: the element types of tensors in memory.
//!
//! The language has two kinds of numbers and does not fix their widths; the user selects them. Formulas compute in a
//! compute type of at least f32 or 64 bits. The outputs of an operator are rounded to the storage type once, after all of
//! its formulas.

use crate::real;
use std::fmt;

/// The storage type of `real`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RealType {
    /// IEEE 754 binary16.
    F16,
    /// bfloat16: the upper half of binary32.
    BF16,
    /// IEEE 754 binary32.
    #[default]
    F32,
    /// IEEE 754 binary64.
    F64,
}

/// The storage type of `int`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IntType {
    /// Two's complement, 8 bits.
    I8,
    /// Two's complement, 16 bits.
    I16,
    /// Two's complement, 32 bits.
    I32,
    /// Two's complement, 64 bits.
    #[default]
    I64,
}

/// The storage types of `real` and `int`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Numbers {
    /// The storage type of `real`.
    pub real: RealType,
    /// The storage type of `int`.
    pub int: IntType,
}

impl Numbers {
    /// The compute types of formulas: f32 for all reals except f64, and 64-bit ints.
    pub fn work(self) -> Numbers {
        let real = match self.real {
            RealType::F64 => RealType::F64,
            _ => RealType::F32,
        };
        Numbers { real, int: IntType::I64 }
    }

    /// The result of one step of a formula, computed in f64, rounded to the compute type.
    #[inline]
    pub fn narrow(self, x: f64) -> f64 {
        match self.real {
            RealType::F64 => x,
            _ => real::narrow(x),
        }
    }
}

impl RealType {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            RealType::F16 => "f16",
            RealType::BF16 => "bf16",
            RealType::F32 => "f32",
            RealType::F64 => "f64",
        }
    }

    /// The width in bits.
    pub fn bits(self) -> u32 {
        match self {
            RealType::F16 | RealType::BF16 => 16,
            RealType::F32 => 32,
            RealType::F64 => 64,
        }
    }

    /// Whether the type has 16 bits: it is computed in f32.
    pub fn is_half(self) -> bool {
        self.bits() == 16
    }

    /// Whether rounding keeps a number finite.
    pub fn holds(self, x: f64) -> bool {
        // Half an ulp beyond the largest number, above which infinity is nearest.
        let limit = match self {
            RealType::F16 => 65520.0,
            RealType::BF16 => 255.5 * 2f64.powi(120),
            RealType::F32 => return (x as f32).is_finite() || !x.is_finite(),
            RealType::F64 => return true,
        };
        x.abs() < limit || !x.is_finite()
    }

    /// The message for a number that this type cannot represent: the maximum, and the type to use.
    pub fn refusal(self, x: f64) -> String {
        let largest = match self {
            RealType::F16 => 65504.0,
            RealType::BF16 => 255.0 * 2f64.powi(120),
            RealType::F32 => f64::from(f32::MAX),
            RealType::F64 => f64::MAX,
        };
        let wider = [RealType::F32, RealType::F64];
        let remedy = wider
            .into_iter()
            .find(|t| *t != self && t.holds(x))
            .map_or_else(String::new, |t| format!("; --real={t} holds it"));
        format!("which does not fit {self} (at most {largest:.4e} in size){remedy}")
    }

    /// Whether rounding leaves a number unchanged.
    pub fn keeps(self, x: f64) -> bool {
        !x.is_finite() || self.floor(x) == x
    }

    /// The largest number of this type that is not greater than `x`; minus infinity below the minimum.
    pub fn floor(self, x: f64) -> f64 {
        let Some((precision, least_exponent)) = self.layout() else {
            return x;
        };
        let largest = (2.0 - 2f64.powi(1 - precision)) * 2f64.powi(1 - least_exponent);
        if x < -largest {
            return f64::NEG_INFINITY;
        }
        let unit = unit(x, precision, least_exponent);
        ((x / unit).floor() * unit).min(largest)
    }

    /// The largest number of this type that is less than `x`.
    pub fn below(self, x: f64) -> f64 {
        let Some((precision, least_exponent)) = self.layout() else {
            return x.next_down();
        };
        let half = unit(x, precision, least_exponent) / 2.0;
        // Just below a power of two, the distance of numbers is half as large.
        if self.floor(x) < x { self.floor(x) } else { self.floor(x - half) }
    }

    /// The smallest and the largest number of this type from `low` (inclusive) to `high` (exclusive); `low` twice if the type has
    /// no number in this range.
    pub fn within(self, low: f64, high: f64) -> (f64, f64) {
        let (least, largest) = (-self.floor(-low), self.below(high));
        if least <= largest { (least, largest) } else { (low, low) }
    }

    /// The bits of the significand, and the exponent of the smallest normal number; `None` for f64, the type of the arguments.
    fn layout(self) -> Option<(i32, i32)> {
        match self {
            RealType::F16 => Some((11, -14)),
            RealType::BF16 => Some((8, -126)),
            RealType::F32 => Some((24, -126)),
            RealType::F64 => None,
        }
    }
}

/// The distance of neighbouring numbers of a type at `x`.
fn unit(x: f64, precision: i32, least_exponent: i32) -> f64 {
    let [first, second, ..] = x.to_be_bytes();
    let biased = (u16::from_be_bytes([first, second]) >> 4) & 0x7ff;
    let exponent = i32::from(biased) - 1023;
    2f64.powi(exponent.max(least_exponent) + 1 - precision)
}

impl IntType {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            IntType::I8 => "i8",
            IntType::I16 => "i16",
            IntType::I32 => "i32",
            IntType::I64 => "i64",
        }
    }

    /// The width in bits.
    pub fn bits(self) -> u32 {
        match self {
            IntType::I8 => 8,
            IntType::I16 => 16,
            IntType::I32 => 32,
            IntType::I64 => 64,
        }
    }

    /// The maximum of the type.
    pub fn largest(self) -> i64 {
        i64::MAX >> (64 - self.bits())
    }

    /// The minimum of the type.
    pub fn smallest(self) -> i64 {
        i64::MIN >> (64 - self.bits())
    }

    /// The number of this type that is equal modulo 2^bits.
    pub fn wrap(self, value: i64) -> i64 {
        let unused = 64 - self.bits();
        (value << unused) >> unused
    }

    /// The message for an int that this type cannot represent, `None` if 64 bits cannot either: the minimum and
    /// maximum, and the type to use.
    pub fn refusal(self, value: Option<i64>) -> String {
        let unused = 64 - self.bits();
        let (least, largest) = (i64::MIN >> unused, i64::MAX >> unused);
        let wider = [IntType::I16, IntType::I32, IntType::I64];
        let wider = value.and_then(|i| wider.into_iter().find(|t| t.wrap(i) == i));
        let remedy = wider.map_or_else(String::new, |t| format!("; --int={t} holds it"));
        format!("which does not fit {self} ({least} to {largest}){remedy}")
    }
}

impl fmt::Display for RealType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for IntType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ints_wrap_to_their_width() {
        assert_eq!(IntType::I8.wrap(200), -56);
        assert_eq!(IntType::I8.wrap(-129), 127);
        assert_eq!(IntType::I16.wrap(-32768), -32768);
        assert_eq!(IntType::I32.wrap(1 << 31), -(1 << 31));
        assert_eq!(IntType::I64.wrap(i64::MIN), i64::MIN);
        assert_eq!((IntType::I8.smallest(), IntType::I8.largest()), (-128, 127));
        let widest = IntType::I64;
        assert_eq!((widest.smallest(), widest.largest()), (i64::MIN, i64::MAX));
    }

    #[test]
    fn what_rounds_to_infinity_is_not_held() {
        assert!(RealType::F16.holds(-65519.9) && !RealType::F16.holds(65520.0));
        // (2 - 2^-7) · 2^127 is the largest bf16, and (2 - 2^-8) · 2^127 is half an ulp above it.
        assert!(RealType::BF16.holds(3.389e38) && !RealType::BF16.holds(-3.3962e38));
        assert!(!RealType::F32.holds(3.5e38) && RealType::F64.holds(1e308));
        assert!(RealType::F16.holds(f64::INFINITY) && RealType::F16.holds(f64::NAN));
    }

    #[test]
    fn what_needs_no_rounding_is_kept() {
        assert!(RealType::F16.keeps(2049.0 - 1.0) && !RealType::F16.keeps(2049.0));
        assert!(RealType::BF16.keeps(-255.0) && !RealType::BF16.keeps(257.0));
        assert!(RealType::F16.keeps(65504.0) && !RealType::F16.keeps(65536.0));
        assert!(RealType::F32.keeps(0.5) && !RealType::F32.keeps(0.1) && RealType::F64.keeps(0.1));
        assert!(RealType::F16.keeps(-0.0) && RealType::F16.keeps(f64::INFINITY));
        assert!(!RealType::F16.keeps(1e-5) && RealType::F16.keeps(2f64.powi(-24)));
    }

    #[test]
    fn neighbours_below() {
        let least = 2f64.powi(-24);
        assert_eq!(RealType::F16.below(1.0), 1.0 - 2f64.powi(-11));
        assert_eq!(RealType::F16.below(1.1), 1.0 + 102.0 * 2f64.powi(-10));
        assert_eq!(RealType::F16.below(-1.0), -1.0 - 2f64.powi(-10));
        assert_eq!(RealType::F16.below(0.0), -least);
        assert_eq!(RealType::F16.below(least), 0.0);
        assert_eq!(RealType::F16.below(1e6), 65504.0);
        assert_eq!(RealType::BF16.below(256.0), 255.0);
        assert_eq!(RealType::BF16.below(-256.0), -258.0);
        assert_eq!(RealType::F16.floor(-1e6), f64::NEG_INFINITY);
        for x in [1.0f32, 1.5, -1.0, -1.5, 0.0, 1e-40, 3.4e38, f32::MIN_POSITIVE, 0.1] {
            assert_eq!(RealType::F32.below(x.into()), x.next_down().into());
        }
        assert_eq!(RealType::F64.below(1.0), 1.0 - f64::EPSILON / 2.0);
        let (least, largest) = RealType::F16.within(0.1, 1.0);
        assert_eq!((least, largest), (1639.0 * 2f64.powi(-14), 2047.0 * 2f64.powi(-11)));
        assert_eq!(RealType::BF16.within(256.5, 257.5), (256.5, 256.5));
    }

    #[test]
    fn refusals_state_the_range_and_the_remedy() {
        let int = |t: IntType, i| t.refusal(i);
        assert_eq!(int(IntType::I8, Some(128)), "which does not fit i8 (-128 to 127); --int=i16 holds it");
        assert!(int(IntType::I8, Some(1 << 20)).ends_with("--int=i32 holds it"));
        assert!(int(IntType::I64, None).ends_with("9223372036854775807)"));
        assert_eq!(
            RealType::F16.refusal(1e5),
            "which does not fit f16 (at most 6.5504e4 in size); --real=f32 holds it"
        );
        assert!(RealType::BF16.refusal(1e39).ends_with("--real=f64 holds it"));
        assert!(RealType::F32.refusal(1e39).ends_with("--real=f64 holds it"));
    }

    #[test]
    fn formulas_work_in_wide_numbers() {
        let half = Numbers { real: RealType::BF16, int: IntType::I8 };
        assert_eq!(half.work(), Numbers::default());
        let double = Numbers { real: RealType::F64, int: IntType::I64 };
        assert_eq!(double.work(), double);
        assert_eq!(double.narrow(0.1), 0.1);
        assert_eq!(half.narrow(0.1), f64::from(0.1f32));
    }
}
