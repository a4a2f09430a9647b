// SPDX-License-Identifier: Apache-2.0
//! Rough costs of scalar operations.

use super::{name, ops};
use melior::ir::OperationRef;

/// The relative time of a scalar operation, without its regions: 1 for an addition, 0 for a terminator or a constant.
pub(crate) fn of_scalars(op: OperationRef) -> i64 {
    match name(op).as_str() {
        ops::arith::CONSTANT | ops::scf::REDUCE | ops::scf::YIELD => 0,
        ops::arith::DIVF | ops::arith::DIVSI | ops::arith::REMSI => 8,
        name if name.starts_with("math.") => 16,
        _ => 1,
    }
}
