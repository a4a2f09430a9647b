// SPDX-License-Identifier: Apache-2.0
//! Evaluates the payload of a counting sum for two elements of an array, by the order of their values and positions.

use crate::ir::arith::{self, Constant};
use crate::ir::generic::LoopNest;
use crate::ir::{self, ValueKey, linalg, ops};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Value, ValueLike};
use skript_dialect::op;
use std::cmp::Ordering;
use std::collections::HashMap;

/// The order of the other element relative to the own element.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Less,
    Equal,
    Greater,
    OtherNan,
    OwnNan,
    BothNan,
}

/// One of the two compared elements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Own,
    Other,
}

/// A value of the payload in one case.
#[derive(Clone, Copy)]
enum Known {
    Number(i64),
    Element(Side),
    Position(Side),
}

/// A payload that adds a count for each pair of elements.
pub(super) struct Payload<'n, 'c, 'a> {
    nest: &'n LoopNest<'c, 'a>,
    /// The count, which the payload adds to the accumulator.
    counted: Value<'c, 'a>,
    /// The loops over the positions of the other element, and over the positions of the own element.
    loops: [usize; 2],
    /// The number of the operand that reads the own element.
    own: usize,
}

impl<'n, 'c: 'a, 'a> Payload<'n, 'c, 'a> {
    /// `None` if the payload is not a sum of integers.
    pub(super) fn new(nest: &'n LoopNest<'c, 'a>, loops: [usize; 2], own: usize) -> Option<Self> {
        let sum = nest.accumulation().filter(|sum| op::is(&sum.op, ops::arith::ADDI))?;
        Some(Payload { nest, counted: sum.value, loops, own })
    }

    /// Computes the count for two elements; `None` if it depends on more than their order.
    pub(super) fn count(&self, relation: Relation, positions: Ordering) -> Option<i64> {
        let mut known = HashMap::new();
        for op in &self.nest.payload {
            if let Some(value) = self.step(*op, relation, positions, &known)
                && let Ok(result) = op.result(0)
            {
                known.insert(ValueKey::of(result), value);
            }
        }
        match self.value(self.counted, &known)? {
            Known::Number(number) => Some(number),
            _ => None,
        }
    }

    fn value(&self, value: Value<'c, 'a>, known: &HashMap<ValueKey, Known>) -> Option<Known> {
        match self.nest.position(value) {
            Some(number) if number == self.own => return Some(Known::Element(Side::Own)),
            Some(0 | 1) => return Some(Known::Element(Side::Other)),
            Some(_) => return None,
            None => {}
        }
        if let Some(known) = known.get(&ValueKey::of(value)) {
            return Some(*known);
        }
        let constant = Constant::of(value)?;
        // The value of `true` is 1, not -1 as in a signed 1-bit integer.
        let number = constant.integer()?;
        let is_truth = constant.text().starts_with("true");
        Some(Known::Number(if is_truth { 1 } else { number }))
    }

    /// Computes the value of an operation from the values of the operations before it.
    fn step(
        &self,
        op: OperationRef<'c, 'a>,
        relation: Relation,
        positions: Ordering,
        known: &HashMap<ValueKey, Known>,
    ) -> Option<Known> {
        if let Some(index) = linalg::index_of(op) {
            let side = match self.loops.iter().position(|l| *l == index)? {
                0 => Side::Other,
                _ => Side::Own,
            };
            return Some(Known::Position(side));
        }
        let operand = |n: usize| self.value(ir::operand_at(op, n)?, known);
        let numbers = || match (operand(0)?, operand(1)?) {
            (Known::Number(a), Known::Number(b)) => Some((a, b)),
            _ => None,
        };
        let number = match ir::name(op).as_str() {
            ops::arith::CMPF | ops::arith::CMPI => {
                i64::from(compared(op, operand(0)?, operand(1)?, relation, positions)?)
            }
            ops::arith::ANDI => numbers().map(|(a, b)| a & b)?,
            ops::arith::ORI => numbers().map(|(a, b)| a | b)?,
            ops::arith::XORI => numbers().map(|(a, b)| a ^ b)?,
            ops::arith::SELECT => {
                return match operand(0)? {
                    Known::Number(0) => operand(2),
                    Known::Number(_) => operand(1),
                    _ => None,
                };
            }
            // These conversions preserve the order.
            ops::arith::EXTF | ops::arith::EXTSI | ops::arith::INDEX_CAST => match operand(0)? {
                Known::Number(number) if is_truth(ir::operand_at(op, 0)?) => -number,
                other => return Some(other),
            },
            ops::arith::EXTUI => match operand(0)? {
                Known::Number(number @ 0..=1) => number,
                _ => return None,
            },
            _ => return None,
        };
        Some(Known::Number(number))
    }
}

/// Whether a value is a bool.
fn is_truth(value: Value<'_, '_>) -> bool {
    value.r#type().to_string() == "i1"
}

/// Computes the result of a comparison.
fn compared<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    left: Known,
    right: Known,
    relation: Relation,
    positions: Ordering,
) -> Option<bool> {
    let predicate = arith::predicate(op)?;
    let is_real = ir::name(op) == ops::arith::CMPF;
    let order = match (left, right) {
        (Known::Element(a), Known::Element(b)) => order(relation, a, b),
        (Known::Position(a), Known::Position(b)) if !is_real => Some(match (a, b) {
            (Side::Other, Side::Own) => positions,
            (Side::Own, Side::Other) => positions.reverse(),
            _ => Ordering::Equal,
        }),
        (Known::Number(a), Known::Number(b)) if !is_real && predicate < 6 => Some(a.cmp(&b)),
        _ => return None,
    };
    if !is_real {
        let order = order?;
        // Elements are signed; positions are not negative, so unsigned comparisons of positions give the same results.
        let is_signed = predicate < 6 || matches!(left, Known::Position(_));
        return is_signed.then(|| match predicate {
            0 => order.is_eq(),
            1 => order.is_ne(),
            2 | 6 => order.is_lt(),
            3 | 7 => order.is_le(),
            4 | 8 => order.is_gt(),
            _ => order.is_ge(),
        });
    }
    // The bits of a predicate are equal, greater, less, unordered.
    let bit = match order {
        Some(Ordering::Equal) => 1,
        Some(Ordering::Greater) => 2,
        Some(Ordering::Less) => 4,
        None => 8,
    };
    let bits = match predicate {
        8..=13 => predicate + 1,
        14 => 8,
        _ => predicate,
    };
    Some(bits & bit != 0)
}

/// Returns the order of two elements; `None` if one of them is NaN.
fn order(relation: Relation, left: Side, right: Side) -> Option<Ordering> {
    if left == right {
        let is_nan = match left {
            Side::Own => matches!(relation, Relation::OwnNan | Relation::BothNan),
            Side::Other => matches!(relation, Relation::OtherNan | Relation::BothNan),
        };
        return (!is_nan).then_some(Ordering::Equal);
    }
    let order = match relation {
        Relation::Less => Ordering::Less,
        Relation::Equal => Ordering::Equal,
        Relation::Greater => Ordering::Greater,
        _ => return None,
    };
    Some(match left {
        Side::Other => order,
        Side::Own => order.reverse(),
    })
}
