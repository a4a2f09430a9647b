// SPDX-License-Identifier: Apache-2.0
//! Computes sums of products of quantized values as sums of products of bytes.
//!
//! With `x = s · (p + b)` and `y = t · (q + c)` for bytes `p` and `q`, a sum of `n` products `x · y` is `s · t` times the integer
//! `Σ p · q + b · Σ q + c · Σ p + n · b · c`. A zero point that is only known at run time is part of `b` or `c`. Terms may wrap around in
//! 32 bits, but the result fits 32 bits.

use super::finite_test::tests_finite;
use super::inputs::{Inputs, Slot};
use super::scalars::{extended, is_wide_float, is_wide_integer, sign_extended};
use super::storage::{Factor, Scale, Storage, Stored};
use crate::elementwise::hoist_invariants::tensor_nest;
use crate::ir::generic::{Access, LoopNest, all_loops, generic, map};
use crate::ir::linalg::Fill;
use crate::ir::{self, Builder, Copier, attributes, ops, real, types};
use crate::structure::Affine;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, OperationRef, Type, TypeLike, Value, ValueLike};
use skript_dialect::PassError;
use skript_dialect::melior;
use skript_semantics::RealType;

/// A sum of products of two tensors.
pub(super) struct Contraction<'c, 'a> {
    pub(super) nest: LoopNest<'c, 'a>,
    /// A bool. Products where it is false are skipped.
    predicate: Option<Value<'c, 'a>>,
}

/// The terms that zero points add to the sums of products of bytes.
struct ZeroPointTerms<'c, 'a> {
    /// For each factor whose integers are not its bytes: the difference, and the sums of the bytes of the other factor.
    sums: Vec<(Addend<'c, 'a>, Access<'c, 'a>)>,
    /// The number of products of a sum.
    products: i64,
}

/// The difference between integers and their bytes: a constant minus a zero point that is only known at run time.
#[derive(Clone, Copy)]
struct Addend<'c, 'a> {
    base: i64,
    zero: Option<Value<'c, 'a>>,
}

/// An addend and the sums of bytes that it is multiplied by, in a payload.
struct TermSlots {
    base: i64,
    zero: Option<Slot>,
    sums: Slot,
}

impl<'c: 'a, 'a> Contraction<'c, 'a> {
    pub(super) fn new(op: OperationRef<'c, 'a>) -> Option<Self> {
        let nest = tensor_nest(op).filter(LoopNest::reduces)?;
        let predicate = nest.contraction()?.predicate;
        Some(Contraction { nest, predicate })
    }

    /// Replaces the sum by a sum of products of bytes, if both factors are quantized to 8 bits and the sums fit 32 bits.
    pub(super) fn convert(&self, storage: &mut Storage<'c, 'a>) -> Result<(), PassError> {
        let predicate = self.needed_predicate();
        let is_supported =
            self.has_wide_element() && !predicate.is_some_and(|value| self.reads_elements(value));
        let Some(products) = self.products().filter(|_| is_supported) else {
            return Ok(());
        };
        let Some(factors) = self.factors(storage)? else {
            return Ok(());
        };
        // Borders that a predicate excludes may contain any byte, which sums of bytes would include.
        let is_masked = predicate.is_some() && !factors.iter().all(Stored::is_plain);
        let Some(scales) = self.scales(&factors).filter(|_| !is_masked && fit_32_bits(&factors, products))
        else {
            return Ok(());
        };
        let at = Builder::before(storage.context, self.nest.op)?;
        let Some(terms) = self.zero_point_terms(&factors, products, &at)? else {
            return Ok(());
        };
        let sum = self.sum(&factors, predicate, &at)?;
        let result = self.scaled(sum, &terms, &scales, &at)?;
        ir::replace_uses(self.nest.op.result(0)?.into(), result);
        Ok(())
    }

    /// The element type of the first factor.
    pub(super) fn element(&self) -> Option<Type<'c>> {
        Some(self.nest.operands.first()?.element.r#type())
    }

    /// The number of products in a sum. `None` if it is dynamic.
    fn products(&self) -> Option<i64> {
        self.nest.loops(true).try_fold(1_i64, |product, l| product.checked_mul(self.nest.extent(l)?))
    }

    /// Whether the elements of the result can represent a 32-bit sum.
    fn has_wide_element(&self) -> bool {
        let element = self.nest.output().map(|output| output.element.r#type());
        element.is_some_and(|kind| is_wide_float(kind) || is_wide_integer(kind))
    }

    /// The predicate, unless it only excludes products with zeros of a border in case some other factors are not finite, as in
    /// `0 <= i + k − 1 || finite(filter)`. Quantized values are finite.
    fn needed_predicate(&self) -> Option<Value<'c, 'a>> {
        let predicate = self.predicate?;
        let inputs: Vec<Value> = self.nest.inputs().iter().map(|input| input.value).collect();
        let disjuncts = ir::defined_by(predicate, ops::arith::ORI);
        let is_optional = disjuncts.is_some_and(|op| op.operands().any(|value| tests_finite(value, &inputs)));
        (!is_optional).then_some(predicate)
    }

    /// Whether a scalar of the payload depends on elements, as in `x[i + k] > 0`, and not only on indices, as in `i + k < 9`.
    fn reads_elements(&self, value: Value<'c, 'a>) -> bool {
        let needed = self.nest.needed([value], &[]);
        let mut used = needed.iter().flat_map(|op| op.operands()).chain([value]);
        used.any(|value| self.nest.position(value).is_some())
    }

    /// The bytes of both factors. One is signed and one is unsigned, because processors have instructions for such products. `None` if a
    /// factor is not quantized, or if both are constants.
    fn factors(&self, storage: &mut Storage<'c, 'a>) -> Result<Option<[Stored<'c, 'a>; 2]>, PassError> {
        let tensors = [self.nest.op.operand(0)?, self.nest.op.operand(1)?];
        let [is_first_constant, is_second_constant] =
            tensors.map(|tensor| storage.constants.contains(tensor));
        if is_first_constant && is_second_constant {
            return Ok(None);
        }
        let Some(first) = storage.store(tensors[0], is_first_constant)? else {
            return Ok(None);
        };
        let second = storage.store(tensors[1], !is_first_constant)?;
        Ok(second.map(|second| [first, second]))
    }

    pub(super) fn forms(&self, operand: usize) -> &[Affine] {
        self.nest.operands.get(operand).map_or(&[], |operand| &operand.forms)
    }

    /// The dimension of the result that a loop indexes.
    pub(super) fn dimension(&self, l: usize) -> Option<usize> {
        self.nest.output()?.dimension(l)
    }

    /// The scales, with subscripts as functions of the dimensions of the result. `None` if a scale varies along a reduction.
    fn scales(&self, factors: &[Stored<'c, 'a>; 2]) -> Option<[Scale<'c, 'a>; 2]> {
        let of_result = |position: usize, factor: &Stored<'c, 'a>| {
            let Scale::Tensor(tensor, forms) = factor.scale.with_subscripts(self.forms(position))? else {
                return Some(factor.scale.clone());
            };
            let subscripts = forms.iter().map(|form| match form.as_constant() {
                Some(constant) => Some(Affine::constant(constant)),
                None => self.dimension(form.as_index()?).map(Affine::index),
            });
            Some(Scale::Tensor(tensor, subscripts.collect::<Option<_>>()?))
        };
        Some([of_result(0, &factors[0])?, of_result(1, &factors[1])?])
    }

    /// Computes the sums of bytes that zero points are multiplied by. `None` if the sums of a factor are not supported.
    fn zero_point_terms(
        &self,
        factors: &[Stored<'c, 'a>; 2],
        products: i64,
        at: &Builder<'c, 'a>,
    ) -> Result<Option<ZeroPointTerms<'c, 'a>>, PassError> {
        let [first, second] = factors;
        let mut sums = Vec::new();
        for (factor, other, position) in [(first, second, 1), (second, first, 0)] {
            if factor.is_plain() {
                continue;
            }
            let Some(bytes) = self.sums_of_bytes(position, other, at)? else {
                return Ok(None);
            };
            sums.push((Addend { base: factor.base, zero: factor.zero }, bytes));
        }
        Ok(Some(ZeroPointTerms { sums, products }))
    }

    /// The sum of products of bytes.
    fn sum(
        &self,
        factors: &[Stored<'c, 'a>; 2],
        predicate: Option<Value<'c, 'a>>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let kind = types::i32(at.context);
        let result = types::of_element(self.nest.op.result(0)?.r#type(), kind);
        let init = at.fill_sized(at.int(0, kind), result, &at.dynamic_extents(self.nest.op.operand(2)?)?)?;
        let [first, second] = factors;
        let inputs =
            [(0, first), (1, second)].map(|(n, factor)| Access(factor.bytes, self.forms(n).to_vec()));
        let output = Access(init, self.forms(2).to_vec());
        let sums = generic(at, &inputs, &[output], &self.nest.reductions, |body, elements| {
            let [p, q, sum] = elements else {
                return Err(PassError::from("internal compiler error: a product without two factors"));
            };
            let p = extended(body, *p, first.is_signed, kind);
            let q = extended(body, *q, second.is_signed, kind);
            let product = body.muli(p, q);
            let term = match predicate {
                Some(predicate) => {
                    let mut copier = Copier::new();
                    copier.copy_all(&self.nest.needed([predicate], &[]), body)?;
                    body.select(copier.get(predicate), product, body.int(0, kind))
                }
                None => product,
            };
            Ok(vec![body.addi(*sum, term)])
        })?;
        Ok(sums.result(0)?.into())
    }

    /// The values that the integer sums represent, plus the initial values of the sums.
    fn scaled(
        &self,
        sum: Value<'c, 'a>,
        terms: &ZeroPointTerms<'c, 'a>,
        scales: &[Scale<'c, 'a>; 2],
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let result = self.nest.op.result(0)?.r#type();
        let element = types::element_of(result).ok_or("a tensor without an element type")?;
        let whole = all_loops(types::shape(result).len());
        let init = self.nest.op.operand(2)?;
        let mut inputs = Inputs::default();
        let sum = inputs.add(Access(sum, whole.clone()));
        let term_slots = terms.add_to(&mut inputs);
        let factors: Vec<Factor> = scales.iter().filter_map(|scale| scale.add_to(&mut inputs)).collect();
        let starts_with_zero = Fill::of(init).is_some_and(|fill| fill.value().is_ok_and(ir::is_zero));
        let start = (!starts_with_zero).then(|| inputs.add(Access(init, whole)));
        let extents = at.dynamic_extents(init)?;
        map(at, inputs.accesses(), result, &extents, |body, elements| {
            let sum = terms.added(body, sum.element(elements)?, &term_slots, elements)?;
            let initial = start.map(|start| start.element(elements)).transpose()?;
            if !element.is_float() {
                let wide = sign_extended(body, sum, element);
                return Ok(initial.map_or(wide, |initial| body.addi(wide, initial)));
            }
            let factors =
                factors.iter().map(|factor| factor.value(elements)).collect::<Result<Vec<_>, _>>()?;
            let real = scaled_by(body, body.convert(ops::arith::SITOFP, sum, element), &factors)?;
            match initial {
                Some(initial) => {
                    Ok(body.value(ops::arith::ADDF, &[real, initial], &contract_flag(body), element)?)
                }
                None => Ok(real),
            }
        })
    }
}

impl<'c: 'a, 'a> ZeroPointTerms<'c, 'a> {
    fn add_to(&self, inputs: &mut Inputs<'c, 'a>) -> Vec<TermSlots> {
        let terms = self.sums.iter().map(|(addend, sums)| TermSlots {
            base: addend.base,
            sums: inputs.add(sums.clone()),
            zero: addend.zero.map(|zero| inputs.add_scalar(zero)),
        });
        terms.collect()
    }

    /// The sum of products of integers, which is the sum of products of bytes plus the terms.
    fn added(
        &self,
        body: &Builder<'c, 'a>,
        sum: Value<'c, 'a>,
        slots: &[TermSlots],
        elements: &[Value<'c, 'a>],
    ) -> Result<Value<'c, 'a>, PassError> {
        let kind = types::i32(body.context);
        let mut sum = sum;
        let mut addends = Vec::new();
        for term in slots {
            let base = body.int(term.base, kind);
            let addend = match term.zero {
                Some(zero) => body.subi(base, zero.element(elements)?),
                None => base,
            };
            sum = body.addi(sum, body.muli(term.sums.element(elements)?, addend));
            addends.push(addend);
        }
        if let [first, second] = addends.as_slice() {
            let product = body.muli(*first, *second);
            sum = body.addi(sum, body.muli(product, body.int(self.products, kind)));
        }
        Ok(sum)
    }
}

/// Whether sums of this number of products fit 32 bits.
fn fit_32_bits([first, second]: &[Stored; 2], products: i64) -> bool {
    let largest =
        first.magnitude().checked_mul(second.magnitude()).and_then(|largest| largest.checked_mul(products));
    largest.is_some_and(|largest| largest <= i64::from(i32::MAX))
}

/// Multiplies a real by the product of scales, which may be computed once for all elements, unless it is a constant that overflows or
/// is subnormal.
fn scaled_by<'c: 'a, 'a>(
    body: &Builder<'c, 'a>,
    value: Value<'c, 'a>,
    factors: &[Value<'c, 'a>],
) -> Result<Value<'c, 'a>, PassError> {
    let kind = value.r#type();
    let multiply = |value, factor| body.value(ops::arith::MULF, &[value, factor], &contract_flag(body), kind);
    if let [first, second] = factors
        && has_normal_product(*first, *second, kind)
    {
        return Ok(multiply(value, body.mulf(*first, *second))?);
    }
    let product = factors.iter().try_fold(value, |value, factor| multiply(value, *factor));
    Ok(product?)
}

/// Whether the product of two scales is a normal number, if both are constants.
fn has_normal_product(first: Value, second: Value, kind: Type) -> bool {
    let Some((first, second)) = real(first).zip(real(second)) else {
        return true;
    };
    match types::reals(kind) {
        Some(RealType::F32) => (first as f32 * second as f32).is_normal(),
        _ => (first * second).is_normal(),
    }
}

/// The attribute of a product or a sum that may become a fused multiply-add.
fn contract_flag<'c: 'a, 'a>(body: &Builder<'c, 'a>) -> [(&'static str, Attribute<'c>); 1] {
    [("fastmath", attributes::fast(body.context, "contract"))]
}
