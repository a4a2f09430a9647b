// SPDX-License-Identifier: Apache-2.0
//! Indices and extents used as values that the storage type of ints cannot represent.
//!
//! Values that depend on data wrap like other ints; values that follow from the text and the extents are known here and
//! rejected.

use skript_semantics::{IntType, ScalarKind, ScalarOp};

use crate::compose::quantization::constant_results::{self, Decided, Facts, either, fact};
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::MACHINE_INT;
use crate::eval::ranges::{Interval, Known, Work, collect_facts};
use crate::model::{
    Accumulation, Body, Expr, Formula, Function, Loop, Model, Node, Operation, Target, Value, ValueId,
};
use crate::source::Span;

/// Reports every int output of a formula, and every index of a loop, that may exceed the storage type.
pub(crate) fn narrow_ints(model: &Model) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let int = model.numbers.int;
    if int == IntType::I64 {
        return diagnostics;
    }
    for function in &model.functions {
        match &function.body {
            Body::Formulas(formulas) => {
                let facts = constant_results::constants(function);
                for (formula, target) in formulas.iter().flat_map(|f| f.targets.iter().map(move |t| (f, t))) {
                    let declared = function.values.get(target.output.0 as usize);
                    if declared.is_none_or(|v| v.wide || v.tensor.kind != ScalarKind::Int) {
                        continue;
                    }
                    let decided = range(formulas, (formula, target), &facts);
                    let Some(Interval { low, high }) = decided.and_then(Decided::some) else {
                        continue;
                    };
                    let what = called(declared);
                    let mut ends = [high, low].into_iter();
                    diagnostics.extend(ends.find_map(|end| too_narrow(int, &what, end.into(), formula.span)));
                }
            }
            // Loops that pass the number of the step to their bodies.
            Body::Block(block) => block.visit(&mut |operation| {
                if let Operation::Loop(l) = operation
                    && let Some((what, last)) = last_step(function, l)
                {
                    diagnostics.extend(too_narrow(int, &what, last, l.span));
                }
            }),
            Body::Intrinsic => {}
        }
    }
    diagnostics
}

/// Reports a value that does not fit, with a type that represents it; `None` if the value fits.
pub fn too_narrow(int: IntType, what: &str, value: i128, span: Span) -> Option<Diagnostic> {
    if holds(int, value) {
        return None;
    }
    let message = format!("{what} may be {value}, which does not fit {int}");
    let wider = [IntType::I16, IntType::I32, IntType::I64];
    let help =
        format!("`--int={}` holds it", wider.into_iter().find(|t| holds(*t, value)).unwrap_or(IntType::I64));
    Some(Diagnostic::error(&MACHINE_INT, span, message).with_help(help))
}

fn called(value: Option<&Value>) -> String {
    let name = value.and_then(|v| v.name.as_deref());
    name.map_or("an int".to_owned(), |name| format!("`{name}`"))
}

fn holds(int: IntType, value: i128) -> bool {
    i64::try_from(value).is_ok_and(|value| int.wrap(value) == value)
}

/// The interval of those values of an int target that depend only on positions, extents, literals and tensors with
/// known elements.
pub(crate) fn range(
    formulas: &[Formula],
    (formula, target): (&Formula, &Target),
    facts: &Facts,
) -> Option<Decided> {
    let replaces = |kind| matches!(kind, Accumulation::Assign | Accumulation::Replace);
    let is_kept = replaces(formula.kind) || matches!(formula.kind, Accumulation::Min | Accumulation::Max);
    if !is_kept {
        return None;
    }
    let writes = |f: &&Formula| f.targets.iter().any(|t| t.output == target.output);
    let is_final = formulas.iter().filter(writes).all(|f| replaces(f.kind));
    let mut conditions = Vec::new();
    if let Some(predicate) = &formula.predicate {
        collect_facts(predicate, true, &mut conditions);
    }
    let work = Work::default();
    let tensors: Vec<_> = facts.iter().map(|d| d.and_then(Decided::all)).collect();
    let known = Known::new((&formula.indices, &formula.locals), &conditions, &work);
    let point = Point {
        known: known.with_tensors(&tensors),
        work: &work,
        facts,
        dependences: dependences(formula, facts),
        is_final,
    };
    point.range(&target.value)
}

/// The inputs of an expression.
#[derive(Clone, Copy, Default)]
struct Dependences {
    tensors: bool,
    positions: bool,
}

fn dependences(formula: &Formula, facts: &Facts) -> Vec<Dependences> {
    let mut locals = Vec::with_capacity(formula.locals.len());
    for local in &formula.locals {
        let dependences = dependences_of(&local.value, &locals, facts);
        locals.push(dependences);
    }
    locals
}

fn dependences_of(expr: &Expr, locals: &[Dependences], facts: &Facts) -> Dependences {
    let direct = match &expr.node {
        // It does not matter which of the elements is read.
        Node::Access { tensor, .. } => {
            let is_known = fact(facts, *tensor).and_then(Decided::all).is_some();
            return Dependences { tensors: !is_known, positions: is_known };
        }
        Node::Index(_) | Node::Extent(_) => Dependences { tensors: false, positions: true },
        Node::Local(position) => locals.get(*position).copied().unwrap_or_default(),
        _ => Dependences::default(),
    };
    expr.children().iter().fold(direct, |all, child| {
        let child = dependences_of(child, locals, facts);
        Dependences { tensors: all.tensors || child.tensors, positions: all.positions || child.positions }
    })
}

struct Point<'a> {
    known: Known<'a>,
    work: &'a Work,
    /// The knowledge about tensors.
    facts: &'a Facts,
    /// The dependences of the formula's locals.
    dependences: Vec<Dependences>,
    /// Whether all formulas that write the output replace elements, so that literals are its final elements.
    is_final: bool,
}

impl Point<'_> {
    /// The interval of the branches of the value that do not depend on tensors; `None` if all branches depend on tensors.
    fn range(&self, expr: &Expr) -> Option<Decided> {
        let branches = match &expr.node {
            Node::Select { then, otherwise, .. } => [Some(then.as_ref()), Some(otherwise.as_ref())],
            Node::Apply { op: ScalarOp::Select, operands } => [operands.get(1), operands.get(2)],
            Node::Local(position) => [self.known.locals.get(*position).map(|l| &l.value), None],
            _ => [None, None],
        };
        if !self.work.spend(1) {
            return None;
        }
        let dependences = dependences_of(expr, &self.dependences, self.facts);
        if !dependences.tensors {
            let range = self.known.interval(expr);
            let decided = Decided::Ints { range, is_all: true };
            return (range != Interval::ALL && (dependences.positions || self.is_final)).then_some(decided);
        }
        if let Node::Access { tensor, .. } = &expr.node {
            return fact(self.facts, *tensor);
        }
        let ranges = branches.into_iter().flatten().map(|b| self.range(b));
        ranges.reduce(either).flatten()
    }
}

/// The name of a loop's index, and its maximum, if the text or the extents determine it.
fn last_step(function: &Function, l: &Loop) -> Option<(String, i128)> {
    let value = |id: ValueId| function.values.get(id.0 as usize);
    let index = value(l.index?)?;
    // A tensor with a count has the storage type already.
    let is_narrow = |id| value(id).is_some_and(|count| !count.wide);
    if index.wide || l.dynamic_count.is_some_and(is_narrow) {
        return None;
    }
    let steps = l.static_count.or(l.capacity)?;
    Some((called(Some(index)), i128::from(steps) - 1))
}
