// SPDX-License-Identifier: Apache-2.0
//! `select` and `clamp` with conditions or bounds that may be scalars.

use super::operation::{SourceOp, Values};
use crate::tensors::Tensors;
use melior::ir::Value;
use skript_dialect::PassError;
use skript_dialect::melior;
use skript_passes::ir::Builder;
use skript_passes::ir::generic::{Access, all_loops};

pub(crate) fn select<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    map(source, |body, [condition, then, otherwise]| body.select(condition, then, otherwise))
}

/// `min(max(x, low), high)`
pub(crate) fn clamp<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    map(source, |body, [low, value, high]| {
        let body = Tensors { at: *body };
        body.same("minimum", &[body.same("maximum", &[value, low]), high])
    })
}

/// Applies a function to the elements of three operands. Operands of rank 0 have one element for all.
fn map<'c: 'a, 'a>(
    source: &SourceOp<'c, 'a>,
    function: impl FnOnce(&Builder<'c, 'a>, [Value<'c, 'a>; 3]) -> Value<'c, 'a>,
) -> Values<'c, 'a> {
    let operands = source.values.iter().zip(&source.operands);
    let inputs: Vec<Access> =
        operands.map(|(value, tensor)| Access(*value, all_loops(tensor.rank()))).collect();
    let result = skript_passes::ir::generic::map(
        &source.at,
        &inputs,
        source.result_type()?,
        &[],
        |body, elements| match *elements {
            [first, second, third, _] => Ok(function(body, [first, second, third])),
            _ => Err(PassError::from("has another number of operands")),
        },
    )?;
    Ok(vec![result])
}
