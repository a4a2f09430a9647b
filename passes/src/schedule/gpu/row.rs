// SPDX-License-Identifier: Apache-2.0
//! Reductions that several threads of a block compute together.
//!
//! The elements of a row are numbered; thread t of T combines elements t, t + T, t + 2T, …, and shared memory has the results, which
//! are combined in pairs: those of thread t and of thread t + T/2, then of t and t + T/4, and so on. The first value of an element is
//! combined with the result. The order depends on the extents, the upper bounds of dynamic ones and the GPU's description alone.

use super::super::body::Body;
use super::super::nest::{LoopKind, Nest};
use super::super::targets::gpus::Gpu;
use super::code::{Code, Number, Point, product};
use crate::ir::ops;

/// How a reduction's rows are shared.
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

/// Elements of the shortest row that several threads share.
const SHORTEST: i64 = 64;

/// Elements of a row that a thread combines at least.
const OWN: i64 = 4;

/// Results from which on one thread computes each, where consecutive threads access consecutive elements.
const MANY: i64 = 1 << 13;

impl Rows {
    /// How the rows of a reduction are shared; `None` if one thread computes each.
    ///
    /// `expected` are the extents that it is selected for.
    pub(super) fn of(nest: &Nest, expected: &[i64], body: &Body, gpu: &Gpu) -> Option<Rows> {
        let combine = &body.combine;
        let is_free = !combine.rounds(&body.accumulator) || combine.attributes.contains("reassoc");
        let kinds = nest.loops.iter().map(|own| own.kind).enumerate();
        let all = |kind| {
            let own = kinds.clone().filter(move |(_, own)| *own == kind);
            own.map(|(l, _)| l).collect::<Vec<_>>()
        };
        let (result, row) = (all(LoopKind::Parallel), all(LoopKind::Reduction));
        let length = product(expected, &row);
        let moves_by_one = |loops: &[usize]| {
            let strides = nest.inputs().iter().map(|own| &own.strides);
            strides.into_iter().any(|own| {
                let last = loops.iter().filter_map(|l| own.get(*l));
                last.copied().any(|stride| stride == 1)
            })
        };
        let results = product(expected, &result);
        let is_apart = moves_by_one(&row) || results < MANY;
        if !is_free || !is_apart || length < SHORTEST || results == 0 {
            return None;
        }
        let (least, most) = (i64::from(gpu.warp), i64::from(gpu.block));
        // Consecutive threads access consecutive elements.
        let is_across = !moves_by_one(&row) && moves_by_one(&result);
        let mut threads = if is_across { most / least } else { least };
        while !is_across && threads * 2 <= most && threads * OWN < length {
            threads *= 2;
        }
        Some(Rows { result, row, threads, rows: most / threads, is_across })
    }

    /// Threads of a block.
    fn threads(&self) -> i64 {
        self.threads * self.rows
    }

    /// The code of the blocks.
    pub(super) fn write(&self, mut code: Code) -> String {
        let results = code.count(&self.result);
        let length = code.count(&self.row);
        let blocks = code.parts(&results, self.rows);
        code.begin();
        let kind = code.body.accumulator.clone();
        let shared = code.share("%shared", &self.threads().to_string(), &kind);
        code.views();
        let thread = code.thread();
        let (line, own, apart) = match self.is_across {
            true => {
                let (own, line) = code.split(&thread, &Number::Known(self.rows));
                (line, own, self.rows)
            }
            false if self.rows == 1 => (Number::Known(0), thread.clone(), 1),
            false => {
                let (line, own) = code.split(&thread, &Number::Known(self.threads));
                (line, own, 1)
            }
        };
        let block = code.number("%block");
        let first = code.times(&block, self.rows);
        let mut result = code.add(&first, &line);
        let is_whole = matches!(results, Number::Known(results) if results % self.rows == 0);
        let mut inside = None;
        if !is_whole {
            inside = Some(code.is_below(&result, &results));
            let last = code.subtract(&results, &Number::Known(1));
            result = code.at_most(&result, &last);
        }
        let outer = code.iterations(&result, &self.result);
        let total = self.partial(&mut code, [&own, &length], &outer);
        let place = code.index(&thread);
        code.lines.line(format!("memref.store {total}, %shared[{place}] : {shared}"));
        code.lines.line(ops::gpu::BARRIER);
        let mut half = self.threads / 2;
        while half > 0 {
            let is_one = code.is_below(&own, &Number::Known(half));
            code.lines.line(format!("scf.if {is_one} {{"));
            let other = code.add(&thread, &Number::Known(half * apart));
            let other = code.index(&other);
            let load = |place: &str| format!("memref.load %shared[{place}] : {shared}");
            let (a, b) = (code.lines.value(load(&place)), code.lines.value(load(&other)));
            let sum = code.combine(&a, &b);
            code.lines.line(format!("memref.store {sum}, %shared[{place}] : {shared}\n}}"));
            code.lines.line(ops::gpu::BARRIER);
            half /= 2;
        }
        let mut is_first = code.is_below(&own, &Number::Known(1));
        if let Some(inside) = inside {
            is_first = code.lines.value(format!("arith.andi {is_first}, {inside} : i1"));
        }
        code.lines.line(format!("scf.if {is_first} {{"));
        code.enter();
        let output = code.nest.output;
        let mut point = Point::default();
        Self::indices(&mut code, &mut point, &outer);
        code.ends(&mut point, Body::start_reads, &outer);
        let start = code.body.start.clone();
        let start = code.payload(&start, &point);
        let total = code.lines.value(format!("memref.load %shared[{place}] : {shared}"));
        point.reduced = code.combine(&start, &total);
        code.ends(&mut point, Body::finish_reads, &outer);
        let finish = code.body.finish.clone();
        let value = code.payload(&finish, &point);
        let offset = code.offset(output);
        let address = code.address(output, &offset, &outer);
        code.store(&value, output, &address);
        code.enter();
        code.lines.line("}");
        // The next row of the block begins when all are done.
        code.lines.line(ops::gpu::BARRIER);
        code.launch(&blocks, self.threads())
    }

    /// Adds the values of dimensions that the payload uses to a point.
    fn indices(code: &mut Code, point: &mut Point, iterations: &[(usize, Number)]) {
        let used = code.body.used_dimensions();
        for (l, iteration) in iterations {
            let dimension = code.nest.loops.get(*l).and_then(|own| own.dimension);
            if let Some(dimension) = dimension.filter(|d| used.contains(d)) {
                let index = code.index(iteration);
                point.indices.insert(dimension, index);
            }
        }
    }

    /// Combines the elements of a thread: from its first one on, of so many of the row.
    fn partial(&self, code: &mut Code, [own, length]: [&Number; 2], outer: &[(usize, Number)]) -> String {
        let kind = code.body.accumulator.clone();
        let identity = identity(code.body);
        let init = code.lines.value(format!("arith.constant {identity} : {kind}"));
        let inputs: Vec<usize> = (0..code.nest.output).collect();
        let mut bases = Vec::new();
        for input in &inputs {
            let offset = code.offset(*input);
            bases.push(code.address(*input, &offset, outer));
        }
        let (from, to) = (code.name(own), code.name(length));
        let step = code.name(&Number::Known(self.threads));
        let (total, element, sum) = (code.lines.name(), code.lines.name(), code.lines.name());
        let number = code.kind;
        code.lines.line(format!(
            "{total} = scf.for {element} = {from} to {to} step {step} iter_args({sum} = {init}) -> ({kind}) : {number} {{"
        ));
        code.enter();
        let inner = code.iterations(&Number::Value(element), &self.row);
        let mut point = Point::default();
        for (input, base) in inputs.iter().zip(&bases) {
            let address = code.address(*input, base, &inner);
            point.inputs.insert(*input, code.load(*input, &address));
        }
        let all = [outer, &inner].concat();
        Self::indices(code, &mut point, &all);
        let value = code.body.value.clone();
        let value = code.payload(&value, &point);
        let mut next = code.combine(&sum, &value);
        if let Some(predicate) = code.body.predicate.clone() {
            let holds = code.payload(&predicate, &point);
            next = code.lines.value(format!("arith.select {holds}, {next}, {sum} : {kind}"));
        }
        code.lines.line(format!("scf.yield {next} : {kind}\n}}"));
        code.enter();
        total
    }
}

/// The value that changes no other one: of a sum, the negative zero.
fn identity(body: &Body) -> String {
    let combine = &body.combine;
    let is_sum = combine.reduction == "add" && combine.rounds(&body.accumulator);
    if is_sum { "-0.0".to_owned() } else { combine.identity.clone() }
}
