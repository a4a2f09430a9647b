// SPDX-License-Identifier: Apache-2.0
//! `@lower` (2.12): the outputs, operands and indices of each formula, and the order of formulas of one output.

use crate::ast::{
    AccessTarget, BinaryOp, BlockKind, Definition, Expr, ExprKind, LoopBound, Lowering, LoweringOp,
};
use crate::check::access::{Access, INDEX_PER_DIMENSION};
use crate::check::checker::{Checker, Context};
use crate::check::lengths::Length;
use crate::check::local_tensors::{begins_local_tensor, defined_tensor};
use crate::check::scope::{Symbol, SymbolKind};
use crate::check::types::{Base, Optional, Pack, Tensor, Type};
use crate::diagnostics::{Diagnostic, closest, codes};
use crate::source::Span;
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

impl LoweringOp {
    /// The name as written in draft 6.
    pub(super) fn word(self) -> &'static str {
        match self {
            LoweringOp::Assign => "=",
            LoweringOp::Replace => ":=",
            LoweringOp::Sum => "+=",
            LoweringOp::Product => "*=",
            LoweringOp::All => "&=",
            LoweringOp::Any => "|=",
            LoweringOp::Min => "<=",
            LoweringOp::Max => ">=",
        }
    }
}

pub(super) fn check_formulas(checker: &mut Checker) {
    let definition = checker.definition;
    if !definition.has_block(BlockKind::Lower) {
        return;
    }
    checker.where_now = "in `@lower`";
    checker.context = Context::Formula;
    // Local tensors are visible here only.
    checker.scope.enter();
    // The Khronos edition has no local tensors.
    let mut locals = if checker.khronos { BTreeSet::new() } else { definition.local_tensors() };
    locals.retain(|name| checker.scope.lookup(name).is_none());
    checker.written = written(definition, &locals);
    let mut position = 0;
    for group in definition.recurrences() {
        let next = position + group.len();
        checker.formulas = Some(position..next);
        group.iter().for_each(|lowering| check_formula(checker, lowering, &locals));
        position = next;
    }
    checker.formulas = None;
    checker.context = Context::CompileTime;
    check_formulas_of_outputs(checker, definition);
    for name in locals {
        check_sequence(checker, name, &checker.formulas_of(name));
    }
    checker.scope.leave();
}

/// One formula: `unroll..(k -> n) locals, target op value, bounds | condition`.
fn check_formula(checker: &mut Checker, lowering: &Lowering, locals: &BTreeSet<&str>) {
    checker.scope.enter();
    if let Some(unroll) = &lowering.unroll {
        if let Some(count) = &unroll.count {
            checker.require_int(count, "the count of `unroll`");
        }
        if let Some(index) = &unroll.index {
            declare_local(checker, index, SymbolKind::Index, Type::scalar(Base::Int));
        }
    }
    for (bound, left) in lowering.bounds.iter().zip((0..lowering.bounds.len()).rev()) {
        check_bound(checker, bound, left == 0 && lowering.condition.is_none());
    }
    for (name, value) in &lowering.locals {
        checker.in_intermediate = true;
        let ty = checker.value(value);
        checker.in_intermediate = false;
        check_new_in_formula(checker, name, SymbolKind::FormulaLocal);
        declare_local(checker, name, SymbolKind::FormulaLocal, ty);
    }
    let defined = begins_local_tensor(checker, lowering, locals).then(|| defined_tensor(checker, lowering));
    let mut target = match &defined {
        Some(defined) => defined.clone(),
        None => check_target(checker, lowering),
    };
    let value = checker.value(&lowering.value);
    if let Some(target) = &mut target {
        if defined.is_some() {
            checker.record_type(&lowering.value, &value);
            target.base = value.base.clone();
        }
        check_value(checker, lowering, target, &value);
    }
    if let Some(condition) = &lowering.condition {
        let ty = checker.value(condition);
        if !ty.base.agrees(&Base::Bool) {
            let message = format!("the condition of a formula must be a bool, but this is {}", ty.base);
            let help = "compare it, as in `x[i,] > 0.0`";
            let diagnostic = Diagnostic::error(&codes::FORMULA_CONDITION, condition.span, message);
            checker.sink.report(diagnostic.with_label(ty.to_string()).with_help(help));
        }
    }
    checker.scope.leave();
    if let Some(defined) = defined {
        let ty = defined.map_or(Type::unknown(), |defined| defined.with_base(value.base));
        declare_local(checker, &lowering.target.name, SymbolKind::LocalTensor, ty);
    }
    for bound in &lowering.bounds {
        let name = &bound.name;
        checker.ended.insert(name.name.clone(), (name.span, "formula"));
    }
}

/// An index and its bound, `i < n`. `is_last`: whether the formula ends with it.
fn check_bound(checker: &mut Checker, bound: &LoopBound, is_last: bool) {
    if let ExprKind::Binary { op: BinaryOp::And, left, right } = &bound.bound.kind {
        let (extent, condition) = (checker.text(left.span), checker.text(right.span));
        let name = &bound.name.name;
        let message = format!("the bound of the index `{name}` is a condition, and must be an int");
        let help = format!("a condition is written after all bounds: `{name} < {extent} | {condition}`");
        let diagnostic = Diagnostic::error(&codes::FORMULA_CONDITION, bound.bound.span, message);
        let sign = Span { end: right.span.start, ..left.span.after() };
        checker.sink.report(if is_last {
            diagnostic.with_fix(help, sign, " | ")
        } else {
            diagnostic.with_help(help)
        });
        declare_local(checker, &bound.name, SymbolKind::Index, Type::scalar(Base::Int));
        return;
    }
    let ty = checker.value(&bound.bound);
    if !ty.base.agrees(&Base::Int) {
        let message =
            format!("the bound of the index `{}` must be an int, but this is {}", bound.name.name, ty.base);
        let diagnostic = Diagnostic::error(&codes::EXTENT_TYPE, bound.bound.span, message);
        checker.sink.report(diagnostic.with_label(ty.to_string()));
    }
    check_new_in_formula(checker, &bound.name, SymbolKind::Index);
    // An index over an extent that may be absent covers no dimension if the extent is absent.
    let optional = match ty.optional {
        Optional::No => Optional::No,
        _ => Optional::Maybe,
    };
    let ty = ty.with_base(Base::Int).with_optional(optional);
    declare_local(checker, &bound.name, SymbolKind::Index, ty);
}

/// Checks that indices and intermediates of one formula have different names.
fn check_new_in_formula(checker: &mut Checker, name: &crate::ast::Ident, kind: SymbolKind) {
    let Some(first) = checker.scope.lookup_here(&name.name) else {
        return;
    };
    let text = match (first.kind, kind) {
        (SymbolKind::Index, SymbolKind::Index) => {
            format!("the index `{}` has two bounds", name.name)
        }
        (SymbolKind::Index, _) => {
            format!("`{}` is an intermediate and an index of the formula", name.name)
        }
        _ => format!("the formula has two intermediates `{}`", name.name),
    };
    let first = first.span;
    checker.sink.report(
        Diagnostic::error(&codes::DUPLICATE_INDEX, name.span, text).with_label_at(first, "the first one"),
    );
}

fn declare_local(checker: &mut Checker, name: &crate::ast::Ident, kind: SymbolKind, ty: Type) {
    checker.scope.declare(&name.name, Symbol { kind, ty, span: name.span });
}

/// Checks the left side, an access of an output. Returns its type as a value; `None` after errors.
fn check_target(checker: &mut Checker, lowering: &Lowering) -> Option<Type> {
    let target = &lowering.target;
    let name = &target.name;
    let is_assigned = checker.written.contains_key(name.name.as_str());
    if !is_assigned || checker.scope.lookup(&name.name).is_none() {
        report_target(checker, target);
        checker.indices(&target.subscripts);
        return None;
    }
    let symbol = checker.scope.lookup(&name.name)?.clone();
    let mut ty = symbol.ty;
    if let Some(item) = &target.item {
        let index = checker.value(item);
        if !index.base.agrees(&Base::Int) {
            let message = format!("a pack is indexed by an int, but this is {index}");
            checker.sink.report(
                Diagnostic::error(&codes::INDEX_TYPE, item.span, message).with_label(index.to_string()),
            );
        }
        if ty.is_single() {
            let message = format!("`{}` is a single tensor, so it has no items to select", name.name);
            checker.sink.report(
                Diagnostic::error(&codes::NOT_A_PACK, item.span, message)
                    .with_label(ty.to_string())
                    .with_label_at(symbol.span, "declared here"),
            );
        }
        ty = match index.pack {
            Pack::Packed(length) => Type { pack: Pack::Packed(length), ..ty },
            _ => ty.item(),
        };
    }
    let indices = checker.indices(&target.subscripts);
    if let Tensor::Ranked(rank) = &ty.tensor {
        let text = match &target.item {
            Some(item) => format!("{}[{}]", name.name, checker.text(item.span)),
            None => name.name.clone(),
        };
        let accumulates = !matches!(lowering.op, LoweringOp::Assign | LoweringOp::Replace);
        let help = match (rank.constant(), indices.count.constant()) {
            (Some(rank), Some(count)) if accumulates && count > rank => {
                "an index that is reduced, as `j` in `y[i,] += x[i,j], i < n, j < m`, occurs on the right side only"
            }
            _ => INDEX_PER_DIMENSION,
        };
        let access = Access { span: target.span, name: &text, trailing_comma: target.trailing_comma };
        checker.check_rank(&access, rank, &indices, &target.subscripts, help);
    }
    if indices.repeated.is_some() {
        ty.pack = Pack::Unknown;
    }
    ty.tensor = Tensor::No;
    Some(ty)
}

fn report_target(checker: &mut Checker, target: &AccessTarget) {
    let name = &target.name;
    let outputs: Vec<&str> = checker.definition.outputs.iter().map(|o| o.name.name.as_str()).collect();
    let known = checker.scope.lookup(&name.name).map(|s| (s.kind, s.span));
    let mut diagnostic = match known {
        Some((kind, span)) => Diagnostic::error(
            &codes::FORMULA_TARGET,
            name.span,
            format!("`{}` is {}; a formula assigns an output", name.name, kind.describe()),
        )
        .with_label_at(span, "declared here"),
        None => {
            if !checker.first_report_of(name) {
                return;
            }
            Diagnostic::error(
                &codes::FORMULA_TARGET,
                name.span,
                format!("`{}` is not an output of `{}`", name.name, checker.definition.name.name),
            )
        }
    };
    diagnostic = match closest(&name.name, outputs.iter().copied()) {
        Some(near) => diagnostic.with_meant(near),
        None if outputs.is_empty() => diagnostic.with_help("declare it in `@output`"),
        None if checker.khronos && checker.definition.local_tensors().contains(name.name.as_str()) => {
            let help = "local tensors require the edition draft6";
            match checker.env.program.khronos_syntax(checker.module) {
                Some((span, syntax)) => {
                    diagnostic.with_label_at(*span, "selects the edition khronos").with_help(format!(
                        "{help}: pass `--edition=draft6`, or write the module without `{syntax}`"
                    ))
                }
                None => diagnostic.with_help(format!("{help}; declare it in `@output`")),
            }
        }
        None => diagnostic.with_help(format!(
            "the outputs are {}; a local tensor has a new name, and another formula reads it",
            outputs.join(", ")
        )),
    };
    checker.sink.report(diagnostic);
}

/// Checks the value: it has the output's type, is not null, and is a pack only if a pack is assigned.
fn check_value(checker: &mut Checker, lowering: &Lowering, target: &Type, value: &Type) {
    let name = &lowering.target.name.name;
    let op = lowering.op;
    let needs = match op {
        LoweringOp::All | LoweringOp::Any => Some("bool"),
        LoweringOp::Sum | LoweringOp::Product | LoweringOp::Min | LoweringOp::Max => Some("int or real"),
        LoweringOp::Assign | LoweringOp::Replace => None,
    };
    let fits = match op {
        LoweringOp::All | LoweringOp::Any => target.base.agrees(&Base::Bool),
        LoweringOp::Assign | LoweringOp::Replace => true,
        _ => target.base.is_numeric(),
    };
    if let (Some(needs), false) = (needs, fits) {
        let message = format!("`{}` accumulates {needs}, but `{name}` is {}", op.word(), target.base);
        let diagnostic = Diagnostic::error(&codes::ACCUMULATION_TYPE, lowering.op_span, message);
        checker.sink.report(diagnostic.with_label(format!("needs {needs}")));
        return;
    }
    if !value.base.agrees(&target.base) {
        let text = checker.text(lowering.value.span);
        let mut diagnostic = Diagnostic::error(
            &codes::FORMULA_TYPE,
            lowering.value.span,
            format!("`{name}` is {}, but its value is {}", target.base, value.base),
        )
        .with_label(value.base.to_string())
        .with_label_at(lowering.target.span, target.base.to_string());
        if target.base != Base::Str && value.base != Base::Str {
            let literal = matches!(lowering.value.kind, ExprKind::Int(_));
            diagnostic = if literal && target.base == Base::Real {
                diagnostic.with_fix(format!("write `{text}.0`"), lowering.value.span, format!("{text}.0"))
            } else {
                checker.converted(diagnostic, &target.base.to_string(), lowering.value.span)
            };
        }
        checker.sink.report(diagnostic);
        return;
    }
    if value.optional.is_optional() {
        let given = given_for_null(checker, &lowering.value, &target.base);
        let message = format!("the value of `{name}` may be null");
        let help = format!("write a value for null, as in `{given}`");
        let diagnostic = Diagnostic::error(&codes::FORMULA_OPTIONAL, lowering.value.span, message);
        checker.sink.report(diagnostic.with_label(format!("of type {value}")).with_help(help));
    }
    match (&target.pack, &value.pack) {
        (Pack::Single, Pack::Packed(_)) => checker.sink.report(
            Diagnostic::error(
                &codes::FORMULA_TYPE,
                lowering.value.span,
                format!("`{name}` needs one value per element, but this is a pack"),
            )
            .with_label(value.to_string())
            .with_label_at(lowering.target.span, "a single tensor")
            .with_help("select an item, `p[k]`, or fold the pack, `p + ..`"),
        ),
        (Pack::Packed(a), Pack::Packed(b)) if a.differs(b) => {
            let message = format!(
                "`{name}` is a pack of {} tensors, but its value has {} items",
                a.described(),
                b.described()
            );
            checker.sink.report(
                Diagnostic::error(&codes::LENGTHS_DIFFER, lowering.value.span, message)
                    .with_label(format!("length {}", b.described()))
                    .with_label_at(lowering.target.span, format!("length {}", a.described())),
            );
        }
        _ => {}
    }
}

/// Checks that every output has a formula: one `=`, one accumulation, or both in this order.
fn check_formulas_of_outputs(checker: &mut Checker, definition: &Definition) {
    let composed = definition.has_block(BlockKind::Compose);
    // A formula for another tensor may have been meant for any output.
    let mistaken = |l: &Lowering| !checker.written.contains_key(l.target.name.name.as_str());
    let mistaken = definition.lowers.iter().any(mistaken);
    for output in &definition.outputs {
        let name = &output.name.name;
        if definition.may_have_lost(name) {
            continue;
        }
        let formulas = checker.formulas_of(name);
        if formulas.is_empty() {
            if !composed && !mistaken && !output.type_spec.optional {
                let message = format!("the output `{name}` has no formula");
                checker.sink.report(
                    Diagnostic::error(&codes::OUTPUT_WITHOUT_FORMULA, output.name.span, message)
                        .with_label("never assigned in `@lower`")
                        .with_help(format!("add `{name}[…] = …;`, or remove the output")),
                );
            }
            continue;
        }
        for group in group_by_item(&formulas) {
            check_sequence(checker, name, &group);
        }
    }
}

/// Checks the order of the formulas of one tensor.
fn check_sequence(checker: &mut Checker, name: &str, formulas: &[&Lowering]) {
    let (Some(first), second) = (formulas.first(), formulas.get(1)) else {
        return;
    };
    if let Some(third) = formulas.get(2) {
        let message = format!("`{name}` has {} formulas", formulas.len());
        let help = "an output has at most two: one with `=`, then one that accumulates; write the others to other \
             outputs, which later formulas can read";
        let diagnostic = Diagnostic::error(&codes::FORMULA_SEQUENCE, third.target.span, message);
        checker.sink.report(diagnostic.with_label_at(first.target.span, "the first one").with_help(help));
        return;
    }
    let assigns = |l: &Lowering| l.op == LoweringOp::Assign;
    if let Some(second) = second {
        let problem = match (assigns(first), assigns(second)) {
            (true, true) => Some((
                format!("`{name}` is initialized twice"),
                "select the value in one formula, `c ? a : b`, or replace elements by a second formula with `:=`",
            )),
            (false, true) => Some((
                format!("the initialization of `{name}` comes after its accumulation"),
                "an output has at most two formulas: first one with `=`, then one that accumulates",
            )),
            (false, false) => Some((
                format!("`{name}` is accumulated twice"),
                "an output has one accumulation: write the other one to another output, which later \
                 formulas can read",
            )),
            (true, false) => None,
        };
        if let Some((problem, help)) = problem {
            checker.sink.report(
                Diagnostic::error(&codes::FORMULA_SEQUENCE, second.target.span, problem)
                    .with_label(format!("`{}`", second.op.word()))
                    .with_label_at(first.target.span, format!("`{}`", first.op.word()))
                    .with_help(help),
            );
            return;
        }
    }
    if first.op == LoweringOp::Replace {
        report_no_start(checker, name, first.op_span);
    }
}

fn report_no_start(checker: &mut Checker, name: &str, span: Span) {
    let message = format!("`:=` replaces elements of `{name}`, but nothing initializes it");
    let diagnostic = Diagnostic::error(&codes::REPLACE_WITHOUT_START, span, message);
    checker.sink.report(diagnostic.with_help(format!("add a formula before: `{name}[…] = …;`")));
}

/// The formulas of an output or a local tensor.
pub(super) struct Written<'a> {
    /// In order, with their positions among all formulas.
    formulas: Vec<(usize, &'a Lowering)>,
    is_pack: bool,
}

/// The formulas of each output and each local tensor, by its name.
fn written<'a>(definition: &'a Definition, locals: &BTreeSet<&'a str>) -> FxHashMap<&'a str, Written<'a>> {
    let outputs = definition.outputs.iter().map(|o| (o.name.name.as_str(), o.type_spec.pack.is_some()));
    let tensors = outputs.chain(locals.iter().map(|name| (*name, false)));
    let mut written: FxHashMap<&str, Written> =
        tensors.map(|(name, is_pack)| (name, Written { formulas: Vec::new(), is_pack })).collect();
    for (position, lowering) in definition.lowers.iter().enumerate() {
        if let Some(written) = written.get_mut(lowering.target.name.name.as_str()) {
            written.formulas.push((position, lowering));
        }
    }
    written
}

impl<'a> Checker<'a> {
    /// The formulas of an output or a local tensor, in order.
    fn formulas_of(&self, name: &str) -> Vec<&'a Lowering> {
        let written = self.written.get(name).into_iter();
        written.flat_map(|written| &written.formulas).map(|(_, formula)| *formula).collect()
    }

    /// The next formula of a tensor that is not complete before the current formulas, unless one of them computes it. For a pack,
    /// whose items have separate formulas, one earlier formula is enough.
    pub(super) fn unfinished(&self, name: &str) -> Option<Span> {
        let current = self.formulas.as_ref()?;
        let Written { formulas, is_pack } = self.written.get(name)?;
        let before = formulas.partition_point(|(position, _)| *position < current.start);
        let (position, next) = formulas.get(before)?;
        let is_begun = *is_pack && before > 0;
        (!current.contains(position) && !is_begun).then_some(next.target.span)
    }
}

/// Groups formulas by the tensor that they assign. Items of a pack with literal indices are separate tensors; formulas
/// for items with other constant indices are omitted.
fn group_by_item<'l>(formulas: &[&'l Lowering]) -> Vec<Vec<&'l Lowering>> {
    let mut groups: IndexMap<Option<i64>, Vec<&Lowering>> = IndexMap::new();
    for formula in formulas {
        let key = match &formula.target.item {
            None => Some(None),
            Some(item) => match Length::from_expr(item).constant() {
                Some(n) => Some(Some(n)),
                // The whole pack, if its index is free.
                None if item.names().iter().any(|n| ranges_over(formula, &n.name)) => Some(None),
                None => None,
            },
        };
        let Some(key) = key else { continue };
        groups.entry(key).or_default().push(formula);
    }
    groups.into_values().collect()
}

/// Whether a name is an index of the formula, or of its `unroll`.
fn ranges_over(formula: &Lowering, name: &str) -> bool {
    let unrolled = formula.unroll.as_ref().and_then(|u| u.index.as_ref());
    unrolled.is_some_and(|i| i.name == name) || formula.bounds.iter().any(|b| b.name.name == name)
}

/// The suggestion for a value that may be null: `??` with a default, and parentheses where the operand needs them.
fn given_for_null(checker: &Checker, value: &Expr, base: &Base) -> String {
    let text = checker.text(value.span);
    let default = default_text(base);
    match &value.kind {
        ExprKind::Select { otherwise: None, .. } if !text.starts_with('(') => {
            format!("{text} : {default}")
        }
        ExprKind::Select { .. } if text.starts_with('(') && text.ends_with(')') => {
            format!("{text} ?? {default}")
        }
        ExprKind::Name(_) | ExprKind::Index { .. } => format!("{text} ?? {default}"),
        _ => format!("({text}) ?? {default}"),
    }
}

/// The default value of a type, as text.
fn default_text(base: &Base) -> String {
    match base {
        Base::Int => "0".into(),
        Base::Real => "0.0".into(),
        Base::Bool => "false".into(),
        Base::Str => "\"\"".into(),
        Base::Generic(g) => format!("{}()", g.name),
        Base::Unknown => "…".into(),
    }
}
