// SPDX-License-Identifier: Apache-2.0
//! The function that computes a convolution by Winograd tiles, one block of tiles after the other.

use super::emit::{Source, flat};
use crate::ir::func::Definition;
use crate::schedule::kernel::KERNEL;
use melior::ir::{Operation, Type, Value};

impl<'c> Source<'_, 'c> {
    /// For each block, calls the functions that transform the input, multiply, and transform the products. `steps` is the number of
    /// steps of the multiplying function, if it takes a range of steps; `weights` is the number of elements of the transformed weights.
    pub(super) fn whole<'a>(&self, names: &[String; 3], steps: Option<i64>, weights: i64) -> Operation<'c>
    where
        'c: 'a,
    {
        let shape = self.shape;
        let [input, product, output] = names;
        let positions = std::iter::once(shape.window.image).chain(self.output_arrays());
        let arrays = positions.map(|position| self.signature.arrays[position]);
        let flats =
            [weights, shape.inputs(), shape.products()].map(|elements| flat(self.context(), elements));
        let types = arrays.chain(self.body.captures.iter().copied()).chain(flats);
        let parameters: Vec<(Type, &[&str])> = types.map(|r#type| (r#type, &[][..])).collect();
        let function: Definition<'c, 'a> = Definition::new(self.context(), self.location, &parameters);
        let (arguments, given) = function.arguments.split_at(parameters.len() - flats.len());
        let (image, others) = (arguments[0], &arguments[1..]);
        let [weights, inputs, products] = [given[0], given[1], given[2]];
        let vectors = |channels: i64, lanes: i64| shape.rows * (channels / lanes);
        let at = function.at;
        let zero = at.idx(0);
        let (all, rows) = (at.idx(shape.all_rows), at.idx(shape.rows));
        let input_steps = at.idx(vectors(shape.channels, shape.input_lanes));
        let output_steps = at.idx(vectors(shape.filters, shape.output_lanes));
        let step_bounds = steps.map(|steps| [zero, at.idx(steps)]);
        at.each([zero, all, rows], |at, first| {
            at.call(input, &[image, inputs, first, zero, input_steps]);
            let factors = [inputs, weights, products];
            let range = step_bounds.as_ref().map(|range| &range[..]).unwrap_or_default();
            at.call(product, &[&factors[..], range].concat());
            let block: [Value; 4] = [products, first, zero, output_steps];
            at.call(output, &[others, &block].concat());
        });
        function.finish(KERNEL, &[], &[])
    }
}
