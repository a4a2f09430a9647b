// SPDX-License-Identifier: Apache-2.0
//! Writes the code of a block that computes a tile of a contraction.
//!
//! The block runs in steps along the reduction: its threads copy the inputs of a step into shared memory, and each adds the products of
//! a smaller tile in registers. There are two copies: while the products of a step are added, the inputs of the next step are on their way into
//! registers, so that threads wait for each other once a step. Where consecutive elements of an input are at aligned addresses,
//! a thread copies several at once.
//!
//! Each element is accumulated by one thread, in the order of the formula, or by a unit that adds several products at once
//! ([`super::matrix_unit`]).

use super::super::body::Body;
use super::super::targets::gpus::{MatrixTile, Tile};
use super::code::{Code, Number, Point, alignment, vector};
use super::contraction::Contraction;
use super::matrix_unit::Unit;
use crate::extents::size::element_bytes;
use crate::ir::ops;
use std::collections::HashMap;

/// Copies of the inputs of a step.
pub(super) const BUFFERS: u64 = 2;

/// Elements between the lines of a copy that is written across them, so that they are in other banks of the memory.
pub(super) const PADDING: u32 = 4;

/// Bytes of the memory of a device that are read at once.
const SECTOR: i64 = 32;

/// The type of elements that are carried as their bits, and that of these.
const HALF: &str = "bf16";
const BITS: &str = "i16";

/// Consecutive rows, and columns, of a thread at most.
const GROUP: i64 = 4;

/// How a block computes its tile.
pub(super) enum Plan {
    /// Each thread a smaller tile.
    Threads(Tile),
    /// Each warp by a unit for products of matrices.
    Warps(MatrixTile, Box<Unit>),
}

/// The code of a block, the number of tiles and that of threads.
pub(super) fn write<'r>(
    contraction: &'r Contraction,
    mut code: Code<'r>,
    plan: Plan,
) -> (Code<'r>, Number, i64) {
    let (threads, sizes, shifts, step, unit) = match plan {
        Plan::Threads(tile) => {
            let sizes = [tile.rows, tile.columns].map(i64::from);
            let own = [tile.thread_rows, tile.thread_columns].map(i64::from);
            let shifts = [(sizes[0], own[0]), (sizes[1], own[1])];
            let shifts = shifts.map(|(size, own)| (0..own).map(|n| shift(n, size, own)).collect());
            (tile.threads(), sizes, shifts, i64::from(tile.depth), None)
        }
        Plan::Warps(tile, unit) => {
            let sizes = tile.sizes.map(i64::from);
            let (shifts, step) = (unit.shifts(), unit.step);
            code.resident = tile.resident;
            (tile.threads(), sizes, shifts, step, Some(*unit))
        }
    };
    let [first, second] = &contraction.sides;
    let counts = [code.count(&first.loops), code.count(&second.loops)];
    let depth = code.count(&contraction.depth);
    let batch = code.count(&contraction.batch);
    let steps = code.split(&depth, &Number::Known(step)).0;
    let whole = code.times(&steps, step);
    let [rows, columns] = &counts;
    let across = [code.parts(rows, sizes[0]), code.parts(columns, sizes[1])];
    let matrix = code.multiply(&across[0], &across[1]);
    let tiles = code.multiply(&matrix, &batch);
    code.begin();
    let mut writer = TileWriter {
        threads,
        step,
        code,
        contraction,
        counts,
        across,
        depth,
        whole,
        sizes,
        shifts,
        unit,
        thread: Number::Known(0),
        first: [Number::Known(0), Number::Known(0)],
        batch: Vec::new(),
        lanes: [String::new(), String::new()],
        copies: Vec::new(),
        shared: HashMap::new(),
    };
    writer.write();
    (writer.code, tiles, threads)
}

/// Consecutive elements of an input that a thread copies into shared memory at each step.
pub(super) struct Copied {
    pub(super) input: usize,
    /// The side that it is an input of: 0 for rows.
    pub(super) side: usize,
    /// The address without the iterations of the reduction.
    base: Number,
    /// The first product of the step.
    pub(super) product: Number,
    /// The first line: row or column.
    pub(super) line: Number,
    /// The number of elements.
    pub(super) width: i64,
    /// Whether they are consecutive products, instead of lines.
    pub(super) is_along_depth: bool,
    /// Whether they are copied without registers between ([`super::direct_copies`]).
    pub(super) is_direct: bool,
}

/// The iterations of some loops.
type Iterations = Vec<(usize, Number)>;

/// A row or column of a thread: its iterations, and whether it is one of the result; `None` if all are.
type Line = (Iterations, Option<String>);

pub(super) struct TileWriter<'r> {
    pub(super) code: Code<'r>,
    pub(super) contraction: &'r Contraction,
    /// Rows and columns.
    counts: [Number; 2],
    /// Blocks along the rows, and along the columns.
    across: [Number; 2],
    /// Products of an element, and those of whole steps.
    pub(super) depth: Number,
    whole: Number,
    /// Rows and columns of a block.
    pub(super) sizes: [i64; 2],
    /// Rows and columns of a thread, from its first ones on.
    shifts: [Vec<i64>; 2],
    /// What multiplies matrices, if threads do not.
    pub(super) unit: Option<Unit>,
    pub(super) threads: i64,
    pub(super) step: i64,
    pub(super) thread: Number,
    /// The block's first row and column.
    first: [Number; 2],
    batch: Iterations,
    /// The thread's first row and column in its block, as indices.
    lanes: [String; 2],
    pub(super) copies: Vec<Copied>,
    /// The types of the inputs' arrays in shared memory.
    pub(super) shared: HashMap<usize, String>,
}

/// The greatest power of two that divides a number, which is not zero.
fn power_of_two(number: i64) -> i64 {
    1 << number.trailing_zeros().min(16)
}

/// The number of rows or columns of a thread that follow each other.
fn group(own: i64) -> i64 {
    power_of_two(own).min(GROUP)
}

impl TileWriter<'_> {
    fn write(&mut self) {
        let contraction = self.contraction;
        self.code.views();
        let [down, across] = self.across.clone();
        let block = self.code.number("%block");
        let (rest, column) = self.code.split(&block, &across);
        let (batch, row) = if contraction.batch.is_empty() {
            (Number::Known(0), rest)
        } else {
            self.code.split(&rest, &down)
        };
        let [rows, columns] = self.sizes;
        self.first = [self.code.times(&row, rows), self.code.times(&column, columns)];
        self.batch = self.code.iterations(&batch, &contraction.batch);
        self.thread = self.code.thread();
        for side in 0..2 {
            self.prepare(side);
        }
        let lanes = match self.unit.take() {
            Some(mut unit) => {
                let lanes = self.place_in_warp(&mut unit);
                self.unit = Some(unit);
                lanes
            }
            None => self.place(),
        };
        let mut lines = [Vec::new(), Vec::new()];
        for ((side, lane), found) in lanes.iter().enumerate().zip(&mut lines) {
            *found = self.lines(side, lane);
        }
        let [rows, columns] = &lines;
        let mut sums: Vec<String> = Vec::new();
        let start = self.code.body.start.clone();
        for (row, _) in rows {
            for (column, _) in columns {
                let iterations = [self.batch.as_slice(), row, column].concat();
                let mut point = Point::default();
                self.code.ends(&mut point, Body::start_reads, &iterations);
                sums.push(self.code.payload(&start, &point));
            }
        }
        let sums = self.reduce(&sums);
        self.finish(&sums, rows, columns);
    }

    /// Rows and columns of a thread.
    fn own(&self, side: usize) -> i64 {
        let shifts = self.shifts.get(side).map_or(1, Vec::len);
        i64::try_from(shifts).unwrap_or(1).max(1)
    }

    /// The thread's first row and column.
    fn place(&mut self) -> [Number; 2] {
        let [_, columns] = self.sizes;
        let [own_rows, own_columns] = [self.own(0), self.own(1)];
        let width = Number::Known(columns / own_columns);
        let thread = self.thread.clone();
        let (row, column) = self.code.split(&thread, &width);
        let row = self.code.times(&row, group(own_rows));
        let column = self.code.times(&column, group(own_columns));
        self.lanes = [self.code.index(&row), self.code.index(&column)];
        [row, column]
    }

    /// Writes what follows from the sums, given row by row.
    fn finish(&mut self, sums: &[String], rows: &[Line], columns: &[Line]) {
        let output = self.code.nest.output;
        let own = self.contraction.sides.get(1);
        let along = own.and_then(|side| side.loops.last()).copied();
        let most = match self.unit {
            Some(_) => 2,
            None => group(self.own(1)),
        };
        let width = self.code.width(output, along, most);
        let together = usize::try_from(width).unwrap_or(1).max(1);
        let mut sums = sums.chunks(together);
        for (row, row_inside) in rows {
            for columns in columns.chunks(together) {
                let Some(((_, column_inside), own)) = columns.first().zip(sums.next()) else {
                    continue;
                };
                let inside = match (row_inside, column_inside) {
                    (Some(a), Some(b)) => Some(self.code.lines.value(format!("arith.andi {a}, {b} : i1"))),
                    (Some(one), None) | (None, Some(one)) => Some(one.clone()),
                    (None, None) => None,
                };
                if let Some(inside) = &inside {
                    self.code.lines.line(format!("scf.if {inside} {{"));
                    self.code.enter();
                }
                self.store(own, row, columns);
                if inside.is_some() {
                    self.code.enter();
                    self.code.lines.line("}");
                }
            }
        }
    }

    /// Writes what follows from sums of one row and consecutive columns.
    fn store(&mut self, sums: &[String], row: &Iterations, columns: &[Line]) {
        let output = self.code.nest.output;
        let finish = self.code.body.finish.clone();
        let offset = self.code.offset(output);
        let mut values = Vec::new();
        let mut first = None;
        for (sum, (column, _)) in sums.iter().zip(columns) {
            let iterations = [self.batch.as_slice(), row, column].concat();
            let mut point = Point { reduced: sum.clone(), ..Point::default() };
            self.code.ends(&mut point, Body::finish_reads, &iterations);
            values.push(self.code.payload(&finish, &point));
            if first.is_none() {
                first = Some(self.code.address(output, &offset, &iterations));
            }
        }
        if let Some(address) = first {
            self.code.store_vector(&values, output, &address);
        }
    }

    /// The loop along which elements of an input are copied, and whether it is one of the reduction.
    fn direction(&self, side: usize, input: usize) -> (Option<usize>, bool) {
        let stride = |l: Option<&usize>| {
            let own = self.code.nest.operands.get(input)?;
            own.strides.get(*l?).copied()
        };
        let own = self.contraction.sides.get(side);
        let line = own.and_then(|side| side.loops.last());
        let depth = self.contraction.depth.last();
        if stride(depth) == Some(1) && stride(line) != Some(1) {
            (depth.copied(), true)
        } else {
            (line.copied(), false)
        }
    }

    /// Consecutive threads that copy elements of one product, which are next to each other in memory. Copies for units for matrices have
    /// products next to each other, in lines of which every eighth begins at the same bank: threads after as many as a part of memory needs
    /// copy another product, which is in another bank.
    fn groups(&self, input: usize, size: i64, width: i64) -> i64 {
        let bytes = element_bytes(self.code.element(input)).and_then(|bytes| i64::try_from(bytes).ok());
        match &self.unit {
            None => size / width,
            Some(_) => (SECTOR / (width * bytes.unwrap_or(1)).max(1)).clamp(1, size / width),
        }
    }

    /// The elements that a thread copies at each step.
    fn prepare(&mut self, side: usize) {
        let contraction = self.contraction;
        let Some(own) = contraction.sides.get(side) else {
            return;
        };
        let size = self.sizes.get(side).copied().unwrap_or(1);
        let count = self.counts.get(side).cloned().unwrap_or(Number::Known(1));
        let is_whole = matches!(count, Number::Known(count) if count % size == 0);
        let first = self.first.get(side).cloned().unwrap_or(Number::Known(0));
        for input in &own.inputs {
            let (along, is_along_depth) = self.direction(side, *input);
            let (shape, element) = match &self.unit {
                Some(unit) => {
                    let lines = self.step + unit.padding();
                    let shape = format!("{BUFFERS}x{size}x{lines}");
                    (shape, unit.format.element())
                }
                None => {
                    let padding = i64::from(is_along_depth) * i64::from(PADDING);
                    let shape = format!("{BUFFERS}x{}x{}", self.step, size + padding);
                    (shape, self.code.element(*input))
                }
            };
            let kind = self.code.share(&format!("%s{input}"), &shape, element);
            self.shared.insert(*input, kind);
            let offset = self.code.offset(*input);
            let batch = self.batch.clone();
            let offset = self.code.address(*input, &offset, &batch);
            let each = size * self.step / self.threads;
            let width = self.code.width(*input, along, power_of_two(each));
            let is_direct = self.is_direct(*input, width, is_along_depth);
            for part in 0..each / width {
                let shift = Number::Known(part * self.threads);
                let thread = self.thread.clone();
                let number = self.code.add(&thread, &shift);
                let (product, line) = if is_along_depth {
                    let groups = Number::Known(self.step / width);
                    let (line, product) = self.code.split(&number, &groups);
                    (self.code.times(&product, width), line)
                } else {
                    let together = self.groups(*input, size, width);
                    let (rest, low) = self.code.split(&number, &Number::Known(together));
                    let (high, product) = if together < size / width {
                        self.code.split(&rest, &Number::Known(self.step))
                    } else {
                        (Number::Known(0), rest)
                    };
                    let high = self.code.times(&high, together);
                    let line = self.code.add(&high, &low);
                    (product, self.code.times(&line, width))
                };
                let mut position = self.code.add(&first, &line);
                if !is_whole {
                    let together = if is_along_depth { 1 } else { width };
                    let last = self.code.subtract(&count, &Number::Known(together));
                    position = self.code.at_most(&position, &last);
                }
                let iterations = self.code.iterations(&position, &own.loops);
                let base = self.code.address(*input, &offset, &iterations);
                self.copies.push(Copied {
                    input: *input,
                    side,
                    base,
                    product,
                    line,
                    width,
                    is_along_depth,
                    is_direct,
                });
            }
        }
    }

    /// The rows, or the columns, of the thread, the first of which is `lane` in its block.
    fn lines(&mut self, side: usize, lane: &Number) -> Vec<Line> {
        let size = self.sizes.get(side).copied().unwrap_or(1);
        let shifts = self.shifts.get(side).cloned().unwrap_or_default();
        let count = self.counts.get(side).cloned().unwrap_or(Number::Known(1));
        let is_whole = matches!(count, Number::Known(count) if count % size == 0);
        let last = self.code.subtract(&count, &Number::Known(1));
        let contraction = self.contraction;
        let loops = contraction.sides.get(side);
        let loops = loops.map(|side| side.loops.as_slice()).unwrap_or_default();
        let first = self.first.get(side).cloned().unwrap_or(Number::Known(0));
        let start = self.code.add(&first, lane);
        let mut found = Vec::new();
        for shift in shifts {
            let mut position = self.code.add(&start, &Number::Known(shift));
            let mut inside = None;
            if !is_whole {
                inside = Some(self.code.is_below(&position, &count));
                position = self.code.at_most(&position, &last);
            }
            found.push((self.code.iterations(&position, loops), inside));
        }
        found
    }

    /// A loop that carries values of these types. `body` writes an iteration and returns its values.
    pub(super) fn carrying(
        &mut self,
        [from, to, step]: [&str; 3],
        kind: &str,
        (values, types): (&[String], &[String]),
        attributes: &str,
        body: impl FnOnce(&mut Self, &str, &[String]) -> Vec<String>,
    ) -> Vec<String> {
        let results = self.code.lines.name();
        let iteration = self.code.lines.name();
        let carried: Vec<String> = values.iter().map(|_| self.code.lines.name()).collect();
        let inits = carried.iter().zip(values);
        let inits: Vec<String> = inits.map(|(name, init)| format!("{name} = {init}")).collect();
        let types = types.join(", ");
        let own = match kind {
            "index" => String::new(),
            kind => format!(" : {kind}"),
        };
        self.code.lines.line(format!(
            "{results}:{} = scf.for {iteration} = {from} to {to} step {step} iter_args({}) -> ({types}){own} {{",
            values.len(),
            inits.join(", ")
        ));
        self.code.enter();
        let found = body(self, &iteration, &carried);
        self.code.lines.line(format!("scf.yield {} : {types}\n}}{attributes}", found.join(", ")));
        self.code.enter();
        (0..values.len()).map(|n| format!("{results}#{n}")).collect()
    }

    fn types(&self, sums: usize) -> Vec<String> {
        vec![self.code.body.accumulator.clone(); sums]
    }

    /// Adds all products to the sums.
    fn reduce(&mut self, sums: &[String]) -> Vec<String> {
        let depth = self.depth.clone();
        if let Number::Known(_) = depth {
            return self.steps(sums);
        }
        // Without products nothing is read.
        let is_any = self.code.is_below(&Number::Known(0), &depth);
        let results = self.code.lines.name();
        let types = self.types(sums.len()).join(", ");
        let count = sums.len();
        self.code.lines.line(format!("{results}:{count} = scf.if {is_any} -> ({types}) {{"));
        self.code.enter();
        let found = self.steps(sums);
        self.code.enter();
        self.code.lines.line(format!(
            "scf.yield {} : {types}\n}} else {{\nscf.yield {} : {types}\n}}",
            found.join(", "),
            sums.join(", ")
        ));
        (0..count).map(|n| format!("{results}#{n}")).collect()
    }

    /// All steps: whole ones, then the rest.
    fn steps(&mut self, sums: &[String]) -> Vec<String> {
        let (depth, whole) = (self.depth.clone(), self.whole.clone());
        let mut elements = self.load(&Number::Known(0));
        // All threads are done with the elements of the block's last tile.
        self.wait_for_copies();
        self.code.lines.line(ops::gpu::BARRIER);
        self.copy_directly(&Number::Known(0));
        let mut sums = sums.to_vec();
        let is_exact = depth == whole && matches!(depth, Number::Known(_));
        if whole != Number::Known(0) {
            let bounds = [Number::Known(0), whole.clone(), Number::Known(self.step)];
            let bounds = bounds.map(|number| self.code.name(&number));
            let bounds = bounds.each_ref().map(String::as_str);
            let mut types = self.types(sums.len());
            for copied in self.copies.iter().filter(|copied| !copied.is_direct) {
                types.push(if self.carries_bits(copied) {
                    BITS.to_owned()
                } else {
                    vector(self.code.element(copied.input), copied.width)
                });
            }
            let (count, kind) = (sums.len(), self.code.kind);
            let values = [sums, elements].concat();
            let found = self.carrying(bounds, kind, (&values, &types), "", |writer, first, values| {
                let (sums, elements) = values.split_at(count.min(values.len()));
                let first = Number::Value(first.to_owned());
                let buffer = writer.fill(&first, elements, None);
                let step = Number::Known(writer.step);
                let mut next = writer.code.add(&first, &step);
                writer.copy_next(&next, is_exact.then_some(&whole));
                if is_exact {
                    let last = writer.code.subtract(&whole, &step);
                    next = writer.code.at_most(&next, &last);
                }
                let elements = writer.load(&next);
                let sums = writer.products(&buffer, &step, sums);
                [sums, elements].concat()
            });
            let (own, others) = found.split_at(count.min(found.len()));
            (sums, elements) = (own.to_vec(), others.to_vec());
        }
        if is_exact {
            return sums;
        }
        let rest = self.code.subtract(&depth, &whole);
        if let Number::Known(_) = rest {
            let buffer = self.fill(&whole, &elements, Some(&rest));
            return self.products(&buffer, &rest, &sums);
        }
        let bounds = [whole.clone(), depth, Number::Known(self.step)];
        let bounds = bounds.map(|number| self.code.name(&number));
        let bounds = bounds.each_ref().map(String::as_str);
        let (types, kind) = (self.types(sums.len()), self.code.kind);
        self.carrying(bounds, kind, (&sums, &types), "", |writer, _, sums| {
            let buffer = writer.fill(&whole, &elements, Some(&rest));
            writer.products(&buffer, &rest, sums)
        })
    }

    /// Whether the bits of an element are loop-carried instead of the element, as loops of SPIR-V cannot carry it.
    fn carries_bits(&self, copied: &Copied) -> bool {
        copied.width == 1 && self.code.element(copied.input) == HALF
    }

    /// The elements that the thread copies for the step at `first`, or for the products that there are.
    fn load(&mut self, first: &Number) -> Vec<String> {
        let copies = std::mem::take(&mut self.copies);
        let mut elements = Vec::new();
        for copied in copies.iter().filter(|copied| !copied.is_direct) {
            let address = self.source(copied, first);
            let element = self.code.load_vector(copied.input, &address, copied.width);
            elements.push(if self.carries_bits(copied) {
                let bits = format!("arith.bitcast {element} : {HALF} to {BITS}");
                self.code.lines.value(bits)
            } else {
                element
            });
        }
        self.copies = copies;
        elements
    }

    /// The address of the elements that the thread copies for the step at `first`, or for the products that there are.
    pub(super) fn source(&mut self, copied: &Copied, first: &Number) -> Number {
        let contraction = self.contraction;
        let depth = self.depth.clone();
        let is_inside = match (&depth, first) {
            (Number::Known(depth), Number::Known(first)) => first + self.step <= *depth,
            (Number::Known(depth), _) => depth % self.step == 0,
            _ => false,
        };
        let mut product = self.code.add(first, &copied.product);
        if !is_inside {
            let together = if copied.is_along_depth { copied.width } else { 1 };
            let last = self.code.subtract(&depth, &Number::Known(together));
            product = self.code.at_most(&product, &last);
        }
        let iterations = self.code.iterations(&product, &contraction.depth);
        self.code.address(copied.input, &copied.base, &iterations)
    }

    /// Copies elements for the step at `first` into shared memory, and waits for the other threads. Returns the copy's number. `rest` is
    /// the number of products, if the step has more.
    fn fill(&mut self, first: &Number, elements: &[String], rest: Option<&Number>) -> String {
        let step = Number::Known(self.step);
        let number = self.code.split(first, &step).0;
        let buffers = Number::Known(i64::try_from(BUFFERS).unwrap_or(1));
        let buffer = self.code.split(&number, &buffers).1;
        let buffer = self.code.index(&buffer);
        let copies = std::mem::take(&mut self.copies);
        let unit = self.unit.take();
        let loaded = copies.iter().filter(|copied| !copied.is_direct);
        for (copied, all) in loaded.zip(elements) {
            let all = &if self.carries_bits(copied) {
                let element = format!("arith.bitcast {all} : {BITS} to {HALF}");
                self.code.lines.value(element)
            } else {
                all.clone()
            };
            if let Some(unit) = &unit {
                self.fill_matrix(unit, copied, (all, &buffer), rest);
                continue;
            }
            self.put(copied, all, &buffer);
        }
        self.copies = copies;
        self.unit = unit;
        self.wait_for_copies();
        self.code.lines.line(ops::gpu::BARRIER);
        buffer
    }

    /// Writes elements of an input into a copy, an index.
    pub(super) fn put(&mut self, copied: &Copied, all: &str, buffer: &str) {
        let kind = self.shared.get(&copied.input).cloned().unwrap_or_default();
        let input = copied.input;
        let line = self.code.index(&copied.line);
        let element = self.code.element(input);
        if copied.width > 1 && !copied.is_along_depth {
            let product = self.code.index(&copied.product);
            let alignment = alignment(element, copied.width);
            let own = vector(element, copied.width);
            self.code.lines.line(format!(
                "vector.store {all}, %s{input}[{buffer}, {product}, {line}] {alignment} : {kind}, {own}"
            ));
            return;
        }
        let lanes = self.code.lanes(all, element, copied.width);
        for (shift, element) in (0..).zip(lanes) {
            let product = self.code.add(&copied.product, &Number::Known(shift));
            let product = self.code.index(&product);
            self.code
                .lines
                .line(format!("memref.store {element}, %s{input}[{buffer}, {product}, {line}] : {kind}"));
        }
    }

    /// Adds so many products of a copy to each sum.
    fn products(&mut self, buffer: &str, count: &Number, sums: &[String]) -> Vec<String> {
        if let Some(unit) = self.unit.take() {
            let found = self.multiply(&unit, buffer, sums);
            self.unit = Some(unit);
            return found;
        }
        let bounds = [Number::Known(0), count.clone(), Number::Known(1)];
        let bounds = bounds.map(|number| self.code.index(&number));
        let bounds = bounds.each_ref().map(String::as_str);
        let types = self.types(sums.len());
        let own = self.code.unrolling(count);
        self.carrying(bounds, "index", (sums, &types), &own, |writer, product, sums| {
            writer.product(buffer, product, sums)
        })
    }

    /// Adds one product to each sum.
    fn product(&mut self, buffer: &str, product: &str, sums: &[String]) -> Vec<String> {
        let rows = self.elements(0, buffer, product);
        let columns = self.elements(1, buffer, product);
        let points = rows.iter().flat_map(|row| columns.iter().map(move |c| (row, c)));
        let value = self.code.body.value.clone();
        let mut found = Vec::new();
        for ((row, column), sum) in points.zip(sums) {
            let inputs = row.iter().chain(column).cloned().collect();
            let point = Point { inputs, ..Point::default() };
            let value = self.code.payload(&value, &point);
            found.push(self.code.combine(sum, &value));
        }
        found
    }

    /// The elements of each row, or of each column, of the thread for a product.
    fn elements(&mut self, side: usize, buffer: &str, product: &str) -> Vec<Vec<(usize, String)>> {
        let shifts = self.shifts.get(side).cloned().unwrap_or_default();
        let contraction = self.contraction;
        let inputs = contraction.sides.get(side);
        let inputs = inputs.map(|side| side.inputs.as_slice()).unwrap_or_default();
        let lane = self.lanes.get(side).cloned().unwrap_or_default();
        let width = group(self.own(side));
        let together = usize::try_from(width).unwrap_or(1).max(1);
        let mut found = Vec::new();
        for first in shifts.iter().step_by(together) {
            let first = format!("arith.constant {first} : index");
            let first = self.code.lines.value(first);
            let line = format!("arith.addi {lane}, {first} : index");
            let line = self.code.lines.value(line);
            let mut lines = vec![Vec::new(); together];
            for input in inputs {
                let kind = self.shared.get(input).cloned().unwrap_or_default();
                let element = self.code.element(*input);
                let place = format!("%s{input}[{buffer}, {product}, {line}]");
                let all = match width {
                    1 => format!("memref.load {place} : {kind}"),
                    _ => format!(
                        "vector.load {place} {} : {kind}, {}",
                        alignment(element, width),
                        vector(element, width)
                    ),
                };
                let all = self.code.lines.value(all);
                let all = self.code.lanes(&all, element, width);
                for (line, element) in lines.iter_mut().zip(all) {
                    line.push((*input, element));
                }
            }
            found.append(&mut lines);
        }
        found
    }
}

/// The n-th row of a thread that has `own` of the block's `size`, from its first one on. Groups of rows are consecutive.
fn shift(n: i64, size: i64, own: i64) -> i64 {
    let group = group(own);
    n / group * (size / own * group) + n % group
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_have_every_row_once() {
        for (size, own) in [(128, 8), (64, 4), (32, 2), (16, 1), (24, 3)] {
            let lanes = (0..size / own).map(|lane| lane * group(own));
            let rows = lanes.flat_map(|lane| (0..own).map(move |n| lane + shift(n, size, own)));
            let mut rows: Vec<i64> = rows.collect();
            rows.sort_unstable();
            assert_eq!(rows, (0..size).collect::<Vec<_>>(), "{size}, {own}");
        }
    }
}
