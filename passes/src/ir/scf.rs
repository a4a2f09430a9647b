// SPDX-License-Identifier: Apache-2.0
//! Operations of the dialect `scf`.

use super::ops;
use super::typed::{OperationLike, OperationRef, Value, typed};

typed! {
    /// `scf.if`: one of two branches.
    If = ops::scf::IF { condition = 0 };
}

/// The initial value of a loop-carried value of `scf.for` or `scf.while`, by the number of its result.
pub(crate) fn init<'c: 'a, 'a>(op: OperationRef<'c, 'a>, number: usize) -> Option<Value<'c, 'a>> {
    let before = match super::name(op).as_str() {
        // Bounds and step.
        ops::scf::FOR => 3,
        ops::scf::WHILE => 0,
        _ => return None,
    };
    op.operand(before + number).ok()
}
