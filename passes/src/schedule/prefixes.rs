// SPDX-License-Identifier: Apache-2.0
//! `skript-scan-prefixes`: computes reductions of all prefixes, or of all suffixes, in one loop with a loop-carried accumulator (a scan).
//!
//! In `y[i] += x[j], j < i + 1`, each element of the result reduces a prefix of `x`. As a reduction this takes n² / 2 steps; a loop
//! with a loop-carried sum takes n steps. The pass also recognizes cumulative windows, as in `stablehlo.reduce_window`, which read a
//! tensor with a border of neutral elements as long as the window.
//!
//! A sum of reals that may be reassociated is carried in two parts: the sum of all complete blocks, and the sum of the current block.
//! So its rounding error grows with the length of a block and the number of blocks, not with the length of the prefix.
//!
//! Prefixes along contiguous elements are computed in vectors (`lanes.rs`) if their combination is exact.
//!
//! Requires: `linalg.generic` on tensors with one result and one reduction loop of more than [`MIN_LENGTH`] steps; terms that vary
//! along the reduction, but not along the loop over the prefixes. Guarantees: loops over other dimensions run in parallel.

mod emit;
mod lanes;

use super::body::{Combine, is_identity};
use super::phases::at_least_zero;
use crate::elementwise::hoist_invariants::tensor_nest;
use crate::ir::arith::{CompareIntegers, Constant, Select};
use crate::ir::generic::{Accumulation, LoopNest};
use crate::ir::linalg::Fill;
use crate::ir::shape::InsertSlice;
use crate::ir::walk::named;
use crate::ir::{Builder, ops, splat, typed, types};
use melior::ir::{OperationRef, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError, melior};
use skript_symbolic::Affine;

/// The pass `skript-scan-prefixes`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-scan-prefixes",
    summary: "compute reductions of all prefixes in a loop with a loop-carried accumulator",
    dependent_dialects: &[
        Dialect::Affine,
        Dialect::Arith,
        Dialect::Bufferization,
        Dialect::MemRef,
        Dialect::Scf,
        Dialect::Tensor,
        Dialect::Vector,
    ],
    run: |root, _, rewriter| {
        // Negative numbers, because formulas number their readers.
        for (op, number) in named(root, ops::linalg::GENERIC).into_iter().zip((i64::MIN..0).rev()) {
            if let Some(prefixes) = Prefixes::new(op) {
                let at = Builder::before(rewriter.context(), op)?;
                prefixes.replace(number, &at).map_err(PassError::from)?;
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Up to this number of terms or prefixes, vectorized reductions are as fast as a loop with a loop-carried accumulator.
const MIN_LENGTH: i64 = 32;

/// Maximum distance between an element and its last term if the number of terms is dynamic.
const MAX_DISTANCE: i64 = 1024;

/// A `linalg.generic` that reduces each prefix or suffix of its terms.
struct Prefixes<'c, 'a> {
    nest: LoopNest<'c, 'a>,
    combine: Combine<'c>,
    /// The term, which varies along [`Prefixes::reduction`] but not along [`Prefixes::end`].
    term: Value<'c, 'a>,
    /// The parallel loop over the prefixes.
    end: usize,
    /// The reduction loop over the terms.
    reduction: usize,
    /// Whether suffixes are reduced instead of prefixes.
    is_reversed: bool,
    /// Whether the terms of an element are in descending order.
    descends: bool,
    /// Element i reduces the terms up to i + `offset`; for suffixes, the terms from i + `offset` on.
    offset: i64,
    /// The range of terms that are not neutral; `None` if it is the full reduction loop.
    range: Option<(i64, i64)>,
}

impl<'c: 'a, 'a> Prefixes<'c, 'a> {
    fn new(op: OperationRef<'c, 'a>) -> Option<Self> {
        let nest = tensor_nest(op)?;
        let mut reductions = nest.loops(true).filter(|l| nest.extent(*l) != Some(1));
        let reduction =
            reductions.next().filter(|l| nest.extent(*l).is_none_or(|extent| extent > MIN_LENGTH))?;
        if reductions.next().is_some() {
            return None;
        }
        let accumulation = nest.accumulation()?;
        let combine = Combine::read(accumulation.op)?;
        let mut written = nest.output()?.indices()?;
        written.sort_unstable();
        if !written.into_iter().eq(nest.loops(false)) {
            return None;
        }
        let prefixes = Self::guarded(&nest, accumulation, &combine, reduction)
            .or_else(|| Self::windowed(&nest, accumulation, &combine, reduction))?;
        (prefixes.is_profitable() && prefixes.is_in_order()).then_some(prefixes)
    }

    fn is_profitable(&self) -> bool {
        let is_long = |l| self.nest.extent(l).is_none_or(|extent| extent > MIN_LENGTH);
        let max_distance = self.nest.extent(self.reduction).unwrap_or(MAX_DISTANCE);
        is_long(self.reduction) && is_long(self.end) && self.offset.abs() <= max_distance
    }

    /// Whether the sum may be computed in the order of the loop: the loop for suffixes begins with the last term, and start values that
    /// differ are added at the end, which reorders the sum.
    fn is_in_order(&self) -> bool {
        let rounds = self.combine.rounds(self.term.r#type());
        let keeps_order = !self.is_reversed && !self.descends && self.starts_uniformly();
        keeps_order || !rounds || self.combine.operator.is_fast("reassoc")
    }

    /// Whether all elements of the result have the same start value.
    fn starts_uniformly(&self) -> bool {
        self.nest
            .output()
            .is_some_and(|output| Fill::of(output.value).is_some() || splat::is_one(output.value))
    }

    /// Matches terms that are selected by a comparison of the two loop indices.
    fn guarded(
        nest: &LoopNest<'c, 'a>,
        accumulation: Accumulation<'c, 'a>,
        combine: &Combine<'c>,
        reduction: usize,
    ) -> Option<Self> {
        let selection = Select::of(accumulation.value)?;
        let otherwise = Constant::of(selection.otherwise().ok()?)?.value().ok()?;
        if !is_identity(otherwise, combine) {
            return None;
        }
        let comparison = CompareIntegers::of(selection.condition().ok()?)?;
        let limit = at_least_zero(comparison, &nest.extents)?;
        let (end, is_reversed) = match limit.as_linear()?[..] {
            [(a, 1), (b, -1)] | [(b, -1), (a, 1)] if b == reduction => (a, false),
            [(a, 1), (b, -1)] | [(b, -1), (a, 1)] if a == reduction => (b, true),
            _ => return None,
        };
        let term = selection.then().ok()?;
        let is_invariant = !nest.loops_of(term).contains(&end);
        let reads_result = nest.loops_of(term).len() == nest.reductions.len();
        if nest.reductions.get(end) != Some(&false) || !is_invariant || reads_result {
            return None;
        }
        Some(Prefixes {
            nest: nest.clone(),
            combine: combine.clone(),
            term,
            end,
            reduction,
            is_reversed,
            descends: false,
            offset: if is_reversed { limit.offset().checked_neg()? } else { limit.offset() },
            range: None,
        })
    }

    /// Matches windows of a padded tensor: the first or the last window covers one element of the tensor, the next window two, and so on.
    fn windowed(
        nest: &LoopNest<'c, 'a>,
        accumulation: Accumulation<'c, 'a>,
        combine: &Combine<'c>,
        reduction: usize,
    ) -> Option<Self> {
        let position = nest.position(accumulation.value).filter(|n| *n < nest.inputs)?;
        let input = nest.operands.get(position).filter(|_| nest.payload.len() == 1)?;
        let is_unit = |l: &usize| nest.extent(*l) == Some(1);
        let along = |form: &Affine| -> Option<Vec<(usize, i64)>> {
            Some(form.as_linear()?.into_iter().filter(|(l, _)| !is_unit(l)).collect())
        };
        let (dimension, form) =
            input.forms.iter().enumerate().find(|(_, form)| form.indices().contains(&reduction))?;
        let last_term = nest.extent(reduction)?.checked_sub(1)?;
        let (end, descends) = match along(form)?[..] {
            [(a, 1), (b, 1)] | [(b, 1), (a, 1)] if b == reduction && form.offset() == 0 => (a, false),
            [(a, 1), (b, -1)] | [(b, -1), (a, 1)] if b == reduction && form.offset() == last_term => {
                (a, true)
            }
            _ => return None,
        };
        let mut others = input.forms.iter().enumerate().filter(|(d, _)| *d != dimension);
        let uses = |form: &Affine| form.indices().iter().any(|l| [end, reduction].contains(l));
        if nest.reductions.get(end) != Some(&false) || others.any(|(_, form)| uses(form)) {
            return None;
        }

        let insertion = InsertSlice::of(input.value)?;
        let border = Fill::of(insertion.destination().ok()?)?.value().ok()?;
        if !is_identity(Constant::of(border)?.value().ok()?, combine) {
            return None;
        }
        let at = |name| typed::i64s(insertion.op(), name).get(dimension).copied();
        let (first, size) = (at("static_offsets")?, at("static_sizes")?);
        let (window, prefixes) = (nest.extent(reduction)?, nest.extent(end)?);
        let is_known = first >= 0 && size >= 0 && at("static_strides") == Some(1);
        let last = first.checked_add(size)?;
        // Window i covers the elements from i to i + window - 1.
        let (is_reversed, offset) = match () {
            () if is_known && first >= prefixes - 1 => (false, window - 1),
            () if is_known && last <= window => (true, 0),
            () => return None,
        };
        // Terms are numbered by elements of the padded tensor. Only those of the tensor itself are read.
        let source = insertion.source().ok()?;
        let shape = types::shape(source.r#type());
        let is_padded_along = |d: usize| d == dimension || shape.get(d) == input.shape.get(d);
        let mut nest = nest.clone();
        let terms = nest.operands.get_mut(position)?;
        let mut number = Affine::index(reduction);
        if shape.iter().all(|extent| *extent >= 0) && (0..shape.len()).all(is_padded_along) {
            (terms.value, terms.shape, number) = (source, shape, number.plus(first.checked_neg()?)?);
        }
        *terms.forms.get_mut(dimension)? = number;
        Some(Prefixes {
            nest,
            combine: combine.clone(),
            term: accumulation.value,
            end,
            reduction,
            is_reversed,
            descends,
            offset,
            range: Some((first, last.min(prefixes.checked_add(window)? - 1))),
        })
    }
}
