// SPDX-License-Identifier: Apache-2.0
//! `y[i,] = xs[i,] + ..` over a pack of dynamic length (2.12): a formula that accumulates over one more index.
//! Unrolled, it would take time proportional to the upper bound of the length.

use std::rc::Rc;

use crate::ast::{Expr as Text, ExprKind, FoldOp, LoweringOp};
use crate::compose::shapes::dynamic_extent::extent_of;
use crate::eval::ranges::{Known, Work, collect_facts};
use crate::eval::stop::EvalResult;
use crate::eval::{Atom, Evaluator, Series, TensorRef, Value};
use crate::model::{Accumulation, Check, Expr, FormulaIndex, Node};

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
    ///
    /// # Errors
    /// An expression without a value.
    pub(crate) fn of(
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
        let (pack, guards) = evaluator.guarded(|evaluator| evaluator.whole_pack(pack))?;
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
    let own = subscripts.iter().zip(shape).all(|(subscript, extent)| {
        let Node::Index(position) = subscript.node else {
            return false;
        };
        let new = seen.get_mut(position).is_some_and(|seen| !std::mem::replace(seen, true));
        new && indices.get(position).is_some_and(|index| index.extent == *extent)
    });
    own && subscripts.len() == shape.len() && seen.iter().all(|seen| *seen)
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

#[cfg(test)]
mod tests {
    use crate::compose::testing::composed;
    use crate::model::{Accumulation, Body};

    /// For a formula over a pack of dynamic length: the kind of accumulation, and the number of indices.
    fn formula(line: &str) -> (Accumulation, usize) {
        let text = format!(
            "operator f {{ @input {{ xs: real[n]..(k); some: real[l]..(j); few: real[l]..(h); }} @output {{ y: real[n]; }} @assert {{ j > 0; }} @lower {{ {line}; }} }} \
             graph G {{ @input {{ xs: real[3]..(s|1000000); some: real[3]..(t|9); few: real[3]..(u|9); }} @output {{ y: real[3]; }} @compose {{ y = f(xs, some, few); }} }}"
        );
        let model = composed(&text).unwrap_or_else(|found| panic!("{line}: {found:?}"));
        let f = model.functions.iter().find(|f| f.name == "main.f").unwrap();
        let Body::Formulas(formulas) = &f.body else {
            panic!("{:?}", f.body);
        };
        (formulas[0].kind, formulas[0].indices.len())
    }

    #[test]
    fn s2_12_folds_of_items_accumulate() {
        let folded = [
            ("y[i,] = xs[i,] + .., i < n", Accumulation::Sum),
            ("d = xs[i,] * 2.0, y[i,] = d * d + .., i < n", Accumulation::Sum),
            ("y[i,] = xs[i,] * .., i < n", Accumulation::Product),
            ("y[i,] = (some[i,] << ..) ?? 0.0, i < n", Accumulation::Min),
        ];
        for (line, kind) in folded {
            assert_eq!(formula(line), (kind, 2), "{line}");
        }
        // The maximum of no items is another value, some steps write nothing, or the fold is only a part of the value.
        for line in [
            "y[i,] = (few[i,] >> ..) ?? 1.0, i < n",
            "y[i,] = some[i,] + .., i < n | i > 1",
            "y[0,] = some[i,] + .., i < n",
            "y[i,] = (some[i,] + ..) / 2.0, i < n",
        ] {
            assert_eq!(formula(line), (Accumulation::Assign, 1), "{line}");
        }
    }
}
