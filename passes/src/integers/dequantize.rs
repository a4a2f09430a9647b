// SPDX-License-Identifier: Apache-2.0
//! Computes the values that bytes represent, for users that do not compute in bytes.

use super::inputs::Inputs;
use super::scalars::{extended, sign_extended};
use super::storage::{Storage, Stored, destination};
use crate::ir::generic::{Access, all_loops, map};
use crate::ir::{Builder, ops, types};
use melior::ir::{OperationRef, Type, Value, ValueLike};
use skript_dialect::PassError;
use skript_dialect::melior;

impl<'c: 'a, 'a> Storage<'c, 'a> {
    /// Computes the result of an operation from its bytes.
    pub(super) fn dequantized(
        &self,
        op: OperationRef<'c, 'a>,
        stored: &Stored<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let at = Builder::before(self.context, op)?;
        let result = op.result(0)?.r#type();
        let extents = at.dynamic_extents(destination(op)?)?;
        let element = types::element_of(result).ok_or("a tensor without an element type")?;
        let mut inputs = Inputs::default();
        let byte = inputs.add(Access(stored.bytes, all_loops(types::shape(result).len())));
        let zero = stored.zero.map(|zero| inputs.add_scalar(zero));
        let scale = stored.scale.add_to(&mut inputs);
        map(&at, inputs.accesses(), result, &extents, |body, elements| {
            let zero_point = zero.map(|zero| zero.element(elements)).transpose()?;
            let is_integer = types::as_integer(element).is_some();
            let kind = if is_integer { element } else { types::i32(self.context) };
            let integer = integer_of_byte(body, stored, byte.element(elements)?, zero_point, kind);
            if is_integer {
                return Ok(integer);
            }
            let real = body.convert(ops::arith::SITOFP, integer, element);
            match scale {
                None => Ok(real),
                Some(scale) => Ok(body.mulf(real, scale.value(elements)?)),
            }
        })
    }
}

/// The integer `byte + base − zero`.
fn integer_of_byte<'c: 'a, 'a>(
    body: &Builder<'c, 'a>,
    stored: &Stored<'c, 'a>,
    byte: Value<'c, 'a>,
    zero: Option<Value<'c, 'a>>,
    kind: Type<'c>,
) -> Value<'c, 'a> {
    let wide = extended(body, byte, stored.is_signed, kind);
    let based = match stored.base {
        0 => wide,
        base => body.addi(wide, body.int(base, kind)),
    };
    match zero {
        None => based,
        Some(zero) => body.subi(based, sign_extended(body, zero, kind)),
    }
}
