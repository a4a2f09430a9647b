// SPDX-License-Identifier: Apache-2.0
//! Operations of the dialect `arith`.

use super::ops;
use super::typed::{self, OperationLike, OperationRef, typed};
use melior::Error;
use melior::ir::Attribute;

typed! {
    /// `arith.constant`: a scalar or a tensor.
    Constant = ops::arith::CONSTANT;
    /// `arith.cmpi`: a comparison of integers.
    CompareIntegers = ops::arith::CMPI { left = 0, right = 1 };
    /// `arith.select`: one of two values.
    Select = ops::arith::SELECT { condition = 0, then = 1, otherwise = 2 };
}

impl<'c: 'a, 'a> Constant<'c, 'a> {
    /// The value.
    ///
    /// # Errors
    /// The operation has no attribute `value`, which no verified one lacks.
    pub fn value(self) -> Result<Attribute<'c>, Error> {
        self.op().attribute("value")
    }

    /// The value as MLIR prints it: `0.000000e+00 : f32`.
    pub fn text(self) -> String {
        let value = self.value();
        value.map(|value| value.to_string()).unwrap_or_default()
    }

    /// The value of a scalar integer, index or bool.
    pub fn integer(self) -> Option<i64> {
        typed::integer(self.op(), "value")
    }
}

impl<'c: 'a, 'a> CompareIntegers<'c, 'a> {
    /// The number of the predicate.
    pub(crate) fn predicate(self) -> Option<i64> {
        predicate(self.op())
    }
}

/// The number of the predicate of a comparison of integers or reals.
pub fn predicate<'c: 'a, 'a>(comparison: OperationRef<'c, 'a>) -> Option<i64> {
    typed::integer(comparison, "predicate")
}
