// SPDX-License-Identifier: Apache-2.0
//! Models operations on arrays as loop nests for fusion.

use crate::extents::size;
use crate::ir::generic::{LoopNest, Operand};
use crate::ir::linalg::{Fill, index_of};
use crate::ir::types::DYNAMIC;
use crate::ir::{self, memref, ops, types};
use crate::structure::Affine;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{ShapedTypeLike, TypeLike, Value, ValueLike};
use std::collections::{HashMap, HashSet};

/// An array that an operation reads or writes.
#[derive(Clone)]
pub(super) struct Access<'c, 'a> {
    /// The number of the operand.
    pub(super) operand: usize,
    pub(super) array: Value<'c, 'a>,
    /// The offset and size along each dimension if the operand is a slice of the array; empty if it is the full array.
    pub(super) part: Vec<(i64, i64)>,
    /// The extents of the array; `None` for dynamic extents.
    pub(super) shape: Vec<Option<i64>>,
    /// The extents of the operand; `None` for dynamic extents.
    pub(super) extents: Vec<Option<i64>>,
    /// The subscripts of the operand, as functions of the loop indices.
    pub(super) forms: Vec<Affine>,
    pub(super) writes: bool,
    /// Whether the payload uses the element.
    pub(super) reads: bool,
}

impl<'c: 'a, 'a> Access<'c, 'a> {
    /// Creates the access of an operand with its subscripts; `None` if the operand has no [`shape`].
    fn new(operand: usize, value: Value<'c, 'a>, forms: Vec<Affine>) -> Option<Self> {
        let extents = shape(value).filter(|extents| extents.len() == forms.len())?;
        let mut access = Access {
            operand,
            array: value,
            part: Vec::new(),
            shape: extents.clone(),
            extents,
            forms,
            writes: false,
            reads: false,
        };
        // The operand may be a slice of an allocated array, such as the border or the interior of a padded array.
        let source =
            memref::Subview::of(value).and_then(|view| Some((view.source().ok()?, memref::part(view)?)));
        if let Some((source, (offsets, sizes))) = source
            && ir::defined_by(source, ops::memref::ALLOC).is_some()
            && sizes.len() == access.forms.len()
        {
            access.array = source;
            access.shape = shape(source)?;
            access.extents = sizes.iter().copied().map(Some).collect();
            access.part = offsets.into_iter().zip(sizes).collect();
        }
        Some(access)
    }

    /// Whether the operand contains all elements of the array along a dimension.
    pub(super) fn is_whole(&self, dimension: usize) -> bool {
        let Some((offset, size)) = self.part.get(dimension) else {
            return true;
        };
        *offset == 0 && self.shape.get(dimension) == Some(&Some(*size))
    }

    /// Whether each subscript is a loop index or 0.
    pub(super) fn is_plain(&self) -> bool {
        self.forms.iter().all(|form| form.as_index().is_some() || form.as_constant() == Some(0))
    }

    /// Returns the dimension whose subscript is the index of a loop: `Some(None)` if no subscript depends on the loop, `None` if a
    /// subscript depends on it in another way.
    pub(super) fn dimension(&self, l: usize) -> Option<Option<usize>> {
        let mut dimensions = self.forms.iter().enumerate();
        let first = dimensions.find(|(_, form)| form.indices().contains(&l));
        let Some((dimension, form)) = first else {
            return Some(None);
        };
        let is_only = dimensions.all(|(_, form)| !form.indices().contains(&l));
        (is_only && form.as_index() == Some(l)).then_some(Some(dimension))
    }
}

/// The kind of computation at each point of the loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// No reduction.
    Elementwise,
    /// A reduction of the elements of an array, each of which is read once.
    Reduction,
    /// A reduction of the elements of windows of an array.
    Window,
    /// A reduction of products of elements of several arrays, which are read repeatedly.
    Product,
}

/// A `linalg.generic`, `linalg.fill` or `memref.copy` on arrays.
#[derive(Clone)]
pub(super) struct Member<'c, 'a> {
    pub(super) op: OperationRef<'c, 'a>,
    pub(super) accesses: Vec<Access<'c, 'a>>,
    /// Whether each loop is a reduction.
    pub(super) reductions: Vec<bool>,
    pub(super) kind: Kind,
    /// The loops whose indices the payload reads.
    indexed: HashSet<usize>,
    /// The number of scalar operations of one point.
    operations: i64,
}

impl<'c: 'a, 'a> Member<'c, 'a> {
    /// `None` for other operations.
    pub(super) fn from_op(op: OperationRef<'c, 'a>) -> Option<Self> {
        if let Some(fill) = Fill::cast(op) {
            return Self::of_all(op, &[(1, fill.destination().ok()?, true)]);
        }
        if let Some(copy) = memref::Copy::cast(op) {
            let (source, target) = (copy.source().ok()?, copy.target().ok()?);
            return Self::of_all(op, &[(0, source, false), (1, target, true)]);
        }
        Self::of_nest(LoopNest::read(op)?)
    }

    /// Models an operation that reads or writes each element of its operands. `operands` has the number of each operand, the array, and
    /// whether the operation writes it.
    fn of_all(op: OperationRef<'c, 'a>, operands: &[(usize, Value<'c, 'a>, bool)]) -> Option<Self> {
        let (_, first, _) = operands.first()?;
        let rank = shape(*first)?.len();
        let accesses = operands.iter().map(|(operand, array, writes)| {
            let forms = (0..rank).map(Affine::index).collect();
            let access = Access::new(*operand, *array, forms)?;
            Some(Access { writes: *writes, reads: !writes, ..access })
        });
        Some(Member {
            op,
            accesses: accesses.collect::<Option<_>>()?,
            reductions: vec![false; rank],
            kind: Kind::Elementwise,
            indexed: HashSet::new(),
            operations: 1,
        })
    }

    fn of_nest(nest: LoopNest<'c, 'a>) -> Option<Self> {
        // A payload that uses an array from outside could access any of its elements.
        let inner = ir::nested(nest.op).into_iter();
        let mut values = inner.flat_map(|op| op.operands().collect::<Vec<_>>());
        if !values.all(|value| !value.r#type().is_mem_ref()) {
            return None;
        }
        // Contractions of bytes are not fused: their kernels sum four products per instruction, with packed weights.
        let is_byte =
            |input: &&Operand| input.array().is_some_and(|kind| types::bits(kind.element()) == Some(8));
        if nest.reduces() && nest.inputs().iter().filter(is_byte).count() >= 2 {
            return None;
        }
        let arrays = nest.operands.iter().enumerate().filter(|(_, operand)| operand.array().is_some());
        let accesses = arrays.map(|(number, operand)| {
            let access = Access::new(number, operand.value, operand.forms.clone())?;
            Some(Access { writes: number >= nest.inputs, reads: operand.is_read(), ..access })
        });
        let mut member = Member {
            op: nest.op,
            accesses: accesses.collect::<Option<_>>()?,
            kind: Kind::Elementwise,
            indexed: nest.payload.iter().copied().filter_map(index_of).collect(),
            // The terminator counts as one operation, the store.
            operations: 1 + nest.payload.iter().copied().map(ir::work::of_scalars).sum::<i64>(),
            reductions: nest.reductions,
        };
        member.kind = member.classify()?;
        Some(member)
    }

    fn classify(&self) -> Option<Kind> {
        if !self.reductions.contains(&true) {
            return Some(Kind::Elementwise);
        }
        if self.inputs().any(|access| self.has_all_loops(access)) {
            return Some(Kind::Reduction);
        }
        let mut accesses = self.accesses.iter();
        Some(if accesses.all(Access::is_plain) { Kind::Product } else { Kind::Window })
    }

    /// Returns the operands that the operation only reads.
    pub(super) fn inputs(&self) -> impl Iterator<Item = &Access<'c, 'a>> {
        self.accesses.iter().filter(|access| !access.writes)
    }

    /// Returns the only array that the operation writes.
    pub(super) fn written(&self) -> Option<&Access<'c, 'a>> {
        let mut written = self.accesses.iter().filter(|access| access.writes);
        let access = written.next()?;
        written.next().is_none().then_some(access)
    }

    /// The number of scalar operations of all points; `extents` overrides the extents of some loops.
    pub(super) fn work(&self, extents: &HashMap<usize, i64>) -> i64 {
        self.points(extents).saturating_mul(self.operations)
    }

    /// The number of points of all loops; `extents` overrides the extents of some loops.
    pub(super) fn points(&self, extents: &HashMap<usize, i64>) -> i64 {
        let loops = 0..self.reductions.len();
        let extent = |l: usize| extents.get(&l).copied().or(self.extent(l).flatten());
        loops.map(|l| extent(l).unwrap_or(ESTIMATE)).fold(1, i64::saturating_mul)
    }

    /// Whether the operation reduces combinations of elements of several arrays.
    pub(super) fn is_contraction(&self) -> bool {
        let read = self.accesses.iter().filter(|a| a.reads && !a.writes);
        matches!(self.kind, Kind::Window | Kind::Product) && read.count() > 1
    }

    /// Returns the extent of a loop, from an array that its index subscripts: `Some(None)` if it is dynamic, `None` if there is no such
    /// array.
    pub(super) fn extent(&self, l: usize) -> Option<Option<i64>> {
        self.accesses.iter().find_map(|access| {
            let dimension = access.dimension(l).flatten()?;
            access.extents.get(dimension).copied()
        })
    }

    /// Whether the index of each loop with several iterations subscripts an operand.
    fn has_all_loops(&self, access: &Access) -> bool {
        let subscripts = |l| matches!(access.dimension(l), Some(Some(_))) || self.extent(l) == Some(Some(1));
        (0..self.reductions.len()).all(subscripts)
    }

    /// Whether each point accesses a different element of an array, and all elements are accessed.
    pub(super) fn covers(&self, access: &Access) -> bool {
        self.has_all_loops(access) && access.is_plain() && (0..access.forms.len()).all(|d| access.is_whole(d))
    }

    /// Whether the iterations of a loop can be computed independently, on slices of the arrays. The payload may read the loop index only if
    /// `has_positions`.
    pub(super) fn is_divisible(&self, l: usize, has_positions: bool) -> bool {
        self.reductions.get(l) == Some(&false) && (has_positions || !self.indexed.contains(&l))
    }
}

/// The estimate of a dynamic extent other than the rows.
pub(super) const ESTIMATE: i64 = 256;

/// Returns the extents of an array; `None` for an array with dynamic strides that is not contiguous.
pub(super) fn shape(array: Value) -> Option<Vec<Option<i64>>> {
    let kind = MemRefType::try_from(array.r#type()).ok()?;
    let has_static_strides = || {
        let (strides, _) = kind.strides_and_offset();
        strides.iter().all(|stride| *stride >= 0)
    };
    if !kind.affine_map().is_identity() && !has_static_strides() {
        return None;
    }
    let extents = memref::extents(array.r#type()).into_iter();
    Some(extents.map(|n| (n != DYNAMIC).then_some(n)).collect())
}

/// Returns the bytes of an element of an array.
pub(super) fn element_bytes(array: Value) -> Option<i64> {
    let kind = MemRefType::try_from(array.r#type()).ok()?;
    let bytes = size::element_bytes(kind.element())?;
    i64::try_from(bytes).ok()
}
