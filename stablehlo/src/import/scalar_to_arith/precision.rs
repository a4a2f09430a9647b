// SPDX-License-Identifier: Apache-2.0
//! `reduce_precision`: rounds to narrower formats by integer operations on the element's bits.

use super::Scalar;
use crate::import::element::{Element, Float};
use melior::ir::OperationRef;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::OperationLike;
use skript_dialect::melior;
use skript_passes::ir::ops;

/// The numbers of exponent and mantissa bits.
#[derive(Clone, Copy)]
pub(crate) struct Format {
    exponent: u32,
    mantissa: u32,
}

/// The format of a `reduce_precision`; `None` for other operations.
pub(crate) fn format(op: OperationRef) -> Option<Format> {
    let bits = |name: &str| {
        let value = IntegerAttribute::try_from(op.attribute(name).ok()?).ok()?;
        u32::try_from(value.value()).ok()
    };
    Some(Format { exponent: bits("exponent_bits")?, mantissa: bits("mantissa_bits")? })
}

impl Format {
    fn new(float: Float) -> Format {
        let exponent = match float {
            Float::F16 => 5,
            Float::BF16 | Float::F32 => 8,
            Float::F64 => 11,
        };
        Format { exponent, mantissa: float.bits() - 1 - exponent }
    }

    /// The exponent bias.
    fn bias(self) -> i128 {
        (1 << (self.exponent - 1)) - 1
    }
}

/// Rounds the operand to nearest, ties to even; exponents out of range become infinities and zeros. NaN is unchanged.
pub(crate) fn reduce(s: &mut Scalar, to: Format) -> Option<String> {
    let Element::Float(float) = s.from else {
        return None;
    };
    let from = Format::new(float);
    let x = s.operand(0).to_owned();
    let (f, t) = (s.typed(float.text()), s.typed(&format!("i{}", float.bits())));
    let given = s.value(format!("arith.bitcast {x} : {f} to {t}"));
    let mut bits = given.clone();
    if to.mantissa < from.mantissa {
        let dropped = from.mantissa - to.mantissa;
        let one = s.integer(1, &t);
        let by = s.integer(dropped.into(), &t);
        let last = s.apply(ops::arith::SHRUI, &[&bits, &by], &t);
        let odd = s.apply(ops::arith::ANDI, &[&last, &one], &t);
        let below_half = s.integer((1 << (dropped - 1)) - 1, &t);
        let bias = s.apply(ops::arith::ADDI, &[&odd, &below_half], &t);
        let rounded = s.apply(ops::arith::ADDI, &[&bits, &bias], &t);
        let kept = s.integer(-(1 << dropped), &t);
        bits = s.apply(ops::arith::ANDI, &[&rounded, &kept], &t);
    }
    let infinity = ((1i128 << from.exponent) - 1) << from.mantissa;
    let infinity = s.integer(infinity, &t);
    if to.exponent < from.exponent {
        let max_exponent = s.integer((from.bias() + to.bias()) << from.mantissa, &t);
        let min_exponent = s.integer((from.bias() - to.bias()) << from.mantissa, &t);
        let sign = s.integer(-(1 << (float.bits() - 1)), &t);
        let sign = s.apply(ops::arith::ANDI, &[&given, &sign], &t);
        let exponent = s.apply(ops::arith::ANDI, &[&bits, &infinity], &t);
        let above = s.value(format!("arith.cmpi sgt, {exponent}, {max_exponent} : {t}"));
        let below = s.value(format!("arith.cmpi sle, {exponent}, {min_exponent} : {t}"));
        let infinite = s.apply(ops::arith::ORI, &[&sign, &infinity], &t);
        bits = s.select(&above, &infinite, &bits, &t);
        bits = s.select(&below, &sign, &bits, &t);
    }
    // Detects NaN by integer operations, because some processors cannot compare half-precision floats.
    let magnitude = s.integer((1 << (float.bits() - 1)) - 1, &t);
    let size = s.apply(ops::arith::ANDI, &[&given, &magnitude], &t);
    let nan = s.value(format!("arith.cmpi sgt, {size}, {infinity} : {t}"));
    let bits = s.select(&nan, &given, &bits, &t);
    Some(s.value(format!("arith.bitcast {bits} : {t} to {f}")))
}
