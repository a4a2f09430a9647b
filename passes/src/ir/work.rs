// SPDX-License-Identifier: Apache-2.0
//! What operations on scalars cost, roughly, for decisions that need no more.

use super::{name, ops};
use melior::ir::OperationRef;

/// The time of an operation on scalars, without its regions: 1 for an addition, 0 for what computes nothing.
pub(crate) fn of_scalars(op: OperationRef) -> i64 {
    match name(op).as_str() {
        ops::arith::CONSTANT | ops::scf::REDUCE | ops::scf::YIELD => 0,
        ops::arith::DIVF | ops::arith::DIVSI | ops::arith::REMSI => 8,
        name if name.starts_with("math.") => 16,
        _ => 1,
    }
}
