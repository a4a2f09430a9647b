// SPDX-License-Identifier: Apache-2.0
//! Extents: those whose expressions are constant become static, as that of the index of a triangle, `j < i + 1`; dynamic ones are
//! moved from function to function, and are parts of expressions.

use crate::domain::signed;
use crate::expr::{apply, substituted};
use skript_frontend::model::{Body, Expr, Extent, Formula, Function, Model, Node, ShapeExpr, TensorType};
use skript_semantics::{Scalar, ScalarKind, ScalarOp};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The model with static extents where expressions are constant.
pub fn with_static_extents(model: &Model) -> Model {
    let mut model = model.clone();
    model.functions.iter_mut().for_each(function);
    model
}

fn function(function: &mut Function) {
    for value in &mut function.values {
        value.tensor.shape.iter_mut().for_each(extent);
    }
    if let Body::Formulas(formulas) = &mut function.body {
        formulas.iter_mut().for_each(formula);
    }
}

fn formula(formula: &mut Formula) {
    formula.indices.iter_mut().for_each(|index| extent(&mut index.extent));
    let literal = |part: &Expr| match &part.node {
        Node::Extent(Extent::Dynamic { expr, .. }) => Some(Expr::literal(value(expr)?)),
        _ => None,
    };
    let change = |expr: &mut Expr| *expr = substituted(expr, &literal);
    formula.locals.iter_mut().for_each(|local| change(&mut local.value));
    formula.predicate.iter_mut().for_each(change);
    for target in &mut formula.targets {
        change(&mut target.value);
        target.subscripts.iter_mut().for_each(change);
    }
}

fn extent(extent: &mut Extent) {
    if let Extent::Dynamic { expr, .. } = extent
        && let Some(Scalar::Int(number)) = value(expr)
        && let Ok(number) = u64::try_from(number)
    {
        *extent = Extent::Fixed(number);
    }
}

/// The value of an expression without symbols.
fn value(expr: &ShapeExpr) -> Option<Scalar> {
    match expr {
        ShapeExpr::Constant(number) => Some(Scalar::Int(*number)),
        ShapeExpr::Real(bits) => Some(Scalar::Real(f64::from_bits(*bits))),
        ShapeExpr::Symbol(_) => None,
        ShapeExpr::Apply { op, operands } => {
            let operands: Option<Vec<Scalar>> = operands.iter().map(value).collect();
            Some(op.eval(&operands?))
        }
    }
}

/// An extent as an int.
pub fn size(extent: &Extent) -> Expr {
    match extent {
        Extent::Fixed(size) => Expr::int(signed(*size)),
        Extent::Dynamic { .. } => Expr { kind: ScalarKind::Int, node: Node::Extent(extent.clone()) },
    }
}

/// The last position of a dimension.
pub fn last(extent: &Extent) -> Expr {
    apply(ScalarOp::Sub, vec![size(extent), Expr::int(1)])
}

/// The name of an extent that is not computed from others.
pub fn symbol(extent: &Extent) -> Option<&str> {
    match extent {
        Extent::Dynamic { expr, .. } => match &**expr {
            ShapeExpr::Symbol(name) => Some(name),
            _ => None,
        },
        Extent::Fixed(_) => None,
    }
}

/// The names in an extent.
pub fn symbols(extent: &Extent) -> BTreeSet<String> {
    let Extent::Dynamic { expr, .. } = extent else { return BTreeSet::new() };
    let (mut open, mut names) = (vec![&**expr], BTreeSet::new());
    while let Some(expr) = open.pop() {
        match expr {
            ShapeExpr::Symbol(name) => drop(names.insert(name.clone())),
            ShapeExpr::Apply { operands, .. } => open.extend(operands),
            ShapeExpr::Constant(_) | ShapeExpr::Real(_) => {}
        }
    }
    names
}

/// A type with other extents in place of names.
pub fn in_terms_of(tensor: &TensorType, extents: &HashMap<String, Extent>) -> TensorType {
    let shape = tensor.shape.iter().map(|extent| extent_in_terms_of(extent, extents)).collect();
    TensorType { kind: tensor.kind, shape }
}

/// An extent with others in place of names.
pub fn extent_in_terms_of(known: &Extent, extents: &HashMap<String, Extent>) -> Extent {
    let Extent::Dynamic { expr, bound } = known else { return known.clone() };
    let mut moved = Extent::Dynamic { expr: Arc::new(replaced(expr, extents)), bound: *bound };
    extent(&mut moved);
    moved
}

fn replaced(expr: &ShapeExpr, extents: &HashMap<String, Extent>) -> ShapeExpr {
    match expr {
        ShapeExpr::Symbol(name) => match extents.get(name) {
            Some(Extent::Fixed(size)) => ShapeExpr::Constant(signed(*size)),
            Some(Extent::Dynamic { expr, .. }) => (**expr).clone(),
            None => expr.clone(),
        },
        ShapeExpr::Apply { op, operands } => {
            let moved = operands.iter().map(|operand| replaced(operand, extents)).collect();
            ShapeExpr::Apply { op: *op, operands: moved }
        }
        ShapeExpr::Constant(_) | ShapeExpr::Real(_) => expr.clone(),
    }
}

/// The expression that computes an extent from others; `None` for an operation that formulas do not have for these operands.
pub fn computed(expr: &ShapeExpr) -> Option<Expr> {
    Some(match expr {
        ShapeExpr::Constant(number) => Expr::int(*number),
        ShapeExpr::Real(bits) => Expr::literal(Scalar::Real(f64::from_bits(*bits))),
        ShapeExpr::Symbol(_) => {
            let extent = Extent::Dynamic { expr: Arc::new(expr.clone()), bound: u64::MAX };
            Expr { kind: ScalarKind::Int, node: Node::Extent(extent) }
        }
        ShapeExpr::Apply { op, operands } => {
            let operands: Vec<Expr> = operands.iter().map(computed).collect::<Option<_>>()?;
            let kinds: Vec<ScalarKind> = operands.iter().map(|operand| operand.kind).collect();
            Expr::apply(op.result_kind(&kinds)?, *op, operands)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounded(expr: ShapeExpr) -> Extent {
        let mut bounded = Extent::Dynamic { expr: Arc::new(expr), bound: 9 };
        extent(&mut bounded);
        bounded
    }

    #[test]
    fn a_constant_expression_is_static() {
        let sum = |a| ShapeExpr::Apply { op: ScalarOp::Add, operands: vec![a, ShapeExpr::Constant(2)] };
        assert_eq!(bounded(sum(ShapeExpr::Constant(3))), Extent::Fixed(5));
        // Near miss: a symbol.
        assert_eq!(bounded(sum(ShapeExpr::Symbol("n".into()))).fixed(), None);
        assert_eq!(bounded(ShapeExpr::Constant(-1)).fixed(), None);
    }
}
