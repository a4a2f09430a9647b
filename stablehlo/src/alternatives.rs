// SPDX-License-Identifier: Apache-2.0
//! Dimensions whose subscript selects among several at run time: `min(f, s)`, `max(f, s)` or `c ? f : g`, with f and g
//! affine in one index and s a scalar. The dimension is read at each of them, and each element is selected. So mirrored
//! and clamped borders of dynamic dimensions are slices.

use super::access::{run, slice};
use super::error::ExportError;
use super::evaluate::Evaluator;
use super::rearrange::MOST;
use super::shift::Shift;
use super::subscript::DynamicSubscript;
use melior::ir::Value;
use melior::ir::operation::{OperationLike, OperationResult};
use skript_dialect::melior;
use skript_passes::ir::ValueKey;
use skript_passes::ir::copy::operation_name;
use skript_passes::ir::ops;
use skript_passes::structure::Affine;
use std::collections::HashSet;

impl<'c: 'a, 'a> Evaluator<'_, 'c, 'a> {
    /// The tensor with the selected elements along a dimension, and the subscript along these. `None` if the subscript
    /// selects nothing, or among too many, or if other dimensions use its index too.
    pub(crate) fn selected(
        &self,
        tensor: Value<'c, 'a>,
        dimension: usize,
        subscripts: &[Value<'c, 'a>],
    ) -> Result<Option<(Value<'c, 'a>, Affine)>, ExportError> {
        let Some(subscript) = subscripts.get(dimension).copied() else {
            return Ok(None);
        };
        let decided = self.form(subscript).is_some() || self.known(subscript).is_some();
        let position = self.field(subscript)?;
        let [index] = position.indices.as_slice() else {
            return Ok(None);
        };
        if decided || !self.sequential.is_empty() {
            return Ok(None);
        }
        for (other, value) in subscripts.iter().enumerate() {
            if other != dimension && self.field(*value)?.indices.contains(index) {
                return Ok(None);
            }
        }
        let mut candidates = Vec::new();
        candidates_of(subscript, &mut HashSet::new(), &mut candidates)?;
        if !(2..=MOST).contains(&candidates.len()) {
            return Ok(None);
        }
        let mut positions = Vec::new();
        for candidate in candidates {
            let position = self.dynamic_subscript(candidate)?;
            let Some(position) = position.filter(|position| position.rows.is_empty()) else {
                return Ok(None);
            };
            positions.push((self.field(candidate)?, position));
        }
        let at = &self.at;
        let mut extents = at.extents(tensor)?;
        let count = self.domain().get(*index).copied();
        let (Some(count), Some(extent)) = (count, extents.get_mut(dimension)) else {
            return Ok(None);
        };
        *extent = count;
        let mut chosen = None;
        for (field, candidate) in positions {
            let Some(row) = self.row(tensor, dimension, candidate)? else {
                return Ok(None);
            };
            let along: Vec<i64> = (0..extents.len() as i64).collect();
            let row = at.broadcast(row, &along, &extents)?;
            let here = field.over(&[*index], self.domain(), at)?;
            let is_meant = at.compare("EQ", "SIGNED", position.value, here)?;
            let is_meant = at.broadcast(is_meant, &[dimension as i64], &extents)?;
            chosen = Some(match chosen {
                Some(others) => at.select(is_meant, row, others)?,
                None => row,
            });
        }
        Ok(chosen.map(|row| (row, Affine::index(*index))))
    }

    /// A dimension at a subscript: one element for each value of its index, or one element without an index. Elements
    /// out of bounds are unspecified. `None` if that requires a gather.
    fn row(
        &self,
        tensor: Value<'c, 'a>,
        dimension: usize,
        position: DynamicSubscript<'c, 'a>,
    ) -> Result<Option<Value<'c, 'a>>, ExportError> {
        let at = &self.at;
        let (tensor, form) = match position.by {
            None => (tensor, position.form),
            Some(_) => {
                let Some((shift, mut within)) = Shift::of(dimension, &position, self.domain(), at)? else {
                    return Ok(None);
                };
                let Some(form) = within.pop() else {
                    return Ok(None);
                };
                (shift.cut(tensor, at)?, form)
            }
        };
        let Some(own) = run(&form, self.domain()) else {
            return Ok(None);
        };
        let mut runs: Vec<_> = at.extents(tensor)?.iter().map(|_| None).collect();
        if let Some(slot) = runs.get_mut(dimension) {
            *slot = Some(own);
        }
        Ok(Some(slice(tensor, &runs, at)?))
    }
}

/// The values among which a value selects, each once; any other value is its only candidate. `seen` holds visited
/// values, because selections share operands.
fn candidates_of<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    seen: &mut HashSet<ValueKey>,
    found: &mut Vec<Value<'c, 'a>>,
) -> Result<(), ExportError> {
    if found.len() > MOST || !seen.insert(ValueKey::of(value)) {
        return Ok(());
    }
    let op = OperationResult::try_from(value).map(|r| r.owner()).ok();
    let name = op.map(operation_name).unwrap_or_default();
    let from = match name.as_str() {
        ops::skript::MIN | ops::skript::MAX | ops::arith::MINSI | ops::arith::MAXSI => 0,
        ops::skript::SELECT | ops::arith::SELECT => 1,
        _ => {
            found.push(value);
            return Ok(());
        }
    };
    for operand in op.iter().flat_map(|op| op.operands().skip(from)) {
        candidates_of(operand, seen, found)?;
    }
    Ok(())
}
