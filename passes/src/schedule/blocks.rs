// SPDX-License-Identifier: Apache-2.0
//! `skript-block-transpositions`: computes elementwise operations whose arrays are contiguous along different loops in square blocks.
//!
//! A loop along contiguous elements of the output goes through as many cache lines of a transposed input as it has iterations, and
//! uses one element of each. In blocks of both loops each line is used while it is in the cache; those of a copy are transposed in
//! registers. Extents that are no multiple of the block have their remainder computed by operations of their own.
//!
//! Requires: static strides, and a payload that does not use the values of loops.

#![allow(
    clippy::indexing_slicing,
    reason = "loops, extents and strides of one operation have equal lengths"
)]

use super::reading::Array;
use super::squares::{self, Side};
use crate::extents::size::element_bytes;
use crate::ir::walk::named;
use crate::ir::{self, Builder, linalg, maps, memref, ops};
use crate::structure::Affine;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{ShapedTypeLike, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError, PassOption, op};

/// The pass `skript-block-transpositions`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-block-transpositions",
    summary: "compute elementwise operations on arrays that are contiguous along different loops in blocks",
    dependent_dialects: &[
        Dialect::Arith,
        Dialect::Linalg,
        Dialect::MemRef,
        Dialect::Scf,
        Dialect::Vector,
    ],
    options: &[PassOption {
        name: "vector-bits",
        summary: "bits of a vector register",
        default: "512",
    }],
    run: |root, options, rewriter| {
        let bits: i64 = options.get("vector-bits")?;
        for op in named(root, ops::linalg::GENERIC) {
            if let Some(map) = Map::of(op) {
                map.block(bits, &Builder::before(rewriter.context(), op)?)?;
                ir::erase(op);
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Iterations of a block: elements of a cache line.
const BLOCK: i64 = 16;

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
}

/// A part of a loop: the first iteration, the number of blocks, and their length.
type Part = (i64, i64, i64);

impl<'c: 'a, 'a> Map<'c, 'a> {
    fn of(op: OperationRef<'c, 'a>) -> Option<Self> {
        let generic = linalg::Generic::cast(op)?;
        let payload = ir::operations(generic.body()?);
        let uses_loops = payload
            .iter()
            .any(|own| linalg::index_of(*own).is_some() || own.region_count() > 0);
        let reductions = generic.reductions();
        let has_one_output = payload.last().is_some_and(|end| end.operand_count() == 1);
        if uses_loops || reductions.contains(&true) || op.result_count() > 0 || !has_one_output {
            return None;
        }
        let mut extents = vec![None; reductions.len()];
        let mut operands = Vec::new();
        for (value, map) in op.operands().zip(generic.indexing_maps()) {
            let array = Array::of(value).filter(Array::has_static_strides)?;
            // Of a dynamic offset, nothing is known.
            let array = (array.offset >= 0).then_some(array)?;
            let mut strides = vec![0; reductions.len()];
            let mut offset = array.offset;
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
        let is_long = |l: &usize| extents[*l] > BLOCK;
        let along = |strides: &[i64]| (0..strides.len()).find(|l| strides[*l] == 1);
        let first = along(output).filter(is_long)?;
        let inputs = operands.iter().take(operands.len() - 1);
        let mut others = inputs.filter_map(|(_, _, strides)| {
            let other = along(strides).filter(is_long)?;
            (strides[first] > 1 && output[other] > 1).then_some(other)
        });
        let second = others.next()?;
        (points >= SMALLEST).then_some(Map {
            op,
            extents,
            operands,
            loops: [first, second],
        })
    }

    fn block(&self, bits: i64, at: &Builder<'c, 'a>) -> Result<(), PassError> {
        let lanes = self.lanes(bits);
        let size = lanes.unwrap_or(BLOCK);
        let parts = self.loops.map(|l| {
            let (whole, rest) = (self.extents[l] / size, self.extents[l] % size);
            let all: [Part; 2] = [(0, whole, size), (whole * size, 1, rest)];
            all.into_iter()
                .filter(|(_, count, length)| count * length > 0)
        });
        let [first, second] = parts;
        for outer in second {
            for inner in first.clone() {
                match lanes.filter(|lanes| [inner.2, outer.2] == [*lanes; 2]) {
                    Some(lanes) => self.squares([inner, outer], lanes, at)?,
                    None => self.part([inner, outer], at)?,
                }
            }
        }
        Ok(())
    }

    /// The lanes of a vector of elements, if the operation is a copy whose blocks can be transposed in registers.
    fn lanes(&self, bits: i64) -> Option<i64> {
        let [(from, _, source), (_, _, target)] = self.operands.as_slice() else {
            return None;
        };
        let body = linalg::Generic::cast(self.op)?.body()?;
        let element = body.argument(0).ok().map(Value::from);
        // A block that begins with its end yields the element as it is.
        let first = *ir::operations(body).first()?;
        let is_copy = ir::name(first) == ops::linalg::YIELD && first.operand(0).ok() == element;
        let [first, second] = self.loops;
        let has_squares = source[second] == 1 && target[first] == 1;
        let element = MemRefType::try_from(from.r#type()).ok()?.element();
        let element = element.to_string();
        let bytes = element_bytes(&element).filter(|_| !element.starts_with("complex"));
        let lanes = bits / (8 * i64::try_from(bytes?).ok()?);
        (is_copy && has_squares && (4..=BLOCK).contains(&lanes)).then_some(lanes)
    }

    /// The blocks of a copy, transposed in registers.
    fn squares(&self, parts: [Part; 2], lanes: i64, at: &Builder<'c, 'a>) -> Result<(), PassError> {
        let [first, second] = self.loops;
        let others = 0..self.extents.len();
        let others = others.filter(|l| !self.loops.contains(l) && self.extents[*l] > 1);
        // The loop, its number of blocks, and the iterations of the old one that a step is.
        let loops = others.map(|l| (l, self.extents[l], 1));
        let loops: Vec<(usize, i64, i64)> = loops
            .chain([(first, parts[0].1, lanes), (second, parts[1].1, lanes)])
            .collect();
        let sides = self.operands.iter().zip([first, second]);
        let sides = sides.map(|((array, offset, strides), across)| Side {
            array: *array,
            offset: *offset,
            blocks: loops
                .iter()
                .map(|(l, _, step)| strides[*l] * step)
                .collect(),
            vectors: strides[across],
        });
        let sides: Vec<Side> = sides.collect();
        let counts: Vec<i64> = loops.iter().map(|(_, count, _)| *count).collect();
        if let [from, to] = sides.as_slice() {
            squares::copy([from, to], &counts, lanes, at)?;
        }
        Ok(())
    }

    /// The operation for the iterations of a part of each of the two loops: the loops of blocks, then those of a block, stand inside of
    /// all others.
    fn part(&self, parts: [Part; 2], at: &Builder<'c, 'a>) -> Result<(), PassError> {
        let [first, second] = self.loops;
        let [
            (first_from, first_count, first_length),
            (second_from, second_count, second_length),
        ] = parts;
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
            let varying = loops.iter().enumerate();
            let varying = varying.filter(|(_, (l, _, _))| strides[*l] != 0);
            let (sizes, steps): (Vec<i64>, Vec<i64>) = varying
                .clone()
                .map(|(_, (l, extent, step))| (*extent, step * strides[*l]))
                .unzip();
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
