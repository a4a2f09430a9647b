// SPDX-License-Identifier: Apache-2.0
//! The scalars and vectors that the payload of a kernel needs at one point of its tile.

#![allow(clippy::indexing_slicing, reason = "loops, steps and addresses of one nest have equal lengths")]

use super::body::{Operand, Step};
use super::nest::CLOSEST;
use super::writer::{LastVector, Piece, Point, State, Writer, properties};
use std::collections::HashMap;

/// Elements of an operand that are apart.
pub(super) struct Apart<'a> {
    pub position: usize,
    /// Distance of neighbouring lanes, in elements.
    pub stride: i64,
    pub mask: Option<&'a str>,
}

/// An element of an operand, or a vector of them, by its distance from the tile's corner.
#[derive(PartialEq, Eq, Hash)]
struct Element {
    position: usize,
    distance: i64,
    /// Steps along loops with dynamic strides.
    steps: Vec<(usize, i64)>,
    masked: bool,
}

/// Values that the current block has already.
#[derive(Default)]
pub(super) struct Known {
    inputs: HashMap<Element, Piece>,
    steps: HashMap<(usize, Vec<Piece>), Piece>,
    indices: HashMap<(usize, i64), Piece>,
    broadcasts: HashMap<String, String>,
    reduced: Option<Piece>,
}

impl Known {
    /// The result of the reduction at the next point.
    pub(super) fn set_reduced(&mut self, reduced: Piece) {
        self.reduced = Some(reduced);
    }
}

impl Writer<'_> {
    /// A value of the payload at a point; values that do not differ between points are computed once.
    pub(super) fn payload(
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
            Operand::Reduced => known.reduced.clone().unwrap_or_else(|| Piece {
                name: String::new(),
                element: self.body.accumulator.clone(),
                vector: true,
            }),
            Operand::Step(number) => {
                let step = self.body.steps[*number].clone();
                match &step {
                    Step::Constant { attribute, element } => {
                        let key = (*number, Vec::new());
                        if let Some(piece) = known.steps.get(&key) {
                            return piece.clone();
                        }
                        let name = self.define(&format!("arith.constant {attribute}"));
                        let piece = Piece { name, element: element.clone(), vector: false };
                        known.steps.insert(key, piece.clone());
                        piece
                    }
                    Step::Index { dimension } => self.index(*dimension, state, point, known),
                    Step::Apply { name, attributes, operands, element, .. } => {
                        let mut pieces: Vec<Piece> =
                            operands.iter().map(|o| self.payload(o, state, point, known)).collect();
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
                        let kind_of = |element: &str| {
                            if vector { self.vector_type(element) } else { element.to_string() }
                        };
                        let names: Vec<&str> = pieces.iter().map(|p| p.name.as_str()).collect();
                        let kinds: Vec<String> = pieces.iter().map(|p| kind_of(&p.element)).collect();
                        let text = format!(
                            "\"{name}\"({}) {} : ({}) -> {}",
                            names.join(", "),
                            properties(attributes),
                            kinds.join(", "),
                            kind_of(element)
                        );
                        let piece = Piece { name: self.define(&text), element: element.clone(), vector };
                        known.steps.insert(key, piece.clone());
                        piece
                    }
                }
            }
        }
    }

    /// A value as a vector.
    pub(super) fn widened(&mut self, piece: &Piece, known: &mut Known) -> String {
        if piece.vector {
            return piece.name.clone();
        }
        if let Some(name) = known.broadcasts.get(&piece.name) {
            return name.clone();
        }
        let kind = self.vector_type(&piece.element);
        let name = self.define(&format!("vector.broadcast {} : {} to {kind}", piece.name, piece.element));
        known.broadcasts.insert(piece.name.clone(), name.clone());
        name
    }

    /// An input's element, or elements along the lanes.
    fn input(&mut self, position: usize, state: &State, point: &Point, known: &mut Known) -> Piece {
        let stride = self.lane_stride(position);
        // The lanes of a packed operand are filled up.
        let is_packed = self.plan.packed == Some(position);
        let masked = stride != 0 && !is_packed && self.is_partial(state, point.vector);
        let key = Element {
            position,
            distance: self.distance(position, point),
            steps: self.dynamic_steps(position, point),
            masked,
        };
        if let Some(piece) = known.inputs.get(&key) {
            return piece.clone();
        }
        let element = self.signature.elements[position].clone();
        let array = self.signature.flat(position);
        let mask = if masked { self.mask(state, point.vector) } else { None };
        let is_close = (2..=CLOSEST).contains(&stride) && !(masked && self.is_dynamic(state));
        let own = self.first_tap(position, state, point);
        let (tap, first) = match own.filter(|_| is_close) {
            Some((tap, first)) => (Some(tap), Some(first)),
            None => (None, None),
        };
        let address = self.address(position, state, first.as_ref().unwrap_or(point));
        let name = match stride {
            0 => self.define(&format!("memref.load %l{position}[{address}] : {array}")),
            1 => self.load_vector(position, &address, mask.as_deref()),
            stride if is_close => {
                let elements = self.elements(state, point);
                self.close(position, &address, stride, elements, tap)
            }
            _ => self.gather(&address, &Apart { position, stride, mask: mask.as_deref() }),
        };
        let piece = Piece { name, element, vector: stride != 0 };
        known.inputs.insert(key, piece.clone());
        piece
    }

    /// The maximum number of elements of the vector of a point.
    fn elements(&self, state: &State, point: &Point) -> i64 {
        let tile = state.tile.get(&self.plan.lanes_loop);
        let tile = tile.filter(|tile| tile.is_partial(point.vector));
        match tile.map(|tile| tile.last) {
            Some(LastVector::Partial(elements)) => elements,
            Some(LastVector::Full | LastVector::Dynamic) | None => self.plan.lanes,
        }
    }

    /// Elements that are a few apart: contiguous vectors that cover them, and shuffles. The vectors are those of one tap, or those of all
    /// taps of a group.
    fn close(
        &mut self,
        position: usize,
        address: &str,
        stride: i64,
        elements: i64,
        tap: Option<i64>,
    ) -> String {
        let lanes = self.plan.lanes;
        let kind = self.vector_type(&self.signature.elements[position].clone());
        let (tap, beyond) = tap.map_or((0, 1), |tap| (tap, stride));
        // No vector goes beyond the last element.
        let start = |part: i64| (part * lanes).min((lanes - 1) * stride + beyond - lanes);
        let mut value: Option<String> = None;
        for part in 0..stride {
            let covered = ((elements - 1) * stride + beyond - start(part)).clamp(0, lanes);
            if covered == 0 {
                break;
            }
            let at = self.offset(address, start(part));
            let mask = (covered < lanes).then(|| {
                let masks = self.vector_type("i1");
                self.define(&format!("vector.constant_mask [{covered}] : {masks}"))
            });
            let loaded = self.load_vector(position, &at, mask.as_deref());
            let before = value.clone().unwrap_or_else(|| loaded.clone());
            let from_part = |lane: i64| {
                let element = lane * stride + tap - start(part);
                let is_new = element >= 0 && element < lanes;
                match (is_new, &value) {
                    (true, None) => element,
                    (true, Some(_)) => lanes + element,
                    (false, None) => 0,
                    (false, Some(_)) => lane,
                }
            };
            let pattern: Vec<String> = (0..lanes).map(|lane| from_part(lane).to_string()).collect();
            value = Some(self.define(&format!(
                "vector.shuffle {before}, {loaded} [{}] : {kind}, {kind}",
                pattern.join(", ")
            )));
        }
        value.unwrap_or_default()
    }

    /// Elements that are far apart.
    pub(super) fn gather(&mut self, address: &str, apart: &Apart) -> String {
        let position = apart.position;
        let element = self.signature.elements[position].clone();
        let (array, kind) = (self.signature.flat(position), self.vector_type(&element));
        let (steps, indices, mask, masks) = self.apart(apart);
        let zero = if element.contains('f') { "0.0" } else { "0" };
        let pass = self.define(&format!("arith.constant dense<{zero}> : {kind}"));
        self.define(&format!(
            "vector.gather %l{position}[{address}] [{steps}], {mask}, {pass} : {array}, {indices}, {masks}, {kind} into {kind}"
        ))
    }

    /// Distances of the lanes, their type, the mask, and its type.
    pub(super) fn apart(&mut self, apart: &Apart) -> (String, String, String, String) {
        let farthest = (self.plan.lanes - 1).saturating_mul(apart.stride);
        let (indices, masks) = match i32::try_from(farthest) {
            Ok(_) => (self.vector_type("i32"), self.vector_type("i1")),
            Err(_) => (self.vector_type("index"), self.vector_type("i1")),
        };
        let steps: Vec<String> = (0..self.plan.lanes).map(|i| (i * apart.stride).to_string()).collect();
        let steps = self.define(&format!("arith.constant dense<[{}]> : {indices}", steps.join(", ")));
        let mask = match apart.mask {
            Some(mask) => mask.to_owned(),
            None => self.define(&format!("arith.constant dense<true> : {masks}")),
        };
        (steps, indices, mask, masks)
    }

    /// Whether the number of elements in a partial vector is dynamic.
    fn is_dynamic(&self, state: &State) -> bool {
        let tile = state.tile.get(&self.plan.lanes_loop);
        tile.is_some_and(|tile| tile.last == LastVector::Dynamic)
    }

    fn is_partial(&self, state: &State, vector: i64) -> bool {
        state.tile.get(&self.plan.lanes_loop).is_some_and(|tile| tile.is_partial(vector))
    }

    pub(super) fn load_vector(&mut self, position: usize, address: &str, mask: Option<&str>) -> String {
        let element = self.signature.elements[position].clone();
        let (array, kind) = (self.signature.flat(position), self.vector_type(&element));
        match mask {
            None => self.define(&format!("vector.load %l{position}[{address}] : {array}, {kind}")),
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
    fn index(&mut self, dimension: usize, state: &State, point: &Point, known: &mut Known) -> Piece {
        let l = (0..self.nest.loops.len()).find(|&l| self.nest.loops[l].dimension == Some(dimension));
        let scalar = |name: String| Piece { name, element: "index".to_string(), vector: false };
        let Some(l) = l else {
            // Its loop had one iteration.
            return scalar(self.constant(0));
        };
        let steps = point.steps.iter().find(|s| s.0 == l).map_or(0, |s| s.1);
        let along = l == self.plan.lanes_loop;
        let distance = if along { point.vector * self.plan.lanes } else { steps };
        let key = (l, distance);
        if let Some(piece) = known.indices.get(&key) {
            return piece.clone();
        }
        let base = state.values.get(&l).cloned().unwrap_or_else(|| "%c0".to_string());
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
