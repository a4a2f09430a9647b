// SPDX-License-Identifier: Apache-2.0
//! `chlo.next_after`: the adjacent float in the direction of a second operand, by integer operations on the bits.

use melior::ir::{Value, ValueLike};
use skript_dialect::melior;
use skript_passes::ir::builder::arith::Integers;
use skript_passes::ir::{Builder, types};
use skript_semantics::RealType;

/// The float adjacent to the first operand in the direction of the second one.
pub(crate) fn next_after<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    operands: [Value<'c, 'a>; 2],
    float: RealType,
) -> Value<'c, 'a> {
    let r#type = types::int(at.context, float.bits());
    let sign_bit = types::min_integer(float.bits());
    // The bit pattern of infinity: all exponent bits are set.
    let infinity = match float {
        RealType::F16 => 0x7c00,
        RealType::BF16 => 0x7f80,
        RealType::F32 => 0x7f80_0000,
        RealType::F64 => 0x7ff0_0000_0000_0000,
    };
    let [sign, magnitude, infinity, zero, one, minus] =
        [sign_bit, !sign_bit, infinity, 0, 1, -1].map(|value| at.int(value, r#type));
    let [x, y] = operands.map(|operand| at.bitcast(operand, r#type));
    let [size_x, size_y] = [x, y].map(|bits| at.andi(bits, magnitude));
    let [nan_x, nan_y] = [size_x, size_y].map(|size| at.cmpi(Integers::Greater, size, infinity));
    let [zero_x, zero_y] = [size_x, size_y].map(|size| at.cmpi(Integers::Equal, size, zero));
    let zeros = at.andi(zero_x, zero_y);
    let equal = at.ori(at.cmpi(Integers::Equal, x, y), zeros);
    let smallest = at.ori(at.andi(y, sign), one);
    let opposed = at.cmpi(Integers::SignedLess, at.xori(x, y), zero);
    let inward = at.ori(opposed, at.cmpi(Integers::Greater, size_x, size_y));
    let moved = at.addi(x, at.select(inward, minus, one));
    let value = at.select(zero_x, smallest, moved);
    let value = at.select(equal, y, value);
    let value = at.select(nan_y, y, value);
    let value = at.select(nan_x, x, value);
    at.bitcast(value, operands[0].r#type())
}
