// SPDX-License-Identifier: Apache-2.0
//! The binding order of inputs (2.6.1): the names that shapes declare, and whether every shape can be split
//! independently of the invocation.

use crate::ast::{Declaration, Expr, ExprKind, ExtentSpec, Ident, TypeSpec};
use crate::check::checker::Checker;
use crate::check::lengths::{Length, linear};
use crate::check::scope::SymbolKind;
use crate::check::types::{Base, Optional, Pack, Type};
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;

/// The effect of a shape's expression on names.
enum Role<'e> {
    /// All names are declared: the value is prescribed.
    Prescribed,
    /// Affine in one new name: declares it.
    Declares(&'e Ident),
    /// Has undeclared names and is not affine in a single name.
    Undetermined,
}

/// The result of analysing one input.
struct Attempt<'e> {
    /// Names that the shape declares, with their types.
    declared: Vec<(&'e Ident, Type)>,
    /// The number of dimensions that are known before the shape is split.
    counted: usize,
    /// Packed extents of unknown length.
    flexible: Vec<&'e ExtentSpec>,
    /// Expressions that cannot be evaluated.
    undetermined: Vec<&'e Expr>,
}

impl Attempt<'_> {
    fn declares(&self, name: &Ident) -> bool {
        self.declared.iter().any(|(declared, _)| declared.name == name.name)
    }

    /// Whether the expression uses names that get their values only when the shape is split.
    fn splits(&self, expr: &Expr) -> bool {
        let mut split = self.declared.iter().skip(self.counted);
        let names = expr.names();
        split.any(|(declared, _)| names.iter().any(|name| declared.name == name.name))
    }

    fn is_bound(&self) -> bool {
        self.flexible.len() <= 1 && self.undetermined.is_empty()
    }
}

impl<'a> Checker<'a> {
    /// Declares attributes, and binds the inputs in their order, which declares extents.
    pub(super) fn declare_parameters(&mut self) {
        let definition = self.definition;
        for attribute in &definition.attributes {
            let ty = self.attribute_type(attribute);
            self.declare(&attribute.name, SymbolKind::Attribute, ty);
        }
        for input in &definition.inputs {
            self.declare(&input.name, SymbolKind::Input, Type::unknown());
        }
        self.where_now = "in `@input`";
        let mut waiting: Vec<&Declaration> = definition.inputs.iter().collect();
        for optional in [false, true] {
            loop {
                let before = waiting.len();
                waiting.retain(|input| {
                    if input.type_spec.optional != optional {
                        return true;
                    }
                    let attempt = self.attempt(input);
                    if !attempt.is_bound() {
                        return true;
                    }
                    self.commit(input, attempt);
                    false
                });
                if waiting.len() == before {
                    break;
                }
            }
            // Optional inputs come last, because they do not determine names of other inputs.
            let (unbound, remaining) =
                waiting.into_iter().partition::<Vec<_>, _>(|input| input.type_spec.optional == optional);
            waiting = remaining;
            for input in unbound {
                self.give_up(input);
            }
        }
        self.declare_attribute_lengths();
    }

    /// Reports an input that cannot be bound; its names become unknown, so that no follow-up errors are reported.
    fn give_up(&mut self, input: &'a Declaration) {
        let attempt = self.attempt(input);
        self.report_unbound(input, &attempt);
        for (name, _) in &attempt.declared {
            self.declare(name, SymbolKind::Extent, Type::unknown());
        }
        let names: Vec<&Ident> =
            type_expressions(&input.type_spec).into_iter().flat_map(Expr::names).collect();
        for name in names {
            if self.scope.lookup(&name.name).is_none() && !self.hidden.contains_key(&name.name) {
                self.declare(name, SymbolKind::Extent, Type::unknown());
            }
        }
    }

    /// Binds names by the lengths of packed attributes, if no input declares them.
    fn declare_attribute_lengths(&mut self) {
        self.where_now = "in `@attrib`";
        for attribute in &self.definition.attributes {
            let Some(length) = attribute.type_spec.pack.as_ref().and_then(|p| p.length.as_ref()) else {
                continue;
            };
            match self.role(length) {
                Role::Declares(name) => {
                    let optional = if attribute.type_spec.optional { Optional::Maybe } else { Optional::No };
                    let ty = Type::scalar(Base::Int).with_optional(optional);
                    self.declare(name, SymbolKind::Extent, ty);
                }
                // Unknown names are reported when the length is typed.
                Role::Prescribed | Role::Undetermined => {}
            }
        }
        // Lengths are known now: the types of the attributes can contain them.
        for attribute in &self.definition.attributes {
            let ty = self.attribute_type(attribute);
            self.declare(&attribute.name, SymbolKind::Attribute, ty);
        }
    }

    fn attribute_type(&mut self, attribute: &Declaration) -> Type {
        let spec = &attribute.type_spec;
        let base = self.quietly(|c| c.base_named(&spec.base));
        let pack = match &spec.pack {
            None if spec.shape.is_some() => Pack::Unknown,
            None => Pack::Single,
            Some(pack) => Pack::Packed(match &pack.length {
                Some(length) => self.length_of(length),
                None => Length::symbol(&format!("|{}|", attribute.name.name)),
            }),
        };
        Type { pack, ..Type::scalar(base) }.with_optional(if spec.optional {
            Optional::Yes
        } else {
            Optional::No
        })
    }

    fn role<'e>(&self, expr: &'e Expr) -> Role<'e> {
        self.role_with(expr, &[])
    }

    fn role_with<'e>(&self, expr: &'e Expr, more: &[(&'e Ident, Type)]) -> Role<'e> {
        let unknown: Vec<&Ident> = expr
            .names()
            .into_iter()
            .filter(|n| self.scope.lookup(&n.name).is_none() && !more.iter().any(|(m, _)| m.name == n.name))
            .collect();
        let Some(first) = unknown.first() else {
            return Role::Prescribed;
        };
        let affine =
            linear(expr).is_some_and(|l| l.single_term().is_some_and(|(_, name)| *name == first.name));
        let hidden = self.hidden.get(&first.name).is_some_and(|h| h.kind != SymbolKind::Intermediate);
        if affine && !hidden { Role::Declares(first) } else { Role::Undetermined }
    }

    /// Whether the length of a pack follows from earlier bindings: extents of other inputs, and attributes that are
    /// neither packed nor optional nor deferred.
    fn determines_length(&self, length: &Expr, attempt: &Attempt) -> bool {
        let deferred = |name: &str| {
            self.definition
                .attributes
                .iter()
                .any(|a| a.name.name == name && a.default.as_ref().is_some_and(|d| !d.names().is_empty()))
        };
        let mut names = length.names();
        names.retain(|name| !attempt.declares(name));
        names.into_iter().all(|name| {
            self.scope.lookup(&name.name).is_some_and(|s| {
                s.kind != SymbolKind::Attribute
                    || (s.ty.optional == Optional::No && s.ty.is_single() && !deferred(&name.name))
            })
        })
    }

    /// Tries to bind the shape of an input with the names that are declared so far.
    fn attempt(&mut self, input: &'a Declaration) -> Attempt<'a> {
        let mut attempt =
            Attempt { declared: Vec::new(), counted: 0, flexible: Vec::new(), undetermined: Vec::new() };
        let spec = &input.type_spec;
        let optional = if spec.optional { Optional::Maybe } else { Optional::No };
        let int = Type::scalar(Base::Int).with_optional(optional);
        // The number of arguments and the rank are known before the shape is split.
        let counts = [spec.pack.as_ref().and_then(|p| p.length.as_ref()), spec.rank.as_ref()];
        for count in counts.into_iter().flatten() {
            match self.role_with(count, &attempt.declared) {
                Role::Prescribed => {}
                Role::Declares(name) => attempt.declared.push((name, int.clone())),
                Role::Undetermined => attempt.undetermined.push(count),
            }
        }
        attempt.counted = attempt.declared.len();
        let items = match &spec.pack {
            Some(pack) => match &pack.length {
                Some(length) => Length::from_expr(length),
                None => Length::symbol(&format!("|{}|", input.name.name)),
            },
            None => Length::unknown(),
        };
        let mut unbound: Vec<&ExtentSpec> = spec.shape.iter().flatten().collect();
        loop {
            let before = unbound.len();
            unbound.retain(|extent| !self.bind_extent(extent, &int, &items, &mut attempt));
            if unbound.is_empty() || unbound.len() == before {
                break;
            }
        }
        for extent in unbound {
            let parts = [extent.extent.as_ref(), extent.pack.as_ref().and_then(|p| p.length.as_ref())];
            for part in parts.into_iter().flatten() {
                if matches!(self.role_with(part, &attempt.declared), Role::Undetermined) {
                    attempt.undetermined.push(part);
                }
            }
        }
        attempt
    }

    /// Binds one extent; false if its expressions cannot be evaluated yet.
    fn bind_extent(
        &mut self,
        extent: &'a ExtentSpec,
        int: &Type,
        items: &Length,
        attempt: &mut Attempt<'a>,
    ) -> bool {
        let role = extent.extent.as_ref().map(|e| self.role_with(e, &attempt.declared));
        if matches!(role, Some(Role::Undetermined)) {
            return false;
        }
        let Some(pack) = &extent.pack else {
            if let Some(Role::Declares(name)) = role {
                let ty = if extent.per_item {
                    Type { pack: Pack::Packed(items.clone()), ..int.clone() }
                } else {
                    int.clone()
                };
                attempt.declared.push((name, ty));
            }
            return true;
        };
        let mut conditional = false;
        let length = match &pack.length {
            None => {
                let is_split = |e: &Expr| attempt.splits(e);
                if matches!(role, Some(Role::Declares(_)) | None)
                    || extent.extent.as_ref().is_some_and(is_split)
                {
                    attempt.flexible.push(extent);
                }
                let name = extent.extent.as_ref().and_then(|e| match &e.kind {
                    ExprKind::Name(n) => Some(Length::symbol(&format!("|{}|", n.name))),
                    _ => None,
                });
                name.unwrap_or_else(Length::unknown)
            }
            Some(length) => {
                match self.role_with(length, &attempt.declared) {
                    Role::Undetermined => return false,
                    Role::Declares(name) => {
                        attempt.flexible.push(extent);
                        attempt.declared.push((name, int.clone()));
                    }
                    Role::Prescribed => {
                        if attempt.splits(length) || !self.determines_length(length, attempt) {
                            attempt.flexible.push(extent);
                        }
                        conditional = self.quietly(|c| c.value(length)).base == Base::Bool;
                    }
                }
                Length::from_expr(length)
            }
        };
        if let Some(Role::Declares(name)) = role {
            let ty = if conditional {
                int.clone().with_optional(Optional::Yes)
            } else {
                Type { pack: Pack::Packed(length), ..int.clone() }
            };
            attempt.declared.push((name, ty));
        }
        true
    }

    /// Declares the names of an input.
    fn commit(&mut self, input: &'a Declaration, attempt: Attempt<'a>) {
        for (name, ty) in attempt.declared {
            if self.scope.lookup(&name.name).is_none() {
                self.declare(name, SymbolKind::Extent, ty);
            }
        }
        let ty = self.quietly(|c| c.tensor_type(input));
        self.declare(&input.name, SymbolKind::Input, ty);
    }

    /// Reports why an input's shape cannot be bound.
    fn report_unbound(&mut self, input: &'a Declaration, attempt: &Attempt<'a>) {
        if attempt.flexible.len() > 1 {
            self.report_ambiguous_shape(input, attempt);
            return;
        }
        for expr in &attempt.undetermined {
            self.report_undetermined(expr, attempt);
        }
    }

    fn report_ambiguous_shape(&mut self, input: &'a Declaration, attempt: &Attempt<'a>) {
        let parts: Vec<String> =
            attempt.flexible.iter().map(|e| format!("`{}`", self.text(e.span))).collect();
        let message = format!(
            "the shape of `{}` cannot be split: {} {} unknown lengths",
            input.name.name,
            parts.join(", "),
            if parts.len() == 2 { "both have" } else { "all have" }
        );
        let mut diagnostic = Diagnostic::error(&codes::AMBIGUOUS_SHAPE, input.type_spec.span, message);
        for extent in &attempt.flexible {
            diagnostic = diagnostic.with_label_at(extent.span, "unknown length");
        }
        for extent in &attempt.flexible {
            if let Some((span, reason)) = self.reason_of_unknown_length(extent) {
                diagnostic = diagnostic.with_note(Some(span), reason);
            }
        }
        self.sink.report(diagnostic.with_help(
            "at most one packed extent may have an unknown length: write lengths of the others that an int attribute or another input fixes, as in `s..(r)`",
        ));
    }

    /// The attribute whose value is known too late to be the length of a packed extent, and the reason.
    fn reason_of_unknown_length(&self, extent: &ExtentSpec) -> Option<(Span, String)> {
        let ExprKind::Name(Ident { name, .. }) = &extent.pack.as_ref()?.length.as_ref()?.kind else {
            return None;
        };
        let attributes = &self.definition.attributes;
        if let Some(attribute) = attributes.iter().find(|a| a.name.name == *name) {
            let reason = if attribute.type_spec.optional {
                "optional, so it may have no value"
            } else {
                "computed from other values, so it is known too late"
            };
            return Some((attribute.span, format!("`{name}` is {reason}")));
        }
        let packed = attributes.iter().find(|a| {
            let length = a.type_spec.pack.as_ref().and_then(|p| p.length.as_ref());
            length.is_some_and(|l| is_name(l, name))
        })?;
        let reason = format!("`{name}` is the length of a packed attribute, which may have a single value");
        Some((packed.span, reason))
    }

    /// Reports the first unknown name of an extent.
    fn report_undetermined(&mut self, expr: &Expr, attempt: &Attempt<'a>) {
        let is_unknown = |n: &&Ident| {
            self.scope.lookup(&n.name).is_none() && !attempt.declared.iter().any(|(d, _)| d.name == n.name)
        };
        let Some(name) = expr.names().into_iter().find(is_unknown) else {
            return;
        };
        if self.hidden.contains_key(&name.name) {
            self.report_unknown_name(name);
            return;
        }
        if !self.first_report_of(name) {
            return;
        }
        let text = self.text(expr.span);
        let message = format!("`{}` cannot be deduced from `{text}`", name.name);
        let help = format!(
            "an extent declares a name only as `a * name + b` with literal a and b; other expressions may use names that \
             attributes and shapes declare. Or replace `{text}` by a new name, and compute `{}` from it in `@using`",
            name.name
        );
        let diagnostic = Diagnostic::error(&codes::UNDETERMINED_EXTENT, expr.span, message);
        let label = format!("`{}` is not declared before", name.name);
        self.sink.report(diagnostic.with_label(label).with_help(help));
    }
}

fn is_name(expr: &Expr, name: &str) -> bool {
    matches!(&expr.kind, ExprKind::Name(n) if n.name == name)
}

/// All expressions of a type.
pub(super) fn type_expressions(spec: &TypeSpec) -> Vec<&Expr> {
    let mut all = Vec::new();
    all.extend(&spec.rank);
    for extent in spec.shape.iter().flatten() {
        all.extend(&extent.extent);
        all.extend(&extent.bound);
        if let Some(pack) = &extent.pack {
            all.extend(&pack.length);
            all.extend(&pack.bound);
        }
    }
    if let Some(pack) = &spec.pack {
        all.extend(&pack.length);
        all.extend(&pack.bound);
    }
    all
}
