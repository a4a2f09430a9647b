// SPDX-License-Identifier: Apache-2.0
//! Exports results with data-dependent extents. The tensors have the upper bounds as extents, with the elements first
//! and zeros after them; the extents are additional results.
use super::super::error::ExportError;
use super::super::field::Field;
use super::super::tensors::Tensors;
use super::Invocation;
use super::domain::{Domain, Position};
use melior::ir::Value;
use skript_dialect::melior;
use skript_passes::ir::types;
use skript_semantics::{Scalar, ScalarKind};

/// The positions of non-zero elements in row-major order, one position per column, and their number.
pub(super) fn nonzero<'c: 'a, 'a>(call: &Invocation<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, ExportError> {
    let at = &call.at;
    let element = at.element(call.input(0)?);
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
    let extents = at.extents(input);
    let zero = at.splat(zero, &extents, element);
    let marks = at.compare("NE", kind, input, zero);
    let compacted = Compacted::new(marks, at);
    let mut rows = Vec::new();
    for dimension in 0..extents.len() {
        rows.push(compacted.digit(&extents, dimension));
    }
    compacted.results(call, &rows, 0)
}

/// The positions of the marked elements of a tensor.
pub(crate) struct Compacted<'c, 'a> {
    /// The domain of one index, which counts positions.
    domain: Domain<'c, 'a>,
    /// The row-major positions of the marked elements in order, followed by zeros.
    pub positions: Field<'c, 'a>,
    /// Whether an entry of `positions` is the position of a marked element.
    pub holds: Field<'c, 'a>,
    count: Value<'c, 'a>,
}

impl<'c: 'a, 'a> Compacted<'c, 'a> {
    pub(super) fn new(marks: Value<'c, 'a>, at: &Tensors<'c, 'a>) -> Self {
        let volume: i64 = at.extents(marks).iter().product();
        let domain = Domain { extents: vec![volume], at: *at };
        let marks = Field { value: at.reshape(marks, &[volume]), indices: vec![0] };
        let beyond = domain.int(volume);
        let positions = domain.select(&marks, &domain.index(0), &beyond);
        let sorted =
            at.sort(&[positions.value], 0, |inner, pair| inner.compare("LT", "SIGNED", pair[0], pair[1]));
        let sorted = Field { value: sorted[0], indices: vec![0] };
        let holds = domain.compare("LT", &sorted, &beyond);
        let ones = domain.convert(&marks, at.int());
        Compacted {
            count: domain.reduce(&ones, "add", Scalar::Int(0), 0).value,
            positions: domain.select(&holds, &sorted, &domain.int(0)),
            holds,
            domain,
        }
    }

    /// The index along one dimension of the row-major positions in a tensor with these extents.
    pub(crate) fn digit(&self, extents: &[i64], dimension: usize) -> Field<'c, 'a> {
        let domain = &self.domain;
        let after: i64 = extents.iter().skip(dimension + 1).product();
        // If an extent is zero, there are no positions.
        let extent = extents[dimension].max(1);
        let number = domain.apply("divide", &[&self.positions, &domain.int(after.max(1))]);
        domain.apply("remainder", &[&number, &domain.int(extent)])
    }

    /// The elements at the positions of a tensor with the shape of the marks, followed by zeros.
    pub(crate) fn at_positions(&self, tensor: Value<'c, 'a>) -> Field<'c, 'a> {
        let domain = &self.domain;
        let flat = domain.at.reshape(tensor, &domain.extents);
        let elements = domain.read(flat, &[Position::At(self.positions.clone())]);
        domain.select(&self.holds, &elements, &domain.int(0))
    }

    /// Concatenates the columns along a dimension of the result; returns the result and its extents.
    pub(super) fn results(
        &self,
        call: &Invocation<'c, 'a>,
        columns: &[Field<'c, 'a>],
        dimension: usize,
    ) -> Result<Vec<Value<'c, 'a>>, ExportError> {
        let at = &call.at;
        let volume = self.domain.extents[0];
        let shape = call.extents(0)?;
        let mut side = vec![volume, volume];
        side[dimension] = 1;
        let values: Vec<_> =
            columns.iter().map(|c| at.reshape(c.over(&[0], &self.domain.extents, at), &side)).collect();
        let table = if values.is_empty() {
            at.splat(Scalar::Int(0), &shape, at.int())
        } else {
            let table = at.concatenate(&values, dimension);
            let have = at.extents(table);
            let missing: Vec<i64> = shape.iter().zip(&have).map(|(s, h)| s - h).collect();
            let none = vec![0; shape.len()];
            at.pad(table, Scalar::Int(0), &none, &missing, &none)
        };
        let mut counts = [at.integer(columns.len() as i64); 2];
        counts[1 - dimension] = self.count;
        let extents = counts.map(|count| at.reshape(count, &[1]));
        Ok(vec![table, at.concatenate(&extents, 0)])
    }
}
