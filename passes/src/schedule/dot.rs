// SPDX-License-Identifier: Apache-2.0
//! Sums of several products at once, for sums in 32 bits of products of bytes or of bf16.
//!
//! Processors have instructions that multiply a vector of bytes without a sign by one of bytes with a sign, and add groups of four
//! products to the 32-bit elements of a third one; others do so with groups of two products of bf16. A group is along a reduction. One
//! operand is read as a word of a group, which is contiguous, for all lanes. The other one is packed so that the groups of the lanes
//! follow each other. No sum in between is limited to 16 bits.
//!
//! The instructions for bf16 take subnormal numbers for zeros. They are used where a test shows that there are none
//! ([`super::exponents`]): the product is then marked with `afn`. Elsewhere the same groups are widened to f32.

#![allow(clippy::indexing_slicing, reason = "loops, steps and addresses of one nest have equal lengths")]

use super::body::{Body, Operand, Step};
use super::kernel::{Point, State, Writer, properties};
use super::nest::{LoopKind, Nest};
use super::payload::Known;
use super::target::Target;
use crate::ir::ops;
use std::collections::HashMap;

/// The instructions for sums of products of bytes or of bf16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Instruction {
    /// No special ones.
    #[default]
    None,
    /// `vpdpbusd` of AVX-512 VNNI and AVX-VNNI.
    Vpdpbusd,
    /// `vpmaddwd`: sums of two products of 16 bits, of x86-64.
    Vpmaddwd,
    /// `usdot` of AArch64.
    Usdot,
    /// `vdpbf16ps` of AVX512-BF16.
    Vdpbf16ps,
}

/// Instructions for products of bytes.
pub(super) const OF_BYTES: &[Instruction] =
    &[Instruction::None, Instruction::Vpdpbusd, Instruction::Vpmaddwd, Instruction::Usdot];

/// Instructions for products of bf16.
pub(super) const OF_BF16: &[Instruction] = &[Instruction::None, Instruction::Vdpbf16ps];

impl Instruction {
    /// The name in options of passes.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Instruction::None => "none",
            Instruction::Vpdpbusd => "vpdpbusd",
            Instruction::Vpmaddwd => "vpmaddwd",
            Instruction::Usdot => "usdot",
            Instruction::Vdpbf16ps => "vdpbf16ps",
        }
    }

    /// The one of a list that has a name.
    ///
    /// # Errors
    /// The names of the list.
    pub(super) fn named(name: &str, list: &[Instruction]) -> Result<Self, String> {
        let found = list.iter().find(|own| own.name() == name);
        found.copied().ok_or_else(|| {
            let names: Vec<&str> = list.iter().map(|own| own.name()).collect();
            format!("`{name}` is not one of {}", names.join(", "))
        })
    }

    /// The element type of the factors.
    fn element(self) -> &'static str {
        match self {
            Instruction::Vdpbf16ps => "bf16",
            _ => "i8",
        }
    }

    /// Products that are summed at once: those of a word.
    pub(super) fn group(self) -> i64 {
        match self {
            Instruction::Vdpbf16ps => 2,
            _ => 4,
        }
    }

    /// LLVM's intrinsic for vectors of so many elements of 32 bits.
    fn intrinsic(self, lanes: i64) -> Option<&'static str> {
        Some(match (self, lanes) {
            (Instruction::Vpdpbusd, 16) => "llvm.x86.avx512.vpdpbusd.512",
            (Instruction::Vpdpbusd, 8) => "llvm.x86.avx512.vpdpbusd.256",
            (Instruction::Vpdpbusd, 4) => "llvm.x86.avx512.vpdpbusd.128",
            (Instruction::Vpmaddwd, 16) => "llvm.x86.avx512.pmaddw.d.512",
            (Instruction::Vpmaddwd, 8) => "llvm.x86.avx2.pmadd.wd",
            (Instruction::Vpmaddwd, 4) => "llvm.x86.sse2.pmadd.wd",
            (Instruction::Usdot, 4) => "llvm.aarch64.neon.usdot.v4i32.v16i8",
            (Instruction::Vdpbf16ps, 16) => "llvm.x86.avx512bf16.dpbf16ps.512",
            (Instruction::Vdpbf16ps, 8) => "llvm.x86.avx512bf16.dpbf16ps.256",
            (Instruction::Vdpbf16ps, 4) => "llvm.x86.avx512bf16.dpbf16ps.128",
            _ => return None,
        })
    }
}

/// A nest that sums products of bytes or of bf16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dot {
    /// The instruction of the target.
    pub instruction: Instruction,
    /// The operand whose bytes have no sign: the other one of two has them with a sign. Of products of bf16, the first one.
    pub unsigned: usize,
}

impl Dot {
    /// Of a payload that adds the product of a byte without a sign and one with a sign, or of two bf16, for vectors of so many lanes.
    pub(super) fn of(body: &Body, target: Target, lanes: i64) -> Option<Dot> {
        if body.predicate.is_some() {
            return None;
        }
        let (instruction, unsigned) = match body.accumulator.as_str() {
            "i32" => (target.dot, Self::unsigned_byte(body)?),
            _ => {
                let [first, _] = Self::halves(body, target.half_dot, lanes)?;
                (target.half_dot, first)
            }
        };
        instruction.intrinsic(lanes)?;
        Some(Dot { instruction, unsigned })
    }

    /// The input without a sign of the two bytes that a payload multiplies.
    fn unsigned_byte(body: &Body) -> Option<usize> {
        let is_sum = body.combine.name == ops::arith::ADDI;
        let is_plain = is_sum && body.skips.is_none();
        let (product, factors, ..) = body.applied(&body.value).filter(|_| is_plain)?;
        let byte = |operand: &Operand| {
            let (name, operands, elements, _) = body.applied(operand)?;
            let [Operand::Input(position)] = operands else {
                return None;
            };
            (elements.first()? == "i8").then_some((name, *position))
        };
        let [first, second] = factors else {
            return None;
        };
        match [byte(first)?, byte(second)?] {
            [(ops::arith::EXTUI, own), (ops::arith::EXTSI, _)]
            | [(ops::arith::EXTSI, _), (ops::arith::EXTUI, own)] => Some(own),
            _ => None,
        }
        .filter(|_| product == ops::arith::MULI)
    }

    /// The two inputs of bf16 whose products a payload adds in f32, if an instruction does so for so many lanes.
    pub(super) fn halves(body: &Body, instruction: Instruction, lanes: i64) -> Option<[usize; 2]> {
        instruction.intrinsic(lanes)?;
        let is_sum = body.combine.name == ops::arith::ADDF && body.accumulator == "f32";
        let (name, factors, ..) = body.applied(&body.value).filter(|_| is_sum)?;
        let [first, second] = factors else {
            return None;
        };
        let (first, second) = (body.widened_half(first)?, body.widened_half(second)?);
        (name == ops::arith::MULF && first != second).then_some([first, second])
    }

    /// Products that are summed at once.
    pub(super) fn group(self) -> i64 {
        self.instruction.group()
    }

    /// Whether there is an instruction for vectors of so many lanes.
    pub(super) fn is_for(self, lanes: i64) -> bool {
        self.instruction.intrinsic(lanes).is_some()
    }
}

impl Body {
    /// An operation of the payload: its name, its operands and their elements, and its attributes.
    fn applied(&self, operand: &Operand) -> Option<(&str, &[Operand], &[String], &str)> {
        let Operand::Step(number) = operand else {
            return None;
        };
        match self.steps.get(*number)? {
            Step::Apply { name, operands, operand_elements, attributes, .. } => {
                Some((name, operands, operand_elements, attributes))
            }
            _ => None,
        }
    }

    /// The input that is widened from bf16 to f32, by `arith.extf` or by moving its bits.
    fn widened_half(&self, operand: &Operand) -> Option<usize> {
        let is_half = |elements: &[String]| elements.first().is_some_and(|own| own == "bf16");
        let mut operand = operand;
        for name in [ops::arith::BITCAST, ops::arith::SHLI, ops::arith::EXTUI, ops::arith::BITCAST] {
            let (own, operands, elements, _) = self.applied(operand)?;
            let is_last = is_half(elements) && [ops::arith::EXTF, ops::arith::BITCAST].contains(&own);
            match operands {
                [Operand::Input(position)] if is_last => return Some(*position),
                [next, ..] if own == name => operand = next,
                _ => return None,
            }
        }
        None
    }

    /// A product that may be approximated where a bool from outside is true: the position of the bool in [`Body::captures`], that
    /// product, and the one elsewhere.
    pub(super) fn approximated(&self) -> Option<(usize, &Operand, &Operand)> {
        let (name, operands, ..) = self.applied(&self.value)?;
        let [Operand::Capture(condition), then, otherwise] = operands else {
            return None;
        };
        let is_selection = name == ops::arith::SELECT && self.is_approximate(then);
        is_selection.then_some((*condition, then, otherwise))
    }

    /// Leaves the exact product of [`Body::approximated`] alone: the position of the bool, and the other one.
    pub(super) fn split(&mut self) -> Option<(usize, Operand)> {
        let (condition, approximate, exact) = self.approximated()?;
        let (approximate, exact) = (approximate.clone(), exact.clone());
        self.value = exact;
        Some((condition, approximate))
    }

    /// Whether an operation is marked with `afn`.
    fn is_approximate(&self, operand: &Operand) -> bool {
        let applied = self.applied(operand);
        applied.is_some_and(|(.., attributes)| attributes.contains("afn"))
    }
}

impl Nest {
    /// The reduction that groups are along if an operand is packed: the one with most iterations along which the elements of the other
    /// operand are contiguous.
    pub(super) fn group_along(&self, packed: usize) -> Option<usize> {
        let group = self.dot?.group();
        let other = self.inputs().iter().enumerate();
        let [other] =
            other.filter(|(position, _)| *position != packed).map(|(_, address)| address).collect::<Vec<_>>()
                [..]
        else {
            return None;
        };
        let own = &self.operands[packed];
        let fits = |l: &usize| {
            self.loops[*l].kind == LoopKind::Reduction
                && self.loops[*l].source.is_none()
                && self.loops[*l].extent >= group - 1
                && other.strides[*l] == 1
                && other.extents[*l].is_empty()
                && own.strides[*l] != 0
        };
        let loops = (0..self.loops.len()).filter(fits);
        loops.max_by_key(|l| self.loops[*l].extent)
    }
}

/// The iterations of a loop in whole groups of a size.
pub(super) fn in_groups(extent: i64, size: i64) -> i64 {
    (extent + size - 1) / size * size
}

impl Nest {
    /// Products that are summed at once.
    pub(super) fn group_size(&self) -> i64 {
        self.dot.map_or(1, Dot::group)
    }

    /// The iterations of a loop in whole groups.
    pub(super) fn in_groups(&self, extent: i64) -> i64 {
        in_groups(extent, self.group_size())
    }

    /// Products that one instruction sums, on average over a loop in groups: the last group may have fewer.
    pub(super) fn products_at_once(&self, extent: i64) -> f64 {
        let groups = self.in_groups(extent) / self.group_size();
        extent as f64 / groups.max(1) as f64
    }
}

impl Writer<'_> {
    /// The loop over groups, and what is left of one.
    pub(super) fn grouped(
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
