// SPDX-License-Identifier: Apache-2.0
//! Sums of four products of bytes at once, for sums of products of bytes in 32 bits.
//!
//! Processors have instructions that multiply a vector of bytes without a sign by one of bytes with a sign, and add groups of four
//! products to the 32-bit elements of a third one. A group is along a reduction. One operand is read as a word of four bytes, which
//! are contiguous, for all lanes. The other one is packed so that the groups of the lanes follow each other. No sum in between is
//! limited to 16 bits.

#![allow(
    clippy::indexing_slicing,
    reason = "loops, steps and addresses of one nest have equal lengths"
)]

use super::body::{Body, Operand, Step};
use super::kernel::{Point, State, Writer};
use super::nest::{LoopKind, Nest};
use crate::ir::ops;
use std::collections::HashMap;
use std::str::FromStr;

/// Products that are summed at once.
pub(super) const GROUP: i64 = 4;

/// The instructions for sums of products of bytes.
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
}

impl Instruction {
    const ALL: [Instruction; 4] = [
        Instruction::None,
        Instruction::Vpdpbusd,
        Instruction::Vpmaddwd,
        Instruction::Usdot,
    ];

    /// The name in options of passes.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Instruction::None => "none",
            Instruction::Vpdpbusd => "vpdpbusd",
            Instruction::Vpmaddwd => "vpmaddwd",
            Instruction::Usdot => "usdot",
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
            _ => return None,
        })
    }
}

impl FromStr for Instruction {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Instruction::ALL.into_iter().find(|own| own.name() == name);
        found.ok_or_else(|| {
            let names = Instruction::ALL.map(Instruction::name).join(", ");
            format!("`{name}` is not one of {names}")
        })
    }
}

/// A nest that sums products of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dot {
    /// The instruction of the target.
    pub instruction: Instruction,
    /// The operand whose bytes have no sign: the other one of two has them with a sign.
    pub unsigned: usize,
}

impl Dot {
    /// Of a payload that adds the product of a byte without a sign and one with a sign, for vectors of so many lanes.
    pub(super) fn of(body: &Body, instruction: Instruction, lanes: i64) -> Option<Dot> {
        instruction.intrinsic(lanes)?;
        let is_sum = body.combine.name == ops::arith::ADDI && body.accumulator == "i32";
        let is_plain = body.predicate.is_none() && body.skips.is_none();
        let apply = |operand: &Operand| match operand {
            Operand::Step(number) => match body.steps.get(*number)? {
                Step::Apply {
                    name,
                    operands,
                    operand_elements,
                    ..
                } => Some((name.as_str(), operands, operand_elements)),
                _ => None,
            },
            _ => None,
        };
        let (product, factors, _) = apply(&body.value)?;
        (is_sum && is_plain && product == ops::arith::MULI).then_some(())?;
        let byte = |operand: &Operand| {
            let (name, operands, elements) = apply(operand)?;
            let [Operand::Input(position)] = operands.as_slice() else {
                return None;
            };
            (elements.first()? == "i8").then_some((name, *position))
        };
        let [first, second] = factors.as_slice() else {
            return None;
        };
        let unsigned = match [byte(first)?, byte(second)?] {
            [(ops::arith::EXTUI, own), (ops::arith::EXTSI, _)]
            | [(ops::arith::EXTSI, _), (ops::arith::EXTUI, own)] => own,
            _ => return None,
        };
        Some(Dot {
            instruction,
            unsigned,
        })
    }
}

impl Nest {
    /// The reduction that groups are along if an operand is packed: the one with most iterations along which the elements of the other
    /// operand are contiguous.
    pub(super) fn group_along(&self, packed: usize) -> Option<usize> {
        self.dot?;
        let other = self.inputs().iter().enumerate();
        let [other] = other
            .filter(|(position, _)| *position != packed)
            .map(|(_, address)| address)
            .collect::<Vec<_>>()[..]
        else {
            return None;
        };
        let own = &self.operands[packed];
        let fits = |l: &usize| {
            self.loops[*l].kind == LoopKind::Reduction
                && self.loops[*l].source.is_none()
                && self.loops[*l].extent >= GROUP - 1
                && other.strides[*l] == 1
                && other.extents[*l].is_empty()
                && own.strides[*l] != 0
        };
        let loops = (0..self.loops.len()).filter(fits);
        loops.max_by_key(|l| self.loops[*l].extent)
    }
}

/// The iterations of a loop in whole groups.
pub(super) fn in_groups(extent: i64) -> i64 {
    (extent + GROUP - 1) / GROUP * GROUP
}

/// Products that one instruction sums, on average over a loop in groups: the last group may have fewer.
pub(super) fn products_at_once(extent: i64) -> f64 {
    let groups = in_groups(extent) / GROUP;
    extent as f64 / groups.max(1) as f64
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
        let extent = self.nest.loops[l].extent;
        let whole = extent / GROUP * GROUP;
        if whole > 0 {
            let range = (self.constant(0), self.constant(whole));
            accumulators =
                self.accumulating_loop(l, range, GROUP, state, accumulators, |w, state, inner| {
                    w.dot_step(state, points, inner, GROUP)
                });
        }
        if whole < extent {
            let last = self.constant(whole);
            let state = self.at(state, l, &last);
            accumulators = self.dot_step(&state, points, accumulators, extent - whole);
        }
        accumulators
    }

    /// Adds groups of products at all points, of so many products each.
    fn dot_step(
        &mut self,
        state: &State,
        points: &[Point],
        accumulators: Vec<String>,
        count: i64,
    ) -> Vec<String> {
        let Some((dot, packed)) = self.nest.dot.zip(self.plan.packed) else {
            return accumulators;
        };
        let mut known: HashMap<(usize, i64), Vec<String>> = HashMap::new();
        let mut results = Vec::new();
        for (point, accumulator) in points.iter().zip(accumulators) {
            let mut factors: Vec<Vec<String>> = Vec::new();
            for position in 0..2 {
                let key = (position, self.distance(position, point));
                let is_known = self.dynamic_steps(position, point).is_empty();
                let factor = match known.get(&key).filter(|_| is_known) {
                    Some(factor) => factor.clone(),
                    None => {
                        let address = self.address(position, state, point);
                        let bytes = match position == packed {
                            true => self.load_bytes(position, &address, GROUP * self.plan.lanes),
                            false => self.load_group(position, &address, count),
                        };
                        self.prepared(dot, position == dot.unsigned, bytes)
                    }
                };
                known.insert(key, factor.clone());
                factors.push(factor);
            }
            let (unsigned, signed) = (&factors[dot.unsigned], &factors[1 - dot.unsigned]);
            results.push(self.sum_of_products(dot, &accumulator, unsigned, signed));
        }
        results
    }

    fn load_bytes(&mut self, position: usize, address: &str, count: i64) -> String {
        let array = self.signature.flat(position);
        self.define(&format!(
            "vector.load %l{position}[{address}] : {array}, vector<{count}xi8>"
        ))
    }

    /// A group of bytes for all lanes; those beyond `count` are zeros.
    fn load_group(&mut self, position: usize, address: &str, count: i64) -> String {
        let lanes = self.plan.lanes;
        let group = match count {
            GROUP => self.load_bytes(position, address, GROUP),
            _ => {
                let array = self.signature.flat(position);
                let mut group = self.define("arith.constant dense<0> : vector<4xi8>");
                for number in 0..count {
                    let at = self.offset(address, number);
                    let byte = self.define(&format!("memref.load %l{position}[{at}] : {array}"));
                    group = self.define(&format!(
                        "vector.insert {byte}, {group} [{number}] : i8 into vector<4xi8>"
                    ));
                }
                group
            }
        };
        let word = self.define(&format!(
            "vector.bitcast {group} : vector<4xi8> to vector<1xi32>"
        ));
        let word = self.define(&format!(
            "vector.extract {word}[0] : i32 from vector<1xi32>"
        ));
        let all = self.define(&format!(
            "vector.broadcast {word} : i32 to vector<{lanes}xi32>"
        ));
        let bytes = GROUP * lanes;
        self.define(&format!(
            "vector.bitcast {all} : vector<{lanes}xi32> to vector<{bytes}xi8>"
        ))
    }

    /// A vector of bytes as the instruction reads it: for products of 16 bits, the even and the odd bytes.
    fn prepared(&mut self, dot: Dot, is_unsigned: bool, bytes: String) -> Vec<String> {
        if dot.instruction != Instruction::Vpmaddwd {
            return vec![bytes];
        }
        let (count, halves) = (GROUP * self.plan.lanes, 2 * self.plan.lanes);
        let kind = format!("vector<{halves}xi16>");
        let pairs = self.define(&format!(
            "vector.bitcast {bytes} : vector<{count}xi8> to {kind}"
        ));
        let eight = self.define(&format!("arith.constant dense<8> : {kind}"));
        let mut apply = |name: &str, left: &str, right: &str| {
            self.define(&format!("{name} {left}, {right} : {kind}"))
        };
        if is_unsigned {
            let odd = apply(ops::arith::SHRUI, &pairs, &eight);
            let raised = apply(ops::arith::SHLI, &pairs, &eight);
            let even = apply(ops::arith::SHRUI, &raised, &eight);
            return vec![even, odd];
        }
        let odd = apply(ops::arith::SHRSI, &pairs, &eight);
        let raised = apply(ops::arith::SHLI, &pairs, &eight);
        let even = apply(ops::arith::SHRSI, &raised, &eight);
        vec![even, odd]
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
        let intrinsic = dot.instruction.intrinsic(lanes).unwrap_or_default();
        let sums = format!("vector<{lanes}xi32>");
        if dot.instruction == Instruction::Vpmaddwd {
            let kind = format!("vector<{}xi16>", 2 * lanes);
            let mut sum = accumulator.to_owned();
            for (left, right) in unsigned.iter().zip(signed) {
                let own = self.define(&format!(
                    "llvm.call_intrinsic \"{intrinsic}\"({left}, {right}) : ({kind}, {kind}) -> {sums}"
                ));
                sum = self.define(&format!("{} {sum}, {own} : {sums}", ops::arith::ADDI));
            }
            return sum;
        }
        let kind = format!("vector<{}xi8>", GROUP * lanes);
        let (left, right) = (&unsigned[0], &signed[0]);
        self.define(&format!(
            "llvm.call_intrinsic \"{intrinsic}\"({accumulator}, {left}, {right}) : ({sums}, {kind}, {kind}) -> {sums}"
        ))
    }
}
