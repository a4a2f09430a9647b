// SPDX-License-Identifier: Apache-2.0
//! Exports the largest or smallest elements along a dimension as a sort and a slice of its first elements.
use super::super::error::ExportError;
use super::super::tensors::Tensors;
use super::Invocation;
use melior::ir::Value;
use skript_dialect::melior;
use skript_passes::ir::types;
use skript_semantics::{Scalar, ScalarKind};

/// Returns the values and their positions.
pub(super) fn export<'c: 'a, 'a>(call: &Invocation<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, ExportError> {
    let at = &call.at;
    let down = call.attribute(|c| c.bool("largest"))?;
    // The padding sorts last: the sort is stable.
    let kind = types::kind_of(at.element(call.input(0)?));
    let is_real = kind == Some(ScalarKind::Real);
    let worst = match (is_real, down) {
        (true, true) => Scalar::Real(f64::NEG_INFINITY),
        (true, false) => Scalar::Real(f64::NAN),
        (false, true) => Scalar::Int(i64::MIN),
        (false, false) => Scalar::Int(i64::MAX),
    };
    let input = call.input_or(0, worst)?;
    let extents = at.extents(input);
    let axis = call.dimension(call.attribute(|c| c.int("axis"))?, extents.len())?;
    let length = extents[axis];
    let positions = at.broadcast(at.iota(length), &[axis as i64], &extents);
    let sorted = at.sort(&[input, positions], axis, |inner, elements| {
        let [one, other] = [elements[0], elements[1]];
        let (low, high) = if down { (other, one) } else { (one, other) };
        if is_real { is_below(low, high, inner) } else { inner.compare("LT", "SIGNED", low, high) }
    });
    let kept = call.extents(0)?;
    let starts = vec![0; kept.len()];
    let strides = vec![1; kept.len()];
    Ok(sorted.iter().map(|s| at.slice(*s, &starts, &kept, &strides)).collect())
}

/// `low < high`, where a NaN is larger than all numbers.
fn is_below<'c: 'a, 'a>(low: Value<'c, 'a>, high: Value<'c, 'a>, at: &Tensors<'c, 'a>) -> Value<'c, 'a> {
    let is_less = at.compare("LT", "FLOAT", low, high);
    let is_number = at.compare("EQ", "FLOAT", low, low);
    let is_nan = at.compare("NE", "FLOAT", high, high);
    let numbers_first = at.same("and", &[is_number, is_nan]);
    at.same("or", &[is_less, numbers_first])
}
