// SPDX-License-Identifier: Apache-2.0
//! Helper symbols and assertions, interleaved (2.8, 2.9).

use crate::ast::{
    Assertion, Expr, ExprKind, Item, PackSpec, StringLiteral, StringPiece, UsingItem, UsingListItem,
    UsingTarget,
};
use crate::compose::composer::{Composed, Composer, Reported};
use crate::compose::invocations::builder::Builder;
use crate::compose::shapes::affine_extent::collect_names;
use crate::compose::shapes::checks::{Verdict, composed_text, keep, parts, text, verdict};
use crate::diagnostics::codes::{ASSERTION_FAILED, PACK_LENGTHS_DIFFER, UNEXPECTED_VALUE};
use crate::diagnostics::{Diagnostic, counted};
use crate::eval::broadcast::stands_for_a_pack;
use crate::eval::stop::{EvalResult, stop};
use crate::eval::{Atom, Stop, Value};
use crate::model::check::{is_shape_scalar, within_room};
use crate::model::{Check, CheckKind, MessagePart};
use crate::source::Span;

impl<'p> Composer<'p, '_> {
    /// Evaluates `@using` in order, and each assertion as soon as its names are known.
    pub(crate) fn symbols(&mut self, builder: &mut Builder<'p>) -> Composed<()> {
        let definition = builder.found.definition;
        let mut open: Vec<&Assertion> = definition.asserts.iter().collect();
        let mut failed = false;
        for using in &definition.usings {
            failed |= self.assertions(builder, &mut open, false).is_err();
            if failed {
                // The next symbol may be defined only under the violated condition.
                return Err(Reported);
            }
            let value = self.symbol_value(builder, &using.value);
            let value = value.map_err(|s| self.failed(s))?;
            self.settle(builder)?;
            self.assign_symbol(builder, &using.target, value, using.value.span)?;
            self.settle(builder)?;
        }
        let tensors = [&definition.constants, &definition.variables, &definition.outputs];
        let is_later = |name: String| {
            let mut tensors = tensors.iter().copied().flatten();
            tensors.any(|t| t.name.name == name)
        };
        let (later, now) = open.into_iter().partition(|assertion| {
            let unknown = Self::unknown_names(builder, &assertion.condition);
            !unknown.is_empty() && unknown.into_iter().all(is_later)
        });
        builder.later_assertions = later;
        open = now;
        self.assertions(builder, &mut open, true)
    }

    /// Checks assertions on tensors that are declared after the helpers; with `all`, names without a value will not get
    /// one.
    pub(crate) fn later_assertions(&mut self, builder: &mut Builder<'p>, all: bool) -> Composed<()> {
        let mut open = std::mem::take(&mut builder.later_assertions);
        let result = self.assertions(builder, &mut open, all);
        builder.later_assertions = open;
        result
    }

    fn symbol_value(&self, builder: &Builder<'p>, expr: &Expr) -> EvalResult<Value> {
        let mut evaluator = builder.evaluator(self.limits);
        let value = evaluator.eval(expr)?;
        Ok(evaluator.typed(value, expr))
    }

    /// Checks the assertions whose names all have values; all violated ones are reported.
    fn assertions(
        &mut self,
        builder: &mut Builder<'p>,
        open: &mut Vec<&'p Assertion>,
        all: bool,
    ) -> Composed<()> {
        let mut result = Ok(());
        let mut kept = Vec::new();
        for assertion in std::mem::take(open) {
            if !all && !Self::unknown_names(builder, &assertion.condition).is_empty() {
                kept.push(assertion);
                continue;
            }
            if let Err(reported) = self.assertion(builder, assertion) {
                result = Err(reported);
            }
        }
        *open = kept;
        result
    }

    fn assertion(&mut self, builder: &mut Builder<'p>, assertion: &Assertion) -> Composed<()> {
        let span = assertion.condition.span;
        let value = self.holds(builder, &assertion.condition);
        let value = value.map_err(|s| self.failed(s))?;
        self.settle(builder)?;
        match verdict(&value) {
            Ok(Verdict::Holds) => Ok(()),
            Ok(Verdict::Fails) => Err(self.violated(builder, assertion)),
            Ok(Verdict::Open(condition)) => {
                let message = self.assertion_message(builder, assertion);
                let check = Check { kind: CheckKind::Assertion, condition, message, span };
                keep(&mut builder.function.checks, check);
                Ok(())
            }
            Err(atom) => Err(self.not_bool("an assertion", &atom, span)),
        }
    }

    fn holds(&self, builder: &Builder<'p>, condition: &Expr) -> EvalResult<Value> {
        let mut evaluator = builder.evaluator(self.limits);
        let conditions = evaluator.eval(condition)?;
        evaluator.together(conditions, condition.span)
    }

    fn violated(&mut self, builder: &mut Builder<'p>, assertion: &Assertion) -> Reported {
        let message = self.assertion_message(builder, assertion);
        let message = composed_text(&message);
        let span = assertion.condition.span;
        self.report(Diagnostic::error(&ASSERTION_FAILED, span, message))
    }

    /// Handles arguments that cannot be bound: if assertions whose names have values (attributes, the rank) are
    /// violated, these replace the diagnostics reported since the first `reported` ones.
    pub(crate) fn say_reasons(&mut self, builder: &mut Builder<'p>, reported: usize) {
        let mut reasons = Vec::new();
        for assertion in &builder.found.definition.asserts {
            let condition = &assertion.condition;
            if Self::unknown_names(builder, condition).is_empty()
                && let Ok(value) = self.holds(builder, condition)
                && let Ok(Verdict::Fails) = verdict(&value)
            {
                reasons.push(assertion);
            }
        }
        if reasons.is_empty() {
            return;
        }
        self.sink.take_back(reported);
        for assertion in reasons {
            self.violated(builder, assertion);
        }
    }

    /// 2.8: the message, then each value with its label or its source text.
    fn assertion_message(&mut self, builder: &mut Builder<'p>, assertion: &Assertion) -> Vec<MessagePart> {
        let depth = builder.scope.depth();
        builder.scope.push();
        self.later_symbols(builder);
        let message = self.written_message(builder, assertion);
        builder.scope.truncate(depth);
        // A message adds no conditions of its own.
        builder.demands.take();
        within_room(message)
    }

    /// Values in a message may be declared after those that the condition depends on.
    fn later_symbols(&mut self, builder: &mut Builder<'p>) {
        for using in &builder.found.definition.usings {
            let first = match &using.target {
                UsingTarget::Name(item) => Some(&item.name),
                UsingTarget::List(items) => items.iter().find_map(|item| match item {
                    UsingListItem::Item(item) => Some(&item.name),
                    UsingListItem::Zip { names, .. } => names.first(),
                    UsingListItem::Omitted(_) => None,
                }),
            };
            if first.is_none_or(|name| builder.scope.get(&name.name).is_some()) {
                continue;
            }
            // Values that the violated condition should have guarded may be undefined.
            let Ok(value) = self.symbol_value(builder, &using.value) else {
                continue;
            };
            match &using.target {
                UsingTarget::Name(item) => builder.scope.set(item.name.name.clone(), value),
                UsingTarget::List(items) => {
                    if let Ok(parts) = self.split(builder, items, &value, using.value.span) {
                        for (name, value) in parts {
                            builder.scope.set(name, value);
                        }
                    }
                }
            }
        }
    }

    fn written_message(&mut self, builder: &Builder<'p>, assertion: &Assertion) -> Vec<MessagePart> {
        let mut message = Vec::new();
        match &assertion.message {
            Some(literal) => self.formatted(builder, literal, &mut message),
            None => {
                let source = self.source_text(assertion.condition.span);
                text(&format!("`{source}` does not hold"), &mut message);
            }
        }
        let mut before = "; ";
        let is_null = |value: &Expr| {
            let value = builder.evaluator(self.limits).eval(value);
            matches!(value, Ok(Value::Null))
        };
        // Attributes that are left out say nothing.
        let values = assertion.values.iter().filter(|p| !is_null(&p.value));
        for printed in values {
            text(before, &mut message);
            match &printed.label {
                Some(label) => self.formatted(builder, label, &mut message),
                None => text(&self.source_text(printed.value.span), &mut message),
            }
            text(" = ", &mut message);
            self.printed(builder, &printed.value, &mut message);
            before = ", ";
        }
        if assertion.message.is_none() && assertion.values.is_empty() {
            // Without a text of the author, show what the condition depends on.
            let mut names = Vec::new();
            collect_names(&assertion.condition, &mut names);
            for name in names {
                if let Some(value) = builder.scope.get(&name) {
                    text(&format!("{before}{name} = "), &mut message);
                    parts(value, &mut message);
                    before = ", ";
                }
            }
        }
        message
    }

    fn formatted(&self, builder: &Builder<'p>, literal: &StringLiteral, message: &mut Vec<MessagePart>) {
        for piece in &literal.pieces {
            match piece {
                StringPiece::Text(piece) => text(piece, message),
                StringPiece::Format(expr) => self.printed(builder, expr, message),
            }
        }
    }

    fn printed(&self, builder: &Builder<'p>, expr: &Expr, message: &mut Vec<MessagePart>) {
        match builder.evaluator(self.limits).eval(expr) {
            Ok(value) => parts(&value, message),
            Err(_) => self.printed_parts(builder, expr, message),
        }
    }

    /// Values that are unknown at compile time, because strings or packs of several lengths are selected at run time.
    fn printed_parts(&self, builder: &Builder<'p>, expr: &Expr, message: &mut Vec<MessagePart>) {
        let arm = |arm: &Expr| {
            let mut message = Vec::new();
            self.printed(builder, arm, &mut message);
            message
        };
        match &expr.kind {
            ExprKind::Str(literal) => self.formatted(builder, literal, message),
            ExprKind::List(items) => {
                text("[", message);
                for (position, item) in items.iter().enumerate() {
                    if position > 0 {
                        text(", ", message);
                    }
                    match item {
                        Item::Expr(item) => self.printed(builder, item, message),
                        _ => text("…", message),
                    }
                }
                text("]", message);
            }
            ExprKind::Select { condition, then, otherwise } => {
                let otherwise = || match otherwise {
                    Some(otherwise) => arm(otherwise),
                    None => vec![MessagePart::Text("null".to_string())],
                };
                match builder.evaluator(self.limits).eval(condition) {
                    Ok(Value::Atom(Atom::Bool(true))) => message.extend(arm(then)),
                    Ok(Value::Atom(Atom::Bool(false))) => message.extend(otherwise()),
                    Ok(Value::Atom(Atom::Run(condition))) if is_shape_scalar(&condition) => {
                        message.push(MessagePart::Choice {
                            condition: (*condition).clone(),
                            then: arm(then),
                            otherwise: otherwise(),
                        });
                    }
                    _ => text("?", message),
                }
            }
            _ => text("?", message),
        }
    }

    fn assign_symbol(
        &mut self,
        builder: &mut Builder<'p>,
        target: &UsingTarget,
        value: Value,
        span: Span,
    ) -> Composed<()> {
        match target {
            UsingTarget::Name(item) => {
                self.check_hint(builder, item, &value)?;
                self.name_value(builder, &item.name.name, value, span)
            }
            UsingTarget::List(items) => match self.split(builder, items, &value, span) {
                Ok(parts) => {
                    for (name, value) in parts {
                        self.name_value(builder, &name, value, span)?;
                    }
                    Ok(())
                }
                Err(stop) => Err(self.failed(stop)),
            },
        }
    }

    fn check_hint(&mut self, builder: &Builder<'p>, item: &UsingItem, value: &Value) -> Composed<()> {
        let (Some(pack), Value::Pack(actual)) = (&item.pack, value) else {
            return Ok(());
        };
        let Some(length) = self.hinted(builder, pack).map_err(|s| self.failed(s))? else {
            return Ok(());
        };
        if length != actual.len() {
            return Err(self.error(
                &PACK_LENGTHS_DIFFER,
                item.span,
                format!("`{}` is announced with {length} items, it has {}", item.name.name, actual.len()),
            ));
        }
        Ok(())
    }

    /// The length written after `..`.
    pub(crate) fn hinted(&self, builder: &Builder<'p>, pack: &PackSpec) -> EvalResult<Option<usize>> {
        let Some(expr) = &pack.length else {
            return Ok(None);
        };
        let mut evaluator = builder.evaluator(self.limits);
        match evaluator.int(expr)? {
            Some(n) => evaluator.length(n, expr.span).map(Some),
            None => Ok(None),
        }
    }

    /// `[a, b.., (e, f)..] = value`: items receive one value or their length; at most one part receives the rest.
    fn split(
        &self,
        builder: &Builder<'p>,
        items: &[UsingListItem],
        value: &Value,
        span: Span,
    ) -> Result<Vec<(String, Value)>, Stop> {
        let names_of = |item: &UsingListItem| match item {
            UsingListItem::Item(item) => vec![item.name.name.clone()],
            UsingListItem::Zip { names, .. } => names.iter().map(|n| n.name.clone()).collect(),
            UsingListItem::Omitted(_) => Vec::new(),
        };
        let Value::Pack(pack) = value else {
            if value.is_null() {
                return Ok(items.iter().flat_map(names_of).map(|name| (name, Value::Null)).collect());
            }
            return match value {
                Value::Atom(Atom::Series(series)) => self.split_series(builder, items, series, span),
                Value::Atom(single) => stands_for_a_pack(single, span),
                _ => stop(&UNEXPECTED_VALUE, span, "only a pack can be destructured"),
            };
        };
        let mut lengths = Vec::with_capacity(items.len());
        for item in items {
            lengths.push(match item {
                UsingListItem::Item(UsingItem { pack: None, .. }) | UsingListItem::Omitted(_) => Some(1),
                UsingListItem::Item(UsingItem { pack: Some(pack), .. }) => self.hinted(builder, pack)?,
                UsingListItem::Zip { names, pack, .. } => {
                    self.hinted(builder, pack)?.map(|n| n.saturating_mul(names.len()))
                }
            });
        }
        let known: usize = lengths.iter().flatten().sum();
        let open = lengths.iter().filter(|l| l.is_none()).count();
        let rest = pack.len().checked_sub(known);
        let rest = match (rest, open) {
            (Some(0), 0) => 0,
            (Some(rest), 1) => rest,
            _ => {
                return stop(
                    &PACK_LENGTHS_DIFFER,
                    span,
                    format!(
                        "the pack has {}, but the left side has {}{known}",
                        counted(pack.len(), "item"),
                        if open > 0 { "at least " } else { "" }
                    ),
                );
            }
        };
        let mut parts = Vec::new();
        let mut position = 0;
        for (item, length) in items.iter().zip(lengths) {
            let length = length.unwrap_or(rest);
            let taken: Vec<Atom> = pack.items.iter().skip(position).take(length).cloned().collect();
            position += length;
            match item {
                UsingListItem::Item(UsingItem { name, pack: None, .. }) => {
                    let single = taken.into_iter().next().map_or(Value::Null, Value::Atom);
                    parts.push((name.name.clone(), single));
                }
                UsingListItem::Item(UsingItem { name, .. }) => {
                    parts.push((name.name.clone(), Value::pack(taken)));
                }
                UsingListItem::Omitted(_) => {}
                UsingListItem::Zip { names, .. } => {
                    if names.is_empty() || !length.is_multiple_of(names.len()) {
                        return stop(
                            &PACK_LENGTHS_DIFFER,
                            span,
                            format!("{length} items cannot be dealt to {} packs", names.len()),
                        );
                    }
                    for (offset, name) in names.iter().enumerate() {
                        let dealt: Vec<Atom> =
                            taken.iter().skip(offset).step_by(names.len()).cloned().collect();
                        parts.push((name.name.clone(), Value::pack(dealt)));
                    }
                }
            }
        }
        Ok(parts)
    }
}

#[cfg(test)]
mod tests {
    use crate::compose::testing::{assert_composes, assert_fires, with_symbols};
    use crate::diagnostics::codes::{ASSERTION_FAILED, PACK_LENGTHS_DIFFER};

    #[test]
    fn s2_9_parts_may_have_no_name() {
        let tested = |line: &str, condition: &str| {
            let assertion = format!("@assert {{ {condition}; }} @lower");
            with_symbols(&format!("c = [1, 2, 3, 4]; {line}")).replace("@lower", &assertion)
        };
        assert_composes(&tested("[~, b..] = c;", "b == [2, 3, 4]"));
        assert_composes(&tested("[b, ~, (d, e)..] = c;", "b + d[0] + e[0] == 8"));
        assert_composes(&tested("[~, ~, ~, b] = c;", "b == 4"));
        assert_fires(&PACK_LENGTHS_DIFFER, &tested("[~, b] = c;", "b == 2"));
    }

    #[test]
    fn s2_2_assertions_name_tensors_that_are_declared_behind_the_helpers() {
        let document = |body: &str, condition: &str| {
            format!(
                "operator inner {{ @input {{ x: real[n]; }} @constant {{ c: real[2] = 1.0; }} \
                 @variable {{ w: real[n,3]; }} @output {{ y: real[n + 1]; }} @assert {{ {condition}; }} {body} }} \
                 graph G {{ @input {{ x: real[4]; }} @output {{ y: real[5]; }} @compose {{ y = inner(x); }} }}"
            )
        };
        let lowered = "@lower { y[i,] = w[0,1], i < n + 1; }";
        let composed = "@compose { y = made(x); } } operator made { @input { x: real[n]; } \
            @output { y: real[n + 1]; } @lower { y[i,] = 0.0, i < n + 1; }";
        for body in [lowered, composed, ""] {
            for condition in ["y.shape == x.shape + 1", "w.shape[1] == 3 && w.rank == 2", "c.shape == 2"] {
                assert_composes(&document(body, condition));
            }
            for condition in ["y.shape == x.shape", "w.shape[1] == 2", "c.rank == 2"] {
                assert_fires(&ASSERTION_FAILED, &document(body, condition));
            }
        }
        let graph = |bound: &str| {
            format!(
                "graph G {{ @input {{ x: real[s|4]; }} @output {{ y: real[~]; }} @assert {{ y.shape[0] <= {bound}; }} \
                 @compose {{ y = x; }} }}"
            )
        };
        assert_composes(&graph("3"));
        assert_fires(&ASSERTION_FAILED, &graph("-1"));
    }
}
