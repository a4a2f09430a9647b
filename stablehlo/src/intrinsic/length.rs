// SPDX-License-Identifier: Apache-2.0
//! Lengths of dimensions in floating-point arithmetic: static, or the run-time length of a dynamic dimension.

use super::super::field::Field;
use super::Invocation;
use super::domain::Domain;
use melior::ir::Type;
use skript_dialect::melior;

/// The length of a dimension as an f64.
pub(crate) enum Length<'c, 'a> {
    Known(f64),
    /// Dynamic.
    Filled(Field<'c, 'a>),
}

impl<'c: 'a, 'a> Length<'c, 'a> {
    /// The length of a dimension of an input that has `extent` positions.
    pub(super) fn new(
        call: &Invocation<'c, 'a>,
        (input, dimension): (usize, usize),
        extent: i64,
        domain: &Domain<'c, 'a>,
    ) -> Self {
        let Some(filled) = call.filled(input, dimension) else {
            return Length::Known(extent as f64);
        };
        let double = Type::float64(domain.at.at.context);
        let filled = domain.convert(&Field::scalar(filled), double);
        Length::Filled(filled)
    }

    /// `factor · length + offset`
    pub(crate) fn scaled(&self, factor: f64, offset: f64, domain: &Domain<'c, 'a>) -> Field<'c, 'a> {
        let double = Type::float64(domain.at.at.context);
        let number = |value| domain.real(value, double);
        match self {
            Length::Known(length) => number(factor * length + offset),
            Length::Filled(length) => {
                let scaled = domain.apply("multiply", &[length, &number(factor)]);
                domain.apply("add", &[&scaled, &number(offset)])
            }
        }
    }
}
