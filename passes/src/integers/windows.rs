// SPDX-License-Identifier: Apache-2.0
//! Recognizes operations that select the largest element of each window.

use crate::elementwise::hoist_invariants::tensor_nest;
use crate::ir::generic::LoopNest;
use crate::ir::linalg::Fill;
use crate::ir::real;
use crate::ir::{self, ops, typed};
use crate::structure::Affine;
use melior::ir::OperationRef;
use skript_dialect::{melior, op};
use std::collections::BTreeSet;

/// A `linalg.generic` that selects the largest element of each window of a tensor. Each window has an element of the tensor; other
/// elements may be in a border of negative infinities.
pub(super) struct Largest<'c, 'a> {
    pub(super) nest: LoopNest<'c, 'a>,
    /// The operand whose elements are compared.
    pub(super) input: usize,
    /// The insertion into a border of negative infinities that defines this operand.
    pub(super) insertion: Option<OperationRef<'c, 'a>>,
}

impl<'c: 'a, 'a> Largest<'c, 'a> {
    pub(super) fn new(op: OperationRef<'c, 'a>) -> Option<Self> {
        let nest = tensor_nest(op).filter(LoopNest::reduces)?;
        let maximum = nest.accumulation().filter(|maximum| op::is(&maximum.op, ops::arith::MAXIMUMF))?;
        let input = nest.position(maximum.value)?;
        let is_lowest = |value| real(value) == Some(f64::NEG_INFINITY);
        let init = Fill::of(nest.output()?.value)?.value().ok()?;
        if !is_lowest(init) || !has_elements(&nest) {
            return None;
        }
        let tensor = ir::operand_at(op, input)?;
        let insertion = ir::defined_by(tensor, ops::tensor::INSERT_SLICE).filter(|insertion| {
            let border = || Fill::of(ir::operand_at(*insertion, 1)?)?.value().ok();
            border().is_some_and(is_lowest)
        });
        let forms = &nest.operands.get(input)?.forms;
        let reaches_tensor = insertion.is_none_or(|insertion| reach_tensor(&nest, forms, insertion));
        reaches_tensor.then_some(Largest { nest, input, insertion })
    }
}

/// Whether windows are never empty. The maximum of an empty window is negative infinity, which no byte represents.
fn has_elements(nest: &LoopNest) -> bool {
    nest.loops(true).all(|l| nest.extent(l).is_some_and(|extent| extent >= 1))
}

/// Whether each window has an element of the tensor inside the border. In each dimension, the windows must be intervals of indices. The
/// first window must not end before the tensor, and the last window must not begin after it.
fn reach_tensor(nest: &LoopNest, forms: &[Affine], insertion: OperationRef) -> bool {
    let static_values = |name| typed::i64s(insertion, name);
    let (offsets, sizes) = (static_values("static_offsets"), static_values("static_sizes"));
    let is_adjacent = static_values("static_strides").iter().all(|stride| *stride == 1);
    // A window along a diagonal could miss the tensor.
    let mut reductions = BTreeSet::new();
    let mut used = forms.iter().flat_map(Affine::indices).filter(|l| nest.reductions.get(*l) == Some(&true));
    let is_box = used.all(|l| reductions.insert(l));
    let mut dimensions = forms.iter().zip(offsets.iter().zip(&sizes));
    let reaches = |form: &Affine, offset: i64, size: i64| {
        let (first_end, last_begin) = interval(nest, form)?;
        Some(size > 0 && first_end >= offset && last_begin < offset.checked_add(size)?)
    };
    let reach = dimensions.all(|(form, (offset, size))| reaches(form, *offset, *size) == Some(true));
    is_adjacent && is_box && reach
}

/// The last index of the first window and the first index of the last window in a dimension. `None` if windows skip indices or are
/// reversed.
fn interval(nest: &LoopNest, form: &Affine) -> Option<(i64, i64)> {
    let (mut first_end, mut last_begin) = (form.offset(), form.offset());
    for (l, factor) in form.as_linear()? {
        let last = nest.extent(l)?.checked_sub(1)?.checked_mul(factor)?;
        match *nest.reductions.get(l)? {
            true if factor == 1 => first_end = first_end.checked_add(last)?,
            false if factor >= 0 => last_begin = last_begin.checked_add(last)?,
            _ => return None,
        }
    }
    Some((first_end, last_begin))
}
