// SPDX-License-Identifier: Apache-2.0
//! `skript-block-transpositions`: computes elementwise operations in square blocks if their arrays are contiguous along different loops.
//!
//! A loop along contiguous elements of the output accesses one cache line of a transposed input per iteration, and uses only one element
//! of each line. In blocks along both loops, all elements of a line are used while it is in the cache. If each input is contiguous along
//! the same loop, or invariant, the payload is computed on vectors along this loop, and the results are transposed in registers; the
//! last block of a loop may then overlap the previous one. For other operations, separate operations compute the remainder of a loop.
//!
//! Requires: static strides, and a payload that does not use loop indices.

use super::reading::Array;
use super::squares::{self, Side};
use super::vectors::{in_vectors, is_vectorizable, widest};
use crate::ir::generic::{Access, LoopNest, rebuild};
use crate::ir::memref::root_of;
use crate::ir::walk::named;
use crate::ir::{self, Builder, Copier, memref, ops};
use crate::structure::Affine;
use melior::ir::operation::{OperationLike, OperationRef};
use skript_dialect::{Dialect, Pass, PassError, PassOption};

/// The pass `skript-block-transpositions`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-block-transpositions",
    summary: "compute elementwise operations in blocks if their arrays are contiguous along different loops",
    dependent_dialects: &[Dialect::Arith, Dialect::Linalg, Dialect::MemRef, Dialect::Scf, Dialect::Vector],
    options: &[PassOption { name: "vector-bits", summary: "bits of a vector register", default: "512" }],
    run: |root, options, rewriter| {
        let bits: i64 = options.get("vector-bits")?;
        for op in named(root, ops::linalg::GENERIC) {
            if let Some(map) = Map::new(op, bits) {
                map.block(&Builder::before(rewriter.context(), op)?)?;
                ir::erase(op);
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Number of iterations of a block along a loop: the number of elements of a cache line.
const BLOCK: i64 = 16;

/// Minimum number of lanes of a vector that is transposed.
const MIN_LANES: i64 = 4;

/// Number of elements that fit the L2 cache.
const L2_ELEMENTS: i64 = 1 << 16;

/// Minimum number of points of an operation that is computed in blocks: the arrays of smaller operations fit the L1 cache.
const MIN_POINTS: i64 = 4096;

/// An operation without reductions.
struct Map<'c, 'a> {
    nest: LoopNest<'c, 'a>,
    /// For each operand, the offset, and the stride along each loop.
    addresses: Vec<(i64, Vec<i64>)>,
    /// The loop along which the output is contiguous, and the loop along which an input is contiguous.
    loops: [usize; 2],
    /// The lanes of the vectors, if the results can be transposed in registers.
    lanes: Option<i64>,
}

/// A part of a loop: the first iteration, the number of blocks, and their length.
type Part = (i64, i64, i64);

impl<'c: 'a, 'a> Map<'c, 'a> {
    fn new(op: OperationRef<'c, 'a>, bits: i64) -> Option<Self> {
        let nest = LoopNest::read(op).filter(|nest| nest.is_on_arrays() && !nest.reduces())?;
        let has_regions = nest.payload.iter().any(|op| op.region_count() > 0);
        if has_regions || nest.reads_positions() || nest.yielded.len() != 1 {
            return None;
        }
        let addresses = nest.operands.iter().map(|operand| {
            Array::new(operand.value).filter(Array::has_static_strides)?;
            operand.strides(nest.extents.len())
        });
        let addresses: Vec<(i64, Vec<i64>)> = addresses.collect::<Option<_>>()?;
        let extents = nest.static_extents()?;
        let (output, inputs) = addresses.split_last()?;
        let is_long = |l: &usize| extents[*l] >= MIN_LANES;
        let along =
            |(_, strides): &(i64, Vec<i64>)| (0..strides.len()).find(|l| strides[*l] == 1).filter(is_long);
        let first = along(output)?;
        let mut others = inputs.iter().filter_map(|input| {
            let other = along(input)?;
            (input.1[first] > 1 && output.1[other] > 1).then_some(other)
        });
        let second = others.next()?;
        let mut map = Map { nest, addresses, loops: [first, second], lanes: None };
        map.lanes = map.lanes(bits);
        let is_block = map.loops.iter().all(|l| map.nest.extents[*l] > BLOCK);
        (map.nest.points(0) >= MIN_POINTS && (is_block || map.lanes.is_some())).then_some(map)
    }

    fn block(&self, at: &Builder<'c, 'a>) -> Result<(), PassError> {
        if let Some(lanes) = self.lanes {
            return self.squares(lanes, at);
        }
        let parts = self.loops.map(|l| {
            let (whole, rest) = (self.nest.extents[l] / BLOCK, self.nest.extents[l] % BLOCK);
            let all: [Part; 2] = [(0, whole, BLOCK), (whole * BLOCK, 1, rest)];
            all.into_iter().filter(|(_, count, length)| count * length > 0)
        });
        let [first, second] = parts;
        for outer in second {
            for inner in first.clone() {
                self.part([inner, outer], at)?;
            }
        }
        Ok(())
    }

    /// Selects the number of lanes if the payload can be computed on vectors and the results transposed in registers.
    fn lanes(&self, bits: i64) -> Option<i64> {
        let [first, second] = self.loops;
        let ((_, target), inputs) = self.addresses.split_last()?;
        let output = self.nest.output()?;
        let has_squares = target[first] == 1;
        let are_vectors = inputs.iter().all(|(_, strides)| matches!(strides[second], 0 | 1));
        let are_disjoint =
            self.nest.inputs().iter().all(|input| root_of(input.value) != root_of(output.value));
        let is_forward = self.addresses.iter().flat_map(|(_, strides)| strides).all(|stride| *stride >= 0);
        // The payload must not read the previous content of the output, because overlapping blocks are computed twice.
        let is_supported = has_squares && are_vectors && are_disjoint && is_forward && !output.is_read();
        if !is_supported || !self.nest.payload.iter().all(|op| is_vectorizable(*op)) {
            return None;
        }
        let extents = self.loops.iter().map(|l| self.nest.extents[*l]);
        let max_lanes = extents.fold(BLOCK.min(bits / (8 * widest(&self.nest)?)), i64::min);
        let lanes = 1 << max_lanes.checked_ilog2()?;
        (lanes >= MIN_LANES).then_some(lanes)
    }

    /// Whether the data that the two inner loops read fits the L2 cache. The innermost loop then runs along the output, so that it writes
    /// long parts of few rows instead of one cache line of many rows.
    fn fits_l2_cache(&self, lanes: i64) -> bool {
        let [first, second] = self.loops;
        let Some((_, inputs)) = self.addresses.split_last() else {
            return false;
        };
        let span = |strides: &[i64]| {
            let lines = strides[second].saturating_mul(self.nest.extents[second]).max(lanes);
            strides[first].saturating_mul(self.nest.extents[first]).max(lines)
        };
        let spans = inputs.iter().map(|(_, strides)| span(strides));
        spans.fold(0, i64::saturating_add) <= L2_ELEMENTS
    }

    /// Computes square blocks on vectors along the input, and transposes the results in registers.
    fn squares(&self, lanes: i64, at: &Builder<'c, 'a>) -> Result<(), PassError> {
        let [first, second] = self.loops;
        let is_other = |l: &usize| !self.loops.contains(l) && self.nest.extents[*l] > 1;
        let others = (0..self.nest.extents.len()).filter(is_other);
        let numbers: Vec<usize> = if self.fits_l2_cache(lanes) {
            others.chain([second, first]).collect()
        } else {
            others.chain([first, second]).collect()
        };
        let loops = numbers.iter().map(|l| squares::Loop {
            extent: self.nest.extents[*l],
            step: if self.loops.contains(l) { lanes } else { 1 },
        });
        let loops: Vec<squares::Loop> = loops.collect();
        let last = self.addresses.len() - 1;
        let operands = self.nest.operands.iter().zip(&self.addresses).enumerate();
        let sides = operands.map(|(position, (operand, (offset, strides)))| Side {
            array: operand.value,
            offset: *offset,
            strides: numbers.iter().map(|l| strides[*l]).collect(),
            vectors: strides[if position == last { second } else { first }],
            is_vector: position == last || strides[second] == 1,
        });
        let mut sides: Vec<Side> = sides.collect();
        let to = sides.pop().ok_or("an operation without an output")?;
        squares::copy(&sides, &to, &loops, lanes, at, &|body, known, vectors| {
            in_vectors(&self.nest, lanes, body, known, vectors)
        })?;
        Ok(())
    }

    /// Rebuilds the operation for a part of each of the two loops. The innermost loops are the loops over blocks, then the loops inside of
    /// a block.
    fn part(&self, parts: [Part; 2], at: &Builder<'c, 'a>) -> Result<(), PassError> {
        let [first, second] = self.loops;
        let [(first_from, first_count, first_length), (second_from, second_count, second_length)] = parts;
        let is_other = |l: &usize| !self.loops.contains(l) && self.nest.extents[*l] > 1;
        let others = (0..self.nest.extents.len()).filter(is_other);
        // The original loop, the new extent, and the number of original iterations of a step.
        let loops: Vec<(usize, i64, i64)> = others
            .map(|l| (l, self.nest.extents[l], 1))
            .chain([
                (second, second_count, second_length),
                (first, first_count, first_length),
                (second, second_length, 1),
                (first, first_length, 1),
            ])
            .collect();
        let mut operands = Vec::new();
        for (operand, (offset, strides)) in self.nest.operands.iter().zip(&self.addresses) {
            let offset = offset + first_from * strides[first] + second_from * strides[second];
            let varying = loops.iter().enumerate().filter(|(_, (l, _, _))| strides[*l] != 0);
            let (sizes, steps): (Vec<i64>, Vec<i64>) =
                varying.clone().map(|(_, (l, extent, step))| (*extent, step * strides[*l])).unzip();
            let part = memref::reinterpret(at, operand.value, offset, &sizes, &steps)?;
            operands.push(Access(part, varying.map(|(n, _)| Affine::index(n)).collect()));
        }
        rebuild(at, &self.nest, &operands, &vec![false; loops.len()], |body, elements| {
            self.nest.copy_payload(Copier::new(), elements, body, &mut |_, _, _| Ok(false))
        })?;
        Ok(())
    }
}
