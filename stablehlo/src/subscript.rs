// SPDX-License-Identifier: Apache-2.0
//! Subscripts: affine forms of the indices plus dynamic scalars.

use super::error::ExportError;
use super::evaluate::Evaluator;
use super::tensors::Tensors;
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
    /// The other indices g with their factors t.
    pub(crate) rows: Vec<(usize, Value<'c, 'a>)>,
}

impl<'c: 'a, 'a> DynamicSubscript<'c, 'a> {
    fn new(form: Affine, by: Option<Value<'c, 'a>>) -> Self {
        let rows = Vec::new();
        DynamicSubscript { form, by, rows }
    }

    /// Whether the subscript depends only on indices.
    pub(crate) fn is_affine(&self) -> bool {
        self.by.is_none() && self.rows.is_empty()
    }

    fn add(self, other: Self, at: &Tensors<'c, 'a>) -> Option<Self> {
        let form = self.form.add(&other.form)?;
        let by = match (self.by, other.by) {
            (Some(one), Some(other)) => Some(at.same("add", &[one, other])),
            (by, None) | (None, by) => by,
        };
        let rows = [self.rows, other.rows].concat();
        Some(DynamicSubscript { form, by, rows })
    }

    fn sub(self, other: Self, at: &Tensors<'c, 'a>) -> Option<Self> {
        let form = other.form.scale(-1).filter(|_| other.rows.is_empty())?;
        let by = other.by.map(|by| at.same("subtract", &[at.integer(0), by]));
        self.add(DynamicSubscript::new(form, by), at)
    }

    /// The product of an affine form and a scalar.
    fn times(self, factor: Value<'c, 'a>, at: &Tensors<'c, 'a>) -> Option<Self> {
        let linear = self.form.as_linear().filter(|_| self.is_affine())?;
        let scaled = |by: i64| match by {
            1 => factor,
            by => at.same("multiply", &[at.integer(by), factor]),
        };
        let rows = linear.into_iter().map(|(index, coefficient)| (index, scaled(coefficient))).collect();
        let offset = Some(self.form.offset()).filter(|offset| *offset != 0);
        Some(DynamicSubscript { form: Affine::constant(0), by: offset.map(scaled), rows })
    }
}

impl<'c: 'a, 'a> Evaluator<'_, 'c, 'a> {
    /// Converts an integer to a dynamic subscript; `None` if it does not have this form.
    pub(crate) fn dynamic_subscript(
        &self,
        value: Value<'c, 'a>,
    ) -> Result<Option<DynamicSubscript<'c, 'a>>, ExportError> {
        if let Some(form) = self.form(value) {
            return Ok(Some(DynamicSubscript::new(form, None)));
        }
        let field = self.field(value)?;
        if field.indices.is_empty() {
            return Ok(Some(DynamicSubscript::new(Affine::constant(0), Some(field.value))));
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
            ops::skript::ADD => x.add(y, at),
            ops::skript::SUB => x.sub(y, at),
            _ => {
                let mut product = None;
                for (multiple, other) in [(x, 1), (y, 0)] {
                    let factor = self.field(op.operand(other)?)?;
                    if product.is_none() && factor.indices.is_empty() {
                        product = multiple.times(factor.value, at);
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
