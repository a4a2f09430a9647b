//! What can keep a module from StableHLO.

use crate::structure::ReadError;
use melior::ir::OperationRef;
use melior::ir::operation::OperationLike;
use skript_dialect::melior;

/// Why a module was not exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("{place}: '{op}' {what}")]
    Refused {
        op: String,
        what: String,
        place: String,
    },
    #[error("the module has no entry: no function carries 'skript.entry'")]
    NoEntry,
    #[error(transparent)]
    Placement(#[from] super::PlacementError),
    #[error("the exported module does not verify")]
    Invalid,
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Build(#[from] melior::Error),
}

impl ExportError {
    pub fn at(op: OperationRef<'_, '_>, what: &str) -> Self {
        ExportError::Refused {
            op: crate::mlir::copy::operation_name(op),
            what: what.to_owned(),
            place: op.location().to_string(),
        }
    }
}
