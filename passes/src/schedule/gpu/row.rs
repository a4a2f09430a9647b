// SPDX-License-Identifier: Apache-2.0
//! Reductions of rows by several threads of a block.
//!
//! Thread t of T combines elements t, t + T, t + 2T, … of a row, and stores the result in shared memory. Then a tree reduction combines
//! the results of threads t and t + T/2, then of t and t + T/4, and so on. Finally, the initial value is combined with the result. The
//! order depends only on the static extents, the upper bounds of dynamic extents, and the description of the GPU.

use super::super::body::Body;
use super::super::nest::{Address, LoopKind, Nest};
use super::super::targets::gpus::Gpu;
use super::code::{Code, Name, Point};
use super::launch::Group;
use crate::ir::numbers::Number;
use crate::schedule::contraction::product;
use melior::ir::Value;

/// The distribution of a reduction's rows over the threads of blocks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rows {
    /// The loops of the result.
    result: Vec<usize>,
    /// The loops of a row.
    row: Vec<usize>,
    /// Threads for a row, a power of two.
    threads: i64,
    /// Rows of a block.
    rows: i64,
    /// Whether consecutive threads compute consecutive results, instead of elements of a row.
    is_across: bool,
}

/// Minimum length of a row that several threads reduce.
const MIN_LENGTH: i64 = 64;

/// Minimum number of elements that a thread combines.
const MIN_ELEMENTS: i64 = 4;

/// Number of results from which on one thread computes each result, if consecutive threads then access consecutive elements.
const MANY: i64 = 1 << 13;

impl Rows {
    /// Selects the distribution; `None` if one thread computes each row. `expected` are the expected extents of the loops.
    pub(super) fn new(nest: &Nest, expected: &[i64], body: &Body, gpu: &Gpu) -> Option<Rows> {
        let combine = &body.combine;
        let is_free = !combine.rounds(body.accumulator) || combine.operator.is_fast("reassoc");
        let [result, row]: [Vec<usize>; 2] =
            [LoopKind::Parallel, LoopKind::Reduction].map(|kind| nest.loops_of_kind(kind).collect());
        let length = product(expected, &row);
        let moves_by_one = |loops: &[usize]| {
            let has_one = |input: &Address| loops.iter().any(|l| input.strides.get(*l) == Some(&1));
            nest.inputs().iter().any(has_one)
        };
        let results = product(expected, &result);
        let is_apart = moves_by_one(&row) || results < MANY;
        if !is_free || !is_apart || length < MIN_LENGTH || results == 0 {
            return None;
        }
        let (warp, block) = (i64::from(gpu.warp), i64::from(gpu.block));
        // Consecutive threads access consecutive elements.
        let is_across = !moves_by_one(&row) && moves_by_one(&result);
        let mut threads = if is_across { block / warp } else { warp };
        while !is_across && threads * 2 <= block && threads * MIN_ELEMENTS < length {
            threads *= 2;
        }
        Some(Rows { result, row, threads, rows: block / threads, is_across })
    }

    /// The number of threads of a block.
    fn threads(&self) -> i64 {
        self.threads * self.rows
    }

    /// Writes the code of a block.
    pub(super) fn write(&self, mut code: Code) {
        let results = code.count(&self.result);
        let length = code.count(&self.row);
        let blocks = code.numbers.parts(results, self.rows);
        code.begin();
        let shared = code.share(Name::Results, &[self.threads()], code.body.accumulator);
        let [tile, thread] = code.tile_and_thread();
        let n = code.numbers;
        let thread = n.number(thread);
        let (line, number, stride) = if self.is_across {
            let (number, line) = n.split(thread, self.rows);
            (line, number, self.rows)
        } else if self.rows == 1 {
            (Number::Known(0), thread, 1)
        } else {
            let (line, number) = n.split(thread, self.threads);
            (line, number, 1)
        };
        let first = n.multiply(n.number(tile), self.rows);
        let mut result = n.add(first, line);
        let mut inside = None;
        if !results.is_multiple(self.rows) {
            inside = Some(n.is_below(result, results));
            result = n.at_most(result, n.subtract(results, 1));
        }
        let outer = code.iterations(result, &self.result);
        let total = self.partial(&mut code, number, length, &outer);
        let place = n.index(thread);
        n.at.store(total, shared, &[place]);
        let (number, thread) = (n.value(number), n.value(thread));
        let group = Group { number, thread, place, stride, count: self.threads, arrays: &[shared] };
        let combine = &code.body.combine.operator;
        let accumulator = code.body.accumulator;
        group.combine(&n.at, |at, one, other| vec![combine.apply(at, &[one[0], other[0]], accumulator)]);
        let mut is_first = n.is_below(number, 1);
        if let Some(inside) = inside {
            is_first = n.at.andi(is_first, inside);
        }
        n.at.when(is_first, |at| {
            code.enter(at);
            let output = code.nest.output;
            let mut point = Point::default();
            Self::indices(&code, &mut point, &outer);
            code.ends(&mut point, Body::start_reads, &outer);
            let start = code.payload(&code.body.start, &point);
            let total = at.load(shared, &[place]);
            point.reduced = Some(code.combine(start, total));
            code.ends(&mut point, Body::finish_reads, &outer);
            let value = code.payload(&code.body.finish, &point);
            code.store(value, output, code.address(output, code.offset(output), &outer));
        });
        code.enter(n.at);
        // The threads wait before the next tile reuses the shared memory.
        n.at.barrier();
        code.end(blocks, self.threads());
    }

    /// Adds the loop indices that the payload uses to a point.
    fn indices<'c: 'a, 'a>(
        code: &Code<'_, 'c, 'a>,
        point: &mut Point<'c, 'a>,
        iterations: &[(usize, Number<'c, 'a>)],
    ) {
        let used = code.body.used_dimensions();
        for (l, iteration) in iterations {
            let dimension = code.nest.loops.get(*l).and_then(|r#loop| r#loop.dimension);
            if let Some(dimension) = dimension.filter(|d| used.contains(d)) {
                point.indices.insert(dimension, code.numbers.index(*iteration));
            }
        }
    }

    /// Combines the elements `first`, `first` + T, `first` + 2T, … of a row of `length` elements, for T threads per row.
    fn partial<'c: 'a, 'a>(
        &self,
        code: &mut Code<'_, 'c, 'a>,
        first: Number<'c, 'a>,
        length: Number<'c, 'a>,
        outer: &[(usize, Number<'c, 'a>)],
    ) -> Value<'c, 'a> {
        let n = code.numbers;
        let init = n.at.literal(code.body.combine.neutral(code.body.accumulator));
        let inputs = 0..code.nest.output;
        let bases: Vec<Number> = inputs.map(|input| code.address(input, code.offset(input), outer)).collect();
        let bounds = [n.value(first), n.value(length), n.value(self.threads)];
        let total = n.at.for_(bounds, &[init], |at, element, sum| {
            code.enter(at);
            let inner = code.iterations(element.into(), &self.row);
            let mut point = Point::default();
            for (input, base) in bases.iter().enumerate() {
                let address = code.address(input, *base, &inner);
                point.inputs.insert(input, code.load(input, address));
            }
            Self::indices(code, &mut point, &[outer, &inner].concat());
            let value = code.payload(&code.body.value, &point);
            let mut next = code.combine(sum[0], value);
            if let Some(predicate) = &code.body.predicate {
                let holds = code.payload(predicate, &point);
                next = at.select(holds, next, sum[0]);
            }
            vec![next]
        });
        code.enter(n.at);
        n.at.result(total, 0)
    }
}
