// SPDX-License-Identifier: Apache-2.0
//! Emits the functions of a window in tiles, which transform the weights, a block of the input, and a block of the products.

use super::matrices::WINDOW;
use super::shape::Shape;
use super::transform::transform;
use crate::ir::attribute_names::{NOALIAS, STEPS};
use crate::ir::builder::arith::Integers;
use crate::ir::func::Definition;
use crate::ir::{attributes, ops, types};
use crate::schedule::body::Body;
use crate::schedule::counts::as_usize;
use crate::schedule::kernel::KERNEL;
use crate::schedule::nest::Nest;
use crate::schedule::packing::Packing;
use crate::schedule::plan::{LaneMode, Plan};
use crate::schedule::signature::Signature;
use crate::schedule::writer::{Given, Point, State, Tile, Writer};
use melior::Context;
use melior::ir::{Location, Operation, Type, TypeLike, Value, ValueLike};

/// The operation that the functions compute.
pub(super) struct Source<'w, 'c> {
    pub(super) shape: &'w Shape,
    pub(super) nest: &'w Nest,
    pub(super) body: &'w Body<'c>,
    pub(super) signature: &'w Signature<'c>,
    pub(super) location: Location<'c>,
}

/// The type of a flat array of elements.
pub(super) fn flat(context: &Context, elements: i64) -> Type<'_> {
    types::memref(&[elements], Type::float32(context))
}

impl<'c: 'a, 'a> Source<'_, 'c> {
    pub(super) fn context(&self) -> &'c Context {
        types::context_of(self.body.accumulator)
    }

    /// A plan with vectors along a loop, and blocks of the same size along another loop.
    fn plan(&self, lanes_loop: usize, lanes: i64, rows: usize) -> Plan {
        Plan {
            mode: LaneMode::Output,
            lanes_loop,
            lanes,
            vectors: 1,
            unroll: vec![(rows, lanes)],
            reductions: Vec::new(),
            parallels: Vec::new(),
            is_split: false,
            packed: None,
            group: None,
            hoists: None,
            chunk: None,
        }
    }

    fn writer<'s>(
        &'s self,
        plan: Plan,
        function: &Definition<'c, 'a>,
        given: Given<'c, 'a>,
    ) -> Writer<'s, 'c, 'a> {
        Writer::new(self.nest, plan, self.body, self.signature, function.at, given)
    }

    /// Defines a function with the parameters: arrays of the reduction, captured values, an array of type `other`, indices, and a range of
    /// steps. Returns the function, its inputs, the array `other` and the indices.
    fn define(
        &self,
        arrays: &[usize],
        captures: &[Type<'c>],
        other: Type<'c>,
        indices: usize,
    ) -> (Definition<'c, 'a>, Given<'c, 'a>, Value<'c, 'a>, Vec<Value<'c, 'a>>) {
        let index = Type::index(self.context());
        let noalias = &[NOALIAS][..];
        let passed = arrays.iter().map(|position| (self.signature.arrays[*position], noalias));
        let captured = captures.iter().map(|r#type| (*r#type, &[][..]));
        let indices = vec![(index, &[][..]); indices + 2];
        let all: Vec<_> = passed.chain(captured).chain([(other, noalias)]).chain(indices).collect();
        let function: Definition<'c, 'a> = Definition::new(self.context(), self.location, &all);
        let (passed, others) = function.arguments.split_at(arrays.len());
        let (captured, others) = others.split_at(captures.len());
        let view =
            |(n, array): (&usize, &Value<'c, 'a>)| (*n, self.signature.view(*n, *array, None, &function.at));
        let (indices, steps) = others[1..].split_at(others.len() - 3);
        let given = Given {
            views: arrays.iter().zip(passed).map(view).collect(),
            captures: captured.to_vec(),
            steps: steps.try_into().ok(),
            ..Given::default()
        };
        let (other, indices) = (others[0], indices.to_vec());
        (function, given, other, indices)
    }

    /// Completes a function whose steps are shared by threads.
    fn finish_steps(&self, function: Definition<'c, 'a>, passthrough: &[&str]) -> Operation<'c> {
        let mut attributes = vec![(STEPS, attributes::unit(self.context()))];
        if !passthrough.is_empty() {
            attributes.push(("passthrough", attributes::strings(self.context(), passthrough)));
        }
        function.finish(KERNEL, &[], &attributes)
    }

    /// The output, and the arrays that the initial and final operations on its elements read.
    pub(super) fn output_arrays(&self) -> Vec<usize> {
        let (output, body) = (self.nest.output, self.body);
        (0..self.nest.operands.len())
            .filter(|n| *n == output || body.start_reads(*n) || body.finish_reads(*n))
            .collect()
    }

    /// The stride of an operand along a loop.
    fn stride(&self, operand: usize, l: usize) -> i64 {
        self.nest.operands[operand].strides[l]
    }

    /// Transforms the weights. Steps are blocks along the channels of the output. The result has the order of a packed operand.
    pub(super) fn filter(&self, packing: &Packing<'c>) -> Operation<'c> {
        let (shape, window) = (self.shape, &self.shape.window);
        let plan = self.plan(window.filters, packing.width(), window.filters);
        let strides = &packing.target().strides;
        let (products, block, channel) = (strides[0], strides[2], strides[3]);
        let position = window.filter;
        let elements = shape.filtering.products() * products;
        let weights = flat(self.context(), elements);
        let (function, given, weights, _) = self.define(&[position], &[], weights, 0);
        let mut w = self.writer(plan, &function, given);
        let range = w.range();
        w.loop_in(range, 1, |w, step| {
            let first = w.times(step, packing.width());
            let end = w.constant(shape.filters);
            let far = w.times(step, packing.width() * block);
            w.up_to(packing.width(), |w, lane| {
                let number = w.at.addi(first, lane);
                let is_inside = w.at.cmpi(Integers::Less, number, end);
                w.up_to(shape.channels, |w, l| {
                    let along = w.times(l, channel);
                    let target = w.at.addi(w.at.addi(far, along), lane);
                    let start = w.start();
                    w.branch(is_inside, &[], |w, is_inside| {
                        if is_inside {
                            let state = w.with_loop(&start, window.filters, number);
                            let state = w.with_loop(&state, window.channels, l);
                            self.weights(w, state.bases[position], [weights, target], products);
                        } else {
                            // Fill the last block with zeros.
                            let none = w.at.zero(Type::float32(self.context()));
                            let count = as_usize(shape.filtering.products());
                            w.stores(&vec![none; count], weights, target, products);
                        }
                        Vec::new()
                    });
                });
            });
        });
        self.finish_steps(function, &["noinline", "optsize"])
    }

    /// Transforms the weights of a pair of channels, the first of which is at `base`. Stores the results in an array from a position on,
    /// with a stride.
    fn weights(
        &self,
        w: &mut Writer<'_, 'c, 'a>,
        base: Value<'c, 'a>,
        [to, target]: [Value<'c, 'a>; 2],
        stride: i64,
    ) {
        let (shape, window) = (self.shape, &self.shape.window);
        let (position, at) = (window.filter, w.at);
        let filter = shape.filtering.filter;
        let (narrow, wide) = (Type::float32(self.context()), Type::float64(self.context()));
        let mut columns: Vec<Vec<Value>> = Vec::new();
        for s in 0..WINDOW {
            let column = (0..WINDOW).map(|r| {
                let along = self.stride(position, window.rows[1]) * r;
                let place = w.offset(base, along + self.stride(position, window.columns[1]) * s);
                at.convert(ops::arith::EXTF, at.load(w.view(position), &[place]), wide)
            });
            columns.push(transform(filter, &column.collect::<Vec<_>>(), &at));
        }
        let mut places = (0..).map(|number| number * stride);
        for i in 0..columns[0].len() {
            let row: Vec<Value> = columns.iter().map(|column| column[i]).collect();
            for (value, place) in transform(filter, &row, &at).into_iter().zip(&mut places) {
                let value = at.convert(ops::arith::TRUNCF, value, narrow);
                at.store(value, to, &[w.offset(target, place)]);
            }
        }
    }

    /// The state at the image of a row of tiles, and the number of the row in the image.
    fn row(&self, w: &mut Writer<'_, 'c, 'a>, row: Value<'c, 'a>) -> (State<'c, 'a>, Value<'c, 'a>) {
        let mut state = w.start();
        let count = w.constant(self.shape.tile_rows);
        let tile_row = w.at.remui(row, count);
        let mut rest = w.at.divui(row, count);
        for l in self.shape.window.batches.iter().rev() {
            let extent = w.constant(self.nest.loops[*l].extent);
            let value = w.at.remui(rest, extent);
            rest = w.at.divui(rest, extent);
            state = w.with_loop(&state, *l, value);
        }
        (state, tile_row)
    }

    /// Emits the loop over steps. A step is a row of tiles and a vector of channels. `body` gets the number of the row in the block,
    /// the row, and the first channel.
    fn steps(
        &self,
        w: &mut Writer<'_, 'c, 'a>,
        first: Value<'c, 'a>,
        (vectors, lanes): (i64, i64),
        body: impl FnOnce(&mut Writer<'_, 'c, 'a>, [Value<'c, 'a>; 3]),
    ) {
        let range = w.range();
        w.loop_in(range, 1, |w, step| {
            let count = w.constant(vectors);
            let number = w.at.divui(step, count);
            let vector = w.at.remui(step, count);
            let channel = w.times(vector, lanes);
            let row = w.at.addi(first, number);
            let all = w.constant(self.shape.all_rows);
            let is_inside = w.at.cmpi(Integers::Less, row, all);
            w.when(is_inside, |w| body(w, [number, row, channel]));
        });
    }

    /// Transforms a block of the input. Steps are rows of tiles and vectors of channels.
    pub(super) fn input(&self) -> Operation<'c> {
        let (shape, window) = (self.shape, &self.shape.window);
        let (lanes, inputs) = (shape.input_lanes, shape.filtering.inputs());
        let plan = self.plan(window.channels, lanes, window.columns[0]);
        let all = flat(self.context(), shape.inputs());
        let (function, given, to_inputs, indices) = self.define(&[window.image], &[], all, 1);
        let patch = function.at.alloca(flat(self.context(), shape.patch()));
        let mut w = self.writer(plan, &function, given);
        self.steps(&mut w, indices[0], (shape.channels / lanes, lanes), |w, [row_in_block, row, channel]| {
            let (state, number) = self.row(w, row);
            let state = w.with_loop(&state, window.channels, channel);
            let first = w.times(number, shape.filtering.outputs);
            // Copies rows, with the channels along the lanes.
            w.up_to(inputs, |w, i| {
                let y = w.at.addi(first, i);
                let target = w.times(i, shape.patch_columns() * lanes);
                let height = w.constant(shape.height + WINDOW - 1);
                let is_inside = w.at.cmpi(Integers::Less, y, height);
                w.branch(is_inside, &[], |w, is_inside| {
                    let mut from = 0;
                    if is_inside {
                        let state = w.with_loop(&state, window.rows[0], y);
                        self.columns(w, state.bases[window.image], target, patch);
                        from = shape.width + WINDOW - 1;
                    }
                    w.zeros(patch, target, [from, shape.patch_columns()], lanes);
                    Vec::new()
                });
            });
            let row_stride = shape.patch_columns() * lanes;
            // Transforms the columns in place.
            w.up_to(shape.patch_columns(), |w, x| {
                let place = w.times(x, lanes);
                let values = w.loads(patch, place, row_stride, inputs);
                let values = transform(shape.filtering.input, &values, &w.at);
                w.stores(&values, patch, place, row_stride);
            });
            // Transforms the rows.
            w.up_to(shape.tile_columns, |w, tile| {
                let tile_column = w.times(tile, shape.filtering.outputs * lanes);
                let tile_row = w.times(row_in_block, shape.tile_columns);
                let tile = w.at.addi(tile_row, tile);
                let to = w.times(tile, shape.channels);
                let to = w.at.addi(to, channel);
                w.up_to(inputs, |w, i| {
                    let from = w.times(i, row_stride);
                    let from = w.at.addi(from, tile_column);
                    let one = shape.tiles() * shape.channels;
                    let far = w.times(i, inputs * one);
                    let to = w.at.addi(to, far);
                    let values = w.loads(patch, from, lanes, inputs);
                    let values = transform(shape.filtering.input, &values, &w.at);
                    w.stores(&values, to_inputs, to, one);
                });
            });
        });
        self.finish_steps(function, &[])
    }

    /// Copies the columns of a row of the input as vectors of channels.
    fn columns(
        &self,
        w: &mut Writer<'_, 'c, 'a>,
        base: Value<'c, 'a>,
        target: Value<'c, 'a>,
        patch: Value<'c, 'a>,
    ) {
        let (shape, window) = (self.shape, &self.shape.window);
        let (lanes, image) = (shape.input_lanes, window.image);
        let array = w.view(image);
        let columns = shape.width + WINDOW - 1;
        let stride = self.stride(image, window.channels);
        if stride == 1 {
            return w.up_to(columns, |w, x| {
                let from = w.times(x, self.stride(image, window.columns[0]));
                let from = w.at.addi(base, from);
                let to = w.times(x, lanes);
                let to = w.at.addi(target, to);
                let value = w.at.load_vector(array, &[from], w.sums(), None);
                w.stores(&[value], patch, to, 0);
            });
        }
        let whole = columns / lanes * lanes;
        if whole > 0 {
            let range = [w.constant(0), w.constant(whole)];
            w.loop_in(range, lanes, |w, x| {
                let from = w.at.addi(base, x);
                let mut block = w.loads(array, from, stride, lanes);
                w.transpose_block(&mut block);
                let to = w.times(x, lanes);
                let to = w.at.addi(target, to);
                w.stores(&block, patch, to, lanes);
            });
        }
        let remainder = columns - whole;
        if remainder > 0 {
            let from = w.offset(base, whole);
            let mask = w.at.constant_mask(remainder, lanes);
            let block = (0..lanes).map(|lane| {
                let place = w.offset(from, lane * stride);
                w.at.masked_load(array, place, mask, w.sums())
            });
            let mut block: Vec<Value> = block.collect();
            w.transpose_block(&mut block);
            block.truncate(as_usize(remainder));
            let to = w.offset(target, whole * lanes);
            w.stores(&block, patch, to, lanes);
        }
    }

    /// Transforms a block of the products to elements of the output, applies the final operations, and stores them. Steps are rows of
    /// tiles and vectors of channels.
    pub(super) fn output(&self) -> Operation<'c> {
        let (shape, window) = (self.shape, &self.shape.window);
        let (lanes, inputs) = (shape.output_lanes, shape.filtering.inputs());
        let outputs = shape.filtering.outputs;
        let plan = self.plan(window.filters, lanes, window.columns[0]);
        let context = self.context();
        let all = flat(context, shape.products());
        let (function, mut given, products, indices) =
            self.define(&self.output_arrays(), &self.body.captures, all, 1);
        let [partial, line] =
            [shape.partial(), shape.output_row()].map(|elements| function.at.alloca(flat(context, elements)));
        given.scratch = plan.scratch(self.nest, Type::float32(context), &function.at);
        let mut w = self.writer(plan, &function, given);
        self.steps(&mut w, indices[0], (shape.filters / lanes, lanes), |w, [row_in_block, row, channel]| {
            let (state, number) = self.row(w, row);
            let state = w.with_loop(&state, window.filters, channel);
            let row_stride = shape.tile_columns * inputs * lanes;
            // Transforms the columns.
            w.up_to(shape.tile_columns, |w, tile| {
                let tile_row = w.times(row_in_block, shape.tile_columns);
                let from = w.at.addi(tile_row, tile);
                let from = w.times(from, shape.filters);
                let from = w.at.addi(from, channel);
                let to = w.times(tile, inputs * lanes);
                w.up_to(inputs, |w, j| {
                    let one = shape.tiles() * shape.filters;
                    let far = w.times(j, one);
                    let from = w.at.addi(from, far);
                    let values = w.loads(products, from, inputs * one, inputs);
                    let values = transform(shape.filtering.output, &values, &w.at);
                    let along = w.times(j, lanes);
                    let to = w.at.addi(to, along);
                    w.stores(&values, partial, to, row_stride);
                });
            });
            // Transforms the rows.
            let first = w.times(number, outputs);
            w.up_to(outputs, |w, i| {
                let y = w.at.addi(first, i);
                let height = w.constant(shape.height);
                let is_inside = w.at.cmpi(Integers::Less, y, height);
                w.when(is_inside, |w| {
                    let state = w.with_loop(&state, window.rows[0], y);
                    w.up_to(shape.tile_columns, |w, tile| {
                        let from = w.times(i, row_stride);
                        let along = w.times(tile, inputs * lanes);
                        let from = w.at.addi(from, along);
                        let values = w.loads(partial, from, lanes, inputs);
                        let values = transform(shape.filtering.output, &values, &w.at);
                        let to = w.times(tile, outputs * lanes);
                        w.stores(&values, line, to, lanes);
                    });
                    self.finish(w, &state, line);
                });
            });
        });
        self.finish_steps(function, &[])
    }

    /// Finishes and stores a row of the output.
    fn finish(&self, w: &mut Writer<'_, 'c, 'a>, state: &State<'c, 'a>, line: Value<'c, 'a>) {
        let shape = self.shape;
        let lanes = shape.output_lanes;
        let whole = shape.width / lanes * lanes;
        if whole > 0 {
            let range = [w.constant(0), w.constant(whole)];
            w.loop_in(range, lanes, |w, x| self.finish_block(w, state, line, x, lanes));
        }
        if shape.width > whole {
            let x = w.constant(whole);
            self.finish_block(w, state, line, x, shape.width - whole);
        }
    }

    fn finish_block(
        &self,
        w: &mut Writer<'_, 'c, 'a>,
        state: &State<'c, 'a>,
        line: Value<'c, 'a>,
        x: Value<'c, 'a>,
        count: i64,
    ) {
        let (shape, window) = (self.shape, &self.shape.window);
        let (lanes, column) = (shape.output_lanes, window.columns[0]);
        let from = w.times(x, lanes);
        let values = w.loads(line, from, lanes, count);
        let mut state = w.with_loop(state, column, x);
        state.tile.insert(column, Tile::full(count));
        state.tile.insert(window.filters, Tile::full(1));
        let points = (0..count).map(|step| Point { steps: vec![(column, step)], vector: 0 });
        let points: Vec<Point> = points.collect();
        match w.plan.transposed(self.nest) {
            Some(rows) => w.transpose(rows, &state, &points, &values),
            None => w.combine_and_finish(&state, &points, &values),
        }
    }
}

impl<'c: 'a, 'a> Writer<'_, 'c, 'a> {
    /// The range of steps of the function.
    fn range(&self) -> [Value<'c, 'a>; 2] {
        self.given.steps.unwrap_or_else(|| unreachable!("internal compiler error: a function without steps"))
    }

    /// Emits a loop from 0 to `count`.
    fn up_to(&mut self, count: i64, body: impl FnOnce(&mut Self, Value<'c, 'a>)) {
        let range = [self.constant(0), self.constant(count)];
        self.loop_in(range, 1, body);
    }

    /// Loads vectors of an array with a stride.
    fn loads(
        &mut self,
        array: Value<'c, 'a>,
        first: Value<'c, 'a>,
        stride: i64,
        count: i64,
    ) -> Vec<Value<'c, 'a>> {
        let vectors = (0..count).map(|number| {
            let place = self.offset(first, number * stride);
            self.at.load_vector(array, &[place], self.sums(), None)
        });
        vectors.collect()
    }

    /// Stores scalars or vectors with a stride.
    fn stores(&mut self, values: &[Value<'c, 'a>], array: Value<'c, 'a>, first: Value<'c, 'a>, stride: i64) {
        for (number, value) in (0..).zip(values) {
            let place = self.offset(first, number * stride);
            if value.r#type().is_vector() {
                self.at.store_vector(*value, array, &[place], None);
            } else {
                self.at.store(*value, array, &[place]);
            }
        }
    }

    /// Stores zeros in columns of a row of the patch.
    fn zeros(&mut self, patch: Value<'c, 'a>, target: Value<'c, 'a>, [from, to]: [i64; 2], lanes: i64) {
        if from == to {
            return;
        }
        let none = self.at.zero(self.sums());
        let range = [self.constant(from), self.constant(to)];
        self.loop_in(range, 1, |w, x| {
            let place = w.times(x, lanes);
            let place = w.at.addi(target, place);
            w.stores(&[none], patch, place, 0);
        });
    }
}
