// SPDX-License-Identifier: Apache-2.0
//! Reductions whose inputs are shared by many elements of the result, such as products of matrices and convolutions.
//!
//! The loops of the result fall into those that both sides of the inputs move along (the batch), those of one side (the rows) and
//! those of the other (the columns). A block computes a tile of rows by columns, in steps along the reduction: its threads copy the
//! inputs of a step into shared memory, and each adds the products of a smaller tile in registers. Windows are reductions over several
//! loops, whose iterations are numbered: a convolution is a product of matrices that are never stored.
//!
//! Each element is accumulated by one thread, in the order of the formula.

use super::super::body::Body;
use super::super::nest::{LoopKind, Nest};
use super::super::targets::gpus::{Gpu, Tile};
use super::code::{Code, Number, Point};
use std::collections::HashMap;

/// What the loops of a reduction are for its tiles.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Contraction {
    batch: Vec<usize>,
    depth: Vec<usize>,
    /// Rows, and columns.
    sides: [Side; 2],
}

/// The inputs that move along the rows, or along the columns.
#[derive(Debug, Default, PartialEq, Eq)]
struct Side {
    loops: Vec<usize>,
    inputs: Vec<usize>,
}

/// Rows and columns of the smallest result that is computed in tiles.
const SMALLEST: i64 = 4;

/// Products of the smallest reduction that is computed in tiles.
const SHORTEST: i64 = 4;

impl Contraction {
    /// The roles of the loops; `None` if no input is shared by elements of the result.
    pub(super) fn of(nest: &Nest) -> Option<Contraction> {
        let stride = |operand: usize, l: usize| {
            let own = nest.operands.get(operand)?;
            own.strides.get(l).copied()
        };
        let kinds = nest.loops.iter().map(|own| own.kind).enumerate();
        let all = |kind| kinds.clone().filter(move |(_, own)| *own == kind);
        let parallel: Vec<usize> = all(LoopKind::Parallel).map(|(l, _)| l).collect();
        let depth: Vec<usize> = all(LoopKind::Reduction).map(|(l, _)| l).collect();
        let moves = |operand: usize, l: usize| stride(operand, l).is_some_and(|s| s != 0);
        let inputs = 0..nest.output;
        // Inputs without loops of their own move with any side.
        let own = |operand: usize| parallel.iter().filter(move |l| moves(operand, **l));
        let mut shared: Vec<usize> = parallel.clone();
        for operand in inputs.clone().filter(|n| own(*n).next().is_some()) {
            shared.retain(|l| moves(operand, *l));
        }
        let mut sides: Vec<Side> = Vec::new();
        let mut free = Vec::new();
        for operand in inputs {
            let loops: Vec<usize> = own(operand)
                .filter(|l| !shared.contains(l))
                .copied()
                .collect();
            if loops.is_empty() {
                free.push(operand);
                continue;
            }
            let (mut merged, others): (Vec<Side>, Vec<Side>) = sides
                .into_iter()
                .partition(|side| side.loops.iter().any(|l| loops.contains(l)));
            let mut side = Side {
                loops,
                inputs: vec![operand],
            };
            for other in &mut merged {
                side.loops.append(&mut other.loops);
                side.inputs.append(&mut other.inputs);
            }
            side.loops.sort_unstable();
            side.loops.dedup();
            side.inputs.sort_unstable();
            sides = others;
            sides.push(side);
        }
        let [mut first, mut second] = <[Side; 2]>::try_from(sides).ok()?;
        // Consecutive threads write consecutive elements: along the columns.
        let closest = |side: &Side| {
            let strides = side.loops.iter().filter_map(|l| stride(nest.output, *l));
            strides.min().unwrap_or(i64::MAX)
        };
        if closest(&first) < closest(&second) {
            std::mem::swap(&mut first, &mut second);
        }
        first.inputs.extend(free);
        let batch = |l: &usize| !first.loops.contains(l) && !second.loops.contains(l);
        Some(Contraction {
            batch: parallel.iter().copied().filter(batch).collect(),
            depth,
            sides: [first, second],
        })
    }

    /// The number of rows, of columns and of products, and of such matrices.
    fn sizes(&self, nest: &Nest) -> [i64; 4] {
        let count = |loops: &[usize]| {
            let extents = loops.iter().filter_map(|l| nest.loops.get(*l));
            extents.fold(1_i64, |all, own| all.saturating_mul(own.extent))
        };
        let [rows, columns] = &self.sides;
        [
            count(&rows.loops),
            count(&columns.loops),
            count(&self.depth),
            count(&self.batch),
        ]
    }

    /// The tile with the shortest time; `None` if the result is too small for any.
    pub(super) fn tile(&self, nest: &Nest, elements: &[String], gpu: &Gpu) -> Option<Tile> {
        let [rows, columns, depth, batch] = self.sizes(nest);
        if rows < SMALLEST || columns < SMALLEST || depth < SHORTEST {
            return None;
        }
        let fits = |tile: &&Tile| {
            let bytes = |side: &Side, size: u32| -> u64 {
                let inputs = side.inputs.iter().filter_map(|n| elements.get(*n));
                let bytes = inputs.filter_map(|own| crate::extents::size::element_bytes(own));
                let bytes: u64 = bytes.sum();
                bytes * u64::from(size + 1) * u64::from(tile.depth)
            };
            let [first, second] = &self.sides;
            bytes(first, tile.rows) + bytes(second, tile.columns) <= u64::from(gpu.shared_memory)
        };
        let time = |tile: &Tile| {
            let (own_rows, own_columns) = (i64::from(tile.rows), i64::from(tile.columns));
            let blocks = rows.div_euclid(own_rows) + i64::from(rows % own_rows != 0);
            let others = columns.div_euclid(own_columns) + i64::from(columns % own_columns != 0);
            let blocks = blocks.saturating_mul(others).saturating_mul(batch);
            let processors = i64::from(gpu.processors.max(1));
            let waves = blocks / processors + i64::from(blocks % processors != 0);
            waves.saturating_mul(tile.cycles())
        };
        gpu.tiles
            .iter()
            .filter(fits)
            .min_by_key(|tile| time(tile))
            .copied()
    }

    /// The number of blocks with this tile.
    fn blocks(&self, nest: &Nest, tile: &Tile) -> i64 {
        let [rows, columns, _, batch] = self.sizes(nest);
        let tiles =
            |count: i64, size: u32| count.saturating_add(i64::from(size) - 1) / i64::from(size);
        let all = tiles(rows, tile.rows).saturating_mul(tiles(columns, tile.columns));
        all.saturating_mul(batch)
    }

    /// The code of the blocks.
    pub(super) fn write(&self, code: Code, tile: &Tile) -> String {
        let tiles = self.blocks(code.nest, tile);
        let [rows, columns, depth, _] = self.sizes(code.nest);
        let sizes = [i64::from(tile.rows), i64::from(tile.columns)];
        let own = [i64::from(tile.thread_rows), i64::from(tile.thread_columns)];
        let mut writer = TileWriter {
            threads: tile.threads(),
            step: i64::from(tile.depth),
            code,
            contraction: self,
            counts: [rows, columns],
            depth,
            sizes,
            own,
            thread: Number::Known(0),
            first: [Number::Known(0), Number::Known(0)],
            batch: Vec::new(),
            lanes: [String::new(), String::new()],
            copies: Vec::new(),
            shared: HashMap::new(),
        };
        writer.write();
        writer.code.launch(tiles, tile.threads())
    }
}

/// An element of an input that a thread copies into shared memory at each step.
struct Copied {
    input: usize,
    /// The address without the iterations of the reduction.
    base: Number,
    /// Its product of the step.
    product: Number,
    /// Its position in shared memory.
    place: [String; 2],
}

/// The iterations of some loops.
type Iterations = Vec<(usize, Number)>;

struct TileWriter<'r> {
    code: Code<'r>,
    contraction: &'r Contraction,
    /// Rows and columns.
    counts: [i64; 2],
    depth: i64,
    /// Rows and columns of a block.
    sizes: [i64; 2],
    /// Rows and columns of a thread.
    own: [i64; 2],
    threads: i64,
    step: i64,
    thread: Number,
    /// The block's first row and column.
    first: [Number; 2],
    batch: Iterations,
    /// The thread's first row and column in its block, as indices.
    lanes: [String; 2],
    copies: Vec<Copied>,
    /// The types of the inputs' arrays in shared memory.
    shared: HashMap<usize, String>,
}

impl TileWriter<'_> {
    fn write(&mut self) {
        let contraction = self.contraction;
        self.code.views();
        let tiles = |n: usize| {
            let (count, size) = (self.counts.get(n), self.sizes.get(n));
            count
                .zip(size)
                .map_or(1, |(count, size)| (count + size - 1) / size)
        };
        let (down, across) = (tiles(0), tiles(1));
        let block = self.code.number("%block");
        let (rest, column) = self.code.split(&block, across);
        let (batch, row) = self.code.split(&rest, down);
        let (batch, row) = match contraction.batch.is_empty() {
            true => (Number::Known(0), rest),
            false => (batch, row),
        };
        let [rows, columns] = self.sizes;
        self.first = [
            self.code.times(&row, rows),
            self.code.times(&column, columns),
        ];
        self.batch = self.code.iterations(&batch, &contraction.batch);
        self.thread = self.code.thread();
        let thread = self.thread.clone();
        let [_, own_columns] = self.own;
        let width = columns / own_columns.max(1);
        let (row, column) = self.code.split(&thread, width);
        let lanes = [row, column];
        for side in 0..2 {
            self.prepare(side);
        }
        self.lanes = lanes.clone().map(|lane| self.code.index(&lane));
        let results = self.results(&lanes);
        let mut sums: Vec<String> = Vec::new();
        let start = self.code.body.start.clone();
        for (iterations, _) in &results {
            let mut point = Point::default();
            self.code.ends(&mut point, Body::start_reads, iterations);
            sums.push(self.code.payload(&start, &point));
        }
        let whole = self.depth / self.step * self.step;
        if whole > 0 {
            sums = self.steps(whole, &sums);
        }
        if whole < self.depth {
            sums = self.step(&Number::Known(whole), self.depth - whole, &sums);
        }
        for ((iterations, inside), sum) in results.iter().zip(&sums) {
            match inside {
                None => self.finish(sum, iterations),
                Some(inside) => {
                    self.code.lines.line(format!("scf.if {inside} {{"));
                    self.code.enter();
                    self.finish(sum, iterations);
                    self.code.enter();
                    self.code.lines.line("}");
                }
            }
        }
    }

    /// Writes what follows from a sum.
    fn finish(&mut self, sum: &str, iterations: &[(usize, Number)]) {
        let output = self.code.nest.output;
        let mut point = Point {
            reduced: sum.to_owned(),
            ..Point::default()
        };
        self.code.ends(&mut point, Body::finish_reads, iterations);
        let finish = self.code.body.finish.clone();
        let value = self.code.payload(&finish, &point);
        let offset = self.code.offset(output);
        let address = self.code.address(output, &offset, iterations);
        self.code.store(&value, output, &address);
    }

    /// Whether consecutive elements of an input are consecutive products.
    fn runs_along_depth(&self, side: usize, input: usize) -> bool {
        let stride = |l: Option<&usize>| {
            let own = self.code.nest.operands.get(input)?;
            own.strides.get(*l?).copied()
        };
        let side = self.contraction.sides.get(side);
        let along = stride(side.and_then(|side| side.loops.last()));
        let depth = stride(self.contraction.depth.last());
        depth == Some(1) && along != Some(1)
    }

    /// The elements that a thread copies at each step.
    fn prepare(&mut self, side: usize) {
        let contraction = self.contraction;
        let Some(own) = contraction.sides.get(side) else {
            return;
        };
        let size = self.sizes.get(side).copied().unwrap_or(1);
        let count = self.counts.get(side).copied().unwrap_or(1);
        let first = self.first.get(side).cloned().unwrap_or(Number::Known(0));
        for input in &own.inputs {
            let along_depth = self.runs_along_depth(side, *input);
            // Elements that are written one after the other are in other banks.
            let shape = format!("{}x{}", self.step, size + i64::from(along_depth));
            let element = self.code.element(*input);
            let kind = self.code.share(&format!("%s{input}"), &shape, element);
            self.shared.insert(*input, kind);
            let offset = self.code.offset(*input);
            let batch = self.batch.clone();
            let offset = self.code.address(*input, &offset, &batch);
            for part in 0..size * self.step / self.threads {
                let shift = Number::Known(part * self.threads);
                let thread = self.thread.clone();
                let number = self.code.add(&thread, &shift);
                let (product, line) = match along_depth {
                    true => {
                        let (line, product) = self.code.split(&number, self.step);
                        (product, line)
                    }
                    false => self.code.split(&number, size),
                };
                let mut position = self.code.add(&first, &line);
                if count % size != 0 {
                    position = self.code.clamped(&position, count);
                }
                let iterations = self.code.iterations(&position, &own.loops);
                let base = self.code.address(*input, &offset, &iterations);
                let place = [self.code.index(&product), self.code.index(&line)];
                self.copies.push(Copied {
                    input: *input,
                    base,
                    product,
                    place,
                });
            }
        }
    }

    /// The iterations of each sum of the thread, row by row, and whether they are ones of the loops; `None` if all are.
    fn results(&mut self, lanes: &[Number; 2]) -> Vec<(Iterations, Option<String>)> {
        let contraction = self.contraction;
        // By side: the iterations, and whether the row or column is one of the result.
        let mut parts: [Vec<(Iterations, Option<String>)>; 2] = [Vec::new(), Vec::new()];
        for (side, part) in parts.iter_mut().enumerate() {
            let (Some(size), Some(own)) = (self.sizes.get(side), self.own.get(side)) else {
                continue;
            };
            let (size, own) = (*size, *own);
            let count = self.counts.get(side).copied().unwrap_or(1);
            let loops = contraction
                .sides
                .get(side)
                .map(|side| side.loops.as_slice());
            let first = self.first.get(side).cloned().unwrap_or(Number::Known(0));
            let lane = lanes.get(side).cloned().unwrap_or(Number::Known(0));
            let start = self.code.add(&first, &lane);
            for n in 0..own {
                let mut position = self.code.add(&start, &Number::Known(n * (size / own)));
                let mut inside = None;
                if count % size != 0 {
                    inside = Some(self.code.is_below(&position, count));
                    position = self.code.clamped(&position, count);
                }
                let loops = loops.unwrap_or_default();
                part.push((self.code.iterations(&position, loops), inside));
            }
        }
        let [rows, columns] = parts;
        let mut found = Vec::new();
        for (row, row_inside) in &rows {
            for (column, column_inside) in &columns {
                let iterations = [self.batch.as_slice(), row, column].concat();
                let inside = match (row_inside, column_inside) {
                    (Some(a), Some(b)) => {
                        Some(self.code.lines.value(format!("arith.andi {a}, {b} : i1")))
                    }
                    (Some(one), None) | (None, Some(one)) => Some(one.clone()),
                    (None, None) => None,
                };
                found.push((iterations, inside));
            }
        }
        found
    }

    /// A loop that carries sums. `body` writes an iteration and returns its sums.
    fn carrying(
        &mut self,
        [from, to, step]: [&str; 3],
        kind: &str,
        sums: &[String],
        body: impl FnOnce(&mut Self, &str, &[String]) -> Vec<String>,
    ) -> Vec<String> {
        let results = self.code.lines.name();
        let iteration = self.code.lines.name();
        let carried: Vec<String> = sums.iter().map(|_| self.code.lines.name()).collect();
        let inits = carried.iter().zip(sums);
        let inits: Vec<String> = inits
            .map(|(name, init)| format!("{name} = {init}"))
            .collect();
        let types = vec![self.code.body.accumulator.as_str(); sums.len()].join(", ");
        let own = match kind {
            "index" => String::new(),
            kind => format!(" : {kind}"),
        };
        self.code.lines.line(format!(
            "{results}:{} = scf.for {iteration} = {from} to {to} step {step} iter_args({}) -> ({types}){own} {{",
            sums.len(),
            inits.join(", ")
        ));
        self.code.enter();
        let values = body(self, &iteration, &carried);
        self.code
            .lines
            .line(format!("scf.yield {} : {types}\n}}", values.join(", ")));
        self.code.enter();
        (0..sums.len()).map(|n| format!("{results}#{n}")).collect()
    }

    /// All whole steps.
    fn steps(&mut self, whole: i64, sums: &[String]) -> Vec<String> {
        let bounds = [0, whole, self.step].map(|n| self.code.name(&Number::Known(n)));
        let bounds = bounds.each_ref().map(String::as_str);
        let kind = self.code.kind;
        self.carrying(bounds, kind, sums, |writer, iteration, sums| {
            let first = Number::Value(iteration.to_owned());
            writer.step(&first, writer.step, sums)
        })
    }

    /// The products from `first` on.
    fn step(&mut self, first: &Number, products: i64, sums: &[String]) -> Vec<String> {
        let contraction = self.contraction;
        let copies = std::mem::take(&mut self.copies);
        let mut elements = Vec::new();
        for copied in &copies {
            let mut product = self.code.add(first, &copied.product);
            if products < self.step {
                product = self.code.clamped(&product, self.depth);
            }
            let iterations = self.code.iterations(&product, &contraction.depth);
            let address = self.code.address(copied.input, &copied.base, &iterations);
            elements.push(self.code.load(copied.input, &address));
        }
        // All threads are done with the last step's elements.
        self.code.lines.line("gpu.barrier");
        for (copied, element) in copies.iter().zip(&elements) {
            let kind = self.shared.get(&copied.input).cloned().unwrap_or_default();
            let place = copied.place.join(", ");
            let input = copied.input;
            self.code.lines.line(format!(
                "memref.store {element}, %s{input}[{place}] : {kind}"
            ));
        }
        self.copies = copies;
        self.code.lines.line("gpu.barrier");
        let bounds = [0, products, 1];
        let bounds = bounds.map(|n| self.code.lines.value(format!("arith.constant {n} : index")));
        let bounds = bounds.each_ref().map(String::as_str);
        self.carrying(bounds, "index", sums, Self::products)
    }

    /// Adds one product to each sum.
    fn products(&mut self, product: &str, sums: &[String]) -> Vec<String> {
        let contraction = self.contraction;
        // By side: the elements of each row or column.
        let mut elements: [Vec<Vec<(usize, String)>>; 2] = [Vec::new(), Vec::new()];
        for (side, found) in elements.iter_mut().enumerate() {
            let (Some(size), Some(own)) = (self.sizes.get(side), self.own.get(side)) else {
                continue;
            };
            let (size, own) = (*size, *own);
            let inputs = contraction
                .sides
                .get(side)
                .map(|side| side.inputs.as_slice());
            let lane = self.lanes.get(side).cloned().unwrap_or_default();
            for n in 0..own {
                let shift = n * (size / own);
                let shift = self
                    .code
                    .lines
                    .value(format!("arith.constant {shift} : index"));
                let place = format!("arith.addi {lane}, {shift} : index");
                let place = self.code.lines.value(place);
                let mut line = Vec::new();
                for input in inputs.unwrap_or_default() {
                    let kind = self.shared.get(input).cloned().unwrap_or_default();
                    let element = format!("memref.load %s{input}[{product}, {place}] : {kind}");
                    line.push((*input, self.code.lines.value(element)));
                }
                found.push(line);
            }
        }
        let [rows, columns] = elements;
        let points = rows
            .iter()
            .flat_map(|row| columns.iter().map(move |c| (row, c)));
        let value = self.code.body.value.clone();
        let mut found = Vec::new();
        for ((row, column), sum) in points.zip(sums) {
            let inputs = row.iter().chain(column).cloned().collect();
            let point = Point {
                inputs,
                ..Point::default()
            };
            let value = self.code.payload(&value, &point);
            found.push(self.code.combine(sum, &value));
        }
        found
    }
}
