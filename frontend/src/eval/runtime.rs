// SPDX-License-Identifier: Apache-2.0
//! Scalar operations inside formulas: expressions in a form that is simple to recognize.

use crate::eval::ranges::upper_bound;
use crate::eval::scalar::{apply, result_kind};
use crate::eval::sum::Sum;
use crate::model::{Expr, Node};
use crate::program::Edition;
use skript_semantics::{Scalar, ScalarKind, ScalarOp};

/// `op(operands)`, folded if that is simple; `None` if the kinds do not fit.
pub(crate) fn operation(op: ScalarOp, operands: Vec<Expr>, edition: Edition) -> Option<Expr> {
    let kinds: Vec<ScalarKind> = operands.iter().map(|o| o.kind).collect();
    let kind = result_kind(op, &kinds)?;
    let literals: Option<Vec<Scalar>> = operands.iter().map(literal).collect();
    if let Some(literals) = literals {
        // An operation without a compile-time value is kept, with its defined run-time result.
        if let Ok(value) = apply(op, &literals, edition) {
            return Some(Expr::literal(value));
        }
    }
    if edition == Edition::Khronos
        && let [a, b] = operands.as_slice()
        && let Some(expr) = khronos_division(op, a, b)
    {
        return Some(expr);
    }
    Some(simplified(op, kind, operands))
}

/// Like [`operation`], for operands whose kinds fit and that are not all literals.
pub(crate) fn simplified(op: ScalarOp, kind: ScalarKind, operands: Vec<Expr>) -> Expr {
    use ScalarOp::*;
    match (op, operands.as_slice()) {
        (Add | Sub | Neg | Mul, _) if kind == ScalarKind::Int => {
            Sum::from(&Expr::apply(kind, op, operands)).into()
        }
        (Div | CeilDiv, [a, b]) if is_int(b, 1) => a.clone(),
        (Mod, [_, b]) if is_int(b, 1) => Expr::int(0),
        (And, [a, b]) | (Or, [a, b]) => {
            let neutral = op == And;
            match (bool_literal(a), bool_literal(b)) {
                (Some(value), _) if value == neutral => b.clone(),
                (_, Some(value)) if value == neutral => a.clone(),
                (Some(value), _) | (_, Some(value)) => Expr::literal(Scalar::Bool(value)),
                _ => Expr::apply(kind, op, operands),
            }
        }
        (ToInt | ToReal | ToBool, [a]) if a.kind == kind => a.clone(),
        (Ne | Eq, [a, b]) if is_int(b, 0) => compare(op, a.clone(), b.clone()),
        _ => Expr::apply(kind, op, operands),
    }
}

/// Lazy select between expressions of one kind; strict if no operand reads a tensor.
pub(crate) fn select(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    match bool_literal(&condition) {
        Some(true) => return then,
        Some(false) => return otherwise,
        None => {}
    }
    let then = where_true(&condition, then);
    if then == otherwise {
        return then;
    }
    let kind = then.kind;
    if reads(&then) || reads(&otherwise) {
        return Expr {
            kind,
            node: Node::Select {
                condition: Box::new(condition),
                then: Box::new(then),
                otherwise: Box::new(otherwise),
            },
        };
    }
    if kind == ScalarKind::Bool {
        match (bool_literal(&then), bool_literal(&otherwise)) {
            (Some(true), Some(false)) => return condition,
            (_, Some(false)) => return and(condition, then),
            (Some(true), _) => {
                return simplified(ScalarOp::Or, kind, vec![condition, otherwise]);
            }
            _ => {}
        }
    }
    Expr::apply(kind, ScalarOp::Select, vec![condition, then, otherwise])
}

/// An expression that is evaluated only where a condition is true: a select by the same condition is decided, and factors of a
/// divisor that the condition excludes from being zero cancel.
fn where_true(condition: &Expr, expr: Expr) -> Expr {
    match &expr.node {
        Node::Apply { op: ScalarOp::Select, operands } => match operands.as_slice() {
            [inner, then, _] if inner == condition => then.clone(),
            _ => expr,
        },
        Node::Apply { op: ScalarOp::Div, operands } if expr.kind == ScalarKind::Int => {
            match operands.as_slice() {
                [dividend, divisor] if *condition == compare(ScalarOp::Ne, divisor.clone(), Expr::int(0)) => {
                    exact_quotient(dividend, divisor).unwrap_or(expr)
                }
                _ => expr,
            }
        }
        _ => expr,
    }
}

/// The quotient of two products, if the factors of the divisor are factors of the dividend, which does not wrap around.
fn exact_quotient(dividend: &Expr, divisor: &Expr) -> Option<Expr> {
    upper_bound(dividend)?;
    let (factor, mut left) = factors(dividend)?;
    let (by, cancelled) = factors(divisor)?;
    for expr in cancelled {
        left.remove(left.iter().position(|other| *other == expr)?);
    }
    if factor.checked_rem(by)? != 0 {
        return None;
    }
    let factor = factor.checked_div(by)?;
    let product =
        left.into_iter().cloned().reduce(|a, b| Expr::apply(ScalarKind::Int, ScalarOp::Mul, vec![a, b]));
    Some(match product {
        Some(product) => simplified(ScalarOp::Mul, ScalarKind::Int, vec![Expr::int(factor), product]),
        None => Expr::int(factor),
    })
}

/// The product of the literal factors of a product, and the other factors from left to right. `None` if the product overflows.
fn factors(expr: &Expr) -> Option<(i64, Vec<&Expr>)> {
    let (mut literal, mut others, mut open) = (1_i64, Vec::new(), vec![expr]);
    while let Some(expr) = open.pop() {
        match &expr.node {
            Node::Literal(Scalar::Int(value)) => literal = literal.checked_mul(*value)?,
            Node::Apply { op: ScalarOp::Mul, operands } => open.extend(operands.iter().rev()),
            _ => others.push(expr),
        }
    }
    Some((literal, others))
}

/// Whether a tensor may be read; a local may denote a read.
pub(crate) fn reads(expr: &Expr) -> bool {
    expr.nested().iter().any(|nested| matches!(nested.node, Node::Access { .. } | Node::Local(_)))
}

/// `a && b`, lazy if `b` reads tensors.
pub(crate) fn and(a: Expr, b: Expr) -> Expr {
    if reads(&b) && bool_literal(&a).is_none() {
        return Expr {
            kind: ScalarKind::Bool,
            node: Node::Select {
                condition: Box::new(a),
                then: Box::new(b),
                otherwise: Box::new(Expr::literal(Scalar::Bool(false))),
            },
        };
    }
    simplified(ScalarOp::And, ScalarKind::Bool, vec![a, b])
}

/// `expr + number`, an int.
pub(crate) fn plus(expr: &Expr, number: i64) -> Expr {
    Sum::from(expr).plus(number).into()
}

/// A comparison of int expressions.
pub(crate) fn compare(op: ScalarOp, a: Expr, b: Expr) -> Expr {
    let folded = match (&a.node, &b.node) {
        (Node::Literal(x), Node::Literal(y)) => apply(op, &[*x, *y], Edition::Draft6).ok(),
        _ => None,
    };
    if let Some(value) = folded {
        return Expr::literal(value);
    }
    let a = match op {
        ScalarOp::Ne | ScalarOp::Eq if is_int(&b, 0) => without_factor(a),
        _ => a,
    };
    Expr::apply(ScalarKind::Bool, op, vec![a, b])
}

/// An expression that is zero where the given one is: without a literal factor, if the product does not wrap around.
fn without_factor(expr: Expr) -> Expr {
    match &expr.node {
        Node::Apply { op: ScalarOp::Mul, operands } => match operands.as_slice() {
            [a, b] if literal(a).is_some_and(|a| a.to_int() != 0) && upper_bound(&expr).is_some() => {
                b.clone()
            }
            _ => expr,
        },
        _ => expr,
    }
}

fn literal(expr: &Expr) -> Option<Scalar> {
    match expr.node {
        Node::Literal(value) => Some(value),
        _ => None,
    }
}

pub(crate) fn bool_literal(expr: &Expr) -> Option<bool> {
    match expr.node {
        Node::Literal(Scalar::Bool(value)) => Some(value),
        _ => None,
    }
}

fn is_int(expr: &Expr, value: i64) -> bool {
    matches!(expr.node, Node::Literal(Scalar::Int(v)) if v == value)
}

/// Division toward zero, away from zero, and the remainder with the dividend's sign, in terms of the draft's operations on absolute values.
/// Extents and positions are never INT_MIN, which has no absolute value.
fn khronos_division(op: ScalarOp, a: &Expr, b: &Expr) -> Option<Expr> {
    let kind = a.kind;
    if kind != b.kind || kind == ScalarKind::Bool {
        return None;
    }
    if kind == ScalarKind::Int && never_negative(a) && never_negative(b) {
        return None;
    }
    // The time to analyze nested selects grows with each level.
    let chooses = |x: &Expr| {
        x.nested().iter().any(|nested| match &nested.node {
            Node::Select { .. } => true,
            Node::Apply { op, .. } => *op == ScalarOp::Select,
            _ => false,
        })
    };
    if kind == ScalarKind::Int && (reads(a) || reads(b)) && !chooses(a) && !chooses(b) {
        return division_of_elements(op, a, b);
    }
    let unary = |op, x: &Expr| Expr::apply(kind, op, vec![x.clone()]);
    let binary = |op, x: Expr, y: Expr| Expr::apply(kind, op, vec![x, y]);
    let sign = binary(ScalarOp::Mul, unary(ScalarOp::Sign, a), unary(ScalarOp::Sign, b));
    let (x, y) = (unary(ScalarOp::Abs, a), unary(ScalarOp::Abs, b));
    match op {
        ScalarOp::Div | ScalarOp::CeilDiv if kind == ScalarKind::Int => {
            Some(binary(ScalarOp::Mul, sign, binary(op, x, y)))
        }
        ScalarOp::Mod => Some(binary(ScalarOp::Mul, unary(ScalarOp::Sign, a), binary(ScalarOp::Mod, x, y))),
        _ => None,
    }
}

/// The same operations on arbitrary ints.
fn division_of_elements(op: ScalarOp, a: &Expr, b: &Expr) -> Option<Expr> {
    let int = |op, x: Expr, y: Expr| Expr::apply(ScalarKind::Int, op, vec![x, y]);
    let test = |op, x: Expr, y: Expr| Expr::apply(ScalarKind::Bool, op, vec![x, y]);
    let choice = |x, y, z| Expr::apply(ScalarKind::Int, ScalarOp::Select, vec![x, y, z]);
    let zero = || Expr::int(0);
    let both = |x, y| test(ScalarOp::And, x, y);
    let remainder = int(ScalarOp::Mod, a.clone(), b.clone());
    let is_inexact = test(ScalarOp::Ne, remainder.clone(), zero());
    // An inexact quotient that is rounded down is one less than the quotient rounded toward zero if it is negative, and one less than the
    // quotient rounded away from zero if it is not.
    let quotient = int(ScalarOp::Div, a.clone(), b.clone());
    let next = |is_next| {
        let more = int(ScalarOp::Add, quotient.clone(), Expr::int(1));
        choice(both(is_next, is_inexact.clone()), more, quotient.clone())
    };
    match op {
        ScalarOp::Div => Some(next(test(ScalarOp::Lt, quotient.clone(), zero()))),
        ScalarOp::CeilDiv => Some(next(test(ScalarOp::Ge, quotient.clone(), zero()))),
        ScalarOp::Mod => {
            let [one, other] = [a, b].map(|x| test(ScalarOp::Lt, x.clone(), zero()));
            let is_other = both(test(ScalarOp::Ne, one, other), is_inexact);
            let signed = int(ScalarOp::Sub, remainder.clone(), b.clone());
            Some(choice(is_other, signed, remainder))
        }
        _ => None,
    }
}

/// Whether an expression consists of indices and nonnegative literals, without subtraction.
fn never_negative(expr: &Expr) -> bool {
    match &expr.node {
        Node::Literal(Scalar::Int(v)) => *v >= 0,
        Node::Index(_) => true,
        Node::Apply { op, operands } => {
            matches!(op, ScalarOp::Add | ScalarOp::Mul | ScalarOp::Div | ScalarOp::Mod | ScalarOp::CeilDiv)
                && operands.iter().all(never_negative)
        }
        _ => false,
    }
}

pub(crate) fn literal_bool(value: bool) -> Expr {
    Expr::literal(Scalar::Bool(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lazy_only_where_a_tensor_is_read() {
        let condition = Expr::apply(ScalarKind::Bool, ScalarOp::Lt, vec![Expr::index(0), Expr::int(3)]);
        let strict = select(condition.clone(), Expr::index(0), Expr::int(0));
        assert!(matches!(strict.node, Node::Apply { op: ScalarOp::Select, .. }));
        let access = Expr {
            kind: ScalarKind::Int,
            node: Node::Access { tensor: crate::model::ValueId(0), subscripts: vec![Expr::index(0)] },
        };
        let lazy = select(condition, access, Expr::int(0));
        assert!(matches!(lazy.node, Node::Select { .. }));
    }

    fn extent(name: &str) -> Expr {
        Expr {
            kind: ScalarKind::Int,
            node: Node::Extent(crate::model::Extent::Dynamic {
                expr: std::sync::Arc::new(crate::model::ShapeExpr::Symbol(name.to_owned())),
                bound: 8,
            }),
        }
    }

    #[test]
    fn guarded_quotients_of_products_are_exact() {
        let int =
            |op, a: &Expr, b: &Expr| operation(op, vec![a.clone(), b.clone()], Edition::Draft6).unwrap();
        let (a, b) = (extent("a"), extent("b"));
        let divisor = int(ScalarOp::Mul, &Expr::int(12), &b);
        let dividend = int(ScalarOp::Mul, &int(ScalarOp::Mul, &Expr::int(24), &b), &a);
        let quotient = int(ScalarOp::Div, &dividend, &divisor);
        let guard = int(ScalarOp::Ne, &divisor, &Expr::int(0));
        assert_eq!(guard, int(ScalarOp::Ne, &b, &Expr::int(0)));
        let guarded = select(guard.clone(), quotient.clone(), Expr::int(0));
        let exact = int(ScalarOp::Mul, &Expr::int(2), &a);
        assert_eq!(guarded, select(guard.clone(), exact, Expr::int(0)));
        assert_eq!(select(guard, guarded.clone(), Expr::int(0)), guarded);
        // Another guard, and factors that are not in the dividend.
        let other = int(ScalarOp::Ne, &a, &Expr::int(0));
        assert_ne!(select(other.clone(), quotient.clone(), Expr::int(0)), guarded);
        // Literal factors whose product overflows.
        let large = int(ScalarOp::Mul, &Expr::int(6_148_914_691_236_517_205), &b);
        let wrapping = int(ScalarOp::Mul, &int(ScalarOp::Mul, &Expr::int(3), &a), &large);
        let minimum = int(ScalarOp::Mul, &Expr::int(i64::MIN), &int(ScalarOp::Mul, &a, &b));
        let quotient = int(ScalarOp::Div, &minimum, &wrapping);
        let kept = select(int(ScalarOp::Ne, &wrapping, &Expr::int(0)), quotient.clone(), Expr::int(0));
        assert!(kept.nested().iter().any(|part| **part == quotient));
        let rounded = int(ScalarOp::Div, &divisor, &a);
        let kept = select(other, rounded.clone(), Expr::int(0));
        assert!(kept.nested().iter().any(|part| **part == rounded));
    }

    #[test]
    fn kinds_must_agree() {
        let mixed = vec![Expr::index(0), Expr::literal(Scalar::Real(1.0))];
        assert!(operation(ScalarOp::Add, mixed, Edition::Draft6).is_none());
    }

    fn element(number: u32) -> Expr {
        Expr {
            kind: ScalarKind::Int,
            node: Node::Access { tensor: crate::model::ValueId(number), subscripts: Vec::new() },
        }
    }

    #[test]
    fn edition_khronos_has_no_choices_within_choices() {
        fn choices(expr: &Expr) -> usize {
            let is_choice = matches!(&expr.node, Node::Apply { op, .. } if *op == ScalarOp::Select);
            usize::from(is_choice) + expr.children().into_iter().map(choices).sum::<usize>()
        }
        let remainder = |a, b| operation(ScalarOp::Mod, vec![a, b], Edition::Khronos).unwrap();
        let once = remainder(element(0), element(1));
        assert_eq!(choices(&once), 1);
        // On absolute values: the dividend occurs twice.
        assert_eq!(choices(&remainder(once, element(1))), 2);
    }

    #[test]
    fn edition_khronos_divides_elements_as_compile_time_ints() {
        fn value(expr: &Expr, of: [i64; 2]) -> Scalar {
            match &expr.node {
                Node::Literal(literal) => *literal,
                Node::Access { tensor, .. } => Scalar::Int(of[usize::from(tensor.0 > 0)]),
                Node::Apply { op, operands } => {
                    let operands: Vec<Scalar> = operands.iter().map(|o| value(o, of)).collect();
                    op.eval(&operands)
                }
                other => panic!("{other:?}"),
            }
        }
        for op in [ScalarOp::Div, ScalarOp::CeilDiv, ScalarOp::Mod] {
            let expr = operation(op, vec![element(0), element(1)], Edition::Khronos).unwrap();
            for a in [i64::MIN, i64::MIN + 1, -7, -6, -1, 0, 1, 6, 7, i64::MAX] {
                for b in [i64::MIN, i64::MIN + 1, -3, -2, -1, 1, 2, 3, i64::MAX] {
                    let literals = [Scalar::Int(a), Scalar::Int(b)];
                    // The quotient of INT_MIN and -1 has no value at compile time.
                    if let Ok(expected) = apply(op, &literals, Edition::Khronos) {
                        assert_eq!(value(&expr, [a, b]), expected, "{op:?} {a} {b}");
                    }
                }
                assert_eq!(value(&expr, [a, 0]), Scalar::Int(0), "{op:?} {a} 0");
            }
        }
    }
}
