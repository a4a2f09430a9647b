// SPDX-License-Identifier: Apache-2.0
//! Arithmetic on fields over a domain of an intrinsic, outside of formulas.
use super::super::access::{Subscript, read};
use super::super::field::{Field, join};
use super::super::tensors::{Tensors, shape};
use melior::ir::attribute::DenseElementsAttribute;
use melior::ir::{Type, Value};
use skript_dialect::melior;
use skript_passes::ir::types;
use skript_passes::structure::Affine;
use skript_semantics::{Scalar, ScalarKind};

/// The extents of the indices of fields.
pub(crate) struct Domain<'c, 'a> {
    pub extents: Vec<i64>,
    pub at: Tensors<'c, 'a>,
}

impl<'c: 'a, 'a> Domain<'c, 'a> {
    /// An index variable.
    pub(super) fn index(&self, index: usize) -> Field<'c, 'a> {
        let extent = self.extents[index];
        Field { value: self.at.iota(extent), indices: vec![index] }
    }

    pub(super) fn int(&self, value: i64) -> Field<'c, 'a> {
        Field::scalar(self.at.integer(value))
    }

    /// A constant of this element type.
    pub(super) fn real(&self, value: f64, element: Type<'c>) -> Field<'c, 'a> {
        let value = self.at.splat(Scalar::Real(value), &[], element);
        Field::scalar(value)
    }

    /// Constant f64 values, row-major over `indices`.
    pub(super) fn reals(&self, values: &[f64], indices: &[usize]) -> Field<'c, 'a> {
        let r#type = types::tensor(&self.shape(indices), Type::float64(self.at.at.context));
        let values = DenseElementsAttribute::f64_values(r#type, values);
        self.constant(values.into(), r#type, indices)
    }

    /// Constant integers, row-major over `indices`.
    pub(super) fn ints(&self, values: &[i64], indices: &[usize]) -> Field<'c, 'a> {
        let r#type = types::tensor(&self.shape(indices), self.at.int());
        let values = DenseElementsAttribute::i64_values(r#type, values);
        self.constant(values.into(), r#type, indices)
    }

    fn constant(
        &self,
        values: melior::ir::Attribute<'c>,
        r#type: Type<'c>,
        indices: &[usize],
    ) -> Field<'c, 'a> {
        Field { value: self.at.constant(values, r#type), indices: indices.to_vec() }
    }

    fn shape(&self, indices: &[usize]) -> Vec<i64> {
        shape(indices, &self.extents)
    }

    /// An operation whose result has the type of its operands.
    pub(super) fn apply(&self, name: &str, operands: &[&Field<'c, 'a>]) -> Field<'c, 'a> {
        let operands: Vec<_> = operands.iter().map(|f| (*f).clone()).collect();
        let (values, indices) = join(&operands, &self.extents, &self.at);
        let value = self.at.same(name, &values);
        Field { value, indices }
    }

    pub(super) fn convert(&self, field: &Field<'c, 'a>, to: Type<'c>) -> Field<'c, 'a> {
        let r#type = types::tensor(&self.at.extents(field.value), to);
        Field { value: self.at.op("convert", &[field.value], &[], r#type), indices: field.indices.clone() }
    }

    pub(super) fn compare(&self, direction: &str, lhs: &Field<'c, 'a>, rhs: &Field<'c, 'a>) -> Field<'c, 'a> {
        let (values, indices) = join(&[lhs.clone(), rhs.clone()], &self.extents, &self.at);
        let [lhs, rhs] = [values[0], values[1]];
        let is_real = types::kind_of(self.at.element(lhs)) == Some(ScalarKind::Real);
        let kind = if is_real { "FLOAT" } else { "SIGNED" };
        let value = self.at.compare(direction, kind, lhs, rhs);
        Field { value, indices }
    }

    pub(crate) fn select(
        &self,
        condition: &Field<'c, 'a>,
        then: &Field<'c, 'a>,
        otherwise: &Field<'c, 'a>,
    ) -> Field<'c, 'a> {
        let fields = [condition.clone(), then.clone(), otherwise.clone()];
        let (values, indices) = join(&fields, &self.extents, &self.at);
        let value = self.at.select(values[0], values[1], values[2]);
        Field { value, indices }
    }

    /// Reads the elements of a tensor: along each dimension at an index or at given positions.
    pub(super) fn read(&self, tensor: Value<'c, 'a>, addresses: &[Position<'c, 'a>]) -> Field<'c, 'a> {
        let mut subscripts = Vec::new();
        for address in addresses {
            subscripts.push(match address {
                Position::Index(index) => {
                    Subscript { form: Some(Affine::index(*index)), ..Subscript::data(self.index(*index)) }
                }
                Position::At(field) => Subscript::data(field.clone()),
            });
        }
        read(tensor, &subscripts, &self.extents, &self.at).field
    }

    /// A reduction along an index.
    pub(crate) fn reduce(
        &self,
        field: &Field<'c, 'a>,
        combiner: &str,
        identity: Scalar,
        along: usize,
    ) -> Field<'c, 'a> {
        let dimension = field.indices.iter().take_while(|i| **i != along).count();
        let mut indices = field.indices.clone();
        indices.remove(dimension);
        let dimensions = [dimension as i64];
        let value = self.at.reduce(field.value, combiner, identity, &dimensions);
        Field { value, indices }
    }
}

/// The subscript at which a dimension is read: an index, or the elements of a field.
pub(super) enum Position<'c, 'a> {
    Index(usize),
    At(Field<'c, 'a>),
}
