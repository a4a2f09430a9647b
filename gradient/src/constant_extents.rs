// SPDX-License-Identifier: Apache-2.0
//! Makes extents static whose expressions are constant: the index of a triangle, `j < i + 1`, has such a bound.

use crate::expr::substituted;
use skript_frontend::model::{Body, Expr, Extent, Formula, Function, Model, Node, ShapeExpr};
use skript_semantics::Scalar;

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

#[cfg(test)]
mod tests {
    use super::*;
    use skript_semantics::ScalarOp;
    use std::sync::Arc;

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
