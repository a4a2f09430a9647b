// SPDX-License-Identifier: Apache-2.0
//! Proof that accesses are in bounds. Unproven reads are clamped, unproven writes guarded. A read of an empty tensor yields
//! the kind's default. [`crate::compose::accesses`] examines indices that depend on no data.

use crate::compose::accesses::index_range::Loops;
use crate::compose::accesses::step_conditions::record;
use crate::compose::accesses::{Spans, Tests, examine};
use crate::compose::packs::packed_assignment::PackExtents;
use crate::diagnostics::codes::{EMPTY_FOLD, INDEX_OUT_OF_RANGE};
use crate::eval::ranges::{Interval, Known, Work, box_facts, collect_facts, extent_expr, implied};
use crate::eval::runtime::literal_bool;
use crate::eval::stop::EvalResult;
use crate::eval::sum::Sum;
use crate::eval::{Demand, Position, Subject, runtime};
use crate::limits::Limits;
use crate::model::{
    Expr, Extent, Formula, FormulaIndex, FormulaLocal, Function, MessagePart, Node, Value, ValueId,
};
use skript_semantics::{Scalar, ScalarKind, ScalarOp};
use std::ops::{Add as _, Sub as _};

/// The run-time checks of a formula.
pub(crate) struct Secured {
    /// Tested at the beginning of the function.
    pub(crate) demands: Vec<Demand>,
    /// Formulas before the formula. Their targets have no tensors yet.
    pub searches: Vec<Formula>,
}

/// Brings every access of the formula in bounds (the invariant of [`crate::model::formula`]).
///
/// Returns the run-time checks, in addition to those of `beside`: that indices which do not depend on data are in
/// bounds, and that the `positions` of items exist. A formula that `counts` its writes depends on the count that it
/// computes, so conditions that read the count are not tested before the formula.
pub(crate) fn secure(
    formula: &mut Formula,
    function: &Function,
    (beside, positions): (&[PackExtents], &[Position]),
    spans: &Spans,
    (counts, limits): (bool, &Limits),
) -> EvalResult<Secured> {
    let values = &function.values;
    let mut tested = Vec::new();
    for check in &function.checks {
        collect_facts(&check.condition, true, &mut tested);
    }
    for (length, other, _) in beside {
        let equal = runtime::compare(ScalarOp::Eq, extent_expr(length), extent_expr(other));
        collect_facts(&equal, true, &mut tested);
    }
    let written = formula.clone();
    let work = Work::within(&limits.meter);
    let is_proven = make_safe(formula, values, &work);
    let Tests { mut demands, mut searches, inside } =
        if is_proven { Tests::default() } else { examine(&written, values, &tested, (spans, limits))? };
    if counts {
        let outputs = function.outputs.iter().flat_map(|p| p.tensors.values());
        let outputs: Vec<ValueId> = outputs.copied().collect();
        searches.retain(|s| s.accesses().iter().all(|(tensor, _)| !outputs.contains(tensor)));
    } else if !inside.is_empty() {
        *formula = written.clone();
        record(formula, values, inside);
        make_safe(formula, values, &work);
    }
    for search in &mut searches {
        make_safe(search, values, &work);
    }
    // A formula without steps accesses no item.
    let empty = written.indices.iter().any(|i| i.extent.bound() == 0);
    if written.predicate.is_none() && !empty {
        let loops = Loops { indices: &written.indices, facts: &tested, work: &work };
        for demand in positions.iter().filter_map(|p| item(&loops, p)) {
            if !demands.contains(&demand) {
                demands.push(demand);
            }
        }
    }
    limits.charge(work.total(), formula.span)?;
    Ok(Secured { demands, searches })
}

/// Clamps and guards unproven accesses; returns whether all accesses are proven in bounds.
fn make_safe(formula: &mut Formula, values: &[Value], work: &Work) -> bool {
    let indices = std::mem::take(&mut formula.indices);
    let mut locals: Vec<FormulaLocal> = Vec::new();
    let mut pass = Pass {
        values,
        indices: &indices,
        predicate: formula.predicate.clone(),
        always: Vec::new(),
        work,
        is_proven: true,
    };
    let mut facts = box_facts(&indices);
    pass.always = facts.clone();
    if let Some(predicate) = &formula.predicate {
        collect_facts(predicate, true, &mut facts);
    }
    let used = locals_below(formula.predicate.as_ref(), &formula.locals);
    for (position, local) in std::mem::take(&mut formula.locals).into_iter().enumerate() {
        // The predicate's own locals are evaluated before it holds.
        let always = pass.always.clone();
        let (known, predicate): (&[Sum], _) =
            if used.contains(&position) { (&always, None) } else { (&facts, formula.predicate.clone()) };
        pass.predicate = predicate;
        let value = pass.expr(local.value, &locals, known);
        locals.push(FormulaLocal { name: local.name, value });
    }
    if let Some(predicate) = formula.predicate.take() {
        // The predicate cannot prove its own accesses.
        let implying = predicate.clone();
        pass.predicate = None;
        formula.predicate = Some(pass.condition(predicate, &locals));
        pass.predicate = Some(implying);
    }
    let mut guards = Vec::new();
    for target in &mut formula.targets {
        let value = std::mem::replace(&mut target.value, Expr::int(0));
        target.value = pass.expr(value, &locals, &facts);
        let shape = pass.shape(target.output);
        let mut subscripts = Vec::with_capacity(shape.len());
        for (subscript, extent) in std::mem::take(&mut target.subscripts).into_iter().zip(shape) {
            let subscript = pass.expr(subscript, &locals, &facts);
            let known = pass.known(&locals, &facts);
            let low = known.interval(&subscript).low;
            let above = known.may_reach(&subscript, &extent);
            pass.is_proven &= low >= 0 && !above;
            if low < 0 {
                guards.push(runtime::compare(ScalarOp::Ge, subscript.clone(), Expr::int(0)));
            }
            if above {
                let size = extent_expr(&extent);
                guards.push(runtime::compare(ScalarOp::Lt, subscript.clone(), size));
            }
            subscripts.push(subscript);
        }
        target.subscripts = subscripts;
    }
    for guard in guards {
        formula.predicate = Some(match formula.predicate.take() {
            Some(predicate) if runtime::reads(&guard) => runtime::and(predicate, guard),
            Some(predicate) => runtime::and(guard, predicate),
            None => guard,
        });
    }
    if formula.predicate.as_ref().is_some_and(|p| runtime::bool_literal(p) == Some(true)) {
        formula.predicate = None;
    }
    let is_proven = pass.is_proven;
    formula.indices = indices;
    formula.locals = locals;
    drop_unused_units(formula);
    is_proven
}

/// Removes indices of extent 1 that are unused.
fn drop_unused_units(formula: &mut Formula) {
    let mut used = vec![false; formula.indices.len()];
    for expr in formula.exprs_mut() {
        for expr in expr.nested() {
            if let Node::Index(position) = expr.node
                && let Some(slot) = used.get_mut(position)
            {
                *slot = true;
            }
        }
    }
    let mut positions = Vec::with_capacity(used.len());
    let mut kept = Vec::new();
    for (index, used) in std::mem::take(&mut formula.indices).into_iter().zip(used) {
        positions.push(kept.len());
        if used || index.extent != Extent::Fixed(1) {
            kept.push(index);
        }
    }
    if kept.len() < positions.len() {
        for expr in formula.exprs_mut() {
            expr.for_each_mut(&mut |node| {
                if let Node::Index(position) = node
                    && let Some(new) = positions.get(*position)
                {
                    *position = *new;
                }
            });
        }
    }
    formula.indices = kept;
}

struct Pass<'a> {
    values: &'a [Value],
    indices: &'a [FormulaIndex],
    predicate: Option<Expr>,
    /// The facts of the loops.
    always: Vec<Sum>,
    work: &'a Work,
    /// Whether everything so far is in bounds as written.
    is_proven: bool,
}

impl<'a> Pass<'a> {
    /// The shape of a tensor. Tensors that record findings are not values yet; they have no dimensions.
    fn shape(&self, tensor: ValueId) -> Vec<Extent> {
        self.values.get(tensor.0 as usize).map_or_else(Vec::new, |value| value.tensor.shape.clone())
    }

    /// The predicate: each conjunct is evaluated only if all earlier conjuncts hold.
    fn condition(&mut self, predicate: Expr, locals: &[FormulaLocal]) -> Expr {
        let always = self.always.clone();
        self.expr(predicate, locals, &always)
    }

    fn expr(&mut self, expr: Expr, locals: &[FormulaLocal], facts: &[Sum]) -> Expr {
        let kind = expr.kind;
        let node = match expr.node {
            Node::Access { tensor, subscripts } => {
                return self.access(kind, tensor, subscripts, locals, facts);
            }
            Node::Table { items, index } => {
                let index = self.expr(*index, locals, facts);
                let Ok(size) = u64::try_from(items.len()) else {
                    unreachable!("internal compiler error: {} items", items.len())
                };
                let index = self.clamped(index, &Extent::Fixed(size), locals, facts);
                Node::Table { items, index: Box::new(index) }
            }
            Node::Select { condition, then, otherwise } => {
                let original = *condition;
                let condition = self.expr(original.clone(), locals, facts);
                match runtime::bool_literal(&condition) {
                    Some(true) => return self.expr(*then, locals, facts),
                    Some(false) => return self.expr(*otherwise, locals, facts),
                    None => {}
                }
                let mut when_true = facts.to_vec();
                let mut when_false = facts.to_vec();
                collect_facts(&condition, true, &mut when_true);
                collect_facts(&condition, false, &mut when_false);
                if let Some(predicate) = &self.predicate {
                    implied(predicate, &original, &mut when_true, &mut when_false);
                }
                let then = self.expr(*then, locals, &when_true);
                let otherwise = self.expr(*otherwise, locals, &when_false);
                return runtime::select(condition, then, otherwise);
            }
            Node::Apply { op, operands } => {
                let mut secured = Vec::with_capacity(operands.len());
                for operand in operands {
                    secured.push(self.expr(operand, locals, facts));
                }
                return self.simplified(kind, op, secured, locals, facts);
            }
            leaf @ (Node::Literal(_) | Node::Index(_) | Node::Local(_) | Node::Extent(_)) => leaf,
        };
        Expr { kind, node }
    }

    /// Folds comparisons and selects that the ranges decide, and indices that are always zero.
    fn simplified(
        &self,
        kind: ScalarKind,
        op: ScalarOp,
        operands: Vec<Expr>,
        locals: &[FormulaLocal],
        facts: &[Sum],
    ) -> Expr {
        match (op, operands.as_slice()) {
            (ScalarOp::Add | ScalarOp::Sub | ScalarOp::Mul | ScalarOp::Neg, _) if kind == ScalarKind::Int => {
                let sum = Sum::from(&Expr::apply(kind, op, operands));
                let (sum, _) = sum.split(|term| !self.is_unit(term));
                return sum.into();
            }
            (
                ScalarOp::Lt | ScalarOp::Le | ScalarOp::Gt | ScalarOp::Ge | ScalarOp::Eq | ScalarOp::Ne,
                [a, b],
            ) if a.kind == ScalarKind::Int => {
                let difference = Sum::from(a).sub(&Sum::from(b)).into();
                let Interval { low, high } = self.known(locals, facts).interval(&difference);
                let decided = match op {
                    ScalarOp::Lt if high < 0 => Some(true),
                    ScalarOp::Lt if low >= 0 => Some(false),
                    ScalarOp::Le if high <= 0 => Some(true),
                    ScalarOp::Le if low > 0 => Some(false),
                    ScalarOp::Gt if low > 0 => Some(true),
                    ScalarOp::Gt if high <= 0 => Some(false),
                    ScalarOp::Ge if low >= 0 => Some(true),
                    ScalarOp::Ge if high < 0 => Some(false),
                    ScalarOp::Eq if low > 0 || high < 0 => Some(false),
                    ScalarOp::Ne if low > 0 || high < 0 => Some(true),
                    _ => None,
                };
                if let Some(value) = decided
                    // A difference that wraps around does not determine the order.
                    && self.orders(a, b, locals, facts)
                {
                    return literal_bool(value);
                }
            }
            // Both sides are evaluated strictly: lazy operations are selects.
            (ScalarOp::And | ScalarOp::Or, _) => return runtime::simplified(op, kind, operands),
            (ScalarOp::Not, [a]) => {
                if let Some(value) = runtime::bool_literal(a) {
                    return literal_bool(!value);
                }
            }
            (ScalarOp::Select, [c, a, b]) => match runtime::bool_literal(c) {
                Some(true) => return a.clone(),
                Some(false) => return b.clone(),
                None => {}
            },
            _ => {}
        }
        Expr::apply(kind, op, operands)
    }

    /// Whether the difference of both sides fits i64.
    fn orders(&self, a: &Expr, b: &Expr, locals: &[FormulaLocal], facts: &[Sum]) -> bool {
        let small = |e: &Expr| {
            let Interval { low, high } = self.known(locals, facts).interval(e);
            low > i64::MIN / 4 && high < i64::MAX / 4
        };
        small(a) && small(b)
    }

    fn is_unit(&self, expr: &Expr) -> bool {
        match expr.node {
            Node::Index(position) => self.indices.get(position).is_some_and(|i| i.extent == Extent::Fixed(1)),
            _ => false,
        }
    }

    fn access(
        &mut self,
        kind: ScalarKind,
        tensor: ValueId,
        subscripts: Vec<Expr>,
        locals: &[FormulaLocal],
        facts: &[Sum],
    ) -> Expr {
        let shape = self.shape(tensor);
        if shape.iter().any(|e| e.bound() == 0) {
            self.is_proven = false;
            // An empty tensor has no element to read; the value is unused.
            return Expr::literal(kind.default_value());
        }
        let mut secured = Vec::with_capacity(subscripts.len());
        let mut has_elements = Expr::literal(Scalar::Bool(true));
        for (subscript, extent) in subscripts.into_iter().zip(shape) {
            let subscript = self.expr(subscript, locals, facts);
            let clamped = self.clamped(subscript.clone(), &extent, locals, facts);
            if clamped != subscript {
                self.is_proven = false;
                let known = self.known(locals, facts);
                if known.may_reach(&Expr::int(0), &extent) {
                    // The dimension may be empty at run time: then there is no nearest element.
                    let some = runtime::compare(ScalarOp::Gt, extent_expr(&extent), Expr::int(0));
                    has_elements = runtime::and(has_elements, some);
                }
            }
            secured.push(clamped);
        }
        let access = Expr { kind, node: Node::Access { tensor, subscripts: secured } };
        let nothing = Expr::literal(kind.default_value());
        runtime::select(has_elements, access, nothing)
    }

    fn known<'b>(&'b self, locals: &'b [FormulaLocal], facts: &'b [Sum]) -> Known<'b> {
        Known::new((self.indices, locals), facts, self.work)
    }

    /// The index if it is in range, else the nearest valid index.
    fn clamped(&self, index: Expr, extent: &Extent, locals: &[FormulaLocal], facts: &[Sum]) -> Expr {
        let known = self.known(locals, facts);
        let low = known.interval(&index).low;
        let above = known.may_reach(&index, extent);
        let int = |op, a, b| Expr::apply(ScalarKind::Int, op, vec![a, b]);
        let mut index = index;
        if above {
            let last = Sum::from(&extent_expr(extent)).plus(-1);
            index = int(ScalarOp::Min, index, last.into());
        }
        if low < 0 {
            index = int(ScalarOp::Max, index, Expr::int(0));
        }
        index
    }
}

/// The condition that the item of every step exists; `None` if no condition over extents expresses it.
fn item(loops: &Loops, position: &Position) -> Option<Demand> {
    let (low, high) = loops.exact(&position.index)?;
    let first = if position.from_end {
        Sum::from(&low).add(&Sum::from(&position.length)).into()
    } else {
        low.clone()
    };
    let within = Demand::within(&first, &high, &position.locations);
    let (code, message) = match position.subject {
        Subject::Item => (
            &INDEX_OUT_OF_RANGE,
            vec![
                MessagePart::Text("an index runs from ".to_string()),
                MessagePart::Value(low),
                MessagePart::Text(" to ".to_string()),
                MessagePart::Value(high),
                MessagePart::Text(": the pack has ".to_string()),
                MessagePart::Value(position.length.clone()),
                MessagePart::Text(" items".to_string()),
            ],
        ),
        Subject::FoldedPack => (
            &EMPTY_FOLD,
            vec![MessagePart::Text("in some steps of the formula this pack is empty".to_string())],
        ),
    };
    let demand = Demand { condition: loops.in_some_step(within), message, code, span: position.span };
    Some(demand.unless(&position.unless))
}

/// Positions of the locals that an expression depends on, directly or through other locals.
fn locals_below(expr: Option<&Expr>, locals: &[FormulaLocal]) -> Vec<usize> {
    let mut positions = Vec::new();
    let mut open: Vec<&Expr> = expr.into_iter().collect();
    while let Some(expr) = open.pop() {
        if let Node::Local(position) = expr.node
            && !positions.contains(&position)
        {
            positions.push(position);
            open.extend(locals.get(position).map(|local| &local.value));
        }
        open.extend(expr.children());
    }
    positions
}
