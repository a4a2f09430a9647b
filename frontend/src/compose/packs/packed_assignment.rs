// SPDX-License-Identifier: Apache-2.0
//! Packed assignment to a pack of dynamic length, `ys[i,] = xs[i,] * 2.0` (2.12), or to all positions of a dimension that
//! is dynamic or long, `y[i,:] = x[i,:] * 2.0`: one more index, innermost, iterates over the items.
//!
//! In the language one step writes all items, after one test of the condition. The two agree if all items have one
//! condition, and no item depends on the write of another item in the same step.

use crate::ast::{Expr as Text, ExprKind, FoldOp, Lowering, LoweringOp};
use crate::compose::invocations::builder::Builder;
use crate::compose::shapes::checks::{Verdict, equality, keep_extent_check, parts, text};
use crate::compose::shapes::dynamic_extent::extent_of;
use crate::diagnostics::codes::{FORMULA, LIMIT_EXCEEDED, PACK_LENGTHS_DIFFER};
use crate::eval::ranges::{Known, Work, collect_facts, extent_expr};
use crate::eval::runtime::literal_bool;
use crate::eval::scope::Every;
use crate::eval::series::fold::whole_pack;
use crate::eval::series::with_leaves;
use crate::eval::stop::{EvalResult, stop};
use crate::eval::value::count;
use crate::eval::{Atom, Evaluator, Scope, Series, TargetIndex, TensorRef, Value, runtime};
use crate::limits::Limits;
use crate::model::{Accumulation, Check, Expr, Extent, Formula, FormulaIndex, FormulaLocal, Node};
use crate::source::Span;
use rustc_hash::FxHashSet;
use skript_semantics::ScalarOp;
use std::rc::Rc;

/// Lengths of two packs that a formula reads together, and the span of the second pack.
pub(in crate::compose) type PackExtents = (Extent, Extent, Span);

/// The extent up to which the positions of a dimension are written one by one: an index iterates over a longer
/// dimension.
const MAX_ONE_BY_ONE: u64 = 64;

/// The dimension whose positions a formula writes as one step, and its extent, unless they are written one by one.
/// Locals have no values yet.
pub(in crate::compose) fn sliced(
    evaluator: &mut Evaluator,
    scope: &Scope,
    lowering: &Lowering,
) -> Option<(usize, Extent)> {
    let target = &lowering.target;
    let output = match scope.get(&target.name.name) {
        Some(Value::Atom(Atom::Tensor(output))) if target.item.is_none() => output,
        _ => return None,
    };
    let indices = evaluator.target_indices(&target.subscripts).ok()?;
    let mut several = indices.iter().enumerate();
    let mut several = several.by_ref().filter(|(_, index)| !matches!(index, TargetIndex::One(_)));
    let (dimension, index) = several.next()?;
    let extent = output.tensor.shape.get(dimension)?;
    if several.next().is_some() || !index.covers(extent) {
        return None;
    }
    match extent {
        // If only a few positions are written, their values may be read from other positions among them.
        Extent::Fixed(n) if *n <= MAX_ONE_BY_ONE || lowering.names_read().any(|n| n == target.name.name) => {
            None
        }
        _ => Some((dimension, extent.clone())),
    }
}

/// The length of the pack of dynamic length that a packed assignment writes.
pub(in crate::compose) fn length(scope: &Scope, lowering: &Lowering) -> Option<Extent> {
    let target = &lowering.target;
    match scope.get(&target.name.name) {
        Some(Value::Atom(Atom::Stack(stack))) if target.item.is_none() => stack.tensor.shape.first().cloned(),
        _ => None,
    }
}

pub(in crate::compose) fn check(
    every: Every,
    formula: &mut Formula,
    lowering: &Lowering,
    limits: &Limits,
) -> EvalResult<Vec<PackExtents>> {
    let item = Node::Index(every.index);
    if let Some(condition) = formula.predicate.take() {
        let location = lowering.condition.as_ref().map_or(lowering.span, |c| c.span);
        let max_operations = limits.extent_operations;
        let all = of_all_items(condition, &every, &formula.locals, max_operations);
        let Some(all) = all else {
            let message = format!(
                "a packed assignment has one condition, that of all items: unrolled for up to {} items, \
                     it has more than {max_operations} operations (limit `extent_operations`); lower the bound of the \
                     length, or write the items, `ys[k][…]` with `k < n`, each with its condition",
                every.length.bound()
            );
            return stop(&LIMIT_EXCEEDED, location, message);
        };
        formula.predicate = Some(all);
    }
    let outputs: FxHashSet<_> = formula.targets.iter().map(|t| t.output).collect();
    let apart = |(tensor, subscripts): &(_, &[Expr])| {
        !outputs.contains(tensor) || subscripts.get(every.dimension).is_some_and(|s| s.node == item)
    };
    if !formula.accesses().iter().all(apart) {
        if every.is_slice {
            let name = &lowering.target.name.name;
            let message = format!(
                "`{name}` is written at all positions of a dynamic dimension in one step, and the value or the \
                     condition reads another position of it; write the positions with an index of their own, \
                     `{name}[…,j]` with `j < n`"
            );
            return stop(&FORMULA, lowering.span, message);
        }
        let message = "a pack of dynamic length is assigned item by item, but an item, or the condition, depends on another item of it; \
             assign the items, `ys[k][…]` with `k < n`";
        return stop(&FORMULA, lowering.span, message);
    }
    let mut beside = Vec::new();
    for (other, span) in every.others {
        if let Verdict::Fails = agree(&every.length, &other) {
            let message = format!("a pack of {other} items is assigned to a pack of {}", every.length);
            return stop(&PACK_LENGTHS_DIFFER, span, message);
        }
        beside.push((every.length.clone(), other, span));
    }
    Ok(beside)
}

/// The conjunction of a condition over all items, as for a pack of static length; `None` if it takes more than
/// `max_operations` operations.
fn of_all_items(
    condition: Expr,
    every: &Every,
    locals: &[FormulaLocal],
    max_operations: usize,
) -> Option<Expr> {
    // The size of each local's value at an item; `None` if it is the same for all.
    let mut sizes: Vec<Option<usize>> = Vec::with_capacity(locals.len());
    for local in locals {
        sizes.push(size_at_item(&local.value, every.index, &sizes));
    }
    let Some(size) = size_at_item(&condition, every.index, &sizes) else {
        return Some(condition);
    };
    let items = usize::try_from(every.length.bound()).ok()?;
    if items.saturating_mul(size) > max_operations {
        return None;
    }
    let length = extent_expr(&every.length);
    let holds = (0..items).map(|k| {
        let position = Expr::int(count(k));
        let here = at_item(&condition, (every.index, &position), locals, &sizes);
        let inside = runtime::compare(ScalarOp::Lt, position, length.clone());
        runtime::select(inside, here, literal_bool(true))
    });
    Some(holds.reduce(runtime::and).unwrap_or(literal_bool(true)))
}

fn size_at_item(expr: &Expr, item: usize, locals: &[Option<usize>]) -> Option<usize> {
    let mut open = vec![expr];
    let (mut size, mut depends) = (0_usize, false);
    while let Some(expr) = open.pop() {
        let local = match expr.node {
            Node::Local(position) => locals.get(position).copied().flatten(),
            _ => None,
        };
        depends |= expr.node == Node::Index(item) || local.is_some();
        size = size.saturating_add(local.unwrap_or(1));
        open.extend(expr.children());
    }
    depends.then_some(size)
}

/// An expression at one item, with locals that depend on the item substituted.
fn at_item(
    expr: &Expr,
    (item, position): (usize, &Expr),
    locals: &[FormulaLocal],
    sizes: &[Option<usize>],
) -> Expr {
    with_leaves(expr, &|leaf| match leaf.node {
        Node::Index(index) if index == item => Some(position.clone()),
        Node::Local(local) if sizes.get(local).is_some_and(Option::is_some) => {
            let value = &locals.get(local)?.value;
            Some(at_item(value, (item, position), locals, sizes))
        }
        _ => None,
    })
}

fn agree(a: &Extent, b: &Extent) -> Verdict {
    let atom = |extent| Atom::from_expr(extent_expr(extent));
    equality(&atom(a), &atom(b))
}

/// Adds run-time checks that packs which are read together have equal lengths, unless the lengths are known to be equal.
pub(in crate::compose) fn same_lengths(builder: &mut Builder, beside: Vec<PackExtents>) {
    for (length, other, span) in beside {
        let known = |verdict: &Verdict| match verdict {
            Verdict::Open(equal) => builder.function.checks.iter().any(|c| c.condition == *equal),
            Verdict::Holds | Verdict::Fails => true,
        };
        let equal = agree(&length, &other);
        if known(&equal) || known(&agree(&other, &length)) {
            continue;
        }
        if let Verdict::Open(condition) = equal {
            let part = |extent: &Extent| Value::Atom(Atom::from_expr(extent_expr(extent)));
            let mut message = Vec::new();
            text("a pack of ", &mut message);
            parts(&part(&other), &mut message);
            text(" items is assigned to a pack of ", &mut message);
            parts(&part(&length), &mut message);
            keep_extent_check(builder, condition, message, span);
        }
    }
}

/// A fold that is the full value of a formula.
pub(in crate::compose) struct Reduction {
    pub kind: Accumulation,
    /// The index that iterates over the items.
    pub index: FormulaIndex,
    items: Rc<Series>,
}

impl Reduction {
    /// The fold that a value consists of, over elements of all items; `None` for other values. Minimum and maximum are
    /// accumulated only if these checks establish that there is an item.
    pub(crate) fn from_fold(
        evaluator: &mut Evaluator,
        value: &Text,
        checks: &[Check],
    ) -> EvalResult<Option<Reduction>> {
        let fold = match &value.kind {
            ExprKind::Coalesce { value, .. } => value,
            _ => value,
        };
        let ExprKind::Fold { pack, op, cumulative: false } = &fold.kind else {
            return Ok(None);
        };
        let kind = match op {
            FoldOp::Add => Accumulation::Sum,
            FoldOp::Mul => Accumulation::Product,
            FoldOp::And => Accumulation::All,
            FoldOp::Or => Accumulation::Any,
            FoldOp::Min => Accumulation::Min,
            FoldOp::Max => Accumulation::Max,
            _ => return Ok(None),
        };
        let (pack, guards) = evaluator.guarded(|evaluator| whole_pack(evaluator, pack))?;
        let Value::Atom(Atom::Series(items)) = pack else {
            return Ok(None);
        };
        let may_be_none = matches!(kind, Accumulation::Min | Accumulation::Max);
        if !guards.is_empty() || !items.reads() {
            return Ok(None);
        }
        if may_be_none && !is_some(&items, checks) {
            if !evaluator.refuses_empty_folds() {
                return Ok(None);
            }
            evaluator.require_items(*op, &items.length, fold.span)?;
        }
        let index = extent_of(&items.length).map(|extent| FormulaIndex { name: "item".to_string(), extent });
        Ok(index.map(|index| Reduction { kind, index, items }))
    }

    /// The value at one step of the index at this position of the formula.
    pub(crate) fn value(&self, index: usize) -> Value {
        Value::Atom(Atom::from_expr(self.items.at(&Expr::index(index))))
    }
}

/// Whether earlier run-time checks establish that there is an item.
fn is_some(items: &Series, checks: &[Check]) -> bool {
    let mut facts = Vec::new();
    for check in checks {
        collect_facts(&check.condition, true, &mut facts);
    }
    let work = Work::default();
    let known = Known::new((&[], &[]), &facts, &work);
    known.interval(&items.length).low > 0
}

/// Whether steps over these indices write each element of a tensor exactly once.
pub(in crate::compose) fn writes_each_once(
    output: &TensorRef,
    subscripts: &[Expr],
    indices: &[FormulaIndex],
) -> bool {
    let shape = &output.tensor.shape;
    let mut seen = vec![false; indices.len()];
    let are_distinct = subscripts.iter().zip(shape).all(|(subscript, extent)| {
        let Node::Index(position) = subscript.node else {
            return false;
        };
        let new = seen.get_mut(position).is_some_and(|seen| !std::mem::replace(seen, true));
        new && indices.get(position).is_some_and(|index| index.extent == *extent)
    });
    are_distinct && subscripts.len() == shape.len() && seen.iter().all(|seen| *seen)
}

/// How a formula combines several values for one element.
pub(in crate::compose) fn accumulation(op: LoweringOp) -> Accumulation {
    match op {
        LoweringOp::Assign => Accumulation::Assign,
        LoweringOp::Replace => Accumulation::Replace,
        LoweringOp::Sum => Accumulation::Sum,
        LoweringOp::Product => Accumulation::Product,
        LoweringOp::All => Accumulation::All,
        LoweringOp::Any => Accumulation::Any,
        LoweringOp::Min => Accumulation::Min,
        LoweringOp::Max => Accumulation::Max,
    }
}
