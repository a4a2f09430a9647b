// SPDX-License-Identifier: Apache-2.0
//! Quantization and quantized operators.

use skript_tensor::ElementType;

use super::movement::{of_channels, reshaped, unsqueezed};
use super::{Operator, operator};
use crate::call::{Call, Type, axis, supported_type};
use crate::refusal::{Reason, Ruled};
use crate::statement::Argument;
use crate::value::{Item, Value, nibble, width};

pub const OPERATORS: &[Operator] = &[
    operator("QuantizeLinear", "`onnx.quantize`", quantize),
    operator("DequantizeLinear", "`onnx.dequantize`", dequantize),
    operator("DynamicQuantizeLinear", "`onnx.quantize_dynamically`", quantize_dynamically),
    operator("QLinearMatMul", "`math.sub`, `onnx.matmul_ints`, `onnx.quantize`", matmul),
    operator("QLinearConv", "`math.sub`, `onnx.conv_ints`, `onnx.quantize`", conv),
];

/// Reshapes a parameter, which is a scalar or has an element for each index of an axis, so that it broadcasts with the tensor.
pub(super) fn aligned(c: &mut Call, parameter: &Value, rank: usize, at: i64) -> Ruled<Value> {
    match parameter.rank() {
        0 => Ok(parameter.clone()),
        1 if parameter.extent(0).is(1) => Ok(reshaped(c, parameter, Vec::new())),
        1 => {
            let at = axis(at, rank)?;
            let after: Vec<usize> = (1..rank - at).collect();
            Ok(unsqueezed(c, parameter, &after))
        }
        _ => Err("the scales or zero points do not match the axis".into()),
    }
}

/// Reshapes a parameter so that it broadcasts with `x`. Parameters of blocks are repeated.
fn spread(c: &mut Call, parameter: &Value, x: &Value, at: i64) -> Ruled<Value> {
    let size = c.int("block_size", 0);
    if size == 0 {
        return aligned(c, parameter, x.rank(), at);
    }
    let at = axis(at, x.rank())?;
    if size < 0 || parameter.rank() != x.rank() {
        return Err(Reason(format!("the scales or zero points do not match blocks of {size} elements")));
    }
    for (axis, (extent, whole)) in parameter.shape.iter().zip(&x.shape).enumerate() {
        let whole = match (axis == at, whole.value()) {
            (true, Some(whole)) => Some(whole / size + i64::from(whole % size != 0)),
            (_, whole) => whole,
        };
        if extent.value().is_none() || extent.value() != whole {
            return Err(Reason(format!("the scales or zero points do not match blocks of {size} elements")));
        }
    }
    Ok(blocks(c, parameter, at, size, x))
}

/// Repeats the parameters of blocks along an axis for each element of `x`.
pub(super) fn blocks(c: &mut Call, parameter: &Value, at: usize, size: i64, x: &Value) -> Value {
    let attributes = [
        ("axis", at.to_string()),
        ("size", size.to_string()),
        ("extent", crate::statement::marked(&x.extent(at))),
    ];
    c.call("onnx.repeat_blocks", &attributes, &[parameter.into()], (parameter.element, x.shape.clone()))
}

fn limits(bits: u32, signed: bool) -> Ruled<[(&'static str, String); 2]> {
    if bits > 32 {
        return Err("quantization to 64 bits is not supported".into());
    }
    let (min, max) =
        if signed { (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1) } else { (0, (1i64 << bits) - 1) };
    Ok([("least", min.to_string()), ("most", max.to_string())])
}

pub(super) fn quantized(
    c: &mut Call,
    x: &Value,
    scale: &Value,
    zero: Option<&Value>,
    to: ElementType,
) -> Ruled<Value> {
    quantized_to(c, (x, scale, zero), to, width(to).0)
}

fn quantized_to(
    c: &mut Call,
    (x, scale, zero): (&Value, &Value, Option<&Value>),
    to: ElementType,
    bits: u32,
) -> Ruled<Value> {
    let limits = limits(bits, width(to).1)?;
    let arguments: [Argument; 3] = [x.into(), scale.into(), zero.into()];
    Ok(c.call("onnx.quantize", &limits, &arguments, (to, x.shape.clone())))
}

pub(super) fn quantize(c: &mut Call) -> Ruled<()> {
    let (x, scale) = (c.input(0)?, c.real(1)?);
    let x = if x.is_real() { x } else { super::elementwise::to_real(c, &x, scale.element) };
    let zero = c.optional(2);
    let number = c.int("output_dtype", 0);
    let (to, is_nibble) = match &zero {
        Some(zero) => (zero.element, c.importer.nibbles.contains(&zero.id)),
        None if number == 0 => (ElementType::U8, false),
        None => match i32::try_from(number).ok().and_then(nibble) {
            Some(to) => (to, true),
            None => (supported_type(number)?, false),
        },
    };
    let at = c.int("axis", 1);
    let scale = spread(c, &scale, &x, at)?;
    let spread_zero = zero.map(|z| spread(c, &z, &x, at)).transpose()?;
    let bits = if is_nibble { 4 } else { width(to).0 };
    let y = quantized_to(c, (&x, &scale, spread_zero.as_ref()), to, bits)?;
    if is_nibble {
        c.importer.nibbles.insert(y.id);
    }
    c.set(0, y);
    Ok(())
}

/// Clamps an 8-bit initializer or input to the range of its type. The clamp does not change elements, but exposes their width, which
/// the type `int` of SkriptND lacks, to the compiler, so that products of quantized values can be computed in bytes.
pub(super) fn limited(c: &mut Call, x: &Value) -> Value {
    let (bits, signed) = width(x.element);
    let is_from_outside = x.tensor.is_some() || c.importer.inputs.contains(&x.id);
    if !is_from_outside || bits != 8 {
        return x.clone();
    }
    let (min, max) = if signed { (-128, 127) } else { (0, 255) };
    let mut limit = |operator: &str, x: &Value, number: i64| {
        let number = Argument::Number(number.to_string());
        c.call(operator, &[], &[x.into(), number], (x.element, x.shape.clone()))
    };
    let raised = limit("math.max", x, min);
    limit("math.min", &raised, max)
}

pub(super) fn dequantize(c: &mut Call) -> Ruled<()> {
    c.no_u64()?;
    let (x, scale) = (c.input(0)?, c.real(1)?);
    if !x.is_int() {
        return Err("quantization to types other than ints is not supported".into());
    }
    let x = limited(c, &x);
    let at = c.int("axis", 1);
    let scale = spread(c, &scale, &x, at)?;
    let zero = c.optional(2).map(|z| spread(c, &z, &x, at)).transpose()?;
    let arguments: [Argument; 3] = [(&x).into(), (&scale).into(), zero.as_ref().into()];
    let y = c.call("onnx.dequantize", &[], &arguments, (scale.element, x.shape.clone()));
    c.set(0, y);
    Ok(())
}

/// The types of the ints, the scale and the zero point of a dynamically quantized tensor.
pub(super) fn dynamic_types(x: &Value) -> Vec<Type> {
    vec![(ElementType::U8, x.shape.clone()), (x.element, Vec::new()), (ElementType::U8, Vec::new())]
}

fn quantize_dynamically(c: &mut Call) -> Ruled<()> {
    let x = c.real(0)?;
    let types = dynamic_types(&x);
    for (at, result) in
        c.calls("onnx.quantize_dynamically", &[], &[(&x).into()], types).into_iter().enumerate()
    {
        c.set(at, result);
    }
    Ok(())
}

/// Subtracts the zero point from ints.
pub(super) fn centred(c: &mut Call, x: &Value, zero: &Value, at: i64) -> Ruled<Value> {
    let zero = aligned(c, zero, x.rank(), at)?;
    let x = limited(c, x);
    let (x, zero) = (c.retyped(&x, ElementType::I64), c.retyped(&zero, ElementType::I64));
    c.binary("math.sub", &x, &zero)
}

fn matmul(c: &mut Call) -> Ruled<()> {
    let (a, b) = (c.input(0)?, c.input(3)?);
    let (a_scale, a_zero) = (c.real(1)?, c.input(2)?);
    let (b_scale, b_zero) = (c.real(4)?, c.input(5)?);
    let (y_scale, y_zero) = (c.real(6)?, c.input(7)?);
    if y_scale.rank() > 0 && !y_scale.extent(0).is(1) {
        return Err("a scale for each row of the result is not supported".into());
    }
    let a_centred = centred(c, &a, &a_zero, -2)?;
    let b_centred = centred(c, &b, &b_zero, -1)?;
    let sum = super::product::product(c, &a_centred, &b_centred, "onnx.matmul_ints", ElementType::I64)?;
    let real = super::elementwise::to_real(c, &sum, y_scale.element);
    let a_scale = aligned(c, &a_scale, real.rank(), -2)?;
    let b_scale = aligned(c, &b_scale, real.rank(), -1)?;
    let scaled = c.binary("math.mul", &real, &a_scale)?;
    let scaled = c.binary("math.mul", &scaled, &b_scale)?;
    let y_scale = aligned(c, &y_scale, real.rank(), -1)?;
    let zero = aligned(c, &y_zero, real.rank(), -1)?;
    let y = quantized(c, &scaled, &y_scale, Some(&zero), y_zero.element)?;
    c.set(0, y);
    Ok(())
}

/// Requantizes sums of int products.
pub(super) fn rescaled(
    c: &mut Call,
    sum: &Value,
    (a_scale, b_scale): (&Value, &Value),
    (y_scale, y_zero): (&Value, &Value),
) -> Ruled<Value> {
    let real = super::elementwise::to_real(c, sum, y_scale.element);
    let factor = c.binary("math.mul", a_scale, b_scale)?;
    let factor = c.binary("math.div", &factor, y_scale)?;
    let scaled = c.binary("math.mul", &real, &factor)?;
    let one = c.known(y_scale.element, Vec::new(), vec![Item::Real(1.0)]);
    quantized(c, &scaled, &one, Some(y_zero), y_zero.element)
}

/// A convolution. With the attribute `channels_last` of onnxruntime, the last dimension has the channels.
pub(super) fn conv(c: &mut Call) -> Ruled<()> {
    let (x, w) = (c.input(0)?, c.input(3)?);
    let is_last = c.flag("channels_last", false);
    let (x_scale, x_zero) = (c.real(1)?, c.input(2)?);
    let (w_scale, w_zero) = (c.real(4)?, c.input(5)?);
    let (y_scale, y_zero) = (c.real(6)?, c.input(7)?);
    for one in [&x_scale, &x_zero, &y_scale, &y_zero] {
        if one.volume() != Some(1) {
            return Err("a scale or zero point for each channel of a tensor is not supported".into());
        }
    }
    let rank = x.rank();
    let x = centred(c, &x, &x_zero, 0)?;
    let y = of_channels(c, &x, is_last, |c, x| {
        let w = centred(c, &w, &w_zero, 0)?;
        let mut sum = super::convolution::conv_of(c, "onnx.conv_ints", x, &w, None, ElementType::I64)?;
        if let Some(bias) = c.optional(8) {
            let bias = c.retyped(&bias, ElementType::I64);
            let bias = aligned(c, &bias, rank, 1)?;
            sum = c.binary("math.add", &sum, &bias)?;
        }
        let w_scale = aligned(c, &w_scale, rank, 1)?;
        let [x_scale, y_scale, y_zero] = [&x_scale, &y_scale, &y_zero].map(|v| reshaped(c, v, Vec::new()));
        rescaled(c, &sum, (&x_scale, &w_scale), (&y_scale, &y_zero))
    })?;
    c.set(0, y);
    Ok(())
}
