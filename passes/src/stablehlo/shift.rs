//! Dimensions that are read or written from where only the run knows: at `f + s`, f an affine form of the indices and s one
//! number for all points. The part that f reaches is cut out, and the subscript is f alone.

use super::error::ExportError;
use super::evaluate::Evaluator;
use super::field::Field;
use super::tensors::Tensors;
use super::write::filler;
use crate::mlir::copy::operation_name;
use crate::structure::Affine;
use melior::Error;
use melior::ir::Value;
use melior::ir::operation::{OperationLike, OperationResult};
use skript_dialect::melior;

/// The part of a dimension from `start` on, which may lie outside.
pub struct Shift<'c, 'a> {
    dimension: usize,
    pub start: Value<'c, 'a>,
    count: i64,
}

impl<'c: 'a, 'a> Shift<'c, 'a> {
    /// The part at a subscript `form + by`, and the subscript within it. `None`: the form has no range.
    pub fn of(
        dimension: usize,
        form: &Affine,
        by: Value<'c, 'a>,
        domain: &[i64],
        at: &Tensors<'c, 'a>,
    ) -> Result<Option<(Self, Affine)>, Error> {
        let Some(range) = form.range(domain) else {
            return Ok(None);
        };
        let count = range
            .high
            .checked_sub(range.low)
            .and_then(|c| c.checked_add(1));
        let (Some(count), Some(inner)) = (count, form.sub(&Affine::constant(range.low))) else {
            return Ok(None);
        };
        let start = match range.low {
            0 => by,
            low => at.same("add", &[by, at.integer(low)?])?,
        };
        let shift = Shift {
            dimension,
            start,
            count,
        };
        Ok(Some((shift, inner)))
    }

    /// The tensor with so many elements around it that no part leaves it which meets an element.
    fn surrounded(
        &self,
        tensor: Value<'c, 'a>,
        at: &Tensors<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let rank = at.extents(tensor)?.len();
        let mut border = vec![0; rank];
        *border
            .get_mut(self.dimension)
            .ok_or(Error::OperationBuild)? = self.count - 1;
        at.pad(
            tensor,
            filler(at.element(tensor)?),
            &border,
            &border,
            &vec![0; rank],
        )
    }

    /// Where the part begins in the surrounded tensor.
    fn starts(&self, rank: usize, at: &Tensors<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, Error> {
        let begin = at.same("add", &[self.start, at.integer(self.count - 1)?])?;
        let zero = at.integer(0)?;
        let starts = (0..rank).map(|d| if d == self.dimension { begin } else { zero });
        Ok(starts.collect())
    }

    /// The part; what lies outside of the tensor is zero.
    pub fn cut(&self, tensor: Value<'c, 'a>, at: &Tensors<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
        let mut sizes = at.extents(tensor)?;
        let starts = self.starts(sizes.len(), at)?;
        *sizes.get_mut(self.dimension).ok_or(Error::OperationBuild)? = self.count;
        at.dynamic_slice(self.surrounded(tensor, at)?, &starts, &sizes)
    }

    /// The tensor with another part in its place; what lies outside of the tensor falls away.
    pub fn put(
        &self,
        tensor: Value<'c, 'a>,
        part: Value<'c, 'a>,
        at: &Tensors<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let mut limits = at.extents(tensor)?;
        let rank = limits.len();
        let starts = self.starts(rank, at)?;
        let whole = at.dynamic_update_slice(self.surrounded(tensor, at)?, part, &starts)?;
        let mut begins = vec![0; rank];
        *begins
            .get_mut(self.dimension)
            .ok_or(Error::OperationBuild)? = self.count - 1;
        *limits
            .get_mut(self.dimension)
            .ok_or(Error::OperationBuild)? += self.count - 1;
        at.slice(whole, &begins, &limits, &vec![1; rank])
    }

    /// A subscript's values within the part.
    pub fn within(
        &self,
        subscript: &Field<'c, 'a>,
        at: &Tensors<'c, 'a>,
    ) -> Result<Field<'c, 'a>, Error> {
        let start = at.broadcast(self.start, &[], &at.extents(subscript.value)?)?;
        Ok(Field {
            value: at.same("subtract", &[subscript.value, start])?,
            indices: subscript.indices.clone(),
        })
    }
}

impl<'c: 'a, 'a> Evaluator<'_, 'c, 'a> {
    /// An integer as an affine form of the indices, and what is added to it that is the same at all points.
    pub fn shifted(
        &self,
        value: Value<'c, 'a>,
    ) -> Result<Option<(Affine, Option<Value<'c, 'a>>)>, ExportError> {
        if let Some(form) = self.form(value) {
            return Ok(Some((form, None)));
        }
        let field = self.field(value)?;
        if field.indices.is_empty() {
            return Ok(Some((Affine::constant(0), Some(field.value))));
        }
        let Ok(op) = OperationResult::try_from(value).map(|r| r.owner()) else {
            return Ok(None);
        };
        let name = match operation_name(op).as_str() {
            "skript.add" => "add",
            "skript.sub" => "subtract",
            _ => return Ok(None),
        };
        let (Some((x, by_x)), Some((y, by_y))) =
            (self.shifted(op.operand(0)?)?, self.shifted(op.operand(1)?)?)
        else {
            return Ok(None);
        };
        let form = if name == "add" { x.add(&y) } else { x.sub(&y) };
        let by = match (by_x, by_y) {
            (by, None) => by,
            (None, Some(by)) => Some(self.at.same(name, &[self.at.integer(0)?, by])?),
            (Some(one), Some(other)) => Some(self.at.same(name, &[one, other])?),
        };
        Ok(form.map(|form| (form, by)))
    }
}
