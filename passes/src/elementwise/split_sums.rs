// SPDX-License-Identifier: Apache-2.0
//! `skript-split-sums`: splits a reduction of a sum of contractions into one contraction for each term.
//!
//! Each part of a product of complex matrices is `z[i, j] += a[i, k] * c[k, j] - b[i, k] * d[k, j]`. As one reduction, its kernel reads
//! four operands, of which only one may be packed, and rounds the difference before it is added. Two contractions into one result have
//! kernels with fused operations and packed operands. Terms with a negative sign are summed separately and subtracted from the start
//! value, so each of the new operations is a sum of products.
//!
//! Requires: `linalg.generic` on tensors with one result, whose sums may be reassociated; each term is a product of factors that vary
//! along different loops of the result. Guarantees: the terms of each sum remain the same.

use super::hoist_invariants::tensor_nest;
use crate::ir::copy::Copier;
use crate::ir::generic::{Access, LoopNest, all_loops, map, rebuild};
use crate::ir::operator::Operator;
use crate::ir::walk::named;
use crate::ir::{self, Builder, ops, splat, types};
use melior::Error;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, TypeLike, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::{Dialect, Pass, PassError, op};

pub(crate) const PASS: Pass = Pass {
    flag: "skript-split-sums",
    summary: "split a reduction of a sum of contractions into one contraction for each term",
    dependent_dialects: &[Dialect::Arith, Dialect::Linalg, Dialect::Tensor],
    run: |root, _, rewriter| {
        for op in named(root, ops::linalg::GENERIC) {
            if let Some(sum) = Sum::new(op) {
                sum.replace(&Builder::before(rewriter.context(), op)?)?;
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Maximum number of contractions that an operation is split into.
const MAX_TERMS: usize = 8;

/// A term of a sum, and whether it is subtracted.
#[derive(Clone, Copy)]
struct Term<'c, 'a> {
    value: Value<'c, 'a>,
    is_negative: bool,
}

/// A reduction of a sum of contractions.
struct Sum<'c, 'a> {
    nest: LoopNest<'c, 'a>,
    addition: Operator<'c>,
    terms: Vec<Term<'c, 'a>>,
}

impl<'c: 'a, 'a> Sum<'c, 'a> {
    /// `None` for an operation that is not split.
    fn new(op: OperationRef<'c, 'a>) -> Option<Self> {
        let nest = tensor_nest(op)?;
        let output = nest.output()?;
        let accumulation = nest.accumulation()?;
        let addition = Operator::from_op(accumulation.op);
        let is_sum = match addition.name.as_str() {
            ops::arith::ADDF => addition.is_fast("reassoc"),
            ops::arith::ADDI => true,
            _ => false,
        };
        if !is_sum || !nest.loops(false).eq(output.indices()?) {
            return None;
        }
        let mut terms = Vec::new();
        collect(Term { value: accumulation.value, is_negative: false }, &mut terms);
        let is_split = (2..=MAX_TERMS).contains(&terms.len());
        let is_contraction = |term: &Term<'c, 'a>| is_contraction(&nest, term.value);
        (is_split && terms.iter().all(is_contraction)).then_some(Sum { nest, addition, terms })
    }

    fn replace(&self, at: &Builder<'c, 'a>) -> Result<(), PassError> {
        let start = self.nest.output().ok_or(Error::OperationBuild)?.value;
        let (negative, positive): (Vec<Term>, Vec<Term>) =
            self.terms.iter().partition(|term| term.is_negative);
        let mut result = start;
        if !negative.is_empty() {
            let sizes = at.dynamic_extents(start)?;
            let zero = at.zero(types::element_or_self(start.r#type()));
            let mut subtrahend = at.fill_sized(zero, start.r#type(), &sizes)?;
            for term in negative {
                subtrahend = self.accumulate(term, subtrahend, at)?;
            }
            result = subtract(start, subtrahend, &sizes, at)?;
        }
        for term in positive {
            result = self.accumulate(term, result, at)?;
        }
        ir::replace_uses(self.nest.op.result(0)?.into(), result);
        ir::erase(self.nest.op);
        Ok(())
    }

    /// Adds all values of a term to the elements of `before`.
    fn accumulate(
        &self,
        term: Term<'c, 'a>,
        before: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let output = self.nest.output().ok_or(Error::OperationBuild)?;
        let needed = self.nest.needed([term.value], &[]);
        let reads =
            |element: Value<'c, 'a>| needed.iter().any(|op| op.operands().any(|operand| operand == element));
        let inputs: Vec<_> = self.nest.inputs().iter().filter(|input| reads(input.element)).collect();
        let mut operands: Vec<Access> = inputs.iter().map(|input| input.access()).collect();
        operands.push(Access(before, output.forms.clone()));
        let op = rebuild(at, &self.nest, &operands, &self.nest.reductions, |inside, elements| {
            let mut copier = Copier::new();
            for (input, element) in inputs.iter().zip(elements) {
                copier.set(input.element, *element);
            }
            copier.copy_all(&needed, inside)?;
            let before = *elements.last().ok_or(Error::OperationBuild)?;
            Ok::<_, Error>(vec![self.addition.apply(
                inside,
                &[before, copier.get(term.value)],
                before.r#type(),
            )])
        })?;
        ir::result(op)
    }
}

/// Collects the terms of sums and differences, which have no other use.
fn collect<'c: 'a, 'a>(term: Term<'c, 'a>, terms: &mut Vec<Term<'c, 'a>>) {
    let Term { value, is_negative } = term;
    let sum = ir::definition(value).map(|(op, _)| op).filter(|_| ir::users(value).len() == 1);
    let signs: &[bool] = match sum.map(ir::name).as_deref() {
        Some(ops::arith::ADDF | ops::arith::ADDI) => &[false, false],
        Some(ops::arith::SUBF | ops::arith::SUBI) => &[false, true],
        Some(ops::arith::NEGF) => &[true],
        _ => return terms.push(term),
    };
    for (value, flips) in sum.iter().flat_map(|op| op.operands()).zip(signs) {
        collect(Term { value, is_negative: is_negative != *flips }, terms);
    }
}

/// Whether a value is a product whose factors vary along different loops of the result, so that kernels load each factor once for
/// several products.
fn is_contraction<'c: 'a, 'a>(nest: &LoopNest<'c, 'a>, value: Value<'c, 'a>) -> bool {
    let definition = ir::definition(value).map(|(op, _)| op);
    let product = definition.filter(|op| op::is(op, ops::arith::MULF) || op::is(op, ops::arith::MULI));
    let Some(Ok([left, right])) = product.map(ir::both_operands) else {
        return false;
    };
    let (left, right) = (nest.loops_of(left), nest.loops_of(right));
    let is_parallel = |l: &&usize| nest.reductions.get(**l) == Some(&false) && nest.extent(**l) != Some(1);
    left.difference(&right).any(|l| is_parallel(&l)) && right.difference(&left).any(|l| is_parallel(&l))
}

/// The differences of the elements of two tensors.
fn subtract<'c: 'a, 'a>(
    minuend: Value<'c, 'a>,
    subtrahend: Value<'c, 'a>,
    sizes: &[Value<'c, 'a>],
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, Error> {
    let kind = minuend.r#type();
    let forms = || all_loops(types::shape(kind).len());
    let uniform = splat::value(minuend, at)?;
    let minuend = uniform.is_none().then(|| Access(minuend, forms()));
    let inputs: Vec<Access> = [Access(subtrahend, forms())].into_iter().chain(minuend).collect();
    map(at, &inputs, kind, sizes, |inside, elements| {
        let subtrahend = *elements.first().ok_or(Error::OperationBuild)?;
        let minuend = uniform.or(elements.get(1).copied()).ok_or(Error::OperationBuild)?;
        let is_real = subtrahend.r#type().is_float();
        Ok(if is_real { inside.subf(minuend, subtrahend) } else { inside.subi(minuend, subtrahend) })
    })
}
