// SPDX-License-Identifier: Apache-2.0
//! `reduce_precision`: rounds to narrower formats by integer operations on the element's bits.

use crate::import::element::Element;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value, ValueLike};
use skript_dialect::melior;
use skript_passes::ir::builder::arith::Integers;
use skript_passes::ir::{Builder, types};
use skript_semantics::RealType;

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
    fn new(float: RealType) -> Format {
        let exponent = match float {
            RealType::F16 => 5,
            RealType::BF16 | RealType::F32 => 8,
            RealType::F64 => 11,
        };
        Format { exponent, mantissa: float.bits() - 1 - exponent }
    }

    /// The exponent bias.
    fn bias(self) -> i64 {
        (1 << (self.exponent - 1)) - 1
    }
}

/// Rounds a scalar or a tensor to nearest, ties to even; exponents out of range become infinities and zeros. NaN is unchanged. `None`
/// for other types than floats.
pub(crate) fn reduce<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    x: Value<'c, 'a>,
    element: Element,
    to: Format,
) -> Option<Value<'c, 'a>> {
    let Element::Float(float) = element else {
        return None;
    };
    let from = Format::new(float);
    let given = at.bitcast(x, types::int(at.context, float.bits()));
    let t = given.r#type();
    let mut bits = given;
    if to.mantissa < from.mantissa {
        let dropped = from.mantissa - to.mantissa;
        let (one, by) = (at.int(1, t), at.int(dropped.into(), t));
        let odd = at.andi(at.shrui(bits, by), one);
        let bias = at.addi(odd, at.int((1 << (dropped - 1)) - 1, t));
        bits = at.andi(at.addi(bits, bias), at.int(-(1 << dropped), t));
    }
    let infinity = at.int(((1i64 << from.exponent) - 1) << from.mantissa, t);
    let sign_bit = types::min_integer(float.bits());
    if to.exponent < from.exponent {
        let max_exponent = at.int((from.bias() + to.bias()) << from.mantissa, t);
        let min_exponent = at.int((from.bias() - to.bias()) << from.mantissa, t);
        let sign = at.andi(given, at.int(sign_bit, t));
        let exponent = at.andi(bits, infinity);
        let is_above = at.cmpi(Integers::SignedGreater, exponent, max_exponent);
        let is_below = at.cmpi(Integers::SignedAtMost, exponent, min_exponent);
        bits = at.select(is_above, at.ori(sign, infinity), bits);
        bits = at.select(is_below, sign, bits);
    }
    // Detects NaN by integer operations, because some processors cannot compare half-precision floats.
    let size = at.andi(given, at.int(!sign_bit, t));
    let is_nan = at.cmpi(Integers::SignedGreater, size, infinity);
    Some(at.bitcast(at.select(is_nan, given, bits), types::real(at.context, float)))
}
