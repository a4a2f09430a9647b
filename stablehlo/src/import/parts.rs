// SPDX-License-Identifier: Apache-2.0
//! Converts complex tensors to real tensors, whose additional dimension holds the real and the imaginary part.

use super::element::Element;
use super::to_linalg::Tensor;
use crate::tensors::Tensors;
use melior::ir::Value;
use skript_dialect::melior;
use skript_passes::ir::{Builder, types};

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

/// Splits a complex tensor into its parts along dimension `dimension`. A real tensor gets a dimension of extent 1 there.
pub(super) fn split<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    value: Value<'c, 'a>,
    dimension: usize,
) -> Value<'c, 'a> {
    let at = Tensors { at: *at };
    let extents = at.extents(value);
    let thin = with_dimension(&extents, dimension, 1);
    let Some(part) = types::complex_part(at.element(value)) else {
        return at.reshape(value, &thin);
    };
    let parts = ["real", "imag"].map(|word| {
        let part = at.op(word, &[value], &[], types::tensor(&extents, part));
        at.reshape(part, &thin)
    });
    at.concatenate(&parts, dimension)
}

/// Reverses [`split`] for a result of this type.
pub(super) fn join<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    value: Value<'c, 'a>,
    tensor: &Tensor,
    dimension: usize,
) -> Value<'c, 'a> {
    let (at, result) = (Tensors { at: *at }, tensor.r#type(at.context));
    if !matches!(tensor.element, Element::Complex(_)) {
        return at.reshape(value, &tensor.extents);
    }
    let parts = [0, 1].map(|part| {
        let starts = with_dimension(&vec![0; tensor.rank()], dimension, part);
        let limits = with_dimension(&tensor.extents, dimension, part + 1);
        let part = at.slice(value, &starts, &limits, &vec![1; starts.len()]);
        at.reshape(part, &tensor.extents)
    });
    at.op("complex", &parts, &[], result)
}
