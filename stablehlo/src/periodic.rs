// SPDX-License-Identifier: Apache-2.0
//! Exports reads with a dynamic period: at `f mod s`, where f is a nonnegative affine form of the indices and s is a
//! scalar.
use super::access::run;
use super::constants::filler;
use super::error::ExportError;
use super::evaluate::Evaluator;
use super::tensors::Tensors;
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
        let row = periods(tensor, dimension, period.value, count, &self.at);
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
) -> Value<'c, 'a> {
    let mut extents = at.extents(tensor);
    let rank = extents.len();
    let none = vec![0; rank];
    let here = |list: &[i64], number: i64| {
        let mut list = list.to_vec();
        list[dimension] = number;
        list
    };
    let extent = extents[dimension];
    let with = filler(at.element(tensor));
    // A period of zero reads the first element, like the remainder of zero.
    let mut filled = at.same("maximum", &[period, at.integer(1)]);
    let max_start = at.integer(count);
    let high = here(&none, count - extent);
    let mut row = at.pad(tensor, with, &none, &high, &none);
    extents = here(&extents, count);
    let after = here(&none, count);
    // A lower bound of the number of elements that are filled.
    let mut min_filled = 1;
    while min_filled < count {
        let start = at.same("minimum", &[filled, max_start]);
        let zero = at.integer(0);
        let starts: Vec<_> = (0..rank).map(|d| if d == dimension { start } else { zero }).collect();
        let wide = at.pad(row, with, &none, &after, &none);
        let wide = at.dynamic_update_slice(wide, row, &starts);
        row = at.slice(wide, &none, &extents, &vec![1; rank]);
        filled = at.same("add", &[start, start]);
        min_filled *= 2;
    }
    row
}
