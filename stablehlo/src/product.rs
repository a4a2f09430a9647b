// SPDX-License-Identifier: Apache-2.0
//! Exports sums of products as `convolution` and `dot_general`.
//!
//! One factor becomes zero at skipped points. Zero times an infinity is NaN, but the formula has no product there. If
//! the other factor may be infinite ([`finite`](super::finite)), the program first checks whether it is finite (`if`).
//! If not, it contracts only the indices that no guard depends on, and masks the skipped products in the sums over the
//! other indices. Ints are always finite.

use super::constants::filler;
use super::contraction::contract;
use super::error::ExportError;
use super::evaluate::{Evaluator, element, uncast};
use super::field::{Field, union};
use super::formula::Combination;
use super::guards::{Conjunct, Guards, all, zeroed};
use super::report::Form;
use super::rule::{Applied, Combined};
use super::tensors::Tensors;
use super::window::{Skipped, Windowed};
use super::write::Target;
use melior::ir::operation::{OperationLike, OperationResult};
use melior::ir::{OperationRef, Value, ValueLike};
use skript_dialect::melior;
use skript_frontend::model::Accumulation;
use skript_passes::ir;
use skript_passes::ir::copy::operation_name;
use skript_passes::ir::ops;
use skript_passes::ir::types;
use skript_semantics::{Scalar, ScalarKind};

/// A sum of products over `reduced`.
struct Product<'p, 'r, 'c, 'a> {
    evaluator: &'p Evaluator<'r, 'c, 'a>,
    target: &'p Target<'p, 'c, 'a>,
    guards: &'p Guards<'c, 'a>,
    reduced: &'p [usize],
}

/// A single operation that computes the sum.
enum Raised<'c, 'a> {
    Convolution(Windowed<'c, 'a>, Field<'c, 'a>),
    Contraction(Field<'c, 'a>, Field<'c, 'a>),
}

/// The rule for sums of products in which a sliding window reads one factor.
pub(crate) fn convolution<'c, 'a>(combination: &Combination<'_, '_, 'c, 'a>) -> Applied<Combined<'c, 'a>> {
    let Some((product, owner)) = Product::new(combination)? else {
        return Ok(None);
    };
    let factors = factors(product.evaluator, owner)?;
    for (one, other) in [(0, 1), (1, 0)] {
        if let Some(kernel) = factors.get(other)
            && let Some((sum, form)) = product.convolution(owner, owner.operand(one)?, kernel)?
        {
            return Ok(Some((sum, combination.outer.clone(), form)));
        }
    }
    Ok(None)
}

/// The rule for sums of products whose factors share reduced indices.
pub(crate) fn contraction<'c, 'a>(combination: &Combination<'_, '_, 'c, 'a>) -> Applied<Combined<'c, 'a>> {
    let Some((product, owner)) = Product::new(combination)? else {
        return Ok(None);
    };
    let sum = product.contraction(owner)?;
    Ok(sum.map(|(sum, form)| (sum, combination.outer.clone(), form)))
}

impl<'p, 'r, 'c: 'a, 'a> Product<'p, 'r, 'c, 'a> {
    /// The sum and its multiplication, if a combination is a sum of products of two reals or ints.
    fn new(
        combination: &Combination<'p, 'r, 'c, 'a>,
    ) -> Result<Option<(Self, OperationRef<'c, 'a>)>, ExportError> {
        let (evaluator, target) = (combination.evaluator, combination.target);
        let Ok(result) = OperationResult::try_from(uncast(combination.value)) else {
            return Ok(None);
        };
        let owner = result.owner();
        let out = evaluator.at.element(target.out);
        let same = element(ir::result(owner)?.r#type(), &evaluator.at) == out;
        let is_product = operation_name(owner) == ops::skript::MUL && same;
        if target.kind != Accumulation::Sum || !is_product {
            return Ok(None);
        }
        let product = Product { evaluator, target, guards: combination.guards, reduced: combination.reduced };
        Ok(Some((product, owner)))
    }

    /// Exports the sum under the inner guards as a contraction; the caller applies the outer guards.
    fn contraction(&self, owner: OperationRef<'c, 'a>) -> Result<Option<(Field<'c, 'a>, Form)>, ExportError> {
        let at = &self.evaluator.at;
        let [mut lhs, mut rhs] = factors(self.evaluator, owner)?;
        let (mut lhs_skips, mut rhs_skips) = (false, false);
        for conjunct in &self.guards.inner {
            let domain = self.target.domain;
            let left = zeroed(&lhs, &conjunct.field, domain, at);
            let right = zeroed(&rhs, &conjunct.field, domain, at);
            match (&left, &right) {
                (None, None) => return Ok(None),
                (Some(_), None) => lhs_skips = true,
                (None, Some(_)) => rhs_skips = true,
                (Some(_), Some(_)) => {}
            }
            lhs = left.unwrap_or(lhs);
            rhs = right.unwrap_or(rhs);
        }
        let mut met = Vec::new();
        if lhs_skips {
            met.push(self.counting(&rhs)?);
        }
        if rhs_skips {
            met.push(self.counting(&lhs)?);
        }
        met.retain(|value| self.may_be_infinite(*value));
        let form = if met.is_empty() { Form::DotGeneral } else { Form::MaskedDotGeneral };
        let sum = self.build(owner, &Raised::Contraction(lhs, rhs), &met)?;
        Ok(sum.map(|sum| (sum, form)))
    }

    /// Whether zero times some element may differ from zero.
    fn may_be_infinite(&self, value: Value<'c, 'a>) -> bool {
        let element = self.evaluator.at.element(value);
        let is_real = types::kind_of(element) == Some(ScalarKind::Real);
        is_real && !self.evaluator.outside.is_finite(value)
    }

    /// Exports the sum as a convolution, if a sliding window reads the factor `input`.
    fn convolution(
        &self,
        owner: OperationRef<'c, 'a>,
        input: Value<'c, 'a>,
        kernel: &Field<'c, 'a>,
    ) -> Result<Option<(Field<'c, 'a>, Form)>, ExportError> {
        let (at, domain, inner) = (&self.evaluator.at, self.target.domain, &self.guards.inner);
        let zero = filler(at.element(self.target.out));
        let Some(windowed) = Windowed::new(self.evaluator, input, self.reduced, inner, zero)? else {
            return Ok(None);
        };
        let mut kernel = kernel.clone();
        let (mut input_skips, mut kernel_skips) = (windowed.has_border(), false);
        for (conjunct, skipped) in inner.iter().zip(&windowed.skipped) {
            match (zeroed(&kernel, &conjunct.field, domain, at), skipped) {
                (None, Skipped::Not | Skipped::ByRuns) => return Ok(None),
                (None, Skipped::ByBorder) => {}
                (None, Skipped::ByFiller) => input_skips = true,
                (Some(zeroed), Skipped::Not) => (kernel, kernel_skips) = (zeroed, true),
                (Some(zeroed), _) => kernel = zeroed,
            }
        }
        let mut met = Vec::new();
        if input_skips {
            met.push(self.counting(&kernel)?);
        }
        if kernel_skips {
            met.push(windowed.value);
        }
        met.retain(|value| self.may_be_infinite(*value));
        let form = if met.is_empty() { Form::Convolution } else { Form::BorderedConvolution };
        let sum = self.build(owner, &Raised::Convolution(windowed, kernel), &met)?;
        Ok(sum.map(|sum| (sum, form)))
    }

    /// The field with zeros where the outer guards skip all uses of its elements.
    fn counting(&self, field: &Field<'c, 'a>) -> Result<Value<'c, 'a>, ExportError> {
        let mut field = field.clone();
        for Conjunct { field: counts, .. } in &self.guards.outer {
            field = zeroed(&field, counts, self.target.domain, &self.evaluator.at).unwrap_or(field);
        }
        Ok(field.value)
    }

    /// Emits the single operation. If `met`, the tensors that may be multiplied by zeros, is not empty, emits an `if`
    /// that checks whether all their elements are finite, with the exact sum in the other branch.
    fn build(
        &self,
        owner: OperationRef<'c, 'a>,
        raised: &Raised<'c, 'a>,
        met: &[Value<'c, 'a>],
    ) -> Result<Option<Field<'c, 'a>>, ExportError> {
        let at = &self.evaluator.at;
        if met.is_empty() {
            return self.raised(raised, at);
        }
        let (then, inner, _) = at.at.region(&[]);
        let then_at = Tensors { at: inner };
        let Some(sum) = self.raised(raised, &then_at)? else {
            return Ok(None);
        };
        let (otherwise, inner, _) = at.at.region(&[]);
        let otherwise_at = Tensors { at: inner };
        let exact = self.exact(owner, otherwise_at)?;
        let indices = union([&sum, &exact]);
        let mut result = None;
        for (field, at) in [(&sum, &then_at), (&exact, &otherwise_at)] {
            let value = field.over(&indices, self.target.domain, at);
            at.at.op(ops::stablehlo::RETURN, &[value], &[], &[], Vec::new());
            result = Some(types::tensor(&at.extents(value), at.element(value)));
        }
        let condition = self.finite(met)?;
        let regions = vec![then, otherwise];
        let result = result.as_slice();
        let checked = at.at.op(ops::stablehlo::IF, &[condition], &[], result, regions);
        Ok(Some(Field { value: at.at.result(checked, 0), indices }))
    }

    fn raised(
        &self,
        raised: &Raised<'c, 'a>,
        at: &Tensors<'c, 'a>,
    ) -> Result<Option<Field<'c, 'a>>, ExportError> {
        let (reduced, domain) = (self.reduced, self.target.domain);
        Ok(match raised {
            Raised::Convolution(windowed, kernel) => windowed.convolve(kernel, reduced, domain, at),
            Raised::Contraction(lhs, rhs) => contract(lhs, rhs, reduced, domain, at),
        })
    }

    fn finite(&self, tensors: &[Value<'c, 'a>]) -> Result<Value<'c, 'a>, ExportError> {
        let at = &self.evaluator.at;
        let mut holds = None;
        for tensor in tensors {
            let extents = at.extents(*tensor);
            let flags = types::tensor(&extents, at.bool());
            let finite = at.op("is_finite", &[*tensor], &[], flags);
            let dimensions: Vec<i64> = (0..extents.len() as i64).collect();
            let finite = at.reduce(finite, "and", Scalar::Bool(true), &dimensions);
            holds = Some(match holds {
                Some(others) => at.same("and", &[others, finite]),
                None => finite,
            });
        }
        let none = || ExportError::new(self.evaluator.reading.op, "has no factor");
        holds.ok_or_else(none)
    }

    /// The sum without the products that inner guards skip.
    fn exact(&self, owner: OperationRef<'c, 'a>, at: Tensors<'c, 'a>) -> Result<Field<'c, 'a>, ExportError> {
        let outer = self.evaluator;
        let destinations = outer.destinations.clone();
        let mut evaluator = Evaluator::new(at, outer.reading, outer.outside, destinations);
        evaluator.predicate()?;
        evaluator.body()?;
        let guards = Guards::new(&evaluator, self.reduced)?;
        let is_cut = |index: &usize| {
            let mut inner = guards.inner.iter();
            inner.any(|c| c.field.indices.contains(index))
        };
        let (cut, free): (Vec<usize>, Vec<usize>) = self.reduced.iter().partition(|i| is_cut(i));
        let [lhs, rhs] = factors(&evaluator, owner)?;
        let domain = self.target.domain;
        let (products, left) = match contract(&lhs, &rhs, &free, domain, &at) {
            Some(sums) => (sums, cut.as_slice()),
            None => (evaluator.field(ir::result(owner)?)?, self.reduced),
        };
        let mask = all(&guards.inner, &evaluator)?;
        let target = Target { at, ..*self.target };
        let (sum, _) = target.combined(&products, mask.as_ref(), left);
        Ok(sum)
    }
}

fn factors<'c: 'a, 'a>(
    evaluator: &Evaluator<'_, 'c, 'a>,
    product: OperationRef<'c, 'a>,
) -> Result<[Field<'c, 'a>; 2], ExportError> {
    let [lhs, rhs] = ir::both_operands(product)?;
    Ok([evaluator.field(lhs)?, evaluator.field(rhs)?])
}
