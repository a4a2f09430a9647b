// SPDX-License-Identifier: Apache-2.0
//! Operations on arrays as loop nests, for their fusion.

use crate::extents::size;
use crate::ir::linalg::{Fill, Generic, index_of};
use crate::ir::types::DYNAMIC;
use crate::ir::{self, maps, memref, ops, typed};
use crate::structure::Affine;
use melior::ir::block::BlockLike;
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
    /// The offset and size of each dimension, if the operand is a view of a part of the array; else empty.
    pub(super) part: Vec<(i64, i64)>,
    /// The subscripts of the operand, by loops.
    pub(super) forms: Vec<Affine>,
    pub(super) writes: bool,
    /// Whether a payload uses the element.
    pub(super) reads: bool,
}

impl<'c: 'a, 'a> Access<'c, 'a> {
    /// An operand, whose subscripts are given; `None` without [`extents`].
    fn of(operand: usize, value: Value<'c, 'a>, forms: Vec<Affine>) -> Option<Self> {
        let whole = |array: Value<'c, 'a>, part| Access {
            operand,
            array,
            part,
            forms: forms.clone(),
            writes: false,
            reads: false,
        };
        if extents(value)?.len() != forms.len() {
            return None;
        }
        let Some(view) = memref::Subview::of(value) else {
            return Some(whole(value, Vec::new()));
        };
        // Parts of an array that is allocated, such as the border and the interior of a padded one.
        let source = view.source().ok()?;
        let is_allocated =
            ir::definition(source).is_some_and(|(maker, _)| ir::name(maker) == ops::memref::ALLOC);
        match memref::part(view).filter(|(_, sizes)| is_allocated && sizes.len() == forms.len()) {
            Some((offsets, sizes)) => Some(whole(source, offsets.into_iter().zip(sizes).collect())),
            None => Some(whole(value, Vec::new())),
        }
    }

    /// The extents of the operand.
    pub(super) fn extents(&self) -> Option<Vec<Option<i64>>> {
        if self.part.is_empty() {
            extents(self.array)
        } else {
            Some(self.part.iter().map(|(_, size)| Some(*size)).collect())
        }
    }

    /// Whether the operand has all elements of the array along a dimension.
    pub(super) fn is_whole(&self, dimension: usize) -> bool {
        let Some((offset, size)) = self.part.get(dimension) else {
            return true;
        };
        let extents = extents(self.array).unwrap_or_default();
        *offset == 0 && extents.get(dimension) == Some(&Some(*size))
    }

    /// The dimension that a loop alone subscripts; `None` within if no dimension depends on the loop, `None` if one does in
    /// another way.
    pub(super) fn dimension(&self, l: usize) -> Option<Option<usize>> {
        let mut dimensions = self.forms.iter().enumerate();
        let found = dimensions.find(|(_, form)| form.indices().contains(&l));
        let Some((dimension, form)) = found else {
            return Some(None);
        };
        let is_only = dimensions.all(|(_, form)| !form.indices().contains(&l));
        (is_only && form.as_index() == Some(l)).then_some(Some(dimension))
    }
}

/// What an operation computes at each point of its loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It reduces nothing.
    Elementwise,
    /// It reduces the elements of an array, each read once.
    Reduction,
    /// It reduces the elements of windows of an array.
    Window,
    /// It reduces products of elements of several arrays, which are read again and again.
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
    /// The loops whose position the payload reads.
    indexed: HashSet<usize>,
    /// Operations on scalars of one point.
    operations: i64,
}

impl<'c: 'a, 'a> Member<'c, 'a> {
    /// `None` for other operations.
    pub(super) fn of(op: OperationRef<'c, 'a>) -> Option<Self> {
        if let Some(fill) = Fill::cast(op) {
            return Self::of_all(op, &[(1, fill.destination().ok()?, true)]);
        }
        if let Some(copy) = memref::Copy::cast(op) {
            let (source, target) = (copy.source().ok()?, copy.target().ok()?);
            return Self::of_all(op, &[(0, source, false), (1, target, true)]);
        }
        Self::of_generic(op, Generic::cast(op)?)
    }

    /// An operation that reads or writes each element of its operands: their positions, the arrays, and whether it writes them.
    fn of_all(op: OperationRef<'c, 'a>, operands: &[(usize, Value<'c, 'a>, bool)]) -> Option<Self> {
        let (_, first, _) = operands.first()?;
        let rank = extents(*first)?.len();
        let accesses = operands.iter().map(|(operand, array, writes)| {
            let forms = (0..rank).map(Affine::index).collect();
            let access = Access::of(*operand, *array, forms)?;
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

    fn of_generic(op: OperationRef<'c, 'a>, generic: Generic<'c, 'a>) -> Option<Self> {
        let inputs = *typed::segments(op).first()?;
        // A payload may access any element of an array from outside.
        let inner = ir::nested(op).into_iter();
        let mut values = inner.flat_map(|op| op.operands().collect::<Vec<_>>());
        if !values.all(|value| !value.r#type().is_mem_ref()) {
            return None;
        }
        // A kernel sums four products of bytes at once, from packed weights.
        let is_byte = |value: Value| {
            let kind = MemRefType::try_from(value.r#type());
            kind.is_ok_and(|kind| kind.element().to_string() == "i8")
        };
        let read = op.operands().take(inputs);
        let bytes = read.filter(|value| is_byte(*value)).count();
        let reduces = generic.reductions().contains(&true);
        if reduces && bytes >= 2 {
            return None;
        }
        let block = generic.body()?;
        let mut accesses = Vec::new();
        for ((operand, array), map) in op.operands().enumerate().zip(generic.indexing_maps()) {
            if !array.r#type().is_mem_ref() {
                continue;
            }
            let argument = block.argument(operand);
            accesses.push(Access {
                writes: operand >= inputs,
                reads: argument.is_ok_and(|own| !ir::users(own.into()).is_empty()),
                ..Access::of(operand, array, maps::forms(map)?)?
            });
        }
        let body = ir::operations(block);
        let mut member = Member {
            op,
            accesses,
            reductions: generic.reductions(),
            kind: Kind::Elementwise,
            indexed: body.iter().copied().filter_map(index_of).collect(),
            operations: body.into_iter().map(ir::work::of_scalars).sum(),
        };
        member.kind = member.own_kind()?;
        Some(member)
    }

    fn own_kind(&self) -> Option<Kind> {
        if !self.reductions.contains(&true) {
            return Some(Kind::Elementwise);
        }
        let subscripts = |access: &Access, l: usize| {
            matches!(access.dimension(l), Some(Some(_))) || self.extent(l) == Some(Some(1))
        };
        let loops = || 0..self.reductions.len();
        let mut inputs = self.accesses.iter().filter(|access| !access.writes);
        if inputs.any(|access| loops().all(|l| subscripts(access, l))) {
            return Some(Kind::Reduction);
        }
        let is_plain = |form: &Affine| form.as_index().is_some() || form.as_constant() == Some(0);
        let mut forms = self.accesses.iter().flat_map(|access| &access.forms);
        Some(if forms.all(is_plain) { Kind::Product } else { Kind::Window })
    }

    /// Operations on scalars of all points, where some loops have another extent.
    pub(super) fn work(&self, extents: &HashMap<usize, i64>) -> i64 {
        self.points(extents).saturating_mul(self.operations)
    }

    /// The points of all loops, where some have another extent.
    pub(super) fn points(&self, extents: &HashMap<usize, i64>) -> i64 {
        let loops = 0..self.reductions.len();
        let extent = |l: usize| extents.get(&l).copied().or(self.extent(l).flatten());
        let points = loops.map(|l| extent(l).unwrap_or(ESTIMATE));
        points.fold(1, i64::saturating_mul)
    }

    /// Whether it reduces combinations of elements of several arrays.
    pub(super) fn is_contraction(&self) -> bool {
        let read = self.accesses.iter().filter(|a| a.reads && !a.writes);
        matches!(self.kind, Kind::Window | Kind::Product) && read.count() > 1
    }

    /// The extent of a loop, by an array that it subscripts; `None` within if it is dynamic.
    pub(super) fn extent(&self, l: usize) -> Option<Option<i64>> {
        self.accesses.iter().find_map(|access| {
            let dimension = access.dimension(l).flatten()?;
            access.extents()?.get(dimension).copied()
        })
    }

    /// Whether each point accesses another element of an array, and all are accessed.
    pub(super) fn covers(&self, access: &Access) -> bool {
        let subscripts =
            |l: usize| matches!(access.dimension(l), Some(Some(_))) || self.extent(l) == Some(Some(1));
        let is_plain = |form: &Affine| form.as_index().is_some() || form.as_constant() == Some(0);
        (0..self.reductions.len()).all(subscripts)
            && access.forms.iter().all(is_plain)
            && (0..access.forms.len()).all(|d| access.is_whole(d))
    }

    /// Whether the iterations of a loop can be computed apart from each other, on parts of the arrays. The payload may read their positions
    /// only if `has_positions`.
    pub(super) fn is_divisible(&self, l: usize, has_positions: bool) -> bool {
        self.reductions.get(l) == Some(&false) && (has_positions || !self.indexed.contains(&l))
    }
}

/// An estimate of an extent that is not known, beside those of rows.
pub(super) const ESTIMATE: i64 = 256;

/// The extents of an array; `None` for arrays with dynamic strides that have gaps.
pub(super) fn extents(array: Value) -> Option<Vec<Option<i64>>> {
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

/// Bytes of an element of an array.
pub(super) fn element_bytes(array: Value) -> Option<i64> {
    let kind = MemRefType::try_from(array.r#type()).ok()?;
    let bytes = size::element_bytes(&kind.element().to_string())?;
    i64::try_from(bytes).ok()
}
