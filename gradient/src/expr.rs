// SPDX-License-Identifier: Apache-2.0
//! Builds expressions of formulas; operations with zeros, ones and literals are folded.

use skript_frontend::model::{Expr, FormulaLocal, Node};
use skript_semantics::{Derivative, Scalar, ScalarKind, ScalarOp};

/// A real constant.
pub fn real(value: f64) -> Expr {
    Expr::literal(Scalar::Real(value))
}

/// The value of a real literal.
pub fn number(expr: &Expr) -> Option<f64> {
    match expr.node {
        Node::Literal(Scalar::Real(value)) => Some(value),
        _ => None,
    }
}

/// `a + b`.
pub fn add(a: Expr, b: Expr) -> Expr {
    apply(ScalarOp::Add, vec![a, b])
}

/// `a * b`. A selection between 0 and 1 selects the other operand, so that an infinity that is not selected has no influence.
pub fn mul(a: Expr, b: Expr) -> Expr {
    if let Node::Select { condition, then, otherwise } = &b.node {
        match (number(then), number(otherwise)) {
            (Some(1.0), Some(0.0)) => return select((**condition).clone(), a, real(0.0)),
            (Some(0.0), Some(1.0)) => return select((**condition).clone(), real(0.0), a),
            (Some(0.0), None) => {
                return select((**condition).clone(), real(0.0), mul(a, (**otherwise).clone()));
            }
            _ => {}
        }
    }
    apply(ScalarOp::Mul, vec![a, b])
}

/// `condition ? then : otherwise`.
pub fn select(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    match condition.node {
        Node::Literal(Scalar::Bool(true)) => then,
        Node::Literal(Scalar::Bool(false)) => otherwise,
        _ if then == otherwise => then,
        _ => {
            let kind = then.kind;
            let (condition, then, otherwise) = (Box::new(condition), Box::new(then), Box::new(otherwise));
            Expr { kind, node: Node::Select { condition, then, otherwise } }
        }
    }
}

/// The conjunction of conditions; `None` without conditions.
pub fn all(conditions: impl IntoIterator<Item = Expr>) -> Option<Expr> {
    let and = |a: Expr, b: Expr| if a == b { a } else { apply(ScalarOp::And, vec![a, b]) };
    conditions.into_iter().reduce(and)
}

/// An operation on operands of one kind.
pub fn apply(op: ScalarOp, operands: Vec<Expr>) -> Expr {
    if let Some(simpler) = folded(op, &operands) {
        return simpler;
    }
    let kinds: Vec<ScalarKind> = operands.iter().map(|operand| operand.kind).collect();
    let values: Option<Vec<Scalar>> = operands.iter().map(literal).collect();
    if let Some(values) = values {
        return Expr::literal(op.eval(&values));
    }
    // Operands of derivatives have the kinds that the operation accepts.
    let kind = op.result_kind(&kinds).unwrap_or(ScalarKind::Real);
    Expr::apply(kind, op, operands)
}

fn literal(expr: &Expr) -> Option<Scalar> {
    match expr.node {
        Node::Literal(value) => Some(value),
        _ => None,
    }
}

/// A simpler form of an operation on reals.
fn folded(op: ScalarOp, operands: &[Expr]) -> Option<Expr> {
    let (a, b) = (operands.first()?, operands.get(1));
    if op == ScalarOp::Select {
        return Some(select(a.clone(), b?.clone(), operands.get(2)?.clone()));
    }
    let negated = |a: &Expr| apply(ScalarOp::Neg, vec![a.clone()]);
    Some(match (op, number(a), b.and_then(number)) {
        (ScalarOp::Add, Some(0.0), _) => b?.clone(),
        (ScalarOp::Add | ScalarOp::Sub, _, Some(0.0)) => a.clone(),
        (ScalarOp::Add, _, _) if Some(a) == b && a.kind == ScalarKind::Real => {
            apply(ScalarOp::Mul, vec![real(2.0), a.clone()])
        }
        (ScalarOp::Sub, Some(0.0), _) => negated(b?),
        (ScalarOp::Mul, Some(0.0), _) | (ScalarOp::Mul, _, Some(0.0)) => real(0.0),
        (ScalarOp::Mul, Some(1.0), _) => b?.clone(),
        (ScalarOp::Mul, Some(-1.0), _) => negated(b?),
        (ScalarOp::Mul | ScalarOp::Div | ScalarOp::Pow, _, Some(1.0)) => a.clone(),
        (ScalarOp::Mul, _, Some(-1.0)) => negated(a),
        (ScalarOp::Mul, _, _) => product(a, b?)?,
        (ScalarOp::Neg, _, _) => match &a.node {
            Node::Apply { op: ScalarOp::Neg, operands } => operands.first()?.clone(),
            _ => return None,
        },
        _ => return None,
    })
}

/// `a * (1.0 / b)` as `a / b`, and `a * -b` as `-(a * b)`.
fn product(a: &Expr, b: &Expr) -> Option<Expr> {
    let Node::Apply { op, operands } = &b.node else { return None };
    match (op, operands.as_slice()) {
        (ScalarOp::Div, [one, divisor]) if number(one).is_some() => {
            let scaled = apply(ScalarOp::Mul, vec![a.clone(), one.clone()]);
            Some(apply(ScalarOp::Div, vec![scaled, divisor.clone()]))
        }
        (ScalarOp::Neg, [positive]) => {
            Some(apply(ScalarOp::Neg, vec![apply(ScalarOp::Mul, vec![a.clone(), positive.clone()])]))
        }
        _ => None,
    }
}

/// A derivative for these operands and this result. A selection in the table becomes lazy.
pub fn instance(derivative: &Derivative, operands: &[Expr], result: &Expr) -> Option<Expr> {
    Some(match derivative {
        Derivative::Operand(position) => operands.get(*position)?.clone(),
        Derivative::Result => result.clone(),
        Derivative::Number(value) => real(*value),
        Derivative::Apply(op, parts) => {
            let parts: Option<Vec<Expr>> =
                parts.iter().map(|part| instance(part, operands, result)).collect();
            apply(*op, parts?)
        }
    })
}

/// Replaces subexpressions, the outermost first.
pub fn substituted(expr: &Expr, replace: &dyn Fn(&Expr) -> Option<Expr>) -> Expr {
    if let Some(replaced) = replace(expr) {
        return replaced;
    }
    let all = |exprs: &[Expr]| exprs.iter().map(|e| substituted(e, replace)).collect();
    let boxed = |expr: &Expr| Box::new(substituted(expr, replace));
    let node = match &expr.node {
        Node::Access { tensor, subscripts } => Node::Access { tensor: *tensor, subscripts: all(subscripts) },
        Node::Table { items, index } => Node::Table { items: items.clone(), index: boxed(index) },
        Node::Apply { op, operands } => Node::Apply { op: *op, operands: all(operands) },
        Node::Select { condition, then, otherwise } => {
            Node::Select { condition: boxed(condition), then: boxed(then), otherwise: boxed(otherwise) }
        }
        leaf => leaf.clone(),
    };
    Expr { kind: expr.kind, node }
}

/// An expression with the values of locals in place of them.
pub fn inlined(expr: &Expr, locals: &[FormulaLocal]) -> Expr {
    substituted(expr, &|part| match part.node {
        Node::Local(at) => locals.get(at).map(|local| inlined(&local.value, locals)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index() -> Expr {
        Expr::apply(ScalarKind::Real, ScalarOp::ToReal, vec![Expr::index(0)])
    }

    #[test]
    fn zeros_and_ones_are_folded() {
        assert_eq!(mul(index(), real(1.0)), index());
        assert_eq!(mul(index(), real(0.0)), real(0.0));
        assert_eq!(add(real(0.0), index()), index());
        assert_eq!(mul(real(2.0), real(3.0)), real(6.0));
    }

    /// Near miss: 2.0 is neither.
    #[test]
    fn other_numbers_remain() {
        assert_eq!(
            mul(index(), real(2.0)),
            Expr::apply(ScalarKind::Real, ScalarOp::Mul, vec![index(), real(2.0)])
        );
    }

    #[test]
    fn a_selected_one_selects_the_other_factor() {
        let condition = Expr::apply(ScalarKind::Bool, ScalarOp::Lt, vec![index(), real(1.0)]);
        let slope = select(condition.clone(), real(1.0), real(0.0));
        assert_eq!(mul(index(), slope), select(condition, index(), real(0.0)));
    }

    #[test]
    fn a_product_with_a_reciprocal_is_a_quotient() {
        let quotient = |a, b| Expr::apply(ScalarKind::Real, ScalarOp::Div, vec![a, b]);
        assert_eq!(mul(index(), quotient(real(1.0), index())), quotient(index(), index()));
    }
}
