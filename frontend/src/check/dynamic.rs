// SPDX-License-Identifier: Apache-2.0
//! Dynamic extents and their upper bounds (2.6).

use crate::ast::{Declaration, DefinitionKind, Expr, ExprKind, ExtentSpec};
use crate::diagnostics::{Diagnostic, codes};

use super::definition::Checker;
use super::free_names::free_names;
use super::lengths::Length;
use super::scope::SymbolKind;
use super::types::{Base, Type};

impl Checker<'_> {
    /// Checks that one name has one upper bound (2.6, dynamic shapes).
    pub(super) fn check_bounds_agree<'d>(&mut self, declarations: impl Iterator<Item = &'d Declaration>) {
        let mut bounds: Vec<(&str, Length, &Expr)> = Vec::new();
        for declaration in declarations {
            for extent in declaration.type_spec.shape.iter().flatten() {
                let (Some(e), Some(bound)) = (&extent.extent, &extent.bound) else {
                    continue;
                };
                let ExprKind::Name(name) = &e.kind else {
                    continue;
                };
                let value = Length::of(bound);
                match bounds.iter().find(|(n, _, _)| *n == name.name) {
                    Some((_, other, first)) if other.differs(&value) => self.sink.report(
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
    pub(super) fn check_main_inputs(&mut self) {
        let program = self.env.program;
        let main = program
            .main_module()
            .and_then(|m| m.definitions.iter().find(|d| d.kind == DefinitionKind::Graph));
        let is_main = self.module == program.main && main.is_some_and(|m| std::ptr::eq(m, self.definition));
        if !is_main || super::calls::is_called(program, self.module, &self.definition.name.name) {
            return;
        }
        let definition = self.definition;
        let attributes: Vec<&str> = definition.attributes.iter().map(|a| a.name.name.as_str()).collect();
        // extents that attribute values fix, and ranks
        let lengths = definition
            .attributes
            .iter()
            .filter_map(|a| a.type_spec.pack.as_ref().and_then(|p| p.length.as_ref()));
        let ranks = definition.inputs.iter().filter_map(|i| i.type_spec.rank.as_ref());
        let mut bounded: Vec<&str> =
            lengths.chain(ranks).flat_map(free_names).map(|n| n.name.as_str()).collect();
        for extent in definition.inputs.iter().flat_map(|i| i.type_spec.shape.iter().flatten()) {
            if let (Some(e), Some(_)) = (&extent.extent, &extent.bound) {
                bounded.extend(free_names(e).iter().map(|n| n.name.as_str()));
            }
        }
        let packs = definition.inputs.iter().flat_map(|i| &i.type_spec.pack);
        for pack in packs.filter(|p| p.bound.is_some()) {
            bounded.extend(pack.length.iter().flat_map(free_names).map(|n| n.name.as_str()));
        }
        for input in &definition.inputs {
            let name = &input.name.name;
            if input.type_spec.shape.is_none() {
                self.sink.report(
                    Diagnostic::error(
                        &codes::UNBOUNDED_EXTENT,
                        input.type_spec.span,
                        format!("the input `{name}` of the main graph has no shape"),
                    )
                    .with_help(
                        "write its extents, `[~|N, …]` with the largest extent N of a dynamic dimension",
                    ),
                );
            }
            for extent in input.type_spec.shape.iter().flatten() {
                if extent.pack.as_ref().is_some_and(|p| p.length.is_none())
                    && extent.extent.as_ref().is_none_or(|e| self.declares_here(e))
                {
                    self.sink.report(
                        Diagnostic::error(
                            &codes::UNBOUNDED_EXTENT,
                            extent.span,
                            format!("the input `{name}` of the main graph has no definite rank"),
                        )
                        .with_help("write the number of extents, as in `~|10 ..(3)`"),
                    );
                    continue;
                }
                if extent.bound.is_some() {
                    continue;
                }
                let unbounded = match &extent.extent {
                    None => Some("~".to_string()),
                    Some(e) => free_names(e)
                        .into_iter()
                        .find(|n| {
                            let name = n.name.as_str();
                            !attributes.contains(&name)
                                && !bounded.contains(&name)
                                && !definition.may_have_lost(name)
                                && self.scope.lookup(name).is_some_and(|s| s.kind == SymbolKind::Extent)
                        })
                        .map(|n| n.name.clone()),
                };
                if let Some(name) = unbounded {
                    self.sink.report(
                        Diagnostic::error(
                            &codes::UNBOUNDED_EXTENT,
                            extent.span,
                            format!("the dynamic extent `{name}` of the main graph has no upper bound"),
                        )
                        .with_help(format!("write its largest extent after it, as in `{name}|16`")),
                    );
                }
            }
        }
    }

    /// Checks that outputs of formulas have extents that are known before; extents that depend on data are for
    /// operators without a body.
    /// Must be called before the names of outputs are declared.
    pub(super) fn check_formula_extents(&mut self) {
        let definition = self.definition;
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
                            if extent.bound.is_some() && self.scope.lookup(&name.name).is_none() =>
                        {
                            Some(name.name.as_str())
                        }
                        _ => None,
                    },
                };
                if let Some(open) = open.filter(|open| counter != Some(*open)) {
                    self.sink.report(
                        Diagnostic::error(
                            &codes::UNDETERMINED_EXTENT,
                            extent.span,
                            format!(
                                "no formula determines the extent `{open}` of `{}`",
                                output.name.name
                            ),
                        )
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
    fn declares_here(&self, extent: &Expr) -> bool {
        let attribute = |name: &str| {
            let all = &self.definition.attributes;
            all.iter().any(|a| a.name.name == name)
        };
        !free_names(extent).iter().any(|n| attribute(&n.name))
    }

    /// Declares the s of an output's `s|k`.
    pub(super) fn declare_dynamic(&mut self, extent: &ExtentSpec) {
        if let (Some(e), Some(_)) = (&extent.extent, &extent.bound) {
            self.declare_dynamic_name(e);
        }
    }

    pub(super) fn declare_dynamic_name(&mut self, expr: &Expr) {
        if let ExprKind::Name(name) = &expr.kind
            && self.scope.lookup(&name.name).is_none()
        {
            self.declare(name, SymbolKind::Extent, Type::scalar(Base::Int));
        }
    }
}
