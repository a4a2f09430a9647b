//! A tensor of a pack that each step of a formula chooses (2.12): a chain of choices between elements.

use skript_semantics::ScalarOp;

use super::evaluator::{EvalResult, Evaluator, count, stop};
use super::runtime;
use super::value::{Atom, Chosen, TensorRef};
use crate::diagnostics::codes::UNEXPECTED_VALUE;
use crate::model::{Expr, Node};
use crate::source::Span;

impl Chosen {
    /// `None` if the items are no tensors of one type. `wraps`: negative positions count from the end, as they do while
    /// composing; positions that rest on data do not.
    pub fn of(items: &[Atom], index: &Expr, wraps: bool) -> Option<Chosen> {
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
        let index = match wraps && !is_index {
            true => {
                let length = Expr::int(count(tensors.len()));
                let below = runtime::compare(ScalarOp::Lt, index.clone(), Expr::int(0));
                let turned = Expr::apply(index.kind, ScalarOp::Add, vec![index.clone(), length]);
                runtime::select(below, turned, index.clone())
            }
            false => index.clone(),
        };
        Some(Chosen { tensors, index })
    }

    /// Whether the tensor at a position is chosen.
    pub fn is_at(&self, position: usize) -> Expr {
        runtime::compare(ScalarOp::Eq, self.index.clone(), Expr::int(count(position)))
    }
}

impl Evaluator<'_> {
    /// The element of the chosen tensor; positions beyond the pack choose the nearest one.
    pub(super) fn chosen_element(
        &mut self,
        chosen: &Chosen,
        indices: &[Atom],
        span: Span,
    ) -> EvalResult<Atom> {
        let Some(first) = chosen.tensors.first() else {
            return stop(&UNEXPECTED_VALUE, span, "an empty pack has no items");
        };
        // They have one shape, so the guards of one are those of all.
        let subscripts = self.resolve(first, indices, span)?;
        let element = |tensor: &TensorRef| Expr {
            kind: tensor.tensor.kind,
            node: Node::Access {
                tensor: tensor.id,
                subscripts: subscripts.clone(),
            },
        };
        let mut result: Option<Expr> = None;
        for (position, tensor) in chosen.tensors.iter().enumerate().rev() {
            result = Some(match result {
                None => element(tensor),
                Some(later) => {
                    let last = Expr::int(count(position));
                    let here = runtime::compare(ScalarOp::Le, chosen.index.clone(), last);
                    runtime::select(here, element(tensor), later)
                }
            });
        }
        Ok(result.map_or(Atom::Poison, Atom::from_expr))
    }
}
