// SPDX-License-Identifier: Apache-2.0
//! Upper bounds of buffer sizes, computed from the upper bounds of dynamic extents.
//!
//! An upper bound is derived from the ops that compute an extent: `arith.minui %n, %c16` is at most 16, for any `%n`.
//! Emission clamps every dynamic extent in this way, after a check that the extent is within its bound.

use crate::facts::{Definition, definition, interval};
use crate::ir::arith::Select;
use crate::ir::shape::Dim;
use crate::ir::{self, ValueKey, ops, scf, types};

use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationRef, OperationResult};
use melior::ir::r#type::MemRefType;
use melior::ir::{ShapedTypeLike, Type, TypeLike, Value, ValueLike};
use skript_symbolic::{Extent, Interval};
use std::cell::RefCell;
use std::collections::HashMap;

/// Maximum depth of the search: chains of views are short, and the search must end in a cycle.
pub(crate) const DEPTH: usize = 64;

/// Returns the maximum size in bytes of the buffer of `memref`; `None` if an extent has no upper bound or the elements have
/// no size.
pub(crate) fn bytes(memref: Value) -> Option<u64> {
    let r#type = MemRefType::try_from(memref.r#type()).ok()?;
    let mut bytes = element_bytes(r#type.element())?;
    let search = Search::default();
    for dimension in 0..r#type.rank() {
        bytes = bytes.checked_mul(search.extent(memref, dimension, DEPTH)?)?;
    }
    Some(bytes)
}

/// Returns the maximum extent of a dimension of `memref`; `None` if it has no upper bound.
pub(crate) fn extent(memref: Value, dimension: usize) -> Option<u64> {
    Search::default().extent(memref, dimension, DEPTH)
}

/// Returns the size of an element in bytes; `None` for types that cannot be elements of buffers.
pub(crate) fn element_bytes(r#type: Type) -> Option<u64> {
    if r#type.is_index() {
        return Some(8);
    }
    match types::complex_part(r#type) {
        Some(part) => Some(2 * element_bytes(part)?),
        None => Some(u64::from(types::bits(r#type)?.div_ceil(8)).next_power_of_two()),
    }
}

/// Results of the search by dimension, so that shared operands are visited once.
#[derive(Default)]
struct Search {
    known: RefCell<HashMap<(ValueKey, usize), Answer>>,
}

struct Answer {
    largest: Option<u64>,
    /// The remaining depth of the search. A search with a greater depth may find an upper bound where this one did not.
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
        let largest = self.search(memref, dimension, depth);
        let answer = Answer { largest, depth };
        self.known.borrow_mut().insert(address, answer);
        largest
    }

    fn search(&self, memref: Value, dimension: usize, depth: usize) -> Option<u64> {
        let depth = depth.checked_sub(1)?;
        match definition(memref, dimension) {
            Definition::Fixed(extent) => u64::try_from(extent).ok(),
            Definition::Value(extent) => self.value(extent, depth),
            Definition::Same(source, position) => self.extent(source, position, depth),
            Definition::Product(source, merged) => {
                let mut extents = merged.into_iter().map(|dimension| self.extent(source, dimension, depth));
                extents.try_fold(1u64, |all, extent| all.checked_mul(extent?))
            }
            Definition::Unknown => self.merged(memref, dimension, depth),
        }
    }

    /// The maximum extent of a memref that control flow or a select merges from several memrefs.
    fn merged(&self, memref: Value, dimension: usize, depth: usize) -> Option<u64> {
        let Ok(result) = OperationResult::try_from(memref) else {
            return self.of_argument(memref, dimension, depth);
        };
        let op = result.owner();
        match ir::name(op).as_str() {
            ops::arith::SELECT => {
                let select = Select::cast(op)?;
                let one = self.extent(select.then().ok()?, dimension, depth)?;
                Some(one.max(self.extent(select.otherwise().ok()?, dimension, depth)?))
            }
            // Loop-carried memrefs have the same shape in each iteration.
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
            largest = largest.max(self.extent(ir::operand_at(end, number)?, dimension, depth)?);
        }
        Some(largest)
    }

    /// The maximum extent of a loop-carried value, which has the extents of its initial value.
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

/// Returns the maximum value of an extent. `of_dimension` returns the maximum extent of a dimension of a memref or tensor,
/// for a remaining depth.
pub(crate) fn largest<'c: 'a, 'a>(
    extent: Value<'c, 'a>,
    depth: usize,
    of_dimension: &dyn Fn(Value<'c, 'a>, usize, usize) -> Option<u64>,
) -> Option<u64> {
    // The operands of an extent are also nonnegative.
    let natural = |value: Value<'c, 'a>, depth: usize| {
        let dim = Dim::of(value).and_then(|dim| of_dimension(dim.source().ok()?, dim.dimension()?, depth));
        let high = dim.and_then(|extent| i64::try_from(extent).ok()).unwrap_or(i64::MAX);
        Some(Interval { low: 0, high })
    };
    let high = interval::search(extent, depth, &natural)?.high;
    u64::try_from(high).ok().filter(|_| high <= Extent::LARGEST)
}
