// SPDX-License-Identifier: Apache-2.0
//! Branches and loops (2.10.1).

use crate::ast::{Branching, ComponentValue, Expr, ExprKind, IterationCount, Loop};
use crate::diagnostics::{Diagnostic, codes};

use super::composition::{Results, value_span};
use super::declarations::converts;
use super::definition::Checker;
use super::expressions::null_tests;
use super::lengths::Length;
use super::scope::{Symbol, SymbolKind};
use super::types::{Base, Optional, Pack, Tensor, Type};

impl Checker<'_> {
    /// `if C then A elif D then B else E`.
    pub(super) fn branching(&mut self, branching: &Branching) -> Results {
        let mut results: Results = None;
        let mut first: Option<&ComponentValue> = None;
        let mut dynamic = false;
        let mut opened = 0usize;
        for (condition, then) in &branching.arms {
            dynamic |= self.condition(condition, &codes::BRANCH_CONDITION);
            let (tested, refuted) = match condition {
                ComponentValue::Expr(expr) => null_tests(expr),
                _ => (Vec::new(), Vec::new()),
            };
            self.scope.enter_promoted(&tested, Optional::No);
            let own = self.arm(then);
            self.scope.leave();
            self.join_branch(&mut results, &mut first, then, own, dynamic);
            // what follows knows that the test failed
            self.scope.enter_promoted(&refuted, Optional::Null);
            opened += 1;
        }
        let own = self.arm(&branching.otherwise);
        self.join_branch(&mut results, &mut first, &branching.otherwise, own, dynamic);
        for _ in 0..opened {
            self.scope.leave();
        }
        results
    }

    /// A branch or a loop's body: a tensor alone is yielded, so it must not be null.
    fn arm(&mut self, value: &ComponentValue) -> Results {
        match value {
            ComponentValue::Expr(expr) => Some(vec![self.yielded(expr)]),
            _ => self.component_value(value),
        }
    }

    /// Checks that a condition is one bool, at compile time or as a tensor of one element; returns whether it is a
    /// tensor.
    fn condition(&mut self, condition: &ComponentValue, code: &'static crate::diagnostics::Code) -> bool {
        let Some(results) = self.component_value(condition) else {
            return true;
        };
        let span = value_span(condition);
        let (Some(ty), true) = (results.first(), results.len() == 1) else {
            self.sink.report(
                Diagnostic::error(
                    code,
                    span,
                    format!("a condition must have one result, but this has {}", results.len()),
                )
                .with_help("select one in a block: `{ c, ~ = …; yield c; }`"),
            );
            return true;
        };
        if !ty.base.agrees(&Base::Bool) || ty.is_packed() {
            self.sink.report(
                Diagnostic::error(code, span, format!("a condition must be a single bool, but this is {ty}"))
                    .with_label(ty.to_string())
                    .with_help("compare it; for tensors, with an operator that returns a bool tensor"),
            );
        }
        ty.is_tensor()
    }

    /// Checks that all branches have the same number of results, with the same types.
    fn join_branch<'v>(
        &mut self,
        results: &mut Results,
        first: &mut Option<&'v ComponentValue>,
        value: &'v ComponentValue,
        own: Results,
        dynamic: bool,
    ) {
        let Some(own) = own else { return };
        let (Some(known), Some(first_value)) = (results.as_mut(), *first) else {
            *results = Some(own);
            *first = Some(value);
            return;
        };
        let (here, there) = (value_span(value), value_span(first_value));
        if known.len() != own.len() {
            self.sink.report(
                Diagnostic::error(
                    &codes::BRANCHES_DIFFER,
                    here,
                    format!(
                        "branches must have as many results, but they have {} and {}",
                        known.len(),
                        own.len()
                    ),
                )
                .with_label(format!("{} here", own.len()))
                .with_label_at(there, format!("{} here", known.len())),
            );
            *results = None;
            return;
        }
        for (i, (a, b)) in known.iter_mut().zip(&own).enumerate() {
            let kind = (a.is_packed() && b.is_single()) || (a.is_single() && b.is_packed());
            let number = |t: &Type| !t.is_tensor() && t.base == Base::Int;
            let literal = (number(a) && b.base == Base::Real) || (number(b) && a.base == Base::Real);
            if dynamic && (kind || !(a.base.agrees(&b.base) || literal)) {
                self.sink.report(
                    Diagnostic::error(
                        &codes::BRANCHES_DIFFER,
                        here,
                        format!(
                            "branches must have results of the same type, but result {} is {a} and {b}",
                            i + 1
                        ),
                    )
                    .with_label(b.to_string())
                    .with_label_at(there, a.to_string()),
                );
                *a = Type::unknown();
                continue;
            }
            if a.base != b.base || kind {
                a.base = Base::Unknown;
            }
            if a.pack != b.pack {
                a.pack = if a.is_packed() && b.is_packed() {
                    Pack::Packed(Length::unknown())
                } else {
                    Pack::Unknown
                };
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
    pub(super) fn looping(&mut self, l: &Loop) -> Results {
        let mut carried: Vec<Type> = Vec::new();
        for variable in &l.carried {
            carried.push(self.carried_type(variable));
        }
        let mut scans: Vec<(&Expr, Type)> = Vec::new();
        for scan in &l.scans {
            let ty = self.entity(&scan.pack);
            if ty.is_single() {
                self.report_not_a_pack(&scan.pack, &ty, "a `for` loop iterates over a pack");
            }
            scans.push((&scan.pack, ty));
        }
        let lengths: Vec<(&Expr, &Type)> = scans.iter().map(|(e, t)| (*e, t)).collect();
        let steps = self.combine_packs(&lengths, true);
        let count = l.count.as_ref();
        let counted = count.and_then(|c| c.count.as_ref());
        let count_length = counted.map(|c| self.iteration_count(c, l.unroll));
        self.check_loop_ends(l, count);

        self.scope.enter();
        for (variable, ty) in l.carried.iter().zip(&carried) {
            self.declare_loop_local(&variable.name, ty.clone());
        }
        for (scan, (_, ty)) in l.scans.iter().zip(&scans) {
            let item = if ty.is_packed() { ty.item() } else { Type::unknown() };
            self.declare_loop_local(&scan.item, item);
        }
        if let Some(index) = count.and_then(|c| c.index.as_ref()) {
            let mut ty = Type::tensor(Base::Int, Length::number(0));
            if l.unroll {
                // a separate number in every copy of the body
                ty.tensor = Tensor::Unknown;
            }
            self.declare_loop_local(index, ty);
        }
        if let Some(before) = &l.before {
            self.condition(before, &codes::LOOP_CONDITION);
        }
        let errors = self.sink.error_count();
        let body = self.arm(&l.body);
        let is_faulty = self.sink.error_count() > errors;
        if let Some(after) = &l.after {
            self.condition(after, &codes::LOOP_CONDITION);
        }
        self.scope.leave();
        let names = l.carried.iter().map(|c| &c.name);
        let names = names.chain(l.scans.iter().map(|s| &s.item));
        for name in names.chain(count.and_then(|c| c.index.as_ref())) {
            self.ended.insert(name.name.clone(), (name.span, "loop"));
        }
        if scans.iter().any(|(_, ty)| ty.is_single()) {
            // the statement was not meant as a loop
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
        self.loop_results(l, &carried, body, length)
    }

    fn carried_type(&mut self, variable: &crate::ast::Carried) -> Type {
        let init = self.entity(&variable.init);
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
        self.check_type_spec(spec);
        let declared = self.quietly(|c| c.tensor_type_of(spec, &format!("|{}|", variable.name.name)));
        let fits =
            if init.is_tensor() { init.base.agrees(&declared.base) } else { converts(&init, &declared.base) };
        if !fits {
            self.sink.report(
                Diagnostic::error(
                    &codes::CARRIED_TYPE,
                    variable.init.span,
                    format!(
                        "the loop variable `{}` is declared as {}, but its initial value is {}",
                        variable.name.name, declared.base, init.base
                    ),
                )
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
            let message = format!(
                "the loop variable `{name}` is declared as {written}, but its initial value is {given}"
            );
            self.sink.report(
                Diagnostic::error(&codes::CARRIED_TYPE, variable.init.span, message)
                    .with_label(init.to_string())
                    .with_label_at(spec.span, declared.to_string()),
            );
        }
        declared
    }

    fn declare_loop_local(&mut self, name: &crate::ast::Ident, ty: Type) {
        if let Some(first) = self.scope.lookup_here(&name.name).map(|s| s.span) {
            self.report_duplicate(name, "a name of the loop", first, "a name of the loop");
        }
        self.scope.declare(&name.name, Symbol { kind: SymbolKind::LoopLocal, ty, span: name.span });
    }

    /// Checks the count: one int, at compile time or as a tensor of rank 0.
    fn iteration_count(&mut self, count: &Expr, unroll: bool) -> Length {
        let ty = self.entity(count);
        let ranked = match &ty.tensor {
            Tensor::Ranked(rank) => rank.constant().is_some_and(|r| r > 0),
            _ => false,
        };
        if !ty.base.agrees(&Base::Int) || ty.is_packed() || ranked {
            self.sink.report(
                Diagnostic::error(
                    &codes::LOOP_COUNT,
                    count.span,
                    format!("the count of a loop must be a single int, but this is {ty}"),
                )
                .with_label(ty.to_string()),
            );
        } else if unroll && ty.is_tensor() {
            let text = self.text(count.span);
            self.sink.report(
                Diagnostic::error(
                    &codes::UNROLL,
                    count.span,
                    format!("`unroll` needs a count that is known at compile time, but `{text}` is a tensor"),
                )
                .with_label(ty.to_string())
                .with_help("write `do` instead of `unroll`"),
            );
        }
        if ty.is_tensor() { Length::unknown() } else { self.length_of(count) }
    }

    /// Checks that a loop ends: by a condition, a pack or a count. Unrolled ones have no condition.
    fn check_loop_ends(&mut self, l: &Loop, count: Option<&IterationCount>) {
        let condition = l.before.as_ref().or(l.after.as_ref());
        let counted = count.is_some_and(|c| c.count.is_some());
        if condition.is_none() && l.scans.is_empty() && !counted {
            self.sink.report(
                Diagnostic::error(
                    &codes::ENDLESS_LOOP,
                    l.span,
                    "a loop needs a count, a `for` clause or a `while` condition",
                )
                .with_help("write how often it runs, as in `do..(10) …`"),
            );
        }
        if let (true, Some(condition)) = (l.unroll, condition) {
            self.sink.report(
                Diagnostic::error(
                    &codes::UNROLL,
                    value_span(condition),
                    "a loop with a condition cannot be unrolled",
                )
                .with_label("decided at run time")
                .with_help("write `do` instead of `unroll`, or drop the condition"),
            );
        }
    }

    /// The first results update the loop-carried variables; the others are collected to packs.
    fn loop_results(&mut self, l: &Loop, carried: &[Type], body: Results, length: Length) -> Results {
        let body = body?;
        if body.len() < carried.len() {
            self.sink.report(
                Diagnostic::error(
                    &codes::CARRIED_COUNT,
                    value_span(&l.body),
                    format!(
                        "the loop carries {} variables, but its body has {} {}",
                        carried.len(),
                        body.len(),
                        if body.len() == 1 { "result" } else { "results" }
                    ),
                )
                .with_help(
                    "the first results of the body are the new values of the variables of `with`, in order",
                ),
            );
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
                    ComponentValue::Block(block) => {
                        block.yields.get(i).map_or_else(|| value_span(&l.body), |y| y.span)
                    }
                    other => value_span(other),
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
                        let text = self.text(c.init.span);
                        diagnostic = diagnostic.with_help(format!("start it as a real: `{text}.0`"));
                    }
                }
                self.sink.report(diagnostic);
            }
            let mut ty = variable.clone();
            if let Tensor::Ranked(_) = ty.tensor {
                ty.tensor = Tensor::Ranked(Length::unknown());
            }
            results.push(ty);
        }
        Some(results)
    }
}
