// SPDX-License-Identifier: Apache-2.0
//! Replaces composites by calls of their decompositions, and erases meshes and sharding annotations, which determine how
//! work is distributed but not the result.

use crate::typed::{Composite, CustomCall};
use melior::Error;
use melior::ir::operation::OperationLike;
use melior::ir::{Module, OperationRef, ValueLike};
use skript_dialect::{melior, op};
use skript_passes::ir::builder::Builder;
use skript_passes::ir::{self, context, ops};

/// Targets of custom calls that return their operand: annotations of sharding, placement and layout. One device has all
/// data, so both shapes of a conversion between full and shard shape are the same.
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

/// Whether an operation returns its operands on one device. A call that changes the shape divides work between several.
fn is_identity(found: OperationRef) -> bool {
    let is_kept = found.operands().map(|v| v.r#type()).eq(found.results().map(|r| r.r#type()));
    match CustomCall::cast(found) {
        Some(call) => is_kept && is_annotation(&call.target()),
        None => op::is(&found, ops::sdy::RESHARD) || op::is(&found, ops::sdy::SHARDING_CONSTRAINT),
    }
}

/// Requires that [`super::allowed`] has accepted the module: no operation uses its own result.
///
/// # Errors
/// MLIR's, if it cannot create a call.
pub(crate) fn decompose(module: &Module) -> Result<(), Error> {
    for found in op::collect(&module.as_operation(), |_| true) {
        let values = match op::name(&found).as_str() {
            ops::sdy::MESH => Vec::new(),
            _ if is_identity(found) => found.operands().collect(),
            ops::stablehlo::COMPOSITE => {
                let operands: Vec<_> = found.operands().collect();
                let results: Vec<_> = found.results().map(|r| r.r#type()).collect();
                let composite = Composite::cast(found).ok_or(Error::OperationBuild)?;
                let callee = [("callee", composite.decomposition()?)];
                let at = Builder::before(context::of(found), found)?;
                let call = at.create(ops::func::CALL, &operands, &callee, &results, Vec::new())?;
                call.results().map(Into::into).collect()
            }
            _ => continue,
        };
        for (result, value) in found.results().zip(values) {
            ir::replace_uses(result.into(), value);
        }
        ir::erase(found);
    }
    Ok(())
}
