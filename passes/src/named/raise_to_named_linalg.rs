// SPDX-License-Identifier: Apache-2.0
//! `skript-raise-to-named-linalg`: replaces `linalg.generic` operations on tensors by equivalent named operations.
//!
//! Contractions become `matmul`, `batch_matmul` (transposed factors by their `indexing_maps`), `matvec`, `vecmat`,
//! `dot` or `contract`; windows become convolutions (also depthwise and grouped) and poolings; others `reduce`,
//! `transpose`, `broadcast` and `fill`.
//!
//! Unit dimensions and groups become reshapes of the operands, which do not move elements; an offset becomes a slice. An
//! operand is copied in three cases: if linalg has no convolution or pooling for its layout; if a tensor is read backwards, and no
//! loop can be reversed; and if a factor is computed from one element, or is negated.
//!
//! Products of reals, such as `2 * (a * b)`, are not reordered. Named operations have no fast-math flags, so products and
//! sums lose their flags. Operations without an equivalent, such as guarded windows, are not replaced.
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

pub(crate) const PASS: Pass = Pass {
    flag: "skript-raise-to-named-linalg",
    summary: "replace linalg.generic operations by equivalent named operations",
    dependent_dialects: &[Dialect::Linalg, Dialect::Tensor],
    run: |root, _, rewriter| {
        let context = rewriter.context();
        for op in op::collect(&root, |op| op::is(&op, ops::linalg::GENERIC)) {
            // Do not replace operations on tensors with encodings, whose meaning in another shape is unknown.
            let is_encoded = |value: Value| types::encoding_of(value.r#type()).is_some();
            let Some(generic) = Generic::read(op).filter(|_| !op.operands().any(is_encoded)) else {
                continue;
            };
            let Some(named) = named(generic, context).filter(Named::keeps_dynamic_shapes) else {
                continue;
            };
            let at = Builder::before(context, op)?;
            let value = named.write(op, &at)?;
            rewriter.replace_op_with_values(op, &[value]);
        }
        Ok(())
    },
    ..Pass::NONE
};

/// The equivalent named operation.
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

/// The factors of a product, which are inputs, or values computed from their elements. The sign of the product becomes part of the
/// smaller factor.
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
