// SPDX-License-Identifier: Apache-2.0
//! Whether the factors of a guarded sum of products are finite.
//!
//! A window that multiplies by a border of zeros does not need a guard if the other factors are finite. One test before the loops
//! covers all points: the sum of all factors times zero is zero if they are finite, and NaN otherwise. Without the guard a sum of
//! zeros may be +0 where the guarded sum is −0.

use super::Refusal;
use super::operand::Operand;
use crate::ir::generic::{Access, all_loops, generic};
use crate::ir::{Builder, attributes, location, ops, types};
use crate::structure::{Affine, Extent};
use melior::ir::{Location, Type, Value, ValueLike};
use skript_semantics::{Scalar, ScalarOp};

/// Minimum number of points that use each element of the tested tensor.
const MIN_REUSE: i64 = 16;

/// Emits a bool before the formula: whether all elements of the operands are finite. Returns `None` if the test may cost more than
/// the guard, or if an extent of a tested tensor is dynamic. `tests_finite` in `passes/src/integers/finite_test.rs` recognizes the test.
pub(crate) fn are_finite<'c: 'a, 'a>(
    operands: &[&Operand<'c, 'a>],
    extents: &[Extent],
    accumulates: &str,
    at: &Builder<'c, 'a>,
) -> Result<Option<Value<'c, 'a>>, Refusal> {
    if !operands.iter().all(|operand| is_cheap(operand, extents)) {
        return Ok(None);
    }
    // With this location the profile does not count the test as work of the operator.
    let at = &at.with_location(Location::name(at.context, location::FINITE, at.location));
    let flag = types::flag(at.context);
    let mut all: Option<Value<'c, 'a>> = None;
    for operand in operands {
        let (sum, zero) = sum_of_zeros(operand.tensor, accumulates, at)?;
        let is_finite = at.scalar(ScalarOp::Eq, &[sum, zero], flag)?;
        all = Some(match all {
            Some(others) => at.scalar(ScalarOp::And, &[others, is_finite], flag)?,
            None => is_finite,
        });
    }
    Ok(all)
}

/// Whether many points use each element. Loops with dynamic extents are expected to have many.
fn is_cheap(operand: &Operand, extents: &[Extent]) -> bool {
    let is_static =
        types::extents(operand.tensor.r#type()).is_some_and(|extents| !extents.contains(&types::DYNAMIC));
    let used: Vec<usize> = operand.forms.iter().flat_map(Affine::indices).collect();
    let others = extents.iter().enumerate().filter(|(l, _)| !used.contains(l));
    let points = others.map(|(_, extent)| extent.as_static().map_or(MIN_REUSE, i64::from));
    is_static && points.fold(1, i64::saturating_mul) >= MIN_REUSE
}

/// Emits the sum of all elements times zero. Returns it with a zero of the same type.
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

    let factors = Access(tensor, all_loops(rank));
    let generic =
        generic(at, &[factors], &[Access(init, Vec::new())], &vec![true; rank], |inner, elements| {
            let [factor, sum] = elements else {
                return Err(unknown());
            };
            let widened = if element == wide {
                *factor
            } else {
                inner.value(ops::arith::EXTF, &[*factor], &[], wide)?
            };
            let product = inner.scalar(ScalarOp::Mul, &[widened, zero], wide)?;
            let marked = (accumulates, attributes::unit(at.context));
            Ok(vec![inner.value(ScalarOp::Add.row().name, &[*sum, product], &[marked], wide)?])
        })?;
    let sum = Value::from(generic.result(0)?);
    Ok((at.value(ops::tensor::EXTRACT, &[sum], &[], wide)?, zero))
}
