// SPDX-License-Identifier: Apache-2.0
//! Changes of a tensor before a named operation reads it, or after one has written it.

use super::payload::Factor;
use crate::formula::block;
use crate::formula::dynamic_extents::Sizes;
use crate::formula::reshape::reshape;
use crate::ir::{Builder, maps, splice, types};
use crate::structure::Affine;
use melior::ir::{OperationRef, Value, ValueLike};
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
    /// Dimension `n` becomes what dimension `permutation[n]` was.
    Transpose(Vec<usize>),
    /// Computes a factor from each element.
    Compute(Factor<'c, 'a>),
}

impl<'c: 'a, 'a> Change<'c, 'a> {
    /// The changed tensor, computed before `op`.
    pub(crate) fn apply(
        &self,
        tensor: Value<'c, 'a>,
        op: OperationRef<'c, 'a>,
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
            Step::Mirror(dimensions) => mirror(tensor, &self.shape, dimensions, op, at),
            Step::Transpose(permutation) => {
                transpose(tensor, &permuted(&self.shape, permutation), permutation, op)
            }
            Step::Compute(factor) => factor.compute(tensor, at),
        }
    }

    /// Inverts the change; for transposes only.
    pub(crate) fn undo(
        &self,
        changed: Value<'c, 'a>,
        op: OperationRef<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let element = types::element_of(changed.r#type()).ok_or("a result that is not a tensor")?;
        let Step::Transpose(permutation) = &self.step else {
            return Err("a change that cannot be inverted on a result".into());
        };
        let shape = permuted(&self.shape, permutation);
        let changed = reshape(changed, types::tensor(&shape, element), at)?;
        let mut back = vec![0; permutation.len()];
        for (to, from) in permutation.iter().enumerate() {
            if let Some(slot) = back.get_mut(*from) {
                *slot = to;
            }
        }
        transpose(changed, &self.shape, &back, op)
    }
}

/// The extents after a transpose.
pub(crate) fn permuted(shape: &[i64], permutation: &[usize]) -> Vec<i64> {
    let extents = permutation.iter().map(|d| shape.get(*d).copied());
    extents.map(|e| e.unwrap_or(1)).collect()
}

fn transpose<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    shape: &[i64],
    permutation: &[usize],
    op: OperationRef<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    moved(tensor, shape, op, |from, to| {
        format!("linalg.transpose ins(%0 : {from}) outs(%init : {to}) permutation = {permutation:?}")
    })
}

fn mirror<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    shape: &[i64],
    dimensions: &[usize],
    op: OperationRef<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let plain: Vec<Affine> = (0..shape.len()).map(Affine::index).collect();
    let backwards = |(dimension, extent): (usize, &i64)| {
        let subscript = Affine::index(dimension);
        if dimensions.contains(&dimension) {
            Affine::constant(extent.checked_sub(1)?).sub(&subscript)
        } else {
            Some(subscript)
        }
    };
    let turned: Option<Vec<Affine>> = shape.iter().enumerate().map(backwards).collect();
    let turned = turned.and_then(|forms| maps::map(at.context, shape.len(), &forms));
    let (Some(turned), Some(plain)) = (turned, maps::map(at.context, shape.len(), &plain)) else {
        return Err("a tensor too large to be reversed".into());
    };
    let element = types::element_of(tensor.r#type()).ok_or("an operand that is not a tensor")?;
    let parallel = vec!["\"parallel\""; shape.len()].join(", ");
    moved(tensor, shape, op, |from, to| {
        format!(
            "linalg.generic {{indexing_maps = [{turned}, {plain}], iterator_types = [{parallel}]}} \
             ins(%0 : {from}) outs(%init : {to}) {{\n^bb0(%in: {element}, %out: {element}):\n\
             linalg.yield %in : {element}\n}} -> {to}"
        )
    })
}

/// Permutes the elements of a tensor by an operation that writes them to `%init`.
fn moved<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    shape: &[i64],
    op: OperationRef<'c, 'a>,
    written: impl Fn(&str, &str) -> String,
) -> Result<Value<'c, 'a>, PassError> {
    let from = tensor.r#type();
    let element = types::element_of(from).ok_or("an operand that is not a tensor")?;
    let to = types::tensor(shape, element).to_string();
    let text = format!("%init = tensor.empty() : {to}\n%v0 = {}", written(&from.to_string(), &to));
    let made = splice::splice(op, &[tensor], &text, &[("%v0".to_owned(), to)])?;
    Ok(*made.values.first().ok_or("a text without a result")?)
}
