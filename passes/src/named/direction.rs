// SPDX-License-Identifier: Apache-2.0
//! Reversed windows and reductions: rewrites them so that every subscript increases from 0.
//!
//! A reduced loop may be reversed without cost. If a dimension is still read backwards after that, the tensor is copied
//! in reverse order. Reads with an offset become slices.

use super::change::{Change, Step};
use super::generic::Generic;
use super::operand::Operand;
use crate::structure::Affine;

/// Maximum number of reduced loops along which some tensor is read backwards.
const MOST_REVERSED: usize = 8;

impl<'c: 'a, 'a> Generic<'c, 'a> {
    /// The operation with every subscript increasing from 0, if its extents are static and it can be rewritten.
    pub(crate) fn with_increasing_subscripts(mut self) -> Self {
        if let Some(inputs) = self.with_loops() {
            self.inputs = inputs;
        }
        self
    }

    fn with_loops(&self) -> Option<Vec<Operand<'c, 'a>>> {
        if !self.is_static() {
            return None;
        }
        let written = |index: usize| self.output.forms.contains(&Affine::index(index));
        // Loops of a dimension that other loops read backwards too: the full dimension may have to be reversed.
        let backwards = |index: usize| {
            let forms = self.inputs.iter().flat_map(|i| &i.forms);
            forms.filter_map(Affine::as_linear).any(|steps| {
                steps.iter().any(|(_, step)| *step < 0) && steps.iter().any(|(i, _)| *i == index)
            })
        };
        let reversible: Vec<usize> =
            (0..self.extents.len()).filter(|index| !written(*index) && backwards(*index)).collect();
        if reversible.len() > MOST_REVERSED {
            return None;
        }
        let ways = (0u32..1 << reversible.len()).filter_map(|way| {
            let loops = self.reversed_loops(&reversible, way)?;
            let inputs: Vec<Operand<'c, 'a>> = self
                .inputs
                .iter()
                .map(|input| input.with_loops(&loops, &self.extents))
                .collect::<Option<_>>()?;
            let copied: i64 = inputs.iter().map(Operand::copied).sum();
            Some((copied, way.count_ones(), inputs))
        });
        let best = ways.min_by_key(|(copied, reversed, _)| (*copied, *reversed))?;
        Some(best.2)
    }

    /// Each loop, reversed if the bit of its position in `reversible` is set.
    fn reversed_loops(&self, reversible: &[usize], way: u32) -> Option<Vec<Affine>> {
        let reversed = |index: usize| reversible.iter().position(|t| *t == index);
        let loops = self.extents.iter().enumerate().map(|(index, extent)| {
            let own = Affine::index(index);
            match reversed(index) {
                Some(bit) if way >> bit & 1 == 1 => Affine::constant(extent - 1).sub(&own),
                _ => Some(own),
            }
        });
        loops.collect()
    }
}

impl<'c: 'a, 'a> Operand<'c, 'a> {
    /// The operation with the loops replaced and every subscript increasing from 0; `None` if one increases and
    /// decreases.
    fn with_loops(&self, loops: &[Affine], extents: &[i64]) -> Option<Self> {
        let mut reversed = self.clone();
        reversed.forms.clear();
        reversed.shape.clear();
        let (mut offsets, mut mirrored) = (Vec::new(), Vec::new());
        for (dimension, (form, extent)) in self.forms.iter().zip(&self.shape).enumerate() {
            let form = form.substitute(loops, extents)?;
            let steps = form.as_linear()?;
            let range = form.range(extents)?;
            if range.low < 0 || range.high >= *extent {
                return None;
            }
            let down = steps.iter().any(|(_, step)| *step < 0);
            if down && steps.iter().any(|(_, step)| *step > 0) {
                return None;
            }
            if down {
                mirrored.push(dimension);
                reversed.forms.push(Affine::constant(range.high).sub(&form)?);
            } else {
                reversed.forms.push(form.sub(&Affine::constant(range.low))?);
            }
            let whole = !down && range.low == 0;
            offsets.push(if whole { 0 } else { range.low });
            reversed.shape.push(if whole { *extent } else { range.high - range.low + 1 });
        }
        if reversed.shape != self.shape {
            reversed.changes.push(Change {
                shape: self.shape.clone(),
                step: Step::Part { offsets, sizes: reversed.shape.clone() },
            });
        }
        if !mirrored.is_empty() {
            reversed.changes.push(Change { shape: reversed.shape.clone(), step: Step::Mirror(mirrored) });
        }
        Some(reversed)
    }

    /// The number of elements that the changes copy.
    fn copied(&self) -> i64 {
        let copies = |change: &&Change<'c, 'a>| matches!(change.step, Step::Mirror(_));
        let copied = self.changes.iter().filter(copies);
        copied.map(|change| change.shape.iter().product::<i64>()).sum()
    }
}
