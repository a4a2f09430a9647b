// SPDX-License-Identifier: Apache-2.0
//! Intrinsics in derivatives: formulas for those that have derivatives, and invocations in documents.
//!
//! The formulas hold for the results of the intrinsic, which they may read: the elements that `top_k` returns are those at the positions that
//! it returns. So their derivatives, as of any formula, are those of the intrinsic.

use crate::expr::apply;
use crate::formula::{access, all_indices, assignment};
use crate::text::literal;
use skript_frontend::model::{
    Accumulation, AttributeValue, Body, ConstantData, Expr, Extent, Formula, FormulaIndex, Function, Init,
    Target, TensorType, Value, ValueId,
};
use skript_intrinsics::{Call, Intrinsic, resample};
use skript_semantics::{Scalar, ScalarKind, ScalarOp};

/// The function with formulas for its results; `None` if it is not an intrinsic with derivatives.
pub fn with_formulas(function: &Function) -> Option<Function> {
    if !matches!(function.body, Body::Intrinsic) {
        return None;
    }
    let mut result = function.clone();
    let formulas = match Intrinsic::named(&function.name)? {
        Intrinsic::LargestElements => vec![largest(function)?],
        Intrinsic::CubicResize => resized(&mut result)?,
        // A formula may round the borders of bins to other elements than the intrinsic does.
        Intrinsic::RegionMean
        | Intrinsic::RegionMaximum
        | Intrinsic::SuppressedBoxes
        | Intrinsic::NonzeroPositions
        | Intrinsic::CubicSample
        | Intrinsic::Uniform
        | Intrinsic::Normal
        | Intrinsic::Bernoulli => return None,
    };
    result.body = Body::Formulas(formulas);
    Some(result)
}

/// The module of an intrinsic, and the operator with its attributes, `algo.top_k{k=2}`; `None` if a document cannot invoke it.
pub fn invocation(function: &Function) -> Option<(String, String)> {
    let (module, name) = function.name.rsplit_once('.')?;
    let is_public = Intrinsic::named(&function.name).is_some() && !name.starts_with('_');
    if !is_public || !matches!(function.body, Body::Intrinsic) {
        return None;
    }
    let given = function.attributes.iter().filter(|(_, value)| *value != AttributeValue::Null);
    let attribute =
        |(name, value): &(String, AttributeValue)| Some(format!("{name}={}", attribute_text(value)?));
    let attributes: Option<Vec<String>> = given.map(attribute).collect();
    let attributes = attributes?.join(", ");
    let braced = if attributes.is_empty() { attributes } else { format!("{{{attributes}}}") };
    Some((module.to_owned(), format!("{}{braced}", function.name)))
}

fn attribute_text(value: &AttributeValue) -> Option<String> {
    Some(match value {
        AttributeValue::Bool(value) => literal(Scalar::Bool(*value)),
        AttributeValue::Int(value) => literal(Scalar::Int(*value)),
        AttributeValue::Real(value) => literal(Scalar::Real(*value)),
        AttributeValue::Str(text) if !text.contains(['\'', '\\']) => format!("'{text}'"),
        AttributeValue::List(items) => {
            let items: Option<Vec<String>> = items.iter().map(attribute_text).collect();
            format!("[{}]", items?.join(", "))
        }
        _ => return None,
    })
}

fn values_of(function: &Function) -> (Vec<ValueId>, Vec<ValueId>) {
    let values = |ports: &[skript_frontend::model::Port]| {
        ports.iter().flat_map(|port| port.tensors.values()).copied().collect()
    };
    (values(&function.inputs), values(&function.outputs))
}

fn shape_of(function: &Function, value: ValueId) -> Option<&[Extent]> {
    function.values.get(value.0 as usize).map(|value| value.tensor.shape.as_slice())
}

fn whole(function: &Function, output: ValueId, value: Expr) -> Option<Formula> {
    let indices = FormulaIndex::over(shape_of(function, output)?);
    let subscripts = all_indices(&indices);
    let init = Init::Fill(Scalar::Real(0.0));
    Some(assignment(indices, Target { output, subscripts, value, init }, function.span))
}

/// `values[i, k, j] = input[i, positions[i, k, j], j]` along the axis.
fn largest(function: &Function) -> Option<Formula> {
    let (inputs, outputs) = values_of(function);
    let ([input, ..], [values, positions]) = (inputs.as_slice(), outputs.as_slice()) else {
        return None;
    };
    let element = all_indices(&FormulaIndex::over(shape_of(function, *values)?));
    let call = Call { attributes: &attributes(function), inputs: &[], outputs: &[], seed: 0 };
    let axis = skript_intrinsics::axis(call.int("axis").ok()?, element.len())?;
    let mut source = element.clone();
    *source.get_mut(axis)? = access(*positions, ScalarKind::Int, element);
    whole(function, *values, access(*input, ScalarKind::Real, source))
}

/// The attributes, as kernels receive them.
fn attributes(function: &Function) -> Vec<(String, skript_intrinsics::Value)> {
    let named = function.attributes.iter();
    named.map(|(name, value)| (name.clone(), kernel_value(value))).collect()
}

fn kernel_value(value: &AttributeValue) -> skript_intrinsics::Value {
    use skript_intrinsics::Value;
    match value {
        AttributeValue::Null => Value::Null,
        AttributeValue::Bool(value) => Value::Bool(*value),
        AttributeValue::Int(value) => Value::Int(*value),
        AttributeValue::Real(value) => Value::Real(*value),
        AttributeValue::Str(text) => Value::Str(text.clone()),
        AttributeValue::List(items) => Value::List(items.iter().map(kernel_value).collect()),
        AttributeValue::Unknown | AttributeValue::Run { .. } => Value::Unknown,
    }
}

/// For each axis, `y[i, o, j] += x[i, positions[o, t], j] * weights[o, t]`.
fn resized(function: &mut Function) -> Option<Vec<Formula>> {
    let (inputs, outputs) = values_of(function);
    let ([input], [output]) = (inputs.as_slice(), outputs.as_slice()) else {
        return None;
    };
    let fixed = |value| shape_of(function, value)?.iter().map(Extent::fixed).collect::<Option<Vec<u64>>>();
    let (mut shape, sizes) = (fixed(*input)?, fixed(*output)?);
    let attributes = attributes(function);
    let call = Call { attributes: &attributes, inputs: &[], outputs: &[], seed: 0 };
    let axes = call.ints("axes").ok()?;
    let (mut formulas, mut source) = (Vec::new(), *input);
    for (at, axis) in axes.iter().enumerate() {
        let axis = skript_intrinsics::axis(*axis, shape.len())?;
        let (extent, size) = (*shape.get(axis)?, *sizes.get(axis)?);
        let taps = resample::taps(&call, usize::try_from(extent).ok()?, usize::try_from(size).ok()?).ok()?;
        *shape.get_mut(axis)? = size;
        let is_last = at + 1 == axes.len();
        let target = if is_last { *output } else { tensor(function, "resized", ScalarKind::Real, &shape) };
        formulas.push(along(function, (source, target), (axis, &shape), &taps)?);
        source = target;
    }
    if axes.is_empty() {
        let element = all_indices(&FormulaIndex::over(shape_of(function, *output)?));
        formulas.push(whole(function, *output, access(*input, ScalarKind::Real, element))?);
    }
    Some(formulas)
}

fn tensor(function: &mut Function, name: &str, kind: ScalarKind, shape: &[u64]) -> ValueId {
    let extents = shape.iter().copied().map(Extent::Fixed).collect();
    let (tensor, span) = (TensorType { kind, shape: extents }, function.span);
    function.values.push(Value { name: Some(name.to_owned()), tensor, wide: false, storage: None, span });
    ValueId(u32::try_from(function.values.len() - 1).unwrap_or(u32::MAX))
}

/// The sum of weighted elements along an axis; a position with fewer elements has some of weight 0.
fn along(
    function: &mut Function,
    (source, target): (ValueId, ValueId),
    (axis, shape): (usize, &[u64]),
    taps: &[Vec<(usize, f64)>],
) -> Option<Formula> {
    let count = taps.iter().map(Vec::len).fold(0, usize::max);
    let padded = |taps: &Vec<(usize, f64)>| -> Vec<(usize, f64)> {
        taps.iter().copied().chain(std::iter::repeat((0, 0.0))).take(count).collect()
    };
    let all: Vec<(usize, f64)> = taps.iter().flat_map(padded).collect();
    let extents = [taps.len() as u64, count as u64];
    let positions = tensor(function, "positions", ScalarKind::Int, &extents);
    let weights = tensor(function, "weights", ScalarKind::Real, &extents);
    let elements: Option<Vec<i64>> = all.iter().map(|(position, _)| i64::try_from(*position).ok()).collect();
    function.constants.push((positions, ConstantData::Int(elements?)));
    function.constants.push((weights, ConstantData::Real(all.iter().map(|(_, weight)| *weight).collect())));
    let mut indices = FormulaIndex::over(&shape.iter().copied().map(Extent::Fixed).collect::<Vec<_>>());
    let subscripts = all_indices(&indices);
    let tap = vec![Expr::index(axis), Expr::index(indices.len())];
    indices.push(FormulaIndex { name: "t".to_owned(), extent: Extent::Fixed(count as u64) });
    let mut element = subscripts.clone();
    *element.get_mut(axis)? = access(positions, ScalarKind::Int, tap.clone());
    let weight = access(weights, ScalarKind::Real, tap);
    let value = apply(ScalarOp::Mul, vec![access(source, ScalarKind::Real, element), weight]);
    let init = Init::Fill(Scalar::Real(0.0));
    let target = Target { output: target, subscripts, value, init };
    Some(Formula { kind: Accumulation::Sum, ..assignment(indices, target, function.span) })
}
