// SPDX-License-Identifier: Apache-2.0
//! Upper bounds of buffer sizes: a dynamic extent counts as its upper bound.
//!
//! A bound is derived from the ops that compute an extent: `arith.minui %n, %c16` is at most 16, for any `%n`. Emission
//! clamps every dynamic extent in this way; checks that the extent is within its bound come before.

use crate::ir;
use crate::ir::ValueKey;
use crate::ir::arith::{Constant, Select};
use crate::ir::ops;
use crate::ir::scf;
use crate::ir::shape::{self, Dim};

use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef, OperationResult};
use melior::ir::r#type::{DimSize, MemRefType};
use melior::ir::{ShapedTypeLike, Value, ValueLike};
use std::cell::RefCell;
use std::collections::HashMap;

/// Maximum number of ops that the search follows: chains of views are short, and a cycle must end.
pub(crate) const DEPTH: usize = 64;

/// The maximum size in bytes of the buffer of `memref`, a value of memref type; `None` if some extent has no upper
/// bound or the elements have no size.
pub(crate) fn bytes(memref: Value) -> Option<u64> {
    let r#type = MemRefType::try_from(memref.r#type()).ok()?;
    let mut bytes = element_bytes(&r#type.element().to_string())?;
    let search = Search::default();
    for dimension in 0..r#type.rank() {
        bytes = bytes.checked_mul(search.extent(memref, dimension, DEPTH)?)?;
    }
    Some(bytes)
}

/// The maximum extent of a dimension of `memref`; `None` without an upper bound.
pub(crate) fn extent(memref: Value, dimension: usize) -> Option<u64> {
    Search::default().extent(memref, dimension, DEPTH)
}

/// The size of an element in bytes; `None` for types that have no buffers.
pub(crate) fn element_bytes(text: &str) -> Option<u64> {
    match text {
        "index" | "complex<f32>" => Some(8),
        "complex<f64>" => Some(16),
        _ => {
            let bits: u64 = text.trim_start_matches("bf").trim_start_matches(['f', 'i']).parse().ok()?;
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
    /// The remaining depth: with a larger one there may be an answer.
    depth: usize,
}

impl Search {
    /// The maximum extent of a dimension.
    fn extent(&self, memref: Value, dimension: usize, depth: usize) -> Option<u64> {
        let address = (ValueKey::of(memref), dimension);
        if let Some(answer) = self.known.borrow().get(&address)
            && (answer.largest.is_some() || answer.depth >= depth)
        {
            return answer.largest;
        }
        let largest = self.found(memref, dimension, depth);
        let answer = Answer { largest, depth };
        self.known.borrow_mut().insert(address, answer);
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
            ops::memref::ALLOC | ops::memref::EXPAND_SHAPE | ops::memref::SUBVIEW | ops::memref::VIEW => {
                self.value(shape::dynamic_size(op, position)?, depth)
            }
            ops::memref::CAST => self.extent(ir::operand(op).ok()?, dimension, depth),
            ops::memref::COLLAPSE_SHAPE => {
                let source = ir::operand(op).ok()?;
                let mut merged = shape::reassociation(op)?.get(dimension)?.clone().into_iter();
                merged
                    .try_fold(1u64, |all, dimension| all.checked_mul(self.extent(source, dimension, depth)?))
            }
            ops::arith::SELECT => {
                let select = Select::cast(op)?;
                let one = self.extent(select.then().ok()?, dimension, depth)?;
                Some(one.max(self.extent(select.otherwise().ok()?, dimension, depth)?))
            }
            // Loop-carried tensors have the same shape in each iteration.
            ops::scf::FOR | ops::scf::WHILE => {
                self.extent(scf::init(op, result.result_number())?, dimension, depth)
            }
            ops::scf::IF => self.of_branches(op, result.result_number(), dimension, depth),
            _ => None,
        }
    }

    fn of_branches(&self, op: OperationRef, number: usize, dimension: usize, depth: usize) -> Option<u64> {
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
        // The first argument of `scf.for` is its counter.
        let counters = usize::from(ir::name(owner) == ops::scf::FOR);
        let number = argument.argument_number().checked_sub(counters)?;
        self.extent(scf::init(owner, number)?, dimension, depth)
    }

    /// The maximum value of an extent.
    fn value(&self, extent_value: Value, depth: usize) -> Option<u64> {
        largest(extent_value, depth, &|memref, dimension, depth| self.extent(memref, dimension, depth))
    }
}

/// The maximum value of an extent; `of_dimension` returns it for a dimension of a memref or tensor, given the remaining
/// depth.
pub(crate) fn largest<'c: 'a, 'a>(
    extent: Value<'c, 'a>,
    depth: usize,
    of_dimension: &dyn Fn(Value<'c, 'a>, usize, usize) -> Option<u64>,
) -> Option<u64> {
    let depth = depth.checked_sub(1)?;
    let op = OperationResult::try_from(extent).ok()?.owner();
    let of = |value: Value<'c, 'a>| largest(value, depth, of_dimension);
    let both = || Some(ir::both_operands(op).ok()?.map(of));
    match ir::name(op).as_str() {
        ops::arith::CONSTANT => constant(extent),
        ops::arith::MINUI | ops::arith::MINSI => match both()? {
            [Some(x), Some(y)] => Some(x.min(y)),
            [x, y] => x.or(y),
        },
        ops::arith::SELECT => {
            let select = Select::cast(op)?;
            Some(of(select.then().ok()?)?.max(of(select.otherwise().ok()?)?))
        }
        ops::arith::INDEX_CAST => of(ir::operand(op).ok()?),
        ops::memref::DIM | ops::tensor::DIM => {
            let dim = Dim::cast(op)?;
            of_dimension(dim.source().ok()?, dim.dimension()?, depth)
        }
        name @ (ops::arith::ADDI | ops::arith::MULI | ops::arith::MAXSI | ops::arith::MAXUI) => {
            let [x, y] = both()?;
            match name {
                ops::arith::ADDI => x?.checked_add(y?),
                ops::arith::MULI => x?.checked_mul(y?),
                _ => Some(x?.max(y?)),
            }
        }
        _ => None,
    }
}

fn constant(value: Value) -> Option<u64> {
    u64::try_from(Constant::of(value)?.integer()?).ok()
}
