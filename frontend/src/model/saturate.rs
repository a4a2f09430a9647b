//! Reals that an operator converts to ints as its last step become the nearest ints of the machine type, as they do in 64 bits.

use super::{Accumulation, Body, Expr, Formula, FormulaLocal, Function, Node};
use skript_semantics::{IntType, Scalar, ScalarKind, ScalarOp};

/// Bounds what the formulas of a function give out by converting reals; all other ints wrap.
pub(super) fn saturate(function: &mut Function, int: IntType) {
    let Body::Formulas(formulas) = &mut function.body else {
        return;
    };
    for Formula {
        locals,
        kind,
        targets,
        ..
    } in formulas
    {
        if *kind != Accumulation::Assign {
            continue;
        }
        for target in targets {
            bound(&mut target.value, locals, int);
        }
    }
}

fn bound(value: &mut Expr, locals: &[FormulaLocal], int: IntType) {
    if let Node::Select {
        then, otherwise, ..
    } = &mut value.node
    {
        bound(then, locals, int);
        bound(otherwise, locals, int);
    } else if converts(value, locals) {
        let (least, largest) = (int.smallest(), int.largest());
        let limit = |op, value: Expr, by| {
            let by = Expr::literal(Scalar::Int(by));
            Expr::apply(ScalarKind::Int, op, vec![value, by])
        };
        let above = limit(ScalarOp::Max, value.clone(), least);
        *value = limit(ScalarOp::Min, above, largest);
    }
}

fn converts(value: &Expr, locals: &[FormulaLocal]) -> bool {
    match &value.node {
        Node::Apply { op, operands } => {
            let converts = |x: &Expr| x.kind == ScalarKind::Real && reads_tensor(x, locals);
            *op == ScalarOp::ToInt && operands.iter().any(converts)
        }
        Node::Local(position) => {
            let local = locals.get(*position);
            local.is_some_and(|l| converts(&l.value, locals))
        }
        _ => false,
    }
}

/// What the text alone decides is refused where it does not fit.
fn reads_tensor(value: &Expr, locals: &[FormulaLocal]) -> bool {
    match &value.node {
        Node::Access { .. } => true,
        Node::Local(position) => {
            let local = locals.get(*position);
            local.is_some_and(|l| reads_tensor(&l.value, locals))
        }
        _ => value.children().iter().any(|x| reads_tensor(x, locals)),
    }
}
