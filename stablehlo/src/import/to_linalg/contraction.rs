// SPDX-License-Identifier: Apache-2.0
//! Converts sums of products: `dot_general` and `convolution`.
use super::constant;
use super::operation::{SourceOp, Tensor, Values};
use super::reduce::{accumulator, moved, product, slid, zeros};
use super::shape::{Border, padded, reversed};
use melior::ir::operation::OperationLike;
use melior::ir::{Value, ValueLike};
use skript_dialect::PassError;
use skript_dialect::melior;
use skript_passes::ir::generic::{Access, all_loops, generic};
use skript_passes::ir::types;
use skript_symbolic::Affine;

pub(crate) fn dot_general<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let (lhs, rhs, result) = (source.operand(0)?, source.operand(1)?, source.result()?);
    let list = |key: &str| source.numbers("dot_dimension_numbers", key);
    let [lhs_batch, rhs_batch] = ["lhs_batching_dimensions", "rhs_batching_dimensions"].map(list);
    let [lhs_sums, rhs_sums] = ["lhs_contracting_dimensions", "rhs_contracting_dimensions"].map(list);
    // The loops are those over the dimensions of the result, then those over the contracted dimensions.
    let (mut free, reductions) = (lhs_batch.len().., lhs_sums.len());
    let mut index = |tensor: &Tensor, batch: &[i64], sums: &[i64]| -> Vec<Affine> {
        let position = |list: &[i64], d: i64| list.iter().position(|x| *x == d);
        let loops = (0..).take(tensor.rank()).filter_map(|d| {
            let sum = || position(sums, d).map(|n| result.rank() + n);
            position(batch, d).or_else(sum).or_else(|| free.next())
        });
        loops.map(Affine::index).collect()
    };
    let inputs = [
        Access(source.value(0)?, index(lhs, &lhs_batch, &lhs_sums)),
        Access(source.value(1)?, index(rhs, &rhs_batch, &rhs_sums)),
    ];
    let sum = summed(source, &inputs, &result.extents, reductions)?;
    let r#type = source.result_type()?;
    if sum.r#type() == r#type {
        return Ok(vec![sum]);
    }
    Ok(vec![moved(sum, all_loops(result.rank()), r#type, &source.at)?])
}

/// The sums of the products of two inputs, in the accumulator type. The loops over the dimensions of the sums come first.
fn summed<'c, 'a>(
    source: &SourceOp<'c, 'a>,
    inputs: &[Access<'c, 'a>; 2],
    extents: &[i64],
    reductions: usize,
) -> Result<Value<'c, 'a>, PassError> {
    let at = &source.at;
    let rank = extents.len();
    let init = Access(zeros(extents, accumulator(source.result()?.element), at)?, all_loops(rank));
    let reductions: Vec<bool> = (0..rank + reductions).map(|l| l >= rank).collect();
    let op = generic(at, inputs, &[init], &reductions, |body, elements| product(elements, body))?;
    Ok(at.result(op, 0))
}

/// The labels of the dimensions, as in `[b, f, 0, 1]`.
pub(crate) struct Labels(Vec<String>);

impl Labels {
    /// The position of the dimension with a label.
    pub(crate) fn position(&self, label: &str) -> Result<usize, PassError> {
        let at = self.0.iter().position(|l| l == label);
        at.ok_or_else(|| format!("has no dimension {label}").into())
    }

    /// The extent of the dimension with a label.
    pub(crate) fn extent(&self, label: &str, tensor: &Tensor) -> Result<i64, PassError> {
        let extent = tensor.extents.get(self.position(label)?);
        extent.copied().ok_or_else(|| format!("has no dimension {label}").into())
    }

    /// The subscripts of all dimensions, from the subscripts of each label.
    fn indices(
        &self,
        subscripts: impl Fn(Label) -> Result<Vec<Affine>, PassError>,
    ) -> Result<Vec<Affine>, PassError> {
        let each = |text: &String| subscripts(text.parse().map_or(Label::Named(text), Label::Space));
        Ok(self.0.iter().map(each).collect::<Result<Vec<_>, _>>()?.concat())
    }
}

/// The label of a dimension: a letter, or the number of a spatial dimension.
enum Label<'t> {
    Named(&'t str),
    Space(usize),
}

/// The labels of input, kernel and result in `#stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>`.
pub(crate) fn labels(source: &SourceOp) -> Result<[Labels; 3], PassError> {
    let text = source.op.attribute("dimension_numbers")?.to_string();
    let lists = text.split('[').skip(1);
    let mut lists = lists
        .filter_map(|part| part.split_once(']'))
        .map(|(list, _)| list.split(',').map(|l| l.trim().to_owned()).collect())
        .map(Labels);
    match (lists.next(), lists.next(), lists.next()) {
        (Some(input), Some(kernel), Some(result)) => Ok([input, kernel, result]),
        _ => Err("has dimension numbers that cannot be read".into()),
    }
}

pub(crate) fn convolution<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let (input, kernel, result) = (source.operand(0)?, source.operand(1)?, source.result()?);
    let [of_input, of_kernel, of_result] = labels(source)?;
    let (spatial, at) = (input.rank().saturating_sub(2), &source.at);
    let ones = || vec![1; spatial];
    let strides = source.i64s("window_strides").unwrap_or_else(ones);
    let base = source.i64s("lhs_dilation").unwrap_or_else(ones);
    let spread = source.i64s("rhs_dilation").unwrap_or_else(ones);
    let padding = source.pairs("padding", spatial)?;
    let backwards = source.bools("window_reversal");
    let features = source.required("feature_group_count")?;
    let batches = source.required("batch_group_count")?;
    let groups = features.max(batches);

    // Pads the input; a dilated input also has zeros between its elements.
    let none = Border { low: 0, high: 0, interior: 0 };
    let border = |label: &String| {
        let space: Option<usize> = label.parse().ok();
        let dilated = space.and_then(|s| padding.get(s).zip(base.get(s)));
        dilated.map_or(none, |((low, high), base)| Border { low: *low, high: *high, interior: base - 1 })
    };
    let borders: Vec<Border> = of_input.0.iter().map(border).collect();
    let zero = constant::zero(input.element, at);
    let zero = at.of_elements(&[zero], types::tensor(&[], zero.r#type()));
    let padded_input = padded(source.value(0)?, zero, &borders, at)?;

    // Reverses the kernel along reversed windows: an indexing map with a decreasing subscript is not invertible.
    let mut reversed_dimensions = Vec::new();
    for (s, _) in backwards.iter().enumerate().filter(|(_, is_reversed)| **is_reversed) {
        reversed_dimensions.push(of_kernel.position(&s.to_string())? as i64);
    }
    let weights = reversed(source.value(1)?, &reversed_dimensions, at)?;
    // Splits the output features of the kernel into groups.
    let o = of_kernel.position("o")?;
    let outs = of_kernel.extent("o", kernel)? / groups;
    let mut split = kernel.extents.clone();
    split.splice(o..=o, [groups, outs]);
    let weights = at.reshape(weights, &split);

    // The loops are batch, group, output feature, space; then the reductions input feature and window.
    let (n, g, f, first) = (0, 1, 2, 3);
    let channel = first + spatial;
    let per_group = of_kernel.extent("i", kernel)?;
    let per_batch = of_input.extent("b", input)? / batches;
    let index = of_input.indices(|label| {
        Ok(vec![match label {
            Label::Named("b") if batches == 1 => Affine::index(n),
            Label::Named("b") => slid((g, per_batch), (n, 1))?,
            Label::Named(_) if features == 1 => Affine::index(channel),
            Label::Named(_) => slid((g, per_group), (channel, 1))?,
            Label::Space(s) => slid((first + s, strides[s]), (channel + 1 + s, spread[s]))?,
        }])
    })?;
    let window = of_kernel.indices(|label| {
        Ok(match label {
            Label::Named("o") => vec![Affine::index(g), Affine::index(f)],
            Label::Named(_) => vec![Affine::index(channel)],
            Label::Space(s) => vec![Affine::index(channel + 1 + s)],
        })
    })?;
    let mut extents = vec![per_batch, groups, outs];
    for s in 0..spatial {
        extents.push(of_result.extent(&s.to_string(), result)?);
    }
    let sum = summed(source, &[Access(padded_input, index), Access(weights, window)], &extents, 1 + spatial)?;
    extents.splice(1..=2, [groups * outs]);
    let whole = at.reshape(sum, &extents);
    // Transposes from batch, feature, space to the requested order.
    let mut order = vec![of_result.position("b")?, of_result.position("f")?];
    for s in 0..spatial {
        order.push(of_result.position(&s.to_string())?);
    }
    let is_plain = order.iter().enumerate().all(|(n, d)| n == *d);
    if is_plain && whole.r#type() == source.result_type()? {
        return Ok(vec![whole]);
    }
    Ok(vec![moved(whole, order.into_iter().map(Affine::index).collect(), source.result_type()?, at)?])
}
