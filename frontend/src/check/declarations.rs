// SPDX-License-Identifier: Apache-2.0
//! Attributes, inputs, outputs, constants, variables (2.5 to 2.7).

use crate::ast::{BlockKind, Declaration, DefinitionKind, Expr, ExprKind, ExtentSpec, TypeSpec};
use crate::check::blocks::report_duplicate;
use crate::check::checker::Checker;
use crate::check::dynamic::{
    check_bounds_agree, check_formula_extents, check_main_inputs, declare_dynamic, declare_dynamic_name,
};
use crate::check::lengths::Length;
use crate::check::scope::{Symbol, SymbolKind};
use crate::check::types::{Base, Optional, Pack, Tensor, Type};
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;
use indexmap::IndexSet;
use rustc_hash::{FxHashMap, FxHashSet};

impl Checker<'_> {
    /// The type of a tensor declaration, and its rank if the shape determines it.
    pub(super) fn tensor_type(&mut self, declaration: &Declaration) -> Type {
        let length_name = format!("|{}|", declaration.name.name);
        self.tensor_type_of(&declaration.type_spec, &length_name)
    }

    pub(super) fn tensor_type_of(&mut self, spec: &TypeSpec, length_name: &str) -> Type {
        let base = self.base_named(&spec.base);
        let rank = match &spec.shape {
            None => Length::unknown(),
            Some(extents) => extents.iter().fold(Length::number(0), |sum, e| sum.plus(&self.extent_count(e))),
        };
        let pack = match &spec.pack {
            None => Pack::Single,
            Some(pack) => Pack::Packed(match &pack.length {
                Some(length) => self.length_of(length),
                None => Length::symbol(length_name),
            }),
        };
        Type {
            base,
            pack,
            optional: if spec.optional { Optional::Yes } else { Optional::No },
            tensor: Tensor::Ranked(rank),
        }
    }

    /// The number of dimensions of an extent.
    fn extent_count(&mut self, extent: &ExtentSpec) -> Length {
        match (&extent.pack, &extent.extent) {
            (None, None) => Length::number(1),
            (None, Some(e)) => {
                let ty = self.quietly(|c| c.value(e));
                let certain = ty.base == Base::Int
                    && ty.optional == Optional::No
                    && (ty.is_single() || extent.per_item);
                if certain { Length::number(1) } else { Length::unknown() }
            }
            (Some(pack), e) => match (&pack.length, e) {
                (Some(length), _) => self.length_of(length),
                (None, Some(e)) => self.quietly(|c| c.value(e)).length(),
                (None, None) => Length::unknown(),
            },
        }
    }

    /// Checks extents, lengths and bounds: ints whose names are declared.
    pub(super) fn check_type_spec(&mut self, spec: &TypeSpec) {
        self.base_named(&spec.base);
        if let Some(rank) = &spec.rank {
            self.require_int(rank, "a rank");
        }
        for extent in spec.shape.iter().flatten() {
            self.check_extent(extent);
            if extent.per_item && spec.pack.is_none() {
                let text = self.text(extent.span);
                let extent_text = text.trim_start_matches('.').trim_start();
                let message =
                    format!("`{text}` is an extent of each tensor of a pack, but this is a single tensor");
                self.sink.report(
                    Diagnostic::error(&codes::NOT_A_PACK, extent.span, message)
                    .with_help(format!(
                        "write `{extent_text}`, `{extent_text}..` for any number of dimensions, or declare a pack of tensors, `[{text}]..`"
                    )),
                );
            }
        }
        if let Some(pack) = &spec.pack {
            if let Some(length) = &pack.length {
                self.require_int(length, "the length of a pack");
            }
            if let Some(bound) = &pack.bound {
                self.require_int(bound, "the bound of a length");
            }
        }
    }

    fn check_extent(&mut self, extent: &ExtentSpec) {
        if let Some(bound) = &extent.bound {
            let ty = self.value(bound);
            self.report_not_int(bound, &ty, "an upper bound");
        }
        let length = extent.pack.as_ref().map(|p| p.length.as_ref());
        if let Some(Some(length)) = length {
            self.repeat_count(length);
        }
        let Some(e) = &extent.extent else { return };
        if self.names_tensor(e) {
            return;
        }
        let ty = self.value(e);
        self.report_not_int(e, &ty, "an extent");
        let text = self.text(e.span);
        if extent.pack.is_none() && ty.is_packed() && !extent.per_item {
            let message = format!("`{text}` is a pack of extents, which must be expanded");
            let help = format!("write `{text}..`: it declares one dimension per item");
            let diagnostic = Diagnostic::error(&codes::PACK_NOT_EXPANDED, e.span, message);
            self.sink.report(self.with_dots(diagnostic.with_label(ty.to_string()), help, e));
        }
        if matches!(length, Some(None)) && ty.is_single() {
            let message = format!("`{text}` is a single extent, which `..` cannot expand without a count");
            let help = format!("write the number of repetitions, as in `{text} ..(n)`, or remove the `..`");
            let diagnostic = Diagnostic::error(&codes::EXPANSION_COUNT, extent.span, message);
            self.sink.report(diagnostic.with_label(ty.to_string()).with_help(help));
        }
    }

    /// Whether an extent is the name of a tensor; reported once for each tensor.
    fn names_tensor(&mut self, extent: &Expr) -> bool {
        let ExprKind::Name(name) = &extent.kind else {
            return false;
        };
        let symbol = self.scope.lookup(&name.name);
        let Some(symbol) = symbol.filter(|s| s.ty.is_tensor()).cloned() else {
            return false;
        };
        if self.first_report_of(name) {
            let message =
                format!("`{}` is {}, so it cannot name an extent", name.name, symbol.kind.describe());
            let diagnostic = Diagnostic::error(&codes::TENSOR_AS_VALUE, name.span, message)
                .with_label("used as an extent")
                .with_label_at(symbol.span, "declared here as a tensor")
                .with_help("extents and tensors need different names: rename one of them");
            self.sink.report(diagnostic);
        }
        true
    }

    /// Checks for a single int.
    pub(super) fn require_int(&mut self, expr: &Expr, what: &str) -> Type {
        let ty = self.value(expr);
        if !self.report_not_int(expr, &ty, what) && ty.is_packed() {
            let message = format!("{what} must be a single int, but this is a pack");
            self.sink.report(
                Diagnostic::error(&codes::EXTENT_TYPE, expr.span, message).with_label(ty.to_string()),
            );
        }
        ty
    }

    /// Reports a type other than int; returns whether it did.
    fn report_not_int(&mut self, expr: &Expr, ty: &Type, what: &str) -> bool {
        if ty.base.agrees(&Base::Int) {
            return false;
        }
        let mut diagnostic = Diagnostic::error(
            &codes::EXTENT_TYPE,
            expr.span,
            format!("{what} must be an int, but this is {}", ty.base),
        )
        .with_label(ty.to_string());
        if ty.base == Base::Real {
            diagnostic = self.converted(diagnostic, "int", expr.span);
        }
        self.sink.report(diagnostic);
        true
    }

    /// `@attrib` (2.5).
    pub(super) fn check_attributes(&mut self) {
        self.where_now = "in `@attrib`";
        let definition = self.definition;
        for attribute in &definition.attributes {
            let spec = &attribute.type_spec;
            let name = &attribute.name.name;
            if spec.shape.is_some() || spec.rank.is_some() {
                let message = format!("the attribute `{name}` has a shape, but attributes are not tensors");
                self.sink.report(
                    Diagnostic::error(&codes::ATTRIBUTE_SHAPE, spec.span, message)
                    .with_help(format!(
                        "for several values declare a pack, `{name}: {}..`; for a tensor declare an input or a constant",
                        spec.base.name
                    )),
                );
                self.base_named(&spec.base);
            } else {
                self.check_type_spec(spec);
            }
            let Some(default) = &attribute.default else {
                continue;
            };
            if spec.optional {
                let message = format!("the optional attribute `{name}` cannot have a default value");
                let help = "it is null without a value; remove `optional` or the default";
                let diagnostic = Diagnostic::error(&codes::OPTIONAL_DEFAULT, default.span, message);
                self.sink.report(diagnostic.with_label_at(spec.span, "optional").with_help(help));
                continue;
            }
            let ty = self.value(default);
            let declared = self.scope.lookup(name).map_or_else(Type::unknown, |s| s.ty.clone());
            self.check_default(attribute, default, &ty, &declared);
        }
        self.check_default_cycles();
    }

    /// Checks that a default value has the declared type; one value may be given for a pack.
    fn check_default(&mut self, declaration: &Declaration, default: &Expr, ty: &Type, declared: &Type) {
        let name = &declaration.name.name;
        if !converts(ty, &declared.base) {
            let mut diagnostic = Diagnostic::error(
                &codes::DEFAULT_TYPE,
                default.span,
                format!("the default value of `{name}` must be {}, but it is {}", declared.base, ty.base),
            )
            .with_label(ty.to_string())
            .with_label_at(declaration.type_spec.span, format!("declared as {declared}"));
            if let Base::Generic(g) = &declared.base {
                let help = format!("convert it: `{}({})`", g.name, self.text(default.span));
                let text = format!("{}({})", g.name, self.written_text(default.span));
                diagnostic = diagnostic.with_fix(help, default.span, text);
            }
            self.sink.report(diagnostic);
        } else if declared.is_single() && ty.is_packed() {
            let message = format!("`{name}` is a single value, but its default is a pack");
            let help = format!("declare `{name}` as a pack: `{}..`", declaration.type_spec.base.name);
            let diagnostic = Diagnostic::error(&codes::DEFAULT_TYPE, default.span, message);
            let after = declaration.type_spec.span.after();
            self.sink.report(diagnostic.with_label(ty.to_string()).with_fix(help, after, ".."));
        } else if ty.is_packed() && declared.length().differs(&ty.length()) {
            let (length, given) = (declared.length().described(), ty.length().described());
            let message =
                format!("`{name}` is a pack of length {length}, but its default has length {given}");
            self.sink.report(
                Diagnostic::error(&codes::LENGTHS_DIFFER, default.span, message)
                    .with_label(format!("length {given}"))
                    .with_label_at(declaration.type_spec.span, format!("length {length}")),
            );
        }
    }

    /// Checks that deferred defaults do not depend on each other in a cycle.
    fn check_default_cycles(&mut self) {
        let definition = self.definition;
        let deferred: Vec<(&Declaration, Vec<&str>)> = definition
            .attributes
            .iter()
            .map(|a| {
                let default = a.default.as_ref();
                let names = default.map_or_else(Vec::new, Expr::names);
                (a, names.into_iter().map(|n| n.name.as_str()).collect())
            })
            .collect();
        let attribute_names: FxHashSet<&str> = deferred.iter().map(|(a, _)| a.name.name.as_str()).collect();
        let mut done: FxHashSet<&str> = FxHashSet::default();
        // alternate directions, so that chains in either direction settle at once; cycles remain
        let mut rest: Vec<&(&Declaration, Vec<&str>)> = deferred.iter().collect();
        loop {
            let before = rest.len();
            rest.retain(|(a, names)| {
                let waits = names.iter().any(|n| attribute_names.contains(n) && !done.contains(n));
                if !waits {
                    done.insert(a.name.name.as_str());
                }
                waits
            });
            if rest.len() == before {
                break;
            }
            rest.reverse();
        }
        // The remaining defaults depend on a cycle or belong to one; the first dependency of each leads to the cycle.
        let waiting: FxHashMap<&str, (&Declaration, &str)> = rest
            .iter()
            .filter_map(|(attribute, names)| {
                let mut open = names.iter().filter(|n| attribute_names.contains(*n));
                let next = open.find(|n| !done.contains(*n))?;
                Some((attribute.name.name.as_str(), (*attribute, *next)))
            })
            .collect();
        for (attribute, _) in &deferred {
            let mut path: IndexSet<&str> = IndexSet::new();
            let mut at = attribute.name.name.as_str();
            while waiting.contains_key(at) && !done.contains(at) && path.insert(at) {
                at = waiting.get(at).map_or(at, |(_, next)| *next);
            }
            if let Some(start) = path.get_index_of(at) {
                let circle = path.iter().skip(start).filter_map(|n| waiting.get(n));
                self.report_default_cycle(&circle.map(|(a, _)| *a).collect::<Vec<_>>());
            }
            done.extend(path);
        }
    }

    fn report_default_cycle(&mut self, circle: &[&Declaration]) {
        let mut defaults = circle.iter().filter_map(|a| Some((&a.name.name, a.default.as_ref()?.span)));
        let Some((first, location)) = defaults.next() else {
            return;
        };
        let others: Vec<_> = defaults.collect();
        let through: Vec<String> = others.iter().map(|(name, _)| format!("`{name}`")).collect();
        let message = if through.is_empty() {
            format!("the default value of `{first}` depends on itself")
        } else {
            format!("the default value of `{first}` depends on itself, through {}", through.join(", "))
        };
        let mut diagnostic = Diagnostic::error(&codes::DEFAULT_CYCLE, location, message);
        for (name, span) in others {
            diagnostic = diagnostic.with_label_at(span, format!("the default of `{name}`"));
        }
        self.sink
            .report(diagnostic.with_help("change one of the defaults so that it does not use the others"));
    }

    /// `@input` (2.6); names and binding order are checked before.
    pub(super) fn check_inputs(&mut self) {
        self.where_now = "in `@input`";
        let definition = self.definition;
        for input in &definition.inputs {
            self.check_type_spec(&input.type_spec);
            let Some(default) = &input.default else {
                continue;
            };
            let ty = self.value(default);
            let declared = self.scope.lookup(&input.name.name).map_or_else(Type::unknown, |s| s.ty.clone());
            self.check_default(input, default, &ty, &declared);
        }
        let declarations = || definition.inputs.iter().chain(&definition.outputs);
        check_bounds_agree(self, declarations());
        match definition.kind {
            DefinitionKind::Graph => check_main_inputs(self),
            DefinitionKind::Operator => self.check_shapes_written(&definition.inputs, "input"),
        }
    }

    /// Checks that only graphs omit shapes (2.6).
    fn check_shapes_written(&mut self, declarations: &[Declaration], what: &str) {
        for declaration in declarations {
            let spec = &declaration.type_spec;
            if spec.shape.is_some() || !self.definition.unread.is_empty() {
                continue;
            }
            let (name, base) = (&declaration.name.name, &spec.base.name);
            let message = format!("the {what} `{name}` of an operator has no shape");
            self.sink.report(
                Diagnostic::error(&codes::SHAPE_MISSING, spec.span, message)
                .with_help(format!(
                    "write `{base}[]` for a tensor of one element without dimensions, `{base}[s..]` for any number of dimensions"
                )),
            );
        }
    }

    /// `@output` (2.6): all names must be declared before, except dynamic extents.
    pub(super) fn check_outputs(&mut self) {
        self.where_now = "in `@output`";
        let definition = self.definition;
        check_formula_extents(self);
        let composed = definition.has_block(crate::ast::BlockKind::Compose);
        if definition.kind == DefinitionKind::Operator && !composed {
            self.check_shapes_written(&definition.outputs, "output");
        }
        for output in &definition.outputs {
            self.require_present(output, "output");
            for extent in output.type_spec.shape.iter().flatten() {
                declare_dynamic(self, extent);
                let unbounded = extent.extent.is_none()
                    && extent.bound.is_none()
                    && definition.kind == DefinitionKind::Operator
                    && !composed
                    && !self.is_unread(&[BlockKind::Compose]);
                if unbounded {
                    let message = "the dynamic extent `~` has no upper bound";
                    self.sink.report(
                        Diagnostic::error(&codes::UNBOUNDED_EXTENT, extent.span, message)
                        .with_help("write `~|N` with the largest extent N; only shapes that a composition determines may omit the bound"),
                    );
                }
            }
            if let Some(pack) = &output.type_spec.pack
                && let (Some(length), Some(_)) = (&pack.length, &pack.bound)
            {
                declare_dynamic_name(self, length);
            }
        }
        for output in &definition.outputs {
            self.check_type_spec(&output.type_spec);
            if let Some(default) = &output.default {
                let message = format!("the output `{}` cannot have a value here", output.name.name);
                let diagnostic = Diagnostic::error(&codes::VALUE_NOT_ALLOWED, default.span, message);
                self.sink.report(diagnostic.with_help("assign it in `@compose` or `@lower`"));
            }
            let ty = self.quietly(|c| c.tensor_type(output));
            self.declare(&output.name, SymbolKind::Output, ty);
        }
    }

    /// `@variable` (2.7).
    pub(super) fn check_variables(&mut self) {
        self.where_now = "in `@variable`";
        let definition = self.definition;
        for variable in &definition.variables {
            self.check_type_spec(&variable.type_spec);
            self.require_present(variable, "variable");
            if let Some(value) = &variable.default {
                self.value(value);
                let message = format!("the variable `{}` cannot have a value here", variable.name.name);
                self.sink.report(
                    Diagnostic::error(&codes::VALUE_NOT_ALLOWED, value.span, message)
                    .with_help("data files hold the values of variables; declare it in `@constant` if its value is fixed"),
                );
            }
            let ty = self.quietly(|c| c.tensor_type(variable));
            self.declare(&variable.name, SymbolKind::Variable, ty);
        }
    }

    /// `@constant` (2.7).
    pub(super) fn check_constants(&mut self) {
        self.where_now = "in `@constant`";
        let definition = self.definition;
        for constant in &definition.constants {
            self.check_type_spec(&constant.type_spec);
            self.require_present(constant, "constant");
            let declared = self.quietly(|c| c.tensor_type(constant));
            self.check_constant_value(constant, &declared);
            self.declare(&constant.name, SymbolKind::Constant, declared);
        }
    }

    fn require_present(&mut self, declaration: &Declaration, kind: &str) {
        if declaration.type_spec.optional {
            let name = &declaration.name.name;
            let message = format!("the {kind} `{name}` cannot be optional");
            let span = declaration.type_spec.span;
            let word = Span { end: declaration.type_spec.base.span.start, ..span };
            let help = format!("every {kind} has a value: drop `optional`");
            let diagnostic = Diagnostic::error(&codes::NEVER_ABSENT, span, message);
            self.sink.report(match self.written_text(word).trim() {
                "optional" => diagnostic.with_fix(help, word, ""),
                _ => diagnostic.with_help(help),
            });
        }
    }

    fn check_constant_value(&mut self, constant: &Declaration, declared: &Type) {
        let name = &constant.name.name;
        let Some(value) = &constant.default else {
            let message = format!("the constant `{name}` has no value");
            let help = "write `= value`, or declare it in `@variable` if a data file holds its values";
            let diagnostic = Diagnostic::error(&codes::CONSTANT_INITIALIZER, constant.name.span, message);
            self.sink.report(diagnostic.with_help(help));
            return;
        };
        self.scope.enter();
        for bound in &constant.bounds {
            let ty = self.value(&bound.bound);
            self.report_not_int(&bound.bound, &ty, "the bound of an index");
            if let Some(first) = self.scope.lookup_here(&bound.name.name).map(|s| s.span) {
                report_duplicate(self, &bound.name, "an index", first, "an index");
            }
            self.scope.declare(
                &bound.name.name,
                Symbol { kind: SymbolKind::Index, ty: ty.with_base(Base::Int), span: bound.name.span },
            );
        }
        let ty = self.value(value);
        self.scope.leave();
        if !converts(&ty, &declared.base) {
            let message = format!(
                "the value of the constant `{name}` must be {}, but it is {}",
                declared.base, ty.base
            );
            self.sink.report(
                Diagnostic::error(&codes::CONSTANT_INITIALIZER, value.span, message)
                    .with_label(ty.to_string())
                    .with_label_at(constant.type_spec.span, format!("declared as {declared}")),
            );
            return;
        }
        if let Some(pack) = &constant.type_spec.pack {
            self.check_constant_pack(constant, pack.length.is_some(), value, &ty, declared);
            return;
        }
        let volume = literal_volume(&constant.type_spec);
        let count = ty.length().constant();
        if let (Some(volume), Some(count), true) = (volume, count, constant.bounds.is_empty())
            && volume != count
        {
            let message = format!("`{name}` has {volume} elements, but there are {count} values");
            self.sink.report(
                Diagnostic::error(&codes::CONSTANT_INITIALIZER, value.span, message)
                    .with_label(format!("{count} values"))
                    .with_label_at(constant.type_spec.span, format!("{volume} elements"))
                    .with_help("list the elements in row-major order, or write a single value for all"),
            );
        }
    }

    /// Checks that a pack of constants has a declared length and one value per constant.
    fn check_constant_pack(
        &mut self,
        constant: &Declaration,
        has_length: bool,
        value: &Expr,
        ty: &Type,
        declared: &Type,
    ) {
        let name = &constant.name.name;
        if !has_length {
            let message = format!("the pack of constants `{name}` needs a length");
            self.sink.report(
                Diagnostic::error(&codes::CONSTANT_INITIALIZER, constant.type_spec.span, message)
                    .with_help("write it after the dots, as in `real[n]..(2)`"),
            );
        }
        if ty.is_single() {
            let message = format!("the pack of constants `{name}` needs a list with one value per constant");
            let diagnostic = Diagnostic::error(&codes::CONSTANT_INITIALIZER, value.span, message);
            self.sink.report(diagnostic.with_label(ty.to_string()));
        } else if ty.length().differs(&declared.length()) {
            let message = format!(
                "`{name}` is a pack of {} constants, but there are {} values",
                declared.length().described(),
                ty.length().described()
            );
            let diagnostic = Diagnostic::error(&codes::CONSTANT_INITIALIZER, value.span, message);
            self.sink.report(diagnostic.with_help("each value fills one constant of the pack"));
        }
    }
}

/// Whether a value of this type is accepted for `base`: an int may be given for a real (errata 15).
pub(super) fn converts(ty: &Type, base: &Base) -> bool {
    ty.base.agrees(base) || (ty.base == Base::Int && *base == Base::Real)
}

/// The number of elements of a shape of literals.
fn literal_volume(spec: &TypeSpec) -> Option<i64> {
    let mut volume = 1i64;
    for extent in spec.shape.as_ref()? {
        if extent.pack.is_some() {
            return None;
        }
        let n = Length::from_expr(extent.extent.as_ref()?).constant()?;
        volume = volume.checked_mul(n)?;
    }
    Some(volume)
}
