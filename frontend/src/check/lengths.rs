// SPDX-License-Identifier: Apache-2.0
//! Lengths of packs and ranks of tensors as linear forms over names, where a definition determines them.
//!
//! Two lengths differ for certain only if their difference is a constant other than zero; all other cases are left to
//! the composition, which has values.

use crate::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use skript_symbolic::Form;

/// A linear form over names, or unknown.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Length(Option<Linear>);

/// A sum of multiples of names; unknown on overflow.
type Linear = Form<String>;

impl Length {
    pub(super) fn unknown() -> Length {
        Length(None)
    }

    pub(super) fn number(n: i64) -> Length {
        Length(Some(Linear::constant(n)))
    }

    pub(super) fn count(n: usize) -> Length {
        Length(i64::try_from(n).ok().map(Linear::constant))
    }

    pub(super) fn symbol(name: &str) -> Length {
        Length(Some(Linear::term(name.to_string())))
    }

    /// The value of an expression over names and literals.
    pub(super) fn from_expr(expr: &Expr) -> Length {
        Length(linear(expr))
    }

    pub(super) fn plus(self, other: &Length) -> Length {
        Length(self.0.zip(other.0.as_ref()).and_then(|(a, b)| a.add(b)))
    }

    pub(super) fn times(self, factor: usize) -> Length {
        Length(self.0.and_then(|l| l.scale(i64::try_from(factor).ok()?)))
    }

    pub(super) fn constant(&self) -> Option<i64> {
        self.0.as_ref().and_then(Linear::as_constant)
    }

    /// Whether the two are certainly different.
    pub(super) fn differs(&self, other: &Length) -> bool {
        let difference = self.0.as_ref().zip(other.0.as_ref());
        let difference = difference.and_then(|(a, b)| a.sub(b)?.as_constant());
        difference.is_some_and(|difference| difference != 0)
    }

    /// Returns `self` if it is known, otherwise `other`.
    pub(super) fn merge(self, other: &Length) -> Length {
        match self.0 {
            None => other.clone(),
            known => Length(known),
        }
    }

    /// The text `2` or `d + 1`; `None` if it is unknown or contains a name that the document does not have.
    pub(super) fn text(&self) -> Option<String> {
        self.written(|_| None)
    }

    /// The text for messages: `d + 1`, or "the length of `p` + 1" for a name that the document does not have.
    pub(super) fn described(&self) -> String {
        let text = self.written(|name| Some(format!("the length of `{name}`")));
        text.unwrap_or_else(|| "not known here".to_string())
    }

    fn written(&self, unnamed: impl Fn(&str) -> Option<String>) -> Option<String> {
        let linear = self.0.as_ref()?;
        let mut text = String::new();
        for (name, coefficient) in linear.terms() {
            let name = match name.strip_prefix('|') {
                Some(pack) => unnamed(pack.trim_end_matches('|'))?,
                None => name.to_string(),
            };
            match (text.is_empty(), coefficient) {
                (true, 1) => {}
                (true, -1) => text.push('-'),
                (true, c) => text.push_str(&format!("{c} * ")),
                (false, 1) => text.push_str(" + "),
                (false, -1) => text.push_str(" - "),
                (false, c) if c < 0 => text.push_str(&format!(" - {} * ", c.unsigned_abs())),
                (false, c) => text.push_str(&format!(" + {c} * ")),
            }
            text.push_str(&name);
        }
        match (text.is_empty(), linear.offset()) {
            (true, c) => text = c.to_string(),
            (false, 0) => {}
            (false, c) if c < 0 => text.push_str(&format!(" - {}", c.unsigned_abs())),
            (false, c) => text.push_str(&format!(" + {c}")),
        }
        Some(text)
    }
}

/// The maximum nesting of expressions that are analysed.
const DEPTH: usize = 64;

/// The linear form of an int expression of literals, names, `+`, `-` and multiplication by a constant.
pub(super) fn linear(expr: &Expr) -> Option<Linear> {
    linear_within(expr, DEPTH)
}

fn linear_within(expr: &Expr, depth: usize) -> Option<Linear> {
    let depth = depth.checked_sub(1)?;
    let linear = |e: &Expr| linear_within(e, depth);
    match &expr.kind {
        ExprKind::Int(n) => Some(Linear::constant(*n)),
        ExprKind::Name(name) => Some(Linear::term(name.name.clone())),
        ExprKind::Unary { op, operand } => {
            let operand = linear(operand)?;
            match op {
                UnaryOp::Plus => Some(operand),
                UnaryOp::Minus => operand.scale(-1),
                UnaryOp::Not => None,
            }
        }
        ExprKind::Binary { op, left, right } => {
            let left = linear(left)?;
            let right = linear(right)?;
            match op {
                BinaryOp::Add => left.add(&right),
                BinaryOp::Sub => left.sub(&right),
                BinaryOp::Mul => left.linear_product(&right),
                _ => constant(*op, left.as_constant()?, right.as_constant()?).map(Linear::constant),
            }
        }
        _ => None,
    }
}

/// Int operations on literals (2.4: `/` rounds down, `\` up, `%` has the divisor's sign).
fn constant(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    let floor = |a: i64, b: i64| {
        let q = a.checked_div(b)?;
        let r = a.checked_rem(b)?;
        Some(if r != 0 && (r < 0) != (b < 0) { q - 1 } else { q })
    };
    match op {
        BinaryOp::Div => floor(a, b),
        BinaryOp::CeilDiv => floor(a.checked_neg()?, b)?.checked_neg(),
        BinaryOp::Mod => a.checked_sub(floor(a, b)?.checked_mul(b)?),
        BinaryOp::Min => Some(a.min(b)),
        BinaryOp::Max => Some(a.max(b)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_constant_difference_is_certain() {
        let d = Length::symbol("d");
        assert!(d.clone().plus(&Length::number(1)).differs(&d));
        assert!(!d.differs(&Length::symbol("e")));
        assert!(!d.differs(&Length::number(2)));
        assert!(Length::number(3).differs(&Length::number(2)));
        assert!(!Length::unknown().differs(&Length::number(2)));
    }

    #[test]
    fn division_of_literals_rounds_as_in_the_language() {
        assert_eq!(constant(BinaryOp::Div, -7, 2), Some(-4));
        assert_eq!(constant(BinaryOp::CeilDiv, -5, 2), Some(-2));
        assert_eq!(constant(BinaryOp::CeilDiv, 5, 2), Some(3));
        assert_eq!(constant(BinaryOp::Mod, -7, 3), Some(2));
        assert_eq!(constant(BinaryOp::Div, 1, 0), None);
    }

    #[test]
    fn lengths_print_as_expressions() {
        let l = Length::symbol("d").times(2).plus(&Length::number(-1));
        assert_eq!(l.text().as_deref(), Some("2 * d - 1"));
        let unnamed = Length::symbol("|s|").plus(&Length::number(1));
        assert_eq!(unnamed.text(), None);
        assert_eq!(unnamed.described(), "the length of `s` + 1");
    }
}
