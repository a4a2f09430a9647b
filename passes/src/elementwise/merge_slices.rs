// SPDX-License-Identifier: Apache-2.0
//! `skript-merge-slices`: replaces a concatenation of all slices of a tensor by the tensor, or by a transposed copy of it.
//!
//! `layout.unstack` copies the slices of a tensor to the items of a pack, and a loop over the pack concatenates them again. The
//! results of a loop are slices of one tensor, which `layout.stack` concatenates. A recurrence of n steps would execute about
//! 6 · n operations for these copies, and one-shot bufferization takes superlinear time for them.
//!
//! Requires: tensors with static extents. Each part of the concatenation must be a `tensor.extract_slice`, or a `linalg.generic`
//! that copies a tensor or such a slice; the parts must divide one dimension of the result, and one dimension of the tensor in
//! the same way. Guarantees: a replaced concatenation is unused; `canonicalize` erases it.

use crate::extents::bounds::Slice;
use crate::ir::generic::{Access, LoopNest, all_loops, copy_of};
use crate::ir::shape::InsertSlice;
use crate::ir::walk::named;
use crate::ir::{self, Builder, ops, types};
use crate::structure::Affine;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::{Dialect, Pass, op};
use std::collections::BTreeSet;

pub(crate) const PASS: Pass = Pass {
    flag: "skript-merge-slices",
    summary: "replace concatenations of all slices of a tensor by the tensor",
    dependent_dialects: &[Dialect::Linalg, Dialect::Tensor],
    run: |root, _, rewriter| {
        for op in named(root, ops::tensor::INSERT_SLICE).into_iter().rev() {
            let Some(last) = InsertSlice::cast(op).filter(|last| is_last(*last)) else {
                continue;
            };
            if let Some(Access(tensor, subscripts)) = merged(last) {
                let result = Value::from(op.result(0)?);
                let is_same = result.r#type() == tensor.r#type()
                    && subscripts == all_loops(types::shape(tensor.r#type()).len());
                let at = Builder::before(rewriter.context(), op)?;
                let copy = || copy_of(&at, Access(tensor, subscripts), result.r#type(), &[]);
                ir::replace_uses(result, if is_same { tensor } else { copy()? });
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Whether an insertion is the last one of its chain: its result has users, and none of them inserts into it.
fn is_last(insertion: InsertSlice) -> bool {
    let Ok(result) = insertion.op().result(0).map(Value::from) else {
        return false;
    };
    let users = ir::users(result);
    let continues =
        |user: &OperationRef| InsertSlice::cast(*user).is_some_and(|next| next.destination() == Ok(result));
    !users.is_empty() && !users.iter().any(continues)
}

/// The tensor whose slices a chain of insertions concatenates, and its subscripts for the dimensions of the result; `last` is
/// the last insertion.
fn merged<'c: 'a, 'a>(last: InsertSlice<'c, 'a>) -> Option<Access<'c, 'a>> {
    let shape = types::extents(last.op().result(0).ok()?.r#type())?;
    let sizes = static_slice(last.op(), 2)?.sizes;
    let divided = (0..shape.len()).find(|d| sizes.get(*d) != shape.get(*d))?;
    let extent = *shape.get(divided)?;

    let (mut merged, mut ranges) = (None, Vec::new());
    let (mut covered, mut insertion) = (0, last);
    loop {
        let part = static_slice(insertion.op(), 2)?;
        let view = View::read(insertion.source().ok()?)?;
        let subscripts = view.subscripts(&part, divided, &shape)?;
        let (tensor, expected) = merged.get_or_insert_with(|| (view.tensor, subscripts.clone()));
        if *tensor != view.tensor || *expected != subscripts {
            return None;
        }
        let (offset, size) = (*part.offsets.get(divided)?, *part.sizes.get(divided)?);
        ranges.push((offset, size));
        covered += size;
        if covered >= extent {
            break;
        }
        insertion = InsertSlice::of(insertion.destination().ok()?)?;
    }
    ranges.sort_unstable();
    let mut end = 0;
    for (offset, size) in ranges {
        if offset != end || size == 0 {
            return None;
        }
        end += size;
    }
    let (tensor, subscripts) = merged.filter(|_| end == extent)?;
    Some(Access(tensor, subscripts))
}

/// The slice of an operation with static offsets and sizes, and `tensors` operands.
fn static_slice(op: OperationRef, tensors: usize) -> Option<Slice> {
    Slice::from_op(op).filter(|_| op.operand_count() == tensors)
}

/// A part of a tensor that another tensor is a copy of.
struct View<'c, 'a> {
    tensor: Value<'c, 'a>,
    /// The extents of the copy.
    shape: Vec<i64>,
    /// The part of each dimension of the tensor.
    ranges: Vec<Range>,
}

#[derive(Clone, Copy)]
struct Range {
    offset: i64,
    size: i64,
    /// The dimension of the copy; `None` for a range of one index.
    dimension: Option<usize>,
}

impl<'c: 'a, 'a> View<'c, 'a> {
    /// Reads a `tensor.extract_slice`, or a `linalg.generic` that copies a tensor or such a slice.
    fn read(value: Value<'c, 'a>) -> Option<Self> {
        let op = ir::defining_op(value)?;
        if op::is(&op, ops::tensor::EXTRACT_SLICE) {
            return View::of_slice(op);
        }
        let nest = LoopNest::read(op)?;
        let ([input], Some(output)) = (nest.inputs(), nest.output()) else {
            return None;
        };
        if nest.reduces() || !nest.is_in_order(output) || nest.yielded != [input.element] {
            return None;
        }
        let source = ir::defined_by(input.value, ops::tensor::EXTRACT_SLICE).and_then(View::of_slice);
        source.or_else(|| View::whole(input.value))?.indexed(&input.forms, &nest.extents)
    }

    fn whole(tensor: Value<'c, 'a>) -> Option<Self> {
        let extents = types::extents(tensor.r#type())?;
        let range =
            |(d, size): (usize, &i64)| Range { offset: 0, size: *size, dimension: (*size != 1).then_some(d) };
        let ranges = extents.iter().enumerate().map(range).collect();
        Some(View { tensor, shape: extents, ranges })
    }

    fn of_slice(op: OperationRef<'c, 'a>) -> Option<Self> {
        let slice = static_slice(op, 1)?;
        let shape = types::shape(op.result(0).ok()?.r#type());
        // The slice keeps the order of dimensions, and may drop dimensions of one index.
        let mut dimensions = shape.iter().enumerate().filter(|(_, extent)| **extent != 1).map(|(d, _)| d);
        let range = |(offset, size): (&i64, &i64)| Range {
            offset: *offset,
            size: *size,
            dimension: if *size == 1 { None } else { dimensions.next() },
        };
        let ranges = slice.offsets.iter().zip(&slice.sizes).map(range).collect();
        Some(View { tensor: ir::operand_at(op, 0)?, shape, ranges })
    }

    /// The part that a loop nest copies, with its subscripts for the dimensions of this copy.
    fn indexed(self, subscripts: &[Affine], extents: &[i64]) -> Option<Self> {
        let ranges = self.ranges.iter().map(|range| {
            let Some(dimension) = range.dimension else {
                return Some(*range);
            };
            let subscript = subscripts.get(dimension)?;
            match subscript.as_constant() {
                Some(index) => Some(Range { offset: range.offset + index, size: 1, dimension: None }),
                None => {
                    let index = subscript.as_index().filter(|l| extents.get(*l) == Some(&range.size))?;
                    Some(Range { dimension: Some(index), ..*range })
                }
            }
        });
        Some(View { tensor: self.tensor, shape: extents.to_vec(), ranges: ranges.collect::<Option<_>>()? })
    }

    /// The subscripts of the tensor, as forms of the indices of a concatenation with extents `shape`, if the copy is inserted as
    /// `part`, which divides one dimension; `None` if the tensor is not divided in the same way.
    fn subscripts(&self, part: &Slice, divided: usize, shape: &[i64]) -> Option<Vec<Affine>> {
        // The copy and `part` have the same order of dimensions, and may drop dimensions of one index.
        let inserted = |sizes: &[i64]| -> Vec<usize> {
            (0..sizes.len()).filter(|d| sizes.get(*d) != Some(&1)).collect()
        };
        let (copied, written) = (inserted(&self.shape), inserted(&part.sizes));
        let range = (*part.offsets.get(divided)?, *part.sizes.get(divided)?);
        let is_complete = |d: usize| part.offsets.get(d) == Some(&0) && part.sizes.get(d) == shape.get(d);
        if !(0..shape.len()).all(|d| d == divided || is_complete(d)) {
            return None;
        }

        let mut free: BTreeSet<usize> = inserted(shape).into_iter().collect();
        let extents = types::shape(self.tensor.r#type());
        let subscripts = self.ranges.iter().zip(extents).enumerate().map(|(d, (own, extent))| {
            if extent == 1 {
                return Some(if shape.get(d) == Some(&1) { Affine::index(d) } else { Affine::default() });
            }
            let dimension = match own.dimension {
                Some(dimension) => *written.get(copied.iter().position(|d| *d == dimension)?)?,
                None => divided,
            };
            let expected = if dimension == divided { range } else { (0, extent) };
            let is_same = (own.offset, own.size) == expected && shape.get(dimension) == Some(&extent);
            (is_same && free.remove(&dimension)).then(|| Affine::index(dimension))
        });
        let subscripts: Vec<Affine> = subscripts.collect::<Option<_>>()?;
        free.is_empty().then_some(subscripts)
    }
}
