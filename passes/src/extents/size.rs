// SPDX-License-Identifier: Apache-2.0
//! Upper bounds of buffer sizes: a dynamic extent counts as its upper bound.
//!
//! A bound is derived from the ops that compute an extent: `arith.minui %n, %c16` is at most 16, for any `%n`. Emission
//! clamps every dynamic extent in this way; checks that the extent is within its bound come before.

use crate::ir;
use crate::ir::ValueKey;
use crate::ir::arith::Constant;
use crate::ir::ops;
use crate::ir::shape;

use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef, OperationResult};
use melior::ir::r#type::{DimSize, MemRefType};
use melior::ir::{ShapedTypeLike, Value, ValueLike};
use std::cell::RefCell;
use std::collections::HashMap;

/// Maximum number of ops that the search follows: chains of views are short, and a cycle must end.
pub(crate) const DEPTH: usize = 64;

/// Bytes of the largest buffer that `memref`, a value of memref type, can be; `None` if some extent has no bound or the
/// elements have no size.
pub(crate) fn bytes(memref: Value) -> Option<u64> {
    let r#type = MemRefType::try_from(memref.r#type()).ok()?;
    let mut bytes = element_bytes(&r#type.element().to_string())?;
    let search = Search::default();
    for dimension in 0..r#type.rank() {
        bytes = bytes.checked_mul(search.extent(memref, dimension, DEPTH)?)?;
    }
    Some(bytes)
}

/// Bytes of an element in memory; `None` for types that no pass makes buffers of.
pub(crate) fn element_bytes(text: &str) -> Option<u64> {
    match text {
        "index" | "complex<f32>" => Some(8),
        "complex<f64>" => Some(16),
        _ => {
            let bits: u64 = text
                .trim_start_matches("bf")
                .trim_start_matches(['f', 'i'])
                .parse()
                .ok()?;
            Some(bits.div_ceil(8).next_power_of_two())
        }
    }
}

/// Results of the search by dimension, so that shared operands are visited once.
#[derive(Default)]
struct Search {
    known: RefCell<HashMap<(ValueKey, usize), Answer>>,
}

struct Answer {
    largest: Option<u64>,
    /// The depth that was left: with more there may be an answer.
    depth: usize,
}

impl Search {
    /// The largest extent that a dimension can have.
    fn extent(&self, memref: Value, dimension: usize, depth: usize) -> Option<u64> {
        let place = (ValueKey::of(memref), dimension);
        if let Some(answer) = self.known.borrow().get(&place)
            && (answer.largest.is_some() || answer.depth >= depth)
        {
            return answer.largest;
        }
        let largest = self.found(memref, dimension, depth);
        let answer = Answer { largest, depth };
        self.known.borrow_mut().insert(place, answer);
        largest
    }

    fn found(&self, memref: Value, dimension: usize, depth: usize) -> Option<u64> {
        let depth = depth.checked_sub(1)?;
        let r#type = MemRefType::try_from(memref.r#type()).ok()?;
        let dynamic = |n: &usize| matches!(r#type.dim_size(*n), Ok(DimSize::Dynamic));
        if let DimSize::Static(n) = r#type.dim_size(dimension).ok()? {
            return Some(n);
        }
        // The position among the dynamic extents: ops list only those.
        let position = (0..dimension).filter(dynamic).count();
        let Ok(result) = OperationResult::try_from(memref) else {
            return self.of_argument(memref, dimension, depth);
        };
        let op = result.owner();
        match ir::name(op).as_str() {
            ops::memref::ALLOC => self.value(op.operand(position).ok()?, depth),
            // The source and the byte offset come first.
            ops::memref::VIEW => self.value(op.operand(position + 2).ok()?, depth),
            ops::memref::CAST => self.extent(op.operand(0).ok()?, dimension, depth),
            ops::memref::EXPAND_SHAPE => self.value(op.operand(position + 1).ok()?, depth),
            ops::memref::COLLAPSE_SHAPE => {
                let source = op.operand(0).ok()?;
                let mut merged = shape::reassociation(op)?
                    .get(dimension)?
                    .clone()
                    .into_iter();
                merged.try_fold(1u64, |all, dimension| {
                    all.checked_mul(self.extent(source, dimension, depth)?)
                })
            }
            ops::memref::SUBVIEW => self.value(shape::dynamic_size(op, position)?, depth),
            ops::arith::SELECT => {
                let one = self.extent(op.operand(1).ok()?, dimension, depth)?;
                Some(one.max(self.extent(op.operand(2).ok()?, dimension, depth)?))
            }
            // Loop-carried tensors have the same shape in each iteration.
            ops::scf::FOR => self.extent(
                op.operand(result.result_number() + 3).ok()?,
                dimension,
                depth,
            ),
            ops::scf::WHILE => {
                self.extent(op.operand(result.result_number()).ok()?, dimension, depth)
            }
            ops::scf::IF => self.of_branches(op, result.result_number(), dimension, depth),
            _ => None,
        }
    }

    fn of_branches(
        &self,
        op: OperationRef,
        number: usize,
        dimension: usize,
        depth: usize,
    ) -> Option<u64> {
        let mut largest = 0;
        for block in ir::blocks(op) {
            let end = ir::operations(block).last().copied()?;
            largest = largest.max(self.extent(end.operand(number).ok()?, dimension, depth)?);
        }
        Some(largest)
    }

    /// A loop-carried value has the extents of its initial value.
    fn of_argument(&self, memref: Value, dimension: usize, depth: usize) -> Option<u64> {
        let argument = crate::ir::argument(memref)?;
        let owner = argument.owner().parent_operation()?;
        let start = match ir::name(owner).as_str() {
            // Bounds and step, and no counter among the inits.
            ops::scf::FOR => argument.argument_number() + 2,
            ops::scf::WHILE => argument.argument_number(),
            _ => return None,
        };
        self.extent(owner.operand(start).ok()?, dimension, depth)
    }

    /// The largest value that an extent can have.
    fn value(&self, extent_value: Value, depth: usize) -> Option<u64> {
        largest(extent_value, depth, &|memref, dimension, depth| {
            self.extent(memref, dimension, depth)
        })
    }
}

/// The largest value that an extent can have; `of_dimension` returns it for a dimension of a memref or tensor, given
/// the remaining depth.
pub(crate) fn largest<'c: 'a, 'a>(
    extent: Value<'c, 'a>,
    depth: usize,
    of_dimension: &dyn Fn(Value<'c, 'a>, usize, usize) -> Option<u64>,
) -> Option<u64> {
    let depth = depth.checked_sub(1)?;
    let op = OperationResult::try_from(extent).ok()?.owner();
    let operand = |n: usize| largest(op.operand(n).ok()?, depth, of_dimension);
    match ir::name(op).as_str() {
        ops::arith::CONSTANT => constant(extent),
        ops::arith::MINUI | ops::arith::MINSI => match (operand(0), operand(1)) {
            (Some(x), Some(y)) => Some(x.min(y)),
            (x, y) => x.or(y),
        },
        ops::arith::MAXSI | ops::arith::MAXUI => Some(operand(0)?.max(operand(1)?)),
        ops::arith::SELECT => Some(operand(1)?.max(operand(2)?)),
        ops::arith::INDEX_CAST => operand(0),
        ops::arith::ADDI => operand(0)?.checked_add(operand(1)?),
        ops::arith::MULI => operand(0)?.checked_mul(operand(1)?),
        ops::memref::DIM | ops::tensor::DIM => {
            let number = constant(op.operand(1).ok()?)?;
            of_dimension(op.operand(0).ok()?, usize::try_from(number).ok()?, depth)
        }
        _ => None,
    }
}

fn constant(value: Value) -> Option<u64> {
    u64::try_from(Constant::of(value)?.integer()?).ok()
}
