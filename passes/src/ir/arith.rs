// SPDX-License-Identifier: Apache-2.0
//! Operations of the dialect `arith`.

use super::typed::{self, OperationLike, OperationRef, Value, typed};
use super::{attributes, ops, types};
use melior::Error;
use melior::ir::Attribute;
use melior::ir::{TypeLike, ValueLike};

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
    /// The operation has no attribute `value`, which the verifier requires.
    pub fn value(self) -> Result<Attribute<'c>, Error> {
        self.op().attribute("value")
    }

    /// The text of the value in MLIR, such as `0.000000e+00 : f32`; empty for an operation that does not verify.
    pub fn text(self) -> String {
        self.value().map_or_else(|_| String::new(), |value| value.to_string())
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

/// The value of a constant integer, index or bool.
pub(crate) fn integer(value: Value) -> Option<i64> {
    Constant::of(value)?.integer()
}

/// The value of a constant real.
pub(crate) fn real(value: Value) -> Option<f64> {
    attributes::real(Constant::of(value)?.value().ok()?)
}

/// Whether a scalar is the constant 0.
pub(crate) fn is_zero(value: Value) -> bool {
    integer(value) == Some(0) || real(value) == Some(0.0)
}

/// Returns the operand of a cast between `index` and `i64`, which does not change the value.
pub(crate) fn index_cast_source<'c: 'a, 'a>(cast: OperationRef<'c, 'a>) -> Option<Value<'c, 'a>> {
    integer_cast_source(cast, &[ops::arith::INDEX_CAST])
}

/// Returns the operand of a cast with one of `names` between 64-bit integers or indices.
pub(crate) fn integer_cast_source<'c: 'a, 'a>(
    cast: OperationRef<'c, 'a>,
    names: &[&str],
) -> Option<Value<'c, 'a>> {
    let is_wide = |value: &Value| value.r#type().is_index() || types::bits(value.r#type()) == Some(64);
    let is_integer = |value: &Value| !value.r#type().is_float();
    let is_cast = names.iter().any(|name| skript_dialect::op::is(&cast, name));
    let (from, to) = (super::operand_at(cast, 0).filter(|_| is_cast)?, cast.result(0).ok()?.into());
    let is_lossless = [from, to].iter().all(|value| is_wide(value) && is_integer(value));
    is_lossless.then_some(from)
}

/// The operand of casts between `index` and `i64`.
pub(crate) fn without_index_casts<'c: 'a, 'a>(value: Value<'c, 'a>) -> Value<'c, 'a> {
    super::defining_op(value).and_then(index_cast_source).map_or(value, without_index_casts)
}

/// Whether the fast-math flags of a sum or a product allow reassociation.
pub(crate) fn may_reorder(op: OperationRef) -> bool {
    op.attribute("fastmath").is_ok_and(|flags| flags.to_string().contains("reassoc"))
}

/// The number of the predicate of a comparison of integers or reals.
pub fn predicate<'c: 'a, 'a>(comparison: OperationRef<'c, 'a>) -> Option<i64> {
    typed::integer(comparison, "predicate")
}
