// SPDX-License-Identifier: Apache-2.0
//! The result types of branches (2.10.1): one type for each result, independent of the executed branch.

use std::sync::Arc;

use crate::compose::control_flow::branches::Form;
use crate::compose::invocations::builder::Builder;
use crate::eval::TensorRef;
use crate::model::{Extent, ShapeExpr, TensorType};

/// The results of a branch: their structure, and all their tensors in order.
pub(crate) type BranchResults = (Vec<Form>, Vec<TensorRef>);

/// The common types of all branches' results. If extents differ and at least one of them is dynamic, the executed
/// branch decides: the result is a new dynamic extent with the largest of the upper bounds. Extents that differ in the
/// same way, in any results, share one. `None` if the results differ in number, structure, type, rank or static
/// extents. With `fixed_decide`, static extents may differ too.
pub(crate) fn joined(
    builder: &mut Builder<'_>,
    branches: &[BranchResults],
    fixed_decide: bool,
) -> Option<Vec<TensorType>> {
    let ((forms, first), others) = branches.split_first()?;
    if others.iter().any(|(f, tensors)| f != forms || tensors.len() != first.len()) {
        return None;
    }
    let mut known: Vec<(Vec<Extent>, Extent)> = Vec::new();
    let mut types = Vec::with_capacity(first.len());
    for (position, tensor) in first.iter().enumerate() {
        let tensors: Vec<&TensorType> =
            branches.iter().filter_map(|(_, tensors)| tensors.get(position)).map(|t| &*t.tensor).collect();
        let (kind, rank) = (tensor.tensor.kind, tensor.tensor.shape.len());
        if tensors.iter().any(|t| t.kind != kind || t.shape.len() != rank) {
            return None;
        }
        let mut shape = Vec::with_capacity(rank);
        for dimension in 0..rank {
            let extents: Vec<Extent> =
                tensors.iter().filter_map(|t| t.shape.get(dimension).cloned()).collect();
            shape.push(common(builder, extents, &mut known, fixed_decide)?);
        }
        types.push(TensorType { kind, shape });
    }
    Some(types)
}

fn common(
    builder: &mut Builder<'_>,
    extents: Vec<Extent>,
    known: &mut Vec<(Vec<Extent>, Extent)>,
    fixed_decide: bool,
) -> Option<Extent> {
    let first = extents.first()?;
    if extents.iter().all(|e| e == first) {
        return Some(first.clone());
    }
    if !fixed_decide && extents.iter().all(|e| e.fixed().is_some()) {
        return None;
    }
    if let Some((_, extent)) = known.iter().find(|(others, _)| *others == extents) {
        return Some(extent.clone());
    }
    let extent = Extent::Dynamic {
        expr: Arc::new(ShapeExpr::Symbol(builder.fresh_extent())),
        bound: extents.iter().map(Extent::bound).max()?,
    };
    known.push((extents, extent.clone()));
    Some(extent)
}
