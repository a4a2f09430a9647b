// SPDX-License-Identifier: Apache-2.0
//! `@compose` and `@update` (2.10, 2.11): statements, their targets, and blocks.

use crate::ast::{
    BinaryOp, BlockKind, Component, ComponentValue, Definition, DefinitionKind, Expr, ExprKind, Ident,
    PackSpec, Path, Target, TargetItem, TypeSpec,
};
use crate::check::blocks::{behind_label, check_labels};
use crate::check::checker::{Checker, Context};
use crate::check::control::{check_branching, check_looping};
use crate::check::declarations::converts;
use crate::check::dynamic::declare_dynamic_name;
use crate::check::invocations::check_invocation;
use crate::check::lengths::Length;
use crate::check::scope::SymbolKind;
use crate::check::signatures::Found;
use crate::check::types::{Base, Optional, Pack, Tensor, Type};
use crate::diagnostics::{Diagnostic, codes, counted};
use crate::source::Span;
use crate::syntax::open_type_list;
use rustc_hash::FxHashMap;

/// The types of a statement's results; `None` if they are unknown after errors.
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

pub(super) fn check_compositions(checker: &mut Checker) {
    let definition = checker.definition;
    checker.context = Context::Composition;
    checker.where_now = "in `@compose`";
    // Intermediates remain visible in `@update`.
    checker.scope.enter();
    let mut assigned = Assigned::default();
    check_labels(checker, &definition.composes);
    for component in &definition.composes {
        check_component(checker, component, Level::Compose, &mut assigned);
    }
    if definition.has_block(BlockKind::Compose) {
        check_outputs_assigned(checker, definition, &assigned);
    }
    checker.where_now = "in `@update`";
    let mut updated = Assigned::default();
    for component in &definition.updates {
        check_component(checker, component, Level::Update, &mut updated);
    }
    checker.scope.leave();
    checker.context = Context::CompileTime;
}

/// Checks that every output is assigned (2.10).
fn check_outputs_assigned(checker: &mut Checker, definition: &Definition, assigned: &Assigned) {
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
            // reported in `@update`
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
        checker.sink.report(diagnostic);
    }
}

/// One statement.
pub(super) fn check_component(
    checker: &mut Checker,
    component: &Component,
    level: Level,
    assigned: &mut Assigned,
) {
    // Errors on the right side may make its types wrong as well.
    let (results, mut is_faulty) = checker.noting_errors(|c| component_value(c, &component.value));
    let count = results.as_ref().map(Vec::len);
    if let Some(count) = count
        && component.targets.len() > count
        && !is_faulty
    {
        is_faulty = true;
        let (Some(first), Some(last)) = (component.targets.get(count), component.targets.last()) else {
            return;
        };
        let span = first.span().to(last.span());
        let message = format!(
            "{} on the left, but the right side has {}",
            counted(component.targets.len(), "name"),
            counted(count, "result")
        );
        checker.sink.report(
            Diagnostic::error(&codes::RESULT_COUNT, span, message)
                .with_label("there is no result for this")
                .with_label_at(component.value.span(), format!("{count} here")),
        );
    }
    let from_expression = matches!(component.value, ComponentValue::Expr(_));
    if let Some(name) = behind_label(checker, component) {
        let assignment =
            Assignment { level, value: component.value.span(), from_expression, from_loop: false };
        assign(checker, name, Type::unknown(), &assignment, assigned);
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
            value: component.value.span(),
            from_expression,
            from_loop: matches!(component.value, ComponentValue::Loop(_)),
        };
        assign_target(checker, target, ty, &assignment, assigned);
    }
}

/// The results of a right-hand side.
pub(super) fn component_value(checker: &mut Checker, value: &ComponentValue) -> Results {
    match value {
        ComponentValue::Invocation(invocation) => check_invocation(checker, invocation),
        ComponentValue::Expr(expr) => {
            if report_open_type_list(checker, expr) {
                return None;
            }
            let ty = checker.entity(expr);
            Some(vec![ty])
        }
        ComponentValue::Block(block) => {
            checker.scope.enter();
            let mut assigned = Assigned::default();
            check_labels(checker, &block.components);
            for component in &block.components {
                check_component(checker, component, Level::Nested, &mut assigned);
            }
            let results = block.yields.iter().map(|y| yielded(checker, y)).collect();
            checker.scope.leave();
            for (name, span) in assigned {
                checker.ended.insert(name, (span, "block"));
            }
            // a missing `yield` is reported by the parser
            block.yield_span.map(|_| results)
        }
        ComponentValue::If(branching) => check_branching(checker, branching),
        ComponentValue::Loop(l) => check_looping(checker, l),
        ComponentValue::Error(_) => None,
    }
}

/// Reports `f<real(x)`, which is a comparison unless `f` is an operator; returns whether it did.
fn report_open_type_list(checker: &mut Checker, expr: &Expr) -> bool {
    let ExprKind::Binary { op, left, right } = &expr.kind else {
        return false;
    };
    let (BinaryOp::Lt, ExprKind::Name(name), ExprKind::Cast { target, .. }) = (op, &left.kind, &right.kind)
    else {
        return false;
    };
    let path = Path { parts: vec![name.clone()], span: name.span };
    let is_operator = matches!(checker.env.find(checker.module, &path), Found::Operator(_));
    if !is_operator || checker.scope.lookup(&name.name).is_some() {
        return false;
    }
    let after = Span::new(target.span.file, target.span.end, target.span.end);
    let (operator, ty) = (&name.name, &target.name);
    checker.sink.report(open_type_list(after, (name.span, operator), ty));
    true
}

/// `yield e`: must not be null.
pub(super) fn yielded(checker: &mut Checker, expr: &Expr) -> Type {
    let ty = checker.entity(expr);
    if ty.optional.is_optional() {
        let text = checker.text(expr.span);
        let message = format!("`{text}` may be null, so it cannot be yielded");
        let help =
            format!("test it around the block, `if ?{text} then …`, or write a fallback, `{text} ?? …`");
        let diagnostic = Diagnostic::error(&codes::YIELD_OPTIONAL, expr.span, message);
        checker.sink.report(diagnostic.with_label(ty.to_string()).with_help(help));
        return ty.with_optional(Optional::Maybe);
    }
    ty
}

fn assign_target(
    checker: &mut Checker,
    target: &Target,
    ty: Type,
    assignment: &Assignment,
    assigned: &mut Assigned,
) {
    match target {
        Target::Item(TargetItem::Omitted(_)) => {}
        Target::Item(TargetItem::Zip { names, pack, .. }) => {
            check_target_pack(checker, pack.as_ref());
            let part = part_type(ty, Pack::Packed(Length::unknown()));
            for name in names {
                assign(checker, name, part.clone(), assignment, assigned);
            }
        }
        Target::Item(item @ TargetItem::Name { name, .. }) => {
            let ty = named_type(checker, item, ty, assignment);
            assign(checker, name, ty, assignment, assigned);
        }
        Target::List { items, span } => {
            if !check_destructured(checker, items, *span, &ty, assignment) {
                for name in target.names() {
                    assign(checker, name, Type::unknown(), assignment, assigned);
                }
                return;
            }
            for item in items {
                assign_part(checker, item, &ty, assignment, assigned);
            }
        }
    }
}

/// The type of a name on the left side, which receives a value of type `ty`.
fn named_type(checker: &mut Checker, target: &TargetItem, mut ty: Type, assignment: &Assignment) -> Type {
    let TargetItem::Name { name, type_spec, pack, span } = target else {
        return ty;
    };
    check_written_type(checker, name, type_spec.as_ref(), &ty, assignment);
    check_target_pack(checker, pack.as_ref());
    let declared = declared_target(checker, name, assignment.level);
    let packed_name = match (pack, &declared, type_spec) {
        (Some(_), _, _) => true,
        (None, Some(d), _) => d.is_packed(),
        (None, None, Some(spec)) => spec.pack.is_some(),
        (None, None, None) => false,
    };
    if packed_name && ty.is_single() {
        report_packedness(checker, name, &ty, declared.as_ref(), assignment);
        ty = Type::unknown();
    } else if !packed_name && ty.is_packed() {
        if declared.is_some() {
            report_packedness(checker, name, &ty, declared.as_ref(), assignment);
            ty = Type::unknown();
        } else if !assignment.from_loop && !checker.definition.may_have_lost(&name.name) {
            let message = format!("`{}` receives a pack, whose length must be stated", name.name);
            checker.sink.report(
                Diagnostic::error(&codes::PACK_LENGTH_NEEDED, *span, message)
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
            Some(length) => checker.length_of(length),
            None => Length::unknown(),
        };
        if length.differs(&ty.length()) {
            report_target_length(checker, *span, &length, &ty.length(), assignment);
        }
        ty.pack = Pack::Packed(length);
    }
    ty
}

/// Checks that a list on the left side receives a pack of its length; returns whether it receives a pack.
fn check_destructured(
    checker: &mut Checker,
    items: &[TargetItem],
    span: Span,
    ty: &Type,
    assignment: &Assignment,
) -> bool {
    if ty.optional.is_optional() {
        let text = checker.text(assignment.value);
        let message = format!("`{text}` may be null, so a list cannot destructure it");
        checker.sink.report(
            Diagnostic::error(&codes::ASSIGNED_TYPE, span, message)
                .with_label_at(assignment.value, format!("of type {ty}"))
                .with_help("write a value for null, as in `zs ?? xs`"),
        );
    }
    if ty.is_single() {
        let message = "a list on the left receives a pack, but the result is a single tensor";
        checker.sink.report(
            Diagnostic::error(&codes::TARGET_NOT_A_PACK, span, message)
                .with_label_at(assignment.value, format!("of type {ty}"))
                .with_help("write the name without `[ ]`"),
        );
        return false;
    }
    let fixed =
        items.iter().all(|i| matches!(i, TargetItem::Name { pack: None, .. } | TargetItem::Omitted(_)));
    let count = Length::count(items.len());
    if fixed && count.differs(&ty.length()) {
        report_target_length(checker, span, &count, &ty.length(), assignment);
    }
    true
}

/// One name of `[a, b..(n), (c, d)..]`.
fn assign_part(
    checker: &mut Checker,
    item: &TargetItem,
    whole: &Type,
    assignment: &Assignment,
    assigned: &mut Assigned,
) {
    match item {
        TargetItem::Omitted(_) => {}
        TargetItem::Zip { names, pack, .. } => {
            check_target_pack(checker, pack.as_ref());
            let part = part_type(whole.clone(), Pack::Packed(Length::unknown()));
            for name in names {
                assign(checker, name, part.clone(), assignment, assigned);
            }
        }
        TargetItem::Name { name, type_spec, pack, .. } => {
            check_written_type(checker, name, type_spec.as_ref(), whole, assignment);
            check_target_pack(checker, pack.as_ref());
            let shape = match pack {
                None => Pack::Single,
                Some(PackSpec { length: Some(length), .. }) => Pack::Packed(checker.length_of(length)),
                Some(_) => Pack::Packed(Length::unknown()),
            };
            let part = part_type(whole.clone(), shape);
            if let Some(declared) = declared_target(checker, name, assignment.level)
                && ((declared.is_packed() && part.is_single()) || (declared.is_single() && part.is_packed()))
            {
                report_packedness(checker, name, &part, Some(&declared), assignment);
            }
            assign(checker, name, part, assignment, assigned);
        }
    }
}

/// `t: real[n] = …`: checks the computed tensor against the written type.
fn check_written_type(
    checker: &mut Checker,
    name: &Ident,
    spec: Option<&TypeSpec>,
    ty: &Type,
    assignment: &Assignment,
) {
    let Some(spec) = spec else {
        return;
    };
    // A new name with a bound denotes the computed extent.
    let bounded = spec.shape.iter().flatten().filter(|extent| extent.bound.is_some());
    for name in bounded.filter_map(|extent| extent.extent.as_ref()) {
        declare_dynamic_name(checker, name);
    }
    checker.check_type_spec(spec);
    let written = checker.quietly(|c| c.tensor_type_of(spec, &format!("|{}|", name.name)));
    check_assigned_type(checker, name, ty, &written, spec.span, assignment);
}

fn part_type(ty: Type, pack: Pack) -> Type {
    Type { pack, ..ty }
}

fn check_target_pack(checker: &mut Checker, pack: Option<&PackSpec>) {
    if let Some((length, _)) = pack.and_then(|p| p.length.as_ref().zip(p.bound.as_ref())) {
        declare_dynamic_name(checker, length);
    }
    for length in pack.iter().flat_map(|p| [&p.length, &p.bound]).flatten() {
        checker.require_int(length, "the length of a pack");
    }
}

/// The declared type of an output (or variable, in `@update`) of this name.
fn declared_target(checker: &Checker, name: &Ident, level: Level) -> Option<Type> {
    let symbol = checker.scope.lookup(&name.name)?;
    match (level, symbol.kind) {
        (Level::Compose, SymbolKind::Output) | (Level::Update, SymbolKind::Variable) => {
            Some(symbol.ty.clone())
        }
        _ => None,
    }
}

fn report_packedness(
    checker: &mut Checker,
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
    checker.sink.report(diagnostic);
}

fn report_target_length(
    checker: &mut Checker,
    span: Span,
    left: &Length,
    right: &Length,
    assignment: &Assignment,
) {
    let message = format!(
        "the left side has length {}, but the right side has length {}",
        left.described(),
        right.described()
    );
    checker.sink.report(
        Diagnostic::error(&codes::LENGTHS_DIFFER, span, message)
            .with_label(format!("length {}", left.described()))
            .with_label_at(assignment.value, format!("length {}", right.described())),
    );
}

/// Declares a name for a tensor.
fn assign(checker: &mut Checker, name: &Ident, ty: Type, assignment: &Assignment, assigned: &mut Assigned) {
    if name.name.is_empty() {
        return;
    }
    if let Some(first) = assigned.get(&name.name).copied() {
        let message = format!("`{}` is assigned twice", name.name);
        let help = "every tensor is assigned once; use another name";
        let diagnostic = Diagnostic::error(&codes::ASSIGNED_TWICE, name.span, message);
        checker.sink.report(diagnostic.with_label_at(first, "first here").with_help(help));
        return;
    }
    assigned.insert(name.name.clone(), name.span);
    let known = checker.scope.lookup(&name.name).cloned();
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
            let message = format!(
                "`{}` is {}, which cannot be assigned {}",
                name.name,
                symbol.kind.describe(),
                checker.where_now
            );
            let diagnostic = Diagnostic::error(&codes::NOT_ASSIGNABLE, name.span, message);
            checker.sink.report(diagnostic.with_label_at(symbol.span, "declared here").with_help(help));
            return;
        }
        if matches!(symbol.kind, SymbolKind::Output | SymbolKind::Variable) {
            check_assigned_type(checker, name, &ty, &symbol.ty, symbol.span, assignment);
            if symbol.kind == SymbolKind::Output {
                // later statements may read it
                let declared = symbol.ty.clone();
                declare_assigned(checker, name, SymbolKind::Output, declared, symbol.span);
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
    declare_assigned(checker, name, SymbolKind::Intermediate, ty, name.span);
}

fn declare_assigned(checker: &mut Checker, name: &Ident, kind: SymbolKind, ty: Type, span: Span) {
    checker.scope.declare(&name.name, super::scope::Symbol { kind, ty, span });
}

/// Checks an assigned tensor against the declaration; composition compares shapes.
fn check_assigned_type(
    checker: &mut Checker,
    name: &Ident,
    ty: &Type,
    declared: &Type,
    location: Span,
    assignment: &Assignment,
) {
    if ty.optional.is_optional() && !declared.optional.is_optional() {
        let text = checker.text(assignment.value);
        let message = format!("`{}` is never null, but `{text}` may be", name.name);
        checker.sink.report(
            Diagnostic::error(&codes::ASSIGNED_TYPE, name.span, message)
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
        let message =
            format!("`{}` is declared as {}, but {} is assigned", name.name, declared.base, ty.base);
        checker.sink.report(
            Diagnostic::error(&codes::ASSIGNED_TYPE, name.span, message)
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

struct Assignment {
    level: Level,
    /// The right-hand side.
    value: Span,
    from_expression: bool,
    /// Whether the value is a loop: its iteration count may depend on data, so its length cannot be written.
    from_loop: bool,
}
