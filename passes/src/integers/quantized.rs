// SPDX-License-Identifier: Apache-2.0
//! Products of a scale and an integer between constant limits.

use super::limited_integer::LimitedInteger;
use crate::ir::arith::predicate;
use crate::ir::builder::arith::Reals;
use crate::ir::{self, ops};
use melior::ir::Value;
use melior::ir::operation::OperationLike;
use skript_dialect::melior;

/// The real `scale · integer`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quantized<'c, 'a> {
    pub(super) integer: LimitedInteger<'c, 'a>,
    /// `None` for 1.
    pub(super) scale: Option<Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Quantized<'c, 'a> {
    /// Analyzes a scalar. If a quantization preserves NaN (`x == x ? scale · integer : x`), the case of NaN is ignored.
    pub(super) fn from_value(value: Value<'c, 'a>) -> Option<Self> {
        let (op, _) = ir::definition(value)?;
        match ir::name(op).as_str() {
            ops::arith::SITOFP => {
                Some(Quantized { integer: LimitedInteger::from_value(ir::operand_at(op, 0)?)?, scale: None })
            }
            ops::arith::MULF => {
                let [first, second] = ir::both_operands(op).ok()?;
                let scaled = |integer, scale| {
                    let quantized = Quantized::from_value(integer)?;
                    quantized.scale.is_none().then_some(Quantized { scale: Some(scale), ..quantized })
                };
                scaled(first, second).or_else(|| scaled(second, first))
            }
            ops::arith::SELECT => {
                let (condition, _) = ir::definition(ir::operand_at(op, 0)?)?;
                let otherwise = ir::operand_at(op, 2)?;
                let compares = ir::name(condition) == ops::arith::CMPF;
                let is_same = condition.operands().all(|operand| operand == otherwise);
                let tests_nan = compares && is_same && predicate(condition) == Some(Reals::Equal as i64);
                tests_nan.then(|| Quantized::from_value(ir::operand_at(op, 1)?)).flatten()
            }
            _ => None,
        }
    }
}
