// SPDX-License-Identifier: Apache-2.0
//! Converts comparisons.

use super::{principal, widen};
use crate::import::element::Element;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value, ValueLike};
use skript_dialect::melior;
use skript_passes::ir::builder::arith::{Integers, Reals};
use skript_passes::ir::{Builder, types};
use skript_semantics::RealType;

/// The direction of a comparison, and whether floats are compared in the total order.
#[derive(Clone, Debug)]
pub(crate) struct Direction {
    /// `EQ`, `NE`, `GE`, `GT`, `LE` or `LT`.
    pub word: String,
    pub total: bool,
}

/// The direction of a `compare`; `None` for other operations.
pub(crate) fn direction(op: OperationRef) -> Option<Direction> {
    let word = |name: &str| op.attribute(name).ok().map(|a| a.to_string());
    let inside = |text: String| Some(text.rsplit([' ', '<']).next()?.replace('>', ""));
    Some(Direction {
        word: inside(word("comparison_direction")?)?,
        total: word("compare_type").is_some_and(|t| t.contains("TOTALORDER")),
    })
}

/// Compares signless scalars or tensors. NaN is unequal to all values, including NaN.
pub(crate) fn compare<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    [x, y]: [Value<'c, 'a>; 2],
    element: Element,
    direction: &Direction,
) -> Value<'c, 'a> {
    let word = direction.word.as_str();
    match element {
        Element::Pred | Element::Unsigned(_) => at.cmpi(integers(word, false), x, y),
        Element::Signed(_) => at.cmpi(integers(word, true), x, y),
        Element::Float(float) if direction.total => {
            let [x, y] = [x, y].map(|value| ordered(at, value, float));
            at.cmpi(integers(word, true), x, y)
        }
        Element::Float(float) => {
            let [x, y] = [x, y].map(|value| widen(at, value, float));
            at.cmpf(reals(word), x, y)
        }
        Element::Complex(_) => {
            let [x, y] = [x, y].map(|value| principal::parts(at, value));
            let last = x.1.is(reals(word), y.1);
            match word {
                "EQ" => x.0.is(Reals::Equal, y.0).and(last),
                "NE" => x.0.is(Reals::NotEqual, y.0).or(last),
                // The imaginary parts are compared if the real parts are equal.
                _ => {
                    let strictly = if word.starts_with('L') { Reals::Less } else { Reals::Greater };
                    let (is_before, is_same) = (x.0.is(strictly, y.0), x.0.is(Reals::Equal, y.0));
                    is_before.or(is_same.and(last))
                }
            }
            .value
        }
    }
}

fn integers(word: &str, is_signed: bool) -> Integers {
    match (word, is_signed) {
        ("EQ", _) => Integers::Equal,
        ("NE", _) => Integers::NotEqual,
        ("GE", true) => Integers::SignedAtLeast,
        ("GE", false) => Integers::AtLeast,
        ("GT", true) => Integers::SignedGreater,
        ("GT", false) => Integers::Greater,
        ("LE", true) => Integers::SignedAtMost,
        ("LE", false) => Integers::AtMost,
        (_, true) => Integers::SignedLess,
        (_, false) => Integers::Less,
    }
}

fn reals(word: &str) -> Reals {
    match word {
        "EQ" => Reals::Equal,
        "NE" => Reals::NotEqual,
        "GE" => Reals::AtLeast,
        "GT" => Reals::Greater,
        "LE" => Reals::AtMost,
        _ => Reals::Less,
    }
}

/// Maps a float to an integer with the same order as the IEEE 754 total order: -NaN, -inf, …, -0, 0, …, inf, NaN.
fn ordered<'c: 'a, 'a>(at: &Builder<'c, 'a>, x: Value<'c, 'a>, float: RealType) -> Value<'c, 'a> {
    let raw = at.bitcast(x, types::int(at.context, float.bits()));
    let [by, one] = [i64::from(float.bits()) - 1, 1].map(|value| at.int(value, raw.r#type()));
    at.xori(raw, at.shrui(at.shrsi(raw, by), one))
}
