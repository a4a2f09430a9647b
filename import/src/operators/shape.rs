// SPDX-License-Identifier: Apache-2.0
//! Shapes as tensors, constants, ranges and random tensors.

use skript_tensor::ElementType;

use super::elementwise::converted;
use super::{Operator, operator};
use crate::call::Call;
use crate::extent::Extent;
use crate::literals::{extent_list, float_text, real_text};
use crate::proto::TensorProto;
use crate::refusal::{Reason, Ruled, overflow};
use crate::statement::marked;
use crate::value::{Item, MAX_KNOWN, Value, signed_length, spelled};

pub const OPERATORS: &[Operator] = &[
    operator("Shape", "known at import", shape),
    operator("Size", "known at import", size),
    operator("Constant", "a constant, or an array of the weights", constant),
    operator("ConstantOfShape", "`layout.constant`", constant_of_shape),
    operator("Range", "`onnx.range`", range),
    operator("EyeLike", "`onnx.eye`", eye_like),
    operator("RandomNormal", "`rand.normal`", normal),
    operator("RandomNormalLike", "`rand.normal`", normal),
    operator("RandomUniform", "`rand.uniform`", uniform),
    operator("RandomUniformLike", "`rand.uniform`", uniform),
    operator("Bernoulli", "`rand.uniform`, `math.lt`", bernoulli),
    operator("HannWindow", "`onnx.cosine_window`", |c| window(c, [0.5, -0.5, 0.0])),
    operator("HammingWindow", "`onnx.cosine_window`", |c| window(c, [25.0 / 46.0, -21.0 / 46.0, 0.0])),
    operator("BlackmanWindow", "`onnx.cosine_window`", |c| window(c, [0.42, -0.5, 0.08])),
];

/// The element type of the attribute `dtype`; `default` if it is absent or 0.
fn type_or(c: &Call, default: ElementType) -> Ruled<ElementType> {
    if c.int("dtype", 0) == 0 { Ok(default) } else { c.element_type("dtype", 0) }
}

/// The element type of random numbers: the attribute `dtype` or, without it, the type of the input.
fn random_type(c: &Call) -> Ruled<ElementType> {
    let like = c.optional(0).map_or(ElementType::F32, |x| x.element);
    let element = type_or(c, like)?;
    match element.real() {
        Some(_) => Ok(element),
        None => Err("random numbers that are not reals are not supported".into()),
    }
}

/// Random numbers, which are the same in each call. ONNX does not define which numbers follow from a seed.
fn random(c: &mut Call, operator: &str, names: [(&'static str, &str, f32); 2]) -> Ruled<()> {
    let element = random_type(c)?;
    let shape = match (c.optional(0), c.ints("shape")) {
        (Some(like), _) => like.shape.clone(),
        (None, Some(shape)) => shape.into_iter().map(Extent::from).collect(),
        (None, None) => return Err("the attribute `shape` is missing".into()),
    };
    let [first, second] = names.map(|(ours, name, default)| (ours, float_text(c.float(name, default))));
    let attributes = [first, second, ("shape", extent_list(&shape))];
    let y = c.call(operator, &attributes, &[], (element, shape));
    c.set(0, y);
    Ok(())
}

fn normal(c: &mut Call) -> Ruled<()> {
    random(c, "rand.normal", [("mean", "mean", 0.0), ("std", "scale", 1.0)])
}

fn uniform(c: &mut Call) -> Ruled<()> {
    random(c, "rand.uniform", [("min", "low", 0.0), ("max", "high", 1.0)])
}

/// Whether a random number is less than the probability.
fn bernoulli(c: &mut Call) -> Ruled<()> {
    let x = c.real(0)?;
    let to = type_or(c, x.element)?;
    let attributes = [("shape", extent_list(&x.shape))];
    let numbers = c.call("rand.uniform", &attributes, &[], (x.element, x.shape.clone()));
    let of_type = (ElementType::Bool, x.shape.clone());
    let is_below = c.call("math.lt", &[], &[(&numbers).into(), (&x).into()], of_type);
    let y = converted(c, &is_below, to)?;
    c.set(0, y);
    Ok(())
}

fn shape(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    let rank = signed_length(x.rank());
    let from_zero = |at: i64| if at < 0 { at.saturating_add(rank) } else { at };
    let selected = from_zero(c.int("start", 0))..from_zero(c.int("end", rank));
    let extents = (0..rank).zip(&x.shape).filter(|(axis, _)| selected.contains(axis));
    let y = c.known_extents(extents.map(|(_, extent)| extent.clone()).collect());
    c.set(0, y);
    Ok(())
}

fn size(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    let volume = Extent::product(&x.shape).ok_or_else(overflow)?;
    let y = c.known(ElementType::I64, Vec::new(), vec![Item::Int(volume)]);
    c.set(0, y);
    Ok(())
}

fn constant(c: &mut Call) -> Ruled<()> {
    let attribute = c.node.attribute.first().cloned().ok_or("it has no value")?;
    let count = |n: usize| vec![Extent::from(signed_length(n))];
    let real = |v: f32| Item::Real(v.into());
    let int = |v: i64| Item::Int(Extent::from(v));
    let value = match attribute.name.as_str() {
        "value" => {
            let mut tensor: TensorProto = attribute.t.ok_or("it has no value")?;
            tensor.name = c.node.output.first().cloned().ok_or("it has no output")?;
            c.importer.tensor(&mut tensor).map_err(Reason)?
        }
        "value_int" => c.known(ElementType::I64, Vec::new(), vec![int(attribute.i)]),
        "value_float" => c.known(ElementType::F32, Vec::new(), vec![real(attribute.f)]),
        "value_ints" if attribute.ints.len() <= MAX_KNOWN => {
            let items = attribute.ints.iter().copied().map(int).collect();
            c.known(ElementType::I64, count(attribute.ints.len()), items)
        }
        "value_floats" if attribute.floats.len() <= MAX_KNOWN => {
            let items = attribute.floats.iter().copied().map(real).collect();
            c.known(ElementType::F32, count(attribute.floats.len()), items)
        }
        other => {
            return Err(Reason(format!("a constant given as `{other}` is not supported")));
        }
    };
    c.set(0, value);
    Ok(())
}

fn constant_of_shape(c: &mut Call) -> Ruled<()> {
    let shape = c.extents(0, "the shape")?;
    let attribute = c.node.attribute.iter().find(|a| a.name == "value").cloned();
    let fill = match attribute.and_then(|a| a.t) {
        Some(mut tensor) => c.importer.tensor(&mut tensor).map_err(Reason)?,
        None => c.known(ElementType::F32, Vec::new(), vec![Item::Real(0.0)]),
    };
    let (item, is_known) = match (fill.known.as_deref(), &fill.tensor) {
        (Some([item]), _) => (item.clone(), true),
        // An unsigned int that does not fit into signed ints is represented by its bits.
        (None, Some(tensor)) if tensor.element() == ElementType::U64 => {
            let bits: [u8; 8] =
                tensor.bytes().try_into().map_err(|_| "the value does not have one element")?;
            (Item::Int(Extent::from(i64::from_le_bytes(bits))), false)
        }
        _ => return Err("the value does not have one element".into()),
    };
    let volume = Extent::product(&shape).and_then(|v| v.value()).and_then(|v| usize::try_from(v).ok());
    if let Some(volume) = volume.filter(|v| is_known && *v <= MAX_KNOWN) {
        let y = c.known(fill.element, shape, vec![item; volume]);
        c.set(0, y);
        return Ok(());
    }
    let value = literal(fill.element, &item)?;
    let attributes = [("shape", extent_list(&shape)), ("value", value)];
    let y = c.call("onnx.fill", &attributes, &[], (fill.element, shape));
    c.set(0, y);
    Ok(())
}

fn literal(element: ElementType, item: &Item) -> Ruled<String> {
    Ok(match item {
        Item::Bool(value) => value.to_string(),
        Item::Real(value) => real_text(element, *value),
        Item::Int(value) => marked(value),
    })
}

/// The vector 0, 1, … of `count` elements.
pub(super) fn indices(c: &mut Call, count: &Extent) -> Value {
    let attributes = [("first", "0".to_owned()), ("step", "1".to_owned()), ("count", marked(count))];
    c.call("onnx.range", &attributes, &[], (ElementType::I64, vec![count.clone()]))
}

fn range(c: &mut Call) -> Ruled<()> {
    let start = c.input(0)?;
    let what = "the begin, the end and the step";
    if start.is_real() {
        let number = |at: usize| -> Ruled<f64> {
            let known = c.reals(at, what)?.first().copied();
            known.ok_or_else(|| Reason("a number is missing".to_owned()))
        };
        let (first, last, step) = (number(0)?, number(1)?, number(2)?);
        let count = ((last - first) / step).ceil().max(0.0);
        if !(step != 0.0 && count <= 1e9) {
            return Err("the number of elements is not supported".into());
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most 1e9")]
        let count = count as i64;
        let attributes = [
            ("first", real_text(start.element, first)),
            ("step", real_text(start.element, step)),
            ("count", count.to_string()),
        ];
        let y = c.call("onnx.range", &attributes, &[], (start.element, vec![Extent::from(count)]));
        c.set(0, y);
        return Ok(());
    }
    let number = |at: usize| -> Ruled<Extent> {
        let list = c.extents(at, what)?;
        list.first().cloned().ok_or_else(|| Reason("a number is missing".to_owned()))
    };
    let (first, last, step) = (number(0)?, number(1)?, number(2)?);
    let length = last.minus(&first).ok_or_else(overflow)?;
    let one = Extent::from(1);
    let count = match (length.value(), step.value()) {
        (_, Some(0)) | (_, None) => return Err("the step must be a number that is not zero".into()),
        (Some(length), Some(step)) => {
            let up = |a: i64, b: i64| a.checked_add(b - 1).map(|s| s / b);
            let count = if step > 0 {
                up(length.max(0), step)
            } else {
                up(length.min(0).saturating_neg(), step.saturating_neg())
            };
            Extent::from(count.ok_or_else(overflow)?)
        }
        (None, Some(1)) => length,
        (None, Some(step)) if step > 0 => {
            let more = length.plus(&Extent::from(step - 1)).ok_or_else(overflow)?;
            more.over(&Extent::from(step)).ok_or_else(overflow)?
        }
        (None, Some(_)) => {
            return Err("a descending range of dynamic length is not supported".into());
        }
    };
    if let Some(n) = count.value().and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= 64) {
        let mut items = Vec::new();
        let mut next = first;
        for _ in 0..n {
            items.push(Item::Int(next.clone()));
            next = next.plus(&step).ok_or_else(overflow)?;
        }
        let y = c.known(start.element, vec![count], items);
        c.set(0, y);
        return Ok(());
    }
    let mut attributes = Vec::new();
    attributes.push(("first", marked(&first)));
    attributes.push(("step", if step == one { "1".to_owned() } else { marked(&step) }));
    attributes.push(("count", marked(&count)));
    let y = c.call("onnx.range", &attributes, &[], (start.element, vec![count]));
    c.set(0, y);
    Ok(())
}

fn eye_like(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    let kind = type_or(c, x.element)?;
    if x.rank() != 2 {
        return Err("the input is not a matrix".into());
    }
    let attributes = [("shape", extent_list(&x.shape)), ("offset", c.int("k", 0).to_string())];
    let operator = format!("onnx.eye<{}>", spelled(kind));
    let y = c.call(&operator, &attributes, &[], (kind, x.shape.clone()));
    c.set(0, y);
    Ok(())
}

fn window(c: &mut Call, weights: [f64; 3]) -> Ruled<()> {
    let size = c.numbers(0, "the size")?;
    let [size] = size.as_slice() else {
        return Err("the size is not one number".into());
    };
    let kind = c.element_type("output_datatype", 1)?;
    let periodic = c.flag("periodic", true);
    let divisor = if periodic { *size } else { size.saturating_sub(1) };
    let [a, b, d] = weights;
    #[expect(clippy::cast_possible_truncation, reason = "constants of the language are decimal")]
    let text = |v: f64| float_text(v as f32);
    let attributes = [
        ("size", size.to_string()),
        ("period", divisor.to_string()),
        ("a", text(a)),
        ("b", text(b)),
        ("c", text(d)),
    ];
    let y: Value = c.call("onnx.cosine_window", &attributes, &[], (kind, vec![Extent::from(*size)]));
    c.set(0, y);
    Ok(())
}
