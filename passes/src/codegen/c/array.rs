// SPDX-License-Identifier: Apache-2.0
//! Arrays of the written C: a pointer to the first element, with extents and strides.

use super::element::{Element, integer_literal};
use super::expression::{Expression, level};

/// An integer that is a constant, or a variable of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Known(i64),
    Named(String),
}

impl Number {
    /// The number as an expression.
    pub(super) fn expression(&self) -> Expression {
        match self {
            Number::Known(value) => Expression::literal(integer_literal(*value)),
            Number::Named(name) => Expression::primary(name.clone()),
        }
    }

    /// The product of two numbers; `None` if a variable would be needed for it.
    pub(super) fn times(&self, other: &Number) -> Option<Number> {
        match (self, other) {
            (Number::Known(a), Number::Known(b)) => a.checked_mul(*b).map(Number::Known),
            (Number::Known(1), number) | (number, Number::Known(1)) => Some(number.clone()),
            _ => None,
        }
    }
}

/// An array.
#[derive(Clone, Debug)]
pub(super) struct Array {
    pub(super) element: Element,
    /// The name of the pointer.
    pub(super) pointer: String,
    pub(super) extents: Vec<Number>,
    pub(super) strides: Vec<Number>,
    /// Whether the elements are constant.
    pub(super) is_constant: bool,
}

impl Array {
    /// The product of two numbers as an expression.
    fn product(a: &Expression, b: &Number) -> Expression {
        match (a.integer(), b) {
            (_, Number::Known(1)) => a.clone(),
            (Some(0), _) | (_, Number::Known(0)) => Expression::literal("0".to_owned()),
            (Some(a), Number::Known(b)) if a.checked_mul(*b).is_some() => {
                Expression::literal(integer_literal(a * b))
            }
            _ => Expression::binary(level::PRODUCT, "*", a, &b.expression()),
        }
    }

    /// The distance of an element from the first one.
    pub(super) fn offset(&self, indices: &[Expression]) -> Expression {
        let mut constant = 0_i64;
        let mut sum: Option<Expression> = None;
        for (index, stride) in indices.iter().zip(&self.strides) {
            let term = Array::product(index, stride);
            let folded = term.integer().and_then(|term| constant.checked_add(term));
            match (folded, sum.take()) {
                (Some(folded), before) => (constant, sum) = (folded, before),
                (None, None) => sum = Some(term),
                (None, Some(before)) => sum = Some(Expression::binary(level::SUM, "+", &before, &term)),
            }
        }
        match (sum, constant) {
            (None, _) => Expression::literal(integer_literal(constant)),
            (Some(sum), 0) => sum,
            (Some(sum), _) => {
                let constant = Expression::literal(integer_literal(constant));
                Expression::binary(level::SUM, "+", &sum, &constant)
            }
        }
    }

    /// An element.
    pub(super) fn element_at(&self, indices: &[Expression]) -> Expression {
        Expression::element(format!("{}[{}]", self.pointer, self.offset(indices).text))
    }

    /// The strides of contiguous arrays with these extents. `product` returns the product of numbers of which one is a variable.
    pub(super) fn contiguous(
        extents: &[Number],
        mut product: impl FnMut(&Number, &Number) -> Number,
    ) -> Vec<Number> {
        let mut strides = vec![Number::Known(1)];
        for extent in extents.iter().skip(1).rev() {
            let last = strides.last().cloned().unwrap_or(Number::Known(1));
            strides.push(last.times(extent).unwrap_or_else(|| product(&last, extent)));
        }
        strides.truncate(extents.len());
        strides.reverse();
        strides
    }

    /// Whether the elements follow each other in memory without gaps.
    pub(super) fn is_contiguous(&self) -> bool {
        let mut expected = Some(Number::Known(1));
        for (extent, stride) in self.extents.iter().zip(&self.strides).rev() {
            if *extent != Number::Known(1) && expected.as_ref() != Some(stride) {
                return false;
            }
            expected = expected.and_then(|expected| expected.times(extent));
        }
        true
    }
}
