// SPDX-License-Identifier: Apache-2.0
//! Local tensors of `@lower`: the first formula of each one determines its type and shape.

use crate::ast::Lowering;
use crate::compose::calls::Composed;
use crate::compose::context::Context;
use crate::compose::invocations::builder::Builder;
use crate::compose::shapes::dynamic_extent::extent_of;
use crate::compose::shapes::size::check_size;
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::FORMULA;
use crate::eval::{Atom, TypeName, Value};
use crate::model::{Extent, TensorType};
use skript_semantics::ScalarKind;

/// Declares the target of a formula, if it is a local tensor without a formula before this one.
pub(super) fn declare_target(
    context: &mut Context,
    builder: &mut Builder,
    lowering: &Lowering,
) -> Composed<()> {
    let name = &lowering.target.name;
    if builder.scope.get(&name.name).is_some() {
        return Ok(());
    }
    let shape = shape(context, builder, lowering);
    let tensor = shape.and_then(|shape| {
        let tensor = TensorType { kind: value_kind(context, builder, lowering)?, shape };
        check_size(context, &tensor, name.span)?;
        Ok(tensor)
    });
    let value = match &tensor {
        Ok(tensor) => {
            let tensor = builder.value(Some(name.name.clone()), tensor.clone(), name.span);
            builder.local_tensors.insert(tensor.id);
            Atom::Tensor(tensor)
        }
        Err(_) => Atom::Poison,
    };
    builder.scope.set(name.name.clone(), Value::Atom(value));
    tensor.map(drop)
}

/// The kind of the elements, which the check deduced.
fn value_kind(context: &mut Context, builder: &Builder, lowering: &Lowering) -> Composed<ScalarKind> {
    let (name, value) = (&lowering.target.name.name, &lowering.value);
    let diagnostic = match builder.language.type_of(value, &builder.types) {
        Some(TypeName::Scalar(kind)) => return Ok(kind),
        Some(TypeName::Str) => {
            let message = format!("elements of the local tensor `{name}` must be numbers or bools");
            Diagnostic::error(&FORMULA, value.span, message)
        }
        None => {
            let message = format!("the type of the local tensor `{name}` cannot be determined");
            let diagnostic = Diagnostic::error(&FORMULA, value.span, message);
            diagnostic.with_help("convert its value, as in `real(…)`")
        }
    };
    Err(context.report(diagnostic))
}

fn shape(context: &mut Context, builder: &Builder, lowering: &Lowering) -> Composed<Vec<Extent>> {
    let bounds = lowering.bounds_of_target().ok_or_else(|| context.unchecked(lowering.span))?;
    let mut shape = Vec::with_capacity(bounds.len());
    for bound in bounds {
        let value = context.value(builder, &bound.bound)?;
        for atom in value.atoms() {
            let Some(extent) = extent(&atom) else {
                let name = &lowering.target.name.name;
                let message = format!("this extent of the local tensor `{name}` has no upper bound");
                return Err(context.error(&FORMULA, bound.bound.span, message));
            };
            shape.push(extent);
        }
    }
    Ok(shape)
}

fn extent(atom: &Atom) -> Option<Extent> {
    match atom {
        Atom::Int(n) => Some(Extent::Fixed((*n).max(0).unsigned_abs())),
        Atom::Runtime(expr) => extent_of(expr),
        _ => None,
    }
}
