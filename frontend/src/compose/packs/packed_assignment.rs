// SPDX-License-Identifier: Apache-2.0
//! Packed assignment to a pack of dynamic length, `ys[i,] = xs[i,] * 2.0` (2.12), or to all positions of a dimension that
//! is dynamic or long, `y[i,:] = x[i,:] * 2.0`: one more index, innermost, iterates over the items.
//!
//! In the language one step writes all items, after one test of the condition. The two agree if all items have one
//! condition, and no item depends on the write of another item in the same step.

use rustc_hash::FxHashSet;
use skript_semantics::ScalarOp;

use crate::ast::Lowering;
use crate::compose::composer::Composer;
use crate::compose::formulas::write_partition::accesses;
use crate::compose::invocations::builder::Builder;
use crate::compose::shapes::affine_extent::collect_names;
use crate::compose::shapes::checks::{Verdict, equality, parts, text};
use crate::diagnostics::codes::{FORMULA, LIMIT_EXCEEDED, PACK_LENGTHS_DIFFER};
use crate::eval::evaluator::Every;
use crate::eval::ranges::extent_expr;
use crate::eval::runtime::literal_bool;
use crate::eval::series::with_leaves;
use crate::eval::stop::{EvalResult, stop};
use crate::eval::value::count;
use crate::eval::{Atom, Evaluator, Scope, TargetIndex, Value, runtime};
use crate::limits::Limits;
use crate::model::{Expr, Extent, Formula, FormulaLocal, Node};
use crate::source::Span;

/// Lengths of packs that a formula reads together, and the span of the second one.
pub(in crate::compose) type PackExtents = (Extent, Extent, Span);

/// The extent up to which the positions of a dimension are written one by one: an index iterates over a longer
/// dimension.
const ONE_BY_ONE: u64 = 64;

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
        // A few positions may be written with values read from others of them.
        Extent::Fixed(n) if *n <= ONE_BY_ONE || rests_on_itself(lowering) => None,
        _ => Some((dimension, extent.clone())),
    }
}

/// Whether a formula reads its own target.
fn rests_on_itself(lowering: &Lowering) -> bool {
    let locals = lowering.locals.iter().map(|(_, value)| value);
    let mut names = Vec::new();
    for expr in locals.chain([&lowering.value]).chain(&lowering.condition) {
        collect_names(expr, &mut names);
    }
    names.contains(&lowering.target.name.name)
}

/// The length of the pack of dynamic length that a packed assignment writes.
pub(in crate::compose) fn length(scope: &Scope, lowering: &Lowering) -> Option<Extent> {
    let target = &lowering.target;
    match scope.get(&target.name.name) {
        Some(Value::Atom(Atom::Stack(stack))) if target.item.is_none() => stack.tensor.shape.first().cloned(),
        _ => None,
    }
}

/// # Errors
/// A formula with another meaning than one step; packs whose lengths certainly differ.
pub(in crate::compose) fn check(
    every: Every,
    formula: &mut Formula,
    lowering: &Lowering,
    limits: &Limits,
) -> EvalResult<Vec<PackExtents>> {
    let item = Node::Index(every.index);
    if let Some(condition) = formula.predicate.take() {
        let location = lowering.condition.as_ref().map_or(lowering.span, |c| c.span);
        let most = limits.extent_operations;
        let all = of_all_items(condition, &every, &formula.locals, most);
        let Some(all) = all else {
            return stop(
                &LIMIT_EXCEEDED,
                location,
                format!(
                    "a packed assignment has one condition, that of all items: unrolled for up to {} items, \
                     it has more than {most} operations (limit `extent_operations`); lower the bound of the \
                     length, or write the items, `ys[k][…]` with `k < n`, each with its condition",
                    every.length.bound()
                ),
            );
        };
        formula.predicate = Some(all);
    }
    let outputs: FxHashSet<_> = formula.targets.iter().map(|t| t.output).collect();
    let apart = |(tensor, subscripts): &(_, &[Expr])| {
        !outputs.contains(tensor) || subscripts.get(every.dimension).is_some_and(|s| s.node == item)
    };
    if !accesses(formula).iter().all(apart) {
        if every.is_slice {
            let name = &lowering.target.name.name;
            return stop(
                &FORMULA,
                lowering.span,
                format!(
                    "`{name}` is written at all positions of a dynamic dimension in one step, and the value or the \
                     condition reads another position of it; write the positions with an index of their own, \
                     `{name}[…,j]` with `j < n`"
                ),
            );
        }
        return stop(
            &FORMULA,
            lowering.span,
            "a pack of dynamic length is assigned item by item, but an item, or the condition, depends on another item of it; \
             assign the items, `ys[k][…]` with `k < n`",
        );
    }
    let mut beside = Vec::new();
    for (other, span) in every.others {
        if let Verdict::Fails = agree(&every.length, &other) {
            return stop(
                &PACK_LENGTHS_DIFFER,
                span,
                format!("a pack of {other} items is assigned to a pack of {}", every.length),
            );
        }
        beside.push((every.length.clone(), other, span));
    }
    Ok(beside)
}

/// The conjunction of a condition over all items, as for a pack of static length; `None` if it takes more than so many
/// operations.
fn of_all_items(condition: Expr, every: &Every, locals: &[FormulaLocal], most: usize) -> Option<Expr> {
    // The size of each local's value at an item; `None` if it is the same for all.
    let mut sizes: Vec<Option<usize>> = Vec::with_capacity(locals.len());
    for local in locals {
        sizes.push(size_at_item(&local.value, every.index, &sizes));
    }
    let Some(size) = size_at_item(&condition, every.index, &sizes) else {
        return Some(condition);
    };
    let items = usize::try_from(every.length.bound()).ok()?;
    if items.saturating_mul(size) > most {
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
    let (mut size, mut own) = (0_usize, false);
    while let Some(expr) = open.pop() {
        let local = match expr.node {
            Node::Local(position) => locals.get(position).copied().flatten(),
            _ => None,
        };
        own |= expr.node == Node::Index(item) || local.is_some();
        size = size.saturating_add(local.unwrap_or(1));
        open.extend(expr.children());
    }
    own.then_some(size)
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

impl<'p> Composer<'p, '_> {
    /// Adds run-time checks that packs which are read together have one length, unless it is known.
    pub(in crate::compose) fn same_lengths(&mut self, builder: &mut Builder<'p>, beside: Vec<PackExtents>) {
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
                self.keep_extent_check(builder, condition, message, span);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::compose::ComposeOptions;
    use crate::compose::testing::{assert_composes, assert_fires, composed, composed_with};
    use crate::diagnostics::codes::{FORMULA, LIMIT_EXCEEDED, UNEXPECTED_VALUE};
    use crate::limits::Limits;

    /// An operator of packs `xs`, `zs` of dynamic length, with these formulas of `ys`.
    fn document(lengths: [&str; 2], formulas: &str) -> String {
        let [k, l] = lengths;
        format!(
            "operator cut {{ @input {{ x: real[n,m]; }} @output {{ ys: real[m]..(n); }} @lower {{ ys[k][i,] = x[k,i], k < n, i < m; }} }} \
             operator f {{ @input {{ xs: real[m]..({k}); zs: real[m]..({l}); w: real[m]; }} @output {{ ys: real[m]..(k); }} @lower {{ {formulas} }} }} \
             operator join {{ @input {{ xs: real[m]..(k); }} @output {{ y: real[k,m]; }} @lower {{ y[i,j] = xs[i][j,], i < k, j < m; }} }} \
             graph G {{ @input {{ x: real[s|4,2]; z: real[t|4,2]; w: real[2]; }} @output {{ y: real[~,2]; }} @compose {{ a.. = cut(x); b.. = cut(z); c.. = f(a, b, w); y = join(c); }} }}"
        )
    }

    #[test]
    fn s2_12_packs_of_run_time_length_are_assigned_in_one_step() {
        let text = document(
            ["k", "k"],
            "ys[i,] = 0.0, i < m; d = xs[i,] - zs[j,], ys[i,] += d * w[i,], i < m, j < m | w[j,] > 0.0;",
        );
        let model = composed(&text).unwrap();
        let f = model.functions.iter().find(|f| f.name == "main.f").unwrap();
        let crate::model::Body::Formulas(formulas) = &f.body else {
            panic!("{:?}", f.body);
        };
        // The items are the innermost index, and the first subscript.
        let indices: Vec<_> = formulas.iter().map(|f| f.indices.last().unwrap()).collect();
        assert!(indices.iter().all(|i| i.name == "ys.item" && i.extent.bound() == 4));
        assert!(formulas.iter().all(|f| f.targets.len() == 1 && f.targets[0].subscripts.len() == 2));
    }

    #[test]
    fn packs_beside_are_compared_once_by_every_run() {
        let checks = |lengths| {
            let model = composed(&document(lengths, "ys[i,] = xs[i,] * zs[i,] + zs[i,], i < m;"));
            let model = model.unwrap();
            let f = model.functions.iter().find(|f| f.name == "main.f").unwrap();
            f.checks.len()
        };
        // Where both are `k`, binding has compared them.
        assert_eq!((checks(["k", "k"]), checks(["k", "l"])), (1, 1));
    }

    #[test]
    fn one_step_is_not_taken_for_many() {
        for formula in [
            "ys[i,] := xs[i,], i < m | ys[i,] > xs[i,];",
            "ys[i,] := xs[i,], i < m | ys[0][i,] > 0.0;",
            "ys[i,] := xs[i,] + ys[0][i,], i < m;",
        ] {
            let text = document(["k", "k"], &format!("ys[i,] = 0.0, i < m; {formula}"));
            assert_fires(&FORMULA, &text);
        }
        let own = "ys[i,] = 0.0, i < m; ys[i,] := xs[i,] + ys[|i - 1|,], i < m | w[i,] > 0.0;";
        assert_composes(&document(["k", "k"], own));
    }

    /// As for a pack of static length, the items' conditions are combined into one.
    #[test]
    fn s2_12_conditions_of_items_hold_together() {
        let text = document(
            ["k", "k"],
            "ys[i,] = 0.0, i < m; d = xs[i,] - w[i,], ys[i,] := d, i < m | d > 0.0 && w[i,] > 1.0;",
        );
        assert_composes(&text);
        let mut limits = Limits::default();
        limits.set("extent_operations", 20).unwrap();
        let reported = composed_with(&text, &ComposeOptions::default(), &limits).unwrap_err();
        assert!(reported.iter().any(|d| d.code.id == LIMIT_EXCEEDED.id));
    }

    #[test]
    fn a_pack_without_an_item_stands_beside_a_packed_target() {
        assert_fires(&UNEXPECTED_VALUE, &document(["k", "k"], "ys[k][i,] = xs[i,], k < xs.size, i < m;"));
    }
}
