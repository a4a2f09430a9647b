// SPDX-License-Identifier: Apache-2.0
//! Operators of the library that compute one scalar operation per element, found by their formulas.

use std::sync::OnceLock;

use crate::ast::{BinaryOp, Definition, DefinitionKind, Expr, ExprKind, LoweringOp, UnaryOp};
use crate::diagnostics::Sink;
use crate::library::{self, Layer};
use crate::source::SourceMap;

/// A scalar operation in the syntax of expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Unary(UnaryOp),
    Binary(BinaryOp),
    /// `` `exp`(x) ``.
    Builtin(String),
}

/// An operator of the library: module and name.
#[derive(Debug)]
pub(crate) struct LibraryOperator {
    pub(crate) module: &'static str,
    pub(crate) name: String,
}

/// The operator of the library whose only formula is this operation on one element of each input, in order. The first
/// in the order of modules if there are several.
pub(crate) fn elementwise(operation: &Operation) -> Option<&'static LibraryOperator> {
    static ALL: OnceLock<Vec<(Operation, LibraryOperator)>> = OnceLock::new();
    let all = ALL.get_or_init(read);
    let mut operators = all.iter().filter(|(computed, _)| computed == operation);
    operators.next().map(|(_, operator)| operator)
}

fn read() -> Vec<(Operation, LibraryOperator)> {
    let mut all = Vec::new();
    let (mut sources, mut sink) = (SourceMap::default(), Sink::default());
    for name in library::names() {
        let module = library::module(Layer::Draft, name, &mut sources, &mut sink);
        for definition in module.iter().flat_map(|m| &m.definitions) {
            if let Some(operation) = only_operation(definition) {
                let operator = LibraryOperator { module: name, name: definition.name.name.clone() };
                all.push((operation, operator));
            }
        }
    }
    all
}

/// The operation of `z[…] = x[…] OP y[…]`, if an operator computes only that, from all of its inputs.
fn only_operation(definition: &Definition) -> Option<Operation> {
    let [formula] = definition.lowers.as_slice() else {
        return None;
    };
    // With several indices a formula combines elements of different positions, as an outer product does.
    let plain = definition.kind == DefinitionKind::Operator
        && formula.bounds.len() == 1
        && formula.op == LoweringOp::Assign
        && formula.condition.is_none()
        && formula.locals.is_empty()
        && formula.unroll.is_none();
    if !plain {
        return None;
    }
    let (operation, operands): (_, Vec<&Expr>) = match &formula.value.kind {
        ExprKind::Unary { op, operand } => (Operation::Unary(*op), vec![operand]),
        ExprKind::Binary { op, left, right } => (Operation::Binary(*op), vec![left, right]),
        ExprKind::Builtin { name, argument } => (Operation::Builtin(name.name.clone()), vec![argument]),
        _ => return None,
    };
    let read = operands.into_iter().map(tensor_read);
    let inputs = definition.inputs.iter().map(|i| Some(i.name.name.as_str()));
    read.eq(inputs).then_some(operation)
}

/// The tensor of which an expression reads one element.
fn tensor_read(expr: &Expr) -> Option<&str> {
    let ExprKind::Index { base, .. } = &expr.kind else {
        return None;
    };
    match &base.kind {
        ExprKind::Name(name) => Some(&name.name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(operation: &Operation) -> String {
        elementwise(operation).map_or_else(String::new, |o| format!("{}.{}", o.module, o.name))
    }

    #[test]
    fn operations_have_operators_in_the_library() {
        use BinaryOp::*;
        for (op, wanted) in [
            (Add, "math.add"),
            (Sub, "math.sub"),
            (Mul, "math.mul"),
            (Div, "math.div"),
            (Pow, "math.pow"),
            (Min, "math.min"),
            (Max, "math.max"),
            (Lt, "math.lt"),
            (Le, "math.le"),
            (Gt, "math.gt"),
            (Ge, "math.ge"),
            (Eq, "math.eq"),
            (Ne, "math.ne"),
            (And, "math.and"),
            (Or, "math.or"),
        ] {
            assert_eq!(name(&Operation::Binary(op)), wanted);
        }
        assert_eq!(name(&Operation::Unary(UnaryOp::Minus)), "math.neg");
        assert_eq!(name(&Operation::Unary(UnaryOp::Not)), "math.not");
        for builtin in ["exp", "sqrt", "tanh", "abs"] {
            let operation = Operation::Builtin(builtin.to_string());
            assert_eq!(name(&operation), format!("math.{builtin}"));
        }
    }

    /// `math.sqr` is a product, but reads one tensor twice; no operator is only a `+`.
    #[test]
    fn other_operations_have_none() {
        assert_eq!(name(&Operation::Unary(UnaryOp::Plus)), "");
        assert_eq!(name(&Operation::Builtin("unknown".to_string())), "");
    }
}
