// SPDX-License-Identifier: Apache-2.0
//! Branches and loops (2.10.1).

use crate::ast::{Branching, ComponentValue, Expr, ExprKind, IterationCount, Loop};
use crate::check::blocks::report_duplicate;
use crate::check::checker::Checker;
use crate::check::composition::{Results, component_value, yielded};
use crate::check::declarations::converts;
use crate::check::expressions::null_tests;
use crate::check::lengths::Length;
use crate::check::scope::{Symbol, SymbolKind};
use crate::check::types::{Base, Optional, Pack, Tensor, Type};
use crate::diagnostics::{Diagnostic, codes};

/// `if C then A elif D then B else E`.
pub(super) fn check_branching(checker: &mut Checker, branching: &Branching) -> Results {
    let mut results: Results = None;
    let mut first: Option<&ComponentValue> = None;
    let mut dynamic = false;
    let mut opened = 0usize;
    for (condition, then) in &branching.arms {
        dynamic |= check_condition(checker, condition, &codes::BRANCH_CONDITION);
        let (tested, refuted) = match condition {
            ComponentValue::Expr(expr) => null_tests(expr),
            _ => (Vec::new(), Vec::new()),
        };
        checker.scope.enter_promoted(&tested, Optional::No);
        let types = arm(checker, then);
        checker.scope.leave();
        join_branch(checker, &mut results, &mut first, then, types, dynamic);
        // In the following arms, the test has failed. A scope without names would only slow down their checks.
        if !refuted.is_empty() {
            checker.scope.enter_promoted(&refuted, Optional::Null);
            opened += 1;
        }
    }
    let types = arm(checker, &branching.otherwise);
    join_branch(checker, &mut results, &mut first, &branching.otherwise, types, dynamic);
    for _ in 0..opened {
        checker.scope.leave();
    }
    results
}

/// Checks a branch or the body of a loop. A single expression is yielded, so it must not be null.
fn arm(checker: &mut Checker, value: &ComponentValue) -> Results {
    match value {
        ComponentValue::Expr(expr) => Some(vec![yielded(checker, expr)]),
        _ => component_value(checker, value),
    }
}

/// Checks that a condition is one bool, at compile time or as a tensor of one element; returns whether it is a
/// tensor.
fn check_condition(
    checker: &mut Checker,
    condition: &ComponentValue,
    code: &'static crate::diagnostics::Code,
) -> bool {
    let Some(results) = component_value(checker, condition) else {
        return true;
    };
    let span = condition.span();
    let (Some(ty), true) = (results.first(), results.len() == 1) else {
        let message = format!("a condition must have one result, but this has {}", results.len());
        let diagnostic = Diagnostic::error(code, span, message);
        checker.sink.report(diagnostic.with_help("select one in a block: `{ c, ~ = …; yield c; }`"));
        return true;
    };
    if !ty.base.agrees(&Base::Bool) || ty.is_packed() {
        let message = format!("a condition must be a single bool, but this is {ty}");
        let help = "compare it; for tensors, with an operator that returns a bool tensor";
        let diagnostic = Diagnostic::error(code, span, message).with_label(ty.to_string());
        checker.sink.report(diagnostic.with_help(help));
    }
    ty.is_tensor()
}

/// Checks that all branches have the same number of results, with the same types.
fn join_branch<'v>(
    checker: &mut Checker,
    results: &mut Results,
    first: &mut Option<&'v ComponentValue>,
    value: &'v ComponentValue,
    types: Results,
    dynamic: bool,
) {
    let Some(types) = types else { return };
    let (Some(known), Some(first_value)) = (results.as_mut(), *first) else {
        *results = Some(types);
        *first = Some(value);
        return;
    };
    let (here, there) = (value.span(), first_value.span());
    if known.len() != types.len() {
        let message =
            format!("branches must have as many results, but they have {} and {}", known.len(), types.len());
        checker.sink.report(
            Diagnostic::error(&codes::BRANCHES_DIFFER, here, message)
                .with_label(format!("{} here", types.len()))
                .with_label_at(there, format!("{} here", known.len())),
        );
        *results = None;
        return;
    }
    for (i, (a, b)) in known.iter_mut().zip(&types).enumerate() {
        let kind = (a.is_packed() && b.is_single()) || (a.is_single() && b.is_packed());
        let number = |t: &Type| !t.is_tensor() && t.base == Base::Int;
        let literal = (number(a) && b.base == Base::Real) || (number(b) && a.base == Base::Real);
        if dynamic && (kind || !(a.base.agrees(&b.base) || literal)) {
            let message =
                format!("branches must have results of the same type, but result {} is {a} and {b}", i + 1);
            let diagnostic = Diagnostic::error(&codes::BRANCHES_DIFFER, here, message);
            checker.sink.report(diagnostic.with_label(b.to_string()).with_label_at(there, a.to_string()));
            *a = Type::unknown();
            continue;
        }
        if a.base != b.base || kind {
            a.base = Base::Unknown;
        }
        if a.pack != b.pack {
            a.pack =
                if a.is_packed() && b.is_packed() { Pack::Packed(Length::unknown()) } else { Pack::Unknown };
        }
        a.tensor = super::expressions::join_tensor(a, b);
        a.optional = match (a.optional, b.optional) {
            (Optional::No, Optional::No) => Optional::No,
            (x, y) if x == y => x,
            // The branch that a failed test makes null may be taken.
            (Optional::Null, _) | (_, Optional::Null) => Optional::Null,
            _ => Optional::Maybe,
        };
    }
}

/// `with … for … while … do body`.
pub(super) fn check_looping(checker: &mut Checker, l: &Loop) -> Results {
    let mut carried: Vec<Type> = Vec::new();
    for variable in &l.carried {
        carried.push(carried_type(checker, variable));
    }
    let mut scans: Vec<(&Expr, Type)> = Vec::new();
    for scan in &l.scans {
        let ty = checker.entity(&scan.pack);
        if ty.is_single() {
            checker.report_not_a_pack(&scan.pack, &ty, "a `for` loop iterates over a pack");
        }
        scans.push((&scan.pack, ty));
    }
    let lengths: Vec<(&Expr, &Type)> = scans.iter().map(|(e, t)| (*e, t)).collect();
    let steps = checker.combine_packs(&lengths, true);
    let count = l.count.as_ref();
    let counted = count.and_then(|c| c.count.as_ref());
    let count_length = counted.map(|c| iteration_count(checker, c, l.unroll));
    check_loop_ends(checker, l, count);

    checker.scope.enter();
    for (variable, ty) in l.carried.iter().zip(&carried) {
        declare_loop_local(checker, &variable.name, ty.clone());
    }
    for (scan, (_, ty)) in l.scans.iter().zip(&scans) {
        let item = if ty.is_packed() { ty.item() } else { Type::unknown() };
        declare_loop_local(checker, &scan.item, item);
    }
    if let Some(index) = count.and_then(|c| c.index.as_ref()) {
        let mut ty = Type::tensor(Base::Int, Length::number(0));
        if l.unroll {
            // Every copy of the body has a separate number.
            ty.tensor = Tensor::Unknown;
        }
        declare_loop_local(checker, index, ty);
    }
    if let Some(before) = &l.before {
        check_condition(checker, before, &codes::LOOP_CONDITION);
    }
    let errors = checker.sink.error_count();
    let body = arm(checker, &l.body);
    let is_faulty = checker.sink.error_count() > errors;
    if let Some(after) = &l.after {
        check_condition(checker, after, &codes::LOOP_CONDITION);
    }
    checker.scope.leave();
    let names = l.carried.iter().map(|c| &c.name);
    let names = names.chain(l.scans.iter().map(|s| &s.item));
    for name in names.chain(count.and_then(|c| c.index.as_ref())) {
        checker.ended.insert(name.name.clone(), (name.span, "loop"));
    }
    if scans.iter().any(|(_, ty)| ty.is_single()) {
        // The statement was probably not meant as a loop.
        return None;
    }
    let length = match (count_length, steps.0) {
        (Some(length), _) => length,
        (None, Pack::Packed(length)) => length,
        _ => Length::unknown(),
    };
    if is_faulty {
        // Errors in the body may make the types of its results wrong as well.
        for ty in &mut carried {
            ty.base = Base::Unknown;
        }
    }
    loop_results(checker, l, &carried, body, length)
}

fn carried_type(checker: &mut Checker, variable: &crate::ast::Carried) -> Type {
    let init = checker.entity(&variable.init);
    let as_tensor = |ty: Type| Type {
        tensor: match ty.tensor {
            Tensor::No => Tensor::Ranked(Length::number(0)),
            known => known,
        },
        ..ty
    };
    let Some(spec) = &variable.type_spec else {
        return as_tensor(init);
    };
    checker.check_type_spec(spec);
    let declared = checker.quietly(|c| c.tensor_type_of(spec, &format!("|{}|", variable.name.name)));
    let fits =
        if init.is_tensor() { init.base.agrees(&declared.base) } else { converts(&init, &declared.base) };
    if !fits {
        let message = format!(
            "the loop variable `{}` is declared as {}, but its initial value is {}",
            variable.name.name, declared.base, init.base
        );
        checker.sink.report(
            Diagnostic::error(&codes::CARRIED_TYPE, variable.init.span, message)
                .with_label(init.to_string())
                .with_label_at(spec.span, declared.to_string()),
        );
        return declared.with_base(Base::Unknown);
    }
    let (packed, single) = ("a pack", "a single tensor");
    let kinds = if declared.is_single() && init.is_packed() {
        Some((single, packed))
    } else if declared.is_packed() && init.is_single() && init.is_tensor() {
        Some((packed, single))
    } else {
        None
    };
    if let Some((written, given)) = kinds {
        let name = &variable.name.name;
        let message =
            format!("the loop variable `{name}` is declared as {written}, but its initial value is {given}");
        checker.sink.report(
            Diagnostic::error(&codes::CARRIED_TYPE, variable.init.span, message)
                .with_label(init.to_string())
                .with_label_at(spec.span, declared.to_string()),
        );
    }
    declared
}

fn declare_loop_local(checker: &mut Checker, name: &crate::ast::Ident, ty: Type) {
    if let Some(first) = checker.scope.lookup_here(&name.name).map(|s| s.span) {
        report_duplicate(checker, name, "a name of the loop", first, "a name of the loop");
    }
    checker.scope.declare(&name.name, Symbol { kind: SymbolKind::LoopLocal, ty, span: name.span });
}

/// Checks the count: one int, at compile time or as a tensor of rank 0.
fn iteration_count(checker: &mut Checker, count: &Expr, unroll: bool) -> Length {
    let ty = checker.entity(count);
    let ranked = match &ty.tensor {
        Tensor::Ranked(rank) => rank.constant().is_some_and(|r| r > 0),
        _ => false,
    };
    if !ty.base.agrees(&Base::Int) || ty.is_packed() || ranked {
        let message = format!("the count of a loop must be a single int, but this is {ty}");
        checker
            .sink
            .report(Diagnostic::error(&codes::LOOP_COUNT, count.span, message).with_label(ty.to_string()));
    } else if unroll && ty.is_tensor() {
        let text = checker.text(count.span);
        let message =
            format!("`unroll` needs a count that is known at compile time, but `{text}` is a tensor");
        let help = "write `do` instead of `unroll`";
        let diagnostic = Diagnostic::error(&codes::UNROLL, count.span, message);
        checker.sink.report(diagnostic.with_label(ty.to_string()).with_help(help));
    }
    if ty.is_tensor() { Length::unknown() } else { checker.length_of(count) }
}

/// Checks that a loop ends: by a condition, a pack or a count. Unrolled loops have no condition.
fn check_loop_ends(checker: &mut Checker, l: &Loop, count: Option<&IterationCount>) {
    let condition = l.before.as_ref().or(l.after.as_ref());
    let counted = count.is_some_and(|c| c.count.is_some());
    if condition.is_none() && l.scans.is_empty() && !counted {
        let message = "a loop needs a count, a `for` clause or a `while` condition";
        let diagnostic = Diagnostic::error(&codes::ENDLESS_LOOP, l.span, message);
        checker.sink.report(diagnostic.with_help("write how often it runs, as in `do..(10) …`"));
    }
    if let (true, Some(condition)) = (l.unroll, condition) {
        let message = "a loop with a condition cannot be unrolled";
        let help = "write `do` instead of `unroll`, or drop the condition";
        let diagnostic = Diagnostic::error(&codes::UNROLL, condition.span(), message);
        checker.sink.report(diagnostic.with_label("decided at run time").with_help(help));
    }
}

/// The first results update the loop-carried variables; further results are collected in packs.
fn loop_results(checker: &mut Checker, l: &Loop, carried: &[Type], body: Results, length: Length) -> Results {
    let body = body?;
    if body.len() < carried.len() {
        let message = format!(
            "the loop carries {} variables, but its body has {} {}",
            carried.len(),
            body.len(),
            if body.len() == 1 { "result" } else { "results" }
        );
        checker.sink.report(Diagnostic::error(&codes::CARRIED_COUNT, l.body.span(), message).with_help(
            "the first results of the body are the new values of the variables of `with`, in order",
        ));
        return None;
    }
    let mut results = Vec::new();
    for (i, ty) in body.into_iter().enumerate() {
        let Some(variable) = carried.get(i) else {
            results.push(match ty.pack {
                Pack::Single => {
                    let tensor = match ty.tensor {
                        Tensor::No => Tensor::Ranked(Length::number(0)),
                        known => known,
                    };
                    Type { pack: Pack::Packed(length.clone()), tensor, ..ty }
                }
                _ => Type::unknown(),
            });
            continue;
        };
        let scalar_int = ty.base == Base::Int && !ty.is_tensor();
        let fits = ty.base.agrees(&variable.base) || (scalar_int && variable.base == Base::Real);
        let kind = (ty.is_packed() && variable.is_single()) || (ty.is_single() && variable.is_packed());
        if !fits || kind {
            let name = l.carried.get(i).map_or("", |c| c.name.name.as_str());
            let span = match &l.body {
                ComponentValue::Block(block) => block.yields.get(i).map_or_else(|| l.body.span(), |y| y.span),
                other => other.span(),
            };
            let mut diagnostic = Diagnostic::error(
                &codes::CARRIED_TYPE,
                span,
                format!("the loop variable `{name}` is {variable}, but its new value is {ty}"),
            )
            .with_label(ty.to_string())
            .with_help("a carried variable keeps its type from step to step");
            if let Some(c) = l.carried.get(i) {
                diagnostic = diagnostic.with_label_at(c.span, format!("starts as {variable}"));
                if matches!(c.init.kind, ExprKind::Int(_)) && ty.base == Base::Real {
                    let text = checker.text(c.init.span);
                    let help = format!("start it as a real: `{text}.0`");
                    diagnostic = diagnostic.with_fix(help, c.init.span, format!("{text}.0"));
                }
            }
            checker.sink.report(diagnostic);
        }
        let mut ty = variable.clone();
        if let Tensor::Ranked(_) = ty.tensor {
            ty.tensor = Tensor::Ranked(Length::unknown());
        }
        results.push(ty);
    }
    Some(results)
}
