// SPDX-License-Identifier: Apache-2.0
//! Inputs whose pack lengths or extents are known only at run time.

use crate::command_line::InputShape;
use skript_frontend::ast::{Declaration, Definition, Expr, ExprKind, ExtentSpec};

/// The name of an input and the shapes of its tensors; a pack has several tensors.
pub(super) type WholeShape = (String, Vec<Vec<u64>>);

/// Returns the shapes, or an error if an extent of an input is unknown.
pub(super) fn whole_shapes(shapes: &[InputShape]) -> Result<Vec<WholeShape>, String> {
    let whole = shapes.iter().map(|(name, shapes)| {
        let known: Option<Vec<Vec<u64>>> =
            shapes.iter().map(|shape| shape.iter().copied().collect()).collect();
        let open = || {
            format!("--input-shape {name}: extents that stay as they are (-1 and ?) are for ONNX models; write all extents")
        };
        Ok((name.clone(), known.ok_or_else(open)?))
    });
    whole.collect()
}

/// Whether the length of a pack is determined only by the tensors passed at run time.
pub(super) fn has_open_length(graph: &Definition, input: &Declaration) -> bool {
    let Some(pack) = &input.type_spec.pack else {
        return false;
    };
    let Some(length) = &pack.length else {
        return true;
    };
    let ExprKind::Name(name) = &length.kind else {
        return false;
    };
    let is_name = |expr: Option<&Expr>| matches!(expr.map(|e| &e.kind), Some(ExprKind::Name(other)) if other.name == name.name);
    let mut lengths = graph.attributes.iter().filter_map(|a| a.type_spec.pack.as_ref()?.length.as_ref());
    let of_attributes = lengths.any(|length| is_name(Some(length)));
    let is_attribute = graph.attributes.iter().any(|a| a.name.name == name.name);
    let mut specs = graph.inputs.iter().map(|input| &input.type_spec);
    let of_inputs = specs.any(|spec| {
        let mut extents = spec.shape.iter().flatten();
        let pack = spec.pack.as_ref().filter(|pack| pack.bound.is_some());
        extents.any(|extent| is_name(extent.extent.as_ref()))
            || is_name(pack.and_then(|pack| pack.length.as_ref()))
    });
    !(is_attribute || of_attributes || of_inputs)
}

/// Whether a graph may be the main graph. The inputs of the main graph determine all extents; graphs that other graphs
/// invoke may leave extents and shapes undetermined (2.6).
pub(super) fn may_be_main(graph: &Definition) -> bool {
    graph.inputs.iter().all(|input| {
        let extents = input.type_spec.shape.as_ref();
        let open = |extent: &ExtentSpec| extent.extent.is_none() && extent.bound.is_none();
        extents.is_some_and(|extents| !extents.iter().any(open))
    })
}
