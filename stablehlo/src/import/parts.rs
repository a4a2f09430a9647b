// SPDX-License-Identifier: Apache-2.0
//! Converts complex tensors to real tensors, whose additional dimension holds the real and the imaginary part.

use super::element::Element;
use super::to_linalg::Tensor;
use skript_passes::ir::splice::Lines;

/// The real tensor type with the parts along dimension `at`: two for a complex tensor, one for a real tensor.
pub(super) fn along(tensor: &Tensor, at: usize) -> Option<Tensor> {
    let (count, part) = match tensor.element {
        Element::Complex(part) => (2, part),
        Element::Float(float) => (1, float),
        _ => return None,
    };
    Some(Tensor { extents: with_dimension(&tensor.extents, at, count), element: Element::Float(part) })
}

fn with_dimension(extents: &[i64], at: usize, extent: i64) -> Vec<i64> {
    let (before, after) = extents.split_at(at.min(extents.len()));
    [before, &[extent], after].concat()
}

/// Appends operations that split a complex tensor into its parts along dimension `at`. A real tensor gets a dimension
/// of extent 1 there.
pub(super) fn split(lines: &mut Lines, value: &str, tensor: &Tensor, at: usize) -> Option<String> {
    let (from, whole) = (tensor.text(), along(tensor, at)?);
    let part = tensor.with_element(whole.element).text();
    let thin = whole.with_extents(&with_dimension(&tensor.extents, at, 1)).text();
    let mut widened = |value: &str| lines.value(format!("stablehlo.reshape {value} : ({part}) -> {thin}"));
    if part == from {
        return Some(widened(value));
    }
    let [re, im] = ["real", "imag"].map(|word| {
        let part = lines.value(format!("stablehlo.{word} {value} : ({from}) -> {part}"));
        lines.value(format!(
            "stablehlo.reshape {part} : ({}) -> {thin}",
            tensor.with_element(whole.element).text()
        ))
    });
    let to = whole.text();
    Some(lines.value(format!("stablehlo.concatenate {re}, {im}, dim = {at} : ({thin}, {thin}) -> {to}")))
}

/// Appends operations that reverse [`split`].
pub(super) fn join(lines: &mut Lines, value: &str, tensor: &Tensor, at: usize) -> Option<String> {
    let (to, whole) = (tensor.text(), along(tensor, at)?);
    let part = tensor.with_element(whole.element).text();
    let from = whole.text();
    if part == to {
        return Some(lines.value(format!("stablehlo.reshape {value} : ({from}) -> {to}")));
    }
    let thin = whole.with_extents(&with_dimension(&tensor.extents, at, 1)).text();
    let [re, im] = ["0:1", "1:2"].map(|slice| {
        let range =
            |(d, extent): (usize, &i64)| if d == at { slice.to_owned() } else { format!("0:{extent}") };
        let ranges: Vec<String> = whole.extents.iter().enumerate().map(range).collect();
        let part_of =
            lines.value(format!("stablehlo.slice {value} [{}] : ({from}) -> {thin}", ranges.join(", ")));
        lines.value(format!("stablehlo.reshape {part_of} : ({thin}) -> {part}"))
    });
    Some(lines.value(format!("stablehlo.complex {re}, {im} : {to}")))
}
