// SPDX-License-Identifier: Apache-2.0
//! Generic types of an invocation (2.13).

use skript_semantics::ScalarKind;

use crate::compose::composer::{Composed, Composer, Reported};
use crate::compose::invocations::arguments::{Argument, ArgumentItem, ArgumentList};
use crate::compose::invocations::builder::Builder;
use crate::compose::invocations::coercion::converts;
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::TYPE_DEDUCTION;
use crate::eval::{Atom, TypeName};
use crate::source::Span;

impl<'p> Composer<'p, '_> {
    /// 2.13: explicit types, then tensors, then scalars, then defaults.
    pub(crate) fn deduce_types(&mut self, builder: &mut Builder<'p>, list: &ArgumentList) -> Composed<()> {
        let definition = builder.found.definition;
        for parameter in &definition.dtypes {
            let name = &parameter.name.name;
            let mut found = list.types.get(name).copied();
            let mut scalars: Vec<ScalarKind> = Vec::new();
            let mut string = false;
            for (index, input) in definition.inputs.iter().enumerate() {
                if input.type_spec.base.name != *name {
                    continue;
                }
                let items = list.arguments.get(index).map_or(&[][..], Argument::telling);
                for item in items {
                    match item {
                        ArgumentItem::Scalar(kind) => scalars.push(*kind),
                        ArgumentItem::Tensor(tensor) => {
                            let kind = TypeName::Scalar(tensor.kind);
                            match found {
                                Some(known) if known != kind => {
                                    return Err(self.type_conflict(name, known, kind, list.span(index)));
                                }
                                _ => found = Some(kind),
                            }
                        }
                    }
                }
            }
            for attribute in &definition.attributes {
                if attribute.type_spec.base.name != *name {
                    continue;
                }
                if let Some((value, _)) = list.attributes.get(&attribute.name.name) {
                    for atom in value.atoms() {
                        match atom {
                            Atom::Str(_) => string = true,
                            Atom::Series(series) => scalars.push(series.kind()),
                            other => scalars.extend(other.kind()),
                        }
                    }
                }
            }
            if found.is_none() {
                found = if string {
                    Some(TypeName::Str)
                } else if scalars.contains(&ScalarKind::Real) {
                    Some(TypeName::Scalar(ScalarKind::Real))
                } else {
                    scalars.first().copied().map(TypeName::Scalar)
                };
            }
            if let Some(TypeName::Scalar(kind)) = found {
                for scalar in &scalars {
                    if !converts(*scalar, kind) {
                        return Err(self.type_conflict(
                            name,
                            TypeName::Scalar(kind),
                            TypeName::Scalar(*scalar),
                            list.invocation,
                        ));
                    }
                }
            }
            if found.is_none()
                && let Some(default) = &parameter.default
            {
                found = TypeName::concrete(&default.name);
            }
            let Some(found) = found else {
                return Err(self.report(
                    Diagnostic::error(
                        &TYPE_DEDUCTION,
                        list.invocation,
                        format!("the type `{name}` cannot be deduced from the arguments"),
                    )
                    .with_label_at(parameter.span, "declared here")
                    .with_help(if builder.entry {
                        format!("write a default for the type, `{name}: {} = real`", parameter.bound.name)
                    } else {
                        format!("write it explicitly: `{}<real>(…)`", definition.name.name)
                    }),
                ));
            };
            let allowed = match (parameter.bound.name.as_str(), found) {
                ("num", TypeName::Scalar(kind)) => kind != ScalarKind::Bool,
                ("num" | "arith", TypeName::Str) => false,
                _ => true,
            };
            if !allowed {
                return Err(self.report(
                    Diagnostic::error(
                        &TYPE_DEDUCTION,
                        list.invocation,
                        format!(
                            "the type `{name}` must be `{}`, it is {}",
                            parameter.bound.name,
                            found.name()
                        ),
                    )
                    .with_label_at(parameter.span, "declared here"),
                ));
            }
            builder.types.insert(name.clone(), found);
        }
        Ok(())
    }

    fn type_conflict(&mut self, name: &str, a: TypeName, b: TypeName, span: Span) -> Reported {
        self.error(
            &TYPE_DEDUCTION,
            span,
            format!("the type `{name}` is deduced as {} and as {}", a.name(), b.name()),
        )
    }
}
