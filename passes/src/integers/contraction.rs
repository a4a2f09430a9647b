// SPDX-License-Identifier: Apache-2.0
//! Sums of products of quantized values as sums of products of bytes.
//!
//! With `x = s · (p + b)` and `y = t · (q + c)` for bytes `p` and `q`, a sum of `n` products `x · y` is `s · t` times the integer
//! `Σ p · q + b · Σ q + c · Σ p + n · b · c`. The sums of bytes are what the sum of products starts from. A zero point that is known
//! only at run time is part of `b`.

use super::maps::{Input, generic, identity, map_generic};
use super::storage::{Scale, Storage, Stored};
use crate::elementwise::hoist_invariants::Payload;
use crate::ir::arith::Constant;
use crate::ir::copy::Copier;
use crate::ir::linalg::{Fill, Generic, Yield};
use crate::ir::{self, Builder, ops, types};
use crate::structure::Affine;
use melior::ir::operation::OperationLike;
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, OperationRef, Type, Value, ValueLike};
use skript_dialect::PassError;
use skript_dialect::melior;
use skript_semantics::Scalar;
use std::collections::BTreeSet;

/// A sum of products of two tensors.
pub(super) struct Contraction<'c, 'a> {
    op: OperationRef<'c, 'a>,
    payload: Payload<'c, 'a>,
    reductions: Vec<bool>,
    /// By loop; `None` for dynamic ones.
    extents: Vec<Option<i64>>,
    /// A bool; products are left out where it is false.
    predicate: Option<Value<'c, 'a>>,
}

/// What sums of products of bytes lack.
struct Rest<'c, 'a> {
    /// Sums of bytes, each with its factor.
    sums: Vec<(Input<'c, 'a>, Factor<'c, 'a>)>,
    constant: i64,
}

/// What a sum of bytes is multiplied by: a constant, less a zero point that is known only at run time.
#[derive(Clone, Copy)]
struct Factor<'c, 'a> {
    base: i64,
    zero: Option<Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Contraction<'c, 'a> {
    pub(super) fn of(op: OperationRef<'c, 'a>) -> Option<Self> {
        let found = Generic::cast(op).filter(|_| op.operand_count() == 3)?;
        let reductions = found.reductions();
        if op.result_count() != 1 || !reductions.contains(&true) {
            return None;
        }
        let payload = Payload::of(op)?;
        let last = *ir::operations(found.body()?).last()?;
        let (sum, _) = ir::definition(without_casts(Yield::cast(last)?.value().ok()?))?;
        let is_sum = matches!(ir::name(sum).as_str(), ops::arith::ADDF | ops::arith::ADDI);
        let [before, added] = ir::both_operands(sum).ok().filter(|_| is_sum)?;
        let output = *payload.elements.last()?;
        let is_output = |value: Value<'c, 'a>| without_casts(value) == output;
        let term = match (is_output(before), is_output(added)) {
            (true, false) => added,
            (false, true) => before,
            _ => return None,
        };
        let (product, predicate) = guarded(without_casts(term))?;
        let factors = ir::both_operands(product).ok()?.map(without_casts);
        let inputs = payload.elements.get(..2)?;
        let is_product = matches!(ir::name(product).as_str(), ops::arith::MULF | ops::arith::MULI);
        let is_of_both = is_product && (factors == *inputs || inputs.iter().rev().eq(factors.iter()));
        let is_used_once = |element: &Value<'c, 'a>| ir::users(*element).len() == 1;
        let is_plain = is_of_both && payload.elements.iter().all(is_used_once);
        let mut extents = vec![None; reductions.len()];
        for (operand, forms) in op.operands().zip(&payload.subscripts) {
            let own = types::extents(operand.r#type())?;
            for (form, extent) in forms.iter().zip(own) {
                if let Some(l) = form.as_index().filter(|_| extent != types::DYNAMIC) {
                    *extents.get_mut(l)? = Some(extent);
                }
            }
        }
        is_plain.then_some(Contraction { op, payload, reductions, extents, predicate })
    }

    /// The products of one sum; `None` for a dynamic number.
    fn terms(&self) -> Option<i64> {
        let own = self.reductions.iter().zip(&self.extents);
        let mut own = own.filter(|(reduces, _)| **reduces);
        own.try_fold(1_i64, |all, (_, extent)| all.checked_mul((*extent)?))
    }

    /// The predicate, unless it only keeps products with zeros of a border out of sums for factors that are not finite.
    fn needed_predicate(&self) -> Option<Value<'c, 'a>> {
        let predicate = self.predicate?;
        let (either, _) = ir::definition(predicate)?;
        let is_either = ir::name(either) == ops::arith::ORI;
        let operands = either.operands().filter(|_| is_either);
        let tests_factor = |value: Value<'c, 'a>| {
            let tests = |found: Value<'c, 'a>| self.op.operands().take(2).any(|own| own == found);
            is_computed_from(value, &tests, DEEPEST)
        };
        let is_optional = operands.into_iter().any(tests_factor);
        (!is_optional).then_some(predicate)
    }

    /// Whether a scalar of the payload is computed from elements, not from positions alone.
    fn reads_elements(&self, value: Value<'c, 'a>) -> bool {
        let needed = self.payload.needed(std::iter::once(value), &[]);
        let mut used = needed.iter().flat_map(|op| op.operands()).chain([value]);
        used.any(|own| self.payload.elements.contains(&own))
    }

    /// The same sum of products of bytes; `None` if the factors are not quantized to 8 bits, or if sums may exceed 32 bits.
    pub(super) fn convert(&self, storage: &mut Storage<'c, 'a>) -> Result<Option<()>, PassError> {
        let [first, second] = [self.op.operand(0)?, self.op.operand(1)?];
        let constants = [first, second].map(|value| storage.constants.contains(value));
        if constants == [true, true] {
            return Ok(None);
        }
        // One factor has a sign, the other one has none: processors have instructions for such products.
        let signed = usize::from(!constants[0]);
        let mut factors = Vec::new();
        for (position, tensor) in [first, second].into_iter().enumerate() {
            let Some(own) = storage.bytes(tensor, position == signed)? else {
                return Ok(None);
            };
            factors.push(own);
        }
        let (Some(terms), [a, b]) = (self.terms(), factors.as_slice()) else {
            return Ok(None);
        };
        let largest = a.magnitude().checked_mul(b.magnitude());
        let largest = largest.and_then(|product| product.checked_mul(terms));
        if largest.is_none_or(|largest| largest > i64::from(i32::MAX)) {
            return Ok(None);
        }
        let predicate = self.needed_predicate();
        let is_plain = factors.iter().all(|own| own.base == 0 && own.zero.is_none());
        let is_supported = |own| is_plain && !self.reads_elements(own);
        if predicate.is_some_and(|own| !is_supported(own)) {
            return Ok(None);
        }
        let Some(scales) = self.scales(&factors) else {
            return Ok(None);
        };
        let at = Builder::before(storage.context, self.op)?;
        let Some(rest) = self.rest(&factors, terms, &at)? else {
            return Ok(None);
        };
        let sum = self.sum(&factors, predicate, &at)?;
        let result = self.scaled(sum, &rest, &scales, &at)?;
        ir::replace_uses(self.op.result(0)?.into(), result);
        Ok(Some(()))
    }

    fn forms(&self, operand: usize) -> Vec<Affine> {
        let forms = self.payload.subscripts.get(operand).cloned();
        forms.unwrap_or_default()
    }

    /// The dimension of the result that a loop is.
    fn dimension(&self, l: usize) -> Option<usize> {
        let forms = self.forms(2);
        forms.iter().position(|form| form.as_index() == Some(l))
    }

    /// Scales with their subscripts by the dimensions of the result; `None` for one that varies along a reduction.
    fn scales(&self, factors: &[Stored<'c, 'a>]) -> Option<Vec<Scale<'c, 'a>>> {
        let mut scales = Vec::new();
        for (position, factor) in factors.iter().enumerate() {
            scales.push(match &factor.scale {
                Scale::Tensor(tensor, forms) => {
                    let own = self.forms(position);
                    let of_result = |form: &Affine| match form.as_constant() {
                        Some(constant) => Some(Affine::constant(constant)),
                        None => {
                            let l = own.get(form.as_index()?)?.as_index()?;
                            self.dimension(l).map(Affine::index)
                        }
                    };
                    let forms = forms.iter().map(of_result).collect::<Option<_>>()?;
                    Scale::Tensor(*tensor, forms)
                }
                other => other.clone(),
            });
        }
        Some(scales)
    }

    fn word(at: &Builder<'c, 'a>) -> Type<'c> {
        IntegerType::new(at.context, 32).into()
    }

    /// What zero points add to the sums of products of bytes; `None` if a sum of bytes is needed that varies with windows.
    fn rest(
        &self,
        factors: &[Stored<'c, 'a>],
        terms: i64,
        at: &Builder<'c, 'a>,
    ) -> Result<Option<Rest<'c, 'a>>, PassError> {
        let bases: Vec<i64> = factors.iter().map(|factor| factor.base).collect();
        let product = bases.iter().try_fold(terms, |all, base| all.checked_mul(*base));
        let Some(constant) = product.filter(|own| i32::try_from(*own).is_ok()) else {
            return Ok(None);
        };
        let mut sums = Vec::new();
        // A zero point of one factor needs the sum of the other one alone.
        let is_alone = |position: usize| {
            let mut others = factors.iter().enumerate().filter(|(n, _)| *n != position);
            others.all(|(_, other)| other.base == 0 && other.zero.is_none())
        };
        for (position, factor) in factors.iter().enumerate() {
            if factor.zero.is_some() && !is_alone(position) {
                return Ok(None);
            }
            let Some(other) = factors.iter().rev().nth(position) else {
                continue;
            };
            let other = Factor { base: other.base, zero: other.zero };
            if other.base == 0 && other.zero.is_none() {
                continue;
            }
            let Some(own) = self.sums_of_bytes(position, factor, at)? else {
                return Ok(None);
            };
            sums.push((own, other));
        }
        Ok(Some(Rest { sums, constant }))
    }

    /// The sums of a factor's bytes, with their subscripts by the dimensions of the result.
    fn sums_of_bytes(
        &self,
        position: usize,
        factor: &Stored<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Option<Input<'c, 'a>>, PassError> {
        let forms = self.forms(position);
        let reduces = |l: &usize| self.reductions.get(*l) == Some(&true);
        // A sum for each window would be as many sums as there are products.
        let is_window = |form: &Affine| form.as_index().is_none() && form.indices().iter().any(reduces);
        if forms.iter().any(is_window) {
            return Ok(None);
        }
        let loops: BTreeSet<usize> = forms.iter().flat_map(Affine::indices).collect();
        let loops: Vec<usize> = loops.into_iter().collect();
        // Loops of the factor alone.
        let number = |l: usize| loops.iter().position(|own| *own == l);
        let reductions = loops.iter().map(|l| self.reductions.get(*l).copied().unwrap_or(false));
        let reductions: Vec<bool> = reductions.collect();
        let kept: Vec<usize> = (0..loops.len()).filter(|n| reductions.get(*n) == Some(&false)).collect();
        let all = 0..self.reductions.len();
        let new = all.map(|l| number(l).map_or(Affine::constant(0), Affine::index));
        let new: Vec<Affine> = new.collect();
        let extent = |l: &usize| self.extents.get(*l).copied().flatten();
        let bounds: Option<Vec<i64>> = loops.iter().map(extent).collect();
        let Some(bounds) = bounds else {
            return Ok(None);
        };
        let renamed = |form: &Affine| form.substitute(&new, &bounds);
        let own: Option<Vec<Affine>> = forms.iter().map(renamed).collect();
        let extents = kept.iter().map(|n| {
            let l = loops.get(*n)?;
            self.extents.get(*l).copied().flatten()
        });
        let (Some(own), Some(extents)) = (own, extents.collect::<Option<Vec<i64>>>()) else {
            return Ok(None);
        };
        // Reductions that the factor does not vary along repeat its sum.
        let others = self.reductions.iter().zip(&self.extents).enumerate();
        let repeats = others
            .filter(|(l, (reduces, _))| **reduces && number(*l).is_none())
            .map(|(_, (_, extent))| extent.unwrap_or(1))
            .product::<i64>();
        let word = Self::word(at);
        let kind = types::tensor(&extents, word);
        let zero = at.constant(Scalar::Int(0), word)?;
        let start = at.fill(zero, kind)?;
        let output = Input(start, kept.iter().copied().map(Affine::index).collect());
        let input = Input(factor.bytes, own);
        let sums = generic(at, &[input], &output, &reductions, |body, elements| {
            let [byte, sum] = elements else {
                return Err("a sum without elements".into());
            };
            let wide = extended(body, *byte, factor.is_signed)?;
            let repeats = body.constant(Scalar::Int(repeats), word)?;
            let wide = body.value(ops::arith::MULI, &[wide, repeats], &[], word)?;
            Ok(body.value(ops::arith::ADDI, &[*sum, wide], &[], word)?)
        })?;
        let dimensions = kept.iter().map(|n| {
            let l = loops.get(*n)?;
            self.dimension(*l).map(Affine::index)
        });
        Ok(dimensions.collect::<Option<_>>().map(|forms| Input(sums, forms)))
    }

    /// The sum of products of bytes.
    fn sum(
        &self,
        factors: &[Stored<'c, 'a>],
        predicate: Option<Value<'c, 'a>>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let word = Self::word(at);
        let zero = at.constant(Scalar::Int(0), word)?;
        let kind = types::of_element(self.op.result(0)?.r#type(), word);
        let start = at.fill_sized(zero, kind, &at.dynamic_extents(self.op.operand(2)?)?)?;
        let inputs: Vec<Input> = factors
            .iter()
            .enumerate()
            .map(|(position, factor)| Input(factor.bytes, self.forms(position)))
            .collect();
        let output = Input(start, self.forms(2));
        generic(at, &inputs, &output, &self.reductions, |body, elements| {
            let [first, second, sum] = elements else {
                return Err("a sum without elements".into());
            };
            let mut wide = Vec::new();
            for (element, factor) in [first, second].into_iter().zip(factors) {
                wide.push(extended(body, *element, factor.is_signed)?);
            }
            let mut product = body.value(ops::arith::MULI, &wide, &[], word)?;
            if let Some(predicate) = predicate {
                let mut copier = Copier::new();
                for op in self.payload.needed(std::iter::once(predicate), &[]) {
                    copier.copy(op, &body.with_location(op.location()), &mut |_, _, _| Ok(false))?;
                }
                let zero = body.constant(Scalar::Int(0), word)?;
                let operands = [copier.get(predicate), product, zero];
                product = body.value(ops::arith::SELECT, &operands, &[], word)?;
            }
            Ok(body.value(ops::arith::ADDI, &[*sum, product], &[], word)?)
        })
    }

    /// What the integer sums stand for, plus what the sums started from.
    fn scaled(
        &self,
        sum: Value<'c, 'a>,
        rest: &Rest<'c, 'a>,
        scales: &[Scale<'c, 'a>],
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let result = self.op.result(0)?.r#type();
        let element = types::element_of(result).ok_or("a tensor without an element type")?;
        let rank = types::extents(result).map_or(0, |extents| extents.len());
        let destination = self.op.operand(2)?;
        let is_integer = IntegerType::try_from(element).is_ok();
        let word = Self::word(at);
        let mut inputs = vec![Input(sum, identity(rank))];
        for (own, factor) in &rest.sums {
            inputs.push(own.clone());
            inputs.extend(factor.zero.map(|zero| Input(zero, Vec::new())));
        }
        for scale in scales {
            if let Scale::Tensor(tensor, forms) = scale {
                inputs.push(Input(*tensor, forms.clone()));
            }
        }
        let starts_with_zero = is_zero(destination);
        if !starts_with_zero {
            inputs.push(Input(destination, identity(rank)));
        }
        let extents = at.dynamic_extents(destination)?;
        map_generic(at, &inputs, result, &extents, |body, elements| {
            let mut elements = elements.iter().copied();
            let mut next = || elements.next().ok_or("a payload without an element");
            let mut sum = next()?;
            for (_, factor) in &rest.sums {
                let own = next()?;
                let mut amount = body.constant(Scalar::Int(factor.base), word)?;
                if factor.zero.is_some() {
                    amount = body.value(ops::arith::SUBI, &[amount, next()?], &[], word)?;
                }
                let own = body.value(ops::arith::MULI, &[own, amount], &[], word)?;
                sum = body.value(ops::arith::ADDI, &[sum, own], &[], word)?;
            }
            if rest.constant != 0 {
                let constant = body.constant(Scalar::Int(rest.constant), word)?;
                sum = body.value(ops::arith::ADDI, &[sum, constant], &[], word)?;
            }
            let mut scale: Option<Value> = None;
            for own in scales {
                let factor = match own {
                    Scale::One => continue,
                    Scale::Scalar(value) => *value,
                    Scale::Tensor(..) => next()?,
                };
                scale = Some(match scale {
                    Some(other) => body.value(ops::arith::MULF, &[other, factor], &[], element)?,
                    None => factor,
                });
            }
            let mut value = match is_integer {
                true if element == sum.r#type() => sum,
                true => body.value(ops::arith::EXTSI, &[sum], &[], element)?,
                false => body.value(ops::arith::SITOFP, &[sum], &[], element)?,
            };
            let contract = contraction(body)?;
            if let Some(scale) = scale {
                value = body.value(ops::arith::MULF, &[value, scale], &contract, element)?;
            }
            if starts_with_zero {
                return Ok(value);
            }
            let start = next()?;
            Ok(if is_integer {
                body.value(ops::arith::ADDI, &[value, start], &[], element)?
            } else {
                body.value(ops::arith::ADDF, &[value, start], &contract, element)?
            })
        })
    }
}

/// Operations between a tensor and a test of it: as many are looked at.
const DEEPEST: usize = 8;

/// Whether a scalar is a comparison of what is reduced from a tensor that `is_found` accepts.
fn is_computed_from<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    is_found: &dyn Fn(Value<'c, 'a>) -> bool,
    depth: usize,
) -> bool {
    if is_found(value) {
        return true;
    }
    let Some((op, _)) = ir::definition(value).filter(|_| depth > 0) else {
        return false;
    };
    let tests = [ops::arith::ANDI, ops::arith::CMPF, ops::linalg::GENERIC, ops::tensor::EXTRACT];
    let is_test = tests.contains(&ir::name(op).as_str());
    is_test && op.operands().any(|operand| is_computed_from(operand, is_found, depth - 1))
}

/// The attribute of products and sums that may be contracted.
fn contraction<'c: 'a, 'a>(body: &Builder<'c, 'a>) -> Result<[(&'static str, Attribute<'c>); 1], PassError> {
    let flags = Attribute::parse(body.context, "#arith.fastmath<contract>");
    Ok([("fastmath", flags.ok_or("arith is not loaded")?)])
}

/// A byte in 32 bits.
fn extended<'c: 'a, 'a>(
    body: &Builder<'c, 'a>,
    byte: Value<'c, 'a>,
    is_signed: bool,
) -> Result<Value<'c, 'a>, PassError> {
    let name = if is_signed { ops::arith::EXTSI } else { ops::arith::EXTUI };
    let word = IntegerType::new(body.context, 32).into();
    Ok(body.value(name, &[byte], &[], word)?)
}

/// Whether a tensor is filled with zeros.
fn is_zero(tensor: Value) -> bool {
    let value = Fill::of(tensor).and_then(|fill| fill.value().ok());
    let constant = value.and_then(Constant::of);
    constant.is_some_and(|constant| {
        let text = constant.text();
        let number = text.split(' ').next().unwrap_or_default();
        number.parse() == Ok(0.0)
    })
}

/// The integer that casts widen or narrow.
fn without_casts<'c: 'a, 'a>(value: Value<'c, 'a>) -> Value<'c, 'a> {
    let casts = [ops::arith::INDEX_CAST, ops::arith::EXTSI];
    match ir::definition(value) {
        Some((op, _)) if casts.contains(&ir::name(op).as_str()) => op.operand(0).map_or(value, without_casts),
        _ => value,
    }
}

/// The product that a term is, and the bool where it is not zero.
fn guarded<'c: 'a, 'a>(term: Value<'c, 'a>) -> Option<(OperationRef<'c, 'a>, Option<Value<'c, 'a>>)> {
    let (op, _) = ir::definition(term)?;
    if ir::name(op) != ops::arith::SELECT {
        return Some((op, None));
    }
    let zero = Constant::of(op.operand(2).ok()?)?.text();
    let number: f64 = zero.split(' ').next()?.parse().ok()?;
    let (product, _) = ir::definition(without_casts(op.operand(1).ok()?))?;
    (number == 0.0).then_some((product, Some(op.operand(0).ok()?)))
}
