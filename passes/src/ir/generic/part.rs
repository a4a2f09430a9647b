// SPDX-License-Identifier: Apache-2.0
//! Parts of a payload, for operations with other loops.

use super::super::copy::Copier;
use super::super::linalg::index_of;
use super::super::{Builder, ValueKey};
use super::{Access, LoopNest, Operand};
use melior::Error;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value};
use skript_dialect::melior;
use skript_symbolic::Affine;
use std::collections::HashSet;

/// The operations of a payload that compute some values, which only depend on loops with a number in another nest.
pub(crate) struct PayloadPart<'c, 'a> {
    operations: Vec<OperationRef<'c, 'a>>,
    /// The operands that they read, with the new loops, and their elements in the payload.
    pub(crate) inputs: Vec<Access<'c, 'a>>,
    elements: Vec<Value<'c, 'a>>,
    renamed: Vec<Option<usize>>,
}

impl<'c: 'a, 'a> PayloadPart<'c, 'a> {
    /// `renamed` has the new number of each loop. `None` for subscripts that are too large.
    pub(crate) fn new(
        nest: &LoopNest<'c, 'a>,
        values: &[Value<'c, 'a>],
        renamed: Vec<Option<usize>>,
    ) -> Option<Self> {
        let operations = nest.needed(values.iter().copied(), &[]);
        let operands = operations.iter().flat_map(|op| op.operands()).chain(values.iter().copied());
        let used: HashSet<ValueKey> = operands.map(ValueKey::of).collect();
        let is_read = |operand: &&Operand| used.contains(&ValueKey::of(operand.element));
        let read: Vec<&Operand> = nest.inputs().iter().filter(is_read).collect();
        let loops: Vec<Affine> =
            renamed.iter().map(|l| l.map_or_else(Affine::default, Affine::index)).collect();
        let inputs = read.iter().map(|operand| {
            // The extents have no effect on linear forms.
            let forms = operand.forms.iter().map(|form| form.substitute(&loops, &nest.extents));
            Some(Access(operand.value, forms.collect::<Option<_>>()?))
        });
        let inputs = inputs.collect::<Option<_>>()?;
        Some(PayloadPart { operations, inputs, elements: read.iter().map(|o| o.element).collect(), renamed })
    }

    /// Copies the operations to a payload whose first elements are those of the inputs. The copier has the values.
    pub(crate) fn copy(
        &self,
        elements: &[Value<'c, 'a>],
        to: &Builder<'c, 'a>,
    ) -> Result<Copier<'c, 'a>, Error> {
        let mut copier = Copier::new();
        for (old, new) in self.elements.iter().zip(elements) {
            copier.set(*old, *new);
        }
        for op in &self.operations {
            copier.copy(*op, &to.with_location(op.location()), &mut |copier, inner, to| {
                let Some(renamed) = index_of(inner).and_then(|l| *self.renamed.get(l)?) else {
                    return Ok(false);
                };
                copier.set(inner.result(0)?, to.loop_index(renamed)?);
                Ok(true)
            })?;
        }
        Ok(copier)
    }
}
