// SPDX-License-Identifier: Apache-2.0
//! `skript-fold-scales`: multiplies weights by constant factors of sums of products.
//!
//! A batch normalization after a convolution is affine in each sum: `(sum - mean) * scale + shift`, with operands that vary along
//! only the channels. If the weights, which are a factor of each product, are also indexed by the channel, `sum * A + B` is
//! the sum with the weights `w * A`, plus `B`. Values that only depend on variables are computed once, so a call computes one addition.
//!
//! The results differ by rounding, because each product of a weight and `A` is rounded. If a factor is NaN or infinite, results are NaN or
//! infinite in both cases, but not always the same, because zeros of a border are multiplied by it.
//!
//! Requires: reals of type f32 or f64, weights and operands that are variables without updates, or computed from such variables. The sum
//! has no other user, and its initial value is zero or a constant along the channels.

use super::constant_tensors::ConstantTensors;
use crate::elementwise::hoist_invariants::{compute, hoist, tensor_nest};
use crate::ir::generic::{Access, LoopNest, Operand, all_loops, map};
use crate::ir::linalg::Fill;
use crate::ir::walk::named;
use crate::ir::{self, Builder, mutation, ops, types};
use crate::structure::Affine;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Type, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::{Dialect, Pass, PassError, op};
use skript_semantics::Scalar;
use std::collections::BTreeSet;

pub(crate) const PASS: Pass = Pass {
    flag: "skript-fold-scales",
    summary: "make constant factors of sums of products part of the weights",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Linalg, Dialect::Tensor],
    run: |root, _, rewriter| {
        for function in named(root, ops::func::FUNC) {
            let variables = ConstantTensors::new(function);
            if variables.is_empty() {
                continue;
            }
            for follower in named(function, ops::linalg::GENERIC) {
                let mut follower = follower;
                // An operation may read several sums.
                for _ in 0..follower.operand_count() {
                    let Some(fold) = Fold::new(follower, &variables) else {
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
    nest: LoopNest<'c, 'a>,
    /// The operand of the weights.
    weights: usize,
    /// The initial value of the sums, if it is not zero.
    start: Option<Start<'c, 'a>>,
}

/// An operation that copies the elements of a constant tensor to the output before the sum.
struct Start<'c, 'a> {
    op: OperationRef<'c, 'a>,
    /// The dimension of the output for each dimension of the tensor.
    dimensions: Vec<usize>,
}

impl<'c: 'a, 'a> Sum<'c, 'a> {
    fn new(op: OperationRef<'c, 'a>, variables: &ConstantTensors) -> Option<Self> {
        let nest = tensor_nest(op).filter(LoopNest::reduces)?;
        nest.contraction().filter(|contraction| op::is(&contraction.sum, ops::arith::ADDF))?;
        let is_constant = |operand: &Operand| variables.contains(operand.value);
        let weights = nest.inputs().iter().position(is_constant)?;
        if nest.inputs().iter().filter(|input| is_constant(input)).count() != 1 {
            return None;
        }
        let start = start(nest.output()?.value, op, variables)?;
        Some(Sum { nest, weights, start })
    }

    /// The dimension of the weights for a dimension of the sums.
    fn weights_dimension(&self, dimension: usize) -> Option<usize> {
        let l = self.nest.output()?.forms.get(dimension)?.as_index()?;
        self.nest.operands.get(self.weights)?.dimension(l)
    }
}

/// The initial value of the sums: `Some(None)` for zero, `None` for values that cannot be scaled.
fn start<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    sum: OperationRef<'c, 'a>,
    variables: &ConstantTensors,
) -> Option<Option<Start<'c, 'a>>> {
    let (op, _) = ir::definition(value)?;
    if let Some(fill) = Fill::cast(op) {
        return ir::is_zero(fill.value().ok()?).then_some(None);
    }
    let nest = tensor_nest(op).filter(|nest| nest.payload.is_empty())?;
    let yielded = *nest.yielded.first()?;
    if ir::is_zero(yielded) {
        return Some(None);
    }
    let ([input], [output]) = (nest.inputs(), nest.outputs()) else {
        return None;
    };
    let dimensions = input.forms.iter().map(|form| output.dimension(form.as_index()?));
    let is_copy = yielded == input.element
        && ir::users(value).len() == 1
        && op.block() == sum.block()
        && variables.contains(input.value);
    let dimensions = dimensions.collect::<Option<_>>()?;
    is_copy.then_some(Some(Start { op, dimensions }))
}

/// A sum, and the operation that reads it.
struct Fold<'c, 'a> {
    sum: Sum<'c, 'a>,
    follower: OperationRef<'c, 'a>,
    /// The element of the sum in the payload of the follower.
    element: Value<'c, 'a>,
    /// The affine operations and their other operands, in order.
    chain: Vec<(OperationRef<'c, 'a>, Value<'c, 'a>)>,
    /// The loops of the follower that the operands vary along, and the dimensions of the sums.
    loops: Vec<(usize, usize)>,
}

impl<'c: 'a, 'a> Fold<'c, 'a> {
    /// The first sum that the operation scales.
    fn new(follower: OperationRef<'c, 'a>, variables: &ConstantTensors) -> Option<Self> {
        let nest = tensor_nest(follower).filter(|nest| !nest.reduces())?;
        nest.inputs().iter().find_map(|operand| Fold::with_sum(&nest, operand, variables))
    }

    fn with_sum(
        nest: &LoopNest<'c, 'a>,
        read: &Operand<'c, 'a>,
        variables: &ConstantTensors,
    ) -> Option<Self> {
        let (op, _) = ir::definition(read.value)?;
        let is_own = ir::users(read.value).len() == 1 && op.block() == nest.op.block();
        let sum = Sum::new(op, variables).filter(|_| is_own)?;
        let element = read.element;
        let mut fold = Fold { sum, follower: nest.op, element, chain: Vec::new(), loops: Vec::new() };
        let mut value = element;
        let mut loops = BTreeSet::new();
        while let [user] = ir::users(value).as_slice()
            && let Some(other) = affine(*user, value)
            && fold.is_scale(nest, other, variables)
        {
            let varying = nest.loops_of(other);
            let is_scaled =
                |l: &usize| read.dimension(*l).is_some_and(|d| fold.sum.weights_dimension(d).is_some());
            if !varying.iter().all(is_scaled) {
                break;
            }
            loops.extend(varying);
            fold.chain.push((*user, other));
            value = user.result(0).ok()?.into();
        }
        fold.loops = loops.into_iter().map(|l| Some((l, read.dimension(l)?))).collect::<Option<_>>()?;
        let scales =
            |(op, _): &(OperationRef, Value)| op::is(op, ops::arith::MULF) || op::is(op, ops::arith::DIVF);
        let fits = |start: &Start| fold.loops.iter().all(|(_, d)| start.dimensions.contains(d));
        let starts_fit = fold.sum.start.as_ref().is_none_or(fits);
        let is_f32_or_f64 = matches!(element.r#type().to_string().as_str(), "f32" | "f64");
        let weights = fold.sum.nest.operands.get(fold.sum.weights)?.value.r#type();
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

    /// Whether a scalar of the payload is computed from constant tensors that are defined before the sum.
    fn is_scale(&self, nest: &LoopNest<'c, 'a>, value: Value<'c, 'a>, variables: &ConstantTensors) -> bool {
        let needed = nest.needed([value], &[]);
        let sum = self.sum.nest.op;
        let is_given = |value: Value<'c, 'a>| {
            let stands_before = ir::definition(value)
                .is_none_or(|(own, _)| own.block() == sum.block() && ir::is_before(own, sum));
            stands_before && variables.contains(value)
        };
        let mut used = needed.iter().flat_map(|op| op.operands()).chain([value]);
        used.all(|value| match nest.position(value) {
            Some(n) => nest.inputs().get(n).is_some_and(|own| is_given(own.value)),
            None => ir::definition(value).is_some_and(|(own, _)| needed.contains(&own)) || is_given(value),
        })
    }

    /// Scales the weights and the initial values of the sums. Returns the follower, which adds the remaining offset.
    fn apply(&self, context: &'c melior::Context) -> Result<OperationRef<'c, 'a>, PassError> {
        let (last, _) = self.chain.last().ok_or("a scale without operations")?;
        let sum = &self.sum;
        let before = Builder::before(context, sum.nest.op)?;
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
        let nest = tensor_nest(self.follower).ok_or("a payload that changed")?;
        let loops: Vec<usize> = self.loops.iter().map(|(l, _)| *l).collect();
        let scale = compute(&nest, factor, &loops, &before)?;
        ir::replace_uses(last.result(0)?.into(), result);
        let unused = factors.into_iter().filter_map(ir::definition);
        let unused: Vec<OperationRef> = unused.map(|(op, _)| op).collect();
        let chain = self.chain.iter().map(|(op, _)| *op);
        chain.rev().for_each(ir::erase);
        unused.into_iter().rev().for_each(ir::erase);
        // The remaining offset is computed before the loops.
        let mut follower = self.follower;
        let nest = tensor_nest(self.follower).ok_or("a payload that changed")?;
        let offset = offset.filter(|offset| ir::definition(*offset).is_some());
        if let Some(offset) = offset.filter(|offset| !nest.loops_of(*offset).is_empty()) {
            let at = Builder::before(context, self.follower)?;
            (follower, _) = hoist(&nest, &[offset], &at)?;
        }

        let dimensions = self.loops.iter().map(|(_, d)| sum.weights_dimension(*d));
        let dimensions: Vec<usize> = dimensions.collect::<Option<_>>().ok_or("weights that changed")?;
        let weights = sum.nest.op.operand(sum.weights)?;
        let folded = scaled(weights, scale, &dimensions, &before)?;
        mutation::set_operand(sum.nest.op, sum.weights, folded);
        test_again(sum.nest.op, weights, folded, &before)?;
        if let Some(start) = &sum.start {
            let loops = self.loops.iter();
            let dimensions: Vec<usize> = loops
                .map(|(_, d)| start.dimensions.iter().position(|own| own == d))
                .collect::<Option<_>>()
                .ok_or("a start that changed")?;
            let value = scaled(start.op.operand(0)?, scale, &dimensions, &before)?;
            // The scale is defined before the sum, but maybe after the initial value.
            ir::move_before(start.op, sum.nest.op);
            mutation::set_operand(start.op, 0, value);
        }
        Ok(follower)
    }
}

/// Values that the payload of a sum uses and that are computed from the weights, such as whether they are finite, are computed from the
/// folded weights instead.
fn test_again<'c: 'a, 'a>(
    sum: OperationRef<'c, 'a>,
    weights: Value<'c, 'a>,
    folded: Value<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<(), PassError> {
    for user in ir::nested(sum) {
        for (position, operand) in user.operands().enumerate() {
            let is_scalar = types::extents(operand.r#type()).is_none();
            let again =
                if is_scalar { computed_again(operand, weights, folded, MAX_DEPTH, at)? } else { None };
            if let Some(again) = again {
                mutation::set_operand(user, position, again);
                erase_unused(operand, MAX_DEPTH);
            }
        }
    }
    Ok(())
}

/// The maximum number of operations in a test of weights.
const MAX_DEPTH: usize = 8;

/// The value computed from another tensor instead of `old`. `None` if it is not computed from `old`.
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

/// Erases the operations that define a value, if they are unused.
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

/// The tensor multiplied by `scale`, whose dimensions correspond to these dimensions of the tensor.
fn scaled<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    scale: Value<'c, 'a>,
    dimensions: &[usize],
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let r#type = tensor.r#type();
    let whole = Access(tensor, all_loops(types::shape(r#type).len()));
    let factors = Access(scale, dimensions.iter().copied().map(Affine::index).collect());
    map(at, &[whole, factors], r#type, &[], |body, elements| {
        let factors = elements.get(..2).ok_or("a payload without arguments")?;
        Ok(body.value(ops::arith::MULF, factors, &[], types::element_or_self(r#type))?)
    })
}
