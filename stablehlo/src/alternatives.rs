// SPDX-License-Identifier: Apache-2.0
//! Exports reads at a subscript that selects among several subscripts at run time: `min(f, s)`, `max(f, s)` or
//! `c ? f : g`, with f and g affine in one index and s a scalar. The export reads the dimension at each candidate and
//! selects each element: mirrored and clamped borders of dynamic dimensions become slices.
use super::access::{run, slice};
use super::error::ExportError;
use super::evaluate::Evaluator;
use super::rearrange::MAX_PIECES;
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
    /// The tensor with the selected elements along a dimension, and the subscript of this dimension. `None` if the
    /// subscript is not a selection, has too many candidates, or depends on an index that other dimensions use, too.
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
        if !(2..=MAX_PIECES).contains(&candidates.len()) {
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
        let mut extents = at.extents(tensor);
        extents[dimension] = self.domain()[*index];
        let mut selection = None;
        for (field, candidate) in positions {
            let Some(row) = self.row(tensor, dimension, candidate)? else {
                return Ok(None);
            };
            let along: Vec<i64> = (0..extents.len() as i64).collect();
            let row = at.broadcast(row, &along, &extents);
            let here = field.over(&[*index], self.domain(), at);
            let is_selected = at.compare("EQ", "SIGNED", position.value, here);
            let is_selected = at.broadcast(is_selected, &[dimension as i64], &extents);
            selection = Some(match selection {
                Some(others) => at.select(is_selected, row, others),
                None => row,
            });
        }
        Ok(selection.map(|row| (row, Affine::index(*index))))
    }

    /// Reads a dimension at a subscript: one element for each value of the index, or one element if the subscript has
    /// no index. Out-of-bounds elements are unspecified. `None` if this requires a gather.
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
                let Some((shift, within)) = Shift::new(dimension, &position, self.domain(), at) else {
                    return Ok(None);
                };
                (shift.cut(tensor, at), within[within.len() - 1].clone())
            }
        };
        let Some(run) = run(&form, self.domain()) else {
            return Ok(None);
        };
        let mut runs: Vec<_> = at.extents(tensor).iter().map(|_| None).collect();
        runs[dimension] = Some(run);
        Ok(Some(slice(tensor, &runs, at)))
    }
}

/// Collects the distinct values among which a value selects; a value that is not a selection is its only candidate.
/// `seen` contains the visited values, because selections share operands.
fn candidates_of<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    seen: &mut HashSet<ValueKey>,
    candidates: &mut Vec<Value<'c, 'a>>,
) -> Result<(), ExportError> {
    if candidates.len() > MAX_PIECES || !seen.insert(ValueKey::of(value)) {
        return Ok(());
    }
    let op = OperationResult::try_from(value).map(|r| r.owner()).ok();
    let first = op.and_then(|op| match operation_name(op).as_str() {
        ops::skript::MIN | ops::skript::MAX | ops::arith::MINSI | ops::arith::MAXSI => Some(0),
        ops::skript::SELECT | ops::arith::SELECT => Some(1),
        _ => None,
    });
    let (Some(op), Some(first)) = (op, first) else {
        candidates.push(value);
        return Ok(());
    };
    for operand in op.operands().skip(first) {
        candidates_of(operand, seen, candidates)?;
    }
    Ok(())
}
