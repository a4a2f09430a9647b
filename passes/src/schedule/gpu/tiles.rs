// SPDX-License-Identifier: Apache-2.0
//! Emits the code of a block that computes a tile of a contraction.
//!
//! The block runs in steps along the reduction: its threads copy the inputs of a step into shared memory, and each
//! thread adds the products of a smaller tile in registers. Shared memory is double-buffered: while the products of a
//! step are added, the inputs of the next step are loaded into registers, so that one barrier per step suffices. Where
//! consecutive elements of an input are at aligned addresses, a thread copies several at once.
//!
//! Each element is accumulated either by one thread, in the order of the formula, or by a matrix unit that adds several
//! products at once ([`super::matrix_unit`]).

use super::super::body::Body;
use super::super::targets::gpus::{MatrixTile, Tile};
use super::code::{self, Code, Name, Point, bytes};
use super::matrix_unit::Unit;
use crate::ir::numbers::{Number, Numbers};
use crate::ir::{mutation, types};
use crate::schedule::contraction::{BUFFERS, Contraction, PADDING};
use crate::schedule::counts::{as_i64, as_usize};
use melior::ir::{Attribute, Type, TypeLike, Value, ValueLike};
use std::collections::HashMap;

/// Bytes per access of device memory.
const SECTOR: i64 = 32;

/// Maximum number of consecutive rows or columns of a thread.
const GROUP: i64 = 4;

/// How a block computes its tile.
pub(super) enum Plan<'c, 'a> {
    /// Each thread computes a smaller tile.
    Threads(Tile),
    /// Each warp computes a smaller tile with a matrix unit.
    Warps(MatrixTile, Box<Unit<'c, 'a>>),
}

impl Plan<'_, '_> {
    /// The threads of a block.
    pub(super) fn threads(&self) -> i64 {
        match self {
            Plan::Threads(tile) => tile.threads(),
            Plan::Warps(tile, _) => tile.threads(),
        }
    }
}

/// Emits the code of a block; returns it with the number of tiles and the number of threads.
pub(super) fn write<'r, 'c: 'a, 'a>(
    contraction: &'r Contraction,
    mut code: Code<'r, 'c, 'a>,
    plan: Plan<'c, 'a>,
) -> (Code<'r, 'c, 'a>, Number<'c, 'a>, i64) {
    let threads = plan.threads();
    let (sizes, shifts, step, unit) = match plan {
        Plan::Threads(tile) => {
            let sizes = [tile.rows, tile.columns].map(i64::from);
            let counts = [tile.thread_rows, tile.thread_columns].map(i64::from);
            let shifts = [0, 1].map(|side| {
                let (size, count) = (sizes[side], counts[side]);
                (0..count).map(|n| shift(n, size, count)).collect()
            });
            (sizes, shifts, i64::from(tile.depth), None)
        }
        Plan::Warps(tile, unit) => {
            let sizes = tile.sizes.map(i64::from);
            let (shifts, step) = (unit.shifts(), unit.step);
            code.resident = tile.resident;
            (sizes, shifts, step, Some(*unit))
        }
    };
    let n = code.numbers;
    let [first, second] = &contraction.sides;
    let counts = [code.count(&first.loops), code.count(&second.loops)];
    let depth = code.count(&contraction.depth);
    let batch = code.count(&contraction.batch);
    let whole = n.multiply(n.split(depth, step).0, step);
    let across = [n.parts(counts[0], sizes[0]), n.parts(counts[1], sizes[1])];
    let tiles = n.multiply(n.multiply(across[0], across[1]), batch);
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
        lanes: None,
        copies: Vec::new(),
        shared: HashMap::new(),
    };
    writer.write();
    (writer.code, tiles, threads)
}

/// Consecutive elements of an input that a thread copies into shared memory at each step.
pub(super) struct Copied<'c, 'a> {
    pub(super) input: usize,
    /// The side that the input belongs to: 0 for rows.
    pub(super) side: usize,
    /// The address without the contribution of the reduction.
    base: Number<'c, 'a>,
    /// The first product, relative to the step.
    pub(super) product: Number<'c, 'a>,
    /// The first line (row or column), relative to the block.
    pub(super) line: Number<'c, 'a>,
    /// The number of elements.
    pub(super) width: i64,
    /// Whether the elements are consecutive products, instead of consecutive lines.
    pub(super) is_along_depth: bool,
    /// Whether they are copied without registers ([`super::direct_copies`]).
    pub(super) is_direct: bool,
}

/// The iteration of each of some loops.
type Iterations<'c, 'a> = Vec<(usize, Number<'c, 'a>)>;

/// A row or column of a thread: its iterations, and whether it is in the result; `None` if it always is.
type Line<'c, 'a> = (Iterations<'c, 'a>, Option<Value<'c, 'a>>);

pub(super) struct TileWriter<'r, 'c, 'a> {
    pub(super) code: Code<'r, 'c, 'a>,
    pub(super) contraction: &'r Contraction,
    /// The numbers of rows and columns of the result.
    counts: [Number<'c, 'a>; 2],
    /// The numbers of blocks along the rows and along the columns.
    across: [Number<'c, 'a>; 2],
    /// The reduction length, and its part in full steps.
    pub(super) depth: Number<'c, 'a>,
    whole: Number<'c, 'a>,
    /// Rows and columns of a block.
    pub(super) sizes: [i64; 2],
    /// Rows and columns of a thread, relative to its first ones.
    shifts: [Vec<i64>; 2],
    /// The matrix unit; `None` if threads multiply.
    pub(super) unit: Option<Unit<'c, 'a>>,
    pub(super) threads: i64,
    pub(super) step: i64,
    pub(super) thread: Number<'c, 'a>,
    /// The block's first row and column.
    first: [Number<'c, 'a>; 2],
    batch: Iterations<'c, 'a>,
    /// The thread's first row and column in its block, as indices; `None` with a matrix unit.
    lanes: Option<[Value<'c, 'a>; 2]>,
    pub(super) copies: Vec<Copied<'c, 'a>>,
    /// The inputs' arrays in shared memory.
    pub(super) shared: HashMap<usize, Value<'c, 'a>>,
}

/// The greatest power of two that divides a positive number.
fn power_of_two(number: i64) -> i64 {
    1 << number.trailing_zeros().min(16)
}

/// The number of consecutive rows or columns of a thread.
fn group(own: i64) -> i64 {
    power_of_two(own).min(GROUP)
}

impl<'c: 'a, 'a> TileWriter<'_, 'c, 'a> {
    /// Index arithmetic at the end of the code.
    pub(super) fn n(&self) -> Numbers<'c, 'a> {
        self.code.numbers
    }

    fn write(&mut self) {
        let contraction = self.contraction;
        let n = self.n();
        let [down, across] = self.across;
        let [tile, thread] = self.code.tile_and_thread();
        let (rest, column) = n.split(n.number(tile), across);
        let (batch, row) =
            if contraction.batch.is_empty() { (Number::Known(0), rest) } else { n.split(rest, down) };
        let [rows, columns] = self.sizes;
        self.first = [n.multiply(row, rows), n.multiply(column, columns)];
        self.batch = self.code.iterations(batch, &contraction.batch);
        self.thread = n.number(thread);
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
        let [rows, columns] = [0, 1].map(|side| self.lines(side, lanes[side]));
        let mut sums: Vec<Value> = Vec::new();
        for (row, _) in &rows {
            for (column, _) in &columns {
                let iterations = [self.batch.as_slice(), row, column].concat();
                let mut point = Point::default();
                self.code.ends(&mut point, Body::start_reads, &iterations);
                sums.push(self.code.payload(&self.code.body.start, &point));
            }
        }
        let sums = self.reduce(&sums);
        self.finish(&sums, &rows, &columns);
    }

    /// The number of rows or columns of a thread.
    fn own(&self, side: usize) -> i64 {
        as_i64(self.shifts[side].len())
    }

    /// The thread's first row and column.
    fn place(&mut self) -> [Number<'c, 'a>; 2] {
        let [_, columns] = self.sizes;
        let counts = [self.own(0), self.own(1)];
        let n = self.n();
        let (row, column) = n.split(self.thread, columns / counts[1]);
        let (row, column) = (n.multiply(row, group(counts[0])), n.multiply(column, group(counts[1])));
        self.lanes = Some([n.index(row), n.index(column)]);
        [row, column]
    }

    /// Applies the epilogue to the sums and stores them; they are given row by row.
    fn finish(&mut self, sums: &[Value<'c, 'a>], rows: &[Line<'c, 'a>], columns: &[Line<'c, 'a>]) {
        let along = self.contraction.sides[1].loops.last().copied();
        let most = match self.unit {
            Some(_) => 2,
            None => group(self.own(1)),
        };
        let width = self.code.width(self.code.nest.output, along, most);
        let together = as_usize(width);
        let mut sums = sums.chunks(together);
        let n = self.n();
        for (row, row_inside) in rows {
            for columns in columns.chunks(together) {
                let Some(((_, column_inside), own)) = columns.first().zip(sums.next()) else {
                    continue;
                };
                let inside = match (*row_inside, *column_inside) {
                    (Some(a), Some(b)) => Some(n.at.andi(a, b)),
                    (one, other) => one.or(other),
                };
                match inside {
                    None => self.store(own, row, columns),
                    Some(inside) => {
                        n.at.when(inside, |at| {
                            self.code.enter(at);
                            self.store(own, row, columns);
                        });
                        self.code.enter(n.at);
                    }
                }
            }
        }
    }

    /// Applies the epilogue to the sums of one row and consecutive columns, and stores them.
    fn store(&mut self, sums: &[Value<'c, 'a>], row: &Iterations<'c, 'a>, columns: &[Line<'c, 'a>]) {
        let output = self.code.nest.output;
        let mut values = Vec::new();
        let mut first = None;
        for (sum, (column, _)) in sums.iter().zip(columns) {
            let iterations = [self.batch.as_slice(), row, column].concat();
            let mut point = Point { reduced: Some(*sum), ..Point::default() };
            self.code.ends(&mut point, Body::finish_reads, &iterations);
            values.push(self.code.payload(&self.code.body.finish, &point));
            first.get_or_insert_with(|| self.code.address(output, self.code.offset(output), &iterations));
        }
        if let Some(address) = first {
            self.code.store_vector(&values, output, address);
        }
    }

    /// The loop along which elements of an input are copied, and whether it is a reduction loop.
    fn direction(&self, side: usize, input: usize) -> (Option<usize>, bool) {
        let stride = |l: Option<&usize>| {
            let address = self.code.nest.operands.get(input)?;
            address.strides.get(*l?).copied()
        };
        let line = self.contraction.sides[side].loops.last();
        let depth = self.contraction.depth.last();
        if stride(depth) == Some(1) && stride(line) != Some(1) {
            (depth.copied(), true)
        } else {
            (line.copied(), false)
        }
    }

    /// The number of consecutive threads that copy elements of one product, which are contiguous in memory. Buffers for
    /// matrix units have contiguous products, and every eighth line begins at the same bank. So after as many threads
    /// as one memory access serves, the threads copy another product, which is in another bank.
    fn groups(&self, input: usize, size: i64, width: i64) -> i64 {
        match &self.unit {
            None => size / width,
            Some(_) => (SECTOR / bytes(self.code.element(input), width).max(1)).clamp(1, size / width),
        }
    }

    /// Plans the copies of the thread at each step.
    fn prepare(&mut self, side: usize) {
        let n = self.n();
        let contraction_side = &self.contraction.sides[side];
        let (size, count, first) = (self.sizes[side], self.counts[side], self.first[side]);
        for input in &contraction_side.inputs {
            let (along, is_along_depth) = self.direction(side, *input);
            let (shape, element) = match &self.unit {
                Some(unit) => {
                    ([BUFFERS, size, self.step + unit.padding()], unit.format.element(n.at.context))
                }
                None => {
                    let padding = i64::from(is_along_depth) * i64::from(PADDING);
                    ([BUFFERS, self.step, size + padding], self.code.element(*input))
                }
            };
            let array = self.code.share(Name::Copy(*input), &shape, element);
            self.shared.insert(*input, array);
            let offset = self.code.address(*input, self.code.offset(*input), &self.batch);
            let each = size * self.step / self.threads;
            let width = self.code.width(*input, along, power_of_two(each));
            let is_direct = self.is_direct(*input, width, is_along_depth);
            for part in 0..each / width {
                let number = n.add(self.thread, part * self.threads);
                let (product, line) = if is_along_depth {
                    let (line, product) = n.split(number, self.step / width);
                    (n.multiply(product, width), line)
                } else {
                    let together = self.groups(*input, size, width);
                    let (rest, low) = n.split(number, together);
                    let (high, product) = if together < size / width {
                        n.split(rest, self.step)
                    } else {
                        (Number::Known(0), rest)
                    };
                    (product, n.multiply(n.add(n.multiply(high, together), low), width))
                };
                let mut position = n.add(first, line);
                if !count.is_multiple(size) {
                    let together = if is_along_depth { 1 } else { width };
                    position = n.at_most(position, n.subtract(count, together));
                }
                let iterations = self.code.iterations(position, &contraction_side.loops);
                let base = self.code.address(*input, offset, &iterations);
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

    /// The rows or columns of the thread; `lane` is the first one in its block.
    fn lines(&mut self, side: usize, lane: Number<'c, 'a>) -> Vec<Line<'c, 'a>> {
        let n = self.n();
        let (size, count) = (self.sizes[side], self.counts[side]);
        let loops = self.contraction.sides[side].loops.as_slice();
        let last = n.subtract(count, 1);
        let start = n.add(self.first[side], lane);
        let lines = self.shifts[side].iter().map(|shift| {
            let mut position = n.add(start, *shift);
            let mut inside = None;
            if !count.is_multiple(size) {
                inside = Some(n.is_below(position, count));
                position = n.at_most(position, last);
            }
            (self.code.iterations(position, loops), inside)
        });
        lines.collect()
    }

    /// Emits a loop with loop-carried values. `body` emits an iteration and returns the new values.
    pub(super) fn carrying(
        &mut self,
        bounds: [Value<'c, 'a>; 3],
        values: &[Value<'c, 'a>],
        attribute: Option<Attribute<'c>>,
        body: impl FnOnce(&mut Self, Value<'c, 'a>, &[Value<'c, 'a>]) -> Vec<Value<'c, 'a>>,
    ) -> Vec<Value<'c, 'a>> {
        let outside = self.code.builder();
        let made = outside.for_(bounds, values, |at, iteration, carried| {
            self.code.enter(at);
            body(self, iteration, carried)
        });
        if let Some(attribute) = attribute {
            mutation::set(made, UNROLLING, attribute);
        }
        self.code.enter(outside);
        outside.results(made)
    }

    /// Adds all products to the sums.
    fn reduce(&mut self, sums: &[Value<'c, 'a>]) -> Vec<Value<'c, 'a>> {
        if let Number::Known(_) = self.depth {
            return self.steps(sums);
        }
        // Without products, no input is read.
        let n = self.n();
        let is_any = n.is_below(0, self.depth);
        let types: Vec<Type> = sums.iter().map(|sum| sum.r#type()).collect();
        let results = n.at.if_else(is_any, &types, |at, holds| {
            if !holds {
                return sums.to_vec();
            }
            self.code.enter(at);
            self.steps(sums)
        });
        self.code.enter(n.at);
        results
    }

    /// Emits all steps: the full ones, then the remainder.
    fn steps(&mut self, sums: &[Value<'c, 'a>]) -> Vec<Value<'c, 'a>> {
        let n = self.n();
        let (depth, whole, step) = (self.depth, self.whole, Number::Known(self.step));
        let mut elements = self.load(Number::Known(0));
        // All threads finish reading the buffers of the block's last tile before they are overwritten.
        self.wait_for_copies();
        n.at.barrier();
        self.copy_directly(Number::Known(0));
        let mut sums = sums.to_vec();
        let is_exact = depth == whole && matches!(depth, Number::Known(_));
        if whole != Number::Known(0) {
            let bounds = [Number::Known(0), whole, step].map(|number| n.value(number));
            let count = sums.len();
            let values = [sums, elements].concat();
            let results = self.carrying(bounds, &values, None, |writer, first, values| {
                let (sums, elements) = values.split_at(count);
                let n = writer.n();
                let buffer = writer.fill(first.into(), elements, None);
                let mut next = n.add(first, step);
                writer.copy_next(next, is_exact.then_some(whole));
                if is_exact {
                    next = n.at_most(next, n.subtract(whole, step));
                }
                let elements = writer.load(next);
                let sums = writer.products(buffer, step, sums);
                [sums, elements].concat()
            });
            let (own, others) = results.split_at(count);
            (sums, elements) = (own.to_vec(), others.to_vec());
        }
        if is_exact {
            return sums;
        }
        let rest = n.subtract(depth, whole);
        if let Number::Known(_) = rest {
            let buffer = self.fill(whole, &elements, Some(rest));
            return self.products(buffer, rest, &sums);
        }
        let bounds = [whole, depth, step].map(|number| n.value(number));
        self.carrying(bounds, &sums, None, |writer, _, sums| {
            let buffer = writer.fill(whole, &elements, Some(rest));
            writer.products(buffer, rest, sums)
        })
    }

    /// Whether an element is loop-carried as an integer, because loops in SPIR-V do not support its type.
    fn carries_bits(&self, copied: &Copied) -> bool {
        copied.width == 1 && self.code.element(copied.input).is_bf16()
    }

    /// Loads the elements that the thread copies for the step at `first`, clamped to the remaining products.
    fn load(&mut self, first: Number<'c, 'a>) -> Vec<Value<'c, 'a>> {
        let at = self.code.builder();
        let copies = self.copies.iter().filter(|copied| !copied.is_direct);
        let elements = copies.map(|copied| {
            let address = self.source(copied, first);
            let element = self.code.load_vector(copied.input, address, copied.width);
            if self.carries_bits(copied) { at.bitcast(element, types::int(at.context, 16)) } else { element }
        });
        elements.collect()
    }

    /// The address of the elements that the thread copies for the step at `first`, clamped to the remaining products.
    pub(super) fn source(&self, copied: &Copied<'c, 'a>, first: Number<'c, 'a>) -> Number<'c, 'a> {
        let n = self.n();
        let is_inside = match (self.depth, first) {
            (Number::Known(depth), Number::Known(first)) => first + self.step <= depth,
            (Number::Known(depth), _) => depth % self.step == 0,
            _ => false,
        };
        let mut product = n.add(first, copied.product);
        if !is_inside {
            let together = if copied.is_along_depth { copied.width } else { 1 };
            product = n.at_most(product, n.subtract(self.depth, together));
        }
        let iterations = self.code.iterations(product, &self.contraction.depth);
        self.code.address(copied.input, copied.base, &iterations)
    }

    /// The number of the buffer for the step at `first`.
    pub(super) fn buffer(&self, first: Number<'c, 'a>) -> Number<'c, 'a> {
        let n = self.n();
        n.split(n.split(first, self.step).0, BUFFERS).1
    }

    /// Copies elements for the step at `first` into shared memory, followed by a barrier. Returns the number of the
    /// buffer. `rest` is the number of remaining products, if the step has more.
    fn fill(
        &mut self,
        first: Number<'c, 'a>,
        elements: &[Value<'c, 'a>],
        rest: Option<Number<'c, 'a>>,
    ) -> Value<'c, 'a> {
        let n = self.n();
        let buffer = n.index(self.buffer(first));
        let loaded = self.copies.iter().filter(|copied| !copied.is_direct);
        for (copied, all) in loaded.zip(elements) {
            let all = if self.carries_bits(copied) {
                n.at.bitcast(*all, self.code.element(copied.input))
            } else {
                *all
            };
            match &self.unit {
                Some(unit) => self.fill_matrix(unit, copied, (all, buffer), rest),
                None => self.put(copied, all, buffer),
            }
        }
        self.wait_for_copies();
        n.at.barrier();
        buffer
    }

    /// Stores elements of an input to the buffer with index `buffer`.
    pub(super) fn put(&self, copied: &Copied<'c, 'a>, all: Value<'c, 'a>, buffer: Value<'c, 'a>) {
        let n = self.n();
        let array = self.shared[&copied.input];
        let line = n.index(copied.line);
        if copied.width > 1 && !copied.is_along_depth {
            let product = n.index(copied.product);
            let size = bytes(self.code.element(copied.input), copied.width);
            return n.at.store_vector(all, array, &[buffer, product, line], Some(size));
        }
        for (shift, element) in (0_i64..).zip(code::lanes(&n.at, all, copied.width)) {
            let product = n.index(n.add(copied.product, shift));
            n.at.store(element, array, &[buffer, product, line]);
        }
    }

    /// Adds `count` products of a buffer to each sum.
    fn products(
        &mut self,
        buffer: Value<'c, 'a>,
        count: Number<'c, 'a>,
        sums: &[Value<'c, 'a>],
    ) -> Vec<Value<'c, 'a>> {
        if let Some(unit) = self.unit.take() {
            let products = self.multiply(&unit, buffer, sums);
            self.unit = Some(unit);
            return products;
        }
        let n = self.n();
        let bounds = [Number::Known(0), count, Number::Known(1)].map(|number| n.index(number));
        let unrolling = self.code.unrolling(count);
        self.carrying(bounds, sums, unrolling, |writer, product, sums| writer.product(buffer, product, sums))
    }

    /// Adds one product to each sum.
    fn product(
        &mut self,
        buffer: Value<'c, 'a>,
        product: Value<'c, 'a>,
        sums: &[Value<'c, 'a>],
    ) -> Vec<Value<'c, 'a>> {
        let rows = self.elements(0, buffer, product);
        let columns = self.elements(1, buffer, product);
        let points = rows.iter().flat_map(|row| columns.iter().map(move |c| (row, c)));
        let sums = points.zip(sums).map(|((row, column), sum)| {
            let inputs = row.iter().chain(column).copied().collect();
            let point = Point { inputs, ..Point::default() };
            let value = self.code.payload(&self.code.body.value, &point);
            self.code.combine(*sum, value)
        });
        sums.collect()
    }

    /// The elements of each row or column of the thread for a product.
    fn elements(
        &self,
        side: usize,
        buffer: Value<'c, 'a>,
        product: Value<'c, 'a>,
    ) -> Vec<Vec<(usize, Value<'c, 'a>)>> {
        let at = self.code.builder();
        let lane = self.lanes.map(|lanes| lanes[side]);
        let lane = lane.unwrap_or_else(|| unreachable!("internal compiler error: a thread without lines"));
        let width = group(self.own(side));
        let together = as_usize(width);
        let mut elements = Vec::new();
        for first in self.shifts[side].iter().step_by(together) {
            let line = at.addi(lane, at.idx(*first));
            let mut lines = vec![Vec::new(); together];
            for input in &self.contraction.sides[side].inputs {
                let (array, element) = (self.shared[input], self.code.element(*input));
                let all = code::load(&at, array, &[buffer, product, line], element, width);
                for (line, element) in lines.iter_mut().zip(code::lanes(&at, all, width)) {
                    line.push((*input, element));
                }
            }
            elements.append(&mut lines);
        }
        elements
    }
}

/// The attribute with a loop's unroll count for LLVM.
const UNROLLING: &str = "loop_annotation";

/// The n-th row of a thread, relative to its first one. The thread has `own` of the block's `size` rows, in groups of
/// consecutive rows.
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
