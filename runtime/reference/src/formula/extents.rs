// SPDX-License-Identifier: Apache-2.0
//! Replaces dynamic extents in formulas by literals before planning.

use crate::error::EvalError;
use crate::frame::Frame;
use skript_frontend::model::{Expr, Formula, Node};
use skript_semantics::Scalar;
use std::borrow::Cow;

/// Replaces all dynamic extents in the formula by their current values.
pub(super) fn resolved<'f>(frame: &Frame<'_>, formula: &'f Formula) -> Result<Cow<'f, Formula>, EvalError> {
    let mut exprs = formula
        .locals
        .iter()
        .map(|l| &l.value)
        .chain(&formula.predicate)
        .chain(formula.targets.iter().flat_map(|t| t.subscripts.iter().chain([&t.value])));
    if !exprs.any(mentions) {
        return Ok(Cow::Borrowed(formula));
    }
    let mut formula = formula.clone();
    for local in &mut formula.locals {
        resolve(frame, &mut local.value)?;
    }
    if let Some(predicate) = &mut formula.predicate {
        resolve(frame, predicate)?;
    }
    for target in &mut formula.targets {
        for subscript in &mut target.subscripts {
            resolve(frame, subscript)?;
        }
        resolve(frame, &mut target.value)?;
    }
    Ok(Cow::Owned(formula))
}

fn mentions(expr: &Expr) -> bool {
    matches!(expr.node, Node::Extent(_)) || expr.children().into_iter().any(mentions)
}

fn resolve(frame: &Frame<'_>, expr: &mut Expr) -> Result<(), EvalError> {
    match &mut expr.node {
        Node::Extent(extent) => {
            expr.node = Node::Literal(Scalar::Int(frame.int_extent(extent)?));
            Ok(())
        }
        Node::Literal(_) | Node::Index(_) | Node::Local(_) => Ok(()),
        Node::Access { subscripts, .. } => subscripts.iter_mut().try_for_each(|s| resolve(frame, s)),
        Node::Table { index, .. } => resolve(frame, index),
        Node::Apply { operands, .. } => operands.iter_mut().try_for_each(|o| resolve(frame, o)),
        Node::Select { condition, then, otherwise } => {
            [condition, then, otherwise].into_iter().try_for_each(|e| resolve(frame, e))
        }
    }
}
