// SPDX-License-Identifier: Apache-2.0
//! `skript-factor-sums`: computes a sum along several loops as a sum of sums.
//!
//! The interpolation of an image in two dimensions is a sum of weighted elements, `Σᵢ Σⱼ u(y, i) · v(x, j) · image[row(y, i), column(x, j)]`.
//! The sum along j depends on the row, but not on y and i separately. Therefore, `t[r, x] = Σⱼ v(x, j) · image[r, column(x, j)]` is
//! computed once for each row of the image. The result is `Σᵢ u(y, i) · t[row(y, i), x]`, which reads rows of t in order.
//!
//! The results differ by rounding, because a weight multiplies a sum instead of each of its summands. If a sum along j overflows, the
//! result may be infinite or NaN even if the original sum is finite because of the weights along i.
//!
//! Requires: static extents, weights and subscripts that only depend on positions, sums that may be reassociated. The pass
//! compares the numbers of accesses; `t` has at most as many elements as the result.

use super::hoist_invariants::tensor_nest;
use crate::ir::arith::may_reorder;
use crate::ir::copy::{Copier, with_operands};
use crate::ir::generic::{Access, LoopNest, generic};
use crate::ir::linalg::index_of;
use crate::ir::walk::named;
use crate::ir::{self, Builder, ops, types};
use crate::structure::Affine;
use melior::Error;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Type, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::{Dialect, Pass, PassError, op};
use skript_semantics::Scalar;
use std::collections::BTreeSet;

pub(crate) const PASS: Pass = Pass {
    flag: "skript-factor-sums",
    summary: "compute sums of products along several loops as sums of sums",
    dependent_dialects: &[Dialect::Arith, Dialect::Linalg, Dialect::Tensor],
    run: |root, _, rewriter| {
        let mut pending = named(root, ops::linalg::GENERIC);
        while let Some(op) = pending.pop() {
            let Some(sum) = Sum::new(op) else { continue };
            if let Some(split) = sum.best_split() {
                pending.push(sum.apply(&split, &Builder::before(rewriter.context(), op)?)?);
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// The cost of an access at a computed subscript, relative to an access to consecutive elements.
const GATHER: u64 = 4;

/// A `linalg.generic` that sums an element of a tensor times functions of positions.
struct Sum<'c, 'a> {
    nest: LoopNest<'c, 'a>,
    /// The operation that adds to the element of the destination.
    addition: OperationRef<'c, 'a>,
    /// The outermost multiplication, if there are factors.
    multiplication: Option<OperationRef<'c, 'a>>,
    /// The functions of positions.
    factors: Vec<Value<'c, 'a>>,
    /// The operation that reads the element.
    extract: OperationRef<'c, 'a>,
    /// The extents of the tensor that is read.
    read: Vec<i64>,
    /// The loop of each dimension of the result.
    result: Vec<usize>,
    reductions: BTreeSet<usize>,
    element: Type<'c>,
}

/// A loop whose sum is computed separately.
struct Split {
    reduction: usize,
    /// Whether each subscript varies along the loop.
    is_inner: Vec<bool>,
    /// Whether each factor varies along the loop.
    is_inner_factor: Vec<bool>,
    /// The parallel loops that these subscripts and factors vary along.
    shared: Vec<usize>,
    cost: u64,
}

impl<'c: 'a, 'a> Sum<'c, 'a> {
    fn new(op: OperationRef<'c, 'a>) -> Option<Self> {
        let nest = tensor_nest(op)?;
        let reductions: BTreeSet<usize> = nest.loops(true).collect();
        if reductions.len() <= 1 {
            return None;
        }
        let is_sum = |op| op::is(&op, ops::arith::ADDF) && may_reorder(op);
        let addition = nest.accumulation().filter(|accumulation| is_sum(accumulation.op))?;
        let output = nest.output()?;
        let (multiplication, mut leaves) = (ir::defined_by(addition.value, ops::arith::MULF), Vec::new());
        flatten(addition.value, &mut leaves);
        let is_read = |value: &Value| ir::defined_by(*value, ops::tensor::EXTRACT).is_some();
        let (reads, factors): (Vec<Value>, Vec<Value>) = leaves.into_iter().partition(is_read);
        let [element] = reads.as_slice() else {
            return None;
        };
        let (extract, _) = ir::definition(*element)?;
        let read = types::extents(ir::operand_at(extract, 0)?.r#type())?;
        let used: Vec<Value> = factors.iter().copied().chain(extract.operands().skip(1)).collect();
        let needed = nest.needed(used.iter().copied(), &[]);
        let is_function = |op: &OperationRef<'c, 'a>| {
            let name = ir::name(*op);
            index_of(*op).is_some() || name.starts_with("arith.") || name.starts_with("math.")
        };
        let mut values = needed.iter().flat_map(|op| op.operands()).chain(used);
        let is_position = values.all(|value| nest.position(value).is_none());
        let result = output.indices()?;
        let is_static = !read.contains(&types::DYNAMIC) && nest.extents.iter().all(|extent| *extent > 0);
        let is_complete = result.len() + reductions.len() == nest.extents.len();
        if !is_position || !needed.iter().all(is_function) || !is_static || !is_complete {
            return None;
        }
        let (addition, element) = (addition.op, output.element.r#type());
        Some(Sum { nest, addition, multiplication, factors, extract, read, result, reductions, element })
    }

    fn points(&self, loops: impl IntoIterator<Item = usize>) -> u64 {
        product(loops.into_iter().filter_map(|l| self.nest.extent(l)))
    }

    /// The split with the minimum cost, if its cost is at most three quarters of the cost of the original sum.
    fn best_split(&self) -> Option<Split> {
        let cost = self.points(0..self.nest.extents.len()).saturating_mul(GATHER);
        let splits = self.reductions.iter().filter_map(|l| self.split(*l));
        let best = splits.min_by_key(|split| split.cost)?;
        (best.cost <= cost / 4 * 3).then_some(best)
    }

    fn split(&self, reduction: usize) -> Option<Split> {
        let subscripts: Vec<_> = self.extract.operands().skip(1).map(|v| self.nest.loops_of(v)).collect();
        let factors: Vec<_> = self.factors.iter().map(|v| self.nest.loops_of(*v)).collect();
        let has = |loops: &BTreeSet<usize>| loops.contains(&reduction);
        let is_inner: Vec<bool> = subscripts.iter().map(has).collect();
        let inner = subscripts.iter().chain(&factors).filter(|loops| has(loops));
        let mut shared: BTreeSet<usize> = inner.flatten().copied().collect();
        shared.remove(&reduction);
        if !is_inner.contains(&true) || !shared.is_disjoint(&self.reductions) {
            return None;
        }

        let outer = self.read.iter().zip(&is_inner).filter(|(_, is_inner)| !**is_inner);
        let outer = product(outer.map(|(extent, _)| *extent));
        let elements = outer.saturating_mul(self.points(shared.iter().copied()));
        if elements > self.points(self.result.iter().copied()) {
            return None;
        }
        let innermost = self.result.last()?;
        let mut others = subscripts.iter().zip(&is_inner).filter(|(_, is_inner)| !**is_inner);
        let is_in_order =
            shared.last() == Some(innermost) && others.all(|(loops, _)| !loops.contains(innermost));
        let before = elements.saturating_mul(self.points([reduction])).saturating_mul(GATHER);
        let after = self.points((0..self.nest.extents.len()).filter(|l| *l != reduction));
        let after = after.saturating_mul(if is_in_order { 1 } else { GATHER });
        Some(Split {
            reduction,
            is_inner,
            is_inner_factor: factors.iter().map(has).collect(),
            shared: shared.into_iter().collect(),
            cost: before.saturating_add(after),
        })
    }

    /// Replaces the sum by two sums. Returns the second one.
    fn apply(&self, split: &Split, at: &Builder<'c, 'a>) -> Result<OperationRef<'c, 'a>, PassError> {
        let op = self.nest.op;
        let read = self.extract.operand(0)?;
        let subscripts: Vec<Value> = self.extract.operands().skip(1).collect();
        let subscripts = || subscripts.iter().copied().zip(&split.is_inner).enumerate();
        let factors = |inner: bool| {
            let factors = self.factors.iter().zip(&split.is_inner_factor);
            factors
                .filter(move |(_, is_inner)| **is_inner == inner)
                .map(|(value, _)| *value)
                .collect::<Vec<Value>>()
        };

        // Loops over dimensions of the tensor are numbered after the loops of the sum.
        let first = self.nest.extents.len();
        let outer = subscripts().filter(|(_, (_, is_inner))| !**is_inner);
        let outer: Vec<usize> = outer.map(|(d, _)| d).collect();
        let mut extents: Vec<i64> = outer.iter().filter_map(|d| self.read.get(*d)).copied().collect();
        extents.extend(split.shared.iter().filter_map(|l| self.nest.extent(*l)));
        let result: Vec<usize> =
            outer.iter().map(|d| first + d).chain(split.shared.iter().copied()).collect();
        let partial = Part {
            loops: result.iter().copied().chain([split.reduction]).collect(),
            reductions: vec![split.reduction],
            result,
            read,
            subscripts: subscripts()
                .map(
                    |(d, (value, is_inner))| {
                        if *is_inner { Subscript::Value(value) } else { Subscript::Loop(first + d) }
                    },
                )
                .collect(),
            factors: factors(true),
        };
        let kind = types::tensor(&extents, self.element);
        // The identity of addition is the negative zero.
        let zero = at.constant(Scalar::Real(-0.0), self.element)?;
        let partial = self.write(&partial, at.fill(zero, kind)?, at)?;

        let is_other = |l: &usize| *l != split.reduction;
        let is_outer = |(_, (_, is_inner)): &(usize, (Value, &bool))| !**is_inner;
        let outer = subscripts().filter(is_outer).map(|(_, (value, _))| Subscript::Value(value));
        let shared = split.shared.iter().copied().map(Subscript::Loop);
        let whole = Part {
            loops: (0..first).filter(is_other).collect(),
            reductions: self.reductions.iter().copied().filter(is_other).collect(),
            result: self.result.clone(),
            read: partial.result(0)?.into(),
            subscripts: outer.chain(shared).collect(),
            factors: factors(false),
        };
        let destination = op.operands().last().ok_or("a sum without a destination")?;
        let whole = self.write(&whole, destination, at)?;
        ir::replace_uses(op.result(0)?.into(), whole.result(0)?.into());
        ir::erase(op);
        Ok(whole)
    }

    /// Emits the sum of some factors times elements of a tensor.
    fn write(
        &self,
        part: &Part<'c, 'a>,
        destination: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<OperationRef<'c, 'a>, PassError> {
        let position = |l: usize| part.loops.iter().position(|other| *other == l);
        let index = |l: usize, to: &Builder<'c, 'a>| to.loop_index(position(l).ok_or(Error::OperationBuild)?);
        let access = |value, loops: &[usize]| {
            let forms = loops.iter().map(|l| position(*l).map(Affine::index)).collect::<Option<_>>();
            forms.map(|forms| Access(value, forms)).ok_or("a loop that changed")
        };
        // The extents of the reductions are defined by a tensor that is not read.
        let extents = part.reductions.iter().filter_map(|l| self.nest.extent(*l));
        let shape = types::tensor(&extents.collect::<Vec<_>>(), self.element);
        let shape = at.value(ops::tensor::EMPTY, &[], &[], shape)?;
        let inputs = [access(shape, &part.reductions)?];
        let outputs = [access(destination, &part.result)?];
        let reduces: Vec<bool> = part.loops.iter().map(|l| part.reductions.contains(l)).collect();
        generic(at, &inputs, &outputs, &reduces, |inside, elements| {
            let mut copier = Copier::new();
            let values = part.subscripts.iter().filter_map(|subscript| match subscript {
                Subscript::Value(value) => Some(*value),
                Subscript::Loop(_) => None,
            });
            for op in self.nest.needed(values.chain(part.factors.iter().copied()), &[]) {
                copier.copy(op, &inside.with_location(op.location()), &mut |copier, op, to| {
                    let Some(l) = index_of(op) else {
                        return Ok(false);
                    };
                    copier.set(op.result(0)?, index(l, to)?);
                    Ok(true)
                })?;
            }
            let mut operands = vec![part.read];
            for subscript in &part.subscripts {
                operands.push(match subscript {
                    Subscript::Value(value) => copier.get(*value),
                    Subscript::Loop(l) => index(*l, inside)?,
                });
            }
            let read = inside.with_location(self.extract.location());
            let mut term = read.value(ops::tensor::EXTRACT, &operands, &[], self.element)?;
            let mut factors = part.factors.iter().map(|factor| copier.get(*factor));
            if let (Some(first), Some(multiplication)) = (factors.next(), self.multiplication) {
                let multiply = |operands: &[Value<'c, 'a>]| {
                    with_operands(multiplication, operands, inside)?.result(0).map(Value::from)
                };
                let factor = factors.try_fold(first, |all, factor| multiply(&[all, factor]))?;
                term = multiply(&[factor, term])?;
            }
            let sum = [*elements.last().ok_or("a payload without arguments")?, term];
            Ok(vec![with_operands(self.addition, &sum, inside)?.result(0)?.into()])
        })
    }
}

/// A subscript: a value of the payload, or the position of a loop.
enum Subscript<'c, 'a> {
    Value(Value<'c, 'a>),
    Loop(usize),
}

/// A sum to emit. Loops have the numbers of the original sum.
struct Part<'c, 'a> {
    /// Outermost first.
    loops: Vec<usize>,
    reductions: Vec<usize>,
    /// The loop of each dimension of the result.
    result: Vec<usize>,
    read: Value<'c, 'a>,
    subscripts: Vec<Subscript<'c, 'a>>,
    factors: Vec<Value<'c, 'a>>,
}

fn product(extents: impl Iterator<Item = i64>) -> u64 {
    extents.map(|extent| u64::try_from(extent).unwrap_or(0)).fold(1, u64::saturating_mul)
}

/// The factors of a product, from left to right.
fn flatten<'c: 'a, 'a>(value: Value<'c, 'a>, leaves: &mut Vec<Value<'c, 'a>>) {
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match ir::defined_by(value, ops::arith::MULF).and_then(|op| ir::both_operands(op).ok()) {
            Some([left, right]) => pending.extend([right, left]),
            None => leaves.push(value),
        }
    }
}
