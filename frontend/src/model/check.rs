// SPDX-License-Identifier: Apache-2.0
//! Run-time checks: assertions and equality of dynamic extents (2.6, 2.8, 3.1).

use skript_semantics::Scalar;

use super::{Expr, Extent, Node};
use crate::source::Span;

/// A condition over dynamic extents, checked in every activation of its function.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The origin of the condition; it selects the diagnostic.
    pub kind: CheckKind,
    /// A bool over literals and [`Node::Extent`], without tensors and indices.
    pub condition: Expr,
    /// The message if it does not hold; the parts are concatenated.
    pub message: Vec<MessagePart>,
    /// The span of the assertion's condition, or of the declared extent.
    pub span: Span,
}

/// The origin of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CheckKind {
    /// From an `@assert` block.
    Assertion,
    /// A declared shape and the actual one.
    Extent,
    /// An access that must be in bounds.
    Access,
}

/// A piece of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum MessagePart {
    /// Text, printed as it is.
    Text(String),
    /// A scalar over dynamic extents, printed in the language's syntax.
    Value(Expr),
    /// One of two texts, selected by a condition over dynamic extents.
    Choice {
        /// A bool over run-time extents.
        condition: Expr,
        /// The pieces where it holds.
        then: Vec<MessagePart>,
        /// The pieces where it does not hold.
        otherwise: Vec<MessagePart>,
    },
}

/// The maximum number of distinct values and conditions of one message that compiled code stores.
pub const MAX_VALUES: usize = 63;

/// The message with an ellipsis in place of each value beyond the first [`MAX_VALUES`].
pub(crate) fn limit_values(message: Vec<MessagePart>) -> Vec<MessagePart> {
    fn cut(message: Vec<MessagePart>, values: &mut Vec<Expr>) -> Vec<MessagePart> {
        let fits = |expr: &Expr, values: &mut Vec<Expr>| {
            let known = values.contains(expr);
            if !known && values.len() < MAX_VALUES {
                values.push(expr.clone());
                return true;
            }
            known
        };
        let parts = message.into_iter().map(|part| match part {
            MessagePart::Value(expr) if fits(&expr, values) => MessagePart::Value(expr),
            MessagePart::Choice { condition, then, otherwise } if fits(&condition, values) => {
                MessagePart::Choice { condition, then: cut(then, values), otherwise: cut(otherwise, values) }
            }
            text @ MessagePart::Text(_) => text,
            MessagePart::Value(_) | MessagePart::Choice { .. } => MessagePart::Text("…".into()),
        });
        parts.collect()
    }
    cut(message, &mut Vec::new())
}

/// A message with the values that `value` computes; a question mark replaces missing ones.
pub fn text(message: &[MessagePart], value: &mut dyn FnMut(&Expr) -> Option<Scalar>) -> String {
    fn append(message: &[MessagePart], value: &mut dyn FnMut(&Expr) -> Option<Scalar>, text: &mut String) {
        for part in message {
            match part {
                MessagePart::Text(piece) => text.push_str(piece),
                MessagePart::Value(expr) => match value(expr) {
                    Some(scalar) => text.push_str(&scalar.to_string()),
                    None => text.push('?'),
                },
                MessagePart::Choice { condition, then, otherwise } => match value(condition) {
                    Some(Scalar::Bool(true)) => append(then, value, text),
                    Some(_) => append(otherwise, value, text),
                    None => text.push('?'),
                },
            }
        }
    }
    let mut text = String::new();
    append(message, value, &mut text);
    text
}

/// Whether the expression consists of literals and extents only.
pub(crate) fn is_shape_scalar(expr: &Expr) -> bool {
    !matches!(expr.node, Node::Index(_) | Node::Local(_) | Node::Access { .. })
        && expr.children().into_iter().all(is_shape_scalar)
}

/// The number of operations on dynamic extents in the expression; 0 for an expression of a formula.
pub(crate) fn extent_operations(expr: &Expr) -> usize {
    fn counted(expr: &Expr) -> usize {
        let operations = match &expr.node {
            Node::Extent(Extent::Dynamic { expr, .. }) => return expr.operations(),
            Node::Apply { .. } | Node::Select { .. } | Node::Table { .. } => 1usize,
            _ => 0,
        };
        let children = expr.children().into_iter().map(counted);
        children.fold(operations, usize::saturating_add)
    }
    if is_shape_scalar(expr) { counted(expr) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s2_8_messages_have_room_for_so_many_values() {
        let value = |n| MessagePart::Value(Expr::int(n));
        let most = i64::try_from(MAX_VALUES).unwrap();
        let mut message: Vec<_> = (0..most).map(value).collect();
        message.extend([value(most), value(3)]);
        let kept = limit_values(message);
        assert_eq!(kept[MAX_VALUES], MessagePart::Text("…".into()));
        assert_eq!(kept[MAX_VALUES + 1], value(3));
    }

    #[test]
    fn s2_8_messages_carry_values() {
        let check = Check {
            kind: CheckKind::Assertion,
            condition: Expr::literal(Scalar::Bool(false)),
            message: vec![
                MessagePart::Text("n = ".into()),
                MessagePart::Value(Expr::int(3)),
                MessagePart::Text(", half = ".into()),
                MessagePart::Value(Expr::literal(Scalar::Real(1.0))),
            ],
            span: Span { file: crate::source::FileId(0), start: 0, end: 0 },
        };
        let text = text(&check.message, &mut |expr| match expr.node {
            Node::Literal(scalar) => Some(scalar),
            _ => None,
        });
        assert_eq!(text, "n = 3, half = 1.0");
    }
}
