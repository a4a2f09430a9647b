// SPDX-License-Identifier: Apache-2.0
//! `@compose` and `@update` (2.10, 2.11): statements, their targets, and blocks.

use rustc_hash::FxHashMap;

use crate::ast::{
    BinaryOp, BlockKind, Component, ComponentValue, Definition, DefinitionKind, Expr, ExprKind, Ident,
    PackSpec, Path, Target, TargetItem, TypeSpec,
};
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;
use crate::syntax::open_type_list;

use super::declarations::converts;
use super::definition::{Checker, Context};
use super::lengths::Length;
use super::scope::SymbolKind;
use super::signatures::Found;
use super::types::{Base, Optional, Pack, Tensor, Type};
use crate::diagnostics::counted;

/// The types of a statement's results; empty if they are unknown after errors.
pub(super) type Results = Option<Vec<Type>>;

/// The names that statements of one level assigned, with their spans.
pub(super) type Assigned = FxHashMap<String, Span>;

/// The kind of the checked statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// Directly in `@compose`: assigns outputs.
    Compose,
    /// Directly in `@update`: assigns variables.
    Update,
    /// In a block, where all names are local.
    Nested,
}

impl Checker<'_> {
    pub(super) fn check_compositions(&mut self) {
        let definition = self.definition;
        self.context = Context::Composition;
        self.where_now = "in `@compose`";
        // intermediates stay visible for `@update`
        self.scope.enter();
        let mut assigned = Assigned::default();
        self.check_labels(&definition.composes);
        for component in &definition.composes {
            self.component(component, Level::Compose, &mut assigned);
        }
        if definition.has_block(BlockKind::Compose) {
            self.check_outputs_assigned(definition, &assigned);
        }
        self.where_now = "in `@update`";
        let mut updated = Assigned::default();
        for component in &definition.updates {
            self.component(component, Level::Update, &mut updated);
        }
        self.scope.leave();
        self.context = Context::CompileTime;
    }

    /// Checks that every output is assigned (2.10).
    fn check_outputs_assigned(&mut self, definition: &Definition, assigned: &Assigned) {
        for output in &definition.outputs {
            let name = &output.name.name;
            let done = assigned.contains_key(name) || definition.may_have_lost(name);
            if done || output.type_spec.optional || definition.has_block(BlockKind::Lower) {
                continue;
            }
            let update = definition.updates.iter().any(|c| {
                c.targets.iter().any(|t| match t {
                    Target::Item(TargetItem::Name { name: n, .. }) => n.name == *name,
                    _ => false,
                })
            });
            if update {
                // reported there
                continue;
            }
            let diagnostic = Diagnostic::error(
                &codes::OUTPUT_NOT_ASSIGNED,
                output.name.span,
                format!("the output `{name}` is not assigned"),
            )
            .with_label("never assigned in `@compose`");
            let diagnostic = diagnostic.with_help(format!(
                "add `{name} = …;` to the {} `@compose`",
                match definition.kind {
                    DefinitionKind::Graph => "graph's",
                    DefinitionKind::Operator => "operator's",
                }
            ));
            self.sink.report(diagnostic);
        }
    }

    /// One statement.
    pub(super) fn component(&mut self, component: &Component, level: Level, assigned: &mut Assigned) {
        // Errors on the right side may make its types wrong as well.
        let (results, mut is_faulty) = self.noting_errors(|c| c.component_value(&component.value));
        let count = results.as_ref().map(Vec::len);
        if let Some(count) = count
            && component.targets.len() > count
            && !is_faulty
        {
            is_faulty = true;
            let (Some(first), Some(last)) = (component.targets.get(count), component.targets.last()) else {
                return;
            };
            let span = target_span(first).to(target_span(last));
            self.sink.report(
                Diagnostic::error(
                    &codes::RESULT_COUNT,
                    span,
                    format!(
                        "{} on the left, but the right side has {}",
                        counted(component.targets.len(), "name"),
                        counted(count, "result")
                    ),
                )
                .with_label("there is no result for this")
                .with_label_at(value_span(&component.value), format!("{count} here")),
            );
        }
        let from_expression = matches!(component.value, ComponentValue::Expr(_));
        if let Some(name) = self.behind_label(component) {
            let assignment =
                Assignment { level, value: value_span(&component.value), from_expression, from_loop: false };
            self.assign(name, Type::unknown(), &assignment, assigned);
            return;
        }
        for (i, target) in component.targets.iter().enumerate() {
            let result = match &results {
                Some(all) => all.get(i).cloned(),
                None => None,
            };
            let ty = result.unwrap_or_else(Type::unknown);
            let ty = if is_faulty { Type { base: Base::Unknown, pack: Pack::Unknown, ..ty } } else { ty };
            let assignment = Assignment {
                level,
                value: value_span(&component.value),
                from_expression,
                from_loop: matches!(component.value, ComponentValue::Loop(_)),
            };
            self.assign_target(target, ty, &assignment, assigned);
        }
    }

    /// The results of a right-hand side.
    pub(super) fn component_value(&mut self, value: &ComponentValue) -> Results {
        match value {
            ComponentValue::Invocation(invocation) => self.invocation(invocation),
            ComponentValue::Expr(expr) => {
                if self.report_open_type_list(expr) {
                    return None;
                }
                let ty = self.entity(expr);
                Some(vec![ty])
            }
            ComponentValue::Block(block) => {
                self.scope.enter();
                let mut assigned = Assigned::default();
                self.check_labels(&block.components);
                for component in &block.components {
                    self.component(component, Level::Nested, &mut assigned);
                }
                let results = block.yields.iter().map(|y| self.yielded(y)).collect();
                self.scope.leave();
                for (name, span) in assigned {
                    self.ended.insert(name, (span, "block"));
                }
                // a missing `yield` is reported by the parser
                block.yield_span.map(|_| results)
            }
            ComponentValue::If(branching) => self.branching(branching),
            ComponentValue::Loop(l) => self.looping(l),
            ComponentValue::Error(_) => None,
        }
    }

    /// Reports `f<real(x)`, which is a comparison unless `f` is an operator; returns whether it did.
    fn report_open_type_list(&mut self, expr: &Expr) -> bool {
        let ExprKind::Binary { op, left, right } = &expr.kind else {
            return false;
        };
        let (BinaryOp::Lt, ExprKind::Name(name), ExprKind::Cast { target, .. }) =
            (op, &left.kind, &right.kind)
        else {
            return false;
        };
        let path = Path { parts: vec![name.clone()], span: name.span };
        let is_operator = matches!(self.env.find(self.module, &path), Found::Operator(_));
        if !is_operator || self.scope.lookup(&name.name).is_some() {
            return false;
        }
        let after = Span::new(target.span.file, target.span.end, target.span.end);
        let (operator, ty) = (&name.name, &target.name);
        self.sink.report(open_type_list(after, (name.span, operator), ty));
        true
    }

    /// `yield e`: must not be null.
    pub(super) fn yielded(&mut self, expr: &Expr) -> Type {
        let ty = self.entity(expr);
        if ty.optional.is_optional() {
            let text = self.text(expr.span);
            self.sink.report(
                Diagnostic::error(
                    &codes::YIELD_OPTIONAL,
                    expr.span,
                    format!("`{text}` may be null, so it cannot be yielded"),
                )
                .with_label(ty.to_string())
                .with_help(format!(
                    "test it around the block, `if ?{text} then …`, or write a fallback, `{text} ?? …`"
                )),
            );
            return ty.with_optional(Optional::Maybe);
        }
        ty
    }

    fn assign_target(&mut self, target: &Target, ty: Type, assignment: &Assignment, assigned: &mut Assigned) {
        match target {
            Target::Item(TargetItem::Omitted(_)) => {}
            Target::Item(TargetItem::Zip { names, pack, .. }) => {
                self.check_target_pack(pack.as_ref());
                let part = self.part_type(ty, Pack::Packed(Length::unknown()));
                for name in names {
                    self.assign(name, part.clone(), assignment, assigned);
                }
            }
            Target::Item(TargetItem::Name { name, type_spec, pack, span }) => {
                self.check_written_type(name, type_spec.as_ref(), &ty, assignment);
                self.check_target_pack(pack.as_ref());
                let declared = self.declared_target(name, assignment.level);
                let packed_name = match (pack, &declared, type_spec) {
                    (Some(_), _, _) => true,
                    (None, Some(d), _) => d.is_packed(),
                    (None, None, Some(spec)) => spec.pack.is_some(),
                    (None, None, None) => false,
                };
                let mut ty = ty;
                if packed_name && ty.is_single() {
                    self.report_packedness(name, &ty, declared.as_ref(), assignment);
                    ty = Type::unknown();
                } else if !packed_name && ty.is_packed() {
                    if declared.is_some() {
                        self.report_packedness(name, &ty, declared.as_ref(), assignment);
                        ty = Type::unknown();
                    } else if !assignment.from_loop && !self.definition.may_have_lost(&name.name) {
                        self.sink.report(
                            Diagnostic::error(
                                &codes::PACK_LENGTH_NEEDED,
                                *span,
                                format!("`{}` receives a pack, whose length must be stated", name.name),
                            )
                            .with_label_at(assignment.value, format!("of type {ty}"))
                            .with_help(format!("write `{0}..(n)`, or `[a, b]` for single names", name.name)),
                        );
                    }
                    if declared.is_some() || !assignment.from_loop {
                        ty.pack = Pack::Unknown;
                    }
                }
                if let (Some(pack), false) = (pack, ty.is_single()) {
                    let length = match &pack.length {
                        Some(length) => self.length_of(length),
                        None => Length::unknown(),
                    };
                    if length.differs(&ty.length()) {
                        self.report_target_length(*span, &length, &ty.length(), assignment);
                    }
                    ty.pack = Pack::Packed(length);
                }
                self.assign(name, ty, assignment, assigned);
            }
            Target::List { items, span } => {
                if ty.optional.is_optional() {
                    let text = self.text(assignment.value);
                    self.sink.report(
                        Diagnostic::error(
                            &codes::ASSIGNED_TYPE,
                            *span,
                            format!("`{text}` may be null, so a list cannot destructure it"),
                        )
                        .with_label_at(assignment.value, format!("of type {ty}"))
                        .with_help("write a value for null, as in `zs ?? xs`"),
                    );
                }
                if ty.is_single() {
                    self.sink.report(
                        Diagnostic::error(
                            &codes::TARGET_NOT_A_PACK,
                            *span,
                            "a list on the left receives a pack, but the result is a single tensor",
                        )
                        .with_label_at(assignment.value, format!("of type {ty}"))
                        .with_help("write the name without `[ ]`"),
                    );
                    for item in items {
                        for name in super::blocks::target_names(item) {
                            self.assign(name, Type::unknown(), assignment, assigned);
                        }
                    }
                    return;
                }
                let fixed = items
                    .iter()
                    .all(|i| matches!(i, TargetItem::Name { pack: None, .. } | TargetItem::Omitted(_)));
                let count = Length::number(i64::try_from(items.len()).unwrap_or(i64::MAX));
                if fixed && count.differs(&ty.length()) {
                    self.report_target_length(*span, &count, &ty.length(), assignment);
                }
                for item in items {
                    self.assign_part(item, &ty, assignment, assigned);
                }
            }
        }
    }

    /// One name of `[a, b..(n), (c, d)..]`.
    fn assign_part(
        &mut self,
        item: &TargetItem,
        whole: &Type,
        assignment: &Assignment,
        assigned: &mut Assigned,
    ) {
        match item {
            TargetItem::Omitted(_) => {}
            TargetItem::Zip { names, pack, .. } => {
                self.check_target_pack(pack.as_ref());
                let part = self.part_type(whole.clone(), Pack::Packed(Length::unknown()));
                for name in names {
                    self.assign(name, part.clone(), assignment, assigned);
                }
            }
            TargetItem::Name { name, type_spec, pack, .. } => {
                self.check_written_type(name, type_spec.as_ref(), whole, assignment);
                self.check_target_pack(pack.as_ref());
                let shape = match pack {
                    None => Pack::Single,
                    Some(PackSpec { length: Some(length), .. }) => Pack::Packed(self.length_of(length)),
                    Some(_) => Pack::Packed(Length::unknown()),
                };
                let part = self.part_type(whole.clone(), shape);
                if let Some(declared) = self.declared_target(name, assignment.level)
                    && ((declared.is_packed() && part.is_single())
                        || (declared.is_single() && part.is_packed()))
                {
                    self.report_packedness(name, &part, Some(&declared), assignment);
                }
                self.assign(name, part, assignment, assigned);
            }
        }
    }

    /// `t: real[n] = …`: checks the computed tensor against the written type.
    fn check_written_type(
        &mut self,
        name: &Ident,
        spec: Option<&TypeSpec>,
        ty: &Type,
        assignment: &Assignment,
    ) {
        let Some(spec) = spec else {
            return;
        };
        self.check_type_spec(spec);
        let written = self.quietly(|c| c.tensor_type_of(spec, &format!("|{}|", name.name)));
        self.check_assigned_type(name, ty, &written, spec.span, assignment);
    }

    fn part_type(&self, ty: Type, pack: Pack) -> Type {
        Type { pack, ..ty }
    }

    fn check_target_pack(&mut self, pack: Option<&PackSpec>) {
        if let Some((length, _)) = pack.and_then(|p| p.length.as_ref().zip(p.bound.as_ref())) {
            self.declare_dynamic_name(length);
        }
        for length in pack.iter().flat_map(|p| [&p.length, &p.bound]).flatten() {
            self.require_int(length, "the length of a pack");
        }
    }

    /// The declared type of an output (or variable, in `@update`) of this name.
    fn declared_target(&self, name: &Ident, level: Level) -> Option<Type> {
        let symbol = self.scope.lookup(&name.name)?;
        match (level, symbol.kind) {
            (Level::Compose, SymbolKind::Output) | (Level::Update, SymbolKind::Variable) => {
                Some(symbol.ty.clone())
            }
            _ => None,
        }
    }

    fn report_packedness(
        &mut self,
        name: &Ident,
        ty: &Type,
        declared: Option<&Type>,
        assignment: &Assignment,
    ) {
        let (here, there) =
            if ty.is_packed() { ("a single tensor", "a pack") } else { ("a pack", "a single tensor") };
        let mut diagnostic = Diagnostic::error(
            &codes::TARGET_NOT_A_PACK,
            name.span,
            format!("`{}` is {here}, but the right side is {there}", name.name),
        )
        .with_label_at(assignment.value, format!("of type {ty}"));
        if let Some(declared) = declared {
            diagnostic = diagnostic.with_label(format!("declared as {declared}"));
        }
        self.sink.report(diagnostic);
    }

    fn report_target_length(&mut self, span: Span, left: &Length, right: &Length, assignment: &Assignment) {
        self.sink.report(
            Diagnostic::error(
                &codes::LENGTHS_DIFFER,
                span,
                format!(
                    "the left side has length {}, but the right side has length {}",
                    left.described(),
                    right.described()
                ),
            )
            .with_label(format!("length {}", left.described()))
            .with_label_at(assignment.value, format!("length {}", right.described())),
        );
    }

    /// Declares a name for a tensor.
    fn assign(&mut self, name: &Ident, ty: Type, assignment: &Assignment, assigned: &mut Assigned) {
        if name.name.is_empty() {
            return;
        }
        if let Some(first) = assigned.get(&name.name).copied() {
            self.sink.report(
                Diagnostic::error(
                    &codes::ASSIGNED_TWICE,
                    name.span,
                    format!("`{}` is assigned twice", name.name),
                )
                .with_label_at(first, "first here")
                .with_help("every tensor is assigned once; use another name"),
            );
            return;
        }
        assigned.insert(name.name.clone(), name.span);
        let known = self.scope.lookup(&name.name).cloned();
        if let (Some(symbol), true) = (&known, assignment.level != Level::Nested) {
            let level = assignment.level;
            let wrong = match symbol.kind {
                SymbolKind::Output => (level == Level::Update)
                    .then_some("outputs are assigned in `@compose`; `@update` assigns variables"),
                SymbolKind::Variable => (level == Level::Compose)
                    .then_some("variables are updated in `@update`; in `@compose` they can only be read"),
                SymbolKind::Input => Some("inputs cannot be assigned; use another name"),
                SymbolKind::Constant => Some("constants keep their value; use another name"),
                SymbolKind::Intermediate if level == Level::Update => {
                    Some("`@compose` assigned it already; use another name")
                }
                SymbolKind::Attribute => Some("attributes cannot be assigned; use another name"),
                _ => None,
            };
            if let Some(help) = wrong {
                self.sink.report(
                    Diagnostic::error(
                        &codes::NOT_ASSIGNABLE,
                        name.span,
                        format!(
                            "`{}` is {}, which cannot be assigned {}",
                            name.name,
                            symbol.kind.describe(),
                            self.where_now
                        ),
                    )
                    .with_label_at(symbol.span, "declared here")
                    .with_help(help),
                );
                return;
            }
            if matches!(symbol.kind, SymbolKind::Output | SymbolKind::Variable) {
                self.check_assigned_type(name, &ty, &symbol.ty, symbol.span, assignment);
                if symbol.kind == SymbolKind::Output {
                    // later statements may read it
                    let declared = symbol.ty.clone();
                    self.declare_assigned(name, SymbolKind::Output, declared, symbol.span);
                }
                return;
            }
        }
        // a value without a tensor becomes one of rank 0
        let tensor = match ty.tensor {
            Tensor::No => Tensor::Ranked(Length::number(0)),
            known => known,
        };
        let ty = Type { tensor, ..ty };
        self.declare_assigned(name, SymbolKind::Intermediate, ty, name.span);
    }

    fn declare_assigned(&mut self, name: &Ident, kind: SymbolKind, ty: Type, span: Span) {
        self.scope.declare(&name.name, super::scope::Symbol { kind, ty, span });
    }

    /// Checks an assigned tensor against the declaration; composition compares shapes.
    fn check_assigned_type(
        &mut self,
        name: &Ident,
        ty: &Type,
        declared: &Type,
        location: Span,
        assignment: &Assignment,
    ) {
        if ty.optional.is_optional() && !declared.optional.is_optional() {
            let text = self.text(assignment.value);
            self.sink.report(
                Diagnostic::error(
                    &codes::ASSIGNED_TYPE,
                    name.span,
                    format!("`{}` is never null, but `{text}` may be", name.name),
                )
                .with_label_at(location, format!("declared as {declared}"))
                .with_label_at(assignment.value, format!("of type {ty}"))
                .with_help("write a value for null, as in `z ?? x` or `if ?z then z else x`"),
            );
            return;
        }
        let converts = if assignment.from_expression && !ty.is_tensor() {
            converts(ty, &declared.base)
        } else {
            ty.base.agrees(&declared.base)
        };
        if !converts {
            self.sink.report(
                Diagnostic::error(
                    &codes::ASSIGNED_TYPE,
                    name.span,
                    format!("`{}` is declared as {}, but {} is assigned", name.name, declared.base, ty.base),
                )
                .with_label_at(location, format!("declared as {declared}"))
                .with_label_at(assignment.value, format!("of type {ty}"))
                .with_help(if matches!(ty.base, Base::Str) {
                    "tensors of a graph have the element type int, real or bool".to_string()
                } else {
                    "change the declaration, or convert with an operator that casts".to_string()
                }),
            );
        }
    }
}

/// The context of an assignment.
struct Assignment {
    level: Level,
    /// The right-hand side.
    value: Span,
    from_expression: bool,
    /// Whether the iteration count of a loop may depend on values: such a length has no notation.
    from_loop: bool,
}

pub(super) fn target_span(target: &Target) -> Span {
    match target {
        Target::Item(
            TargetItem::Name { span, .. } | TargetItem::Zip { span, .. } | TargetItem::Omitted(span),
        )
        | Target::List { span, .. } => *span,
    }
}

/// The span of a right-hand side.
pub(super) fn value_span(value: &ComponentValue) -> Span {
    match value {
        ComponentValue::Invocation(i) => i.span,
        ComponentValue::Expr(e) => e.span,
        ComponentValue::Block(b) => b.span,
        ComponentValue::If(b) => b.span,
        ComponentValue::Loop(l) => l.span,
        ComponentValue::Error(span) => *span,
    }
}
