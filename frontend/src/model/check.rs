//! Conditions that only a run can decide: assertions and agreement of extents that are not fixed (2.6, 2.8, 3.1).

use super::{Expr, Extent, Node};
use crate::source::Span;

/// A condition over run-time extents, tested in every activation of its function.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    pub kind: CheckKind,
    /// Bool, over literals and [`Node::Extent`]: no tensor, no index.
    pub condition: Expr,
    /// What to say if it does not hold; the parts follow each other without anything between them.
    pub message: Vec<MessagePart>,
    /// The assertion's condition, or the extent that is declared.
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CheckKind {
    /// From an `@assert` block.
    Assertion,
    /// A declared shape against the actual one.
    Extent,
}

/// A piece of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum MessagePart {
    Text(String),
    /// A scalar over run-time extents, printed as the language writes its value.
    Value(Expr),
}

impl Check {
    /// The message with the values that `value` computes; what it cannot compute is a question mark.
    pub fn text(&self, value: &mut dyn FnMut(&Expr) -> Option<skript_semantics::Scalar>) -> String {
        let mut text = String::new();
        for part in &self.message {
            match part {
                MessagePart::Text(piece) => text.push_str(piece),
                MessagePart::Value(expr) => match value(expr) {
                    Some(scalar) => text.push_str(&scalar_text(scalar)),
                    None => text.push('?'),
                },
            }
        }
        text
    }
}

/// A scalar as the language writes it.
pub fn scalar_text(scalar: skript_semantics::Scalar) -> String {
    use skript_semantics::Scalar;
    match scalar {
        Scalar::Bool(b) => b.to_string(),
        Scalar::Int(i) => i.to_string(),
        Scalar::Real(r) => crate::eval::value::real_text(r),
    }
}

/// Whether the expression rests on literals and extents alone.
pub fn is_shape_scalar(expr: &Expr) -> bool {
    !matches!(
        expr.node,
        Node::Index(_) | Node::Local(_) | Node::Access { .. }
    ) && expr.children().into_iter().all(is_shape_scalar)
}

/// How many operations on run-time extents the expression has; none if it is an expression of a formula.
pub fn extent_operations(expr: &Expr) -> usize {
    fn counted(expr: &Expr) -> usize {
        let own = match &expr.node {
            Node::Extent(Extent::Dynamic { expr, .. }) => return expr.operations(),
            Node::Apply { .. } | Node::Select { .. } | Node::Table { .. } => 1usize,
            _ => 0,
        };
        let children = expr.children().into_iter().map(counted);
        children.fold(own, usize::saturating_add)
    }
    if is_shape_scalar(expr) {
        counted(expr)
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skript_semantics::Scalar;

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
            span: Span {
                file: crate::source::FileId(0),
                start: 0,
                end: 0,
            },
        };
        let text = check.text(&mut |expr| match expr.node {
            Node::Literal(scalar) => Some(scalar),
            _ => None,
        });
        assert_eq!(text, "n = 3, half = 1.0");
    }
}
