// SPDX-License-Identifier: Apache-2.0
//! Emits the code of dot-product instructions.

use super::{Dot, Instruction};
use crate::ir::{types, vector};
use crate::schedule::payload::Known;
use crate::schedule::writer::{Point, State, Writer};
use melior::ir::{Type, Value};
use std::collections::HashMap;

impl<'c: 'a, 'a> Writer<'_, 'c, 'a> {
    /// Emits the loop over groups, and the remainder.
    pub(in crate::schedule) fn grouped(
        &mut self,
        l: usize,
        state: &State<'c, 'a>,
        points: &[Point],
        mut accumulators: Vec<Value<'c, 'a>>,
    ) -> Vec<Value<'c, 'a>> {
        let (extent, size) = (self.nest.loops[l].extent, self.nest.group_size());
        let whole = extent / size * size;
        if whole > 0 {
            let range = [self.constant(0), self.constant(whole)];
            accumulators = self.accumulating_loop(l, range, size, state, &accumulators, |w, state, inner| {
                w.dot_step(l, state, points, inner, size)
            });
        }
        if whole < extent {
            let last = self.constant(whole);
            let state = self.with_loop(state, l, last);
            accumulators = self.dot_step(l, &state, points, accumulators, extent - whole);
        }
        accumulators
    }

    /// Adds one group of `count` products along a loop at all points.
    fn dot_step(
        &mut self,
        l: usize,
        state: &State<'c, 'a>,
        points: &[Point],
        accumulators: Vec<Value<'c, 'a>>,
        count: i64,
    ) -> Vec<Value<'c, 'a>> {
        let Some((dot, packed)) = self.nest.dot.zip(self.plan.packed) else {
            return accumulators;
        };
        let mut known: HashMap<(usize, i64), Vec<Value>> = HashMap::new();
        let members = self.members(l, state, count);
        let mut payloads: Vec<Known> = members.iter().map(|_| Known::default()).collect();
        let mut results = Vec::new();
        for (number, (point, accumulator)) in points.iter().zip(accumulators).enumerate() {
            let mut factors: Vec<Vec<Value>> = Vec::new();
            for position in 0..2 {
                let key = (position, self.distance(position, point));
                let is_known = self.dynamic_steps(position, point).is_empty();
                let factor = match known.get(&key).filter(|_| is_known) {
                    Some(factor) => factor.clone(),
                    None => {
                        let address = self.address(position, state, point);
                        let words = if position == packed {
                            self.load_words(dot, position, address)
                        } else {
                            self.load_group(dot, position, address, count)
                        };
                        self.prepared(dot, position == dot.unsigned, words)
                    }
                };
                known.insert(key, factor.clone());
                factors.push(factor);
            }
            let (unsigned, signed) = (&factors[dot.unsigned], &factors[1 - dot.unsigned]);
            let guards = members.iter().zip(&mut payloads);
            let guards: Vec<_> =
                guards.map(|(state, known)| self.guard(state, number, point, known)).collect();
            results.push(if self.uses_instruction(dot) {
                self.sum_of_products(dot, accumulator, unsigned, signed)
            } else {
                self.sum_one_by_one(accumulator, unsigned, signed, &guards)
            });
        }
        results
    }

    /// Returns the state of each member of a group along a loop.
    fn members(&mut self, l: usize, state: &State<'c, 'a>, count: i64) -> Vec<State<'c, 'a>> {
        let first = state.values.get(&l).copied();
        let members = (0..count).map(|number| {
            let mut member = state.clone();
            if let Some(first) = first.filter(|_| self.body.predicate.is_some()) {
                member.values.insert(l, self.offset(first, number));
            }
            member
        });
        members.collect()
    }

    /// The type of a vector of 32-bit words, one for each lane.
    fn words(&self) -> Type<'c> {
        self.vector_type(types::int(self.at.context, 32))
    }

    /// Loads the groups of all lanes as words.
    fn load_words(&mut self, dot: Dot, position: usize, address: Value<'c, 'a>) -> Value<'c, 'a> {
        let group = self.at.load_vector(self.view(position), &[address], self.groups(dot), None);
        self.at.vector_bitcast(group, self.words())
    }

    /// The type of a vector with the groups of all lanes.
    fn groups(&self, dot: Dot) -> Type<'c> {
        vector::of(&[dot.group() * self.plan.lanes], dot.instruction.element(self.at.context))
    }

    /// Loads a group and broadcasts it to all lanes, as words; elements beyond `count` are zeros.
    fn load_group(&mut self, dot: Dot, position: usize, address: Value<'c, 'a>, count: i64) -> Value<'c, 'a> {
        let (array, element) = (self.view(position), dot.instruction.element(self.at.context));
        let size = dot.group();
        let context = self.at.context;
        let bits = types::int(context, if size == 2 { 16 } else { 8 });
        let kind = vector::of(&[size], bits);
        let group = if count == size {
            let loaded_type = vector::of(&[size], element);
            let group = self.at.load_vector(array, &[address], loaded_type, None);
            if loaded_type == kind { group } else { self.at.vector_bitcast(group, kind) }
        } else {
            let mut group = self.at.zero(kind);
            for number in 0..count {
                let place = self.offset(address, number);
                let mut value = self.at.load(array, &[place]);
                if element != bits {
                    value = self.at.bitcast(value, bits);
                }
                group = self.at.insert_lane(value, group, number);
            }
            group
        };
        let word = self.at.vector_bitcast(group, vector::of(&[1], types::int(context, 32)));
        self.at.broadcast(self.at.extract(word, 0), self.plan.lanes)
    }

    /// Whether the products of the payload are computed by the dot-product instruction.
    fn uses_instruction(&self, dot: Dot) -> bool {
        dot.instruction != Instruction::Vdpbf16ps || self.body.is_approximate(&self.body.value)
    }

    /// Converts words to the operands of the instructions. For 16-bit products and for f32 products, these are the even and the odd
    /// elements.
    fn prepared(&mut self, dot: Dot, is_unsigned: bool, words: Value<'c, 'a>) -> Vec<Value<'c, 'a>> {
        let at = self.at;
        if dot.instruction == Instruction::Vpmaddwd {
            let kind = vector::of(&[2 * self.plan.lanes], types::int(at.context, 16));
            let pairs = at.vector_bitcast(words, kind);
            let eight = at.int(8, kind);
            let right = |value| if is_unsigned { at.shrui(value, eight) } else { at.shrsi(value, eight) };
            let odd = right(pairs);
            return vec![right(at.shli(pairs, eight)), odd];
        }
        if !self.uses_instruction(dot) {
            let (kind, real) = (self.words(), Type::float32(at.context));
            let upper = at.bitcast(at.shli(words, at.int(16, kind)), real);
            return vec![upper, at.bitcast(at.andi(words, at.int(-65536, kind)), real)];
        }
        vec![at.vector_bitcast(words, self.groups(dot))]
    }

    /// Adds groups of products to the accumulator by dot-product instructions.
    fn sum_of_products(
        &mut self,
        dot: Dot,
        accumulator: Value<'c, 'a>,
        unsigned: &[Value<'c, 'a>],
        signed: &[Value<'c, 'a>],
    ) -> Value<'c, 'a> {
        let (at, sums) = (self.at, self.sums());
        let intrinsic = dot.instruction.intrinsic(self.plan.lanes);
        let intrinsic = intrinsic.unwrap_or_else(|| unreachable!("internal compiler error: no instruction"));
        if dot.instruction == Instruction::Vpmaddwd {
            let pairs = unsigned.iter().zip(signed);
            return pairs.fold(accumulator, |sum, (left, right)| {
                at.addi(sum, at.intrinsic(intrinsic, &[*left, *right], sums))
            });
        }
        at.intrinsic(intrinsic, &[accumulator, unsigned[0], signed[0]], sums)
    }

    /// Adds the products of a group to the accumulator one by one, each if its guard is true.
    fn sum_one_by_one(
        &mut self,
        accumulator: Value<'c, 'a>,
        left: &[Value<'c, 'a>],
        right: &[Value<'c, 'a>],
        guards: &[Option<Value<'c, 'a>>],
    ) -> Value<'c, 'a> {
        let Some((.., operator)) = self.body.applied(&self.body.value) else {
            return accumulator;
        };
        let members = left.iter().zip(right).zip(guards);
        members.fold(accumulator, |sum, ((left, right), guard)| {
            let product = operator.apply(&self.at, &[*left, *right], self.sums());
            let next = self.combine(sum, product);
            guard.map_or(next, |guard| self.at.select(guard, next, sum))
        })
    }
}
