// SPDX-License-Identifier: Apache-2.0
//! Matches windows of 3 × 3 with unit strides by the addresses of a reduction.

use super::matrices::WINDOW;
use crate::ir::ops;
use crate::schedule::body::{Operand, Step};
use crate::schedule::nest::{Address, LoopKind, Nest};
use crate::schedule::reading::Reduction;
use melior::ir::TypeLike;

/// The loops and operands of a window: `Σ image[…, c, h + r, w + s] · filter[k, c, r, s]`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Window {
    /// The operand that the window slides over.
    pub(super) image: usize,
    /// The operand with the weights.
    pub(super) filter: usize,
    /// Loops along which only the image and the output vary, outermost first.
    pub(super) batches: Vec<usize>,
    /// The loop of the input's channels.
    pub(super) channels: usize,
    /// The loop of the output's channels.
    pub(super) filters: usize,
    /// The loop over the rows of the output, and the loop over the rows of the window.
    pub(super) rows: [usize; 2],
    /// The loop over the columns of the output, and the loop over the columns of the window. Columns are closer in memory than rows.
    pub(super) columns: [usize; 2],
}

impl Window {
    /// `None` for other reductions.
    pub(super) fn from_reduction(reduction: &Reduction) -> Option<Window> {
        let (nest, body) = (&reduction.nest, &reduction.body);
        let elements = reduction.signature.elements.get(..=nest.output)?;
        let is_f32 = body.accumulator.is_f32() && elements.iter().all(|element| element.is_f32());
        let Operand::Step(number) = body.value else {
            return None;
        };
        let Step::Apply { operator, operands, .. } = body.steps.get(number)? else {
            return None;
        };
        let [Operand::Input(a), Operand::Input(b)] = operands.as_slice() else {
            return None;
        };
        let is_product = operator.name == ops::arith::MULF && body.combine.operator.name == ops::arith::ADDF;
        let is_static = nest.loops.iter().all(|l| l.source.is_none() && l.extent > 0);
        let fits = is_f32 && is_product && is_static && nest.inputs().len() == 2 && a != b;
        let fits = fits && body.predicate.is_none() && !nest.keeps_order;
        if !fits {
            return None;
        }
        Window::with(nest, *a, *b).or_else(|| Window::with(nest, *b, *a))
    }

    fn with(nest: &Nest, image: usize, filter: usize) -> Option<Window> {
        let (input, weights) = (nest.operands.get(image)?, nest.operands.get(filter)?);
        let output = nest.output()?;
        let stride = |address: &Address, l: usize| address.strides.get(l).copied().unwrap_or(0);
        let kind = |l: usize| nest.loops.get(l).map(|r#loop| (r#loop.kind, r#loop.extent));
        let all = 0..nest.loops.len();
        let mut moved: Vec<usize> = Vec::new();
        let (mut filters, mut channels, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
        for l in all.clone() {
            match (kind(l)?, stride(input, l), stride(weights, l)) {
                ((_, 1), ..) => {}
                ((LoopKind::Parallel, _), 1.., 0) => moved.push(l),
                ((LoopKind::Parallel, _), 0, 1..) => filters.push(l),
                ((LoopKind::Reduction, _), 1.., 1..) => {}
                _ => return None,
            }
        }
        for l in all.filter(|l| kind(*l).is_some_and(|(kind, _)| kind == LoopKind::Reduction)) {
            let partner = moved.iter().position(|m| stride(input, *m) == stride(input, l));
            match (kind(l)?.1, partner) {
                (1, _) => {}
                (WINDOW, Some(partner)) => pairs.push([moved.remove(partner), l]),
                _ => channels.push(l),
            }
        }
        pairs.sort_by_key(|[l, _]| -stride(input, *l));
        let ([channels], [filters], [rows, columns]) =
            (channels.as_slice(), filters.as_slice(), pairs.as_slice())
        else {
            return None;
        };
        // The channels or the columns must be contiguous: vectors run along the channels, or blocks are transposed.
        let is_reached = |address: &Address, channel: usize| {
            stride(address, channel) == 1 || stride(address, columns[0]) == 1
        };
        (is_reached(input, *channels) && is_reached(output, *filters)).then_some(Window {
            image,
            filter,
            batches: moved,
            channels: *channels,
            filters: *filters,
            rows: *rows,
            columns: *columns,
        })
    }
}
