// SPDX-License-Identifier: Apache-2.0
//! Exports reductions over windows as `reduce_window`.
use super::{Dimension, Skipped, Window, Windowed, padding};
use crate::constants::{filler, identity};
use crate::evaluate::Evaluator;
use crate::field::Field;
use crate::guards::Conjunct;
use crate::rearrange::MAX_PIECES;
use crate::tensors::Tensors;
use skript_frontend::model::Accumulation;
use skript_passes::ir::ops;
use skript_passes::ir::{attributes, types};
use skript_passes::structure::Positions;

impl<'c: 'a, 'a> Windowed<'c, 'a> {
    /// Restricts the windows to the runs of values of a reduced index that the guard does not skip. `None` if the guard
    /// has other conditions.
    pub(crate) fn thinned(
        mut self,
        guards: &[Conjunct<'c, 'a>],
        evaluator: &Evaluator<'_, 'c, 'a>,
    ) -> Option<Self> {
        let mut along: Option<(usize, Vec<bool>)> = None;
        for (conjunct, skipped) in guards.iter().zip(&mut self.skipped) {
            if *skipped != Skipped::Not {
                continue;
            }
            let term = evaluator.reading.find(conjunct.value)?;
            let (index, holds) = Positions::holding(&evaluator.reading.nest, term)?;
            *skipped = Skipped::ByRuns;
            along = Some(match along {
                Some((other, _)) if other != index => return None,
                Some((_, others)) => {
                    let both = others.into_iter().zip(holds).map(|(x, y)| x && y);
                    (index, both.collect())
                }
                None => (index, holds),
            });
        }
        let Some((index, holds)) = along else {
            return Some(self);
        };
        let mut runs: Vec<(i64, i64)> = Vec::new();
        for (position, _) in (0i64..).zip(holds).filter(|(_, holds)| *holds) {
            match runs.last_mut() {
                Some((first, count)) if *first + *count == position => *count += 1,
                _ => runs.push((position, 1)),
            }
        }
        let slides = |(_, window): (usize, &Window)| window.reduced == Some(index) && window.base == 1;
        let is_few = (1..=MAX_PIECES).contains(&runs.len());
        let is_window = is_few && self.windows().any(slides);
        self.runs = Some((index, runs));
        is_window.then_some(self)
    }

    /// Reduces over the indices `reduced`. `None` if one of them does not occur.
    pub(crate) fn reduce(
        &self,
        kind: Accumulation,
        reduced: &[usize],
        domain: &[i64],
        at: &Tensors<'c, 'a>,
    ) -> Option<Field<'c, 'a>> {
        let Some((index, runs)) = &self.runs else {
            return self.whole(kind, reduced, domain, at);
        };
        let mut all = Vec::new();
        for run in runs {
            all.push(self.cut(*index, *run, domain, at).whole(kind, reduced, domain, at)?);
        }
        let mut parts = all.into_iter();
        let (Some(mut sum), Some(combiner)) = (parts.next(), Tensors::combiner(kind)) else {
            return None;
        };
        for part in parts {
            sum = Field::combined(combiner, &[sum, part], domain, at);
        }
        Some(sum)
    }

    /// The windows over one run of values of an index.
    fn cut(&self, index: usize, (first, count): (i64, i64), domain: &[i64], at: &Tensors<'c, 'a>) -> Self {
        let mut dimensions = self.dimensions.clone();
        let (mut low, mut high) = (vec![0; dimensions.len()], vec![0; dimensions.len()]);
        let borders = low.iter_mut().zip(&mut high);
        for (dimension, (low, high)) in dimensions.iter_mut().zip(borders) {
            let Dimension::Window(window) = dimension else {
                continue;
            };
            if window.reduced != Some(index) {
                continue;
            }
            let after = window.length(domain) - first - count;
            let (before, after) = if window.reversed { (after, first) } else { (first, after) };
            window.low -= before * window.dilation;
            window.high -= after * window.dilation;
            (*low, window.low) = (window.low.min(0), window.low.max(0));
            (*high, window.high) = (window.high.min(0), window.high.max(0));
            window.run = Some(count);
        }
        let none = vec![0; dimensions.len()];
        let with = filler(at.element(self.value));
        Windowed {
            value: at.pad(self.value, with, &low, &high, &none),
            dimensions,
            skipped: self.skipped.clone(),
            runs: None,
        }
    }

    fn whole(
        &self,
        kind: Accumulation,
        reduced: &[usize],
        domain: &[i64],
        at: &Tensors<'c, 'a>,
    ) -> Option<Field<'c, 'a>> {
        let combiner = Tensors::combiner(kind)?;
        let (alone, alone_indices) = self.indices(|i| reduced.contains(&i));
        let slid: Vec<usize> = self.windows().filter_map(|(_, w)| w.reduced).collect();
        if !reduced.iter().all(|i| slid.contains(i) || alone_indices.contains(i)) {
            return None;
        }
        let element = at.element(self.value);
        let neutral = identity(kind, element);
        let context = at.at.context;
        let mut sizes = Vec::new();
        let (mut strides, mut dilations, mut borders) = (Vec::new(), Vec::new(), Vec::new());
        let mut bases = Vec::new();
        let mut extents = at.extents(self.value);
        let mut labels = Vec::new();
        for (dimension, extent) in self.dimensions.iter().zip(&mut extents) {
            match dimension {
                Dimension::Index(index) => {
                    labels.push(*index);
                    sizes.push(1);
                    strides.push(1);
                    dilations.push(1);
                    bases.push(1);
                    borders.extend([0, 0]);
                }
                Dimension::Window(window) => {
                    labels.push(window.kept);
                    sizes.push(window.length(domain));
                    strides.push(window.stride);
                    dilations.push(window.dilation);
                    bases.push(window.base);
                    borders.extend([window.low, window.high]);
                    *extent = domain[window.kept];
                }
            }
        }
        let init = at.splat(neutral, &[], element);
        let region = at.combination(combiner, element);
        let mut parameters = vec![
            ("window_dimensions", attributes::i64s(context, &sizes)),
            ("window_strides", attributes::i64s(context, &strides)),
            ("window_dilations", attributes::i64s(context, &dilations)),
            ("padding", padding(&borders, at)),
        ];
        if bases.iter().any(|b| *b != 1) {
            parameters.push(("base_dilations", attributes::i64s(context, &bases)));
        }
        let op = at.at.op(
            ops::stablehlo::REDUCE_WINDOW,
            &[self.value, init],
            &parameters,
            &[types::tensor(&extents, element)],
            vec![region],
        );
        let dimensions: Vec<i64> = alone.iter().map(|d| *d as i64).collect();
        let value = at.reduce(at.at.result(op, 0), combiner, neutral, &dimensions);
        labels.retain(|i| !alone_indices.contains(i));
        Some(Field::labelled(value, &labels, at))
    }
}
