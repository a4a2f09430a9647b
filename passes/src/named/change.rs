// SPDX-License-Identifier: Apache-2.0
//! Changes of a tensor before a named operation reads it, or after a named operation writes it.

use super::payload::Factor;
use crate::formula::block;
use crate::formula::dynamic_extents::Sizes;
use crate::formula::reshape::reshape;
use crate::ir::generic::{Access, copy_of};
use crate::ir::{Builder, attributes, ops, types};
use crate::structure::Affine;
use melior::ir::{Value, ValueLike};
use skript_dialect::{PassError, melior};

/// A change, and the shape to which it applies.
#[derive(Clone)]
pub(crate) struct Change<'c, 'a> {
    pub shape: Vec<i64>,
    pub step: Step<'c, 'a>,
}

#[derive(Clone)]
pub(crate) enum Step<'c, 'a> {
    /// The block at these offsets.
    Part { offsets: Vec<i64>, sizes: Vec<i64> },
    /// Reverses the elements along these dimensions.
    Mirror(Vec<usize>),
    /// The new dimension `n` is the old dimension `permutation[n]`.
    Transpose(Vec<usize>),
    /// Computes a factor from each element.
    Compute(Factor<'c, 'a>),
}

impl<'c: 'a, 'a> Change<'c, 'a> {
    pub(crate) fn apply(
        &self,
        tensor: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let element = types::element_of(tensor.r#type()).ok_or("an operand that is not a tensor")?;
        let tensor = reshape(tensor, types::tensor(&self.shape, element), at)?;
        match &self.step {
            Step::Part { offsets, sizes } => {
                let strides = vec![1; sizes.len()];
                let sizes = Sizes { fixed: sizes.clone(), values: Vec::new() };
                Ok(block::extract(tensor, offsets, &sizes, &strides, at)?)
            }
            Step::Mirror(dimensions) => mirror(tensor, &self.shape, dimensions, at),
            Step::Transpose(permutation) => {
                transpose(tensor, &permuted(&self.shape, permutation), permutation, at)
            }
            Step::Compute(factor) => factor.compute(tensor, at),
        }
    }

    /// Inverts the change. Only for transposes.
    pub(crate) fn undo(
        &self,
        changed: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let element = types::element_of(changed.r#type()).ok_or("a result that is not a tensor")?;
        let Step::Transpose(permutation) = &self.step else {
            return Err("a change that cannot be inverted on a result".into());
        };
        let shape = permuted(&self.shape, permutation);
        let changed = reshape(changed, types::tensor(&shape, element), at)?;
        let mut inverse = vec![0; permutation.len()];
        for (to, from) in permutation.iter().enumerate() {
            if let Some(slot) = inverse.get_mut(*from) {
                *slot = to;
            }
        }
        transpose(changed, &self.shape, &inverse, at)
    }
}

/// The extents after a transpose.
pub(crate) fn permuted(shape: &[i64], permutation: &[usize]) -> Vec<i64> {
    permutation.iter().map(|d| shape.get(*d).copied()).map(|e| e.unwrap_or(1)).collect()
}

fn transpose<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    shape: &[i64],
    permutation: &[usize],
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let init = empty(tensor, shape, at)?;
    let numbers = permutation.iter().map(|n| i64::try_from(*n));
    let numbers: Vec<i64> = numbers.collect::<Result<_, _>>().map_err(|_| "a dimension that is too large")?;
    let permutation = [("permutation", attributes::i64s(at.context, &numbers))];
    let element = types::element_or_self(tensor.r#type());
    let (region, inside, arguments) = at.region(&[element; 2]);
    inside.op(ops::linalg::YIELD, &arguments[..1], &[], &[], Vec::new());
    let result = [init.r#type()];
    let op = at.op(ops::linalg::TRANSPOSE, &[tensor, init], &permutation, &result, vec![region]);
    Ok(at.result(op, 0))
}

/// An empty tensor with other extents.
fn empty<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    shape: &[i64],
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let element = types::element_of(tensor.r#type()).ok_or("an operand that is not a tensor")?;
    Ok(at.make(ops::tensor::EMPTY, &[], &[], types::tensor(shape, element)))
}

fn mirror<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    shape: &[i64],
    dimensions: &[usize],
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let backwards = |(dimension, extent): (usize, &i64)| {
        let subscript = Affine::index(dimension);
        if dimensions.contains(&dimension) {
            Affine::constant(extent.checked_sub(1)?).sub(&subscript)
        } else {
            Some(subscript)
        }
    };
    let reversed = shape.iter().enumerate().map(backwards).collect::<Option<Vec<Affine>>>();
    let reversed = reversed.ok_or("a tensor too large to be reversed")?;
    let kind = types::tensor(shape, types::element_or_self(tensor.r#type()));
    Ok(copy_of(at, Access(tensor, reversed), kind, &[])?)
}
