// SPDX-License-Identifier: Apache-2.0
//! Replaces composites by calls of their decompositions, and erases meshes and sharding constraints of Shardy, which
//! determine how work is distributed but not the result.

use crate::typed::Composite;
use melior::Error;
use melior::ir::operation::OperationLike;
use melior::ir::{Module, ValueLike};
use skript_dialect::{melior, op};
use skript_passes::ir::builder::Builder;
use skript_passes::ir::{self, context, ops};

/// Requires that [`super::allowed`] has accepted the module: no operation uses its own result.
///
/// # Errors
/// MLIR's, if it cannot create a call.
pub(crate) fn decompose(module: &Module) -> Result<(), Error> {
    for found in op::collect(&module.as_operation(), |_| true) {
        let values = match op::name(&found).as_str() {
            ops::sdy::MESH => Vec::new(),
            ops::sdy::RESHARD | ops::sdy::SHARDING_CONSTRAINT => found.operands().collect(),
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
