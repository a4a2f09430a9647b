// SPDX-License-Identifier: Apache-2.0
//! The functions of a window in tiles: they transform the weights, a block of the input, and a block of the products.

use super::matrices::WINDOW;
use super::shape::Shape;
use crate::ir::attribute_names::STEPS;
use crate::ir::ops;
use crate::schedule::body::Body;
use crate::schedule::nest::Nest;
use crate::schedule::packing::Packing;
use crate::schedule::plan::{LaneMode, Plan};
use crate::schedule::signature::Signature;
use crate::schedule::writer::{Point, State, Tile, Writer};
use std::fmt::Write as _;

/// What the functions are written from.
pub(super) struct Source<'a> {
    pub(super) shape: &'a Shape,
    pub(super) nest: &'a Nest,
    pub(super) body: &'a Body,
    pub(super) signature: &'a Signature,
}

/// A flat array of elements.
pub(super) fn flat(elements: i64) -> String {
    format!("memref<{elements}xf32>")
}

impl Source<'_> {
    /// A plan with vectors along a loop, and blocks as wide along another.
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

    fn writer<'a>(&'a self, plan: &'a Plan) -> Writer<'a> {
        let mut writer = Writer::new(self.nest, plan, self.body, self.signature);
        writer.depth = 1;
        writer
    }

    /// `%mN: type`, an array of the reduction.
    fn argument(&self, position: usize) -> String {
        let kind = self.signature.arrays.get(position);
        let kind = kind.map(String::as_str).unwrap_or_default();
        format!("%m{position}: {kind} {{llvm.noalias}}")
    }

    /// The definition of `%lN`, the same as a flat array.
    fn view(&self, position: usize) -> String {
        let kind = self.signature.arrays.get(position);
        let window = self.signature.windows.get(position);
        let (Some(kind), Some((offset, span))) = (kind, window) else {
            return String::new();
        };
        format!(
            "  %l{position} = memref.reinterpret_cast %m{position} to offset: [{offset}], sizes: [{span}], strides: [1] : {kind} to {}\n",
            self.signature.flat(position)
        )
    }

    /// The arrays that the start and the end of an element read, and the one that it is in.
    pub(super) fn output_arrays(&self) -> Vec<usize> {
        let (output, body) = (self.nest.output, self.body);
        (0..self.nest.operands.len())
            .filter(|n| *n == output || body.start_reads(*n) || body.finish_reads(*n))
            .collect()
    }

    /// Transforms the weights. Steps are blocks along the output's channels; the result has the order of a packed operand.
    pub(super) fn filter(&self, packing: &Packing) -> String {
        let (shape, window) = (self.shape, &self.shape.window);
        let plan = self.plan(window.filters, packing.width(), window.filters);
        let mut w = self.writer(&plan);
        let [products, _, block, channel] = packing.target().strides.as_slice() else {
            return String::new();
        };
        let position = window.filter;
        let elements = shape.filtering.products() * products;
        let step = w.for_each("%from", "%to");
        let first = w.times(&step, packing.width());
        let end = w.constant(shape.filters);
        let far = w.times(&step, packing.width() * block);
        let (zero, width) = (w.constant(0), w.constant(packing.width()));
        let lane = w.for_each(&zero, &width);
        let number = w.plus(&first, &lane);
        let is_inside = w.define(&format!("{} ult, {number}, {end} : index", ops::arith::CMPI));
        let channels = w.constant(shape.channels);
        let l = w.for_each(&zero, &channels);
        let along = w.times(&l, *channel);
        let target = w.plus(&far, &along);
        let target = w.plus(&target, &lane);
        let start = w.start();
        w.open(&format!("scf.if {is_inside} {{"));
        let state = w.at(&start, window.filters, &number);
        let state = w.at(&state, window.channels, &l);
        let base = state.bases.get(position).cloned().unwrap_or_default();
        let stride = |l: usize| {
            let own = self.nest.operands.get(position);
            own.and_then(|own| own.strides.get(l)).copied().unwrap_or(0)
        };
        let mut columns: Vec<Vec<String>> = Vec::new();
        for s in 0..WINDOW {
            let mut column = Vec::new();
            for r in 0..WINDOW {
                let distance = stride(window.rows[1]) * r + stride(window.columns[1]) * s;
                let at = w.offset(&base, distance);
                let array = self.signature.flat(position);
                let value = w.define(&format!("{} %l{position}[{at}] : {array}", ops::memref::LOAD));
                column.push(w.define(&format!("{} {value} : f32 to f64", ops::arith::EXTF)));
            }
            columns.push(w.transform(shape.filtering.filter, &column, "f64", "f64"));
        }
        let inputs = shape.filtering.inputs();
        for i in 0..inputs {
            let row: Vec<String> =
                columns.iter().filter_map(|column| column.get(i as usize).cloned()).collect();
            let row = w.transform(shape.filtering.filter, &row, "f64", "f64");
            for (j, value) in (0..).zip(row) {
                let value = w.define(&format!("{} {value} : f64 to f32", ops::arith::TRUNCF));
                let at = w.offset(&target, (i * inputs + j) * products);
                w.line(&format!("{} {value}, %to_weights[{at}] : {}", ops::memref::STORE, flat(elements)));
            }
        }
        w.end();
        // The last block is filled up.
        w.open("else {");
        let none = w.define(&format!("{} 0.0 : f32", ops::arith::CONSTANT));
        for number in 0..inputs * inputs {
            let at = w.offset(&target, number * products);
            w.line(&format!("{} {none}, %to_weights[{at}] : {}", ops::memref::STORE, flat(elements)));
        }
        (0..4).for_each(|_| w.end());
        format!(
            "func.func private @KERNEL({}, %to_weights: {} {{llvm.noalias}}, %from: index, %to: index) attributes {{llvm.linkage = #llvm.linkage<internal>, passthrough = [\"noinline\", \"optsize\"], {STEPS}}} {{\n{}{}  return\n}}\n",
            self.argument(position),
            flat(elements),
            self.view(position),
            w.finished()
        )
    }

    /// The position of a row of tiles: that of its image, and its number there.
    fn row(&self, w: &mut Writer, row: &str) -> (State, String) {
        let mut state = w.start();
        let count = w.constant(self.shape.tile_rows);
        let own = w.define(&format!("{} {row}, {count} : index", ops::arith::REMUI));
        let mut rest = w.define(&format!("{} {row}, {count} : index", ops::arith::DIVUI));
        for l in self.shape.window.batches.iter().rev() {
            let extent = self.nest.loops.get(*l).map_or(1, |own| own.extent);
            let extent = w.constant(extent);
            let value = w.define(&format!("{} {rest}, {extent} : index", ops::arith::REMUI));
            rest = w.define(&format!("{} {rest}, {extent} : index", ops::arith::DIVUI));
            state = w.at(&state, *l, &value);
        }
        (state, own)
    }

    /// Begins the loop over steps, each a row of tiles and a vector of channels: the row in the block, and the first channel. Two blocks
    /// are open then.
    fn steps(&self, w: &mut Writer, vectors: i64, lanes: i64) -> [String; 3] {
        let step = w.for_each("%from", "%to");
        let count = w.constant(vectors);
        let own = w.define(&format!("{} {step}, {count} : index", ops::arith::DIVUI));
        let vector = w.define(&format!("{} {step}, {count} : index", ops::arith::REMUI));
        let channel = w.times(&vector, lanes);
        let row = w.plus("%first", &own);
        let all = w.constant(self.shape.all_rows);
        let is_inside = w.define(&format!("{} ult, {row}, {all} : index", ops::arith::CMPI));
        w.open(&format!("scf.if {is_inside} {{"));
        [own, row, channel]
    }

    /// Transforms a block of the input. Steps are rows of tiles and vectors of channels.
    pub(super) fn input(&self) -> String {
        let (shape, window) = (self.shape, &self.shape.window);
        let (lanes, inputs) = (shape.input_lanes, shape.filtering.inputs());
        let plan = self.plan(window.channels, lanes, window.columns[0]);
        let mut w = self.writer(&plan);
        let vectors = shape.channels / lanes;
        let [own, row, channel] = self.steps(&mut w, vectors, lanes);
        let (state, number) = self.row(&mut w, &row);
        let state = w.at(&state, window.channels, &channel);
        let (patch, kind) = (flat(shape.patch()), format!("vector<{lanes}xf32>"));
        let zero = w.constant(0);
        let first = w.times(&number, shape.filtering.outputs);
        // Rows with the channels along the lanes.
        let count = w.constant(inputs);
        let i = w.for_each(&zero, &count);
        let y = w.plus(&first, &i);
        let target = w.times(&i, shape.patch_columns() * lanes);
        let height = w.constant(shape.height + WINDOW - 1);
        let is_inside = w.define(&format!("{} ult, {y}, {height} : index", ops::arith::CMPI));
        w.open(&format!("scf.if {is_inside} {{"));
        let state = w.at(&state, window.rows[0], &y);
        let base = state.bases.get(window.image).cloned().unwrap_or_default();
        self.columns(&mut w, &base, &target);
        w.zeros(&target, [shape.width + WINDOW - 1, shape.patch_columns()], lanes, &patch);
        w.end();
        w.open("else {");
        w.zeros(&target, [0, shape.patch_columns()], lanes, &patch);
        w.end();
        w.end();
        // Along the columns, in place.
        let end = w.constant(shape.patch_columns());
        let x = w.for_each(&zero, &end);
        let at = w.times(&x, lanes);
        let apart = shape.patch_columns() * lanes;
        let values = w.loads("%patch", &at, apart, inputs, [&patch, &kind]);
        let values = w.transform(shape.filtering.input, &values, "f32", &kind);
        w.stores(&values, "%patch", &at, apart, [&patch, &kind]);
        w.end();
        // Along the rows.
        let tiles = w.constant(shape.tile_columns);
        let tile = w.for_each(&zero, &tiles);
        let tile_column = w.times(&tile, shape.filtering.outputs * lanes);
        let tile_row = w.times(&own, shape.tile_columns);
        let tile = w.plus(&tile_row, &tile);
        let to = w.times(&tile, shape.channels);
        let to = w.plus(&to, &channel);
        let i = w.for_each(&zero, &count);
        let at = w.times(&i, apart);
        let at = w.plus(&at, &tile_column);
        let one = shape.tiles() * shape.channels;
        let far = w.times(&i, inputs * one);
        let to = w.plus(&to, &far);
        let values = w.loads("%patch", &at, lanes, inputs, [&patch, &kind]);
        let values = w.transform(shape.filtering.input, &values, "f32", &kind);
        let all = flat(shape.inputs());
        w.stores(&values, "%to_inputs", &to, one, [&all, &kind]);
        (0..4).for_each(|_| w.end());
        format!(
            "func.func private @KERNEL({}, %to_inputs: {all} {{llvm.noalias}}, %first: index, %from: index, %to: index) attributes {{llvm.linkage = #llvm.linkage<internal>, {STEPS}}} {{\n{}  %patch = memref.alloca() {{alignment = 64 : i64}} : {patch}\n{}  return\n}}\n",
            self.argument(window.image),
            self.view(window.image),
            w.finished()
        )
    }

    /// Copies the columns of a row of the input, each a vector of channels.
    fn columns(&self, w: &mut Writer, base: &str, target: &str) {
        let (shape, window) = (self.shape, &self.shape.window);
        let (lanes, image) = (shape.input_lanes, window.image);
        let (patch, kind) = (flat(shape.patch()), format!("vector<{lanes}xf32>"));
        let array = self.signature.flat(image);
        let columns = shape.width + WINDOW - 1;
        let stride = |l: usize| {
            let own = self.nest.operands.get(image);
            own.and_then(|own| own.strides.get(l)).copied().unwrap_or(0)
        };
        let zero = w.constant(0);
        if stride(window.channels) == 1 {
            let end = w.constant(columns);
            let x = w.for_each(&zero, &end);
            let from = w.times(&x, stride(window.columns[0]));
            let from = w.plus(base, &from);
            let to = w.times(&x, lanes);
            let to = w.plus(target, &to);
            let value = w.define(&format!("vector.load %l{image}[{from}] : {array}, {kind}"));
            w.stores(&[value], "%patch", &to, 0, [&patch, &kind]);
            w.end();
            return;
        }
        let apart = stride(window.channels);
        let whole = columns / lanes * lanes;
        if whole > 0 {
            let (end, width) = (w.constant(whole), w.constant(lanes));
            let x = w.fresh();
            w.open(&format!("scf.for {x} = {zero} to {end} step {width} {{"));
            let from = w.plus(base, &x);
            let mut block = w.loads(&format!("%l{image}"), &from, apart, lanes, [&array, &kind]);
            w.transpose_block(&mut block, &kind);
            let to = w.times(&x, lanes);
            let to = w.plus(target, &to);
            w.stores(&block, "%patch", &to, lanes, [&patch, &kind]);
            w.end();
        }
        let rest = columns - whole;
        if rest > 0 {
            let from = w.offset(base, whole);
            let masks = format!("vector<{lanes}xi1>");
            let mask = w.define(&format!("vector.constant_mask [{rest}] : {masks}"));
            let none = w.define(&format!("{} dense<0.0> : {kind}", ops::arith::CONSTANT));
            let mut block = Vec::new();
            for lane in 0..lanes {
                let at = w.offset(&from, lane * apart);
                block.push(w.define(&format!(
                    "vector.maskedload %l{image}[{at}], {mask}, {none} : {array}, {masks}, {kind} into {kind}"
                )));
            }
            w.transpose_block(&mut block, &kind);
            block.truncate(usize::try_from(rest).unwrap_or(0));
            let to = w.offset(target, whole * lanes);
            w.stores(&block, "%patch", &to, lanes, [&patch, &kind]);
        }
    }

    /// Transforms a block of the products to elements of the output, and finishes them. Steps are rows of tiles and vectors of channels.
    pub(super) fn output(&self) -> String {
        let (shape, window) = (self.shape, &self.shape.window);
        let (lanes, inputs) = (shape.output_lanes, shape.filtering.inputs());
        let outputs = shape.filtering.outputs;
        let plan = self.plan(window.filters, lanes, window.columns[0]);
        let mut w = self.writer(&plan);
        let vectors = shape.filters / lanes;
        let [own, row, channel] = self.steps(&mut w, vectors, lanes);
        let (state, number) = self.row(&mut w, &row);
        let state = w.at(&state, window.filters, &channel);
        let kind = format!("vector<{lanes}xf32>");
        let (partial, line) = (flat(shape.partial()), flat(shape.output_row()));
        let all = flat(shape.products());
        let zero = w.constant(0);
        let (tiles, count) = (w.constant(shape.tile_columns), w.constant(inputs));
        // Along the columns.
        let tile = w.for_each(&zero, &tiles);
        let tile_row = w.times(&own, shape.tile_columns);
        let from = w.plus(&tile_row, &tile);
        let from = w.times(&from, shape.filters);
        let from = w.plus(&from, &channel);
        let to = w.times(&tile, inputs * lanes);
        let j = w.for_each(&zero, &count);
        let one = shape.tiles() * shape.filters;
        let far = w.times(&j, one);
        let from = w.plus(&from, &far);
        let values = w.loads("%products", &from, inputs * one, inputs, [&all, &kind]);
        let values = w.transform(shape.filtering.output, &values, "f32", &kind);
        let along = w.times(&j, lanes);
        let to = w.plus(&to, &along);
        let apart = shape.tile_columns * inputs * lanes;
        w.stores(&values, "%partial", &to, apart, [&partial, &kind]);
        w.end();
        w.end();
        // Along the rows.
        let first = w.times(&number, outputs);
        let count = w.constant(outputs);
        let i = w.for_each(&zero, &count);
        let y = w.plus(&first, &i);
        let height = w.constant(shape.height);
        let is_inside = w.define(&format!("{} ult, {y}, {height} : index", ops::arith::CMPI));
        w.open(&format!("scf.if {is_inside} {{"));
        let state = w.at(&state, window.rows[0], &y);
        let tile = w.for_each(&zero, &tiles);
        let from = w.times(&i, apart);
        let along = w.times(&tile, inputs * lanes);
        let from = w.plus(&from, &along);
        let values = w.loads("%partial", &from, lanes, inputs, [&partial, &kind]);
        let values = w.transform(shape.filtering.output, &values, "f32", &kind);
        let to = w.times(&tile, outputs * lanes);
        w.stores(&values, "%line", &to, lanes, [&line, &kind]);
        w.end();
        self.finish(&mut w, &state);
        (0..4).for_each(|_| w.end());
        let arrays = self.output_arrays();
        let mut arguments: Vec<String> = arrays.iter().map(|n| self.argument(*n)).collect();
        arguments.extend(self.body.captures.iter().enumerate().map(|(n, kind)| format!("%x{n}: {kind}")));
        let mut text = format!(
            "func.func private @KERNEL({}, %products: {all} {{llvm.noalias}}, %first: index, %from: index, %to: index) attributes {{llvm.linkage = #llvm.linkage<internal>, {STEPS}}} {{\n",
            arguments.join(", ")
        );
        arrays.iter().for_each(|n| text.push_str(&self.view(*n)));
        let mut scratch = |name: &str, kind: &str| {
            let _ = writeln!(text, "  %{name} = memref.alloca() {{alignment = 64 : i64}} : {kind}");
        };
        scratch("partial", &partial);
        scratch("line", &line);
        if plan.transposed(self.nest).is_some() {
            scratch("scratch", &plan.scratch_type("f32"));
        }
        text.push_str(&w.finished());
        text.push_str("  return\n}\n");
        text
    }

    /// Finishes and stores a row of the output.
    fn finish(&self, w: &mut Writer, state: &State) {
        let shape = self.shape;
        let lanes = shape.output_lanes;
        let whole = shape.width / lanes * lanes;
        let zero = w.constant(0);
        if whole > 0 {
            let (end, width) = (w.constant(whole), w.constant(lanes));
            let x = w.fresh();
            w.open(&format!("scf.for {x} = {zero} to {end} step {width} {{"));
            self.finish_block(w, state, &x, lanes);
            w.end();
        }
        if shape.width > whole {
            let x = w.constant(whole);
            self.finish_block(w, state, &x, shape.width - whole);
        }
    }

    fn finish_block(&self, w: &mut Writer, state: &State, x: &str, count: i64) {
        let (shape, window) = (self.shape, &self.shape.window);
        let (lanes, column) = (shape.output_lanes, window.columns[0]);
        let kind = format!("vector<{lanes}xf32>");
        let from = w.times(x, lanes);
        let line = flat(shape.output_row());
        let values = w.loads("%line", &from, lanes, count, [&line, &kind]);
        let mut state = w.at(state, column, x);
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

impl Writer<'_> {
    fn times(&mut self, value: &str, factor: i64) -> String {
        let factor = self.constant(factor);
        self.define(&format!("{} {value}, {factor} : index", ops::arith::MULI))
    }

    fn plus(&mut self, a: &str, b: &str) -> String {
        self.define(&format!("{} {a}, {b} : index", ops::arith::ADDI))
    }

    /// Begins a block.
    fn open(&mut self, text: &str) {
        self.line(text);
        self.depth += 1;
    }

    /// Ends a block.
    fn end(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    /// Begins a loop; returns its variable.
    fn for_each(&mut self, from: &str, to: &str) -> String {
        let (variable, one) = (self.fresh(), self.constant(1));
        self.open(&format!("scf.for {variable} = {from} to {to} step {one} {{"));
        variable
    }

    /// Vectors of an array, `apart` elements from each other.
    fn loads(
        &mut self,
        array: &str,
        at: &str,
        apart: i64,
        count: i64,
        [array_type, kind]: [&str; 2],
    ) -> Vec<String> {
        let mut values = Vec::new();
        for number in 0..count {
            let at = self.offset(at, number * apart);
            values.push(self.define(&format!("vector.load {array}[{at}] : {array_type}, {kind}")));
        }
        values
    }

    /// Stores vectors, `apart` elements from each other.
    fn stores(
        &mut self,
        values: &[String],
        array: &str,
        at: &str,
        apart: i64,
        [array_type, kind]: [&str; 2],
    ) {
        for (number, value) in (0..).zip(values) {
            let at = self.offset(at, number * apart);
            self.line(&format!("vector.store {value}, {array}[{at}] : {array_type}, {kind}"));
        }
    }

    /// Stores zeros in columns of a row of the patch.
    fn zeros(&mut self, target: &str, [from, to]: [i64; 2], lanes: i64, patch: &str) {
        if from == to {
            return;
        }
        let kind = format!("vector<{lanes}xf32>");
        let none = self.define(&format!("{} dense<0.0> : {kind}", ops::arith::CONSTANT));
        let (from, to) = (self.constant(from), self.constant(to));
        let x = self.for_each(&from, &to);
        let at = self.times(&x, lanes);
        let at = self.plus(target, &at);
        self.stores(&[none], "%patch", &at, 0, [patch, &kind]);
        self.end();
    }
}
