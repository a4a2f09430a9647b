// SPDX-License-Identifier: Apache-2.0
//! Whether the factors of a guarded sum of products are finite.
//!
//! A window that multiplies by a border of zeros needs no guard if the other factors are finite. That is one test for all points,
//! before the loops: the sum of the factors times zero is zero, or NaN. A sum of zeros may then be +0 where the guarded one is −0.

use super::Refusal;
use super::operand::Operand;
use crate::ir::linalg::reduce;
use crate::ir::{Builder, attributes, ops, types};
use crate::structure::{Affine, Extent};
use melior::ir::{Location, Type, Value, ValueLike};
use skript_semantics::{Scalar, ScalarOp};

/// Points that use each element of a tensor that is tested: at least as many.
const LEAST_REUSE: i64 = 16;

/// The name of the location of the test.
const TEST: &str = "are finite";

/// Whether the elements of operands are finite, as a bool before the formula. `None` if the test may cost more than the guard, or if
/// an extent is dynamic.
///
/// # Errors
/// The builder's error.
pub(crate) fn are_finite<'c: 'a, 'a>(
    operands: &[&Operand<'c, 'a>],
    extents: &[Extent],
    accumulates: &str,
    at: &Builder<'c, 'a>,
) -> Result<Option<Value<'c, 'a>>, Refusal> {
    if !operands.iter().all(|operand| is_cheap(operand, extents)) {
        return Ok(None);
    }
    // The test is no work of the operator's own.
    let at = &at.with_location(Location::name(at.context, TEST, at.location));
    let flag = types::flag(at.context);
    let mut all: Option<Value<'c, 'a>> = None;
    for operand in operands {
        let (sum, zero) = sum_of_zeros(operand.tensor, accumulates, at)?;
        let own = at.scalar(ScalarOp::Eq, &[sum, zero], flag)?;
        all = Some(match all {
            Some(others) => at.scalar(ScalarOp::And, &[others, own], flag)?,
            None => own,
        });
    }
    Ok(all)
}

/// Whether many points use each element.
fn is_cheap(operand: &Operand, extents: &[Extent]) -> bool {
    let is_static =
        types::extents(operand.tensor.r#type()).is_some_and(|extents| !extents.contains(&types::DYNAMIC));
    let used: Vec<usize> = operand.forms.iter().flat_map(Affine::indices).collect();
    let others = extents.iter().enumerate().filter(|(l, _)| !used.contains(l));
    let points = others.filter_map(|(_, extent)| extent.as_static());
    is_static && points.fold(1, i64::saturating_mul) >= LEAST_REUSE
}

/// The sum of all elements times zero, and a zero of its type.
fn sum_of_zeros<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    accumulates: &str,
    at: &Builder<'c, 'a>,
) -> Result<(Value<'c, 'a>, Value<'c, 'a>), Refusal> {
    let unknown = || Refusal::Shape("multiplies by no tensor of reals");
    let element = types::element_of(tensor.r#type()).ok_or_else(unknown)?;
    let double = Type::float64(at.context);
    let wide = if element == double { double } else { Type::float32(at.context) };
    let rank = types::extents(tensor.r#type()).ok_or_else(unknown)?.len();
    let zero = at.constant(Scalar::Real(0.0), wide)?;
    let result = types::tensor(&[], wide);
    let init = at.fill(zero, result)?;

    let (region, inner, arguments) = at.region(&[element, wide]);
    let [own, sum] = arguments.as_slice() else {
        return Err(unknown());
    };
    let own = if element == wide { *own } else { inner.value(ops::arith::EXTF, &[*own], &[], wide)? };
    let product = inner.scalar(ScalarOp::Mul, &[own, zero], wide)?;
    let marked = (accumulates, attributes::unit(at.context));
    let add = ScalarOp::Add.row().name;
    let total = inner.value(add, &[*sum, product], &[marked], wide)?;
    inner.create(ops::linalg::YIELD, &[total], &[], &[], Vec::new())?;

    let generic = reduce(at, [tensor, init], &vec![true; rank], region)?;
    let sum = Value::from(generic.result(0)?);
    Ok((at.value(ops::tensor::EXTRACT, &[sum], &[], wide)?, zero))
}
