//! Windows and reductions that run backwards: the same with every place counted upwards from 0.
//!
//! Loops that nothing is written along turn around for nothing; where that leaves a dimension that is read backwards,
//! a copy of the tensor is. What is read from an offset on is a slice.

use super::change::{Change, Step};
use super::generic::Generic;
use super::operand::Operand;
use crate::structure::Affine;

/// More reduced loops that some tensor is read backwards along are left as they are.
const MOST_TURNED: usize = 8;

impl<'c: 'a, 'a> Generic<'c, 'a> {
    /// The same with every place counted upwards from 0, if it is of fixed extents and can be.
    pub fn upright(mut self) -> Self {
        if let Some(inputs) = self.turned() {
            self.inputs = inputs;
        }
        self
    }

    fn turned(&self) -> Option<Vec<Operand<'c, 'a>>> {
        if !self.is_fixed() {
            return None;
        }
        let written = |index: usize| self.output.forms.contains(&Affine::index(index));
        // Those of a dimension that others are read backwards along, too: it may have to turn as a whole.
        let backwards = |index: usize| {
            let forms = self.inputs.iter().flat_map(|i| &i.forms);
            forms.filter_map(Affine::as_linear).any(|steps| {
                steps.iter().any(|(_, step)| *step < 0) && steps.iter().any(|(i, _)| *i == index)
            })
        };
        let turning: Vec<usize> = (0..self.extents.len())
            .filter(|index| !written(*index) && backwards(*index))
            .collect();
        if turning.len() > MOST_TURNED {
            return None;
        }
        let ways = (0u32..1 << turning.len()).filter_map(|way| {
            let loops = self.loops_turned(&turning, way)?;
            let inputs: Vec<Operand<'c, 'a>> = self
                .inputs
                .iter()
                .map(|input| input.turned(&loops, &self.extents))
                .collect::<Option<_>>()?;
            let copied: i64 = inputs.iter().map(Operand::copied).sum();
            Some((copied, way.count_ones(), inputs))
        });
        let best = ways.min_by_key(|(copied, turned, _)| (*copied, *turned))?;
        Some(best.2)
    }

    /// Each loop as it is, or from its end on where the bit of its place in `turning` is set.
    fn loops_turned(&self, turning: &[usize], way: u32) -> Option<Vec<Affine>> {
        let turned = |index: usize| turning.iter().position(|t| *t == index);
        let loops = self.extents.iter().enumerate().map(|(index, extent)| {
            let own = Affine::index(index);
            match turned(index) {
                Some(bit) if way >> bit & 1 == 1 => Affine::constant(extent - 1).sub(&own),
                _ => Some(own),
            }
        });
        loops.collect()
    }
}

impl<'c: 'a, 'a> Operand<'c, 'a> {
    /// With the loops replaced, and every dimension then counted upwards from 0; `None` where one counts both ways.
    fn turned(&self, loops: &[Affine], extents: &[i64]) -> Option<Self> {
        let mut turned = self.clone();
        turned.forms.clear();
        turned.shape.clear();
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
                turned.forms.push(Affine::constant(range.high).sub(&form)?);
            } else {
                turned.forms.push(form.sub(&Affine::constant(range.low))?);
            }
            let whole = !down && range.low == 0;
            offsets.push(if whole { 0 } else { range.low });
            turned.shape.push(if whole {
                *extent
            } else {
                range.high - range.low + 1
            });
        }
        if turned.shape != self.shape {
            turned.changes.push(Change {
                shape: self.shape.clone(),
                step: Step::Part {
                    offsets,
                    sizes: turned.shape.clone(),
                },
            });
        }
        if !mirrored.is_empty() {
            turned.changes.push(Change {
                shape: turned.shape.clone(),
                step: Step::Mirror(mirrored),
            });
        }
        Some(turned)
    }

    /// The number of elements that the changes copy.
    fn copied(&self) -> i64 {
        let copies = |change: &&Change<'c, 'a>| matches!(change.step, Step::Mirror(_));
        let copied = self.changes.iter().filter(copies);
        copied
            .map(|change| change.shape.iter().product::<i64>())
            .sum()
    }
}
