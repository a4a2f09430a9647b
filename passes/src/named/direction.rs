// SPDX-License-Identifier: Apache-2.0
//! Rewrites reversed windows and reductions so that every subscript increases from 0.
//!
//! Reversing a reduced loop has no cost. If a dimension is then still read backwards, the tensor is copied
//! in reverse order. Reads with an offset become slices.

use super::change::{Change, Step};
use super::generic::Generic;
use super::operand::Operand;
use crate::structure::Affine;

/// The maximum number of reduced loops along which a tensor is read backwards.
const MAX_REVERSED: usize = 8;

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
        // Includes all loops of a dimension that one of them reads backwards, because the dimension may have to be reversed.
        let backwards = |index: usize| {
            let forms = self.inputs.iter().flat_map(|i| &i.forms);
            forms.filter_map(Affine::as_linear).any(|steps| {
                steps.iter().any(|(_, step)| *step < 0) && steps.iter().any(|(i, _)| *i == index)
            })
        };
        let reversible: Vec<usize> =
            (0..self.extents.len()).filter(|index| !written(*index) && backwards(*index)).collect();
        if reversible.len() > MAX_REVERSED {
            return None;
        }
        let choices = (0u32..1 << reversible.len()).filter_map(|choice| {
            let loops = self.reversed_loops(&reversible, choice)?;
            let inputs: Vec<Operand<'c, 'a>> = self
                .inputs
                .iter()
                .map(|input| input.with_loops(&loops, &self.extents))
                .collect::<Option<_>>()?;
            let copied: i64 = inputs.iter().map(Operand::copied).sum();
            Some((copied, choice.count_ones(), inputs))
        });
        let best = choices.min_by_key(|(copied, reversed, _)| (*copied, *reversed))?;
        Some(best.2)
    }

    /// The loops. A loop is reversed if the bit of `choice` at its position in `reversible` is set.
    fn reversed_loops(&self, reversible: &[usize], choice: u32) -> Option<Vec<Affine>> {
        let reversed = |index: usize| reversible.iter().position(|t| *t == index);
        let loops = self.extents.iter().enumerate().map(|(index, extent)| {
            let forward = Affine::index(index);
            match reversed(index) {
                Some(bit) if choice >> bit & 1 == 1 => Affine::constant(extent - 1).sub(&forward),
                _ => Some(forward),
            }
        });
        loops.collect()
    }
}

impl<'c: 'a, 'a> Operand<'c, 'a> {
    /// The operand with replaced loops and every subscript increasing from 0. `None` if a subscript increases along one loop and
    /// decreases along another.
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
        self.changes.iter().filter(copies).map(|change| change.shape.iter().product::<i64>()).sum()
    }
}
