// SPDX-License-Identifier: Apache-2.0
//! Operations of the dialect `arith`.

use super::ops;
use super::typed::{self, typed};
use melior::ir::Value;
use melior::ir::operation::{OperationLike, OperationResult};

typed! {
    /// `arith.constant`: a scalar or a tensor.
    Constant = ops::arith::CONSTANT;
}

impl<'c, 'a> Constant<'c, 'a> {
    /// The constant that defines a value.
    pub fn of(value: Value<'c, 'a>) -> Option<Self> {
        Self::cast(OperationResult::try_from(value).ok()?.owner())
    }

    /// The value as MLIR prints it: `0.000000e+00 : f32`.
    pub fn text(self) -> String {
        let value = self.op().attribute("value");
        value.map(|value| value.to_string()).unwrap_or_default()
    }

    /// The value of a scalar integer, index or bool.
    pub fn integer(self) -> Option<i64> {
        typed::integer(self.op(), "value")
    }
}
