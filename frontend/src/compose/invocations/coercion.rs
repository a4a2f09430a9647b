// SPDX-License-Identifier: Apache-2.0
//! Conversion of values to their declared types (2.3): ints to reals.

use skript_semantics::{Scalar, ScalarKind, ScalarOp};

use crate::eval::{Atom, Pack, TypeName, Value};
use crate::model::Expr;

/// Errata 15: accepts the value's own kind, and int for real.
pub(crate) fn converts(from: ScalarKind, to: ScalarKind) -> bool {
    from == to || (from == ScalarKind::Int && to == ScalarKind::Real)
}

/// A scalar in the declared kind.
pub(crate) fn coerce_scalar(value: Scalar, kind: ScalarKind) -> Option<Scalar> {
    match (value, kind) {
        (Scalar::Int(i), ScalarKind::Real) => Some(Scalar::Real(i as f64)),
        _ => (value.kind() == kind).then_some(value),
    }
}

/// A value in the declared type; `None` if an item does not fit.
pub(crate) fn coerced(value: &Value, declared: TypeName) -> Option<Value> {
    let item = |atom: &Atom| match (declared, atom) {
        (TypeName::Str, Atom::Str(_)) => Some(atom.clone()),
        // A dynamic extent.
        (TypeName::Scalar(kind), Atom::Run(expr)) if atom.scalar().is_none() => {
            let expr = (**expr).clone();
            match (expr.kind, kind) {
                (ScalarKind::Int, ScalarKind::Real) => {
                    Some(Atom::from_expr(Expr::apply(kind, ScalarOp::ToReal, vec![expr])))
                }
                (from, to) => (from == to).then(|| atom.clone()),
            }
        }
        (TypeName::Scalar(kind), _) => coerce_scalar(atom.scalar()?, kind).map(Atom::from_scalar),
        _ => None,
    };
    Some(match value {
        Value::Null => Value::Null,
        Value::Atom(Atom::Series(series)) => match declared {
            TypeName::Scalar(kind) => series.converted(kind)?.into_value(),
            TypeName::Str => return None,
        },
        Value::Atom(atom) => Value::Atom(item(atom)?),
        Value::Pack(pack) => {
            let items: Option<Vec<Atom>> = pack.items.iter().map(item).collect();
            let mut converted = Pack::new(items?);
            if let TypeName::Scalar(kind) = declared {
                converted.kind = Some(kind);
            }
            converted.repeated = match &pack.repeated {
                Some(atom) => Some(Box::new(item(atom)?)),
                None => None,
            };
            Value::Pack(converted)
        }
    })
}
