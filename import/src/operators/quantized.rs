// SPDX-License-Identifier: Apache-2.0
//! The quantized operators of onnxruntime: they become dequantization, an operator on reals, and quantization.

use skript_tensor::{ElementType, Tensor};

use super::movement::{joined, of_channels, reshaped, transposed};
use super::pooling::average_pooled;
use super::product::{product_of, product_of_ints};
use super::quantize::{conv, dequantize, limited, quantize, quantized};
use super::reduction::over;
use super::{Operator, microsoft};
use crate::call::{Call, axes, axis, broadcast};
use crate::extent::Extent;
use crate::literals::{axis_list, float_text};
use crate::refusal::{Reason, Ruled, overflow};
use crate::statement::Argument;
use crate::value::{Item, Value};

pub const OPERATORS: &[Operator] = &[
    microsoft("QuantizeLinear", "`onnx.quantize`", quantize),
    microsoft("DequantizeLinear", "`onnx.dequantize`", dequantize),
    microsoft("QLinearAdd", "`onnx.dequantize`, `math.add`, `onnx.quantize`", |c| binary(c, "math.add")),
    microsoft("QLinearMul", "`onnx.dequantize`, `math.mul`, `onnx.quantize`", |c| binary(c, "math.mul")),
    microsoft("QLinearSigmoid", "`onnx.dequantize`, `nn.sigmoid`, `onnx.quantize`", |c| {
        unary(c, &|c, x| Ok(c.map("nn.sigmoid", &[], x)))
    }),
    microsoft("QLinearLeakyRelu", "`onnx.dequantize`, `onnx.leaky_relu`, `onnx.quantize`", |c| {
        unary(c, &|c, x| {
            let alpha = float_text(c.float("alpha", 0.01));
            Ok(c.map("onnx.leaky_relu", &[("alpha", alpha)], x))
        })
    }),
    microsoft("QLinearGlobalAveragePool", "`onnx.dequantize`, `math.mean_reduce`, `onnx.quantize`", |c| {
        unary_of_channels(c, mean)
    }),
    microsoft("QLinearAveragePool", "`onnx.dequantize`, `nn.avg_pool`, `onnx.quantize`", |c| {
        unary_of_channels(c, average_pooled)
    }),
    microsoft("QLinearReduceMean", "`onnx.dequantize`, `math.mean_reduce`, `onnx.quantize`", |c| {
        unary(c, &reduced_mean)
    }),
    microsoft("QLinearSoftmax", "`onnx.dequantize`, `nn.softmax`, `onnx.quantize`", |c| unary(c, &softmax)),
    microsoft("QLinearWhere", "`onnx.dequantize`, `math.select`, `onnx.quantize`", select),
    microsoft("QLinearConv", "`math.sub`, `onnx.conv_ints`, `onnx.quantize`", conv),
    microsoft("QLinearConcat", "`onnx.dequantize`, `layout.concat`, `onnx.quantize`", concat),
    microsoft("MatMulIntegerToFloat", "`onnx.matmul_ints`, `math.mul`", to_float),
    microsoft(
        "DynamicQuantizeMatMul",
        "`onnx.quantize_dynamically`, `onnx.matmul_ints`, `math.mul`",
        dynamic,
    ),
    microsoft("QGemm", "`onnx.matmul_ints`, `math.mul`, `onnx.quantize`", gemm),
    microsoft(
        "QAttention",
        "`onnx.matmul_ints`, `math.mul`, `linalg.matmul`, `onnx.softmax_of_some`",
        attention,
    ),
    microsoft(
        "MatMulNBits",
        "`onnx.repeat_blocks`, `onnx.dequantize`, `linalg.matmul`, or `onnx.matmul_nibbles` for a few rows",
        by_bits,
    ),
];

/// A scalar parameter.
fn scalar(c: &mut Call, at: usize) -> Ruled<Value> {
    let value = c.input(at)?;
    match value.volume() {
        Some(1) => Ok(reshaped(c, &value, Vec::new())),
        Some(_) => Err("a scale or zero point for each channel is not supported here".into()),
        None => Err(
            "the number of scales or zero points must be static: pass static shapes of the inputs with `--input-shape`"
                .into(),
        ),
    }
}

/// Dequantizes input `at`, whose scale and zero point are the next inputs.
fn numbers(c: &mut Call, at: usize) -> Ruled<Value> {
    let x = c.input(at)?;
    real_of_ints(c, &x, at + 1, at + 2)
}

/// Dequantizes by the scale and the optional zero point in these inputs.
pub(super) fn real_of_ints(c: &mut Call, x: &Value, scale: usize, zero: usize) -> Ruled<Value> {
    let scale = scalar(c, scale)?;
    let zero = c.optional(zero).map(|_| scalar(c, zero)).transpose()?;
    let arguments: [Argument; 3] = [x.into(), (&scale).into(), zero.as_ref().into()];
    Ok(c.call("onnx.dequantize", &[], &arguments, (scale.element, x.shape.clone())))
}

/// Quantizes by the scale in input `at` and the zero point in the next input.
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

/// As [`unary`], but `of` is applied to a tensor with its channels in the second dimension; with the attribute `channels_last`, operand and
/// result of the node have them in the last.
fn unary_of_channels(c: &mut Call, of: impl Fn(&mut Call, &Value) -> Ruled<Value>) -> Ruled<()> {
    let is_last = c.flag("channels_last", false);
    unary(c, &|c, x| of_channels(c, x, is_last, &of))
}

fn mean(c: &mut Call, x: &Value) -> Ruled<Value> {
    let axes: Vec<usize> = (2..x.rank()).collect();
    Ok(over(c, x, &axes, true, "math.mean_reduce"))
}

fn reduced_mean(c: &mut Call, x: &Value) -> Ruled<Value> {
    let given = c.ints("axes").ok_or("the attribute `axes` is missing")?;
    // As in the shape inference of onnxruntime, an empty list means all axes.
    let axes = if given.is_empty() { (0..x.rank()).collect() } else { axes(&given, x.rank())? };
    Ok(over(c, x, &axes, c.flag("keepdims", true), "math.mean_reduce"))
}

/// Since opset 13 of Softmax, the softmax is along one axis; before, along all axes from `axis` on.
fn softmax(c: &mut Call, x: &Value) -> Ruled<Value> {
    let first = axis(c.int("axis", -1), x.rank())?;
    let last = if c.int("opset", 13) < 13 { x.rank() } else { first + 1 };
    let axes: Vec<usize> = (first..last).collect();
    Ok(c.map("nn.softmax", &[("axes", axis_list(&axes))], x))
}

fn select(c: &mut Call) -> Ruled<()> {
    let (condition, like) = (c.input(0)?, c.input(1)?.element);
    let (a, b) = (numbers(c, 1)?, numbers(c, 4)?);
    let shape = broadcast(&condition.shape, &broadcast(&a.shape, &b.shape)?)?;
    let arguments = [(&condition).into(), (&a).into(), (&b).into()];
    let z = c.call("math.select", &[], &arguments, (a.element, shape));
    let z = ints(c, &z, 7, like)?;
    c.set(0, z);
    Ok(())
}

/// The attention of a projection that is computed in ints.
fn attention(c: &mut Call) -> Ruled<()> {
    let (x, w) = (c.input(0)?, c.input(1)?);
    if x.rank() != 3 || w.rank() != 2 {
        return Err("the input must have rank 3, and the weights rank 2".into());
    }
    let (x_scale, w_scale) = (scalar(c, 3)?, c.real(4)?);
    let x_zero = c.optional(6).map(|_| scalar(c, 6)).transpose()?;
    let (bias, w_zero) = (c.optional(2), c.optional(7));
    let all = scaled_product(c, (&x, &x_scale, x_zero), (&w, &w_scale, w_zero), bias)?;
    let (keys, past) = (c.optional(5), c.optional(8));
    super::fused::self_attention(c, &all, keys, past, None)
}

fn concat(c: &mut Call) -> Ruled<()> {
    let like = c.input(2)?.element;
    let parts = (2..c.inputs.len()).step_by(3).map(|at| numbers(c, at)).collect::<Ruled<Vec<_>>>()?;
    let rank = parts.first().map_or(0, |p| p.rank());
    let at = axis(c.int("axis", 0), rank)?;
    let y = joined(c, parts, at)?;
    let y = ints(c, &y, 0, like)?;
    c.set(0, y);
    Ok(())
}

/// The product of ints minus their zero points, times both scales, plus a bias.
fn scaled_product(
    c: &mut Call,
    (a, a_scale, a_zero): (&Value, &Value, Option<Value>),
    (b, b_scale, b_zero): (&Value, &Value, Option<Value>),
    bias: Option<Value>,
) -> Ruled<Value> {
    let sum = product_of_ints(c, (a, a_zero), (b, b_zero), ElementType::I64)?;
    let real = super::elementwise::to_real(c, &sum, a_scale.element);
    let factor = c.binary("math.mul", a_scale, b_scale)?;
    let mut y = c.binary("math.mul", &real, &factor)?;
    if let Some(bias) = bias {
        y = c.binary("math.add", &y, &bias)?;
    }
    Ok(y)
}

/// The product of two int matrices, with an int bias in the scale of the product. The result is quantized if it has a scale.
fn gemm(c: &mut Call) -> Ruled<()> {
    let (mut a, mut b) = (c.input(0)?, c.input(3)?);
    let (a_scale, b_scale) = (scalar(c, 1)?, c.real(4)?);
    let a_zero = c.optional(2).map(|_| scalar(c, 2)).transpose()?;
    if a.rank() != 2 || b.rank() != 2 {
        return Err("the operands are not matrices".into());
    }
    if c.flag("transA", false) {
        a = limited(c, &a);
        a = transposed(c, &a, &[1, 0]);
    }
    if c.flag("transB", false) {
        b = limited(c, &b);
        b = transposed(c, &b, &[1, 0]);
    }
    let mut sum = product_of_ints(c, (&a, a_zero), (&b, c.optional(5)), ElementType::I64)?;
    if let Some(bias) = c.optional(6) {
        let bias = c.retyped(&bias, ElementType::I64);
        sum = c.binary("math.add", &sum, &bias)?;
    }
    let real = super::elementwise::to_real(c, &sum, a_scale.element);
    let mut factor = c.binary("math.mul", &a_scale, &b_scale)?;
    let alpha = c.float("alpha", 1.0);
    if alpha != 1.0 {
        factor = c.with_number("math.mul", &factor, alpha.into());
    }
    let mut y = c.binary("math.mul", &real, &factor)?;
    if c.optional(7).is_some() {
        let like = c.optional(8).map_or(a.element, |zero| zero.element);
        y = ints(c, &y, 7, like)?;
    }
    c.set(0, y);
    Ok(())
}

/// A product with packed weights of a few bits, with a scale for each block of a row.
fn by_bits(c: &mut Call) -> Ruled<()> {
    let (a, b, scales) = (c.real(0)?, c.input(1)?, c.real(2)?);
    let (zeros, bias) = (c.optional(3), c.optional(5));
    if c.optional(4).is_some() {
        return Err("the group index `g_idx` is not supported".into());
    }
    let (bits, size) = (c.int("bits", 4), c.int("block_size", 0));
    let (rows, columns) = (c.int("N", 0), c.int("K", 0));
    if !matches!(bits, 2 | 4 | 8) || size < 1 || size * bits % 8 != 0 || rows < 1 || columns < 1 {
        return Err("these values of `bits`, `block_size`, `N` and `K` are not supported".into());
    }
    let blocks = columns / size + i64::from(columns % size != 0);
    let padded = blocks.checked_mul(size).ok_or_else(overflow)?;
    if rows.checked_mul(blocks) != scales.volume() {
        return Err("the number of scales differs from the number of blocks".into());
    }
    if bits == 4 && padded == columns && has_few_rows(&a, columns) {
        let y = by_nibbles(c, &a, (&b, &scales, zeros), (rows, blocks, size))?;
        let sum = match bias {
            Some(bias) => c.binary("math.add", &y, &bias)?,
            None => y,
        };
        c.set(0, sum);
        return Ok(());
    }
    let ints = unpacked(c, &b, (rows, padded), columns, bits)?;
    let shape = || vec![Extent::from(rows), Extent::from(blocks)];
    let zeros = match zeros {
        Some(zeros) => unpacked(c, &zeros, (rows, blocks), blocks, bits)?,
        None => {
            let middle = Item::Int(Extent::from(1i64 << (bits - 1)));
            c.known(ElementType::U8, Vec::new(), vec![middle])
        }
    };
    let scales = reshaped(c, &scales, shape());
    let [scales, zeros] = [scales, zeros].map(|parameter| match parameter.rank() {
        0 => parameter,
        _ => super::quantize::blocks(c, &parameter, 1, size, &ints),
    });
    let arguments: [Argument; 3] = [(&ints).into(), (&scales).into(), (&zeros).into()];
    let weights = (scales.element, ints.shape.clone());
    let weights = c.call("onnx.dequantize", &[], &arguments, weights);
    let trans = (false, true);
    let mut y = product_of(c, &a, &weights, trans, "linalg.matmul", a.element)?;
    if let Some(bias) = bias {
        y = c.binary("math.add", &y, &bias)?;
    }
    c.set(0, y);
    Ok(())
}

/// The maximum number of rows for which products read packed weights. More rows use weights that are unpacked once.
const MAX_PACKED_ROWS: i64 = 8;

/// Whether `a` has few rows of this length.
fn has_few_rows(a: &Value, columns: i64) -> bool {
    let is_row = a.shape.last().is_some_and(|extent| extent.is(columns));
    is_row && a.volume().is_some_and(|volume| (1..=MAX_PACKED_ROWS).contains(&(volume / columns)))
}

/// A product of a few rows, which reads packed 4-bit weights.
fn by_nibbles(
    c: &mut Call,
    a: &Value,
    (b, scales, zeros): (&Value, &Value, Option<Value>),
    (rows, blocks, size): (i64, i64, i64),
) -> Ruled<Value> {
    let extents = |extents: &[i64]| extents.iter().copied().map(Extent::from).collect::<Vec<_>>();
    // Signed 8-bit ints are stored unchanged; unsigned ones would become 64-bit ints.
    let bytes = shifted(c, b, &[rows, blocks, size / 2], 128)?;
    let zeros = match zeros {
        Some(zeros) => {
            let zeros = unpacked(c, &zeros, (rows, blocks), blocks, 4)?;
            shifted(c, &zeros, &[rows, blocks], 0)?
        }
        None => c.known(ElementType::I8, extents(&[1, 1]), vec![Item::Int(Extent::from(8))]),
    };
    let scales = reshaped(c, scales, extents(&[rows, blocks]));
    let count = a.volume().ok_or_else(overflow)? / blocks / size;
    // The elements for the lower and those for the upper halves of bytes are contiguous.
    let pairs = reshaped(c, a, extents(&[count, blocks, size / 2, 2]));
    let parts = transposed(c, &pairs, &[3, 0, 1, 2]);
    let arguments: [Argument; 4] = [(&parts).into(), (&bytes).into(), (&scales).into(), (&zeros).into()];
    let y = c.call("onnx.matmul_nibbles", &[], &arguments, (a.element, extents(&[count, rows])));
    let mut shape = a.shape.clone();
    shape.pop();
    shape.push(Extent::from(rows));
    Ok(reshaped(c, &y, shape))
}

/// The bytes of an initializer minus a number, as signed ints.
fn shifted(c: &mut Call, x: &Value, shape: &[i64], by: u8) -> Ruled<Value> {
    let unsigned = x.tensor.as_ref().filter(|t| t.element() == ElementType::U8);
    let unsigned = unsigned.ok_or("weights and zero points must be initializers of uint8")?;
    let extents: Vec<u64> = shape.iter().map(|extent| extent.cast_unsigned()).collect();
    let bytes: Vec<u8> = unsigned.bytes().iter().map(|byte| byte.wrapping_sub(by)).collect();
    let tensor = Tensor::from_bytes(ElementType::I8, &extents, &bytes);
    let tensor = tensor.map_err(|_| "the number of bytes does not match `N` and `K`")?;
    let known = crate::tensor::known(&tensor);
    let shape = shape.iter().copied().map(Extent::from).collect();
    Ok(c.importer.value(&x.onnx, ElementType::I8, shape, known, Some(std::rc::Rc::new(tensor))))
}

/// Unpacks the first `kept` ints of each row of an initializer. Rows begin at a byte.
fn unpacked(c: &mut Call, x: &Value, (rows, columns): (i64, i64), kept: i64, bits: i64) -> Ruled<Value> {
    let tensor = x.tensor.clone().filter(|t| t.element() == ElementType::U8);
    let tensor = tensor.ok_or("weights and zero points must be initializers of uint8")?;
    let size = |extent: i64| usize::try_from(extent).map_err(|_| overflow());
    let each = size(8 / bits)?;
    let length = size(columns)?.div_ceil(each);
    if size(rows)?.checked_mul(length) != Some(tensor.bytes().len()) {
        return Err("the number of bytes does not match `N` and `K`".into());
    }
    let mask = u8::try_from((1u32 << bits) - 1).unwrap_or(u8::MAX);
    let mut bytes = Vec::new();
    for row in tensor.bytes().chunks_exact(length) {
        let ints = row.iter().flat_map(|byte| {
            let shift = move |at: usize| (u32::from(*byte) >> (at * 8 / each)) as u8 & mask;
            (0..each).map(shift)
        });
        bytes.extend(ints.take(size(kept)?));
    }
    let extents = [rows.cast_unsigned(), kept.cast_unsigned()];
    let tensor = Tensor::from_bytes(ElementType::U8, &extents, &bytes);
    let tensor = tensor.map_err(|error| Reason(error.to_string()))?;
    let known = crate::tensor::known(&tensor);
    let shape = vec![Extent::from(rows), Extent::from(kept)];
    let tensor = Some(std::rc::Rc::new(tensor));
    Ok(c.importer.value(&x.onnx, ElementType::U8, shape, known, tensor))
}

fn to_float(c: &mut Call) -> Ruled<()> {
    let (a, b) = (c.input(0)?, c.input(1)?);
    let (a_scale, b_scale) = (scalar(c, 2)?, c.real(3)?);
    let (a_zero, b_zero, bias) = (c.optional(4), c.optional(5), c.optional(6));
    let y = scaled_product(c, (&a, &a_scale, a_zero), (&b, &b_scale, b_zero), bias)?;
    c.set(0, y);
    Ok(())
}

fn dynamic(c: &mut Call) -> Ruled<()> {
    let (x, b, b_scale) = (c.real(0)?, c.input(1)?, c.real(2)?);
    let (b_zero, bias) = (c.optional(3), c.optional(4));
    let types = super::quantize::dynamic_types(&x);
    let parts = c.calls("onnx.quantize_dynamically", &[], &[(&x).into()], types);
    let [a, a_scale, a_zero] = parts.as_slice() else {
        return Err("internal compiler error: the quantization does not have three results".into());
    };
    let y = scaled_product(c, (a, a_scale, Some(a_zero.clone())), (&b, &b_scale, b_zero), bias)?;
    c.set(0, y);
    Ok(())
}
