// SPDX-License-Identifier: Apache-2.0
//! Arithmetic on fields over a domain that does not belong to a formula.

use super::super::access::{Subscript, read};
use super::super::field::{Field, join};
use super::super::tensors::Tensors;
use melior::Error;
use melior::ir::attribute::DenseElementsAttribute;
use melior::ir::{Type, Value};
use skript_dialect::melior;
use skript_passes::ir::types;
use skript_passes::structure::Affine;
use skript_semantics::{Scalar, ScalarKind};

/// The extents of indices.
pub(crate) struct Domain<'c, 'a> {
    pub extents: Vec<i64>,
    pub at: Tensors<'c, 'a>,
}

impl<'c: 'a, 'a> Domain<'c, 'a> {
    /// An index variable.
    pub(super) fn index(&self, index: usize) -> Result<Field<'c, 'a>, Error> {
        let extent = self.extents.get(index).copied().unwrap_or(1);
        Ok(Field { value: self.at.iota(extent)?, indices: vec![index] })
    }

    pub(super) fn int(&self, value: i64) -> Result<Field<'c, 'a>, Error> {
        self.at.integer(value).map(Field::scalar)
    }

    /// A constant of this element type.
    pub(super) fn real(&self, value: f64, element: Type<'c>) -> Result<Field<'c, 'a>, Error> {
        let value = self.at.splat(Scalar::Real(value), &[], element)?;
        Ok(Field::scalar(value))
    }

    /// Constant f64 values, row-major over `indices`.
    pub(super) fn reals(&self, values: &[f64], indices: &[usize]) -> Result<Field<'c, 'a>, Error> {
        let r#type = types::tensor(&self.shape(indices), Type::float64(self.at.at.context));
        let values = DenseElementsAttribute::f64_values(r#type, values);
        self.constant(values.into(), r#type, indices)
    }

    /// Constant integers, row-major over `indices`.
    pub(super) fn ints(&self, values: &[i64], indices: &[usize]) -> Result<Field<'c, 'a>, Error> {
        let r#type = types::tensor(&self.shape(indices), self.at.int());
        let values = DenseElementsAttribute::i64_values(r#type, values);
        self.constant(values.into(), r#type, indices)
    }

    fn constant(
        &self,
        values: melior::ir::Attribute<'c>,
        r#type: Type<'c>,
        indices: &[usize],
    ) -> Result<Field<'c, 'a>, Error> {
        Ok(Field { value: self.at.constant(values, r#type)?, indices: indices.to_vec() })
    }

    fn shape(&self, indices: &[usize]) -> Vec<i64> {
        let extents = indices.iter().map(|i| self.extents.get(*i).copied());
        extents.map(|e| e.unwrap_or(1)).collect()
    }

    /// An operation whose result has the type of its operands.
    pub(super) fn apply(&self, name: &str, operands: &[&Field<'c, 'a>]) -> Result<Field<'c, 'a>, Error> {
        let operands: Vec<_> = operands.iter().map(|f| (*f).clone()).collect();
        let (values, indices) = join(&operands, &self.extents, &self.at)?;
        let value = self.at.same(name, &values)?;
        Ok(Field { value, indices })
    }

    pub(super) fn convert(&self, field: &Field<'c, 'a>, to: Type<'c>) -> Result<Field<'c, 'a>, Error> {
        let r#type = types::tensor(&self.at.extents(field.value)?, to);
        Ok(Field {
            value: self.at.op("convert", &[field.value], &[], r#type)?,
            indices: field.indices.clone(),
        })
    }

    pub(super) fn compare(
        &self,
        direction: &str,
        lhs: &Field<'c, 'a>,
        rhs: &Field<'c, 'a>,
    ) -> Result<Field<'c, 'a>, Error> {
        let (values, indices) = join(&[lhs.clone(), rhs.clone()], &self.extents, &self.at)?;
        let [lhs, rhs] = values.as_slice() else {
            return Err(Error::OperationBuild);
        };
        let is_real = types::kind_of(self.at.element(*lhs)?) == Some(ScalarKind::Real);
        let kind = if is_real { "FLOAT" } else { "SIGNED" };
        let value = self.at.compare(direction, kind, *lhs, *rhs)?;
        Ok(Field { value, indices })
    }

    pub(crate) fn select(
        &self,
        condition: &Field<'c, 'a>,
        then: &Field<'c, 'a>,
        otherwise: &Field<'c, 'a>,
    ) -> Result<Field<'c, 'a>, Error> {
        let fields = [condition.clone(), then.clone(), otherwise.clone()];
        let (values, indices) = join(&fields, &self.extents, &self.at)?;
        let [condition, then, otherwise] = values.as_slice() else {
            return Err(Error::OperationBuild);
        };
        let value = self.at.select(*condition, *then, *otherwise)?;
        Ok(Field { value, indices })
    }

    /// The elements of a tensor: in each dimension at an index, or at given positions.
    pub(super) fn read(
        &self,
        tensor: Value<'c, 'a>,
        addresses: &[Position<'c, 'a>],
    ) -> Result<Field<'c, 'a>, Error> {
        let mut subscripts = Vec::new();
        for address in addresses {
            subscripts.push(match address {
                Position::Index(index) => {
                    Subscript { form: Some(Affine::index(*index)), ..Subscript::data(self.index(*index)?) }
                }
                Position::At(field) => Subscript::data(field.clone()),
            });
        }
        Ok(read(tensor, &subscripts, &self.extents, &self.at)?.field)
    }

    /// A reduction along an index.
    pub(crate) fn reduce(
        &self,
        field: &Field<'c, 'a>,
        combiner: &str,
        identity: Scalar,
        along: usize,
    ) -> Result<Field<'c, 'a>, Error> {
        let Some(dimension) = field.indices.iter().position(|i| *i == along) else {
            return Err(Error::OperationBuild);
        };
        let mut indices = field.indices.clone();
        indices.remove(dimension);
        let dimensions = [dimension as i64];
        let value = self.at.reduce(field.value, combiner, identity, &dimensions)?;
        Ok(Field { value, indices })
    }
}

/// How a dimension is read.
pub(super) enum Position<'c, 'a> {
    Index(usize),
    At(Field<'c, 'a>),
}
