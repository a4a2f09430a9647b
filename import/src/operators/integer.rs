// SPDX-License-Identifier: Apache-2.0
//! Operations on the bits of ints.

use super::{Operator, operator};
use crate::call::{Call, broadcast};
use crate::refusal::{Reason, Ruled};
use crate::value::width;

pub const OPERATORS: &[Operator] = &[
    operator("BitShift", "`onnx.shift_left`, `onnx.shift_right`", shift),
    operator("BitwiseAnd", "`onnx.bitwise_and`", |c| {
        bitwise(c, "onnx.bitwise_and")
    }),
    operator("BitwiseOr", "`onnx.bitwise_or`", |c| {
        bitwise(c, "onnx.bitwise_or")
    }),
    operator("BitwiseXor", "`onnx.bitwise_xor`", |c| {
        bitwise(c, "onnx.bitwise_xor")
    }),
    operator("BitwiseNot", "`onnx.bitwise_not`", not),
];

fn shift(c: &mut Call) -> Ruled<()> {
    match c.string("direction", "").as_str() {
        "LEFT" => bitwise(c, "onnx.shift_left"),
        "RIGHT" => bitwise(c, "onnx.shift_right"),
        other => Err(Reason(format!("the direction {other:?} is unknown"))),
    }
}

/// An operator of two ints, with an attribute for their bits.
fn bitwise(c: &mut Call, operator: &str) -> Ruled<()> {
    c.no_u64()?;
    let (x, y) = (c.input(0)?, c.input(1)?);
    let shape = broadcast(&x.shape, &y.shape)?;
    let bits = [("bits", width(x.element).0.to_string())];
    let z = c.call(
        operator,
        &bits,
        &[(&x).into(), (&y).into()],
        (x.element, shape),
    );
    let z = c.wrapped(z)?;
    c.set(0, z);
    Ok(())
}

fn not(c: &mut Call) -> Ruled<()> {
    c.no_u64()?;
    let x = c.input(0)?;
    let y = c.map("onnx.bitwise_not", &[], &x);
    let y = c.wrapped(y)?;
    c.set(0, y);
    Ok(())
}
