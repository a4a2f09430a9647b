// SPDX-License-Identifier: Apache-2.0
//! Intervals of integers, which show where signed arithmetic cannot overflow.

use crate::ir::{self, ValueKey, ops};
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value, ValueLike};
use std::collections::HashMap;

use super::element::Element;

/// The minimum and the maximum.
pub(super) type Range = (i128, i128);

/// An extent of an array, or an index: arrays are smaller than 2^48 bytes.
pub(super) const EXTENT: Range = (0, 1 << 48);

/// The intervals of values.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    known: HashMap<ValueKey, Range>,
}

impl Ranges {
    pub(super) fn set(&mut self, value: Value, range: Range) {
        self.known.insert(ValueKey::of(value), range);
    }

    /// The interval of a value: that of its type, if nothing else is known.
    pub(super) fn get(&self, value: Value) -> Range {
        let of_type = || Element::new(value.r#type()).map_or((i128::MIN / 4, i128::MAX / 4), Element::range);
        match ir::integer(value) {
            Some(constant) => (constant.into(), constant.into()),
            None => self.known.get(&ValueKey::of(value)).copied().unwrap_or_else(of_type),
        }
    }

    /// Whether a value is never negative.
    pub(super) fn is_natural(&self, value: Value) -> bool {
        self.get(value).0 >= 0
    }

    /// The interval of the result of an operation before it wraps.
    pub(super) fn unwrapped(&self, op: OperationRef) -> Option<Range> {
        let operands: Vec<Range> = op.operands().map(|operand| self.get(operand)).collect();
        let ends = |of: fn(i128, i128) -> i128| {
            let [a, b] = *operands.as_slice() else { return None };
            let all = [of(a.0, b.0), of(a.0, b.1), of(a.1, b.0), of(a.1, b.1)];
            Some((all.into_iter().min()?, all.into_iter().max()?))
        };
        let divides = || operands.get(1).is_some_and(|divisor| divisor.0 > 0);
        match ir::name(op).as_str() {
            ops::arith::ADDI => ends(|a, b| a.saturating_add(b)),
            ops::arith::SUBI => ends(|a, b| a.saturating_sub(b)),
            ops::arith::MULI => ends(|a, b| a.saturating_mul(b)),
            ops::arith::MINSI => ends(i128::min),
            ops::arith::MAXSI => ends(i128::max),
            // The minimum of unsigned numbers is at most an operand that is not negative.
            ops::arith::MINUI => {
                let natural = operands.iter().filter(|range| range.0 >= 0);
                Some((0, natural.map(|range| range.1).min()?))
            }
            ops::arith::DIVSI if divides() => ends(|a, b| a / b),
            ops::arith::FLOORDIVSI if divides() => ends(i128::div_euclid),
            ops::arith::CEILDIVSI if divides() => ends(|a, b| -(-a).div_euclid(b)),
            ops::arith::REMSI if divides() => {
                let (value, divisor) = (*operands.first()?, *operands.get(1)?);
                let low = if value.0 >= 0 { 0 } else { 1 - divisor.1 };
                Some((low, divisor.1 - 1))
            }
            ops::arith::SELECT => {
                let [_, a, b] = *operands.as_slice() else { return None };
                Some((a.0.min(b.0), a.1.max(b.1)))
            }
            // The sign of a bool is its only bit.
            ops::arith::INDEX_CAST | ops::arith::EXTSI if is_bool(op) => Some((-1, 0)),
            ops::arith::INDEX_CAST | ops::arith::EXTSI => operands.first().copied(),
            ops::arith::EXTUI | ops::arith::INDEX_CASTUI => {
                operands.first().copied().filter(|range| range.0 >= 0)
            }
            _ => None,
        }
    }

    /// Records the interval of the result of an operation on integers.
    pub(super) fn record(&mut self, op: OperationRef) {
        let Ok(result) = op.result(0) else { return };
        let result: Value = result.into();
        let Ok(element @ Element::Int(_)) = Element::new(result.r#type()) else { return };
        let (low, high) = element.range();
        if let Some(range) = self.unwrapped(op).filter(|range| range.0 >= low && range.1 <= high) {
            self.set(result, range);
        }
    }
}

/// Whether the operand is a bool.
fn is_bool(op: OperationRef) -> bool {
    ir::operand_at(op, 0).is_some_and(|operand| matches!(Element::new(operand.r#type()), Ok(Element::Bool)))
}
