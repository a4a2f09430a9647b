// SPDX-License-Identifier: Apache-2.0
//! Quantized operators of onnxruntime: the operator on the numbers that the ints stand for, quantized again.

use skript_tensor::ElementType;

use super::movement::{joined, reshaped};
use super::product::{less_zero_point, product};
use super::quantize::{dequantize, quantize, quantized};
use super::{Operator, microsoft};
use crate::call::{Call, float_text};
use crate::refusal::Ruled;
use crate::statement::Argument;
use crate::value::Value;

pub const OPERATORS: &[Operator] = &[
    microsoft("QuantizeLinear", "`onnx.quantize`", quantize),
    microsoft("DequantizeLinear", "`onnx.dequantize`", dequantize),
    microsoft(
        "QLinearAdd",
        "`onnx.dequantize`, `math.add`, `onnx.quantize`",
        |c| binary(c, "math.add"),
    ),
    microsoft(
        "QLinearMul",
        "`onnx.dequantize`, `math.mul`, `onnx.quantize`",
        |c| binary(c, "math.mul"),
    ),
    microsoft(
        "QLinearSigmoid",
        "`onnx.dequantize`, `nn.sigmoid`, `onnx.quantize`",
        |c| unary(c, &|c, x| Ok(c.map("nn.sigmoid", &[], x))),
    ),
    microsoft(
        "QLinearLeakyRelu",
        "`onnx.dequantize`, `onnx.leaky_relu`, `onnx.quantize`",
        |c| {
            unary(c, &|c, x| {
                let alpha = float_text(c.float("alpha", 0.01));
                Ok(c.map("onnx.leaky_relu", &[("alpha", alpha)], x))
            })
        },
    ),
    microsoft(
        "QLinearGlobalAveragePool",
        "`onnx.dequantize`, `math.mean_reduce`, `onnx.quantize`",
        |c| unary(c, &mean),
    ),
    microsoft(
        "QLinearConcat",
        "`onnx.dequantize`, `layout.concat`, `onnx.quantize`",
        concat,
    ),
    microsoft(
        "MatMulIntegerToFloat",
        "`onnx.matmul_ints`, `math.mul`",
        to_float,
    ),
    microsoft(
        "DynamicQuantizeMatMul",
        "`onnx.quantize_dynamically`, `onnx.matmul_ints`, `math.mul`",
        dynamic,
    ),
];

/// A parameter of one number.
fn scalar(c: &mut Call, at: usize) -> Ruled<Value> {
    let value = c.input(at)?;
    match value.volume() {
        Some(1) => Ok(reshaped(c, &value, Vec::new())),
        _ => Err("a scale or zero point for each channel is not supported here".into()),
    }
}

/// The numbers of the tensor `at`, whose scale and zero point follow it.
fn numbers(c: &mut Call, at: usize) -> Ruled<Value> {
    let x = c.input(at)?;
    let scale = scalar(c, at + 1)?;
    let zero = c.optional(at + 2).map(|_| scalar(c, at + 2)).transpose()?;
    let arguments: [Argument; 3] = [(&x).into(), (&scale).into(), zero.as_ref().into()];
    Ok(c.call(
        "onnx.dequantize",
        &[],
        &arguments,
        (scale.element, x.shape.clone()),
    ))
}

/// Numbers as ints, by the scale and the zero point that are inputs `at` and after it.
fn ints(c: &mut Call, x: &Value, at: usize, like: ElementType) -> Ruled<Value> {
    let scale = scalar(c, at)?;
    let zero = c.optional(at + 1).map(|_| scalar(c, at + 1)).transpose()?;
    quantized(c, x, &scale, zero.as_ref(), like)
}

fn binary(c: &mut Call, operator: &str) -> Ruled<()> {
    let like = c.input(0)?.element;
    let (a, b) = (numbers(c, 0)?, numbers(c, 3)?);
    let z = c.binary(operator, &a, &b)?;
    let z = ints(c, &z, 6, like)?;
    c.set(0, z);
    Ok(())
}

fn unary(c: &mut Call, of: &dyn Fn(&mut Call, &Value) -> Ruled<Value>) -> Ruled<()> {
    let like = c.input(0)?.element;
    let x = numbers(c, 0)?;
    let y = of(c, &x)?;
    let y = ints(c, &y, 3, like)?;
    c.set(0, y);
    Ok(())
}

fn mean(c: &mut Call, x: &Value) -> Ruled<Value> {
    if c.flag("channels_last", false) {
        return Err("`channels_last` is not supported".into());
    }
    let axes: Vec<usize> = (2..x.rank()).collect();
    Ok(super::reduction::over(
        c,
        x,
        &axes,
        true,
        "math.mean_reduce",
    ))
}

fn concat(c: &mut Call) -> Ruled<()> {
    let like = c.input(2)?.element;
    let parts = (2..c.inputs.len())
        .step_by(3)
        .map(|at| numbers(c, at))
        .collect::<Ruled<Vec<_>>>()?;
    let rank = parts.first().map_or(0, |p| p.rank());
    let at = crate::call::axis(c.int("axis", 0), rank)?;
    let y = joined(c, parts, at)?;
    let y = ints(c, &y, 0, like)?;
    c.set(0, y);
    Ok(())
}

/// The product of ints less their zero points, times both scales, plus a bias.
fn scaled_product(
    c: &mut Call,
    (a, a_scale, a_zero): (&Value, &Value, Option<Value>),
    (b, b_scale, b_zero): (&Value, &Value, Option<Value>),
    bias: Option<Value>,
) -> Ruled<()> {
    let a = less_zero_point(c, a, a_zero, true)?;
    let b = less_zero_point(c, b, b_zero, false)?;
    let sum = product(c, &a, &b, "onnx.matmul_ints", ElementType::I64)?;
    let real = super::elementwise::to_real(c, &sum, a_scale.element);
    let factor = c.binary("math.mul", a_scale, b_scale)?;
    let mut y = c.binary("math.mul", &real, &factor)?;
    if let Some(bias) = bias {
        y = c.binary("math.add", &y, &bias)?;
    }
    c.set(0, y);
    Ok(())
}

fn to_float(c: &mut Call) -> Ruled<()> {
    let (a, b) = (c.input(0)?, c.input(1)?);
    let (a_scale, b_scale) = (scalar(c, 2)?, c.real(3)?);
    let (a_zero, b_zero, bias) = (c.optional(4), c.optional(5), c.optional(6));
    scaled_product(c, (&a, &a_scale, a_zero), (&b, &b_scale, b_zero), bias)
}

fn dynamic(c: &mut Call) -> Ruled<()> {
    let (x, b, b_scale) = (c.real(0)?, c.input(1)?, c.real(2)?);
    let (b_zero, bias) = (c.optional(3), c.optional(4));
    let types = super::quantize::dynamic_types(&x);
    let parts = c.calls("onnx.quantize_dynamically", &[], &[(&x).into()], types);
    let [a, a_scale, a_zero] = parts.as_slice() else {
        return Err("the quantization does not have three results".into());
    };
    scaled_product(
        c,
        (a, a_scale, Some(a_zero.clone())),
        (&b, &b_scale, b_zero),
        bias,
    )
}
