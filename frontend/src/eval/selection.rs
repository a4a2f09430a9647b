// SPDX-License-Identifier: Apache-2.0
//! Tensors of a pack that are selected in each step of a formula (2.12): a tree of selects between elements.

use crate::diagnostics::codes::UNEXPECTED_VALUE;
use crate::eval::evaluator::Evaluator;
use crate::eval::runtime;
use crate::eval::stop::{EvalResult, stop};
use crate::eval::value::{Atom, Selected, TensorRef, count};
use crate::model::{Expr, Node};
use crate::source::Span;
use skript_semantics::ScalarOp;

impl Selected {
    /// `None` if the items are not tensors of one type. With `wraps`, negative positions count from the end, as at
    /// compile time; positions that depend on data do not.
    pub(crate) fn new(items: &[Atom], index: &Expr, wraps: bool) -> Option<Selected> {
        let tensors = items.iter().map(|item| match item {
            Atom::Tensor(tensor) => Some(tensor.clone()),
            _ => None,
        });
        let tensors: Vec<TensorRef> = tensors.collect::<Option<_>>()?;
        let first = tensors.first()?;
        if tensors.iter().any(|t| t.tensor != first.tensor) {
            return None;
        }
        let is_index = matches!(index.node, Node::Index(_));
        let index = if wraps && !is_index {
            let length = Expr::int(count(tensors.len()));
            let below = runtime::compare(ScalarOp::Lt, index.clone(), Expr::int(0));
            let turned = Expr::apply(index.kind, ScalarOp::Add, vec![index.clone(), length]);
            runtime::select(below, turned, index.clone())
        } else {
            index.clone()
        };
        Some(Selected { tensors, index })
    }

    /// Whether the tensor at a position is selected.
    pub(crate) fn is_at(&self, position: usize) -> Expr {
        runtime::compare(ScalarOp::Eq, self.index.clone(), Expr::int(count(position)))
    }
}

/// The element of the selected tensor; positions out of range select the nearest tensor.
pub(super) fn selected_element(
    evaluator: &mut Evaluator,
    selected: &Selected,
    indices: &[Atom],
    span: Span,
) -> EvalResult<Atom> {
    let Some(first) = selected.tensors.first() else {
        return stop(&UNEXPECTED_VALUE, span, "an empty pack has no items");
    };
    // The tensors have the same shape, so the guards of one apply to all.
    let subscripts = evaluator.resolve(first, indices, span)?;
    let element = |tensor: &TensorRef| Expr {
        kind: tensor.tensor.kind,
        node: Node::Access { tensor: tensor.id, subscripts: subscripts.clone() },
    };
    Ok(Atom::from_expr(among(first, &selected.tensors, 0, &selected.index, &element)))
}

/// A tree of selects, whose nesting is logarithmic in the pack's length.
fn among(
    first: &TensorRef,
    tensors: &[TensorRef],
    position: usize,
    index: &Expr,
    element: &dyn Fn(&TensorRef) -> Expr,
) -> Expr {
    let (low, high) = tensors.split_at(tensors.len() / 2);
    match (low.len(), high) {
        (0, [single]) => element(single),
        (0, _) => element(first),
        (lower, _) => {
            let beyond = position.saturating_add(lower);
            let here = runtime::compare(ScalarOp::Lt, index.clone(), Expr::int(count(beyond)));
            let low = among(first, low, position, index, element);
            runtime::select(here, low, among(first, high, beyond, index, element))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{TensorType, ValueId};
    use skript_semantics::ScalarKind;
    use std::rc::Rc;

    fn pack(length: u32) -> Vec<Atom> {
        let tensor = Rc::new(TensorType { kind: ScalarKind::Real, shape: Vec::new() });
        let tensors = (0..length).map(|id| TensorRef { id: ValueId(id), tensor: Rc::clone(&tensor) });
        tensors.map(Atom::Tensor).collect()
    }

    fn depth(expr: &Expr) -> usize {
        1 + expr.children().into_iter().map(depth).fold(0, usize::max)
    }

    #[test]
    fn s2_12_choices_among_many_tensors_are_flat() {
        let index = Expr::index(0);
        let selected = Selected::new(&pack(1000), &index, true).unwrap();
        let element = |tensor: &TensorRef| Expr {
            kind: ScalarKind::Real,
            node: Node::Access { tensor: tensor.id, subscripts: Vec::new() },
        };
        let tree = among(&selected.tensors[0], &selected.tensors, 0, &index, &element);
        assert_eq!(depth(&tree), 12);
        // Each tensor once, in order.
        let mut accessed = Vec::new();
        let mut open = vec![&tree];
        while let Some(expr) = open.pop() {
            match &expr.node {
                Node::Access { tensor, .. } => accessed.push(tensor.0),
                Node::Select { then, otherwise, .. } => open.extend([&**otherwise, &**then]),
                _ => {}
            }
        }
        assert_eq!(accessed, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn tensors_of_several_types_are_not_chosen_from() {
        let mut items = pack(2);
        items.push(Atom::Int(1));
        assert!(Selected::new(&items, &Expr::index(0), true).is_none());
        assert!(Selected::new(&[], &Expr::index(0), true).is_none());
    }
}
