// SPDX-License-Identifier: Apache-2.0
//! Generic types of an invocation (2.13).

use crate::compose::calls::{Composed, Reported};
use crate::compose::context::Context;
use crate::compose::invocations::arguments::{Argument, ArgumentList};
use crate::compose::invocations::builder::Builder;
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::TYPE_DEDUCTION;
use crate::eval::{Atom, ItemType, TypeName, Value};
use crate::model::Expr;
use crate::source::Span;
use skript_semantics::{Scalar, ScalarKind, ScalarOp};

/// Deduces generic types (2.13): from explicit types, then tensors, then scalars, then defaults. The check compares the types
/// of expressions; those of graphs that are run, and of results that only the value of an attribute determines, are
/// compared here.
pub(crate) fn deduce_types(
    context: &mut Context,
    builder: &mut Builder,
    list: &ArgumentList,
) -> Composed<()> {
    let definition = builder.operator.definition;
    for parameter in &definition.dtypes {
        let name = &parameter.name.name;
        let mut deduced = list.types.get(name).copied();
        let mut scalars: Vec<ScalarKind> = Vec::new();
        let inputs = definition.inputs.iter().enumerate();
        for (index, _) in inputs.filter(|(_, input)| input.type_spec.base.name == *name) {
            for item in list.arguments.get(index).map_or(&[][..], Argument::typed_items) {
                match item {
                    ItemType::Scalar(kind) => scalars.push(*kind),
                    ItemType::Tensor(tensor) => {
                        let kind = TypeName::Scalar(tensor.kind);
                        if let Some(known) = deduced.filter(|known| *known != kind) {
                            return Err(type_conflict(context, name, known, kind, list.span(index)));
                        }
                        deduced = Some(kind);
                    }
                }
            }
        }
        let attributes = definition.attributes.iter().filter(|a| a.type_spec.base.name == *name);
        let given = attributes.filter_map(|a| list.attributes.get(&a.name.name));
        let given: Vec<Atom> = given.flat_map(|(value, _)| value.atoms()).collect();
        scalars.extend(given.iter().filter_map(|atom| match atom {
            Atom::Series(series) => Some(series.kind()),
            other => other.kind(),
        }));
        let deduced = deduced.or_else(|| {
            if given.iter().any(|atom| matches!(atom, Atom::Str(_))) {
                Some(TypeName::Str)
            } else if scalars.contains(&ScalarKind::Real) {
                Some(TypeName::Scalar(ScalarKind::Real))
            } else {
                scalars.first().copied().map(TypeName::Scalar)
            }
        });
        if let Some(TypeName::Scalar(kind)) = deduced
            && let Some(other) = scalars.iter().find(|scalar| !converts(**scalar, kind))
        {
            let (kind, other) = (TypeName::Scalar(kind), TypeName::Scalar(*other));
            return Err(type_conflict(context, name, kind, other, list.invocation));
        }
        let default = || parameter.default.as_ref().and_then(|default| TypeName::concrete(&default.name));
        let Some(deduced) = deduced.or_else(default) else {
            let help = if builder.entry {
                format!("write a default for the type, `{name}: {} = real`", parameter.bound.name)
            } else {
                format!("write it explicitly: `{}<real>(…)`", definition.name.name)
            };
            let message = format!("the type `{name}` cannot be deduced from the arguments");
            let diagnostic = Diagnostic::error(&TYPE_DEDUCTION, list.invocation, message);
            let diagnostic = diagnostic.with_label_at(parameter.span, "declared here");
            return Err(context.report(diagnostic.with_help(help)));
        };
        let allowed = match (parameter.bound.name.as_str(), deduced) {
            ("num", TypeName::Scalar(kind)) => kind != ScalarKind::Bool,
            ("num" | "arith", TypeName::Str) => false,
            _ => true,
        };
        if !allowed {
            let bound = &parameter.bound.name;
            let message = format!("the type `{name}` must be `{bound}`, it is {}", deduced.name());
            let diagnostic = Diagnostic::error(&TYPE_DEDUCTION, list.invocation, message);
            return Err(context.report(diagnostic.with_label_at(parameter.span, "declared here")));
        }
        builder.types.insert(name.clone(), deduced);
    }
    Ok(())
}

fn type_conflict(context: &mut Context, name: &str, a: TypeName, b: TypeName, span: Span) -> Reported {
    let message = format!("the type `{name}` is deduced as {} and as {}", a.name(), b.name());
    context.error(&TYPE_DEDUCTION, span, message)
}

/// Whether a value of kind `from` is accepted where `to` is declared: the kinds are equal, or an int becomes a real (errata 15).
pub(crate) fn converts(from: ScalarKind, to: ScalarKind) -> bool {
    from == to || (from == ScalarKind::Int && to == ScalarKind::Real)
}

/// Converts a scalar to the declared kind; `None` if the kinds differ, except from int to real.
pub(crate) fn coerce_scalar(value: Scalar, kind: ScalarKind) -> Option<Scalar> {
    match (value, kind) {
        (Scalar::Int(i), ScalarKind::Real) => Some(Scalar::Real(i as f64)),
        _ => (value.kind() == kind).then_some(value),
    }
}

/// Converts a value to the declared type; `None` if an item cannot be converted.
pub(crate) fn coerced(value: &Value, declared: TypeName) -> Option<Value> {
    let item = |atom: &Atom| match (declared, atom) {
        (TypeName::Str, Atom::Str(_)) => Some(atom.clone()),
        // An expression of dynamic extents.
        (TypeName::Scalar(kind), Atom::Runtime(expr)) if atom.scalar().is_none() => {
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
            let converted = pack.map(|atom| item(&atom).ok_or(())).ok()?;
            Value::Pack(converted.with_type(match declared {
                TypeName::Scalar(kind) => Some(ItemType::Scalar(kind)),
                TypeName::Str => None,
            }))
        }
    })
}
