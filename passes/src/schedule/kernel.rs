// SPDX-License-Identifier: Apache-2.0
//! The text of a vectorized kernel: one function over flat arrays, with register tiles inside of loops.

#![allow(clippy::indexing_slicing, reason = "loops, steps and addresses of one nest have equal lengths")]

use super::body::{Body, Operand};
use super::nest::Nest;
use super::payload::{Apart, Known};
use super::plan::{LaneMode, Plan};
use super::signature::Signature;
use super::writer::{LastVector, Part, Piece, Point, Predicate, State, Tile, Writer, properties};
use crate::ir::attribute_names::STEPS;
use crate::ir::ops;
use std::fmt::Write;

/// Writes `func.func private @name`. With steps ([`Plan::steps`]), its last two arguments are the first step and the one after the last.
pub fn kernel(name: &str, nest: &Nest, plan: &Plan, body: &Body, signature: &Signature) -> String {
    let mut writer = Writer::new(nest, plan, body, signature);
    let start = writer.start();
    writer.parts(&start);

    let mut function = String::new();
    let mut arguments = Vec::new();
    for (position, array) in signature.arrays.iter().enumerate() {
        arguments.push(format!("%m{position}: {array} {{llvm.noalias}}"));
    }
    for (position, capture) in body.captures.iter().enumerate() {
        arguments.push(format!("%x{position}: {capture}"));
    }
    for position in signature.placed() {
        arguments.push(format!("%f{position}: index"));
    }
    for (l, own) in nest.loops.iter().enumerate() {
        if own.source.is_some() {
            arguments.push(format!("%n{l}: index"));
        }
    }
    let steps = match plan.steps(nest) {
        Some(_) => {
            arguments.push("%from: index, %to: index".to_owned());
            format!(", {STEPS}")
        }
        None => String::new(),
    };
    let _ = writeln!(
        function,
        "func.func private @{name}({}) attributes {{llvm.linkage = #llvm.linkage<internal>{steps}}} {{",
        arguments.join(", ")
    );
    for (position, array) in signature.arrays.iter().enumerate() {
        let (source, offset) = (format!("%m{position}"), format!("%f{position}"));
        let view = signature.view(position, &source, array, &offset);
        let _ = writeln!(function, "  %l{position} = {view}");
    }
    if plan.transposed(nest).is_some() {
        let _ = writeln!(
            function,
            "  %scratch = memref.alloca() {{alignment = 64 : i64}} : {}",
            plan.scratch_type(&body.accumulator)
        );
    }
    function.push_str(&writer.finished());
    function.push_str("  return\n}\n");
    function
}

impl Writer<'_> {
    /// The state with loop `l` at `value` (a constant or a loop variable).
    pub(super) fn at(&mut self, state: &State, l: usize, value: &str) -> State {
        let mut state = state.clone();
        if value != "%c0" {
            for position in 0..state.bases.len() {
                let stride = self.nest.operands[position].strides[l];
                if stride != 0 {
                    let product = if stride == 1 {
                        value.to_string()
                    } else {
                        let stride = self.stride(position, l);
                        self.define(&format!("arith.muli {value}, {stride} : index"))
                    };
                    let base = state.bases[position].clone();
                    state.bases[position] = self.define(&format!("arith.addi {base}, {product} : index"));
                }
            }
        }
        state.values.insert(l, value.to_string());
        state
    }

    /// All points of the current tile.
    fn points(&self, state: &State) -> Vec<Point> {
        let vectors = match self.plan.mode {
            LaneMode::Output => state.tile[&self.plan.lanes_loop].count,
            LaneMode::Reduction => self.plan.vectors,
        };
        let mut rows: Vec<Vec<(usize, i64)>> = vec![Vec::new()];
        for &(l, _) in &self.plan.unroll {
            let count = state.tile[&l].count;
            rows = rows
                .into_iter()
                .flat_map(|row| {
                    (0..count).map(move |step| {
                        let mut row = row.clone();
                        row.push((l, step));
                        row
                    })
                })
                .collect();
        }
        rows.iter()
            .flat_map(|steps| (0..vectors).map(|vector| Point { steps: steps.clone(), vector }))
            .collect()
    }

    /// The mask of a vector of the tile, if it is not full.
    pub(super) fn mask(&mut self, state: &State, vector: i64) -> Option<String> {
        let tile = state.tile.get(&self.plan.lanes_loop)?;
        let tile = *tile;
        if !tile.is_partial(vector) {
            return None;
        }
        let kind = self.vector_type("i1");
        match tile.last {
            LastVector::Full => None,
            LastVector::Partial(elements) => {
                Some(self.define(&format!("vector.constant_mask [{elements}] : {kind}")))
            }
            LastVector::Dynamic => {
                let before = self.constant(vector * self.plan.lanes);
                let rest = &state.rest;
                let rest = self.define(&format!("arith.subi {rest}, {before} : index"));
                Some(self.define(&format!("vector.create_mask {rest} : {kind}")))
            }
        }
    }

    /// Whether a vector of the tile has one element.
    fn is_single(&self, state: &State, vector: i64) -> bool {
        let tile = state.tile.get(&self.plan.lanes_loop);
        tile.is_some_and(|tile| tile.is_partial(vector) && tile.last == LastVector::Partial(1))
    }

    /// Distance between the elements of neighbouring lanes.
    pub(super) fn lane_stride(&self, operand: usize) -> i64 {
        match (self.plan.packed == Some(operand), self.plan.group) {
            (true, Some(_)) => self.nest.group_size(),
            (true, None) => 1,
            (false, _) => self.nest.operands[operand].strides[self.plan.lanes_loop],
        }
    }

    /// The number of iterations of a loop.
    pub(super) fn extent(&mut self, l: usize) -> String {
        let own = &self.nest.loops[l];
        match own.source {
            Some(_) => format!("%n{l}"),
            None => self.constant(own.extent),
        }
    }

    /// The loop over the parts of a reduction, if there is one.
    fn parts(&mut self, state: &State) {
        let Some(chunk) = self.plan.chunk else {
            return self.parallel(0, state);
        };
        let extent = self.nest.loops[chunk.number].extent;
        let last = (extent - 1) / chunk.size * chunk.size;
        let (zero, size, end) = (self.constant(0), self.constant(chunk.size), self.constant(extent));
        let from = self.fresh();
        self.line(&format!("scf.for {from} = {zero} to {end} step {size} {{"));
        self.depth += 1;
        let (next, compare) = (self.offset(&from, chunk.size), ops::arith::CMPI);
        let last = self.constant(last);
        let part = Part {
            number: chunk.number,
            to: self.define(&format!("{} {next}, {end} : index", ops::arith::MINSI)),
            is_first: self.define(&format!("{compare} eq, {from}, {zero} : index")),
            is_last: self.define(&format!("{compare} eq, {from}, {last} : index")),
            from,
        };
        self.parallel(0, &State { part: Some(part), ..state.clone() });
        self.depth -= 1;
        self.line("}");
    }

    /// Accumulators, reduction loops, stores.
    pub(super) fn tile(&mut self, state: &State) {
        let points = self.points(state);
        let kind = self.vector_type(&self.body.accumulator);
        let is_contiguous = self.lane_stride(self.nest.output) == 1;
        let accumulators = match self.plan.mode {
            LaneMode::Output if is_contiguous => self.starts(state, &points),
            LaneMode::Output | LaneMode::Reduction => {
                let identity = &self.body.combine.identity;
                let identity = format!("arith.constant dense<{identity}> : {kind}");
                points.iter().map(|_| self.define(&identity)).collect()
            }
        };
        let results = self.reductions(0, state, &points, accumulators);
        let transposed = self.plan.transposed(self.nest);
        match (self.plan.mode, transposed) {
            (LaneMode::Output, Some(rows)) => self.transpose(rows, state, &points, &results),
            (LaneMode::Output, None) if is_contiguous => self.finishes(state, &points, &results),
            (LaneMode::Output, None) => self.combine_and_finish(state, &points, &results),
            (LaneMode::Reduction, _) => self.reduce_lanes(state, &points, &results),
        }
    }

    /// Combines results of the reduction with the first values of the elements, and stores them.
    pub(super) fn combine_and_finish(&mut self, state: &State, points: &[Point], results: &[String]) {
        let kind = self.vector_type(&self.body.accumulator);
        let starts = self.starts(state, points);
        let reduced: Vec<String> =
            starts.iter().zip(results).map(|(start, result)| self.combine(start, result, &kind)).collect();
        self.finishes(state, points, &reduced);
    }

    /// The first values of the elements: in the first part of a reduction, where they start; in others, the sums so far.
    fn starts(&mut self, state: &State, points: &[Point]) -> Vec<String> {
        let output = Operand::Input(self.nest.output);
        let start = self.body.start.clone();
        let all = |w: &mut Self, operand: &Operand| {
            let mut known = Known::default();
            let values = points.iter().map(|point| {
                let value = w.payload(operand, state, point, &mut known);
                w.widened(&value, &mut known)
            });
            values.collect::<Vec<_>>()
        };
        match &state.part {
            None => all(self, &start),
            Some(part) => self.choice(&part.is_first, points.len(), |w| all(w, &start), |w| all(w, &output)),
        }
    }

    /// Stores what follows from the results of the reduction; before its last part, the results themselves.
    fn finishes(&mut self, state: &State, points: &[Point], results: &[String]) {
        let all = |w: &mut Self, finish: &Operand| {
            let mut known = Known::default();
            for (point, result) in points.iter().zip(results) {
                w.finish(state, point, result, finish, &mut known);
            }
        };
        let finish = self.body.finish.clone();
        let Some(part) = state.part.as_ref().filter(|_| finish != Operand::Reduced) else {
            return all(self, &finish);
        };
        self.line(&format!("scf.if {} {{", part.is_last));
        self.depth += 1;
        all(self, &finish);
        self.depth -= 1;
        self.line("} else {");
        self.depth += 1;
        all(self, &Operand::Reduced);
        self.depth -= 1;
        self.line("}");
    }

    /// A result of the reduction.
    pub(super) fn reduced(&self, name: &str, vector: bool) -> Piece {
        Piece { name: name.to_owned(), element: self.body.accumulator.clone(), vector }
    }

    /// Stores what follows from the result of the reduction at a point.
    fn finish(&mut self, state: &State, point: &Point, reduced: &str, finish: &Operand, known: &mut Known) {
        known.set_reduced(self.reduced(reduced, true));
        let finish = self.payload(finish, state, point, known);
        let value = self.widened(&finish, known);
        let output = self.nest.output;
        let (array, kind) = (self.signature.flat(output), self.vector_type(&finish.element));
        let address = self.address(output, state, point);
        // LLVM 22 stores all bits of a lane that it narrows, where a constant mask has no other one.
        if self.is_single(state, point.vector) {
            let element = &finish.element;
            let lane = self.define(&format!("vector.extract {value}[0] : {element} from {kind}"));
            let store = format!("memref.store {lane}, %l{output}[{address}] : {array}");
            return self.line(&store);
        }
        let mask = self.mask(state, point.vector);
        match (self.lane_stride(output), mask) {
            (1, Some(mask)) => {
                let masks = self.vector_type("i1");
                self.line(&format!(
                    "vector.maskedstore %l{output}[{address}], {mask}, {value} : {array}, {masks}, {kind}"
                ));
            }
            (1, None) => self.line(&format!("vector.store {value}, %l{output}[{address}] : {array}, {kind}")),
            (stride, mask) => {
                let (steps, indices, mask, masks) =
                    self.apart(&Apart { position: output, stride, mask: mask.as_deref() });
                self.line(&format!(
                    "vector.scatter %l{output}[{address}] [{steps}], {mask}, {value} : {array}, {indices}, {masks}, {kind}"
                ));
            }
        }
    }

    pub(super) fn combine(&mut self, left: &str, right: &str, kind: &str) -> String {
        let (name, attributes) = (self.body.combine.name.clone(), self.body.combine.attributes.clone());
        self.define(&format!(
            "\"{name}\"({left}, {right}) {} : ({kind}, {kind}) -> {kind}",
            properties(&attributes)
        ))
    }

    /// The reduction loops from `level` on, the lanes' own innermost.
    pub(super) fn reductions(
        &mut self,
        level: usize,
        state: &State,
        points: &[Point],
        accumulators: Vec<String>,
    ) -> Vec<String> {
        if self.plan.hoists == Some(level) && state.predicate == Predicate::Open {
            if let Some(predicate) = self.body.predicate.clone() {
                return self.hoisted(level, &predicate, state, points, &accumulators);
            }
            if let Some(skips) = self.body.skips.clone() {
                return self.skipped(level, &skips, state, points, &accumulators);
            }
        }
        let accumulators = match self.unrolled_taps(level, state, points, accumulators) {
            Ok(results) => return results,
            Err(accumulators) => accumulators,
        };
        if let Some(&l) = self.plan.reductions.get(level) {
            if self.plan.group == Some(l) {
                return self.grouped(l, state, points, accumulators);
            }
            let range = (self.constant(0), self.extent(l));
            return self.accumulating_loop(l, range, 1, state, accumulators, |w, state, inner| {
                w.reductions(level + 1, state, points, inner)
            });
        }
        match self.plan.mode {
            LaneMode::Output => self.step(state, points, accumulators),
            LaneMode::Reduction => self.along_lanes(state, points, accumulators),
        }
    }

    /// The state for as many vectors of the elements of a loop that are left.
    pub(super) fn with_rest(&mut self, state: &State, l: usize, count: i64) -> State {
        let mut state = state.clone();
        let start = state.values.get(&l).cloned().unwrap_or_default();
        state.rest = self.define(&format!("arith.subi %n{l}, {start} : index"));
        let last = LastVector::Dynamic;
        state.tile.insert(l, Tile { count, last });
        state
    }

    /// The largest multiple of a number that is not above a value.
    pub(super) fn multiple(&mut self, value: &str, factor: i64) -> String {
        let factor = self.constant(factor);
        let whole = self.define(&format!("{} {value}, {factor} : index", ops::arith::DIVUI));
        self.define(&format!("{} {whole}, {factor} : index", ops::arith::MULI))
    }

    /// A loop with the accumulators as loop-carried values.
    pub(super) fn accumulating_loop(
        &mut self,
        l: usize,
        range: (String, String),
        step: i64,
        state: &State,
        accumulators: Vec<String>,
        body: impl FnOnce(&mut Self, &State, Vec<String>) -> Vec<String>,
    ) -> Vec<String> {
        let element = self.body.accumulator.clone();
        let kind = self.vector_type(&element);
        let count = accumulators.len();
        let kinds = vec![kind; count].join(", ");
        let (variable, results) = (self.fresh(), self.fresh());
        let inner: Vec<String> = (0..count).map(|_| self.fresh()).collect();
        let bindings: Vec<String> =
            inner.iter().zip(&accumulators).map(|(i, a)| format!("{i} = {a}")).collect();
        let part = state.part.as_ref().filter(|part| part.number == l);
        let (from, end) = match part {
            Some(part) => (part.from.clone(), part.to.clone()),
            None => range,
        };
        let step = self.constant(step);
        self.line(&format!(
            "{results}:{count} = scf.for {variable} = {from} to {end} step {step} iter_args({}) -> ({kinds}) {{",
            bindings.join(", ")
        ));
        self.depth += 1;
        let inside = self.at(state, l, &variable);
        let new = body(self, &inside, inner);
        self.line(&format!("scf.yield {} : {kinds}", new.join(", ")));
        self.depth -= 1;
        self.line("}");
        (0..count).map(|r| format!("{results}#{r}")).collect()
    }

    /// The payload at every point, combined with the accumulators.
    pub(super) fn step(&mut self, state: &State, points: &[Point], accumulators: Vec<String>) -> Vec<String> {
        let element = self.body.accumulator.clone();
        let kind = self.vector_type(&element);
        let mut known = Known::default();
        let mut results = Vec::new();
        for (number, (point, accumulator)) in points.iter().zip(accumulators).enumerate() {
            let value = self.payload(&self.body.value.clone(), state, point, &mut known);
            let value = self.widened(&value, &mut known);
            let new = self.combine(&accumulator, &value, &kind);
            let guard = self.guard(state, number, point, &mut known);
            let lanes = match self.plan.mode {
                LaneMode::Reduction => self.mask(state, point.vector),
                LaneMode::Output => None,
            };
            let mut result = new;
            for (mask, vector) in guard.into_iter().chain(lanes.map(|m| (m, true))) {
                result = self.selected(&mask, vector, [&result, &accumulator], &kind);
            }
            results.push(result);
        }
        results
    }

    /// The predicate at a point, if it is not known to hold: a value, and whether it is a vector.
    pub(super) fn guard(
        &mut self,
        state: &State,
        number: usize,
        point: &Point,
        known: &mut Known,
    ) -> Option<(String, bool)> {
        match (&self.body.predicate.clone(), &state.predicate) {
            (None, _) | (_, Predicate::Holds) => None,
            (_, Predicate::Values(values)) => Some((values[number].clone(), false)),
            (Some(predicate), Predicate::Open) => {
                let piece = self.payload(predicate, state, point, known);
                Some((piece.name, piece.vector))
            }
        }
    }

    /// The first of two vectors where a bool, or a vector of bools, is true.
    pub(super) fn selected(
        &mut self,
        mask: &str,
        is_vector: bool,
        [then, otherwise]: [&str; 2],
        kind: &str,
    ) -> String {
        let masks = if is_vector { self.vector_type("i1") } else { "i1".to_owned() };
        self.define(&format!(
            "\"arith.select\"({mask}, {then}, {otherwise}) : ({masks}, {kind}, {kind}) -> {kind}"
        ))
    }
}
