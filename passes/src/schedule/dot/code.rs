// SPDX-License-Identifier: Apache-2.0
//! The code of sums of several products at once.

#![allow(clippy::indexing_slicing, reason = "loops, steps and addresses of one nest have equal lengths")]

use super::{Dot, Instruction};
use crate::ir::ops;
use crate::schedule::payload::Known;
use crate::schedule::writer::{Point, State, Writer, properties};
use std::collections::HashMap;

impl Writer<'_> {
    /// The loop over groups, and what is left of one.
    pub(in crate::schedule) fn grouped(
        &mut self,
        l: usize,
        state: &State,
        points: &[Point],
        mut accumulators: Vec<String>,
    ) -> Vec<String> {
        let (extent, size) = (self.nest.loops[l].extent, self.nest.group_size());
        let whole = extent / size * size;
        if whole > 0 {
            let range = (self.constant(0), self.constant(whole));
            accumulators = self.accumulating_loop(l, range, size, state, accumulators, |w, state, inner| {
                w.dot_step(l, state, points, inner, size)
            });
        }
        if whole < extent {
            let last = self.constant(whole);
            let state = self.at(state, l, &last);
            accumulators = self.dot_step(l, &state, points, accumulators, extent - whole);
        }
        accumulators
    }

    /// Adds groups of products along a loop at all points, of so many products each.
    fn dot_step(
        &mut self,
        l: usize,
        state: &State,
        points: &[Point],
        accumulators: Vec<String>,
        count: i64,
    ) -> Vec<String> {
        let Some((dot, packed)) = self.nest.dot.zip(self.plan.packed) else {
            return accumulators;
        };
        let mut known: HashMap<(usize, i64), Vec<String>> = HashMap::new();
        let members = self.members(l, state, count);
        let mut payloads: Vec<Known> = members.iter().map(|_| Known::default()).collect();
        let mut results = Vec::new();
        for (number, (point, accumulator)) in points.iter().zip(accumulators).enumerate() {
            let mut factors: Vec<Vec<String>> = Vec::new();
            for position in 0..2 {
                let key = (position, self.distance(position, point));
                let is_known = self.dynamic_steps(position, point).is_empty();
                let factor = match known.get(&key).filter(|_| is_known) {
                    Some(factor) => factor.clone(),
                    None => {
                        let address = self.address(position, state, point);
                        let words = if position == packed {
                            self.load_words(dot, position, &address)
                        } else {
                            self.load_group(dot, position, &address, count)
                        };
                        self.prepared(dot, position == dot.unsigned, &words)
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
                self.sum_of_products(dot, &accumulator, unsigned, signed)
            } else {
                self.sum_one_by_one(&accumulator, unsigned, signed, &guards)
            });
        }
        results
    }

    /// The states of the members of a group along a loop.
    fn members(&mut self, l: usize, state: &State, count: i64) -> Vec<State> {
        let first = state.values.get(&l).cloned();
        let members = (0..count).map(|number| {
            let mut member = state.clone();
            if let Some(first) = first.as_ref().filter(|_| self.body.predicate.is_some()) {
                member.values.insert(l, self.offset(first, number));
            }
            member
        });
        members.collect()
    }

    /// The groups of all lanes, as words.
    fn load_words(&mut self, dot: Dot, position: usize, address: &str) -> String {
        let (array, lanes) = (self.signature.flat(position), self.plan.lanes);
        let kind = format!("vector<{}x{}>", dot.group() * lanes, dot.instruction.element());
        let group = self.define(&format!("vector.load %l{position}[{address}] : {array}, {kind}"));
        self.define(&format!("vector.bitcast {group} : {kind} to vector<{lanes}xi32>"))
    }

    /// A group for all lanes, as words; elements beyond `count` are zeros.
    fn load_group(&mut self, dot: Dot, position: usize, address: &str, count: i64) -> String {
        let (array, element) = (self.signature.flat(position), dot.instruction.element());
        let (lanes, size) = (self.plan.lanes, dot.group());
        let bits = format!("i{}", 32 / size);
        let kind = format!("vector<{size}x{bits}>");
        let group = if count == size {
            let own = format!("vector<{size}x{element}>");
            let group = self.define(&format!("vector.load %l{position}[{address}] : {array}, {own}"));
            if own == kind {
                group
            } else {
                self.define(&format!("vector.bitcast {group} : {own} to {kind}"))
            }
        } else {
            let mut group = self.define(&format!("arith.constant dense<0> : {kind}"));
            for number in 0..count {
                let at = self.offset(address, number);
                let mut own = self.define(&format!("memref.load %l{position}[{at}] : {array}"));
                if element != bits {
                    own = self.define(&format!("arith.bitcast {own} : {element} to {bits}"));
                }
                group = self.define(&format!("vector.insert {own}, {group} [{number}] : {bits} into {kind}"));
            }
            group
        };
        let word = self.define(&format!("vector.bitcast {group} : {kind} to vector<1xi32>"));
        let word = self.define(&format!("vector.extract {word}[0] : i32 from vector<1xi32>"));
        self.define(&format!("vector.broadcast {word} : i32 to vector<{lanes}xi32>"))
    }

    /// The products of the payload as the instruction of the target computes them.
    fn uses_instruction(&self, dot: Dot) -> bool {
        dot.instruction != Instruction::Vdpbf16ps || self.body.is_approximate(&self.body.value)
    }

    /// Words as the instruction reads them: for products of 16 bits, and for those of f32, the even and the odd elements.
    fn prepared(&mut self, dot: Dot, is_unsigned: bool, words: &str) -> Vec<String> {
        let lanes = self.plan.lanes;
        let as_kind = |w: &mut Self, kind: &str| {
            w.define(&format!("vector.bitcast {words} : vector<{lanes}xi32> to {kind}"))
        };
        if dot.instruction == Instruction::Vpmaddwd {
            let kind = format!("vector<{}xi16>", 2 * lanes);
            let pairs = as_kind(self, &kind);
            let right = if is_unsigned { ops::arith::SHRUI } else { ops::arith::SHRSI };
            let eight = self.define(&format!("arith.constant dense<8> : {kind}"));
            let mut apply =
                |name: &str, value: &str| self.define(&format!("{name} {value}, {eight} : {kind}"));
            let odd = apply(right, &pairs);
            let raised = apply(ops::arith::SHLI, &pairs);
            let even = apply(right, &raised);
            return vec![even, odd];
        }
        if !self.uses_instruction(dot) {
            let (kind, reals) = (self.vector_type("i32"), self.vector_type("f32"));
            let mut half = |name: &str, number: i64| {
                let number = self.define(&format!("arith.constant dense<{number}> : {kind}"));
                let bits = self.define(&format!("{name} {words}, {number} : {kind}"));
                self.define(&format!("arith.bitcast {bits} : {kind} to {reals}"))
            };
            return vec![half(ops::arith::SHLI, 16), half(ops::arith::ANDI, -65536)];
        }
        let element = dot.instruction.element();
        let kind = format!("vector<{}x{element}>", dot.group() * lanes);
        vec![as_kind(self, &kind)]
    }

    /// The accumulator plus groups of products.
    fn sum_of_products(
        &mut self,
        dot: Dot,
        accumulator: &str,
        unsigned: &[String],
        signed: &[String],
    ) -> String {
        let lanes = self.plan.lanes;
        let sums = self.vector_type(&self.body.accumulator.clone());
        let mut sum = accumulator.to_owned();
        let intrinsic = dot.instruction.intrinsic(lanes).unwrap_or_default();
        if dot.instruction == Instruction::Vpmaddwd {
            let kind = format!("vector<{}xi16>", 2 * lanes);
            for (left, right) in unsigned.iter().zip(signed) {
                let own = self.define(&format!(
                    "llvm.call_intrinsic \"{intrinsic}\"({left}, {right}) : ({kind}, {kind}) -> {sums}"
                ));
                sum = self.define(&format!("{} {sum}, {own} : {sums}", ops::arith::ADDI));
            }
            return sum;
        }
        let kind = format!("vector<{}x{}>", dot.group() * lanes, dot.instruction.element());
        let (left, right) = (&unsigned[0], &signed[0]);
        self.define(&format!(
            "llvm.call_intrinsic \"{intrinsic}\"({accumulator}, {left}, {right}) : ({sums}, {kind}, {kind}) -> {sums}"
        ))
    }
    /// The accumulator plus the products of a group, each where its guard is true.
    fn sum_one_by_one(
        &mut self,
        accumulator: &str,
        left: &[String],
        right: &[String],
        guards: &[Option<(String, bool)>],
    ) -> String {
        let sums = self.vector_type(&self.body.accumulator.clone());
        let mut sum = accumulator.to_owned();
        let (name, attributes) = match self.body.applied(&self.body.value) {
            Some((name, .., attributes)) => (name.to_owned(), properties(attributes)),
            None => return sum,
        };
        for ((left, right), guard) in left.iter().zip(right).zip(guards) {
            let own = self
                .define(&format!("\"{name}\"({left}, {right}) {attributes} : ({sums}, {sums}) -> {sums}"));
            let next = self.combine(&sum, &own, &sums);
            sum = match guard {
                Some((mask, is_vector)) => self.selected(mask, *is_vector, [&next, &sum], &sums),
                None => next,
            };
        }
        sum
    }
}
