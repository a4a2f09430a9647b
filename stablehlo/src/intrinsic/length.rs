// SPDX-License-Identifier: Apache-2.0
//! Lengths of dimensions in arithmetic with reals: static, or the number of elements within a dynamic extent.

use super::super::field::Field;
use super::Invocation;
use super::domain::Domain;
use melior::Error;
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
    pub(super) fn of(
        call: &Invocation<'c, 'a>,
        (input, dimension): (usize, usize),
        extent: i64,
        domain: &Domain<'c, 'a>,
    ) -> Result<Self, Error> {
        let Some(filled) = call.filled(input, dimension) else {
            return Ok(Length::Known(extent as f64));
        };
        let double = Type::float64(domain.at.at.context);
        let filled = domain.convert(&Field::scalar(filled), double)?;
        Ok(Length::Filled(filled))
    }

    /// `factor · length + offset`
    pub(crate) fn scaled(
        &self,
        factor: f64,
        offset: f64,
        domain: &Domain<'c, 'a>,
    ) -> Result<Field<'c, 'a>, Error> {
        let double = Type::float64(domain.at.at.context);
        let number = |value| domain.real(value, double);
        match self {
            Length::Known(length) => number(factor * length + offset),
            Length::Filled(length) => {
                let scaled = domain.apply("multiply", &[length, &number(factor)?])?;
                domain.apply("add", &[&scaled, &number(offset)?])
            }
        }
    }
}
