// SPDX-License-Identifier: Apache-2.0
//! Casts between integers: wider ones extend the sign, narrower ones saturate.

use super::{Lowering, element};
use crate::ir::ops;
use crate::ir::types;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::r#type::IntegerType;
use melior::ir::{TypeLike, Value, ValueLike};
use skript_dialect::{PassError, melior};

impl<'c: 'a, 'a> Lowering<'c, 'a> {
    /// The operand, an integer or an index, as an integer of the result's width.
    pub(super) fn int_width(&self, value: Value<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let value = if element(value.r#type()).is_index() {
            let word = self.like(types::word(self.at.context));
            self.apply(ops::arith::INDEX_CAST, &[value], word)?
        } else {
            value
        };
        let width = |t| IntegerType::try_from(element(t)).map(|t| t.width());
        let (Ok(from), Ok(to)) = (width(value.r#type()), width(self.result)) else {
            return Err("a cast of integers has operands that are none".into());
        };
        if from <= to {
            return if from == to { Ok(value) } else { self.apply(ops::arith::EXTSI, &[value], self.result) };
        }
        let (r#type, least) = (value.r#type(), types::least(to));
        let bound = |i| self.number(IntegerAttribute::new(element(r#type), i).into(), r#type);
        let above = self.apply(ops::arith::MAXSI, &[value, bound(least)?], r#type)?;
        let within = self.apply(ops::arith::MINSI, &[above, bound(!least)?], r#type)?;
        self.apply(ops::arith::TRUNCI, &[within], self.result)
    }
}
