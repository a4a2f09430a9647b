// SPDX-License-Identifier: Apache-2.0
//! Converts `@lower` blocks to formulas in normal form (2.12).

use crate::ast::{Expr, Ident, IterationCount, LoopBound, Lowering, LoweringOp};
use crate::compose::accesses::Spans;
use crate::compose::accesses::bounds::secure;
use crate::compose::accesses::step_conditions::with_recorded_steps;
use crate::compose::calls::{Composed, Reported};
use crate::compose::context::Context;
use crate::compose::declarations::tensors::declare_outputs;
use crate::compose::formulas::assigned_tensors::{AssignedTensors, targets};
use crate::compose::formulas::full_slices::FullSlices;
use crate::compose::formulas::index_order::{check_index_order, split, write_selected};
use crate::compose::formulas::local_tensors::declare_target;
use crate::compose::formulas::recurrences::{append, refused};
use crate::compose::invocations::builder::Builder;
use crate::compose::packs::packed_assignment::{
    self, PackExtents, Reduction, accumulation, same_lengths, writes_each_once,
};
use crate::compose::shapes::checks::keep_demands;
use crate::compose::shapes::dynamic_extent::{extent_of, largest};
use crate::diagnostics::codes::{FORMULA, LIMIT_EXCEEDED, PACK_LENGTHS_DIFFER};
use crate::eval::ranges::collect_facts;
use crate::eval::scope::Every;
use crate::eval::series::fold::together;
use crate::eval::stop::{EvalResult, computed_guard, stop};
use crate::eval::value::count;
use crate::eval::{
    Atom, Demand, Demands, Evaluator, FormulaState, Scope, Stop, TargetIndex, TensorRef, Value, runtime,
};
use crate::model::{
    self, Accumulation, Body, Extent, Formula, FormulaIndex, FormulaLocal, Init, Node, Target, ValueId,
};
use crate::source::Span;
use rustc_hash::FxHashSet;
use skript_semantics::{Scalar, ScalarKind, ScalarOp};

/// The maximum size of locals without tensor reads that are substituted at their uses.
const INLINE_NODES: usize = 48;

/// An unrolled index variable: the position of its bound, the item within the bound, and the current value.
type Fixed = ((usize, usize), i64);

/// One attempt at a formula, before initial values are selected.
pub(in crate::compose) struct Draft {
    pub formula: Formula,
    /// The indices of the formula that enclose an unrolled index.
    pub outer: Vec<usize>,
    /// Pairs of lengths that the formula requires to be equal.
    pub beside: Vec<PackExtents>,
    /// Conditions to check at run time.
    pub(crate) demands: Vec<Demand>,
    /// Formulas to execute before this one, which stop the run if they find a step out of bounds.
    pub searches: Vec<Formula>,
    /// The formula as written, which determines the initial values of its outputs.
    pub(crate) as_written: Accumulation,
}

pub(crate) fn lowered(context: &mut Context, builder: &mut Builder) -> Composed<()> {
    declare_outputs(context, builder)?;
    let definition = builder.operator.definition;
    let mut formulas = Vec::new();
    let mut written: FxHashSet<ValueId> = FxHashSet::default();
    let mut result = Ok(());
    for group in definition.recurrences() {
        for lowering in group {
            result = declare_target(context, builder, lowering).and(result);
        }
        let drafts = match group {
            [lowering] => drafts_of(context, builder, lowering),
            group => drafts_of_group(context, builder, group),
        };
        match drafts {
            Ok(drafts) => {
                // An assignment to no elements has no effect.
                for mut draft in drafts.into_iter().filter(|d| !d.formula.targets.is_empty()) {
                    let kind = draft.as_written;
                    let findings: Vec<usize> = draft.formula.findings.iter().map(|f| f.target).collect();
                    for (position, target) in draft.formula.targets.iter_mut().enumerate() {
                        if !findings.contains(&position) && written.insert(target.output) {
                            target.init = Init::Fill(kind.identity(target.value.kind));
                        }
                    }
                    same_lengths(builder, draft.beside);
                    result = keep_demands(context, builder, draft.demands).and(result);
                    draft.searches.push(draft.formula);
                    formulas.extend(with_recorded_steps(builder, draft.searches));
                }
            }
            Err(reported) => result = Err(reported),
        }
    }
    result?;
    let outputs = builder.function.outputs.iter().flat_map(|port| port.tensors.values()).copied();
    let mut filled: Vec<ValueId> = outputs.chain(builder.local_tensors.iter().copied()).collect();
    filled.retain(|tensor| !written.contains(tensor));
    filled.sort();
    // Formulas may read these tensors.
    let fills = filled.into_iter().filter_map(|tensor| fill(builder, tensor));
    builder.function.body = Body::Formulas(fills.chain(formulas).collect());
    Ok(())
}

fn drafts_of(context: &mut Context, builder: &Builder, lowering: &Lowering) -> Composed<Vec<Draft>> {
    let result = unrolled(context, builder, lowering);
    result.map_err(|stop| stopped(context, lowering, stop))
}

/// The formula of outputs that advance together.
fn drafts_of_group(context: &mut Context, builder: &Builder, lowers: &[Lowering]) -> Composed<Vec<Draft>> {
    let mut joined: Option<Draft> = None;
    for lowering in lowers {
        let mut drafts = drafts_of(context, builder, lowering)?;
        let appended = match (drafts.pop(), drafts.pop(), &mut joined) {
            (Some(draft), None, None) if draft.outer.is_empty() => {
                joined = Some(draft);
                Ok(())
            }
            (Some(mut draft), None, Some(first)) if draft.outer.is_empty() => {
                first.beside.append(&mut draft.beside);
                first.demands.append(&mut draft.demands);
                first.searches.append(&mut draft.searches);
                append(&mut first.formula, draft.formula, &first.searches, lowering)
            }
            _ => refused(lowering, "assign one tensor in each step"),
        };
        appended.map_err(|stop| context.failed(stop))?;
    }
    Ok(joined.into_iter().collect())
}

fn stopped(context: &mut Context, lowering: &Lowering, stop: Stop) -> Reported {
    match stop {
        Stop::Unroll(_) => {
            context.error(&FORMULA, lowering.span, "this formula cannot be unrolled over its index")
        }
        other => context.failed(other),
    }
}

/// `unroll..(k -> n)`: one formula for each k.
fn unrolled(context: &Context, builder: &Builder, lowering: &Lowering) -> EvalResult<Vec<Draft>> {
    let mut drafts = Vec::new();
    let Some(unroll) = &lowering.unroll else {
        ordered(context, builder, &builder.scope, lowering, &mut drafts)?;
        return Ok(drafts);
    };
    let mut evaluator = builder.evaluator(context.limits);
    let count = match &unroll.count {
        Some(expr) => match evaluator.eval(expr)? {
            Value::Atom(Atom::Runtime(_)) => {
                let around = looped(lowering, unroll, expr);
                ordered(context, builder, &builder.scope, &around, &mut drafts)?;
                return Ok(drafts);
            }
            _ => evaluator.int(expr)?,
        },
        None => None,
    };
    let Some(count) = count else {
        return Ok(drafts);
    };
    check_unrolled(context, count, unroll.span)?;
    for k in 0..count {
        let mut scope = builder.scope.clone();
        scope.push();
        if let Some(index) = &unroll.index {
            scope.set(index.name.clone(), Value::int(k));
        }
        ordered(context, builder, &scope, lowering, &mut drafts)?;
    }
    Ok(drafts)
}

/// The state of the formula that an evaluator worked on.
fn state_of(evaluator: Evaluator) -> FormulaState {
    let state = evaluator.formula;
    state.unwrap_or_else(|| unreachable!("internal compiler error: an evaluator without a formula"))
}

/// Appends the formulas of a statement, in the order of its loops.
fn ordered(
    context: &Context,
    builder: &Builder,
    scope: &Scope,
    lowering: &Lowering,
    drafts: &mut Vec<Draft>,
) -> EvalResult<()> {
    let mut expanded = Vec::new();
    expand_formula(context, builder, scope, lowering, &mut Vec::new(), &mut expanded)?;
    if let Err(refusal) = check_index_order(&expanded, lowering) {
        let mut attempt = Attempt::new(context, builder, lowering);
        attempt.keeps_order = true;
        let Ok(formula) = attempt.run(scope, &[]) else {
            return Err(refusal);
        };
        expanded = vec![attempt.draft(formula, Vec::new())];
    }
    drafts.append(&mut expanded);
    Ok(())
}

/// Converts a statement to exactly one formula; also returns the searches to execute before it.
pub(crate) fn one_formula(
    context: &mut Context,
    builder: &mut Builder,
    lowering: &Lowering,
) -> Composed<(Vec<Formula>, Formula)> {
    let (formula, demands, searches) = {
        let mut attempt = Attempt::new(context, builder, lowering);
        attempt.keeps_order = true;
        attempt.counts = true;
        let formula = match &lowering.unroll {
            Some(_) => Err(Stop::Unroll(0)),
            None => attempt.run(&builder.scope, &[]),
        };
        (formula, attempt.demands.take(), attempt.searches)
    };
    let formula = formula.map_err(|stop| stopped(context, lowering, stop))?;
    keep_demands(context, builder, demands)?;
    Ok((with_recorded_steps(builder, searches), formula))
}

fn check_unrolled(context: &Context, count: i64, span: Span) -> EvalResult<()> {
    if usize::try_from(count).is_ok_and(|n| n > context.limits.unrolled) {
        let message = format!(
            "unrolling yields {count} formulas, but the limit `unrolled` is {}",
            context.limits.unrolled
        );
        return stop(&LIMIT_EXCEEDED, span, message);
    }
    Ok(())
}

/// Normalizes the formula; if an index must be a compile-time value, once for each of its values.
fn expand_formula(
    context: &Context,
    builder: &Builder,
    scope: &Scope,
    lowering: &Lowering,
    fixed: &mut Vec<Fixed>,
    drafts: &mut Vec<Draft>,
) -> EvalResult<()> {
    let mut attempt = Attempt::new(context, builder, lowering);
    match attempt.run(scope, fixed) {
        Ok(formula) => {
            let last = fixed.iter().map(|(key, _)| *key).max();
            let outer =
                attempt.keys.iter().enumerate().filter(|(_, (key, _))| last.is_some_and(|last| *key < last));
            let outer: Vec<usize> = outer.map(|(position, _)| position).collect();
            let parts = split(formula).into_iter();
            drafts.extend(parts.map(|formula| attempt.draft(formula, outer.clone())));
            if drafts.len() > context.limits.unrolled {
                check_unrolled(context, count(drafts.len()), lowering.span)?;
            }
            Ok(())
        }
        Err(Stop::Unroll(position)) => {
            let Some((key, Some(extent))) = attempt.keys.get(position).copied() else {
                return Err(Stop::Unroll(position));
            };
            check_unrolled(context, extent, lowering.span)?;
            for value in 0..extent {
                fixed.push((key, value));
                let result = expand_formula(context, builder, scope, lowering, fixed, drafts);
                fixed.pop();
                result?;
            }
            Ok(())
        }
        Err(stop) => Err(stop),
    }
}

/// The maximum extent of an index that is unrolled because a bound depends on it, although the bound could become a condition.
/// Unrolled loops have exact extents and no iterations without effect. Bufferization is slow for many of them, and nested loops
/// multiply their number.
const MAX_FORMULAS: i64 = 4;

/// The work of an attempt beside its expressions.
const ATTEMPT_WORK: usize = 64;
/// The work for a node of a formula, which the model holds.
const WORK_PER_NODE: usize = 8;
/// The work for a bound, beside its expression and the indices before it.
const BOUND_WORK: usize = 4;

struct Attempt<'a, 'p, 's> {
    context: &'a Context<'p, 's>,
    builder: &'a Builder<'p>,
    lowering: &'a Lowering,
    indices: Vec<FormulaIndex>,
    /// For each index: its bound and item, and its extent if it is static.
    keys: Vec<((usize, usize), Option<i64>)>,
    locals: Vec<FormulaLocal>,
    /// Conditions for indices whose bounds depend on other indices.
    within: Vec<model::Expr>,
    beside: Vec<PackExtents>,
    demands: Demands,
    searches: Vec<Formula>,
    as_written: Accumulation,
    /// See [`FormulaState::keeps_order`].
    keeps_order: bool,
    /// Whether the formula counts the steps that write.
    counts: bool,
    /// The message for bounds that are null.
    null_bounds: Vec<String>,
}

impl<'a, 'p, 's> Attempt<'a, 'p, 's> {
    fn new(context: &'a Context<'p, 's>, builder: &'a Builder<'p>, lowering: &'a Lowering) -> Self {
        Attempt {
            context,
            builder,
            lowering,
            indices: Vec::new(),
            keys: Vec::new(),
            null_bounds: Vec::new(),
            locals: Vec::new(),
            within: Vec::new(),
            beside: Vec::new(),
            demands: Demands::default(),
            searches: Vec::new(),
            as_written: accumulation(lowering.op),
            keeps_order: false,
            counts: false,
        }
    }

    fn draft(&mut self, formula: Formula, outer: Vec<usize>) -> Draft {
        Draft {
            formula,
            outer,
            beside: self.beside.clone(),
            demands: self.demands.take(),
            searches: std::mem::take(&mut self.searches),
            as_written: self.as_written,
        }
    }

    fn evaluator<'b>(&'b self, scope: &'b Scope, state: FormulaState) -> Evaluator<'b> {
        let mut evaluator = Evaluator::new(
            scope,
            &self.builder.types,
            &self.builder.language,
            self.context.limits,
            &self.demands,
        );
        evaluator.formula = Some(FormulaState { indices: self.indices.clone(), ..state });
        evaluator
    }

    fn run(&mut self, scope: &Scope, fixed: &[Fixed]) -> EvalResult<Formula> {
        let (scope, state) = self.loops(scope, fixed)?;
        self.assignment(&scope, state).map_err(|mut stop| {
            if let (Stop::Error(error), false) = (&mut stop, self.null_bounds.is_empty()) {
                error.help = Some(self.null_bounds.join("; "));
            }
            stop
        })
    }

    /// The indices and local values of the formula, as names of a scope.
    fn loops(&mut self, scope: &Scope, fixed: &[Fixed]) -> EvalResult<(Scope, FormulaState)> {
        let lowering = self.lowering;
        self.context.limits.charge(ATTEMPT_WORK, lowering.span)?;
        let mut scope = scope.clone();
        scope.push();
        for (position, bound) in lowering.bounds.iter().enumerate() {
            self.context.limits.charge(BOUND_WORK + self.indices.len(), bound.span)?;
            let value = self.evaluator(&scope, FormulaState::default()).eval(&bound.bound)?;
            let packed = matches!(value, Value::Pack(_));
            if value.is_null() {
                scope.set(bound.name.name.clone(), Value::Null);
                let text = self.context.source_text(bound.bound.span);
                let name = &bound.name.name;
                self.null_bounds.push(format!(
                    "the bound `{text}` of `{name}` is null, so `{name}` is not an index: write a value, or a fallback, `{name} < ({text} ?? 1)`"
                ));
                continue;
            }
            let mut atoms = Vec::new();
            for (item, atom) in value.atoms().enumerate() {
                let name =
                    if packed { format!("{}.{item}", bound.name.name) } else { bound.name.name.clone() };
                atoms.push(self.index(name, (position, item), &atom, fixed, bound.bound.span)?);
            }
            let value = match (packed, atoms.first()) {
                (false, Some(single)) => Value::Atom(single.clone()),
                _ => Value::pack(atoms),
            };
            scope.set(bound.name.name.clone(), value);
        }
        let pack = packed_assignment::length(&scope, lowering).map(|length| (false, 0, length));
        let slice = || self.sliced(&scope).map(|(at, extent)| (true, at, extent));
        let iterated = pack.or_else(slice);
        let every = iterated.map(|(is_slice, dimension, length)| {
            let index = self.indices.len();
            self.indices.push(FormulaIndex {
                name: format!("{}.item", lowering.target.name.name),
                extent: length.clone(),
            });
            self.keys.push(((lowering.bounds.len(), 0), None));
            Every { index, dimension, is_slice, length, others: Vec::new() }
        });
        let mut facts = Vec::new();
        for within in &self.within {
            collect_facts(within, true, &mut facts);
        }
        let mut state = FormulaState {
            facts,
            guards: vec![Vec::new()],
            every,
            keeps_order: self.keeps_order,
            ..FormulaState::default()
        };
        for (name, expr) in &lowering.locals {
            let mut evaluator = self.evaluator(&scope, std::mem::take(&mut state));
            let evaluated = evaluator.guarded(|e| e.eval(expr));
            state = state_of(evaluator);
            let (value, guards) = evaluated?;
            let value = self.local(&name.name, value);
            if guards.is_empty() {
                state.local_guards.remove(&name.name);
            } else {
                state.local_guards.insert(name.name.clone(), guards);
            }
            scope.set(name.name.clone(), value);
        }
        Ok((scope, state))
    }

    /// See [`packed_assignment::sliced`]. In a formula that counts its steps, a slice is one step.
    fn sliced(&self, scope: &Scope) -> Option<(usize, Extent)> {
        if self.counts {
            return None;
        }
        let mut scope = scope.clone();
        for (name, _) in &self.lowering.locals {
            scope.set(name.name.clone(), Value::int(0));
        }
        let demands = Demands::default();
        let mut evaluator = self.evaluator(&scope, FormulaState::default());
        evaluator.demands = &demands;
        packed_assignment::sliced(&mut evaluator, &scope, self.lowering)
    }

    /// The value of an index variable.
    fn index(
        &mut self,
        name: String,
        key: (usize, usize),
        extent: &Atom,
        fixed: &[Fixed],
        span: Span,
    ) -> EvalResult<Atom> {
        if let Some((_, value)) = fixed.iter().find(|(k, _)| *k == key) {
            return Ok(Atom::Int(*value));
        }
        let extent = match extent {
            Atom::Int(n) => *n,
            Atom::Runtime(expr) => match crate::eval::index::free_index(expr) {
                Some(other) if self.unrolls_for_bound(other, expr) => {
                    return Err(Stop::Unroll(other));
                }
                cause => {
                    let extent = match cause {
                        Some(_) => largest(expr, &self.indices),
                        None => extent_of(expr),
                    };
                    let Some(extent) = extent else {
                        return if runtime::reads(expr) {
                            let message = "a bound cannot depend on tensor data; bound the index by an extent and write a condition, \
                                 `j < n | j < x[i,]`";
                            stop(&FORMULA, span, message)
                        } else {
                            stop(&FORMULA, span, "this bound has no upper bound; limit it, `bound << 100`")
                        };
                    };
                    let position = self.indices.len();
                    let index = model::Expr::index(position);
                    if cause.is_some() {
                        let bound = (**expr).clone();
                        self.within.push(runtime::compare(ScalarOp::Lt, index.clone(), bound));
                    }
                    self.indices.push(FormulaIndex { name, extent });
                    self.keys.push((key, None));
                    return Ok(Atom::from_expr(index));
                }
            },
            Atom::Guarded(_) => return computed_guard(span),
            other => {
                return stop(&FORMULA, span, format!("a bound must be an int, this is {}", other.describe()));
            }
        };
        let position = self.indices.len();
        self.indices.push(FormulaIndex {
            name,
            // The range of a negative bound is empty.
            extent: Extent::Fixed(extent.max(0).unsigned_abs()),
        });
        self.keys.push((key, Some(extent.max(0))));
        Ok(Atom::from_expr(model::Expr::index(position)))
    }

    /// Whether to unroll an index that a bound depends on. If the index has many values and the bound has a maximum, the bound
    /// becomes a condition instead.
    fn unrolls_for_bound(&self, index: usize, bound: &model::Expr) -> bool {
        let extent = self.keys.get(index).and_then(|(_, extent)| *extent);
        let is_static = extent.filter(|_| !self.keeps_order);
        is_static.is_some_and(|n| n <= MAX_FORMULAS || largest(bound, &self.indices).is_none())
    }

    /// A local: substituted if it is small and reads no tensor, else let-bound.
    fn local(&mut self, name: &str, value: Value) -> Value {
        let packed = matches!(value, Value::Pack(_));
        let mut atoms = Vec::with_capacity(value.atoms().len());
        for (item, atom) in value.atoms().enumerate() {
            let Atom::Runtime(expr) = &atom else {
                atoms.push(atom);
                continue;
            };
            if !runtime::reads(expr) && expr.size() <= INLINE_NODES {
                atoms.push(atom);
                continue;
            }
            let position = self.locals.len();
            self.locals.push(FormulaLocal {
                name: if packed { format!("{name}.{item}") } else { name.to_string() },
                value: (**expr).clone(),
            });
            atoms.push(Atom::from_expr(model::Expr { kind: expr.kind, node: Node::Local(position) }));
        }
        match (value, atoms.first()) {
            (Value::Null, _) => Value::Null,
            (Value::Atom(_), Some(single)) => Value::Atom(single.clone()),
            _ => Value::pack(atoms),
        }
    }

    fn assignment(&mut self, scope: &Scope, state: FormulaState) -> EvalResult<Formula> {
        let lowering = self.lowering;
        let within = std::mem::take(&mut self.within).into_iter().reduce(runtime::and);
        let mut evaluator = self.evaluator(scope, state);
        let condition = self.condition(&mut evaluator)?;
        let (outputs, item, selected) = match targets(&mut evaluator, scope, lowering)? {
            AssignedTensors::Tensors(tensors) => (tensors, None, None),
            AssignedTensors::Item(stack, item) => (vec![stack], Some(item), None),
            AssignedTensors::Selected(selected) => (selected.tensors.clone(), None, Some(selected)),
        };
        self.check_outputs(&outputs)?;
        let mut indices = evaluator.target_indices(&lowering.target.subscripts)?;
        if let Some(item) = item {
            indices.insert(0, TargetIndex::One(item));
        }
        let state = evaluator.formula.as_ref();
        let every = state.and_then(|f| f.every.as_ref()).map(|every| (every.dimension, every.index));
        let slices = FullSlices::new(&indices, &outputs, (every, self.indices.len()), lowering)?;
        let outputs = slices.repeated(outputs);
        let mut subscripts = Vec::with_capacity(outputs.len());
        for (output, indices) in outputs.iter().zip(slices.locations) {
            subscripts.push(evaluator.resolve(output, &indices, lowering.target.span)?);
        }
        let reduction = match (outputs.as_slice(), subscripts.as_slice()) {
            ([output], [subscripts]) if condition.is_none() && within.is_none() => {
                self.reduction(&mut evaluator, output, subscripts)?
            }
            _ => None,
        };
        let value = match &reduction {
            Some(reduction) => reduction.value(self.indices.len()),
            None => evaluator.eval(&lowering.value)?,
        };
        let spread = (outputs.len(), every.is_some(), selected.is_some());
        let values = assigned_values(&mut evaluator, &value, spread, lowering.value.span)?;
        let mut state = state_of(evaluator);
        if let Some(reduction) = &reduction {
            self.as_written = reduction.kind;
        }
        if state.guards.is_empty() {
            unreachable!("internal compiler error: a formula without a frame of guards")
        }
        let guards = state.guards.swap_remove(0);
        let mut written = Vec::with_capacity(outputs.len());
        for ((output, subscripts), value) in outputs.iter().zip(subscripts).zip(values) {
            let value = written_value(&value, output.tensor.kind, lowering.value.span)?;
            written.push(Target { output: output.id, subscripts, value, init: Init::Continue });
        }
        let added = slices.added.into_iter().chain(reduction.map(|reduction| reduction.index));
        let mut formula = Formula {
            indices: std::mem::take(&mut self.indices).into_iter().chain(added).collect(),
            locals: std::mem::take(&mut self.locals),
            predicate: predicate(guards, within.into_iter().chain(condition).reduce(runtime::and)),
            kind: self.as_written,
            targets: written,
            findings: Vec::new(),
            span: lowering.span,
        };
        if let Some(selected) = selected {
            let selections = count(outputs.len()).saturating_mul(count(outputs.len()));
            check_unrolled(self.context, selections, lowering.span)?;
            write_selected(&mut formula, &selected);
        }
        self.secured(formula, state)
    }

    /// The condition of the steps that write, which holds in the expressions that are evaluated after it.
    fn condition(&self, evaluator: &mut Evaluator) -> EvalResult<Option<model::Expr>> {
        let Some(expr) = &self.lowering.condition else {
            return Ok(None);
        };
        let (value, guards) = evaluator.guarded(|e| {
            let conditions = e.eval(expr)?;
            together(e, conditions, expr.span)
        })?;
        let holds = condition(&value, guards, expr.span)?;
        if let Some(state) = &mut evaluator.formula {
            collect_facts(&holds, true, &mut state.facts);
        }
        Ok(Some(holds))
    }

    fn check_outputs(&self, outputs: &[TensorRef]) -> EvalResult<()> {
        let written_to = |id: ValueId| {
            let mut ports = self.builder.function.outputs.iter();
            self.builder.local_tensors.contains(&id) || ports.any(|port| port.tensors.values().contains(&id))
        };
        if !outputs.iter().all(|o| written_to(o.id)) {
            let target = &self.lowering.target;
            return stop(&FORMULA, target.span, format!("`{}` is not an output", target.name.name));
        }
        Ok(())
    }

    /// The reduction that replaces a fold, if each step writes its own element.
    fn reduction(
        &self,
        evaluator: &mut Evaluator,
        output: &TensorRef,
        subscripts: &[model::Expr],
    ) -> EvalResult<Option<Reduction>> {
        let is_assigned = matches!(self.lowering.op, LoweringOp::Assign);
        if !is_assigned || !writes_each_once(output, subscripts, &self.indices) {
            return Ok(None);
        }
        Reduction::from_fold(evaluator, &self.lowering.value, &self.builder.function.checks)
    }

    /// The formula with its accesses in bounds. Records the run-time checks that this requires.
    fn secured(&mut self, mut formula: Formula, state: FormulaState) -> EvalResult<Formula> {
        let (lowering, limits) = (self.lowering, self.context.limits);
        if let Some(every) = state.every {
            self.beside = packed_assignment::check(every, &mut formula, lowering, limits)?;
        }
        let function = &self.builder.function;
        let beside = (self.beside.as_slice(), state.positions.as_slice());
        let spans =
            Spans { accessed: &state.accessed, target: lowering.target.span, value: lowering.value.span };
        let secured = secure(&mut formula, function, beside, &spans, (self.counts, limits))?;
        secured.demands.into_iter().for_each(|d| self.demands.push(d));
        self.searches.extend(secured.searches);
        let nodes = formula.exprs_mut().iter().map(|expr| expr.size()).sum::<usize>();
        limits.charge(WORK_PER_NODE * nodes, lowering.span)?;
        Ok(formula)
    }
}

/// A dynamic number of loop nests: one additional outer loop.
fn looped(lowering: &Lowering, unroll: &IterationCount, count: &Expr) -> Lowering {
    let unnamed = || Ident { name: "unroll.step".to_string(), span: unroll.span };
    let mut around = lowering.clone();
    around.unroll = None;
    around.bounds.insert(
        0,
        LoopBound {
            name: unroll.index.clone().unwrap_or_else(unnamed),
            bound: count.clone(),
            span: unroll.span,
        },
    );
    around
}

/// Combines a condition with its guards, which come first.
fn condition(value: &Value, guards: Vec<model::Expr>, span: Span) -> EvalResult<model::Expr> {
    let mut result =
        guards.into_iter().reduce(runtime::and).unwrap_or_else(|| model::Expr::literal(Scalar::Bool(true)));
    for atom in value.atoms() {
        match atom.to_expr() {
            Some(expr) if expr.kind == ScalarKind::Bool => result = runtime::and(result, expr),
            _ => {
                let message = format!("a condition must be bool, this is {}", atom.describe());
                return stop(&FORMULA, span, message);
            }
        }
    }
    Ok(result)
}

/// Guards that read no tensor come first, then the condition, then the remaining guards.
fn predicate(guards: Vec<model::Expr>, condition: Option<model::Expr>) -> Option<model::Expr> {
    let (reading, plain): (Vec<_>, Vec<_>) = guards.into_iter().partition(runtime::reads);
    let whole = plain.into_iter().chain(condition).chain(reading).reduce(runtime::and)?;
    (runtime::bool_literal(&whole) != Some(true)).then_some(whole)
}

/// Fills a tensor that no formula writes with `T()` (errata 16).
fn fill(builder: &Builder, output: ValueId) -> Option<Formula> {
    let declared = builder.function.values.get(output.0 as usize)?;
    let value = declared.tensor.kind.default_value();
    let indices = FormulaIndex::over(&declared.tensor.shape);
    let target = Target {
        output,
        subscripts: (0..indices.len()).map(model::Expr::index).collect(),
        value: model::Expr::literal(value),
        init: Init::Fill(value),
    };
    Some(Formula::assignment(indices, target, declared.span))
}

/// The values to assign to `outputs` tensors. `every`: a pack is assigned item by item; `selected`: each step writes one of the
/// tensors.
fn assigned_values(
    evaluator: &mut Evaluator,
    value: &Value,
    (outputs, every, selected): (usize, bool, bool),
    span: Span,
) -> EvalResult<Vec<Atom>> {
    Ok(match value {
        Value::Null => {
            let message = "the value of the formula is null here; resolve it with `??`";
            return stop(&FORMULA, span, message);
        }
        Value::Atom(Atom::Series(series)) => vec![evaluator.item_here(series, span)?; outputs],
        Value::Atom(atom) => vec![atom.clone(); outputs],
        Value::Pack(pack) if pack.len() == outputs && !selected => pack.iter().collect::<Vec<_>>(),
        Value::Pack(pack) if every && outputs == 1 => vec![evaluator.item_of_pack_here(pack, span)?],
        Value::Pack(pack) => {
            let tensors = if selected { 1 } else { outputs };
            let message = format!("{} values are assigned to {tensors} tensors", pack.len());
            return stop(&PACK_LENGTHS_DIFFER, span, message);
        }
    })
}

/// Converts the assigned value to an expression; reports an error if its type is not that of the output.
fn written_value(value: &Atom, kind: ScalarKind, span: Span) -> EvalResult<model::Expr> {
    match value.to_expr() {
        Some(expr) if expr.kind == kind => Ok(expr),
        _ if matches!(value, Atom::Guarded(_)) => computed_guard(span),
        _ => {
            let given = value.kind().map_or(value.describe(), ScalarKind::name);
            stop(&FORMULA, span, format!("the output is {}, the value is {given}", kind.name()))
        }
    }
}
