// SPDX-License-Identifier: Apache-2.0
//! The text of a vectorized kernel: one function over flat arrays, with register tiles inside of loops.

#![allow(
    clippy::indexing_slicing,
    reason = "loops, steps and addresses of one nest have equal lengths"
)]

use super::body::{Body, Operand, Step};
use super::nest::Nest;
use super::plan::{LaneMode, Plan};
use super::signature::Signature;
use crate::ir::attribute_names::STEPS;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

/// Writes `func.func private @name`. With [`Plan::steps`], its last two arguments are the first step and the one after the last.
pub fn kernel(name: &str, nest: &Nest, plan: &Plan, body: &Body, signature: &Signature) -> String {
    let mut writer = Writer {
        nest,
        plan,
        body,
        signature,
        text: String::new(),
        constants: BTreeSet::new(),
        counter: 0,
        depth: 1,
    };
    let bases = nest
        .operands
        .iter()
        .map(|o| writer.constant(o.offset))
        .collect();
    let start = State {
        bases,
        values: HashMap::new(),
        tile: HashMap::new(),
    };
    writer.parallel(0, &start);
    let Writer {
        text, constants, ..
    } = writer;

    let mut function = String::new();
    let mut arguments = Vec::new();
    for (position, array) in signature.arrays.iter().enumerate() {
        arguments.push(format!("%m{position}: {array} {{llvm.noalias}}"));
    }
    for (position, capture) in body.captures.iter().enumerate() {
        arguments.push(format!("%x{position}: {capture}"));
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
        let (offset, span) = signature.windows[position];
        let _ = writeln!(
            function,
            "  %l{position} = memref.reinterpret_cast %m{position} to offset: [{offset}], sizes: [{span}], strides: [1] : {array} to {}",
            signature.flat(position)
        );
    }
    for constant in constants {
        let _ = writeln!(
            function,
            "  %{} = arith.constant {constant} : index",
            constant_name(constant)
        );
    }
    function.push_str(&text);
    function.push_str("  return\n}\n");
    function
}

fn constant_name(value: i64) -> String {
    match value {
        0.. => format!("c{value}"),
        _ => format!("cm{}", value.unsigned_abs()),
    }
}

/// Inherent attributes in brackets, if there are any.
fn properties(attributes: &str) -> String {
    match attributes {
        "" => String::new(),
        _ => format!("<{{{attributes}}}>"),
    }
}

/// A scalar or a vector of the payload.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Piece {
    name: String,
    element: String,
    vector: bool,
}

/// The position of the writer in the nest.
#[derive(Clone)]
struct State {
    /// Current address of each operand.
    bases: Vec<String>,
    /// Current values of the loops.
    values: HashMap<usize, String>,
    /// How many steps of an unrolled loop (or vectors of the lanes' loop) the tile has, and how many lanes its last
    /// vector has.
    tile: HashMap<usize, Tile>,
}

#[derive(Clone, Copy)]
struct Tile {
    count: i64,
    /// Elements in the last vector; 0: all.
    partial: i64,
}

struct Writer<'a> {
    nest: &'a Nest,
    plan: &'a Plan,
    body: &'a Body,
    signature: &'a Signature,
    text: String,
    constants: BTreeSet<i64>,
    counter: usize,
    depth: usize,
}

/// One point of a tile: steps along the unrolled loops, and the vector's number.
struct Point {
    steps: Vec<(usize, i64)>,
    vector: i64,
}

impl Writer<'_> {
    fn constant(&mut self, value: i64) -> String {
        self.constants.insert(value);
        format!("%{}", constant_name(value))
    }

    fn fresh(&mut self) -> String {
        self.counter += 1;
        format!("%v{}", self.counter)
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "  ".repeat(self.depth));
    }

    fn define(&mut self, text: &str) -> String {
        let name = self.fresh();
        self.line(&format!("{name} = {text}"));
        name
    }

    fn vector_type(&self, element: &str) -> String {
        format!("vector<{}x{element}>", self.plan.lanes)
    }

    /// `base + amount`, in elements.
    fn offset(&mut self, base: &str, amount: i64) -> String {
        if amount == 0 {
            return base.to_string();
        }
        let amount = self.constant(amount);
        self.define(&format!("arith.addi {base}, {amount} : index"))
    }

    /// The state with loop `l` at `value` (a constant or a loop variable).
    fn at(&mut self, state: &State, l: usize, value: &str) -> State {
        let mut state = state.clone();
        if value != "%c0" {
            for position in 0..state.bases.len() {
                let stride = self.nest.operands[position].strides[l];
                if stride != 0 {
                    let product = if stride == 1 {
                        value.to_string()
                    } else {
                        let stride = self.constant(stride);
                        self.define(&format!("arith.muli {value}, {stride} : index"))
                    };
                    let base = state.bases[position].clone();
                    state.bases[position] =
                        self.define(&format!("arith.addi {base}, {product} : index"));
                }
            }
        }
        state.values.insert(l, value.to_string());
        state
    }

    /// The parallel loops from `level` on: a loop over full tiles, then the remainder.
    fn parallel(&mut self, level: usize, state: &State) {
        let Some(&l) = self.plan.parallels.get(level) else {
            return self.tile(state);
        };
        let factor = self.plan.factor(l);
        let extent = self.nest.loops[l].extent;
        let along_lanes = l == self.plan.lanes_loop;
        let whole = extent / factor;
        let mut state = state.clone();
        let tile = |elements: i64| {
            let lanes = self.plan.lanes;
            match along_lanes {
                true => Tile {
                    count: (elements + lanes - 1) / lanes,
                    partial: elements % lanes,
                },
                false => Tile {
                    count: elements,
                    partial: 0,
                },
            }
        };
        let (full, rest) = (tile(factor), tile(extent % factor));
        if level == 0 && self.plan.is_split {
            return self.steps(l, state, full, rest);
        }
        if whole == 1 {
            state.tile.insert(l, full);
            let zero = self.constant(0);
            let inner = self.at(&state, l, &zero);
            self.parallel(level + 1, &inner);
        } else if whole > 1 {
            state.tile.insert(l, full);
            let variable = self.fresh();
            let (zero, end, step) = (
                self.constant(0),
                self.constant(whole * factor),
                self.constant(factor),
            );
            self.line(&format!(
                "scf.for {variable} = {zero} to {end} step {step} {{"
            ));
            self.depth += 1;
            let inner = self.at(&state, l, &variable);
            self.parallel(level + 1, &inner);
            self.depth -= 1;
            self.line("}");
        }
        if extent % factor != 0 {
            state.tile.insert(l, rest);
            let start = self.constant(whole * factor);
            let inner = self.at(&state, l, &start);
            self.parallel(level + 1, &inner);
        }
    }

    /// The tiles of loop `l` that are the steps `%from` to `%to`; the last step is the remainder, if there is one.
    fn steps(&mut self, l: usize, mut state: State, full: Tile, rest: Tile) {
        let (extent, factor) = (self.nest.loops[l].extent, self.plan.factor(l));
        let whole = self.constant(extent / factor);
        let (one, factor_value) = (self.constant(1), self.constant(factor));
        let has_rest = extent % factor != 0;
        let end = match has_rest {
            true => self.define(&format!("arith.minsi %to, {whole} : index")),
            false => "%to".to_owned(),
        };
        state.tile.insert(l, full);
        let step = self.fresh();
        self.line(&format!("scf.for {step} = %from to {end} step {one} {{"));
        self.depth += 1;
        let start = match factor {
            1 => step,
            _ => self.define(&format!("arith.muli {step}, {factor_value} : index")),
        };
        let inner = self.at(&state, l, &start);
        self.parallel(1, &inner);
        self.depth -= 1;
        self.line("}");
        if has_rest {
            state.tile.insert(l, rest);
            let last = self.define(&format!("arith.cmpi sgt, %to, {whole} : index"));
            self.line(&format!("scf.if {last} {{"));
            self.depth += 1;
            let start = self.constant(extent / factor * factor);
            let inner = self.at(&state, l, &start);
            self.parallel(1, &inner);
            self.depth -= 1;
            self.line("}");
        }
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
            .flat_map(|steps| {
                (0..vectors).map(|vector| Point {
                    steps: steps.clone(),
                    vector,
                })
            })
            .collect()
    }

    /// The mask of a vector of the tile, if it is not full.
    fn mask(&mut self, state: &State, vector: i64) -> Option<String> {
        let tile = state.tile.get(&self.plan.lanes_loop)?;
        (tile.partial != 0 && vector == tile.count - 1).then(|| {
            let kind = self.vector_type("i1");
            self.define(&format!("vector.constant_mask [{}] : {kind}", tile.partial))
        })
    }

    /// Distance of a point from the tile's corner, in elements of an operand.
    fn distance(&self, operand: usize, point: &Point) -> i64 {
        let strides = &self.nest.operands[operand].strides;
        let rows: i64 = point.steps.iter().map(|(l, s)| strides[*l] * s).sum();
        rows + strides[self.plan.lanes_loop] * point.vector * self.plan.lanes
    }

    /// Accumulators, reduction loops, stores.
    fn tile(&mut self, state: &State) {
        let points = self.points(state);
        let output = self.nest.operands.len() - 1;
        let element = self.signature.elements[output].clone();
        let kind = self.vector_type(&element);
        let array = self.signature.flat(output);
        let mut accumulators = Vec::new();
        for point in &points {
            let start = match self.plan.mode {
                LaneMode::Output => {
                    let address = self.offset(&state.bases[output], self.distance(output, point));
                    let mask = self.mask(state, point.vector);
                    self.load_vector(output, &address, mask.as_deref())
                }
                LaneMode::Reduction => {
                    let identity = self.body.combine.identity.clone();
                    self.define(&format!("arith.constant dense<{identity}> : {kind}"))
                }
            };
            accumulators.push(start);
        }
        let results = self.reductions(0, state, &points, accumulators);
        match self.plan.mode {
            LaneMode::Output => {
                for (point, result) in points.iter().zip(results) {
                    let address = self.offset(&state.bases[output], self.distance(output, point));
                    match self.mask(state, point.vector) {
                        Some(mask) => {
                            let masks = self.vector_type("i1");
                            self.line(&format!(
                                "vector.maskedstore %l{output}[{address}], {mask}, {result} : {array}, {masks}, {kind}"
                            ));
                        }
                        None => self.line(&format!(
                            "vector.store {result}, %l{output}[{address}] : {array}, {kind}"
                        )),
                    }
                }
            }
            LaneMode::Reduction => {
                let per_row = self.plan.vectors as usize;
                for (row, partial) in results.chunks(per_row).enumerate() {
                    let point = &points[row * per_row];
                    let mut sum = partial[0].clone();
                    for other in &partial[1..] {
                        sum = self.combine(&sum, other, &kind);
                    }
                    let reduction = self.body.combine.reduction;
                    let fast = match reduction {
                        "add" | "mul" if element.starts_with('f') => " fastmath<reassoc>",
                        _ => "",
                    };
                    let total = self.define(&format!(
                        "vector.reduction <{reduction}>, {sum}{fast} : {kind} into {element}"
                    ));
                    let strides = &self.nest.operands[output].strides;
                    let distance = point.steps.iter().map(|(l, s)| strides[*l] * s).sum();
                    let address = self.offset(&state.bases[output], distance);
                    let old = self.define(&format!("memref.load %l{output}[{address}] : {array}"));
                    let new = self.combine(&old, &total, &element);
                    self.line(&format!(
                        "memref.store {new}, %l{output}[{address}] : {array}"
                    ));
                }
            }
        }
    }

    fn combine(&mut self, left: &str, right: &str, kind: &str) -> String {
        let (name, attributes) = (
            self.body.combine.name.clone(),
            self.body.combine.attributes.clone(),
        );
        self.define(&format!(
            "\"{name}\"({left}, {right}) {} : ({kind}, {kind}) -> {kind}",
            properties(&attributes)
        ))
    }

    /// The reduction loops from `level` on, the lanes' own innermost.
    fn reductions(
        &mut self,
        level: usize,
        state: &State,
        points: &[Point],
        accumulators: Vec<String>,
    ) -> Vec<String> {
        if let Some(&l) = self.plan.reductions.get(level) {
            let extent = self.nest.loops[l].extent;
            return self.accumulating_loop(l, extent, 1, state, accumulators, |w, state, inner| {
                w.reductions(level + 1, state, points, inner)
            });
        }
        match self.plan.mode {
            LaneMode::Output => self.step(state, points, accumulators),
            LaneMode::Reduction => {
                let l = self.plan.lanes_loop;
                let extent = self.nest.loops[l].extent;
                let block = self.plan.vectors * self.plan.lanes;
                let whole = extent / block * block;
                let mut accumulators = accumulators;
                if whole > 0 {
                    accumulators = self.accumulating_loop(
                        l,
                        whole,
                        block,
                        state,
                        accumulators,
                        |w, state, inner| w.step(state, points, inner),
                    );
                }
                // The remainder is added to the first accumulator of each row, one vector at a time.
                let mut start = whole;
                while start < extent {
                    let elements = (extent - start).min(self.plan.lanes);
                    let value = self.constant(start);
                    let mut state = self.at(state, l, &value);
                    state.tile.insert(
                        l,
                        Tile {
                            count: 1,
                            partial: elements % self.plan.lanes,
                        },
                    );
                    let firsts: Vec<usize> = (0..points.len())
                        .filter(|&p| points[p].vector == 0)
                        .collect();
                    let chosen: Vec<Point> = firsts
                        .iter()
                        .map(|&p| Point {
                            steps: points[p].steps.clone(),
                            vector: 0,
                        })
                        .collect();
                    let inner = firsts.iter().map(|&p| accumulators[p].clone()).collect();
                    for (p, new) in firsts.iter().zip(self.step(&state, &chosen, inner)) {
                        accumulators[*p] = new;
                    }
                    start += elements;
                }
                accumulators
            }
        }
    }

    /// A loop with the accumulators as loop-carried values.
    fn accumulating_loop(
        &mut self,
        l: usize,
        end: i64,
        step: i64,
        state: &State,
        accumulators: Vec<String>,
        body: impl FnOnce(&mut Self, &State, Vec<String>) -> Vec<String>,
    ) -> Vec<String> {
        let element = self.signature.elements[self.nest.operands.len() - 1].clone();
        let kind = self.vector_type(&element);
        let count = accumulators.len();
        let kinds = vec![kind; count].join(", ");
        let (variable, results) = (self.fresh(), self.fresh());
        let inner: Vec<String> = (0..count).map(|_| self.fresh()).collect();
        let bindings: Vec<String> = inner
            .iter()
            .zip(&accumulators)
            .map(|(i, a)| format!("{i} = {a}"))
            .collect();
        let (zero, end, step) = (self.constant(0), self.constant(end), self.constant(step));
        self.line(&format!(
            "{results}:{count} = scf.for {variable} = {zero} to {end} step {step} iter_args({}) -> ({kinds}) {{",
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
    fn step(&mut self, state: &State, points: &[Point], accumulators: Vec<String>) -> Vec<String> {
        let element = self.signature.elements[self.nest.operands.len() - 1].clone();
        let kind = self.vector_type(&element);
        let mut known = Known::default();
        let mut results = Vec::new();
        for (point, accumulator) in points.iter().zip(accumulators) {
            let value = self.payload(&self.body.value.clone(), state, point, &mut known);
            let value = self.widened(&value, &mut known);
            let new = self.combine(&accumulator, &value, &kind);
            let guard = self
                .body
                .predicate
                .clone()
                .map(|p| self.payload(&p, state, point, &mut known));
            let lanes = match self.plan.mode {
                LaneMode::Reduction => self.mask(state, point.vector),
                LaneMode::Output => None,
            };
            let mut result = new;
            for (mask, vector) in guard
                .map(|g| (g.name, g.vector))
                .into_iter()
                .chain(lanes.map(|m| (m, true)))
            {
                let masks = if vector {
                    self.vector_type("i1")
                } else {
                    "i1".to_string()
                };
                result = self.define(&format!(
                    "\"arith.select\"({mask}, {result}, {accumulator}) : ({masks}, {kind}, {kind}) -> {kind}"
                ));
            }
            results.push(result);
        }
        results
    }

    /// A value of the payload at a point; values that do not differ between points are computed once.
    fn payload(
        &mut self,
        operand: &Operand,
        state: &State,
        point: &Point,
        known: &mut Known,
    ) -> Piece {
        match operand {
            Operand::Capture(position) => Piece {
                name: format!("%x{position}"),
                element: self.body.captures[*position].clone(),
                vector: false,
            },
            Operand::Input(position) => self.input(*position, state, point, known),
            Operand::Step(number) => {
                let step = self.body.steps[*number].clone();
                match &step {
                    Step::Constant { attribute, element } => {
                        let key = (*number, Vec::new());
                        if let Some(piece) = known.steps.get(&key) {
                            return piece.clone();
                        }
                        let name = self.define(&format!("arith.constant {attribute}"));
                        let piece = Piece {
                            name,
                            element: element.clone(),
                            vector: false,
                        };
                        known.steps.insert(key, piece.clone());
                        piece
                    }
                    Step::Index { dimension } => self.index(*dimension, state, point, known),
                    Step::Apply {
                        name,
                        attributes,
                        operands,
                        element,
                        ..
                    } => {
                        let mut pieces: Vec<Piece> = operands
                            .iter()
                            .map(|o| self.payload(o, state, point, known))
                            .collect();
                        let key = (*number, pieces.clone());
                        if let Some(piece) = known.steps.get(&key) {
                            return piece.clone();
                        }
                        let vector = pieces.iter().any(|p| p.vector);
                        if vector {
                            pieces = pieces
                                .into_iter()
                                .map(|p| Piece {
                                    name: self.widened(&p, known),
                                    vector: true,
                                    element: p.element,
                                })
                                .collect();
                        }
                        let kind_of = |element: &str| match vector {
                            true => self.vector_type(element),
                            false => element.to_string(),
                        };
                        let names: Vec<&str> = pieces.iter().map(|p| p.name.as_str()).collect();
                        let kinds: Vec<String> =
                            pieces.iter().map(|p| kind_of(&p.element)).collect();
                        let text = format!(
                            "\"{name}\"({}) {} : ({}) -> {}",
                            names.join(", "),
                            properties(attributes),
                            kinds.join(", "),
                            kind_of(element)
                        );
                        let piece = Piece {
                            name: self.define(&text),
                            element: element.clone(),
                            vector,
                        };
                        known.steps.insert(key, piece.clone());
                        piece
                    }
                }
            }
        }
    }

    /// A value as a vector.
    fn widened(&mut self, piece: &Piece, known: &mut Known) -> String {
        if piece.vector {
            return piece.name.clone();
        }
        if let Some(name) = known.broadcasts.get(&piece.name) {
            return name.clone();
        }
        let kind = self.vector_type(&piece.element);
        let name = self.define(&format!(
            "vector.broadcast {} : {} to {kind}",
            piece.name, piece.element
        ));
        known.broadcasts.insert(piece.name.clone(), name.clone());
        name
    }

    /// An input's element, or elements along the lanes.
    fn input(&mut self, position: usize, state: &State, point: &Point, known: &mut Known) -> Piece {
        let distance = self.distance(position, point);
        let stride = self.nest.operands[position].strides[self.plan.lanes_loop];
        let masked = stride != 0 && self.is_partial(state, point.vector);
        let key = (position, distance, masked);
        if let Some(piece) = known.inputs.get(&key) {
            return piece.clone();
        }
        let address = self.offset(&state.bases[position], distance);
        let element = self.signature.elements[position].clone();
        let array = self.signature.flat(position);
        let mask = if masked {
            self.mask(state, point.vector)
        } else {
            None
        };
        let name = match stride {
            0 => self.define(&format!("memref.load %l{position}[{address}] : {array}")),
            1 => self.load_vector(position, &address, mask.as_deref()),
            _ => {
                let kind = self.vector_type(&element);
                let (indices, masks) = (self.vector_type("index"), self.vector_type("i1"));
                let steps: Vec<String> = (0..self.plan.lanes)
                    .map(|i| (i * stride).to_string())
                    .collect();
                let steps = self.define(&format!(
                    "arith.constant dense<[{}]> : {indices}",
                    steps.join(", ")
                ));
                let mask = mask.unwrap_or_else(|| {
                    self.define(&format!("arith.constant dense<true> : {masks}"))
                });
                let zero = if element.contains('f') { "0.0" } else { "0" };
                let pass = self.define(&format!("arith.constant dense<{zero}> : {kind}"));
                self.define(&format!(
                    "vector.gather %l{position}[{address}] [{steps}], {mask}, {pass} : {array}, {indices}, {masks}, {kind} into {kind}"
                ))
            }
        };
        let piece = Piece {
            name,
            element,
            vector: stride != 0,
        };
        known.inputs.insert(key, piece.clone());
        piece
    }

    fn is_partial(&self, state: &State, vector: i64) -> bool {
        state
            .tile
            .get(&self.plan.lanes_loop)
            .is_some_and(|t| t.partial != 0 && vector == t.count - 1)
    }

    fn load_vector(&mut self, position: usize, address: &str, mask: Option<&str>) -> String {
        let element = self.signature.elements[position].clone();
        let (array, kind) = (self.signature.flat(position), self.vector_type(&element));
        match mask {
            None => self.define(&format!(
                "vector.load %l{position}[{address}] : {array}, {kind}"
            )),
            Some(mask) => {
                let zero = if element.contains('f') { "0.0" } else { "0" };
                let pass = self.define(&format!("arith.constant dense<{zero}> : {kind}"));
                let masks = self.vector_type("i1");
                self.define(&format!(
                    "vector.maskedload %l{position}[{address}], {mask}, {pass} : {array}, {masks}, {kind} into {kind}"
                ))
            }
        }
    }

    /// The value of a dimension of the original operation.
    fn index(
        &mut self,
        dimension: usize,
        state: &State,
        point: &Point,
        known: &mut Known,
    ) -> Piece {
        let l =
            (0..self.nest.loops.len()).find(|&l| self.nest.loops[l].dimension == Some(dimension));
        let scalar = |name: String| Piece {
            name,
            element: "index".to_string(),
            vector: false,
        };
        let Some(l) = l else {
            // Its loop had one iteration.
            return scalar(self.constant(0));
        };
        let steps = point.steps.iter().find(|s| s.0 == l).map_or(0, |s| s.1);
        let along = l == self.plan.lanes_loop;
        let distance = if along {
            point.vector * self.plan.lanes
        } else {
            steps
        };
        let key = (l, distance);
        if let Some(piece) = known.indices.get(&key) {
            return piece.clone();
        }
        let base = state
            .values
            .get(&l)
            .cloned()
            .unwrap_or_else(|| "%c0".to_string());
        let start = self.offset(&base, distance);
        let piece = if along {
            let kind = self.vector_type("index");
            let lanes = self.define(&format!("vector.step : {kind}"));
            let wide = self.define(&format!("vector.broadcast {start} : index to {kind}"));
            Piece {
                name: self.define(&format!("arith.addi {wide}, {lanes} : {kind}")),
                element: "index".to_string(),
                vector: true,
            }
        } else {
            scalar(start)
        };
        known.indices.insert(key, piece.clone());
        piece
    }
}

/// Values that the current block has already.
#[derive(Default)]
struct Known {
    inputs: HashMap<(usize, i64, bool), Piece>,
    steps: HashMap<(usize, Vec<Piece>), Piece>,
    indices: HashMap<(usize, i64), Piece>,
    broadcasts: HashMap<String, String>,
}
