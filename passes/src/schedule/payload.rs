// SPDX-License-Identifier: Apache-2.0
//! Emits the scalars and vectors of a kernel's payload at a point of its tile.

use super::body::{Operand, Step};
use super::nest::CLOSEST;
use super::writer::{LastVector, Point, State, Writer};
use crate::ir::{ValueKey, attributes, ops, types};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::{Attribute, AttributeLike, Type, TypeLike, Value, ValueLike};
use skript_symbolic::Interval;
use std::collections::HashMap;

/// The maximum number of operations from an index to a comparison that is shortened.
const DEPTH: usize = 4;

/// An element or a vector of elements of an operand, by the distance from the tile's corner.
#[derive(PartialEq, Eq, Hash)]
struct Element {
    position: usize,
    distance: i64,
    /// Steps along loops with dynamic strides.
    steps: Vec<(usize, i64)>,
    masked: bool,
}

/// The number of elements of a vector.
#[derive(Clone, Copy)]
enum Elements<'c, 'a> {
    /// At most the number of lanes.
    Static(i64),
    /// Any number; those beyond the lanes do not count.
    Dynamic(Value<'c, 'a>),
}

/// Values that are already computed in the current block.
#[derive(Default)]
pub(super) struct Known<'c, 'a> {
    inputs: HashMap<Element, Value<'c, 'a>>,
    steps: HashMap<(usize, Vec<ValueKey>), Value<'c, 'a>>,
    indices: HashMap<(usize, i64), Value<'c, 'a>>,
    broadcasts: HashMap<ValueKey, Value<'c, 'a>>,
    reduced: Option<Value<'c, 'a>>,
}

impl<'c, 'a> Known<'c, 'a> {
    /// Sets the result of the reduction at the next point.
    pub(super) fn set_reduced(&mut self, reduced: Value<'c, 'a>) {
        self.reduced = Some(reduced);
    }
}

impl<'c: 'a, 'a> Writer<'_, 'c, 'a> {
    /// Computes a value of the payload at a point: a scalar or a vector. Values that are equal at several points are computed once.
    pub(super) fn payload(
        &mut self,
        operand: &Operand,
        state: &State<'c, 'a>,
        point: &Point,
        known: &mut Known<'c, 'a>,
    ) -> Value<'c, 'a> {
        let number = match operand {
            Operand::Capture(position) => return self.given.captures[*position],
            Operand::Input(position) => return self.input(*position, state, point, known),
            Operand::Reduced => {
                return known.reduced.unwrap_or_else(|| {
                    unreachable!("internal compiler error: a result before the reduction")
                });
            }
            Operand::Step(number) => *number,
        };
        let (operator, operands, element) = match &self.body.steps[number] {
            Step::Index { dimension } => return self.index(*dimension, state, point, known),
            Step::Constant(value) => {
                let constant = known.steps.entry((number, Vec::new()));
                return *constant.or_insert_with(|| self.at.literal(*value));
            }
            Step::Apply { operator, operands, element, .. } => (operator, operands, element),
        };
        let mut values: Vec<Value> =
            operands.iter().map(|operand| self.payload(operand, state, point, known)).collect();
        let key = (number, values.iter().map(|value| ValueKey::of(*value)).collect());
        if let Some(value) = known.steps.get(&key) {
            return *value;
        }
        let mut result = *element;
        if values.iter().any(|value| value.r#type().is_vector()) {
            values = values.into_iter().map(|value| self.widened(value, known)).collect();
            result = self.vector_type(result);
        }
        if operator.name == ops::arith::CMPI && operands.iter().all(|operand| self.is_short(operand, DEPTH)) {
            let word = types::i32(self.at.context);
            let narrow = |value: &Value<'c, 'a>| self.at.index_cast(*value, word);
            let vectors = values.iter().all(|value| value.r#type().is_vector());
            values = if vectors { values.iter().map(narrow).collect() } else { values };
        }
        let value = operator.apply(&self.at, &values, result);
        known.steps.insert(key, value);
        value
    }

    /// Whether 32 bits represent an index: a vector has twice as many such integers as 64-bit ones.
    fn is_short(&self, operand: &Operand, depth: usize) -> bool {
        let short = Interval { low: i32::MIN.into(), high: i32::MAX.into() };
        let interval = self.interval(operand, depth);
        interval.is_some_and(|interval| short.low <= interval.low && interval.high <= short.high)
    }

    /// The interval of an index of the payload; `None` for other values.
    fn interval(&self, operand: &Operand, depth: usize) -> Option<Interval> {
        let Operand::Step(number) = operand else {
            return None;
        };
        match &self.body.steps[*number] {
            Step::Index { dimension } => {
                let of_dimension = self.nest.loops.iter().find(|l| l.dimension == Some(*dimension));
                let extent = of_dimension.map_or(1, |l| if l.source.is_none() { l.extent } else { i64::MAX });
                // The lanes after the last element have indices, too.
                Some(Interval { low: 0, high: extent.checked_add(self.plan.lanes)? })
            }
            Step::Constant(value) => {
                let value =
                    IntegerAttribute::try_from(*value).ok().filter(|value| value.r#type().is_index())?;
                Some(Interval::point(value.value()))
            }
            Step::Apply { operator, operands, element, .. } if element.is_index() && depth > 0 => {
                let [x, y] = operands.as_slice() else {
                    return None;
                };
                let (x, y) = (self.interval(x, depth - 1)?, self.interval(y, depth - 1)?);
                match operator.name.as_str() {
                    ops::arith::ADDI => x.plus(y),
                    ops::arith::SUBI => x.minus(y),
                    ops::arith::MULI => x.times(y),
                    _ => None,
                }
            }
            Step::Apply { .. } => None,
        }
    }

    /// Broadcasts a scalar to a vector; returns a vector unchanged.
    pub(super) fn widened(&mut self, value: Value<'c, 'a>, known: &mut Known<'c, 'a>) -> Value<'c, 'a> {
        if value.r#type().is_vector() {
            return value;
        }
        let made = known.broadcasts.entry(ValueKey::of(value));
        *made.or_insert_with(|| self.at.broadcast(value, self.plan.lanes))
    }

    /// An input's element, or elements along the lanes.
    fn input(
        &mut self,
        position: usize,
        state: &State<'c, 'a>,
        point: &Point,
        known: &mut Known<'c, 'a>,
    ) -> Value<'c, 'a> {
        let stride = self.lane_stride(position);
        // A packed operand is padded to full vectors, so it needs no mask.
        let is_packed = self.plan.packed == Some(position);
        let masked = stride != 0 && !is_packed && self.is_partial(state, point.vector);
        let key = Element {
            position,
            distance: self.distance(position, point),
            steps: self.dynamic_steps(position, point),
            masked,
        };
        if let Some(value) = known.inputs.get(&key) {
            return *value;
        }
        let mask = if masked { self.mask(state, point.vector) } else { None };
        let is_close = (2..=CLOSEST).contains(&stride);
        let is_dynamic = masked && self.is_dynamic(state);
        let shared_tap = self.first_tap(position, state, point);
        let (tap, first) = shared_tap.filter(|_| is_close && !is_dynamic).unzip();
        let address = self.address(position, state, first.as_ref().unwrap_or(point));
        let value = match stride {
            0 => self.at.load(self.view(position), &[address]),
            1 => self.load_lanes(position, address, mask),
            stride if is_close && is_dynamic => {
                let before = self.constant(point.vector * self.plan.lanes);
                let elements = self.at.subi(state.rest(), before);
                self.close(position, address, stride, Elements::Dynamic(elements), tap)
            }
            stride if is_close => {
                let elements = self.elements(state, point);
                self.close(position, address, stride, Elements::Static(elements), tap)
            }
            _ => self.gather(position, address, stride, mask),
        };
        known.inputs.insert(key, value);
        value
    }

    /// The maximum number of elements of the vector of a point.
    fn elements(&self, state: &State<'c, 'a>, point: &Point) -> i64 {
        let tile = state.tile.get(&self.plan.lanes_loop);
        match tile.filter(|tile| tile.is_partial(point.vector)).map(|tile| tile.last) {
            Some(LastVector::Partial(elements)) => elements,
            Some(LastVector::Full | LastVector::Dynamic) | None => self.plan.lanes,
        }
    }

    /// Loads elements with a small stride: loads the contiguous vectors that cover them, and selects the elements by shuffles. The vectors
    /// cover the elements of one tap, or of all taps of a group.
    fn close(
        &mut self,
        position: usize,
        address: Value<'c, 'a>,
        stride: i64,
        elements: Elements<'c, 'a>,
        tap: Option<i64>,
    ) -> Value<'c, 'a> {
        let lanes = self.plan.lanes;
        let (tap, beyond) = tap.map_or((0, 1), |tap| (tap, stride));
        // No vector extends beyond the last element.
        let start = |part: i64| (part * lanes).min((lanes - 1) * stride + beyond - lanes);
        let mut value: Option<Value> = None;
        for part in 0..stride {
            let at = self.offset(address, start(part));
            let mask = match elements {
                Elements::Static(elements) => {
                    let covered = ((elements - 1) * stride + beyond - start(part)).clamp(0, lanes);
                    if covered == 0 {
                        break;
                    }
                    (covered < lanes).then(|| self.at.constant_mask(covered, lanes))
                }
                Elements::Dynamic(elements) => {
                    let all = self.times(elements, stride);
                    let covered = self.offset(all, beyond - stride - start(part));
                    let kind = self.vector_type(types::flag(self.at.context));
                    Some(self.at.make(ops::vector::CREATE_MASK, &[covered], &[], kind))
                }
            };
            let loaded = self.load_lanes(position, at, mask);
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
            let pattern: Vec<i64> = (0..lanes).map(from_part).collect();
            value = Some(self.at.shuffle(value.unwrap_or(loaded), loaded, &pattern));
        }
        value.unwrap_or_else(|| unreachable!("internal compiler error: a vector without elements"))
    }

    /// Loads elements with a large stride by a gather.
    fn gather(
        &mut self,
        position: usize,
        address: Value<'c, 'a>,
        stride: i64,
        mask: Option<Value<'c, 'a>>,
    ) -> Value<'c, 'a> {
        let kind = self.vector_type(self.signature.elements[position]);
        let [steps, mask] = self.apart(stride, mask);
        let none = self.at.zero(kind);
        let operands = [self.view(position), address, steps, mask, none];
        self.at.make(ops::vector::GATHER, &operands, &[], kind)
    }

    /// Returns the index vector for lanes that are `stride` elements apart, and the mask.
    pub(super) fn apart(&mut self, stride: i64, mask: Option<Value<'c, 'a>>) -> [Value<'c, 'a>; 2] {
        let max_index = (self.plan.lanes - 1).saturating_mul(stride);
        let context = self.at.context;
        let index = match i32::try_from(max_index) {
            Ok(_) => types::int(context, 32),
            Err(_) => Type::index(context),
        };
        let steps = (0..self.plan.lanes).map(|lane| IntegerAttribute::new(index, lane * stride).into());
        let steps: Vec<Attribute> = steps.collect();
        let steps = self.at.literal(attributes::listed(self.vector_type(index), &steps));
        let masks = self.vector_type(types::flag(context));
        [steps, mask.unwrap_or_else(|| self.at.int(1, masks))]
    }

    /// Whether the number of elements in a partial vector is dynamic.
    fn is_dynamic(&self, state: &State<'c, 'a>) -> bool {
        let tile = state.tile.get(&self.plan.lanes_loop);
        tile.is_some_and(|tile| tile.last == LastVector::Dynamic)
    }

    fn is_partial(&self, state: &State<'c, 'a>, vector: i64) -> bool {
        state.tile.get(&self.plan.lanes_loop).is_some_and(|tile| tile.is_partial(vector))
    }

    /// Loads contiguous elements of an operand.
    fn load_lanes(
        &mut self,
        position: usize,
        address: Value<'c, 'a>,
        mask: Option<Value<'c, 'a>>,
    ) -> Value<'c, 'a> {
        let (array, kind) = (self.view(position), self.vector_type(self.signature.elements[position]));
        match mask {
            None => self.at.load_vector(array, &[address], kind, None),
            Some(mask) => self.at.masked_load(array, address, mask, kind),
        }
    }

    /// Computes the index of a dimension of the original operation.
    fn index(
        &mut self,
        dimension: usize,
        state: &State<'c, 'a>,
        point: &Point,
        known: &mut Known<'c, 'a>,
    ) -> Value<'c, 'a> {
        let l = (0..self.nest.loops.len()).find(|&l| self.nest.loops[l].dimension == Some(dimension));
        let Some(l) = l else {
            // The loop had one iteration, and was removed.
            return self.constant(0);
        };
        let steps = point.steps.iter().find(|s| s.0 == l).map_or(0, |s| s.1);
        let along = l == self.plan.lanes_loop;
        let distance = if along { point.vector * self.plan.lanes } else { steps };
        let key = (l, distance);
        if let Some(value) = known.indices.get(&key) {
            return *value;
        }
        let base = state.values.get(&l).copied();
        let base = base.unwrap_or_else(|| self.constant(0));
        let mut value = self.offset(base, distance);
        if along {
            let kind = self.vector_type(self.at.index_type());
            let lanes = self.at.make(ops::vector::STEP, &[], &[], kind);
            value = self.at.addi(self.at.broadcast(value, self.plan.lanes), lanes);
        }
        known.indices.insert(key, value);
        value
    }
}
