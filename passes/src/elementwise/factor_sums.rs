// SPDX-License-Identifier: Apache-2.0
//! `skript-factor-sums`: computes a sum along several loops as a sum of sums.
//!
//! The interpolation of an image in two dimensions is a sum of weighted elements, `Σᵢ Σⱼ u(y, i) · v(x, j) · image[row(y, i), column(x, j)]`.
//! The sum along j depends on the row, and not on how y and i select it: `t[r, x] = Σⱼ v(x, j) · image[r, column(x, j)]` is computed
//! once for each row of the image, and the result is `Σᵢ u(y, i) · t[row(y, i), x]`, which reads rows of t in order.
//!
//! The results differ by rounding: a weight multiplies a sum instead of each of its summands. Where a sum along j overflows, the result
//! may be infinite or NaN although the weights along i would have made it finite.
//!
//! Requires: static extents, weights and subscripts that are functions of positions alone, sums that may be reassociated. The pass
//! compares the numbers of accesses; `t` has at most as many elements as the result.

use super::hoist_invariants::Payload;
use crate::ir::copy::{Copier, with_operands};
use crate::ir::linalg::{Generic, Yield, index_of};
use crate::ir::walk::named;
use crate::ir::{self, Builder, attributes, linalg, maps, ops, types};
use crate::structure::Affine;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, OperationRef, Type, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::{Dialect, Pass, PassError, op};
use skript_semantics::Scalar;
use std::collections::BTreeSet;

/// The pass `skript-factor-sums`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-factor-sums",
    summary: "compute sums of products along several loops as sums of sums",
    dependent_dialects: &[Dialect::Arith, Dialect::Linalg, Dialect::Tensor],
    run: |root, _, rewriter| {
        let mut pending = named(root, ops::linalg::GENERIC);
        while let Some(op) = pending.pop() {
            let Some(sum) = Sum::of(op) else { continue };
            if let Some(split) = sum.best_split() {
                pending.push(sum.apply(&split, &Builder::before(rewriter.context(), op)?)?);
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// The time of an access at a computed subscript, in accesses to consecutive elements.
const GATHER: u64 = 4;

/// An attribute of `linalg.generic` that MLIR does not parse: a defect of this pass.
const UNPARSABLE: &str = "an attribute of linalg.generic that MLIR does not parse";

/// A `linalg.generic` that sums an element of a tensor times functions of positions.
struct Sum<'c, 'a> {
    payload: Payload<'c, 'a>,
    /// What adds to the destination's element.
    addition: OperationRef<'c, 'a>,
    /// The outermost multiplication, if there are factors.
    multiplication: Option<OperationRef<'c, 'a>>,
    /// The functions of positions.
    factors: Vec<Value<'c, 'a>>,
    /// What reads the element.
    extract: OperationRef<'c, 'a>,
    /// The extents of the tensor that is read.
    read: Vec<i64>,
    extents: Vec<i64>,
    /// The loop of each dimension of the result.
    result: Vec<usize>,
    reductions: BTreeSet<usize>,
    /// The type of elements and factors.
    element: Type<'c>,
}

/// A loop whose sum is computed before.
struct Split {
    reduction: usize,
    /// Whether each subscript varies along it.
    is_inner: Vec<bool>,
    /// Whether each factor varies along it.
    is_inner_factor: Vec<bool>,
    /// The parallel loops that those subscripts and factors vary along.
    shared: Vec<usize>,
    cost: u64,
}

impl<'c: 'a, 'a> Sum<'c, 'a> {
    fn of(op: OperationRef<'c, 'a>) -> Option<Self> {
        let generic = Generic::cast(op).filter(|_| op.result_count() == 1)?;
        let reductions: BTreeSet<usize> =
            generic.reductions().into_iter().enumerate().filter(|(_, is)| *is).map(|(l, _)| l).collect();
        if reductions.len() <= 1 {
            return None;
        }
        let last = *ir::operations(generic.body()?).last()?;
        let (addition, _) = ir::definition(Yield::cast(last)?.value().ok()?)?;
        let is_sum = op::is(&addition, ops::arith::ADDF)
            && addition.attribute("fastmath").ok()?.to_string().contains("reassoc");
        let [before, added] = ir::both_operands(addition).ok().filter(|_| is_sum)?;
        let payload = Payload::of(op)?;
        let output = *payload.elements.last()?;
        let term = if before == output { added } else { before };
        if (before == output) == (added == output) {
            return None;
        }
        if ir::users(output).len() != 1 {
            return None;
        }

        let (multiplication, mut leaves) = (multiplication_of(term), Vec::new());
        flatten(term, &mut leaves);
        let is_read =
            |value: &Value| ir::definition(*value).is_some_and(|(op, _)| op::is(&op, ops::tensor::EXTRACT));
        let (reads, factors): (Vec<Value>, Vec<Value>) = leaves.into_iter().partition(is_read);
        let [element] = reads.as_slice() else {
            return None;
        };
        let (extract, _) = ir::definition(*element)?;
        let read = types::extents(extract.operand(0).ok()?.r#type())?;
        let used = factors.iter().copied().chain(extract.operands().skip(1));
        let used: Vec<Value> = used.collect();
        let needed = payload.needed(used.iter().copied(), &[]);
        let is_function = |op: &OperationRef<'c, 'a>| {
            let name = ir::name(*op);
            index_of(*op).is_some() || name.starts_with("arith.") || name.starts_with("math.")
        };
        let mut values = needed.iter().flat_map(|op| op.operands()).chain(used);
        let is_position = values.all(|value| !payload.elements.contains(&value));
        let extents = (0..payload.loops()).map(|l| i64::try_from(payload.extent(l)?).ok());
        let extents: Vec<i64> = extents.collect::<Option<_>>()?;
        let result = payload.subscripts.last()?.iter().map(Affine::as_index);
        let result: Vec<usize> = result.collect::<Option<_>>()?;
        let is_static = !read.contains(&types::DYNAMIC) && extents.iter().all(|extent| *extent > 0);
        let is_complete = result.len() + reductions.len() == extents.len();
        if !is_position || !needed.iter().all(is_function) || !is_static || !is_complete {
            return None;
        }
        Some(Sum {
            payload,
            addition,
            multiplication,
            factors,
            extract,
            read,
            extents,
            result,
            reductions,
            element: output.r#type(),
        })
    }

    fn points(&self, loops: impl IntoIterator<Item = usize>) -> u64 {
        let extents = loops.into_iter().filter_map(|l| self.extents.get(l));
        product(extents.copied())
    }

    /// The split with the least costs, if it costs a quarter less than the sum as it is.
    fn best_split(&self) -> Option<Split> {
        let cost = self.points(0..self.extents.len()).saturating_mul(GATHER);
        let splits = self.reductions.iter().filter_map(|l| self.split(*l));
        let best = splits.min_by_key(|split| split.cost)?;
        (best.cost <= cost / 4 * 3).then_some(best)
    }

    fn split(&self, reduction: usize) -> Option<Split> {
        let subscripts = self.extract.operands().skip(1);
        let subscripts: Vec<_> = subscripts.map(|v| self.payload.loops_of(v)).collect();
        let factors: Vec<_> = self.factors.iter().map(|v| self.payload.loops_of(*v)).collect();
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
        let after = self.points((0..self.extents.len()).filter(|l| *l != reduction));
        let after = after.saturating_mul(if is_in_order { 1 } else { GATHER });
        Some(Split {
            reduction,
            is_inner,
            is_inner_factor: factors.iter().map(has).collect(),
            shared: shared.into_iter().collect(),
            cost: before.saturating_add(after),
        })
    }

    /// Replaces the sum by two; returns the second one.
    fn apply(&self, split: &Split, at: &Builder<'c, 'a>) -> Result<OperationRef<'c, 'a>, PassError> {
        let op = self.payload.op;
        let read = self.extract.operand(0)?;
        let subscripts: Vec<Value> = self.extract.operands().skip(1).collect();
        let subscripts = || subscripts.iter().copied().zip(&split.is_inner).enumerate();
        let factors = |inner: bool| {
            let own = self.factors.iter().zip(&split.is_inner_factor);
            own.filter(move |(_, is_inner)| **is_inner == inner)
                .map(|(value, _)| *value)
                .collect::<Vec<Value>>()
        };

        // Loops over dimensions of the tensor have numbers that no loop of the sum has.
        let first = self.extents.len();
        let outer = subscripts().filter(|(_, (_, is_inner))| !**is_inner);
        let outer: Vec<usize> = outer.map(|(d, _)| d).collect();
        let mut extents: Vec<i64> = outer.iter().filter_map(|d| self.read.get(*d)).copied().collect();
        extents.extend(split.shared.iter().filter_map(|l| self.extents.get(*l)));
        let result: Vec<usize> =
            outer.iter().map(|d| first + d).chain(split.shared.iter().copied()).collect();
        let partial = Nest {
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
        // The identity of addition: the sum of negative zeros is one.
        let zero = at.constant(Scalar::Real(-0.0), self.element)?;
        let partial = self.write(&partial, at.fill(zero, kind)?, at)?;

        let is_left = |l: &usize| *l != split.reduction;
        let outer = subscripts().filter(|(_, (_, is_inner))| !**is_inner);
        let outer = outer.map(|(_, (value, _))| Subscript::Value(value));
        let shared = split.shared.iter().copied().map(Subscript::Loop);
        let whole = Nest {
            loops: (0..first).filter(is_left).collect(),
            reductions: self.reductions.iter().copied().filter(is_left).collect(),
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

    /// The sum of some factors times elements of a tensor.
    fn write(
        &self,
        nest: &Nest<'c, 'a>,
        destination: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<OperationRef<'c, 'a>, PassError> {
        let position = |l: usize| nest.loops.iter().position(|own| *own == l);
        let index = |l: usize, to: &Builder<'c, 'a>| {
            let position = position(l).and_then(|n| i64::try_from(n).ok());
            let dimension = attributes::i64(to.context, position.unwrap_or_default());
            let kind = Type::index(to.context);
            to.value(ops::linalg::INDEX, &[], &[("dim", dimension)], kind)
        };
        let (region, inside, arguments) = at.region(&[self.element, self.element]);
        let mut copier = Copier::new();
        let values = nest.subscripts.iter().filter_map(|subscript| match subscript {
            Subscript::Value(value) => Some(*value),
            Subscript::Loop(_) => None,
        });
        let wanted = values.chain(nest.factors.iter().copied());
        for own in self.payload.needed(wanted, &[]) {
            let mut special =
                |copier: &mut Copier<'c, 'a>, own: OperationRef<'c, 'a>, to: &Builder<'c, 'a>| {
                    let Some(l) = index_of(own) else {
                        return Ok(false);
                    };
                    copier.set(own.result(0)?, index(l, to)?);
                    Ok(true)
                };
            copier.copy(own, &inside.with_location(own.location()), &mut special)?;
        }
        let mut operands = vec![nest.read];
        for subscript in &nest.subscripts {
            operands.push(match subscript {
                Subscript::Value(value) => copier.get(*value),
                Subscript::Loop(l) => index(*l, &inside)?,
            });
        }
        let read = inside.with_location(self.extract.location());
        let mut term = read.value(ops::tensor::EXTRACT, &operands, &[], self.element)?;
        let mut factors = nest.factors.iter().map(|factor| copier.get(*factor));
        if let (Some(first), Some(multiplication)) = (factors.next(), self.multiplication) {
            let multiply = |operands: &[Value<'c, 'a>]| {
                let copy = with_operands(multiplication, operands, &inside)?;
                copy.result(0).map(Value::from)
            };
            let factor = factors.try_fold(first, |all, factor| multiply(&[all, factor]))?;
            term = multiply(&[factor, term])?;
        }
        let sum = [*arguments.last().ok_or("a payload without arguments")?, term];
        let sum = with_operands(self.addition, &sum, &inside)?.result(0)?.into();
        inside.create(ops::linalg::YIELD, &[sum], &[], &[], Vec::new())?;

        // A tensor that is not read has the extents of the reductions.
        let extents = nest.reductions.iter().filter_map(|l| self.extents.get(*l));
        let shape = types::tensor(&extents.copied().collect::<Vec<_>>(), self.element);
        let shape = at.value(ops::tensor::EMPTY, &[], &[], shape)?;
        let map = |loops: &[usize]| {
            let forms: Option<Vec<Affine>> = loops.iter().map(|l| position(*l).map(Affine::index)).collect();
            maps::map(at.context, nest.loops.len(), &forms?)
        };
        let maps = [&nest.reductions, &nest.result].map(|loops| map(loops));
        let maps: Vec<Attribute> = maps.into_iter().collect::<Option<_>>().ok_or(UNPARSABLE)?;
        let reduces = nest.loops.iter().map(|l| nest.reductions.contains(l));
        let others = linalg::generic_attributes(at.context, &maps, reduces, [1, 1]);
        Ok(at.create(
            ops::linalg::GENERIC,
            &[shape, destination],
            &others.ok_or(UNPARSABLE)?,
            &[destination.r#type()],
            vec![region],
        )?)
    }
}

/// A subscript: a value of the payload, or the position of a loop.
enum Subscript<'c, 'a> {
    Value(Value<'c, 'a>),
    Loop(usize),
}

/// A sum to write. Loops have the numbers of the sum that it replaces.
struct Nest<'c, 'a> {
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

fn multiplication_of<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
    let (op, _) = ir::definition(value)?;
    op::is(&op, ops::arith::MULF).then_some(op)
}

/// The factors of a product, from left to right.
fn flatten<'c: 'a, 'a>(value: Value<'c, 'a>, leaves: &mut Vec<Value<'c, 'a>>) {
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match multiplication_of(value).and_then(|op| ir::both_operands(op).ok()) {
            Some([left, right]) => pending.extend([right, left]),
            None => leaves.push(value),
        }
    }
}
