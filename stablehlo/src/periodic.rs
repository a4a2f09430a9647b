// SPDX-License-Identifier: Apache-2.0
//! Dimensions that are read with a dynamic period: at `f mod s`, f a nonnegative affine form of the indices, s a
//! scalar.

use super::access::run;
use super::constants::filler;
use super::error::ExportError;
use super::evaluate::Evaluator;
use super::tensors::Tensors;
use melior::Error;
use melior::ir::Value;
use melior::ir::operation::OperationResult;
use skript_dialect::melior;
use skript_passes::ir;
use skript_passes::ir::copy::operation_name;
use skript_passes::ir::ops;
use skript_passes::structure::Affine;

impl<'c: 'a, 'a> Evaluator<'_, 'c, 'a> {
    /// The tensor with a dimension repeated periodically, and the subscript along it. `None` if the subscript has
    /// another form.
    pub(crate) fn repeated(
        &self,
        tensor: Value<'c, 'a>,
        dimension: usize,
        subscript: Value<'c, 'a>,
    ) -> Result<Option<(Value<'c, 'a>, Affine)>, ExportError> {
        let op = OperationResult::try_from(subscript).map(|r| r.owner());
        let Some(op) = op.ok().filter(|op| operation_name(*op) == ops::skript::MOD) else {
            return Ok(None);
        };
        let [dividend, period] = ir::both_operands(op)?;
        let indices = self.form(dividend);
        let period = self.field(period)?;
        let is_alone = self.sequential.is_empty() && period.indices.is_empty();
        let Some(form) = indices.filter(|form| is_alone && run(form, self.domain()).is_some()) else {
            return Ok(None);
        };
        let range = form.range(self.domain());
        let Some(count) = range.filter(|r| r.low >= 0).and_then(|r| r.high.checked_add(1)) else {
            return Ok(None);
        };
        if self.form(subscript).is_some() || self.known(subscript).is_some() {
            return Ok(None);
        }
        let row = periods(tensor, dimension, period.value, count, &self.at)?;
        Ok(Some((row, form)))
    }
}

/// The first `period` elements of a dimension, repeated periodically up to the required extent: each step doubles the
/// length.
fn periods<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    dimension: usize,
    period: Value<'c, 'a>,
    count: i64,
    at: &Tensors<'c, 'a>,
) -> Result<Value<'c, 'a>, Error> {
    let mut extents = at.extents(tensor)?;
    let rank = extents.len();
    let none = vec![0; rank];
    let here = |list: &[i64], number: i64| {
        let mut list = list.to_vec();
        let own = list.get_mut(dimension).ok_or(Error::OperationBuild)?;
        *own = number;
        Ok::<_, Error>(list)
    };
    let extent = extents.get(dimension).copied().ok_or(Error::OperationBuild)?;
    let with = filler(at.element(tensor)?);
    // One that is none reads the first element only, as the remainder of zero is zero.
    let mut filled = at.same("maximum", &[period, at.integer(1)?])?;
    let most = at.integer(count)?;
    let high = here(&none, count - extent)?;
    let mut row = at.pad(tensor, with, &none, &high, &none)?;
    extents = here(&extents, count)?;
    let after = here(&none, count)?;
    let mut least = 1;
    while least < count {
        let start = at.same("minimum", &[filled, most])?;
        let zero = at.integer(0)?;
        let starts: Vec<_> = (0..rank).map(|d| if d == dimension { start } else { zero }).collect();
        let wide = at.pad(row, with, &none, &after, &none)?;
        let wide = at.dynamic_update_slice(wide, row, &starts)?;
        row = at.slice(wide, &none, &extents, &vec![1; rank])?;
        filled = at.same("add", &[start, start])?;
        least *= 2;
    }
    Ok(row)
}
