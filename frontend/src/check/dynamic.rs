// SPDX-License-Identifier: Apache-2.0
//! Dynamic extents and their upper bounds (2.6).

use crate::ast::{Declaration, DefinitionKind, Expr, ExprKind, ExtentSpec};
use crate::check::checker::Checker;
use crate::check::lengths::Length;
use crate::check::scope::SymbolKind;
use crate::check::types::{Base, Type};
use crate::diagnostics::{Diagnostic, codes};

/// Checks that one name has one upper bound (2.6, dynamic shapes).
pub(super) fn check_bounds_agree<'d>(
    checker: &mut Checker,
    declarations: impl Iterator<Item = &'d Declaration>,
) {
    let mut bounds: Vec<(&str, Length, &Expr)> = Vec::new();
    for declaration in declarations {
        for extent in declaration.type_spec.shape.iter().flatten() {
            let (Some(e), Some(bound)) = (&extent.extent, &extent.bound) else {
                continue;
            };
            let ExprKind::Name(name) = &e.kind else {
                continue;
            };
            let value = Length::from_expr(bound);
            match bounds.iter().find(|(n, _, _)| *n == name.name) {
                Some((_, other, first)) if other.differs(&value) => checker.sink.report(
                    Diagnostic::error(
                        &codes::BOUNDS_DIFFER,
                        bound.span,
                        format!(
                            "`{}` has the upper bound {} here and {} before",
                            name.name,
                            value.described(),
                            other.described()
                        ),
                    )
                    .with_label_at(first.span, format!("bound {}", other.described()))
                    .with_help("one name has one bound; write it once, or use another name"),
                ),
                Some(_) => {}
                None => bounds.push((&name.name, value, bound)),
            }
        }
    }
}

/// Checks that the main graph's dynamic extents have upper bounds. Other graphs may be invoked, and then need none.
pub(super) fn check_main_inputs(checker: &mut Checker) {
    let program = checker.env.program;
    let main =
        program.main_module().and_then(|m| m.definitions.iter().find(|d| d.kind == DefinitionKind::Graph));
    let is_main = checker.module == program.main && main.is_some_and(|m| std::ptr::eq(m, checker.definition));
    if !is_main || super::calls::called(program).contains(&(checker.module, &checker.definition.name.name)) {
        return;
    }
    let definition = checker.definition;
    let attributes: Vec<&str> = definition.attributes.iter().map(|a| a.name.name.as_str()).collect();
    // Extents that attribute values determine, and ranks.
    let lengths = definition
        .attributes
        .iter()
        .filter_map(|a| a.type_spec.pack.as_ref().and_then(|p| p.length.as_ref()));
    let ranks = definition.inputs.iter().filter_map(|i| i.type_spec.rank.as_ref());
    let mut bounded: Vec<&str> =
        lengths.chain(ranks).flat_map(Expr::names).map(|n| n.name.as_str()).collect();
    for extent in definition.inputs.iter().flat_map(|i| i.type_spec.shape.iter().flatten()) {
        if let (Some(e), Some(_)) = (&extent.extent, &extent.bound) {
            bounded.extend(e.names().iter().map(|n| n.name.as_str()));
        }
    }
    let packs = definition.inputs.iter().flat_map(|i| &i.type_spec.pack);
    for pack in packs.filter(|p| p.bound.is_some()) {
        bounded.extend(pack.length.iter().flat_map(Expr::names).map(|n| n.name.as_str()));
    }
    for input in &definition.inputs {
        let name = &input.name.name;
        if input.type_spec.shape.is_none() {
            let message = format!("the input `{name}` of the main graph has no shape");
            let help = "write its extents, `[~|N, …]` with the largest extent N of a dynamic dimension";
            let diagnostic = Diagnostic::error(&codes::UNBOUNDED_EXTENT, input.type_spec.span, message);
            checker.sink.report(diagnostic.with_help(help));
        }
        for extent in input.type_spec.shape.iter().flatten() {
            if extent.pack.as_ref().is_some_and(|p| p.length.is_none())
                && extent.extent.as_ref().is_none_or(|e| declares_here(checker, e))
            {
                let message = format!("the input `{name}` of the main graph has no definite rank");
                let diagnostic = Diagnostic::error(&codes::UNBOUNDED_EXTENT, extent.span, message);
                checker.sink.report(diagnostic.with_help("write the number of extents, as in `~|10 ..(3)`"));
                continue;
            }
            if extent.bound.is_some() {
                continue;
            }
            let unbounded = match &extent.extent {
                None => Some("~".to_string()),
                Some(e) => e
                    .names()
                    .into_iter()
                    .find(|n| {
                        let name = n.name.as_str();
                        !attributes.contains(&name)
                            && !bounded.contains(&name)
                            && !definition.may_have_lost(name)
                            && checker.scope.lookup(name).is_some_and(|s| s.kind == SymbolKind::Extent)
                    })
                    .map(|n| n.name.clone()),
            };
            if let Some(name) = unbounded {
                let message = format!("the dynamic extent `{name}` of the main graph has no upper bound");
                let help = format!("write its largest extent after it, as in `{name}|16`");
                let diagnostic = Diagnostic::error(&codes::UNBOUNDED_EXTENT, extent.span, message);
                let marked = match &extent.extent {
                    Some(e) if matches!(e.kind, ExprKind::Name(_)) => Some(e.span),
                    None if extent.pack.is_none() => Some(extent.span),
                    _ => None,
                };
                // After digits, `..` would be read as a part of the number.
                let bound = if extent.pack.is_some() { "|16 " } else { "|16" };
                checker.sink.report(match marked {
                    Some(span) => diagnostic.with_fix(help, span.after(), bound),
                    None => diagnostic.with_help(help),
                });
            }
        }
    }
}

/// Checks that outputs of formulas have extents that are known before; only operators without a body may have extents
/// that depend on data. Must be called before the names of outputs are declared.
pub(super) fn check_formula_extents(checker: &mut Checker) {
    let definition = checker.definition;
    if definition.lowers.is_empty() || !definition.composes.is_empty() {
        return;
    }
    let counter = crate::compose::write_counter(definition);
    for output in &definition.outputs {
        for extent in output.type_spec.shape.iter().flatten() {
            let open = match &extent.extent {
                None => extent.bound.is_some().then_some("~"),
                Some(e) => match &e.kind {
                    ExprKind::Name(name)
                        if extent.bound.is_some() && checker.scope.lookup(&name.name).is_none() =>
                    {
                        Some(name.name.as_str())
                    }
                    _ => None,
                },
            };
            if let Some(open) = open.filter(|open| counter != Some(*open)) {
                let message = format!("no formula determines the extent `{open}` of `{}`", output.name.name);
                checker.sink.report(
                    Diagnostic::error(&codes::UNDETERMINED_EXTENT, extent.span, message)
                    .with_help(match definition.outputs.as_slice() {
                        [only] => format!(
                            "compute the extent from those of the inputs, or have the only formula count what it writes, \
                             by the extent's name as index, as in `{}[{open},] = …`; an operator without `@lower` may decide it \
                             while it runs",
                            only.name.name
                        ),
                        _ => "a formula counts the extent of an operator's only output: write an operator for each of \
                             these outputs, or compute the extent from those of the inputs"
                            .to_string(),
                    }),
                );
            }
        }
    }
}

/// Whether an extent is a name that only inputs declare, not a pack whose length an attribute fixes.
fn declares_here(checker: &Checker, extent: &Expr) -> bool {
    let attribute = |name: &str| {
        let all = &checker.definition.attributes;
        all.iter().any(|a| a.name.name == name)
    };
    !extent.names().iter().any(|n| attribute(&n.name))
}

/// Declares the s of an output's `s|k`.
pub(super) fn declare_dynamic(checker: &mut Checker, extent: &ExtentSpec) {
    if let (Some(e), Some(_)) = (&extent.extent, &extent.bound) {
        declare_dynamic_name(checker, e);
    }
}

pub(super) fn declare_dynamic_name(checker: &mut Checker, expr: &Expr) {
    if let ExprKind::Name(name) = &expr.kind
        && checker.scope.lookup(&name.name).is_none()
    {
        checker.declare(name, SymbolKind::Extent, Type::scalar(Base::Int));
    }
}
