// SPDX-License-Identifier: Apache-2.0
//! Results whose extents depend on data: as large as the upper bounds, with the elements first and zeros after them;
//! and the extents.

use super::super::error::ExportError;
use super::super::field::Field;
use super::super::tensors::Tensors;
use super::Invocation;
use super::domain::{Domain, Position};
use melior::Error;
use melior::ir::Value;
use skript_dialect::melior;
use skript_passes::ir::types;
use skript_semantics::{Scalar, ScalarKind};

/// The positions of non-zero elements in row-major order, one in each column; and their number.
pub(super) fn nonzero<'c: 'a, 'a>(call: &Invocation<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, ExportError> {
    let at = &call.at;
    let element = at.element(call.input(0)?)?;
    let zero = match types::kind_of(element) {
        Some(ScalarKind::Bool) => Scalar::Bool(false),
        Some(ScalarKind::Int) => Scalar::Int(0),
        _ => Scalar::Real(0.0),
    };
    let kind = match zero {
        Scalar::Bool(_) => "UNSIGNED",
        Scalar::Int(_) => "SIGNED",
        Scalar::Real(_) => "FLOAT",
    };
    let input = call.input_or(0, zero)?;
    let extents = at.extents(input)?;
    let zero = at.splat(zero, &extents, element)?;
    let marks = at.compare("NE", kind, input, zero)?;
    let found = Found::of(marks, at)?;
    let mut rows = Vec::new();
    for dimension in 0..extents.len() {
        rows.push(found.digit(&extents, dimension)?);
    }
    found.results(call, &rows, 0)
}

/// The marked elements.
pub(crate) struct Found<'c, 'a> {
    /// An index that counts positions.
    domain: Domain<'c, 'a>,
    /// Their row-major numbers in order, followed by zeros.
    pub positions: Field<'c, 'a>,
    /// Whether a position holds one of these numbers.
    pub holds: Field<'c, 'a>,
    count: Value<'c, 'a>,
}

impl<'c: 'a, 'a> Found<'c, 'a> {
    pub(super) fn of(marks: Value<'c, 'a>, at: &Tensors<'c, 'a>) -> Result<Self, Error> {
        let volume: i64 = at.extents(marks)?.iter().product();
        let domain = Domain { extents: vec![volume], at: *at };
        let marks = Field { value: at.reshape(marks, &[volume])?, indices: vec![0] };
        let beyond = domain.int(volume)?;
        let positions = domain.select(&marks, &domain.index(0)?, &beyond)?;
        let sorted = at.sort(&[positions.value], 0, |inner, pair| match pair {
            [one, other] => inner.compare("LT", "SIGNED", *one, *other),
            _ => Err(Error::OperationBuild),
        })?;
        let sorted = sorted.first().copied().ok_or(Error::OperationBuild)?;
        let sorted = Field { value: sorted, indices: vec![0] };
        let holds = domain.compare("LT", &sorted, &beyond)?;
        let ones = domain.convert(&marks, at.int())?;
        Ok(Found {
            count: domain.reduce(&ones, "add", Scalar::Int(0), 0)?.value,
            positions: domain.select(&holds, &sorted, &domain.int(0)?)?,
            holds,
            domain,
        })
    }

    /// The component of the positions along one of the extents that they enumerate.
    pub(crate) fn digit(&self, extents: &[i64], dimension: usize) -> Result<Field<'c, 'a>, Error> {
        let domain = &self.domain;
        let after: i64 = extents.iter().skip(dimension + 1).product();
        // If an extent is zero there are no positions.
        let own = extents.get(dimension).copied().unwrap_or(1).max(1);
        let number = domain.apply("divide", &[&self.positions, &domain.int(after.max(1))?])?;
        domain.apply("remainder", &[&number, &domain.int(own)?])
    }

    /// The elements of a tensor of the marks' shape at the positions, followed by zeros.
    pub(crate) fn at_positions(&self, tensor: Value<'c, 'a>) -> Result<Field<'c, 'a>, Error> {
        let domain = &self.domain;
        let flat = domain.at.reshape(tensor, &domain.extents)?;
        let elements = domain.read(flat, &[Position::At(self.positions.clone())])?;
        domain.select(&self.holds, &elements, &domain.int(0)?)
    }

    /// The columns concatenated along a dimension of the result, and its extents.
    pub(super) fn results(
        &self,
        call: &Invocation<'c, 'a>,
        columns: &[Field<'c, 'a>],
        dimension: usize,
    ) -> Result<Vec<Value<'c, 'a>>, ExportError> {
        let at = &call.at;
        let volume = self.domain.extents.first().copied().unwrap_or(0);
        let shape = call.extents(0)?;
        let mut side = vec![volume, volume];
        if let Some(extent) = side.get_mut(dimension) {
            *extent = 1;
        }
        let values = columns
            .iter()
            .map(|c| at.reshape(c.over(&[0], &self.domain.extents, at)?, &side))
            .collect::<Result<Vec<_>, Error>>()?;
        let table = if values.is_empty() {
            at.splat(Scalar::Int(0), &shape, at.int())?
        } else {
            let table = at.concatenate(&values, dimension)?;
            let have = at.extents(table)?;
            let missing: Vec<i64> = shape.iter().zip(&have).map(|(s, h)| s - h).collect();
            let none = vec![0; shape.len()];
            at.pad(table, Scalar::Int(0), &none, &missing, &none)?
        };
        let mut extents = [at.integer(columns.len() as i64)?; 2];
        if let Some(extent) = extents.get_mut(1 - dimension) {
            *extent = self.count;
        }
        let extents = extents.iter().map(|e| at.reshape(*e, &[1])).collect::<Result<Vec<_>, Error>>()?;
        Ok(vec![table, at.concatenate(&extents, 0)?])
    }
}
