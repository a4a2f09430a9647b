// SPDX-License-Identifier: Apache-2.0
//! Converts sums of products: `dot_general` and `convolution`.
use super::generic::{Port, dims, generic};
use super::operation::Values;
use super::operation::{SourceOp, Tensor};
use super::reduce::{accumulator, moved, product, zeros};
use super::shape::{Border, padded, reshaped, reversed};
use melior::ir::operation::OperationLike;
use skript_dialect::PassError;
use skript_dialect::melior;
use skript_passes::ir::splice::Lines;

pub(crate) fn dot_general<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let (lhs, rhs, result) = (source.operand(0)?, source.operand(1)?, source.result()?);
    let list = |key: &str| source.numbers("dot_dimension_numbers", key);
    let [lhs_batch, rhs_batch] = ["lhs_batching_dimensions", "rhs_batching_dimensions"].map(list);
    let [lhs_sums, rhs_sums] = ["lhs_contracting_dimensions", "rhs_contracting_dimensions"].map(list);
    // The loops are those over the dimensions of the result, then those over the contracted dimensions.
    let (mut free, reductions) = (lhs_batch.len().., lhs_sums.len());
    let mut index = |tensor: &Tensor, batch: &[i64], sums: &[i64]| {
        let position = |list: &[i64], d: i64| list.iter().position(|x| *x == d);
        dims((0..).take(tensor.rank()).filter_map(|d| {
            let sum = || position(sums, d).map(|n| result.rank() + n);
            position(batch, d).or_else(sum).or_else(|| free.next())
        }))
    };
    let of_lhs = index(lhs, &lhs_batch, &lhs_sums);
    let of_rhs = index(rhs, &rhs_batch, &rhs_sums);
    let sum = Tensor { extents: result.extents.clone(), element: accumulator(result.element) };
    let mut lines = Lines::default();
    let init = zeros(&mut lines, &sum);
    let rank = result.rank();
    let inputs = [Port::new("%0", lhs, of_lhs), Port::new("%1", rhs, of_rhs)];
    let body = product(lhs.element, rhs.element, sum.element);
    let output = [Port::new(&init, &sum, dims(0..rank))];
    let made = generic(&mut lines, rank + reductions, reductions, &inputs, &output, &body);
    let made = finished(&mut lines, &made.concat(), &sum, result);
    source.replace(&lines, &made)
}

/// Converts the sum to the element type of the result.
fn finished(lines: &mut Lines, name: &str, sum: &Tensor, result: &Tensor) -> String {
    if sum == result { name.to_owned() } else { moved(lines, name, sum, result, dims(0..result.rank())) }
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

    /// The subscripts of all dimensions, from the subscript of each label.
    fn indices(&self, subscript: impl Fn(Label) -> String) -> Vec<String> {
        self.0.iter().map(|text| subscript(text.parse().map_or(Label::Named(text), Label::Space))).collect()
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
    let spatial = input.rank().saturating_sub(2);
    let ones = || vec![1; spatial];
    let strides = source.i64s("window_strides").unwrap_or_else(ones);
    let base = source.i64s("lhs_dilation").unwrap_or_else(ones);
    let spread = source.i64s("rhs_dilation").unwrap_or_else(ones);
    let padding = source.pairs("padding", spatial)?;
    let backwards = source.bools("window_reversal");
    let features = source.required("feature_group_count")?;
    let batches = source.required("batch_group_count")?;
    let groups = features.max(batches);

    let mut lines = Lines::default();
    // Pads the input; a dilated input also has zeros between its elements.
    let none = Border { low: 0, high: 0, interior: 0 };
    let border = |label: &String| {
        let space: Option<usize> = label.parse().ok();
        let dilated = space.and_then(|s| padding.get(s).zip(base.get(s)));
        dilated.map_or(none, |((low, high), base)| Border { low: *low, high: *high, interior: base - 1 })
    };
    let borders: Vec<Border> = of_input.0.iter().map(border).collect();
    let zero = super::constant::zero(&mut lines, input.element);
    let zero = lines.value(format!("tensor.from_elements {zero} : {}", input.with_extents(&[]).text()));
    let (padded_input, padded_type) = padded(&mut lines, "%0", input, &zero, &borders);

    // Reverses the kernel along reversed windows: an indexing map with a decreasing subscript is not invertible.
    let mut reversed_dimensions = Vec::new();
    for (s, _) in backwards.iter().enumerate().filter(|(_, is_reversed)| **is_reversed) {
        reversed_dimensions.push(of_kernel.position(&s.to_string())? as i64);
    }
    let weights = reversed(&mut lines, "%1", kernel, &reversed_dimensions);
    // Splits the output features of the kernel into groups.
    let o = of_kernel.position("o")?;
    let outs = of_kernel.extent("o", kernel)? / groups;
    let mut split = kernel.extents.clone();
    split.splice(o..=o, [groups, outs]);
    let split = kernel.with_extents(&split);
    let weights = reshaped(&mut lines, &weights, kernel, &split);

    // The loops are batch, group, output feature, space; then the reductions input feature and window.
    let (n, g, f, first) = (0, 1, 2, 3);
    let channel = first + spatial;
    let per_group = of_kernel.extent("i", kernel)?;
    let per_batch = of_input.extent("b", input)? / batches;
    let index = of_input.indices(|label| match label {
        Label::Named("b") if batches == 1 => format!("d{n}"),
        Label::Named("b") => format!("d{g} * {per_batch} + d{n}"),
        Label::Named(_) if features == 1 => format!("d{channel}"),
        Label::Named(_) => format!("d{g} * {per_group} + d{channel}"),
        Label::Space(s) => format!("d{} * {} + d{} * {}", first + s, strides[s], channel + 1 + s, spread[s]),
    });
    let window = of_kernel.indices(|label| match label {
        Label::Named("o") => format!("d{g}, d{f}"),
        Label::Named(_) => format!("d{channel}"),
        Label::Space(s) => format!("d{}", channel + 1 + s),
    });
    let mut extents = vec![per_batch, groups, outs];
    for s in 0..spatial {
        extents.push(of_result.extent(&s.to_string(), result)?);
    }
    let sum = Tensor { extents, element: accumulator(result.element) };
    let init = zeros(&mut lines, &sum);
    let body = product(input.element, kernel.element, sum.element);
    let made = generic(
        &mut lines,
        channel + 1 + spatial,
        1 + spatial,
        &[Port::new(&padded_input, &padded_type, index), Port::new(&weights, &split, window)],
        &[Port::new(&init, &sum, dims(0..channel))],
        &body,
    );
    let mut joined = sum.extents.clone();
    joined.splice(1..=2, [groups * outs]);
    let joined = sum.with_extents(&joined);
    let whole = reshaped(&mut lines, &made.concat(), &sum, &joined);
    // Transposes from batch, feature, space to the requested order.
    let mut order = vec![of_result.position("b")?, of_result.position("f")?];
    for s in 0..spatial {
        order.push(of_result.position(&s.to_string())?);
    }
    let plain = order.iter().enumerate().all(|(n, d)| n == *d);
    let made = if plain && joined == *result {
        whole
    } else {
        moved(&mut lines, &whole, &joined, result, dims(order))
    };
    source.replace(&lines, &made)
}
