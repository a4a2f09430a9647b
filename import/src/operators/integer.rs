// SPDX-License-Identifier: Apache-2.0
//! Bitwise operators.

use skript_tensor::ElementType;

use super::{Operator, operator};
use crate::call::{Call, broadcast};
use crate::reals::Format;
use crate::refusal::{Reason, Ruled};
use crate::value::{is_real, width};

use super::elementwise::converted;

pub const OPERATORS: &[Operator] = &[
    operator("BitShift", "`onnx.shift_left`, `onnx.shift_right`", shift),
    operator("BitwiseAnd", "`onnx.bitwise_and`", |c| bitwise(c, "onnx.bitwise_and")),
    operator("BitwiseOr", "`onnx.bitwise_or`", |c| bitwise(c, "onnx.bitwise_or")),
    operator("BitwiseXor", "`onnx.bitwise_xor`", |c| bitwise(c, "onnx.bitwise_xor")),
    operator("BitwiseNot", "`onnx.bitwise_not`", not),
    operator("BitCast", "`onnx.wrap`, `onnx.bits_of_reals`, `onnx.reals_of_bits`", bit_cast),
];

/// Reinterprets the bits of a tensor as another type of the same size.
fn bit_cast(c: &mut Call) -> Ruled<()> {
    let to = c.element_type("to", 0)?;
    let x = c.input(0)?;
    if to.size() != x.element.size() {
        return Err("the types have different sizes".into());
    }
    let bits = |element: ElementType| {
        let Format { digits, min_exponent, exponents } = Format::from_element(element);
        [
            ("digits", digits.to_string()),
            ("least", min_exponent.to_string()),
            ("exponents", exponents.to_string()),
        ]
    };
    // Converts to ints first, then to the target type.
    let ints = match () {
        () if x.is_real() => {
            let signed = (ints_of(x.element.size()), x.shape.clone());
            c.call("onnx.bits_of_reals", &bits(x.element), &[(&x).into()], signed)
        }
        () if x.is_bool() => converted(c, &x, ElementType::U8)?,
        () => x.clone(),
    };
    let y = match () {
        () if to == x.element => x,
        () if is_real(to) => {
            let kind = (to, x.shape.clone());
            c.call("onnx.reals_of_bits", &bits(to), &[(&ints).into()], kind)
        }
        () if to == ElementType::Bool => converted(c, &ints, to)?,
        () => c.wrapped_as(&ints, to),
    };
    c.set(0, y);
    Ok(())
}

/// The signed int type with a size in bytes.
fn ints_of(size: usize) -> ElementType {
    match size {
        1 => ElementType::I8,
        2 => ElementType::I16,
        4 => ElementType::I32,
        _ => ElementType::I64,
    }
}

fn shift(c: &mut Call) -> Ruled<()> {
    match c.string("direction", "").as_str() {
        "LEFT" => bitwise(c, "onnx.shift_left"),
        "RIGHT" => bitwise(c, "onnx.shift_right"),
        other => Err(Reason(format!("the direction {other:?} is unknown"))),
    }
}

/// Calls an operator on two ints, with attributes for their width.
fn bitwise(c: &mut Call, operator: &str) -> Ruled<()> {
    let (x, y) = (c.input(0)?, c.input(1)?);
    let shape = broadcast(&x.shape, &y.shape)?;
    let mut attributes = vec![("bits", width(x.element).0.to_string())];
    if operator == "onnx.shift_right" && x.element == ElementType::U64 {
        attributes.push(("signed", "false".to_owned()));
    }
    let z = c.call(operator, &attributes, &[(&x).into(), (&y).into()], (x.element, shape));
    let z = c.wrapped(z);
    c.set(0, z);
    Ok(())
}

fn not(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    let y = c.map("onnx.bitwise_not", &[], &x);
    let y = c.wrapped(y);
    c.set(0, y);
    Ok(())
}
