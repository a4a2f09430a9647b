// SPDX-License-Identifier: Apache-2.0
//! `skript-block-transpositions`: computes elementwise operations whose arrays are contiguous along different loops in square blocks.
//!
//! A loop along contiguous elements of the output goes through as many cache lines of a transposed input as it has iterations, and
//! uses one element of each. In blocks of both loops each line is used while it is in the cache. Where all inputs are contiguous along one
//! loop, or the same, the payload is computed in vectors along it, and the results are transposed in registers: the last block of a loop
//! may overlap the one before. Other operations have what is left of a loop computed by operations of their own.
//!
//! Requires: static strides, and a payload that does not use the values of loops.

#![allow(clippy::indexing_slicing, reason = "loops, extents and strides of one operation have equal lengths")]

use super::reading::Array;
use super::squares::{self, Side};
use super::vectors::{in_vectors, is_vectorizable, widest};
use crate::ir::memref::root_of;
use crate::ir::walk::named;
use crate::ir::{self, Builder, linalg, maps, memref, ops};
use crate::structure::Affine;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError, PassOption, op};

/// The pass `skript-block-transpositions`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-block-transpositions",
    summary: "compute elementwise operations on arrays that are contiguous along different loops in blocks",
    dependent_dialects: &[Dialect::Arith, Dialect::Linalg, Dialect::MemRef, Dialect::Scf, Dialect::Vector],
    options: &[PassOption { name: "vector-bits", summary: "bits of a vector register", default: "512" }],
    run: |root, options, rewriter| {
        let bits: i64 = options.get("vector-bits")?;
        for op in named(root, ops::linalg::GENERIC) {
            if let Some(map) = Map::of(op, bits) {
                map.block(&Builder::before(rewriter.context(), op)?)?;
                ir::erase(op);
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Iterations of a block: elements of a cache line.
const BLOCK: i64 = 16;

/// Elements of the shortest vector that is transposed.
const SHORTEST: i64 = 4;

/// Elements of inputs that stay in the second cache.
const NEAR: i64 = 1 << 16;

/// Points of the smallest operation that is computed in blocks: less stays in the first cache.
const SMALLEST: i64 = 4096;

/// An operation without reductions.
struct Map<'c, 'a> {
    op: OperationRef<'c, 'a>,
    extents: Vec<i64>,
    /// By operand: the offset, and the stride of each loop.
    operands: Vec<(Value<'c, 'a>, i64, Vec<i64>)>,
    /// The loops that the output and an input are contiguous along.
    loops: [usize; 2],
    /// The lanes of vectors that are transposed in registers, if they can be.
    lanes: Option<i64>,
}

/// A part of a loop: the first iteration, the number of blocks, and their length.
type Part = (i64, i64, i64);

impl<'c: 'a, 'a> Map<'c, 'a> {
    fn of(op: OperationRef<'c, 'a>, bits: i64) -> Option<Self> {
        let generic = linalg::Generic::cast(op)?;
        let payload = ir::operations(generic.body()?);
        let uses_loops = payload.iter().any(|own| linalg::index_of(*own).is_some() || own.region_count() > 0);
        let reductions = generic.reductions();
        let has_one_output = payload.last().is_some_and(|end| end.operand_count() == 1);
        if uses_loops || reductions.contains(&true) || op.result_count() > 0 || !has_one_output {
            return None;
        }
        let mut extents = vec![None; reductions.len()];
        let mut operands = Vec::new();
        for (value, map) in op.operands().zip(generic.indexing_maps()) {
            let array = Array::of(value).filter(Array::has_static_strides)?;
            // Of a dynamic offset, which is negative, nothing is known.
            let kind = MemRefType::try_from(value.r#type()).ok()?;
            let (_, mut offset) = kind.strides_and_offset();
            if offset < 0 {
                return None;
            }
            let mut strides = vec![0; reductions.len()];
            for (dimension, form) in maps::forms(map)?.iter().enumerate() {
                let stride = *array.strides.get(dimension)?;
                offset += form.offset() * stride;
                for (l, factor) in form.as_linear()? {
                    *strides.get_mut(l)? += factor * stride;
                }
                if let Some(l) = form.as_index() {
                    *extents.get_mut(l)? = Some((*array.shape.get(dimension)?)?);
                }
            }
            operands.push((value, offset, strides));
        }
        let extents: Vec<i64> = extents.into_iter().collect::<Option<_>>()?;
        let points = extents.iter().fold(1_i64, |all, e| all.saturating_mul(*e));
        let (_, _, output) = operands.last()?;
        let is_long = |l: &usize| extents[*l] >= SHORTEST;
        let along = |strides: &[i64]| (0..strides.len()).find(|l| strides[*l] == 1);
        let first = along(output).filter(is_long)?;
        let inputs = operands.iter().take(operands.len() - 1);
        let mut others = inputs.filter_map(|(_, _, strides)| {
            let other = along(strides).filter(is_long)?;
            (strides[first] > 1 && output[other] > 1).then_some(other)
        });
        let second = others.next()?;
        let mut map = Map { op, extents, operands, loops: [first, second], lanes: None };
        map.lanes = map.lanes(bits);
        let is_block = map.loops.iter().all(|l| map.extents[*l] > BLOCK);
        (points >= SMALLEST && (is_block || map.lanes.is_some())).then_some(map)
    }

    fn block(&self, at: &Builder<'c, 'a>) -> Result<(), PassError> {
        if let Some(lanes) = self.lanes {
            return self.squares(lanes, at);
        }
        let parts = self.loops.map(|l| {
            let (whole, rest) = (self.extents[l] / BLOCK, self.extents[l] % BLOCK);
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

    /// The operations of the payload, the last one yields the result.
    fn payload(&self) -> Option<Vec<OperationRef<'c, 'a>>> {
        Some(ir::operations(linalg::Generic::cast(self.op)?.body()?))
    }

    /// The elements of the operands in the payload.
    fn elements(&self) -> Option<Vec<Value<'c, 'a>>> {
        Some(ir::arguments(linalg::Generic::cast(self.op)?.body()?))
    }

    /// The lanes of vectors of elements, if the payload can be computed in vectors and the results transposed in registers.
    fn lanes(&self, bits: i64) -> Option<i64> {
        let [first, second] = self.loops;
        let ((to, _, target), inputs) = self.operands.split_last()?;
        let has_squares = target[first] == 1;
        let are_vectors = inputs.iter().all(|(_, _, own)| matches!(own[second], 0 | 1));
        let are_apart = inputs.iter().all(|(from, ..)| root_of(*from) != root_of(*to));
        let strides = self.operands.iter().flat_map(|(_, _, strides)| strides);
        let is_forward = strides.into_iter().all(|stride| *stride >= 0);
        let payload = self.payload()?;
        let (_, payload) = payload.split_last()?;
        let elements = self.elements()?;
        // What an output has before is not read: parts of it may be written twice.
        let is_written = ir::users(*elements.last()?).is_empty();
        let is_supported = has_squares && are_vectors && are_apart && is_forward && is_written;
        if !is_supported || !payload.iter().all(|own| is_vectorizable(*own)) {
            return None;
        }
        let widest = widest(&elements, payload)?;
        let extents = self.loops.iter().map(|l| self.extents[*l]);
        let most = extents.fold(BLOCK.min(bits / (8 * widest)), i64::min);
        let lanes = 1 << most.checked_ilog2()?;
        (lanes >= SHORTEST).then_some(lanes)
    }

    /// Whether what the inner loops read stays in the second cache: then the innermost one runs along the output, which gets long parts of
    /// few rows instead of a line of many.
    fn stays_near(&self, lanes: i64) -> bool {
        let [first, second] = self.loops;
        let Some((_, inputs)) = self.operands.split_last() else {
            return false;
        };
        let span = |strides: &[i64]| {
            let lines = strides[second].saturating_mul(self.extents[second]).max(lanes);
            strides[first].saturating_mul(self.extents[first]).max(lines)
        };
        let spans = inputs.iter().map(|(_, _, strides)| span(strides));
        spans.fold(0, i64::saturating_add) <= NEAR
    }

    /// Blocks whose results are computed in vectors along the input, and transposed in registers.
    fn squares(&self, lanes: i64, at: &Builder<'c, 'a>) -> Result<(), PassError> {
        let [first, second] = self.loops;
        let others = 0..self.extents.len();
        let others = others.filter(|l| !self.loops.contains(l) && self.extents[*l] > 1);
        let numbers: Vec<usize> = if self.stays_near(lanes) {
            others.chain([second, first]).collect()
        } else {
            others.chain([first, second]).collect()
        };
        let loops = numbers.iter().map(|l| squares::Loop {
            extent: self.extents[*l],
            step: if self.loops.contains(l) { lanes } else { 1 },
        });
        let loops: Vec<squares::Loop> = loops.collect();
        let last = self.operands.len() - 1;
        let mut sides: Vec<Side> = self
            .operands
            .iter()
            .enumerate()
            .map(|(position, (array, offset, strides))| Side {
                array: *array,
                offset: *offset,
                strides: numbers.iter().map(|l| strides[*l]).collect(),
                vectors: strides[if position == last { second } else { first }],
                is_vector: position == last || strides[second] == 1,
            })
            .collect();
        let to = sides.pop().ok_or("an operation without an output")?;
        let payload = self.payload().ok_or("an operation without a payload")?;
        let elements = self.elements().ok_or("an operation without a payload")?;
        squares::copy(&sides, &to, &loops, lanes, at, &|body, known, vectors| {
            in_vectors(&payload, &elements, lanes, body, known, vectors)
        })?;
        Ok(())
    }

    /// The operation for the iterations of a part of each of the two loops: the loops of blocks, then those of a block, stand inside of
    /// all others.
    fn part(&self, parts: [Part; 2], at: &Builder<'c, 'a>) -> Result<(), PassError> {
        let [first, second] = self.loops;
        let [(first_from, first_count, first_length), (second_from, second_count, second_length)] = parts;
        let is_other = |l: &usize| !self.loops.contains(l) && self.extents[*l] > 1;
        let others = (0..self.extents.len()).filter(is_other);
        // The loop, its extent, and the iterations of the old one that a step is.
        let loops: Vec<(usize, i64, i64)> = others
            .map(|l| (l, self.extents[l], 1))
            .chain([
                (second, second_count, second_length),
                (first, first_count, first_length),
                (second, second_length, 1),
                (first, first_length, 1),
            ])
            .collect();
        let mut operands = Vec::new();
        let mut indexing = Vec::new();
        for (value, offset, strides) in &self.operands {
            let offset = offset + first_from * strides[first] + second_from * strides[second];
            let varying = loops.iter().enumerate().filter(|(_, (l, _, _))| strides[*l] != 0);
            let (sizes, steps): (Vec<i64>, Vec<i64>) =
                varying.clone().map(|(_, (l, extent, step))| (*extent, step * strides[*l])).unzip();
            operands.push(memref::reinterpret(at, *value, offset, &sizes, &steps)?);
            let forms: Vec<Affine> = varying.map(|(n, _)| Affine::index(n)).collect();
            let map = maps::map(at.context, loops.len(), &forms);
            indexing.push(map.ok_or("a map that MLIR does not parse")?);
        }
        let clone = at.insert(op::clone_with(&self.op, &operands, &[]));
        let segments = [operands.len() - 1, 1];
        let attributes =
            linalg::generic_attributes(at.context, &indexing, vec![false; loops.len()], segments);
        for (name, attribute) in attributes.ok_or("linalg is not loaded")? {
            ir::set_attribute(clone, name, attribute);
        }
        Ok(())
    }
}
