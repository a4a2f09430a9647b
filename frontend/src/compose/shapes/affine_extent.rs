// SPDX-License-Identifier: Apache-2.0
//! Binding of names in extents and lengths: `2 * k + 1` against an actual value (2.6).

use crate::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::compose::calls::{Composed, Reported};
use crate::compose::context::Context;
use crate::compose::invocations::builder::Builder;
use crate::compose::shapes::checks::{
    Verdict, composed_text, equality, keep_extent_check, parts, text, verdict,
};
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{AFFINE_EXTENT, EXTENT_MISMATCH, SHAPE_NOT_BOUND};
use crate::eval::series::fold::together;
use crate::eval::stop::EvalResult;
use crate::eval::{Atom, Evaluator, Stop, Value};
use crate::source::Span;
use skript_semantics::ScalarOp;
use skript_symbolic::{Line, Ring};

/// The extent or length that is bound, for messages.
pub(crate) struct Bound<'a> {
    /// "extent 1 of input `x`", "the length of attribute `a`".
    pub what: &'a str,
    /// The origin of the actual value.
    pub location: Span,
}

/// Names of the expression without a value.
pub(crate) fn unknown_names(builder: &Builder, expr: &Expr) -> Vec<String> {
    let mut names = Vec::new();
    collect_names(expr, &mut names);
    names.retain(|n| builder.scope.get(n).is_none());
    names
}

/// Equates `expr` with `actual` (an int or a pack of ints): checks the equality, or binds the only unknown name.
pub(crate) fn unify(
    context: &mut Context,
    builder: &mut Builder,
    expr: &Expr,
    actual: &Value,
    bound: &Bound,
) -> Composed<()> {
    let unknown = unknown_names(builder, expr);
    match unknown.as_slice() {
        [] => {
            let declared = context.value(builder, expr)?;
            compare_extents(context, builder, expr, &declared, actual, bound)
        }
        [name] => {
            let mut evaluator = builder.evaluator(context.limits);
            let solved = solution(&mut evaluator, expr, name, actual);
            match solved {
                Ok(Some(value)) => {
                    if value.atoms().any(|a| matches!(a, Atom::Int(i) if i < 0)) {
                        return Err(no_solution(context, name, expr, actual, bound));
                    }
                    builder.scope.set(name.clone(), value);
                    check_solution(context, builder, name, expr, actual, bound)
                }
                Ok(None) => Err(no_solution(context, name, expr, actual, bound)),
                Err(stop) => Err(context.failed(stop)),
            }
        }
        names => Err(context.report(
            Diagnostic::error(
                &SHAPE_NOT_BOUND,
                expr.span,
                format!("{} has several unknown names: {}", bound.what, names.join(", ")),
            )
            .with_label_at(bound.location, "bound to this"),
        )),
    }
}

/// A dynamic extent is divided by the factor at run time; adds a check that the quotient is exact and not negative.
fn check_solution(
    context: &mut Context,
    builder: &mut Builder,
    name: &str,
    expr: &Expr,
    actual: &Value,
    bound: &Bound,
) -> Composed<()> {
    if matches!(expr.kind, ExprKind::Name(_))
        || !actual.atoms().any(|a| matches!(a, Atom::Runtime(_) | Atom::Series(_)))
    {
        return Ok(());
    }
    let conditions = context.evaluated(builder, |evaluator| {
        let solved = evaluator.scope.get(name).cloned().unwrap_or(Value::Null);
        evaluator.eval(expr).and_then(|again| {
            let fits = evaluator.elementwise(&again, actual, expr.span, |e, d, a| {
                e.operation(ScalarOp::Eq, &[d.clone(), a.clone()], expr.span)
            })?;
            let sign =
                evaluator.map(&solved, |e, s| e.operation(ScalarOp::Ge, &[s, Atom::Int(0)], expr.span))?;
            let both = evaluator.elementwise(&fits, &sign, expr.span, |e, a, b| {
                e.operation(ScalarOp::And, &[a.clone(), b.clone()], expr.span)
            })?;
            together(evaluator, both, expr.span)
        })
    })?;
    match verdict(&conditions) {
        Ok(Verdict::Holds) => Ok(()),
        Ok(Verdict::Open(condition)) => {
            let source = context.source_text(expr.span);
            let mut message = Vec::new();
            let what = bound.what;
            text(&format!("{what}: no integer `{name}` >= 0 makes `{source}` equal to "), &mut message);
            parts(actual, &mut message);
            keep_extent_check(builder, condition, message, expr.span);
            Ok(())
        }
        _ => Err(no_solution(context, name, expr, actual, bound)),
    }
}

fn no_solution(context: &mut Context, name: &str, expr: &Expr, actual: &Value, bound: &Bound) -> Reported {
    let text = context.source_text(expr.span);
    let message =
        format!("{}: no integer `{name}` >= 0 makes `{text}` equal to {}", bound.what, actual.text());
    let diagnostic = Diagnostic::error(&AFFINE_EXTENT, expr.span, message);
    context.report(diagnostic.with_label_at(bound.location, format!("this gives {}", actual.text())))
}

/// Extents of packs of dynamic length.
fn compare_series(
    context: &mut Context,
    builder: &mut Builder,
    expr: &Expr,
    declared: &Value,
    actual: &Value,
    bound: &Bound,
) -> Composed<()> {
    let equal = context.evaluated(builder, |evaluator| {
        let equal = evaluator.elementwise(declared, actual, bound.location, |e, d, a| {
            e.operation(ScalarOp::Eq, &[d.clone(), a.clone()], bound.location)
        });
        equal.and_then(|equal| together(evaluator, equal, bound.location))
    })?;
    let source = context.source_text(expr.span);
    let mut message = Vec::new();
    text(&format!("{} must be `{source}` = ", bound.what), &mut message);
    parts(declared, &mut message);
    text(", it is ", &mut message);
    parts(actual, &mut message);
    match verdict(&equal) {
        Ok(Verdict::Holds) => Ok(()),
        Ok(Verdict::Open(condition)) => {
            keep_extent_check(builder, condition, message, expr.span);
            Ok(())
        }
        _ => Err(context.report(
            Diagnostic::error(&EXTENT_MISMATCH, expr.span, composed_text(&message))
                .with_label_at(bound.location, format!("this gives {}", actual.text())),
        )),
    }
}

fn compare_extents(
    context: &mut Context,
    builder: &mut Builder,
    expr: &Expr,
    declared: &Value,
    actual: &Value,
    bound: &Bound,
) -> Composed<()> {
    if let (Value::Atom(Atom::Series(_)), _) | (_, Value::Atom(Atom::Series(_))) = (declared, actual) {
        return compare_series(context, builder, expr, declared, actual, bound);
    }
    let pairs: Option<Vec<(Atom, Atom)>> = match (declared, actual) {
        (Value::Atom(Atom::Bool(b)), Value::Atom(a)) => Some(vec![(Atom::Int(i64::from(*b)), a.clone())]),
        (Value::Atom(d), actual) => Some(actual.atoms().map(|a| (d.clone(), a.clone())).collect()),
        (Value::Pack(d), Value::Pack(a)) if d.len() == a.len() => Some(d.iter().zip(a.iter()).collect()),
        // A name that is null because its input is absent imposes no constraint.
        (Value::Null, _) => Some(Vec::new()),
        _ => None,
    };
    let mut equal = pairs.is_some();
    for (d, a) in pairs.into_iter().flatten() {
        match equality(&d, &a) {
            Verdict::Holds => {}
            Verdict::Fails => equal = false,
            Verdict::Open(condition) => {
                let mut message = Vec::new();
                let source = context.source_text(expr.span);
                text(&format!("{} must be `{source}` = ", bound.what), &mut message);
                parts(&Value::Atom(d), &mut message);
                text(", it is ", &mut message);
                parts(&Value::Atom(a), &mut message);
                keep_extent_check(builder, condition, message, expr.span);
            }
        }
    }
    if equal {
        if let ExprKind::Name(name) = &expr.kind {
            learn_fixed(builder, &name.name, declared, actual);
        }
        return Ok(());
    }
    let text = context.source_text(expr.span);
    let given = declared.text();
    let declared_text = if text == given { format!("`{text}`") } else { format!("`{text}` = {given}") };
    let message = format!("{} must be {declared_text}, it is {}", bound.what, actual.text());
    let diagnostic = Diagnostic::error(&EXTENT_MISMATCH, expr.span, message);
    Err(context.report(diagnostic.with_label_at(bound.location, format!("this gives {}", actual.text()))))
}

/// Replaces a dynamic extent that must equal a static one by the static one; a run-time check precedes its uses.
fn learn_fixed(builder: &mut Builder, name: &str, declared: &Value, actual: &Value) {
    let better = |d: &Atom, a: &Atom| match (d, a) {
        (Atom::Runtime(_), Atom::Int(n)) => Atom::Int(*n),
        (d, _) => d.clone(),
    };
    let value = match (declared, actual) {
        (Value::Atom(d), Value::Atom(a)) => Value::Atom(better(d, a)),
        (Value::Pack(d), Value::Pack(a)) if d.len() == a.len() => {
            let pairs = d.iter().zip(a.iter());
            Value::pack(pairs.map(|(d, a)| better(&d, &a)))
        }
        _ => return,
    };
    if value != *declared {
        builder.scope.set(name, value);
    }
}

/// The solution for a name; `None` if the expression is not affine in the name or the solution is not an int.
fn solution(evaluator: &mut Evaluator, expr: &Expr, name: &str, actual: &Value) -> EvalResult<Option<Value>> {
    let Some(line) = line(evaluator, expr, name)? else {
        return Ok(None);
    };
    line.solve(actual, &mut Packs::new(evaluator, expr.span))
}

/// The expression as a function of a name; `None` if it is not affine.
fn line(evaluator: &mut Evaluator, expr: &Expr, name: &str) -> EvalResult<Option<Line<Value>>> {
    let span = expr.span;
    if let ExprKind::Name(ident) = &expr.kind
        && ident.name == name
    {
        return Ok(Some(Line::unknown(&mut Packs::new(evaluator, span))));
    }
    let mut names = Vec::new();
    collect_names(expr, &mut names);
    if !names.iter().any(|n| n == name) {
        let value = evaluator.eval(expr)?;
        let mut ring = Packs::new(evaluator, span);
        return Ok(Some(Line::constant(value, &mut ring)));
    }
    match &expr.kind {
        ExprKind::Unary { op, operand } => {
            let Some(line) = line(evaluator, operand, name)? else {
                return Ok(None);
            };
            let sign = match op {
                UnaryOp::Plus => 1,
                UnaryOp::Minus => -1,
                UnaryOp::Not => return Ok(None),
            };
            let mut ring = Packs::new(evaluator, span);
            line.scale(&Value::int(sign), &mut ring).map(Some)
        }
        ExprKind::Binary { op, left, right } => {
            let (Some(a), Some(b)) = (line(evaluator, left, name)?, line(evaluator, right, name)?) else {
                return Ok(None);
            };
            let mut ring = Packs::new(evaluator, span);
            match op {
                BinaryOp::Add => a.add(&b, &mut ring).map(Some),
                BinaryOp::Sub => a.sub(&b, &mut ring).map(Some),
                BinaryOp::Mul => a.mul(&b, &mut ring),
                _ => Ok(None),
            }
        }
        _ => Ok(None),
    }
}

/// Ints and packs of ints, with the arithmetic of the evaluator at one location.
struct Packs<'e, 'v> {
    evaluator: &'e mut Evaluator<'v>,
    span: Span,
}

impl<'e, 'v> Packs<'e, 'v> {
    fn new(evaluator: &'e mut Evaluator<'v>, span: Span) -> Self {
        Packs { evaluator, span }
    }

    fn apply(&mut self, op: ScalarOp, a: &Value, b: &Value) -> EvalResult<Value> {
        let span = self.span;
        self.evaluator.elementwise(a, b, span, |e, a, b| e.operation(op, &[a.clone(), b.clone()], span))
    }
}

impl Ring for Packs<'_, '_> {
    type Value = Value;
    type Error = Stop;

    fn integer(&mut self, value: i64) -> Value {
        Value::int(value)
    }

    fn is_zero(&self, value: &Value) -> bool {
        value.atoms().all(|a| match a {
            Atom::Series(series) => series.shared() == Some(&crate::model::Expr::int(0)),
            other => other == Atom::Int(0),
        })
    }

    fn add(&mut self, a: &Value, b: &Value) -> EvalResult<Value> {
        self.apply(ScalarOp::Add, a, b)
    }

    fn sub(&mut self, a: &Value, b: &Value) -> EvalResult<Value> {
        self.apply(ScalarOp::Sub, a, b)
    }

    fn mul(&mut self, a: &Value, b: &Value) -> EvalResult<Value> {
        self.apply(ScalarOp::Mul, a, b)
    }

    /// Exact if both are static; otherwise the quotient is checked at run time.
    fn quotient(&mut self, a: &Value, b: &Value) -> EvalResult<Option<Value>> {
        let span = self.span;
        let mut exact = true;
        let quotient = self.evaluator.elementwise(a, b, span, |e, d, f| {
            if *f == Atom::Int(1) {
                return Ok(d.clone());
            }
            if let (Atom::Int(d), Atom::Int(f)) = (d, f)
                && (*f == 0 || d.checked_rem(*f) != Some(0))
            {
                exact = false;
                return Ok(Atom::Int(0));
            }
            e.operation(ScalarOp::Div, &[d.clone(), f.clone()], span)
        })?;
        Ok((exact && !quotient.is_null()).then_some(quotient))
    }
}

/// All names that an expression mentions, each once.
pub(crate) fn collect_names(expr: &Expr, names: &mut Vec<String>) {
    for name in expr.names() {
        if !names.contains(&name.name) {
            names.push(name.name.clone());
        }
    }
}
