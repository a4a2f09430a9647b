// SPDX-License-Identifier: Apache-2.0
//! Windows whose largest element is selected.

use super::level::real;
use crate::elementwise::hoist_invariants::Payload;
use crate::ir::linalg::{Fill, Generic, Yield};
use crate::ir::{self, ops, typed, types};
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, ValueLike};
use skript_dialect::melior;

/// A `linalg.generic` that selects the largest element of each window of a tensor, in any case one of the tensor itself, not one of its
/// border.
pub(super) struct Largest<'c, 'a> {
    pub(super) op: OperationRef<'c, 'a>,
    pub(super) payload: Payload<'c, 'a>,
    pub(super) reductions: Vec<bool>,
    /// The operand whose elements are compared.
    pub(super) input: usize,
    /// The insertion into a border of negative infinities that is this operand.
    pub(super) insertion: Option<OperationRef<'c, 'a>>,
}

impl<'c: 'a, 'a> Largest<'c, 'a> {
    pub(super) fn of(op: OperationRef<'c, 'a>) -> Option<Self> {
        let generic = Generic::cast(op).filter(|_| op.result_count() == 1)?;
        let reductions = generic.reductions();
        if !reductions.contains(&true) {
            return None;
        }
        let payload = Payload::of(op)?;
        let last = *ir::operations(generic.body()?).last()?;
        let (selection, _) = ir::definition(Yield::cast(last)?.value().ok()?)?;
        let is_maximum = ir::name(selection) == ops::arith::MAXIMUMF;
        let [first, second] = ir::both_operands(selection).ok().filter(|_| is_maximum)?;
        let (output, inputs) = payload.elements.split_last()?;
        let element = if first == *output { second } else { first };
        if first != *output && second != *output {
            return None;
        }
        let input = inputs.iter().position(|own| *own == element)?;
        let is_lowest = |value| real(value) == Some(f64::NEG_INFINITY);
        let start = Fill::of(op.operand(inputs.len()).ok()?)?.value().ok()?;
        if !is_lowest(start) {
            return None;
        }
        let tensor = op.operand(input).ok()?;
        let insertion = ir::definition(tensor).map(|(op, _)| op);
        let insertion = insertion.filter(|own| {
            let border = || Fill::of(own.operand(1).ok()?)?.value().ok();
            ir::name(*own) == ops::tensor::INSERT_SLICE && border().is_some_and(is_lowest)
        });
        let largest = Largest { op, payload, reductions, input, insertion };
        largest.reaches_tensor().then_some(largest)
    }

    /// Whether each window has an element inside of the border.
    fn reaches_tensor(&self) -> bool {
        let Some(insertion) = self.insertion else {
            return true;
        };
        let own = |name| typed::i64s(insertion, name);
        let (offsets, sizes) = (own("static_offsets"), own("static_sizes"));
        let is_adjacent = own("static_strides").iter().all(|stride| *stride == 1);
        let forms = self.payload.subscripts.get(self.input);
        let extents = self.extents();
        let mut dimensions = forms.into_iter().flatten().zip(offsets.iter().zip(&sizes));
        is_adjacent
            && dimensions.all(|(form, (offset, size))| {
                let reaches = || {
                    let linear = form.as_linear()?;
                    // The first element of the last window, and the last one of the first window.
                    let (mut start, mut end) = (form.offset(), form.offset());
                    for (l, factor) in linear {
                        let last = (*extents.get(l)?)?.checked_sub(1)?.checked_mul(factor)?;
                        if *self.reductions.get(l)? {
                            end = end.checked_add(last)?
                        } else {
                            // Elements of one window follow each other, so that none is skipped.
                            start = start.checked_add(last)?
                        }
                    }
                    let is_dense = form
                        .as_linear()?
                        .iter()
                        .all(|(l, factor)| self.reductions.get(*l) == Some(&false) || *factor == 1);
                    let is_whole = *offset == 0 && form.as_index().is_some();
                    Some(is_whole || is_dense && end >= *offset && start < offset + size)
                };
                *size > 0 && reaches() == Some(true)
            })
    }

    /// By loop; `None` for those that are not static.
    fn extents(&self) -> Vec<Option<i64>> {
        let mut extents = vec![None; self.reductions.len()];
        for (operand, forms) in self.op.operands().zip(&self.payload.subscripts) {
            let own = types::extents(operand.r#type()).unwrap_or_default();
            for (form, extent) in forms.iter().zip(own) {
                let slot = form.as_index().and_then(|l| extents.get_mut(l));
                if let (Some(slot), true) = (slot, extent != types::DYNAMIC) {
                    *slot = Some(extent);
                }
            }
        }
        extents
    }
}
