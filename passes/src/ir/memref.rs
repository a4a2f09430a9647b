// SPDX-License-Identifier: Apache-2.0
//! Operations of the dialect `memref`.

use super::uses::definition;
use super::{ValueKey, ops};
use melior::ir::Value;
use melior::ir::operation::{OperationLike, OperationRef};

/// Operations that view their first operand.
const VIEWS: &[&str] = &[
    ops::memref::SUBVIEW,
    ops::memref::CAST,
    ops::memref::COLLAPSE_SHAPE,
    ops::memref::EXPAND_SHAPE,
    ops::memref::REINTERPRET_CAST,
    ops::memref::VIEW,
    ops::memref::TRANSPOSE,
    ops::memref::MEMORY_SPACE_CAST,
];

/// Whether an operation is a view of its first operand.
pub(crate) fn is_view(op: OperationRef) -> bool {
    VIEWS.iter().any(|view| skript_dialect::op::is(&op, view))
}

/// Identifies the allocation or argument that a memref is a view of.
pub(crate) fn root_of(value: Value) -> ValueKey {
    let op = definition(value).map(|(op, _)| op);
    let view = op.filter(|op| is_view(*op));
    let viewed = view.and_then(|view| view.operand(0).ok());
    viewed.map_or(ValueKey::of(value), root_of)
}
