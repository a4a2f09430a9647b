// SPDX-License-Identifier: Apache-2.0
//! Operations of the dialect `arith`.

use super::ops;
use super::typed::{self, typed};
use melior::ir::Value;
use melior::ir::operation::OperationResult;

typed! {
    /// `arith.constant`: a scalar or a tensor.
    Constant = ops::arith::CONSTANT;
}

impl<'c, 'a> Constant<'c, 'a> {
    /// The constant that defines a value.
    pub(crate) fn of(value: Value<'c, 'a>) -> Option<Self> {
        Self::cast(OperationResult::try_from(value).ok()?.owner())
    }

    /// The value of a scalar integer, index or bool.
    pub fn integer(self) -> Option<i64> {
        typed::integer(self.op(), "value")
    }
}
