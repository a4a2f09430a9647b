// SPDX-License-Identifier: Apache-2.0
//! `skript-move-factors`: multiplies or divides sums instead of each of their terms by constants.
//!
//! In `s[i, j] += q[i, c] * k[j, c] / sqrt(real(d))`, the divisor is the same in all terms of a sum. As part of the payload, it is a second
//! operation for each product, which then is not the product of a contraction. A map after the sum divides each result once.
//!
//! The results differ by rounding. If a sum without the factor overflows, the result may be infinite or NaN even if the original sum is
//! finite. Factors are positive constants: an infinite one, or a divisor 0, would have other results after the sum, where it
//! meets terms of both signs or no term.
//!
//! Requires: `linalg.generic` on tensors with one result of at least 32 bits that starts at zero, whose sum may be reassociated.
//! Guarantees: the number of terms of each sum remains the same.

use super::hoist_invariants::tensor_nest;
use crate::ir::arith::may_reorder;
use crate::ir::copy::Copier;
use crate::ir::generic::{Access, LoopNest, Operand, PayloadPart, all_loops, map, rebuild};
use crate::ir::operator::Operator;
use crate::ir::walk::named;
use crate::ir::{self, Builder, ops, splat, types};
use melior::Error;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::{Dialect, Pass, PassError, op};

pub(crate) const PASS: Pass = Pass {
    flag: "skript-move-factors",
    summary: "multiply or divide sums instead of each of their terms by constants",
    dependent_dialects: &[Dialect::Arith, Dialect::Linalg, Dialect::Tensor],
    run: |root, _, rewriter| {
        for op in named(root, ops::linalg::GENERIC) {
            let at = Builder::before(rewriter.context(), op)?;
            if let Some(sum) = Sum::new(op, &at)? {
                sum.replace(&at)?;
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// A constant factor or divisor of all terms of a sum.
struct Factor<'c, 'a> {
    value: Value<'c, 'a>,
    operator: Operator<'c>,
}

/// A term without factors.
enum Term<'c, 'a> {
    Value(Value<'c, 'a>),
    Operation(Operator<'c>, Box<[Term<'c, 'a>; 2]>),
}

impl<'c: 'a, 'a> Term<'c, 'a> {
    fn values(&self) -> Vec<Value<'c, 'a>> {
        match self {
            Term::Value(value) => vec![*value],
            Term::Operation(_, operands) => operands.iter().flat_map(Term::values).collect(),
        }
    }

    fn emit(&self, copier: &Copier<'c, 'a>, at: &Builder<'c, 'a>) -> Value<'c, 'a> {
        match self {
            Term::Value(value) => copier.get(*value),
            Term::Operation(operator, operands) => {
                let [left, right] = operands.each_ref().map(|operand| operand.emit(copier, at));
                operator.apply(at, &[left, right], left.r#type())
            }
        }
    }
}

/// A reduction with such factors.
struct Sum<'c, 'a> {
    nest: LoopNest<'c, 'a>,
    addition: Operator<'c>,
    term: Term<'c, 'a>,
    factors: Vec<Factor<'c, 'a>>,
}

impl<'c: 'a, 'a> Sum<'c, 'a> {
    /// `None` for an operation that is not changed.
    fn new(op: OperationRef<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Option<Self>, Error> {
        let Some(sum) = Self::read(op) else {
            return Ok(None);
        };
        let start = sum.nest.output().map(|output| splat::value(output.value, at)).transpose()?;
        let is_zero = start.flatten().is_some_and(|value| ir::arith::real(value) == Some(0.0));
        Ok(is_zero.then_some(sum))
    }

    fn read(op: OperationRef<'c, 'a>) -> Option<Self> {
        let nest = tensor_nest(op).filter(LoopNest::reduces)?;
        let accumulation = nest.accumulation()?;
        let is_sum = op::is(&accumulation.op, ops::arith::ADDF) && may_reorder(accumulation.op);
        // The sum of shorter reals would overflow sooner than that of their quotients.
        let is_wide = types::width(nest.output()?.element.r#type()) >= 32;
        if !is_sum || !is_wide || !nest.loops(false).eq(nest.output()?.indices()?) {
            return None;
        }
        let (addition, term) = (Operator::from_op(accumulation.op), Term::Value(accumulation.value));
        let sum = Sum { nest, addition, term, factors: Vec::new() };
        let mut factors = Vec::new();
        let term = sum.split(accumulation.value, &mut factors);
        (!factors.is_empty()).then_some(Sum { term, factors, ..sum })
    }

    /// The operands of a product or a quotient that is only used once.
    fn operands(&self, value: Value<'c, 'a>) -> Option<(OperationRef<'c, 'a>, [Value<'c, 'a>; 2])> {
        let is_product =
            |op: &OperationRef| [ops::arith::MULF, ops::arith::DIVF].iter().any(|n| op::is(op, n));
        let (op, _) = ir::definition(value).filter(|(op, _)| is_product(op))?;
        Some((op, ir::both_operands(op).ok()?)).filter(|_| ir::users(value).len() == 1)
    }

    /// A term without its factors, which are collected, innermost first.
    fn split(&self, term: Value<'c, 'a>, factors: &mut Vec<Factor<'c, 'a>>) -> Term<'c, 'a> {
        let Some((op, [left, right])) = self.operands(term) else {
            return Term::Value(term);
        };
        let (operator, is_product) = (Operator::from_op(op), op::is(&op, ops::arith::MULF));
        let (varying, value) = match (is_factor(left), is_factor(right)) {
            (false, true) => (left, right),
            (true, false) if is_product => (right, left),
            (false, false) => {
                let left = self.split(left, factors);
                let right = if is_product { self.split(right, factors) } else { Term::Value(right) };
                return Term::Operation(operator, Box::new([left, right]));
            }
            _ => return Term::Value(term),
        };
        let remaining = self.split(varying, factors);
        factors.push(Factor { value, operator });
        remaining
    }

    /// Replaces the sum by one without the factors, and a map.
    fn replace(&self, at: &Builder<'c, 'a>) -> Result<(), PassError> {
        let nest = &self.nest;
        let needed = nest.needed(self.term.values(), &[]);
        let used: Vec<Value> = needed.iter().flat_map(|op| op.operands()).chain(self.term.values()).collect();
        // An input may only define the extent of a loop.
        let varies = |input: &Operand| nest.loops(true).any(|l| input.varies(l));
        let inputs = nest.inputs().iter().filter(|input| used.contains(&input.element) || varies(input));
        let read: Vec<&Operand> = inputs.chain(nest.output()).collect();
        let operands: Vec<Access> = read.iter().map(|operand| operand.access()).collect();
        let sum = rebuild(at, nest, &operands, &nest.reductions, |inside, elements| {
            let mut copier = Copier::new();
            for (operand, element) in read.iter().zip(elements) {
                copier.set(operand.element, *element);
            }
            copier.copy_all(&needed, inside)?;
            let before = *elements.last().ok_or(Error::OperationBuild)?;
            let term = self.term.emit(&copier, inside);
            Ok::<_, PassError>(vec![self.addition.apply(inside, &[before, term], before.r#type())])
        })?;
        let sum: Value = ir::result(sum)?;

        let parallel: Vec<usize> = nest.loops(false).collect();
        let renamed =
            (0..nest.extents.len()).map(|l| parallel.iter().position(|other| *other == l)).collect();
        let values: Vec<Value> = self.factors.iter().map(|factor| factor.value).collect();
        let part = PayloadPart::new(nest, &values, renamed).ok_or(Error::OperationBuild)?;
        let operands = [part.inputs.clone(), vec![Access(sum, all_loops(parallel.len()))]].concat();
        let sizes = at.dynamic_extents(sum)?;
        let result = map(at, &operands, sum.r#type(), &sizes, |inside, elements| {
            let copier = part.copy(elements, inside)?;
            // The last element is that of the result.
            let mut value = *elements.get(part.inputs.len()).ok_or(Error::OperationBuild)?;
            for factor in &self.factors {
                value = factor.operator.apply(inside, &[value, copier.get(factor.value)], value.r#type());
            }
            Ok::<_, PassError>(value)
        })?;
        ir::replace_uses(nest.op.result(0)?.into(), result);
        ir::erase(nest.op);
        Ok(())
    }
}

/// Whether a value is a constant that may multiply or divide a sum.
fn is_factor(value: Value) -> bool {
    ir::arith::real(value).is_some_and(|factor| factor.is_finite() && factor > 0.0)
}
