// SPDX-License-Identifier: Apache-2.0
//! Operations without arithmetic: fills, transposes, broadcasts.

use super::generic::Generic;
use super::operand::Operand;
use super::write::{Input, Named, Payload, same_elements};
use crate::ir::{attributes, ops, types};
use melior::Context;
use melior::ir::{Attribute, Value, ValueLike};
use skript_dialect::melior;

/// An output filled with one value.
pub(crate) fn fill<'c: 'a, 'a>(generic: &Generic<'c, 'a>, value: Value<'c, 'a>) -> Option<Named<'c, 'a>> {
    let whole = generic.output.indices()?.len() == generic.extents.len();
    whole.then(|| Named {
        name: ops::linalg::FILL.to_owned(),
        attributes: Vec::new(),
        payload: Payload::Named,
        inputs: vec![Input::Scalar(value)],
        output: generic.output.clone(),
    })
}

/// A transpose, or a broadcast, possibly of a transposed tensor.
pub(crate) fn movement<'c: 'a, 'a>(
    generic: &Generic<'c, 'a>,
    input: &Operand<'c, 'a>,
) -> Option<Named<'c, 'a>> {
    if generic.inputs.len() != 1 || !same_elements(&[input, &generic.output]) {
        return None;
    }
    let context = types::context_of(input.value.r#type());
    let written = generic.output.indices()?;
    let mut input = input.without_units();
    let read = input.indices()?;
    if written.len() != generic.extents.len() {
        return None;
    }
    let positions: Vec<usize> =
        read.iter().map(|index| written.iter().position(|w| w == index)).collect::<Option<_>>()?;
    let (name, attribute) = if positions.len() == written.len() {
        let permutation: Vec<usize> =
            written.iter().map(|index| read.iter().position(|r| r == index)).collect::<Option<_>>()?;
        if positions.is_sorted() {
            return None;
        }
        (ops::linalg::TRANSPOSE, ("permutation", numbers(context, &permutation)))
    } else {
        let mut order: Vec<usize> = (0..positions.len()).collect();
        order.sort_by_key(|dimension| positions.get(*dimension));
        if !order.is_sorted() {
            input.transpose(&order);
        }
        let added: Vec<usize> = (0..written.len()).filter(|d| !positions.contains(d)).collect();
        (ops::linalg::BROADCAST, ("dimensions", numbers(context, &added)))
    };
    Some(Named {
        name: name.to_owned(),
        attributes: vec![attribute],
        payload: Payload::Copy,
        inputs: vec![Input::Tensor(input)],
        output: generic.output.clone(),
    })
}

/// Numbers of dimensions as an attribute.
pub(crate) fn numbers<'c>(context: &'c Context, dimensions: &[usize]) -> Attribute<'c> {
    let numbers: Vec<i64> = dimensions.iter().filter_map(|n| i64::try_from(*n).ok()).collect();
    attributes::i64s(context, &numbers)
}
