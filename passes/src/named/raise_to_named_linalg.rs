//! `skript-raise-to-named-linalg`: `linalg.generic` ops on tensors become named ones where they are what those compute.
//!
//! Contractions become `matmul`, `batch_matmul` (transposed factors by their `indexing_maps`), `matvec`, `vecmat`, `dot` or
//! `contract`; windows become convolutions, depthwise and grouped ones too, and poolings; the rest `reduce`, `transpose`,
//! `broadcast` and `fill`. Dimensions of one element and groups are reshapes of the operands, which move nothing. Scalars must be
//! `arith` (`convert-skript-scalar-to-arith`). Named operations have no fast-math flags: products and sums lose theirs.
//! What no named operation computes, guarded windows among it, stays as it is.

use super::contraction::{contraction, general_contraction};
use super::convolution::convolution;
use super::generic::Generic;
use super::movement::{fill, movement};
use super::payload::Payload;
use super::reduction::{pooling, reduction};
use super::write::{Named, element, same_elements};
use crate::mlir::{Builder, context};
use skript_dialect::melior::Context;
use skript_dialect::melior::ir::OperationRef;
use skript_dialect::melior::ir::operation::OperationLike;
use skript_dialect::{Dialect, Options, Pass, PassError, Rewriter, op};

#[derive(Default)]
pub struct RaiseToNamedLinalg;

impl Pass for RaiseToNamedLinalg {
    const FLAG: &'static str = "skript-raise-to-named-linalg";
    const SUMMARY: &'static str =
        "linalg.generic ops become named ones where those compute the same";
    const DEPENDENT_DIALECTS: &'static [Dialect] = &[Dialect::Linalg, Dialect::Tensor];

    fn run<'c>(
        &self,
        root: OperationRef<'c, '_>,
        _options: &Options,
        rewriter: &Rewriter<'c>,
    ) -> Result<(), PassError> {
        let holder = root.context();
        let context = context::borrow(&holder);
        for found in op::collect(&root, |op| op::is(&op, "linalg.generic")) {
            let Some(generic) = Generic::read(found) else {
                continue;
            };
            let Some(named) = named(&generic, context) else {
                continue;
            };
            let at = Builder::before(context, found)?;
            let value = named.write(found, &at)?;
            rewriter.replace_op_with_values(found, &[value]);
        }
        Ok(())
    }
}

/// The operation that computes the same.
fn named<'c: 'a, 'a>(generic: &Generic<'c, 'a>, context: &'c Context) -> Option<Named<'c, 'a>> {
    match &generic.payload {
        Payload::Fill(value) => fill(generic, *value),
        Payload::Copy(input) => {
            let input = generic.inputs.get(*input)?;
            match element(input) {
                Some(_) => movement(generic, input),
                None => fill(generic, input.value),
            }
        }
        Payload::Combine { input, .. } => {
            let input = generic.inputs.get(*input)?;
            pooling(generic, input).or_else(|| reduction(generic, input))
        }
        Payload::Products([left, right]) => {
            let [left, right] = [generic.inputs.get(*left)?, generic.inputs.get(*right)?];
            if generic.inputs.len() != 2 || !same_elements(&[left, right, &generic.output]) {
                return None;
            }
            contraction(generic, left, right, context)
                .or_else(|| convolution(generic, left, right))
                .or_else(|| general_contraction(generic, left, right, context))
        }
    }
}
