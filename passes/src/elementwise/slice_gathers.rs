// SPDX-License-Identifier: Apache-2.0
//! `skript-slice-gathers`: computes reductions over gathered slices in a loop over the slices.
//!
//! In `y[i,j] += x[i,k] * w[at[i],j,k]`, the index `at[i]` selects a matrix. As an element access at a computed index, the
//! read is scalar. In a loop over i it is a slice of `w`, and the rest is a product of a matrix and a vector, for which there
//! are kernels.
//!
//! Requires: `linalg.generic` on tensors with one result; static extents, except those of the loops over slices; a `tensor.extract`
//! whose subscripts are complete loops, or values that depend only on parallel loops and on the first reduction loops. Guarantees: the
//! new `linalg.generic` reads slices by loop indices.

use super::hoist_invariants::tensor_nest;
use crate::ir::copy::Copier;
use crate::ir::generic::{Access, LoopNest, Operand, rebuild};
use crate::ir::linalg::index_of;
use crate::ir::shape::Slice;
use crate::ir::walk::named;
use crate::ir::{self, Builder, ops, scf, types};
use crate::structure::Affine;
use melior::Error;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::{Dialect, Pass, PassError, op};
use std::collections::BTreeSet;

pub(crate) const PASS: Pass = Pass {
    flag: "skript-slice-gathers",
    summary: "compute reductions over gathered slices in a loop over the slices",
    dependent_dialects: &[Dialect::Arith, Dialect::Linalg, Dialect::Scf, Dialect::Tensor],
    run: |root, _, rewriter| {
        let mut pending = named(root, ops::linalg::GENERIC);
        while let Some(op) = pending.pop() {
            if let Some(gathers) = Gathers::new(op) {
                pending.push(gathers.replace(&Builder::before(rewriter.context(), op)?)?);
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Minimum number of points per slice: the loop over slices runs on one thread, and its kernels on all.
const MIN_POINTS: i64 = 4096;
/// Minimum number of results per slice, which threads and vectors share.
const MIN_RESULTS: i64 = 8;

/// A `linalg.generic` that reduces elements of gathered slices.
struct Gathers<'c, 'a> {
    nest: LoopNest<'c, 'a>,
    reads: Vec<Read<'c, 'a>>,
    /// The loops that select slices.
    outer: BTreeSet<usize>,
}

/// A `tensor.extract` of the payload, and the subscript of each dimension of its tensor.
struct Read<'c, 'a> {
    op: OperationRef<'c, 'a>,
    subscripts: Vec<Subscript<'c, 'a>>,
}

#[derive(Clone, Copy)]
enum Subscript<'c, 'a> {
    /// The index of a loop over the complete dimension.
    Loop(usize),
    /// A value that depends only on the outer loops.
    Value(Value<'c, 'a>),
}

impl<'c: 'a, 'a> Gathers<'c, 'a> {
    fn new(op: OperationRef<'c, 'a>) -> Option<Self> {
        let nest = tensor_nest(op)?;
        let written = nest.output()?.indices()?;
        if !nest.reduces() || !nest.loops(false).all(|l| written.contains(&l)) {
            return None;
        }
        let extracts = extracts(&nest);
        if extracts.iter().flat_map(|op| subscripts(*op)).any(|(_, extent)| extent < 0) {
            return None;
        }
        let outer: BTreeSet<usize> = extracts
            .iter()
            .flat_map(|op| subscripts(*op))
            .filter(|(value, extent)| complete_loop(&nest, *value, *extent).is_none())
            .flat_map(|(value, _)| nest.loops_of(value))
            .collect();
        let reads: Vec<Read> =
            extracts.into_iter().map(|op| Read::new(&nest, op, &outer)).collect::<Option<_>>()?;

        let is_reduction = |l: &usize| nest.reductions.get(*l) == Some(&true);
        let slices_reduction =
            reads.iter().flat_map(|read| &read.subscripts).any(|subscript| match subscript {
                Subscript::Loop(l) => is_reduction(l),
                Subscript::Value(_) => false,
            });
        let is_sliced = |operand: &Operand<'c, 'a>| {
            operand.forms.iter().zip(&operand.shape).all(|(form, extent)| match form.as_index() {
                Some(l) => *extent >= 0 || outer.contains(&l),
                None => *extent >= 0 && !form.indices().iter().any(|l| outer.contains(l)),
            })
        };
        // Loops over slices are outside, so sums keep their order only if reductions among them are the first ones.
        let reductions = nest.loops(true).map(|l| outer.contains(&l));
        if outer.is_empty()
            || !reductions.is_sorted_by(|one, next| *one || !*next)
            || !slices_reduction
            || !nest.operands.iter().all(is_sliced)
        {
            return None;
        }
        let gathers = Gathers { nest, reads, outer };
        gathers.is_profitable().then_some(gathers)
    }

    fn is_profitable(&self) -> bool {
        let points = |with_reductions: bool| {
            let is_counted = |l: &usize| with_reductions || self.nest.reductions.get(*l) == Some(&false);
            let inner =
                (0..self.nest.reductions.len()).filter(|l| !self.outer.contains(l)).filter(is_counted);
            inner.filter_map(|l| self.nest.extent(l)).fold(1, i64::saturating_mul)
        };
        points(true) >= MIN_POINTS && points(false) >= MIN_RESULTS
    }

    /// Replaces the operation by the loops; returns the operation inside.
    fn replace(&self, at: &Builder<'c, 'a>) -> Result<OperationRef<'c, 'a>, PassError> {
        let result = self.nest.output().ok_or(Error::OperationBuild)?.value;
        let outer: Vec<usize> = self.outer.iter().copied().collect();
        let mut inside = None;
        let value = self.loops(&outer, &mut Vec::new(), result, &mut inside, at)?;
        ir::replace_uses(self.nest.op.result(0)?.into(), value);
        ir::erase(self.nest.op);
        Ok(inside.ok_or(Error::OperationBuild)?)
    }

    /// Emits the remaining outer loops, and returns the result after them.
    fn loops(
        &self,
        remaining: &[usize],
        indices: &mut Vec<(usize, Value<'c, 'a>)>,
        result: Value<'c, 'a>,
        inside: &mut Option<OperationRef<'c, 'a>>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let Some((l, remaining)) = remaining.split_first() else {
            return self.slice(indices, result, inside, at);
        };
        let extent = match self.nest.extent(*l) {
            Some(extent) => at.idx(extent),
            None => {
                let (tensor, dimension) = self.nest.place(*l).ok_or(Error::OperationBuild)?;
                at.extent(tensor, ir::signed(dimension))?
            }
        };
        scf::fold(at, [at.idx(0), extent, at.idx(1)], result, |body, index, carried| {
            indices.push((*l, index));
            self.loops(remaining, indices, carried, inside, body)
        })
    }

    /// Emits the reduction of one slice into its part of the result.
    fn slice(
        &self,
        indices: &[(usize, Value<'c, 'a>)],
        result: Value<'c, 'a>,
        inside: &mut Option<OperationRef<'c, 'a>>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let kept: Vec<usize> = (0..self.nest.reductions.len()).filter(|l| !self.outer.contains(l)).collect();
        let slice_of = |operand: &Operand<'c, 'a>| Slice {
            indices: operand.forms.iter().map(|form| index_value(indices, form.as_index()?)).collect(),
        };
        let access = |operand: &Operand<'c, 'a>, value| {
            let slice = slice_of(operand);
            let whole = operand.forms.iter().zip(&slice.indices).filter(|(_, index)| index.is_none());
            let forms = whole.map(|(form, _)| renumbered(form, &kept, &self.nest)).collect::<Option<_>>();
            Ok::<_, Error>(Access(slice.extract(value, at)?, forms.ok_or(Error::OperationBuild)?))
        };

        let gathered: Vec<Value> =
            self.reads.iter().map(|read| read.op.result(0).map(Value::from)).collect::<Result<_, _>>()?;
        let needed = self.nest.needed(self.nest.yielded.iter().copied(), &gathered);
        let (mut operands, mut elements) = (Vec::new(), Vec::new());
        for operand in self.nest.inputs() {
            let defines_extent = operand.forms.iter().flat_map(Affine::indices).any(|l| kept.contains(&l));
            if defines_extent || is_used(operand.element, &needed, &self.nest.yielded) {
                operands.push(access(operand, operand.value)?);
                elements.push(operand.element);
            }
        }
        for (read, element) in self.reads.iter().zip(gathered) {
            operands.push(self.gathered(read, indices, &kept, at)?);
            elements.push(element);
        }
        let output = self.nest.output().ok_or(Error::OperationBuild)?;
        operands.push(access(output, result)?);
        elements.push(output.element);
        let reductions: Vec<bool> =
            kept.iter().filter_map(|l| self.nest.reductions.get(*l)).copied().collect();
        let op = rebuild(at, &self.nest, &operands, &reductions, |body, new| {
            let mut copier = Copier::from_pairs(&elements, new);
            self.copy(&needed, &mut copier, body, &|l, to| match kept.iter().position(|own| *own == l) {
                Some(position) => to.loop_index(position),
                None => index_value(indices, l).ok_or(Error::OperationBuild),
            })?;
            Ok::<_, Error>(self.nest.yielded.iter().map(|value| copier.get(*value)).collect())
        })?;
        *inside = Some(op);
        slice_of(output).insert(ir::result(op)?, result, at)
    }

    /// The slice of a gathered tensor, with the loops as its subscripts. Its subscripts are computed before the loops over
    /// the slice, which have at least one iteration each.
    fn gathered(
        &self,
        read: &Read<'c, 'a>,
        indices: &[(usize, Value<'c, 'a>)],
        kept: &[usize],
        at: &Builder<'c, 'a>,
    ) -> Result<Access<'c, 'a>, Error> {
        let values: Vec<Value> = read
            .subscripts
            .iter()
            .filter_map(|subscript| match subscript {
                Subscript::Value(value) => Some(*value),
                Subscript::Loop(_) => None,
            })
            .collect();
        let needed = self.nest.needed(values.iter().copied(), &[]);
        let mut copier = Copier::new();
        for operand in self.nest.inputs() {
            if is_used(operand.element, &needed, &values) {
                copier.set(operand.element, self.element(operand, indices, at)?);
            }
        }
        self.copy(&needed, &mut copier, at, &|l, _| index_value(indices, l).ok_or(Error::OperationBuild))?;
        let (mut slice, mut forms) = (Slice { indices: Vec::new() }, Vec::new());
        for subscript in &read.subscripts {
            slice.indices.push(match subscript {
                Subscript::Value(value) => Some(copier.get(*value)),
                Subscript::Loop(l) => {
                    forms.extend(renumbered(&Affine::index(*l), kept, &self.nest));
                    None
                }
            });
        }
        Ok(Access(slice.extract(read.op.operand(0)?, at)?, forms))
    }

    /// Reads an element that depends only on the outer loops.
    fn element(
        &self,
        operand: &Operand<'c, 'a>,
        indices: &[(usize, Value<'c, 'a>)],
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let kind = operand.value.r#type();
        if types::extents(kind).is_none() {
            return Ok(operand.value);
        }
        let subscripts = operand.forms.iter().map(|form| match form.as_constant() {
            Some(position) => Some(at.idx(position)),
            None => index_value(indices, form.as_index()?),
        });
        let subscripts: Vec<Value> = subscripts.collect::<Option<_>>().ok_or(Error::OperationBuild)?;
        let operands = [&[operand.value][..], &subscripts].concat();
        at.value(ops::tensor::EXTRACT, &operands, &[], types::element_or_self(kind))
    }

    /// Copies operations of the payload; `index` returns the index of a loop.
    fn copy(
        &self,
        operations: &[OperationRef<'c, 'a>],
        copier: &mut Copier<'c, 'a>,
        to: &Builder<'c, 'a>,
        index: &dyn Fn(usize, &Builder<'c, 'a>) -> Result<Value<'c, 'a>, Error>,
    ) -> Result<(), Error> {
        for op in operations {
            copier.copy(*op, &to.with_location(op.location()), &mut |copier, op, to| {
                let Some(l) = index_of(op) else { return Ok(false) };
                copier.set(op.result(0)?, index(l, to)?);
                Ok(true)
            })?;
        }
        Ok(())
    }
}

impl<'c: 'a, 'a> Read<'c, 'a> {
    /// Reads the subscripts; `None` if one of them is neither a complete loop nor a value of the outer loops.
    fn new(nest: &LoopNest<'c, 'a>, op: OperationRef<'c, 'a>, outer: &BTreeSet<usize>) -> Option<Self> {
        let subscripts = subscripts(op).into_iter().map(|(value, extent)| {
            match complete_loop(nest, value, extent).filter(|l| !outer.contains(l)) {
                Some(l) => Some(Subscript::Loop(l)),
                None => nest.loops_of(value).is_subset(outer).then_some(Subscript::Value(value)),
            }
        });
        Some(Read { op, subscripts: subscripts.collect::<Option<_>>()? })
    }
}

/// The `tensor.extract` operations whose elements the payload combines, last one first; not those that only compute
/// subscripts of others.
fn extracts<'c: 'a, 'a>(nest: &LoopNest<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let (mut extracts, mut known) = (Vec::new(), Vec::new());
    for op in nest.payload.iter().rev().filter(|op| op::is(*op, ops::tensor::EXTRACT)) {
        if nest.needed(nest.yielded.iter().copied(), &known).contains(op) {
            known.extend(op.results().map(Value::from));
            extracts.push(*op);
        }
    }
    extracts
}

/// The subscripts of a `tensor.extract`, each with the extent of its dimension.
fn subscripts<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Vec<(Value<'c, 'a>, i64)> {
    let shape = op.operand(0).map(|source| types::shape(source.r#type())).into_iter().flatten();
    op.operands().skip(1).zip(shape).collect()
}

/// The loop whose index a subscript is, if the loop runs over the complete dimension.
fn complete_loop<'c: 'a, 'a>(nest: &LoopNest<'c, 'a>, value: Value<'c, 'a>, extent: i64) -> Option<usize> {
    ir::defining_op(value).and_then(index_of).filter(|l| nest.extent(*l) == Some(extent))
}

fn is_used<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    operations: &[OperationRef<'c, 'a>],
    results: &[Value<'c, 'a>],
) -> bool {
    results.contains(&value) || operations.iter().any(|op| op.operands().any(|operand| operand == value))
}

/// The index of an outer loop; `None` for other loops.
fn index_value<'c: 'a, 'a>(indices: &[(usize, Value<'c, 'a>)], l: usize) -> Option<Value<'c, 'a>> {
    indices.iter().find(|(outer, _)| *outer == l).map(|(_, value)| *value)
}

/// A form of the remaining loops by their new numbers.
fn renumbered(form: &Affine, kept: &[usize], nest: &LoopNest) -> Option<Affine> {
    let position = |l| kept.iter().position(|own| *own == l);
    let numbers: Vec<Affine> =
        (0..nest.reductions.len()).map(|l| position(l).map_or_else(Affine::default, Affine::index)).collect();
    form.substitute(&numbers, &nest.extents)
}
