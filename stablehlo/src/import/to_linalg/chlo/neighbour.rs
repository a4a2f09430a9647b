// SPDX-License-Identifier: Apache-2.0
//! `chlo.next_after`: the adjacent float in the direction of a second operand, by integer operations on the bits.

use crate::import::element::Float;
use skript_passes::ir::splice::Lines;

/// The float adjacent to `%i0` in the direction of `%i1`.
pub(crate) fn next_after(lines: &mut Lines, float: Float) -> String {
    let (t, n) = (float.text(), float.bits());
    let word = |lines: &mut Lines, value: i64| lines.value(format!("arith.constant {value} : i{n}"));
    let sign_bit = i64::MIN >> (64 - n);
    // The bit pattern of infinity: all exponent bits are set.
    let infinity = match float {
        Float::F16 => 0x7c00,
        Float::BF16 => 0x7f80,
        Float::F32 => 0x7f80_0000,
        Float::F64 => 0x7ff0_0000_0000_0000,
    };
    let (sign, magnitude, infinity) = (word(lines, sign_bit), word(lines, !sign_bit), word(lines, infinity));
    let (zero, one, minus) = (word(lines, 0), word(lines, 1), word(lines, -1));
    let bits: Vec<String> =
        ["%i0", "%i1"].map(|x| lines.value(format!("arith.bitcast {x} : {t} to i{n}"))).into();
    let mut apply = |text: String| lines.value(text);
    let [x, y] = bits.as_slice() else {
        return "%i0".to_owned();
    };
    let size_x = apply(format!("arith.andi {x}, {magnitude} : i{n}"));
    let size_y = apply(format!("arith.andi {y}, {magnitude} : i{n}"));
    let nan_x = apply(format!("arith.cmpi ugt, {size_x}, {infinity} : i{n}"));
    let nan_y = apply(format!("arith.cmpi ugt, {size_y}, {infinity} : i{n}"));
    let zero_x = apply(format!("arith.cmpi eq, {size_x}, {zero} : i{n}"));
    let zero_y = apply(format!("arith.cmpi eq, {size_y}, {zero} : i{n}"));
    let zeros = apply(format!("arith.andi {zero_x}, {zero_y} : i1"));
    let same = apply(format!("arith.cmpi eq, {x}, {y} : i{n}"));
    let equal = apply(format!("arith.ori {same}, {zeros} : i1"));
    let sign_y = apply(format!("arith.andi {y}, {sign} : i{n}"));
    let smallest = apply(format!("arith.ori {sign_y}, {one} : i{n}"));
    let differ = apply(format!("arith.xori {x}, {y} : i{n}"));
    let opposed = apply(format!("arith.cmpi slt, {differ}, {zero} : i{n}"));
    let larger = apply(format!("arith.cmpi ugt, {size_x}, {size_y} : i{n}"));
    let inward = apply(format!("arith.ori {opposed}, {larger} : i1"));
    let step = apply(format!("arith.select {inward}, {minus}, {one} : i{n}"));
    let moved = apply(format!("arith.addi {x}, {step} : i{n}"));
    let value = apply(format!("arith.select {zero_x}, {smallest}, {moved} : i{n}"));
    let value = apply(format!("arith.select {equal}, {y}, {value} : i{n}"));
    let value = apply(format!("arith.select {nan_y}, {y}, {value} : i{n}"));
    let value = apply(format!("arith.select {nan_x}, {x}, {value} : i{n}"));
    apply(format!("arith.bitcast {value} : i{n} to {t}"))
}
