// SPDX-License-Identifier: Apache-2.0
//! Operations on arrays that the threads of a GPU block may compute cooperatively.

use super::body::Combine;
use super::contraction::is_tiled;
use crate::extents::size;
use crate::ir::generic::LoopNest;
use crate::ir::linalg::{Fill, index_of};
use crate::ir::operator::Operator;
use crate::ir::{Builder, memref, types};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Attribute, Type, Value, ValueLike};
use skript_symbolic::Affine;

/// Whether the threads of a block may compute an operation cooperatively: it is a fill, a copy, elementwise, or a reduction that may be
/// reassociated.
pub(super) fn is_shared(op: OperationRef) -> bool {
    Work::from_op(op).is_some()
}

/// The combining operation of a reduction, with its identity.
pub(super) struct Combination<'c> {
    operator: Operator<'c>,
    pub(super) identity: Attribute<'c>,
}

/// An operation on arrays.
pub(super) struct Work<'c, 'a> {
    pub(super) op: OperationRef<'c, 'a>,
    pub(super) reductions: Vec<bool>,
    /// The array of each operand with its subscripts as functions of the loop indices; `None` for a scalar.
    pub(super) operands: Vec<Option<(Value<'c, 'a>, Vec<Affine>)>>,
    pub(super) inputs: usize,
    pub(super) combination: Option<Combination<'c>>,
}

impl<'c: 'a, 'a> Work<'c, 'a> {
    pub(super) fn from_op(op: OperationRef<'c, 'a>) -> Option<Self> {
        let whole = |array: Value<'c, 'a>| {
            let rank = memref::extents(array.r#type()).len();
            (array, (0..rank).map(Affine::index).collect::<Vec<_>>())
        };
        let elementwise = |operands: Vec<Option<(Value<'c, 'a>, Vec<Affine>)>>, rank| Work {
            op,
            reductions: vec![false; rank],
            operands,
            inputs: 1,
            combination: None,
        };
        let rank = |array: Value<'c, 'a>| memref::extents(array.r#type()).len();
        if let Some(fill) = Fill::cast(op) {
            let target = fill.destination().ok()?;
            return Some(elementwise(vec![None, Some(whole(target))], rank(target)));
        }
        if let Some(copy) = memref::Copy::cast(op) {
            let (from, to) = (copy.source().ok()?, copy.target().ok()?);
            return Some(elementwise(vec![Some(whole(from)), Some(whole(to))], rank(to)));
        }
        let nest = LoopNest::read(op)?;
        let is_plain = |op: &OperationRef| {
            op.region_count() == 0 && skript_dialect::op::is_pure(op) || index_of(*op).is_some()
        };
        let is_simple = |form: &Affine| form.as_index().is_some() || form.as_constant().is_some();
        let mut forms = nest.operands.iter().flat_map(|operand| &operand.forms);
        if !nest.payload.iter().all(is_plain) || !forms.all(is_simple) {
            return None;
        }
        let combination = if nest.reduces() { Some(Combination::from_nest(&nest)?) } else { None };
        let operands = nest.operands.into_iter().map(|operand| {
            let is_array = operand.array().is_some();
            is_array.then_some((operand.value, operand.forms))
        });
        let work = Work {
            op,
            operands: operands.collect(),
            reductions: nest.reductions,
            inputs: nest.inputs,
            combination,
        };
        // Each loop has an extent.
        (0..work.reductions.len()).all(|l| work.place(l).is_some()).then_some(work)
    }

    /// Returns an array and its dimension that the loop index subscripts.
    pub(super) fn place(&self, l: usize) -> Option<(Value<'c, 'a>, usize)> {
        self.operands.iter().flatten().find_map(|(array, forms)| {
            let dimension = forms.iter().position(|form| form.as_index() == Some(l));
            Some((*array, dimension?))
        })
    }

    /// The number of points; dynamic extents are estimated.
    pub(super) fn points(&self) -> i64 {
        let extent = |l: usize| {
            let (array, dimension) = self.place(l)?;
            memref::extents(array.r#type()).get(dimension).copied()
        };
        let loops = 0..self.reductions.len();
        let extents = loops.map(|l| extent(l).filter(|n| *n >= 0).unwrap_or(ESTIMATE));
        extents.fold(1, i64::saturating_mul)
    }

    /// The number of results or an upper bound of it; `None` if no upper bound is known.
    pub(super) fn results(&self) -> Option<i64> {
        let loops = self.reductions.iter().enumerate().filter(|(_, reduces)| !**reduces);
        self.max_iterations(loops.map(|(l, _)| l))
    }

    /// The number of iterations of loops or an upper bound of it; `None` if no upper bound is known.
    pub(super) fn max_iterations(&self, mut loops: impl Iterator<Item = usize>) -> Option<i64> {
        loops.try_fold(1_i64, |all, l| {
            let (array, dimension) = self.place(l)?;
            let extent = i64::try_from(size::extent(array, dimension)?).ok()?;
            Some(all.saturating_mul(extent))
        })
    }

    /// Whether the operation is a contraction that blocks compute in tiles.
    pub(super) fn is_contraction(&self) -> bool {
        self.inputs > 1 && self.reductions.contains(&true) && is_tiled(self.op)
    }

    /// Whether the operation accesses the buffer of an array.
    pub(super) fn uses(&self, array: Value<'c, 'a>) -> bool {
        let root = memref::root_of(array);
        let mut arrays = self.operands.iter().flatten();
        arrays.any(|(array, _)| memref::root_of(*array) == root)
    }

    /// The type of the elements that the operation writes.
    pub(super) fn element(&self) -> Type<'c> {
        let target = self.operands.get(self.inputs).and_then(Option::as_ref);
        let target = target.unwrap_or_else(|| unreachable!("internal compiler error: nothing is written"));
        types::element_or_self(target.0.r#type())
    }
}

/// The estimate of a dynamic extent.
const ESTIMATE: i64 = 1024;

impl<'c> Combination<'c> {
    /// Returns the combining operation of the only result if the reduction may be reassociated.
    fn from_nest(nest: &LoopNest<'c, '_>) -> Option<Self> {
        let element = nest.output()?.element.r#type();
        let combine = Combine::from_operator(Operator::from_op(nest.accumulation()?.op), element)?;
        let is_free = !combine.rounds(element) || combine.operator.is_fast("reassoc");
        is_free.then(|| Combination { identity: combine.neutral(element), operator: combine.operator })
    }

    pub(super) fn combine<'a>(
        &self,
        one: Value<'c, 'a>,
        other: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Value<'c, 'a>
    where
        'c: 'a,
    {
        self.operator.apply(at, &[one, other], one.r#type())
    }
}
