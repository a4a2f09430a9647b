// SPDX-License-Identifier: Apache-2.0
//! The largest or smallest elements along a dimension: a sort, whose first elements are kept.

use super::super::error::ExportError;
use super::super::tensors::Tensors;
use super::Invocation;
use melior::Error;
use melior::ir::Value;
use skript_dialect::melior;
use skript_semantics::Scalar;

/// Values and positions.
pub(super) fn export<'c: 'a, 'a>(
    call: &Invocation<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, ExportError> {
    let at = &call.at;
    let down = call.attribute(|c| c.bool("largest"))?;
    // The key that sorts last: equal elements keep their order.
    let worst = if down { f64::NEG_INFINITY } else { f64::NAN };
    let input = call.input_or(0, Scalar::Real(worst))?;
    let extents = at.extents(input)?;
    let axis = call.dimension(call.attribute(|c| c.int("axis"))?, extents.len())?;
    let length = extents.get(axis).copied().unwrap_or(0);
    let positions = at.broadcast(at.iota(length)?, &[axis as i64], &extents)?;
    let sorted = at.sort(&[input, positions], axis, |inner, elements| {
        let [one, other, ..] = elements else {
            return Err(Error::OperationBuild);
        };
        let (low, high) = if down { (*other, *one) } else { (*one, *other) };
        is_below(low, high, inner)
    })?;
    let kept = call.extents(0)?;
    let starts = vec![0; kept.len()];
    let strides = vec![1; kept.len()];
    let heads = sorted
        .iter()
        .map(|s| at.slice(*s, &starts, &kept, &strides));
    Ok(heads.collect::<Result<_, _>>()?)
}

/// `low < high`, where a NaN is larger than all numbers.
fn is_below<'c: 'a, 'a>(
    low: Value<'c, 'a>,
    high: Value<'c, 'a>,
    at: &Tensors<'c, 'a>,
) -> Result<Value<'c, 'a>, Error> {
    let is_less = at.compare("LT", "FLOAT", low, high)?;
    let is_number = at.compare("EQ", "FLOAT", low, low)?;
    let is_nan = at.compare("NE", "FLOAT", high, high)?;
    let numbers_first = at.same("and", &[is_number, is_nan])?;
    at.same("or", &[is_less, numbers_first])
}
