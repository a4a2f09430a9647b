// SPDX-License-Identifier: Apache-2.0
//! `skript-fold-scales`: makes constant factors of sums of products part of the weights.
//!
//! A batch normalization behind a convolution is affine in each sum: `(sum - mean) * scale + shift`, with operands that vary along
//! the channels alone. If the weights, which are a factor of each product, are subscripted by the channel too, `sum * A + B` is
//! the sum with the weights `w * A`, plus `B`. What follows from variables alone is computed once, so a call computes one addition.
//!
//! The results differ by rounding: each product of a weight and `A` rounds once. A factor that is NaN or infinite gives NaN or
//! infinite results either way, but not always the same of them: zeros of a border are multiplied by it.
//!
//! Requires: reals of f32 or f64, weights and operands that are variables without updates, or computed from such. The sum has no
//! other user and starts as zero, or as a constant along the channels.

use super::constant_tensors::ConstantTensors;
use crate::elementwise::hoist_invariants::{Payload, compute, hoist};
use crate::ir::linalg::{Fill, Generic, Yield};
use crate::ir::walk::named;
use crate::ir::{self, Builder, linalg, maps, mutation, ops, types};
use crate::structure::Affine;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Type, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::{Dialect, Pass, PassError, op};
use skript_semantics::Scalar;
use std::collections::BTreeSet;

/// The pass `skript-fold-scales`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-fold-scales",
    summary: "make constant factors of sums of products part of the weights",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Linalg, Dialect::Tensor],
    run: |root, _, rewriter| {
        for function in named(root, ops::func::FUNC) {
            let variables = ConstantTensors::of(function);
            if variables.is_empty() {
                continue;
            }
            for follower in named(function, ops::linalg::GENERIC) {
                let mut follower = follower;
                // It may read several sums.
                for _ in 0..follower.operand_count() {
                    let Some(fold) = Fold::of(follower, &variables) else {
                        break;
                    };
                    follower = fold.apply(rewriter.context())?;
                }
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// The sum of products.
struct Sum<'c, 'a> {
    op: OperationRef<'c, 'a>,
    /// The operand of the weights.
    weights: usize,
    /// By operand.
    subscripts: Vec<Vec<Affine>>,
    /// What the sums start as, if it is not zero.
    start: Option<Start<'c, 'a>>,
}

/// An operation that copies the elements of a constant tensor to the output before the sum.
struct Start<'c, 'a> {
    op: OperationRef<'c, 'a>,
    /// The dimension of the output that each one of the tensor is.
    dimensions: Vec<usize>,
}

impl<'c: 'a, 'a> Sum<'c, 'a> {
    fn of(op: OperationRef<'c, 'a>, variables: &ConstantTensors) -> Option<Self> {
        let generic = Generic::cast(op)?;
        let maps = generic.indexing_maps();
        let subscripts: Vec<Vec<Affine>> = maps.iter().map(|map| maps::forms(*map)).collect::<Option<_>>()?;
        let body = generic.body()?;
        let elements = ir::arguments(body);
        let last = *ir::operations(body).last()?;
        let (next, _) = ir::definition(Yield::cast(last)?.value().ok()?)?;
        let is_sum = op.operand_count() == 3
            && op.result_count() == 1
            && generic.reductions().contains(&true)
            && op::is(&next, ops::arith::ADDF);
        let [before, added] = ir::both_operands(next).ok().filter(|_| is_sum)?;
        let output = *elements.last()?;
        let term = if before == output { added } else { before };
        if (before == output) == (added == output) {
            return None;
        }
        let factors = product(term)?;
        let is_used_once = |element: &Value<'c, 'a>| ir::users(*element).len() == 1;
        if !elements.iter().all(is_used_once) {
            return None;
        }
        let positions = factors.map(|factor| elements.iter().position(|own| *own == factor));
        let [Some(first), Some(second)] = positions else {
            return None;
        };
        if first == second || first >= 2 || second >= 2 {
            return None;
        }
        let constants: Vec<usize> =
            (0..2).filter(|n| op.operand(*n).is_ok_and(|operand| variables.contains(operand))).collect();
        let [weights] = constants.as_slice() else {
            return None;
        };
        Some(Sum { op, weights: *weights, subscripts, start: start(op.operand(2).ok()?, op, variables)? })
    }

    /// The dimension of the weights that the dimension of the sums is.
    fn weights_dimension(&self, dimension: usize) -> Option<usize> {
        let l = self.subscripts.last()?.get(dimension)?.as_index()?;
        let mut own = self.subscripts.get(self.weights)?.iter();
        own.position(|form| form.as_index() == Some(l))
    }
}

/// The factors of a product, which may be zero where a predicate is false.
fn product<'c: 'a, 'a>(term: Value<'c, 'a>) -> Option<[Value<'c, 'a>; 2]> {
    let (mut op, _) = ir::definition(term)?;
    if op::is(&op, ops::arith::SELECT) {
        if !is_zero(op.operand(2).ok()?) {
            return None;
        }
        op = ir::definition(op.operand(1).ok()?)?.0;
    }
    let is_product = op::is(&op, ops::arith::MULF);
    let [first, second] = ir::both_operands(op).ok().filter(|_| is_product)?;
    Some([first, second])
}

/// Whether a scalar is the constant 0.
fn is_zero(value: Value) -> bool {
    let constant = crate::ir::arith::Constant::of(value);
    let text = constant.map(crate::ir::arith::Constant::text);
    let number = text.and_then(|text| text.split(' ').next().and_then(|n| n.parse::<f64>().ok()));
    number == Some(0.0)
}

/// What the sums start as: `Some(None)` for zero, `None` for what cannot be scaled.
fn start<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    sum: OperationRef<'c, 'a>,
    variables: &ConstantTensors,
) -> Option<Option<Start<'c, 'a>>> {
    let (op, _) = ir::definition(value)?;
    if let Some(fill) = Fill::cast(op) {
        return is_zero(fill.value().ok()?).then_some(None);
    }
    let generic = Generic::cast(op)?;
    let body = generic.body()?;
    let yielded = Yield::cast(*ir::operations(body).first()?)?.value().ok()?;
    if is_zero(yielded) {
        return Some(None);
    }
    let maps = generic.indexing_maps();
    let [input, output] = maps.as_slice() else {
        return None;
    };
    let (input, output) = (maps::forms(*input)?, maps::forms(*output)?);
    let dimensions = input.iter().map(|form| {
        let l = form.as_index()?;
        output.iter().position(|own| own.as_index() == Some(l))
    });
    let is_copy = yielded == *ir::arguments(body).first()?
        && op.result_count() == 1
        && ir::users(value).len() == 1
        && op.block() == sum.block()
        && variables.contains(op.operand(0).ok()?);
    let dimensions = dimensions.collect::<Option<_>>()?;
    is_copy.then_some(Some(Start { op, dimensions }))
}

/// A sum, and the operation that reads it.
struct Fold<'c, 'a> {
    sum: Sum<'c, 'a>,
    follower: OperationRef<'c, 'a>,
    /// The element of the sum in the payload of the follower.
    element: Value<'c, 'a>,
    /// The affine operations, in order, each with its other operand.
    chain: Vec<(OperationRef<'c, 'a>, Value<'c, 'a>)>,
    /// The loops of the follower that the operands vary along, each with the dimension of the sums.
    loops: Vec<(usize, usize)>,
}

impl<'c: 'a, 'a> Fold<'c, 'a> {
    /// The first sum that the operation scales.
    fn of(follower: OperationRef<'c, 'a>, variables: &ConstantTensors) -> Option<Self> {
        let generic = Generic::cast(follower)?;
        let is_map = !generic.reductions().contains(&true);
        let inputs = follower.operand_count().checked_sub(follower.result_count())?;
        (0..inputs).filter(|_| is_map).find_map(|position| Fold::of_operand(follower, position, variables))
    }

    fn of_operand(
        follower: OperationRef<'c, 'a>,
        position: usize,
        variables: &ConstantTensors,
    ) -> Option<Self> {
        let operand = follower.operand(position).ok()?;
        let (op, _) = ir::definition(operand)?;
        let is_own = ir::users(operand).len() == 1 && op.block() == follower.block();
        let sum = Sum::of(op, variables).filter(|_| is_own)?;
        let payload = Payload::of(follower)?;
        let read = payload.subscripts.get(position)?;
        let dimension = |l: usize| read.iter().position(|form| form.as_index() == Some(l));
        let element = *payload.elements.get(position)?;
        let mut fold = Fold { sum, follower, element, chain: Vec::new(), loops: Vec::new() };
        let mut value = element;
        let mut loops = BTreeSet::new();
        while let [user] = ir::users(value).as_slice()
            && let Some(other) = affine(*user, value)
            && fold.is_scale(&payload, other, variables)
        {
            let own = payload.loops_of(other);
            let scaled = own.iter().map(|l| dimension(*l));
            let scaled = scaled.map(|d| fold.sum.weights_dimension(d?));
            if !scaled.clone().all(|d| d.is_some()) {
                break;
            }
            loops.extend(own);
            fold.chain.push((*user, other));
            value = user.result(0).ok()?.into();
        }
        fold.loops = loops.into_iter().map(|l| Some((l, dimension(l)?))).collect::<Option<_>>()?;
        let scales =
            |(op, _): &(OperationRef, Value)| op::is(op, ops::arith::MULF) || op::is(op, ops::arith::DIVF);
        let starts_fit = fold.sum.start.iter().into_iter().all(|start| {
            let mut own = fold.loops.iter();
            own.all(|(_, d)| start.dimensions.contains(d))
        });
        let is_f32_or_f64 = matches!(element.r#type().to_string().as_str(), "f32" | "f64");
        let weights = fold.sum.op.operand(fold.sum.weights).ok()?.r#type();
        let is_same = types::element_of(weights) == Some(element.r#type());
        let is_static = !types::extents(weights)?.contains(&types::DYNAMIC);
        (is_f32_or_f64
            && is_same
            && is_static
            && starts_fit
            && !fold.loops.is_empty()
            && fold.chain.iter().any(scales))
        .then_some(fold)
    }

    /// Whether a scalar of the payload is computed from tensors that are constant and stand before the sum.
    fn is_scale(&self, payload: &Payload<'c, 'a>, value: Value<'c, 'a>, variables: &ConstantTensors) -> bool {
        let needed = payload.needed(std::iter::once(value), &[]);
        let inputs = payload.elements.len().saturating_sub(payload.op.result_count());
        let is_given = |value: Value<'c, 'a>| {
            let stands_before = ir::definition(value)
                .is_none_or(|(own, _)| own.block() == self.sum.op.block() && ir::is_before(own, self.sum.op));
            stands_before && variables.contains(value)
        };
        let mut used = needed.iter().flat_map(|op| op.operands()).chain([value]);
        used.all(|value| {
            let element = payload.elements.iter().position(|own| *own == value);
            let is_inside = ir::definition(value).is_some_and(|(own, _)| needed.contains(&own));
            match element {
                Some(n) if n < inputs => payload.op.operand(n).is_ok_and(is_given),
                Some(_) => false,
                None => is_inside || is_given(value),
            }
        })
    }

    /// Scales the weights and what the sums start as; the follower, which is returned, adds what is left.
    fn apply(&self, context: &'c melior::Context) -> Result<OperationRef<'c, 'a>, PassError> {
        let (last, _) = self.chain.last().ok_or("a scale without operations")?;
        let before = Builder::before(context, self.sum.op)?;
        let inside = Builder::before(context, *last)?;
        let kind = self.element.r#type();
        let apply = |name: &str, operands: &[Value<'c, 'a>]| inside.value(name, operands, &[], kind);
        // sum * factor + offset
        let mut factor = inside.constant(Scalar::Real(1.0), kind)?;
        let mut factors = vec![factor];
        let mut offset = None;
        for (op, other) in &self.chain {
            let name = ir::name(*op);
            offset = match (name.as_str(), offset) {
                (ops::arith::ADDF, None) => Some(*other),
                (ops::arith::SUBF, None) => Some(apply(ops::arith::NEGF, &[*other])?),
                (name, Some(offset)) => Some(apply(name, &[offset, *other])?),
                (_, None) => None,
            };
            if matches!(name.as_str(), ops::arith::MULF | ops::arith::DIVF) {
                factor = apply(&name, &[factor, *other])?;
                factors.push(factor);
            }
        }
        let result = match offset {
            Some(offset) => apply(ops::arith::ADDF, &[self.element, offset])?,
            None => self.element,
        };
        let payload = Payload::of(self.follower).ok_or("a payload that changed")?;
        let loops: Vec<usize> = self.loops.iter().map(|(l, _)| *l).collect();
        let scale = compute(&payload, factor, &loops, &before)?;
        ir::replace_uses(last.result(0)?.into(), result);
        let unused = factors.into_iter().filter_map(ir::definition);
        let unused: Vec<OperationRef> = unused.map(|(op, _)| op).collect();
        let chain = self.chain.iter().map(|(op, _)| *op);
        chain.rev().for_each(ir::erase);
        unused.into_iter().rev().for_each(ir::erase);
        // What is left is computed before the loops.
        let mut follower = self.follower;
        let payload = Payload::of(self.follower).ok_or("a payload that changed")?;
        let offset = offset.filter(|offset| ir::definition(*offset).is_some());
        if let Some(offset) = offset.filter(|offset| !payload.loops_of(*offset).is_empty()) {
            let at = Builder::before(context, self.follower)?;
            (follower, _) = hoist(&payload, &[offset], &at)?;
        }

        let sum = &self.sum;
        let own = self.loops.iter().map(|(_, d)| sum.weights_dimension(*d));
        let own: Vec<usize> = own.collect::<Option<_>>().ok_or("weights that changed")?;
        let weights = sum.op.operand(sum.weights)?;
        let folded = scaled(weights, scale, &own, &before)?;
        mutation::set_operand(sum.op, sum.weights, folded);
        test_again(sum.op, weights, folded, &before)?;
        if let Some(start) = &sum.start {
            let own = self.loops.iter();
            let own: Vec<usize> = own
                .map(|(_, d)| start.dimensions.iter().position(|own| own == d))
                .collect::<Option<_>>()
                .ok_or("a start that changed")?;
            let value = scaled(start.op.operand(0)?, scale, &own, &before)?;
            // The scale stands before the sum, maybe behind the start.
            ir::move_before(start.op, sum.op);
            mutation::set_operand(start.op, 0, value);
        }
        Ok(follower)
    }
}

/// What the payload of a sum uses from outside that is computed from the weights, as whether they are finite, follows from the folded
/// weights instead.
fn test_again<'c: 'a, 'a>(
    sum: OperationRef<'c, 'a>,
    weights: Value<'c, 'a>,
    folded: Value<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<(), PassError> {
    for user in ir::nested(sum) {
        for (position, operand) in user.operands().enumerate() {
            let is_scalar = types::extents(operand.r#type()).is_none();
            let again = if is_scalar { computed_again(operand, weights, folded, DEEPEST, at)? } else { None };
            if let Some(again) = again {
                mutation::set_operand(user, position, again);
                erase_unused(operand, DEEPEST);
            }
        }
    }
    Ok(())
}

/// Operations of a test of weights: as many are looked at.
const DEEPEST: usize = 8;

/// The value computed with another tensor in place of `old`; `None` if it is not computed from `old`.
fn computed_again<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    old: Value<'c, 'a>,
    new: Value<'c, 'a>,
    depth: usize,
    at: &Builder<'c, 'a>,
) -> Result<Option<Value<'c, 'a>>, PassError> {
    if value == old {
        return Ok(Some(new));
    }
    let definition = ir::definition(value).filter(|(op, _)| {
        let tests = [ops::arith::ANDI, ops::arith::CMPF, ops::linalg::GENERIC, ops::tensor::EXTRACT];
        depth > 0 && tests.contains(&ir::name(*op).as_str())
    });
    let Some((op, number)) = definition else {
        return Ok(None);
    };
    let mut operands: Vec<Value> = op.operands().collect();
    let mut is_changed = false;
    for operand in &mut operands {
        if let Some(again) = computed_again(*operand, old, new, depth - 1, at)? {
            *operand = again;
            is_changed = true;
        }
    }
    if !is_changed {
        return Ok(None);
    }
    let results: Vec<Type> = op.results().map(|result| result.r#type()).collect();
    let clone = op::clone_with(&op, &operands, &results);
    Ok(Some(at.insert(clone).result(number)?.into()))
}

/// Erases what defines a value if nothing uses it.
fn erase_unused(value: Value, depth: usize) {
    if let Some((op, _)) = ir::definition(value)
        && depth > 0
        && op.results().all(|result| !op::is_used(result))
    {
        let operands: Vec<Value> = op.operands().collect();
        ir::erase(op);
        operands.into_iter().for_each(|o| erase_unused(o, depth - 1));
    }
}

/// The other operand of an operation that is affine in `value`.
fn affine<'c: 'a, 'a>(op: OperationRef<'c, 'a>, value: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    let [first, second] = ir::both_operands(op).ok()?;
    let other = if first == value { second } else { first };
    let fits = match ir::name(op).as_str() {
        ops::arith::ADDF | ops::arith::MULF => true,
        ops::arith::SUBF | ops::arith::DIVF => first == value,
        _ => false,
    };
    (fits && other != value).then_some(other)
}

/// The tensor with each element multiplied by that of `scale`, whose dimensions are these of the tensor.
fn scaled<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    scale: Value<'c, 'a>,
    dimensions: &[usize],
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let r#type = tensor.r#type();
    let element = types::element_of(r#type).ok_or("a tensor without an element type")?;
    let rank = types::extents(r#type).map_or(0, |extents| extents.len());
    let empty = at.value(ops::tensor::EMPTY, &[], &[], r#type)?;
    let indices = |all: &[usize]| {
        let forms: Vec<Affine> = all.iter().copied().map(Affine::index).collect();
        maps::map(at.context, rank, &forms).ok_or("a map that MLIR does not parse")
    };
    let all: Vec<usize> = (0..rank).collect();
    let maps = [indices(&all)?, indices(dimensions)?, indices(&all)?];
    let elements: [Type; 3] = [element; 3];
    let (region, body, arguments) = at.region(&elements);
    let factors = arguments.get(..2).ok_or("a payload without arguments")?;
    let product = body.value(ops::arith::MULF, factors, &[], element)?;
    body.create(ops::linalg::YIELD, &[product], &[], &[], Vec::new())?;
    let attributes = linalg::generic_attributes(at.context, &maps, vec![false; rank], [2, 1]);
    let generic = at.create(
        ops::linalg::GENERIC,
        &[tensor, scale, empty],
        &attributes.ok_or("linalg is not loaded")?,
        &[r#type],
        vec![region],
    )?;
    Ok(generic.result(0)?.into())
}
