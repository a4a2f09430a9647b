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
    let mut found = Vec::new();
    let int = model.numbers.int;
    if int == IntType::I64 {
        return found;
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
                    found.extend(ends.find_map(|end| too_narrow(int, &what, end.into(), formula.span)));
                }
            }
            // Loops that pass the number of the step to their bodies.
            Body::Block(block) => block.visit(&mut |operation| {
                if let Operation::Loop(l) = operation
                    && let Some((what, last)) = last_step(function, l)
                {
                    found.extend(too_narrow(int, &what, last, l.span));
                }
            }),
            Body::Intrinsic => {}
        }
    }
    found
}

/// The message that a value does not fit, and the type that represents it; none if it fits.
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
        rests: rests(formula, facts),
        is_final,
    };
    point.range(&target.value)
}

/// What an expression depends on.
#[derive(Clone, Copy, Default)]
struct Rests {
    tensors: bool,
    positions: bool,
}

fn rests(formula: &Formula, facts: &Facts) -> Vec<Rests> {
    let mut locals = Vec::with_capacity(formula.locals.len());
    for local in &formula.locals {
        let rests = of(&local.value, &locals, facts);
        locals.push(rests);
    }
    locals
}

fn of(expr: &Expr, locals: &[Rests], facts: &Facts) -> Rests {
    let own = match &expr.node {
        // Which of the elements is read makes no difference.
        Node::Access { tensor, .. } => {
            let is_known = fact(facts, *tensor).and_then(Decided::all).is_some();
            return Rests { tensors: !is_known, positions: is_known };
        }
        Node::Index(_) | Node::Extent(_) => Rests { tensors: false, positions: true },
        Node::Local(position) => locals.get(*position).copied().unwrap_or_default(),
        _ => Rests::default(),
    };
    expr.children().iter().fold(own, |own, child| {
        let child = of(child, locals, facts);
        Rests { tensors: own.tensors || child.tensors, positions: own.positions || child.positions }
    })
}

struct Point<'a> {
    known: Known<'a>,
    work: &'a Work,
    /// The knowledge about tensors.
    facts: &'a Facts,
    /// The dependences of the formula's locals.
    rests: Vec<Rests>,
    /// Whether only this kind of formula writes the output, so that literals are its final elements.
    is_final: bool,
}

impl Point<'_> {
    /// The interval of those parts of the value that do not depend on tensors; `None` if there are none.
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
        let rests = of(expr, &self.rests, self.facts);
        if !rests.tensors {
            let range = self.known.interval(expr);
            let decided = Decided::Ints { range, is_all: true };
            return (range != Interval::ALL && (rests.positions || self.is_final)).then_some(decided);
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

#[cfg(test)]
mod tests {
    use crate::compose::ComposeOptions;
    use crate::compose::testing::composed_with;
    use crate::limits::Limits;
    use skript_semantics::{IntType, Numbers};

    /// The messages for a graph with this operator of a tensor `a` and an int output `b`, and an input of this shape.
    fn operator_messages(int: IntType, shape: &str, output: &str, formulas: &str) -> Vec<String> {
        let text = format!(
            "operator f {{ @input {{ a: real[n]; }} @output {{ b: {output}; }} @lower {{ {formulas} }} }} \
             graph G {{ @input {{ x: real[{shape}]; }} @output {{ y: int[~]; }} @compose {{ y = f(x); }} }}"
        );
        let text = if output.contains("[]") { text.replace("int[~]", "int[]") } else { text };
        messages(int, &text)
    }

    fn messages(int: IntType, text: &str) -> Vec<String> {
        let options =
            ComposeOptions { numbers: Numbers { int, ..Numbers::default() }, ..ComposeOptions::default() };
        match composed_with(text, &options, &Limits::default()) {
            Ok(_) => Vec::new(),
            Err(found) => found.iter().map(|d| format!("{}: {}", d.code.id, d.message)).collect(),
        }
    }

    const TOO_LARGE: &str = "SK3004: `b` may be 299, which does not fit i8";

    #[test]
    fn positions_beyond_the_type_are_reported() {
        let i8 = IntType::I8;
        let positions = "b[i,] = i, i < n;";
        assert_eq!(operator_messages(i8, "300", "int[n]", positions), [TOO_LARGE]);
        assert_eq!(operator_messages(i8, "s|300", "int[n]", positions), [TOO_LARGE]);
        assert!(operator_messages(i8, "128", "int[n]", positions).is_empty());
        assert!(operator_messages(IntType::I16, "300", "int[n]", positions).is_empty());
        assert!(operator_messages(i8, "300", "int[n]", "b[i,] = i % 100, i < n;").is_empty());
        let largest = "b[] = 0; b[] := i, i < n | a[i,] > a[b[],];";
        assert_eq!(operator_messages(i8, "300", "int[]", largest), [TOO_LARGE]);
        let counted = "b[k,] = i, i < n | a[i,] > 0.0;";
        let i16 = IntType::I16;
        assert_eq!(operator_messages(i8, "300", "int[k|n]", counted), [TOO_LARGE]);
        assert!(operator_messages(i16, "300", "int[k|n]", counted).is_empty());
    }

    #[test]
    fn branches_count_by_themselves_and_conditions_bound_them() {
        let i8 = IntType::I8;
        let found = "b[i,] = a[i,] > 0.0 ? i : -1, i < n;";
        assert_eq!(operator_messages(i8, "300", "int[n]", found), [TOO_LARGE]);
        let early = "b[i,] = i, i < n | i < 100;";
        assert!(operator_messages(i8, "300", "int[n]", early).is_empty());
        let local = "z = i + 1, b[i,] = a[i,] > 0.0 ? z : 0, i < n;";
        assert!(operator_messages(i8, "127", "int[n]", local).is_empty());
        assert_eq!(operator_messages(i8, "128", "int[n]", local).len(), 1);
    }

    #[test]
    fn extents_and_literals_beyond_the_type_are_reported() {
        let i8 = IntType::I8;
        for shape in ["300", "s|300"] {
            let found = operator_messages(i8, shape, "int[]", "b[] = n;");
            assert_eq!(found, ["SK3004: `b` may be 300, which does not fit i8"]);
        }
        // Another formula may reduce it, whatever its initial value.
        assert!(operator_messages(i8, "9", "int[]", "b[] = 1000; b[] <= i * i, i < n;").is_empty());
    }

    #[test]
    fn steps_of_loops_beyond_the_type_are_reported() {
        let text = |shape: &str| {
            format!(
                "operator f {{ @input {{ a: int[]; k: int[]; }} @output {{ b: int[]; }} @lower {{ b[] = k[]; }} }} \
                 graph G {{ @input {{ x: int[]; }} @output {{ y: int[]; }} @compose {{ y = with s = x do..(i -> {shape}) f(s, i); }} }}"
            )
        };
        let i8 = IntType::I8;
        let found = messages(i8, &text("300"));
        assert_eq!(found, ["SK3004: `i` may be 299, which does not fit i8"]);
        assert!(messages(i8, &text("128")).is_empty());
        assert!(messages(i8, &text("x")).is_empty());
    }
}
