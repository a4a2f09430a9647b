//! Tensor accesses in formulas (2.12).

use std::rc::Rc;

use skript_semantics::{ScalarKind, ScalarOp};

use super::evaluator::{EvalResult, Evaluator, Stop, describe, stop};
use super::runtime;
use super::value::{Atom, Guarded, TensorRef, Value};
use crate::ast::Subscript;
use crate::diagnostics::codes::{RANK_MISMATCH, UNEXPECTED_VALUE};
use crate::model::{self, Extent, Node};
use crate::source::Span;

impl Evaluator<'_> {
    /// An element of a tensor, or of each tensor of a pack.
    pub(super) fn access(
        &mut self,
        base: &Value,
        subscripts: &[Subscript],
        span: Span,
    ) -> EvalResult<Value> {
        if self.formula.is_none() {
            return stop(
                &UNEXPECTED_VALUE,
                span,
                "elements of tensors are accessible in formulas only",
            );
        }
        let indices = self.subscripts(subscripts)?;
        self.map(base, |this, item| match item {
            Atom::Tensor(tensor) => {
                let subscripts = this.resolve(&tensor, &indices, span)?;
                Ok(Atom::Run(Rc::new(model::Expr {
                    kind: tensor.tensor.kind,
                    node: Node::Access {
                        tensor: tensor.id,
                        subscripts,
                    },
                })))
            }
            Atom::Poison => Err(Stop::Poison),
            other => stop(
                &UNEXPECTED_VALUE,
                span,
                format!("{} has no elements", other.describe()),
            ),
        })
    }

    /// All indices in order, packs expanded; a null index leaves its dimension out.
    pub fn subscripts(&mut self, subscripts: &[Subscript]) -> EvalResult<Vec<Atom>> {
        let mut indices = Vec::new();
        for subscript in subscripts {
            let (value, span) = match subscript {
                Subscript::Expr(expr) => (self.eval(expr)?, expr.span),
                Subscript::Expand { value, count, span } => {
                    (self.expand(value, count.as_ref(), *span)?, *span)
                }
                Subscript::Guard {
                    index, remap, span, ..
                } => (self.guard(index, remap.as_ref())?, *span),
                Subscript::Range {
                    begin: None,
                    end: None,
                    stride: None,
                    span,
                } => {
                    return stop(
                        &crate::diagnostics::codes::NOT_SUPPORTED_YET,
                        *span,
                        "full slices in accesses are not supported yet",
                    );
                }
                Subscript::Range { span, .. } => {
                    return stop(&UNEXPECTED_VALUE, *span, "a range cannot stand here");
                }
            };
            if let Value::Atom(atom) = &value
                && !matches!(atom, Atom::Guarded(_))
                && atom.kind() != Some(ScalarKind::Int)
            {
                return stop(
                    &UNEXPECTED_VALUE,
                    span,
                    format!("an index must be an int, this is {}", describe(&value)),
                );
            }
            indices.extend(value.atoms().iter().cloned());
        }
        Ok(indices)
    }

    /// Subscripts for one tensor: guards become conditions, remaps become choices.
    pub fn resolve(
        &mut self,
        tensor: &TensorRef,
        indices: &[Atom],
        span: Span,
    ) -> EvalResult<Vec<model::Expr>> {
        let shape = &tensor.tensor.shape;
        if shape.len() != indices.len() {
            return stop(
                &RANK_MISMATCH,
                span,
                format!(
                    "the tensor has {} dimensions, {} indices are given",
                    shape.len(),
                    indices.len()
                ),
            );
        }
        let mut subscripts = Vec::with_capacity(indices.len());
        for (index, extent) in indices.iter().zip(shape) {
            subscripts.push(match index {
                Atom::Guarded(guarded) => self.resolve_guard(guarded, extent, span)?,
                other => int_expr(other, span)?,
            });
        }
        Ok(subscripts)
    }

    fn resolve_guard(
        &mut self,
        guarded: &Guarded,
        extent: &Extent,
        span: Span,
    ) -> EvalResult<model::Expr> {
        let index = int_expr(&guarded.index, span)?;
        let extent = int_expr(&self.extent_atom(extent, span)?, span)?;
        let below = runtime::compare(ScalarOp::Lt, index.clone(), model::Expr::int(0));
        let beyond = runtime::compare(ScalarOp::Ge, index.clone(), extent.clone());
        match &guarded.remap {
            None => {
                self.require(runtime::compare(
                    ScalarOp::Ge,
                    index.clone(),
                    model::Expr::int(0),
                ));
                self.require(runtime::compare(ScalarOp::Lt, index.clone(), extent));
                Ok(index)
            }
            Some((low, high)) => {
                let low = int_expr(low, span)?;
                let high = int_expr(high, span)?;
                Ok(runtime::select(
                    below,
                    low,
                    runtime::select(beyond, high, index),
                ))
            }
        }
    }
}

fn int_expr(atom: &Atom, span: Span) -> EvalResult<model::Expr> {
    match atom.to_expr() {
        Some(expr) if expr.kind == ScalarKind::Int => Ok(expr),
        _ => stop(
            &UNEXPECTED_VALUE,
            span,
            format!("an index must be an int, this is {}", atom.describe()),
        ),
    }
}
