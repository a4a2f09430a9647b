// SPDX-License-Identifier: Apache-2.0
//! Replaces composites by calls of their decompositions, and erases meshes and sharding annotations, which do not
//! affect results.

use crate::typed::{Composite, CustomCall};
use melior::Error;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, ValueLike};
use skript_dialect::{melior, op};
use skript_passes::ir::builder::Builder;
use skript_passes::ir::{self, context, ops};

/// Targets of custom calls that return their operand: annotations of sharding, placement and layout. On one device, the
/// shard shape is the full shape.
const ANNOTATIONS: [&str; 5] = [
    "LayoutConstraint",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "Sharding",
    "annotate_device_placement",
];

/// Whether custom calls with this target name are annotations.
pub(crate) fn is_annotation(target: &str) -> bool {
    ANNOTATIONS.contains(&target)
}

/// Whether an operation returns its operands on one device. A call that changes the shape is for several devices.
fn is_identity(op: OperationRef) -> bool {
    let is_kept = op.operands().map(|v| v.r#type()).eq(op.results().map(|r| r.r#type()));
    match CustomCall::cast(op) {
        Some(call) => is_kept && is_annotation(&call.target()),
        None => op::is(&op, ops::sdy::RESHARD) || op::is(&op, ops::sdy::SHARDING_CONSTRAINT),
    }
}

/// Requires that [`super::allowed`] has accepted the module: no operation uses its own result.
///
/// # Errors
/// Fails if MLIR cannot create a call.
pub(crate) fn decompose(module: OperationRef) -> Result<(), Error> {
    for op in op::collect(&module, |_| true) {
        let values = match op::name(&op).as_str() {
            ops::sdy::MESH => Vec::new(),
            _ if is_identity(op) => op.operands().collect(),
            ops::stablehlo::COMPOSITE => {
                let operands: Vec<_> = op.operands().collect();
                let results: Vec<_> = op.results().map(|r| r.r#type()).collect();
                let composite = Composite::cast(op).ok_or(Error::OperationBuild)?;
                let callee = [("callee", composite.decomposition()?)];
                let at = Builder::before(context::of(op), op)?;
                let call = at.create(ops::func::CALL, &operands, &callee, &results, Vec::new())?;
                call.results().map(Into::into).collect()
            }
            _ => continue,
        };
        for (result, value) in op.results().zip(values) {
            ir::replace_uses(result.into(), value);
        }
        ir::erase(op);
    }
    Ok(())
}
