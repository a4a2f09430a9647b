// SPDX-License-Identifier: Apache-2.0
//! Sums of products: `dot_general` and `convolution`.

use super::generic::{Port, dims, generic};
use super::operation::{Found, Tensor};
use super::reduce::{accumulator, moved, product, zeros};
use super::shape::{Border, padded, reshaped, reversed};
use melior::ir::Value;
use melior::ir::operation::OperationLike;
use skript_dialect::PassError;
use skript_dialect::melior;
use skript_passes::ir::splice::Lines;

type Values<'c, 'a> = Result<Vec<Value<'c, 'a>>, PassError>;

pub(crate) fn dot_general<'c: 'a, 'a>(found: &Found<'c, 'a>) -> Values<'c, 'a> {
    let (lhs, rhs, result) = (found.operand(0)?, found.operand(1)?, found.result()?);
    let list = |key: &str| found.numbers("dot_dimension_numbers", key);
    let [lhs_batch, rhs_batch] = ["lhs_batching_dimensions", "rhs_batching_dimensions"].map(list);
    let [lhs_sums, rhs_sums] = ["lhs_contracting_dimensions", "rhs_contracting_dimensions"].map(list);
    // Loops: the result's dimensions, then the contracted ones.
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
    found.replace(&lines, &made)
}

/// The sum converted to the result's element type.
fn finished(lines: &mut Lines, name: &str, sum: &Tensor, result: &Tensor) -> String {
    if sum == result { name.to_owned() } else { moved(lines, name, sum, result, dims(0..result.rank())) }
}

/// The labels of the dimensions, as in `[b, f, 0, 1]`.
pub(crate) struct Labels(Vec<String>);

impl Labels {
    /// The position of the dimension with a label.
    pub(crate) fn at(&self, label: &str) -> Result<usize, PassError> {
        let at = self.0.iter().position(|l| l == label);
        at.ok_or_else(|| format!("has no dimension {label}").into())
    }

    /// The extent of the dimension with a label.
    pub(crate) fn extent(&self, label: &str, tensor: &Tensor) -> Result<i64, PassError> {
        let extent = tensor.extents.get(self.at(label)?);
        extent.copied().ok_or_else(|| format!("has no dimension {label}").into())
    }

    /// The subscripts of all dimensions, from the subscript of each label.
    fn indices(&self, of: impl Fn(Label) -> String) -> Vec<String> {
        let label = |text: &String| match text.parse() {
            Ok(space) => Label::Space(space),
            Err(_) => Label::Named(text.chars().next().unwrap_or_default()),
        };
        self.0.iter().map(|text| of(label(text))).collect()
    }
}

/// The label of a dimension: a letter, or the number of a spatial dimension.
enum Label {
    Named(char),
    Space(usize),
}

/// Input, kernel and result of `#stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>`.
pub(crate) fn labels(found: &Found) -> Result<[Labels; 3], PassError> {
    let text = found.op.attribute("dimension_numbers")?.to_string();
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

pub(crate) fn convolution<'c: 'a, 'a>(found: &Found<'c, 'a>) -> Values<'c, 'a> {
    let (input, kernel, result) = (found.operand(0)?, found.operand(1)?, found.result()?);
    let [of_input, of_kernel, of_result] = labels(found)?;
    let spatial = input.rank().saturating_sub(2);
    let ones = || vec![1; spatial];
    let strides = found.i64s("window_strides").unwrap_or_else(ones);
    let base = found.i64s("lhs_dilation").unwrap_or_else(ones);
    let spread = found.i64s("rhs_dilation").unwrap_or_else(ones);
    let padding = found.pairs("padding", spatial)?;
    let backwards = found.bools("window_reversal");
    let features = found.i64("feature_group_count").unwrap_or(1);
    let batches = found.i64("batch_group_count").unwrap_or(1);
    let groups = features.max(batches);

    let mut lines = Lines::default();
    // The input with its border, and with zeros between elements if it is dilated.
    let none = Border { low: 0, high: 0, interior: 0 };
    let border = |label: &String| {
        let space: Option<usize> = label.parse().ok();
        let own = space.and_then(|s| padding.get(s).zip(base.get(s)));
        own.map_or(none, |((low, high), base)| Border { low: *low, high: *high, interior: base - 1 })
    };
    let borders: Vec<Border> = of_input.0.iter().map(border).collect();
    let zero = super::constant::zero(&mut lines, input.element);
    let zero = lines.value(format!("tensor.from_elements {zero} : {}", input.with_extents(&[]).text()));
    let (source, source_type) = padded(&mut lines, "%0", input, &zero, &borders);

    // The kernel in the order in which it is applied: a map with a decreasing loop has no inverse, so reversed windows
    // are reversed here.
    let mut turned = Vec::new();
    for (s, _) in backwards.iter().enumerate().filter(|(_, turned)| **turned) {
        turned.push(of_kernel.at(&s.to_string())? as i64);
    }
    let weights = reversed(&mut lines, "%1", kernel, &turned);

    // Its output features by groups.
    let o = of_kernel.at("o")?;
    let outs = of_kernel.extent("o", kernel)? / groups;
    let mut split = kernel.extents.clone();
    split.splice(o..=o, [groups, outs]);
    let split = kernel.with_extents(&split);
    let weights = reshaped(&mut lines, &weights, kernel, &split);

    // Loops: batch, group, feature, space; input feature, window.
    let (n, g, f, first) = (0, 1, 2, 3);
    let channel = first + spatial;
    let per_group = of_kernel.extent("i", kernel)?;
    let per_batch = of_input.extent("b", input)? / batches;
    let factor = |list: &[i64], s: usize| list.get(s).copied().unwrap_or(1);
    let index = of_input.indices(|label| match label {
        Label::Named('b') if batches == 1 => format!("d{n}"),
        Label::Named('b') => format!("d{g} * {per_batch} + d{n}"),
        Label::Named(_) if features == 1 => format!("d{channel}"),
        Label::Named(_) => format!("d{g} * {per_group} + d{channel}"),
        Label::Space(s) => format!(
            "d{} * {} + d{} * {}",
            first + s,
            factor(&strides, s),
            channel + 1 + s,
            factor(&spread, s)
        ),
    });
    let window = of_kernel.indices(|label| match label {
        Label::Named('o') => format!("d{g}, d{f}"),
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
        &[Port::new(&source, &source_type, index), Port::new(&weights, &split, window)],
        &[Port::new(&init, &sum, dims(0..channel))],
        &body,
    );
    let mut joined = sum.extents.clone();
    joined.splice(1..=2, [groups * outs]);
    let joined = sum.with_extents(&joined);
    let whole = reshaped(&mut lines, &made.concat(), &sum, &joined);
    // From batch, feature, space to the requested order.
    let mut order = vec![of_result.at("b")?, of_result.at("f")?];
    for s in 0..spatial {
        order.push(of_result.at(&s.to_string())?);
    }
    let plain = order.iter().enumerate().all(|(n, d)| n == *d);
    let made = if plain && joined == *result {
        whole
    } else {
        moved(&mut lines, &whole, &joined, result, dims(order))
    };
    found.replace(&lines, &made)
}
