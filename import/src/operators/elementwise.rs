// SPDX-License-Identifier: Apache-2.0
//! Elementwise operators with broadcasting.

use skript_tensor::ElementType;

use super::movement::parts;
use super::{Operator, microsoft, operator};
use crate::call::{Call, broadcast, quotient, supported_type};
use crate::evaluate;
use crate::literals::{float_text, real_text};
use crate::refusal::{Reason, Ruled};
use crate::statement::Argument;
use crate::value::{Value, is_real, spelled, width};

pub const OPERATORS: &[Operator] = &[
    operator("Abs", "`math.abs`", |c| int_unary(c, "math.abs")),
    operator("Neg", "`math.neg`", |c| int_unary(c, "math.neg")),
    operator("Sign", "`onnx.sign`, `math.sign`", sign),
    operator("Sqrt", "`math.sqrt`", |c| real_unary(c, "math.sqrt")),
    operator("Exp", "`math.exp`", |c| real_unary(c, "math.exp")),
    operator("Log", "`math.log`", |c| real_unary(c, "math.log")),
    operator("Reciprocal", "`math.rcp`", |c| real_unary(c, "math.rcp")),
    operator("Sin", "`math.sin`", |c| real_unary(c, "math.sin")),
    operator("Cos", "`math.cos`", |c| real_unary(c, "math.cos")),
    operator("Tan", "`math.tan`", |c| real_unary(c, "math.tan")),
    operator("Sinh", "`math.sinh`", |c| real_unary(c, "math.sinh")),
    operator("Cosh", "`math.cosh`", |c| real_unary(c, "math.cosh")),
    operator("Tanh", "`math.tanh`", |c| real_unary(c, "math.tanh")),
    operator("Asin", "`math.asin`", |c| real_unary(c, "math.asin")),
    operator("Acos", "`math.acos`", |c| real_unary(c, "math.acos")),
    operator("Atan", "`math.atan`", |c| real_unary(c, "math.atan")),
    operator("Asinh", "`math.asinh`", |c| real_unary(c, "math.asinh")),
    operator("Acosh", "`math.acosh`", |c| real_unary(c, "math.acosh")),
    operator("Atanh", "`math.atanh`", |c| real_unary(c, "math.atanh")),
    operator("Erf", "`nn.erf`", |c| real_unary(c, "nn.erf")),
    operator("Floor", "`math.floor`", |c| real_unary(c, "math.floor")),
    operator("Ceil", "`math.ceil`", |c| real_unary(c, "math.ceil")),
    operator("Round", "`onnx.round_even`", |c| real_unary(c, "onnx.round_even")),
    operator("IsNaN", "`math.ne`", is_nan),
    operator("IsInf", "`onnx.is_inf`", is_inf),
    operator("Not", "`math.not`", |c| plain_unary(c, "math.not")),
    operator("Identity", "nothing", identity),
    operator("Relu", "`nn.relu`, `math.max`", relu),
    operator("LeakyRelu", "`nn.relu`, `onnx.leaky_relu`", leaky_relu),
    operator("PRelu", "`nn.prelu`, `onnx.prelu`", prelu),
    operator("ThresholdedRelu", "`onnx.thresholded_relu`", |c| {
        with_floats(c, "onnx.thresholded_relu", &[("alpha", 1.0)])
    }),
    operator("Elu", "`nn.elu`", |c| with_floats(c, "nn.elu", &[("alpha", 1.0)])),
    operator("Celu", "`onnx.celu`", |c| with_floats(c, "onnx.celu", &[("alpha", 1.0)])),
    operator("Selu", "`nn.selu`", selu),
    operator("Gelu", "`nn.gelu`", gelu),
    operator("Sigmoid", "`nn.sigmoid`", |c| real_unary(c, "nn.sigmoid")),
    operator("HardSigmoid", "`onnx.hard_sigmoid`", |c| {
        with_floats(c, "onnx.hard_sigmoid", &[("alpha", 0.2), ("beta", 0.5)])
    }),
    operator("HardSwish", "`onnx.hard_swish`", |c| real_unary(c, "onnx.hard_swish")),
    operator("Mish", "`onnx.mish`", |c| real_unary(c, "onnx.mish")),
    operator("Swish", "`nn.silu`, `onnx.swish`", swish),
    operator("SwiGLU", "`onnx.swish`, `math.mul`", swiglu),
    operator("Softplus", "`nn.softplus`", |c| real_unary(c, "nn.softplus")),
    operator("Softsign", "`onnx.softsign`", |c| real_unary(c, "onnx.softsign")),
    operator("Shrink", "`onnx.shrink`", shrink),
    operator("Clip", "`math.max`, `math.min`", clip),
    operator("Add", "`math.add`", |c| arithmetic(c, "math.add")),
    operator("Sub", "`math.sub`", |c| arithmetic(c, "math.sub")),
    operator("Mul", "`math.mul`", |c| arithmetic(c, "math.mul")),
    operator("Div", "`math.div`, `onnx.divide_ints`", divide),
    operator("Mod", "`math.mod`, `onnx.remainder`, `onnx.remainder_of_ints`", modulo),
    operator("Pow", "`math.pow`, `math.sqr`", power),
    operator("Max", "`math.max`", |c| variadic(c, "math.max")),
    operator("Min", "`math.min`", |c| variadic(c, "math.min")),
    operator("Sum", "`math.add`", |c| variadic(c, "math.add")),
    operator("Mean", "`math.add`, `math.div`", mean),
    operator("And", "`math.and`", |c| compare(c, "math.and")),
    operator("Or", "`math.or`", |c| compare(c, "math.or")),
    operator("Xor", "`math.xor`", |c| compare(c, "math.xor")),
    operator("Equal", "`math.eq`", |c| compare(c, "math.eq")),
    operator("Less", "`math.lt`", |c| compare(c, "math.lt")),
    operator("Greater", "`math.gt`", |c| compare(c, "math.gt")),
    operator("LessOrEqual", "`math.le`", |c| compare(c, "math.le")),
    operator("GreaterOrEqual", "`math.ge`", |c| compare(c, "math.ge")),
    operator("Where", "`math.select`", select),
    operator("Cast", "`layout.cast`, `onnx.wrap`", cast),
    operator("CastLike", "`layout.cast`, `onnx.wrap`", cast_like),
    microsoft("Gelu", "`nn.gelu`", |c| real_unary(c, "nn.gelu")),
    microsoft("QuickGelu", "`onnx.swish`", |c| with_floats(c, "onnx.swish", &[("alpha", 1.702)])),
    microsoft("FastGelu", "`nn.gelu`", fast_gelu),
    microsoft("BiasGelu", "`math.add`, `nn.gelu`", bias_gelu),
    microsoft("BiasSplitGelu", "`math.add`, `layout.split`, `nn.gelu`, `math.mul`", bias_split_gelu),
    microsoft("BiasAdd", "`math.add`", bias_add),
];

fn real_unary(c: &mut Call, operator: &str) -> Ruled<()> {
    let x = c.real(0)?;
    let y = c.map(operator, &[], &x);
    c.set(0, y);
    Ok(())
}

fn plain_unary(c: &mut Call, operator: &str) -> Ruled<()> {
    let x = c.input(0)?;
    let y = c.map(operator, &[], &x);
    c.set(0, y);
    Ok(())
}

/// In ONNX, the sign of NaN is NaN.
fn sign(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    let is_real = x.element.real().is_some();
    if x.element == ElementType::U64 {
        // Unsigned 64-bit ints may have the bits of a negative number.
        let sign = c.map("math.sign", &[], &x);
        let sign = c.map("math.abs", &[], &sign);
        c.set(0, sign);
        return Ok(());
    }
    plain_unary(c, if is_real { "onnx.sign" } else { "math.sign" })
}

/// A function whose result may exceed the range of an int type.
fn int_unary(c: &mut Call, operator: &str) -> Ruled<()> {
    let x = c.input(0)?;
    // Unsigned ints are their absolute values.
    if operator == "math.abs" && x.element == ElementType::U64 {
        c.set(0, x);
        return Ok(());
    }
    let y = c.map(operator, &[], &x);
    let y = c.wrapped(y);
    c.set(0, y);
    Ok(())
}

fn with_floats(c: &mut Call, operator: &str, floats: &[(&str, f32)]) -> Ruled<()> {
    let x = c.real(0)?;
    let attributes = floats.iter().map(|(name, default)| (*name, float_text(c.float(name, *default))));
    let attributes: Vec<_> = attributes.collect();
    let y = c.map(operator, &attributes, &x);
    c.set(0, y);
    Ok(())
}

fn identity(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    c.set(0, x);
    Ok(())
}

fn is_nan(c: &mut Call) -> Ruled<()> {
    let x = c.real(0)?;
    let y = c.call("math.ne", &[], &[(&x).into(), (&x).into()], (ElementType::Bool, x.shape.clone()));
    c.set(0, y);
    Ok(())
}

fn is_inf(c: &mut Call) -> Ruled<()> {
    let x = c.real(0)?;
    let attributes = [
        ("positive", c.flag("detect_positive", true).to_string()),
        ("negative", c.flag("detect_negative", true).to_string()),
    ];
    let y = c.call("onnx.is_inf", &attributes, &[(&x).into()], (ElementType::Bool, x.shape.clone()));
    c.set(0, y);
    Ok(())
}

fn relu(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    let y = if x.is_real() {
        c.map("nn.relu", &[], &x)
    } else {
        c.call("math.max", &[], &[(&x).into(), Argument::Number("0".into())], (x.element, x.shape.clone()))
    };
    c.set(0, y);
    Ok(())
}

fn leaky_relu(c: &mut Call) -> Ruled<()> {
    let alpha = c.float("alpha", 0.01);
    // The library's operator computes the maximum of x and alpha · x.
    let operator = if (0.0..=1.0).contains(&alpha) { "nn.relu" } else { "onnx.leaky_relu" };
    with_floats(c, operator, &[("alpha", 0.01)])
}

fn prelu(c: &mut Call) -> Ruled<()> {
    let (x, slope) = (c.input(0)?, c.input(1)?);
    let shape = broadcast(&x.shape, &slope.shape)?;
    if x.is_int() {
        let scaled = c.binary("math.mul", &x, &slope)?;
        let scaled = c.wrapped(scaled);
        // Unsigned 64-bit ints are represented by signed ints with the same bits.
        let y = match width(x.element) {
            (64, false) => x,
            _ => {
                let of_bools = (ElementType::Bool, x.shape.clone());
                let zero = Argument::Number("0".to_owned());
                let negative = c.call("math.lt", &[], &[(&x).into(), zero], of_bools);
                let arguments = [(&negative).into(), (&scaled).into(), (&x).into()];
                c.call("math.select", &[], &arguments, (x.element, shape))
            }
        };
        c.set(0, y);
        return Ok(());
    }
    let y = c.call("onnx.prelu", &[], &[(&x).into(), (&slope).into()], (x.element, shape));
    c.set(0, y);
    Ok(())
}

fn selu(c: &mut Call) -> Ruled<()> {
    let x = c.real(0)?;
    let attributes = [
        ("alpha", float_text(c.float("alpha", 1.673_263_2))),
        ("lambda", float_text(c.float("gamma", 1.050_701))),
    ];
    let y = c.map("nn.selu", &attributes, &x);
    c.set(0, y);
    Ok(())
}

fn gelu(c: &mut Call) -> Ruled<()> {
    let x = c.real(0)?;
    let y = match c.string("approximate", "none").as_str() {
        "tanh" => c.map("nn.gelu", &[("approximate", "'TANH'".into())], &x),
        "none" => c.map("nn.gelu", &[], &x),
        other => return Err(Reason(format!("the approximation {other:?} is unknown"))),
    };
    c.set(0, y);
    Ok(())
}

fn fast_gelu(c: &mut Call) -> Ruled<()> {
    let mut x = c.real(0)?;
    if let Some(bias) = c.optional(1) {
        x = c.binary("math.add", &x, &bias)?;
    }
    let y = c.map("nn.gelu", &[("approximate", "'TANH'".into())], &x);
    c.set(0, y);
    Ok(())
}

fn bias_gelu(c: &mut Call) -> Ruled<()> {
    let (x, bias) = (c.real(0)?, c.real(1)?);
    let x = c.binary("math.add", &x, &bias)?;
    let y = c.map("nn.gelu", &[], &x);
    c.set(0, y);
    Ok(())
}

/// The first half of the features times the activation of the second half, after a bias.
fn bias_split_gelu(c: &mut Call) -> Ruled<()> {
    let (x, bias) = (c.real(0)?, c.real(1)?);
    let x = c.binary("math.add", &x, &bias)?;
    let at = x.rank().checked_sub(1).ok_or("the input is a scalar")?;
    let half = quotient("the number of features", &x.extent(at), 2)?;
    let halves = parts(c, &x, at, &[half.clone(), half]);
    let [a, gate] = halves.as_slice() else {
        return Err("internal compiler error: the features do not have two halves".into());
    };
    let gate = c.map("nn.gelu", &[], gate);
    let y = c.binary("math.mul", a, &gate)?;
    c.set(0, y);
    Ok(())
}

fn bias_add(c: &mut Call) -> Ruled<()> {
    let (x, bias, skip) = (c.real(0)?, c.real(1)?, c.real(2)?);
    let sum = c.binary("math.add", &x, &bias)?;
    let y = c.binary("math.add", &sum, &skip)?;
    c.set(0, y);
    Ok(())
}

fn swish(c: &mut Call) -> Ruled<()> {
    match c.float("alpha", 1.0) {
        1.0 => real_unary(c, "nn.silu"),
        _ => with_floats(c, "onnx.swish", &[("alpha", 1.0)]),
    }
}

fn swiglu(c: &mut Call) -> Ruled<()> {
    let (a, b) = (c.real(0)?, c.real(1)?);
    let gate = c.map("onnx.swish", &[("alpha", float_text(c.float("alpha", 1.0)))], &a);
    let y = c.binary("math.mul", &gate, &b)?;
    c.set(0, y);
    Ok(())
}

fn shrink(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    // Ints are computed as reals and truncated.
    let computed = if x.is_real() { x.element } else { ElementType::F64 };
    let attributes = [
        ("lambda", real_text(computed, c.float("lambd", 0.5).into())),
        ("bias", real_text(computed, c.float("bias", 0.0).into())),
    ];
    let reals = converted(c, &x, computed)?;
    let y = c.map("onnx.shrink", &attributes, &reals);
    let y = converted(c, &y, x.element)?;
    c.set(0, y);
    Ok(())
}

/// The limits are attributes before opset 11, and inputs since.
fn clip(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    let limit = |c: &mut Call, at: usize, name: &str| -> Option<Argument> {
        if c.opset >= 11 {
            let limit = c.optional(at)?;
            return Some(Argument::from(&c.ordered(&limit)));
        }
        c.has(name).then(|| Argument::Number(float_text(c.float(name, 0.0))))
    };
    let mut y = c.ordered(&x);
    let of_type = (y.element, x.shape.clone());
    if let Some(low) = limit(c, 1, "min") {
        y = c.call("math.max", &[], &[(&y).into(), low], of_type.clone());
    }
    if let Some(high) = limit(c, 2, "max") {
        y = c.call("math.min", &[], &[(&y).into(), high], of_type);
    }
    y = c.unordered(y, x.element);
    c.set(0, y);
    Ok(())
}

fn arithmetic(c: &mut Call, operator: &str) -> Ruled<()> {
    let (x, y) = (c.input(0)?, c.input(1)?);
    let z = c.binary(operator, &x, &y)?;
    let z = c.wrapped(z);
    c.set(0, z);
    Ok(())
}

fn divide(c: &mut Call) -> Ruled<()> {
    let (x, y) = (c.input(0)?, c.input(1)?);
    if x.is_real() {
        return arithmetic(c, "math.div");
    }
    let operator = match width(x.element) {
        (_, true) => "onnx.divide_ints",
        (64, false) => "onnx.divide_unsigned",
        (_, false) => "math.div",
    };
    let z = c.binary(operator, &x, &y)?;
    let z = c.wrapped(z);
    c.set(0, z);
    Ok(())
}

fn modulo(c: &mut Call) -> Ruled<()> {
    let (x, y) = (c.input(0)?, c.input(1)?);
    let z = match (c.flag("fmod", false), x.is_real()) {
        _ if x.element == ElementType::U64 => {
            let quotient = c.binary("onnx.divide_unsigned", &x, &y)?;
            let whole = c.binary("math.mul", &quotient, &y)?;
            c.binary("math.sub", &x, &whole)?
        }
        (true, true) => c.binary("onnx.remainder", &x, &y)?,
        (true, false) => c.binary("onnx.remainder_of_ints", &x, &y)?,
        (false, _) => c.binary("math.mod", &x, &y)?,
    };
    c.set(0, z);
    Ok(())
}

fn power(c: &mut Call) -> Ruled<()> {
    let (x, y) = (c.input(0)?, c.input(1)?);
    let two = y.rank() == 0 && (y.reals() == Some(vec![2.0]) || y.numbers() == Some(vec![2]));
    let z = match (x.is_real(), y.is_real()) {
        (true, _) if two => c.map("math.sqr", &[], &x),
        (true, true) | (false, false) => c.binary("math.pow", &x, &y)?,
        (true, false) => {
            let y = to_real(c, &y, x.element);
            c.binary("math.pow", &x, &y)?
        }
        (false, true) => {
            let (_, signed) = width(x.element);
            if !signed && x.element != ElementType::U8 {
                return Err("an unsigned base with a real exponent is not supported".into());
            }
            let base = to_real(c, &x, y.element);
            let z = c.binary("math.pow", &base, &y)?;
            c.call("layout.cast<int>", &[], &[(&z).into()], (x.element, z.shape.clone()))
        }
    };
    let z = c.wrapped(z);
    c.set(0, z);
    Ok(())
}

/// Converts an int tensor to reals.
pub(super) fn to_real(c: &mut Call, x: &Value, element: ElementType) -> Value {
    let operator = match x.element {
        ElementType::U64 => "onnx.unsigned_to_real",
        _ => "layout.cast<real>",
    };
    c.call(operator, &[], &[x.into()], (element, x.shape.clone()))
}

fn variadic(c: &mut Call, operator: &str) -> Ruled<()> {
    let first = c.input(0)?;
    let is_order = operator != "math.add";
    let mut all = if is_order { c.ordered(&first) } else { first.clone() };
    for at in 1..c.inputs.len() {
        let mut next = c.input(at)?;
        if is_order {
            next = c.ordered(&next);
        }
        all = c.binary(operator, &all, &next)?;
    }
    if is_order {
        all = c.unordered(all, first.element);
    }
    let all = c.wrapped(all);
    c.set(0, all);
    Ok(())
}

fn mean(c: &mut Call) -> Ruled<()> {
    c.real(0)?;
    variadic(c, "math.add")?;
    let Some(Some(sum)) = c.results.first().cloned() else {
        return Ok(());
    };
    let count = u32::try_from(c.inputs.len()).map_err(|_| "it has too many inputs")?;
    let y = c.with_number("math.div", &sum, count.into());
    c.set(0, y);
    Ok(())
}

fn compare(c: &mut Call, operator: &str) -> Ruled<()> {
    let (x, y) = (c.input(0)?, c.input(1)?);
    let [x, y] = [x, y].map(|x| c.ordered(&x));
    let shape = broadcast(&x.shape, &y.shape)?;
    let z = c.call(operator, &[], &[(&x).into(), (&y).into()], (ElementType::Bool, shape));
    c.set(0, z);
    Ok(())
}

fn select(c: &mut Call) -> Ruled<()> {
    let (condition, x, y) = (c.input(0)?, c.input(1)?, c.input(2)?);
    let shape = broadcast(&condition.shape, &broadcast(&x.shape, &y.shape)?)?;
    let z = c.call("math.select", &[], &[(&condition).into(), (&x).into(), (&y).into()], (x.element, shape));
    c.set(0, z);
    Ok(())
}

/// The element type names in operator sets before 6, with the numbers that replaced them.
const CAST_NAMES: [(&str, i32); 12] = [
    ("FLOAT", 1),
    ("UINT8", 2),
    ("INT8", 3),
    ("UINT16", 4),
    ("INT16", 5),
    ("INT32", 6),
    ("INT64", 7),
    ("BOOL", 9),
    ("FLOAT16", 10),
    ("DOUBLE", 11),
    ("UINT32", 12),
    ("UINT64", 13),
];

fn cast(c: &mut Call) -> Ruled<()> {
    let to = if c.opset < 6 {
        let name = c.string("to", "");
        let named = CAST_NAMES.iter().find(|(known, _)| *known == name);
        let (_, number) =
            named.ok_or_else(|| Reason(format!("the element type {name:?} is not supported")))?;
        supported_type((*number).into())?
    } else {
        c.element_type("to", 0)?
    };
    let x = c.input(0)?;
    let y = converted(c, &x, to)?;
    c.set(0, y);
    Ok(())
}

fn cast_like(c: &mut Call) -> Ruled<()> {
    let (x, like) = (c.input(0)?, c.input(1)?);
    let y = converted(c, &x, like.element)?;
    c.set(0, y);
    Ok(())
}

/// Converts a tensor to another element type.
pub(super) fn converted(c: &mut Call, x: &Value, to: ElementType) -> Ruled<Value> {
    let from = x.element;
    if from == to {
        return Ok(x.clone());
    }
    if x.tensor.is_some() && x.is_real() && is_real(to) && to.size() > from.size() && is_array(x) {
        // Weights keep their narrow storage type.
        return Ok(c.alias(x, to));
    }
    if let Some(items) = evaluate::converted(x, to) {
        return Ok(c.known(to, x.shape.clone(), items));
    }
    if spelled(from) == spelled(to) {
        if !x.is_real() {
            return if holds(to, from) { Ok(c.retyped(x, to)) } else { Ok(c.wrapped_as(x, to)) };
        }
        // Rounding to a narrower type is added later, when all types of the model are known.
        return Ok(c.retyped(x, to));
    }
    if x.is_int() && is_real(to) {
        return Ok(to_real(c, x, to));
    }
    let operator = match to {
        ElementType::U64 if x.is_real() => "onnx.real_to_unsigned".to_owned(),
        _ => format!("layout.cast<{}>", spelled(to)),
    };
    // The conversion of reals outside the range of an int type is undefined.
    Ok(c.call(&operator, &[], &[x.into()], (to, x.shape.clone())))
}

/// Whether a tensor is larger than typical parameters such as scales.
fn is_array(x: &Value) -> bool {
    x.volume().is_none_or(|count| count > 64)
}

/// Whether an int type represents all values of another int type.
fn holds(to: ElementType, from: ElementType) -> bool {
    let ((to_bits, to_signed), (bits, signed)) = (width(to), width(from));
    match (to_signed, signed) {
        (true, true) | (false, false) => to_bits >= bits,
        (true, false) => to_bits > bits,
        (false, true) => false,
    }
}
