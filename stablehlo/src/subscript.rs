// SPDX-License-Identifier: Apache-2.0
//! Subscripts as affine forms of the indices plus scalars that are known only at run time.

use super::error::ExportError;
use super::evaluate::Evaluator;
use super::tensors::Tensors;
use melior::Error;
use melior::ir::Value;
use melior::ir::operation::{OperationLike, OperationResult};
use skript_dialect::melior;
use skript_passes::ir;
use skript_passes::ir::copy::operation_name;
use skript_passes::ir::ops;
use skript_passes::structure::Affine;

/// `f + s + g·t + h·u + …`: f is an affine form of the indices; s, t and u are scalars that do not depend on indices; g
/// and h are other indices.
#[derive(Clone, Debug)]
pub(crate) struct DynamicSubscript<'c, 'a> {
    pub form: Affine,
    /// The scalar s; `None` for zero.
    pub by: Option<Value<'c, 'a>>,
    /// Each g with its t.
    pub(crate) rows: Vec<(usize, Value<'c, 'a>)>,
}

impl<'c: 'a, 'a> DynamicSubscript<'c, 'a> {
    fn of(form: Affine, by: Option<Value<'c, 'a>>) -> Self {
        let rows = Vec::new();
        DynamicSubscript { form, by, rows }
    }

    /// Whether it depends on indices only.
    pub(crate) fn is_affine(&self) -> bool {
        self.by.is_none() && self.rows.is_empty()
    }

    fn add(self, other: Self, at: &Tensors<'c, 'a>) -> Result<Option<Self>, Error> {
        let Some(form) = self.form.add(&other.form) else {
            return Ok(None);
        };
        let by = match (self.by, other.by) {
            (Some(one), Some(other)) => Some(at.same("add", &[one, other])?),
            (by, None) | (None, by) => by,
        };
        let rows = [self.rows, other.rows].concat();
        Ok(Some(DynamicSubscript { form, by, rows }))
    }

    fn sub(self, other: Self, at: &Tensors<'c, 'a>) -> Result<Option<Self>, Error> {
        let (Some(form), true) = (other.form.scale(-1), other.rows.is_empty()) else {
            return Ok(None);
        };
        let by = match other.by {
            Some(by) => Some(at.same("subtract", &[at.integer(0)?, by])?),
            None => None,
        };
        self.add(DynamicSubscript::of(form, by), at)
    }

    /// A multiple of an affine form, by a scalar.
    fn times(self, factor: Value<'c, 'a>, at: &Tensors<'c, 'a>) -> Result<Option<Self>, Error> {
        let (Some(linear), true) = (self.form.as_linear(), self.is_affine()) else {
            return Ok(None);
        };
        let scaled = |by: i64| match by {
            1 => Ok(factor),
            by => at.same("multiply", &[at.integer(by)?, factor]),
        };
        let mut rows = Vec::new();
        for (index, coefficient) in linear {
            rows.push((index, scaled(coefficient)?));
        }
        let by = match self.form.offset() {
            0 => None,
            offset => Some(scaled(offset)?),
        };
        let form = Affine::constant(0);
        Ok(Some(DynamicSubscript { form, by, rows }))
    }
}

impl<'c: 'a, 'a> Evaluator<'_, 'c, 'a> {
    /// An integer as a subscript; `None` if it is not such a sum.
    pub(crate) fn dynamic_subscript(
        &self,
        value: Value<'c, 'a>,
    ) -> Result<Option<DynamicSubscript<'c, 'a>>, ExportError> {
        if let Some(form) = self.form(value) {
            return Ok(Some(DynamicSubscript::of(form, None)));
        }
        let field = self.field(value)?;
        if field.indices.is_empty() {
            return Ok(Some(DynamicSubscript::of(Affine::constant(0), Some(field.value))));
        }
        let Ok(op) = OperationResult::try_from(value).map(|r| r.owner()) else {
            return Ok(None);
        };
        let name = operation_name(op);
        if !matches!(name.as_str(), ops::skript::ADD | ops::skript::SUB | ops::skript::MUL) {
            return Ok(None);
        }
        let [x, y] = ir::both_operands(op)?;
        let (Some(x), Some(y)) = (self.dynamic_subscript(x)?, self.dynamic_subscript(y)?) else {
            return Ok(None);
        };
        let at = &self.at;
        let position = match name.as_str() {
            ops::skript::ADD => x.add(y, at)?,
            ops::skript::SUB => x.sub(y, at)?,
            _ => {
                let mut product = None;
                for (own, other) in [(x, 1), (y, 0)] {
                    let factor = self.field(op.operand(other)?)?;
                    if product.is_none() && factor.indices.is_empty() {
                        product = own.times(factor.value, at)?;
                    }
                }
                product
            }
        };
        // Each index occurs once.
        Ok(position.filter(|position| {
            let mut seen = position.form.indices();
            position.rows.iter().all(|(index, _)| {
                let new = !seen.contains(index);
                seen.push(*index);
                new
            })
        }))
    }
}
