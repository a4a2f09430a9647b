// SPDX-License-Identifier: Apache-2.0
//! `skript-raise-to-named-linalg`: raises `linalg.generic` operations on tensors to named operations where these
//! compute the same.
//!
//! Contractions become `matmul`, `batch_matmul` (transposed factors by their `indexing_maps`), `matvec`, `vecmat`,
//! `dot` or `contract`; windows become convolutions (also depthwise and grouped) and poolings; others `reduce`,
//! `transpose`, `broadcast` and `fill`.
//!
//! Unit dimensions and groups become reshapes of the operands, which move nothing; an offset becomes a slice. Three
//! cases cost a pass over an operand: a layout that linalg has no convolution or pooling for is transposed; a tensor
//! that is read backwards is copied where no loop can be reversed; a factor that is computed from one element alone, or
//! has the sign of the product, is computed for each element first.
//!
//! Products of reals are not reordered: `2 * (a * b)` stays. Named operations have no fast-math flags, so products and
//! sums lose theirs. What no named operation computes stays, guarded windows among it.
//!
//! Requires: scalars are `arith` (`convert-skript-scalar-to-arith`).

use super::change::{Change, Step};
use super::contraction::{contraction, dot, general_contraction};
use super::convolution::{arranged_convolution, convolution};
use super::generic::Generic;
use super::movement::{fill, movement};
use super::operand::Operand;
use super::payload::{Factor, Payload};
use super::reduction::{arranged_pooling, pooling, reduction};
use super::write::{Named, multiplies};
use crate::ir::ops;
use crate::ir::{Builder, types};
use skript_dialect::melior::Context;
use skript_dialect::melior::ir::operation::OperationLike;
use skript_dialect::melior::ir::{Value, ValueLike};
use skript_dialect::{Dialect, Pass, op};

/// The pass `skript-raise-to-named-linalg`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-raise-to-named-linalg",
    summary: "raise linalg.generic operations to named operations that compute the same",
    dependent_dialects: &[Dialect::Linalg, Dialect::Tensor],
    run: |root, _, rewriter| {
        let context = rewriter.context();
        for found in op::collect(&root, |op| op::is(&op, ops::linalg::GENERIC)) {
            // The meaning of an encoding in another shape is unknown, so such operations stay.
            let is_encoded = |value: Value| types::encoding_of(value.r#type()).is_some();
            let Some(generic) = Generic::read(found).filter(|_| !found.operands().any(is_encoded)) else {
                continue;
            };
            let Some(named) = named(generic, context).filter(Named::keeps_dynamic_shapes) else {
                continue;
            };
            let at = Builder::before(context, found)?;
            let value = named.write(found, &at)?;
            rewriter.replace_op_with_values(found, &[value]);
        }
        Ok(())
    },
    ..Pass::NONE
};

/// The operation that computes the same.
fn named<'c: 'a, 'a>(generic: Generic<'c, 'a>, context: &'c Context) -> Option<Named<'c, 'a>> {
    match &generic.payload {
        Payload::Fill(value) => fill(&generic, *value),
        Payload::Copy(input) => {
            let input = generic.inputs.get(*input)?;
            match input.element() {
                Some(_) => movement(&generic, input),
                None => fill(&generic, input.value),
            }
        }
        Payload::Combine { input, .. } => {
            let input = *input;
            let generic = generic.reads_only(&[input]).then(|| generic.with_increasing_subscripts())?;
            let input = generic.inputs.get(input)?;
            pooling(&generic, input)
                .or_else(|| reduction(&generic, input))
                .or_else(|| arranged_pooling(&generic, input))
        }
        Payload::Products(factors) => {
            let factors = factors.clone();
            let inputs = [0, 1].map(|n: usize| factors.get(n).map(|f| f.input));
            let inputs: Vec<usize> = inputs.into_iter().flatten().collect();
            let generic = generic.reads_only(&inputs).then(|| generic.with_increasing_subscripts())?;
            let [left, right] = multiplied(&generic, factors)?;
            contraction(&generic, &left, &right, context)
                .or_else(|| dot(&generic, &left, &right))
                .or_else(|| convolution(&generic, &left, &right))
                .or_else(|| general_contraction(&generic, &left, &right, context))
                .or_else(|| arranged_convolution(&generic, &left, &right))
        }
    }
}

/// The factors of a product: inputs, or values computed from each of their elements. The smaller one gets the sign.
fn multiplied<'c: 'a, 'a>(
    generic: &Generic<'c, 'a>,
    [mut left, mut right]: [Factor<'c, 'a>; 2],
) -> Option<[Operand<'c, 'a>; 2]> {
    let element = generic.output.element().filter(|e| multiplies(*e))?;
    let of = |factor: &Factor<'c, 'a>| generic.inputs.get(factor.input).cloned();
    let (mut first, mut second) = (of(&left)?, of(&right)?);
    let volume = |operand: &Operand<'c, 'a>| operand.shape.iter().product::<i64>();
    if generic.is_static() && volume(&first) < volume(&second) {
        Factor::swap_signs(&mut left, &mut right);
    }
    for (operand, factor) in [(&mut first, left), (&mut second, right)] {
        operand.element()?;
        if factor.element_type() != element {
            return None;
        }
        if !factor.is_element() {
            operand.changes.push(Change { shape: operand.shape.clone(), step: Step::Compute(factor) });
        }
    }
    Some([first, second])
}
