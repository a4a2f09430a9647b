// SPDX-License-Identifier: Apache-2.0
//! Converts constants.

use super::operation::{SourceOp, Tensor, Values};
use crate::import::element::Element;
use crate::typed::Constant;
use melior::ir::{Attribute, OperationRef, Type, Value};
use skript_dialect::PassError;
use skript_dialect::melior;
use skript_passes::ir::generic::{Access, all_loops, map};
use skript_passes::ir::{Builder, dense, ops, types};
use skript_semantics::RealType;

/// Maximum number of elements of a splat that is stored in the object code; larger splats are filled at run time.
const MAX_STORED_SPLAT: i64 = 1 << 10;
/// Converts a constant tensor; a complex constant is combined from two real constants.
pub(crate) fn constant<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let (value, tensor, at) = (value_of(source.op)?, source.result()?, &source.at);
    if tensor.volume() <= MAX_STORED_SPLAT || !dense::is_splat(value) {
        return Ok(vec![tensor_of(value, tensor, at)?]);
    }
    let scalar = tensor.with_extents(&[]);
    let value = dense::of_bytes(scalar.r#type(at.context), &bytes(value)?);
    let scalar = tensor_of(value, &scalar, at)?;
    Ok(vec![filled(scalar, source.result_type()?, at)?])
}

/// The only element of a constant of rank 0, as a scalar.
pub(super) fn scalar<'c: 'a, 'a>(
    constant: OperationRef<'c, 'a>,
    element: Element,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let tensor = Tensor { extents: Vec::new(), element };
    Ok(at.element(tensor_of(value_of(constant)?, &tensor, at)?, &[]))
}

/// A tensor filled with the only element of `scalar`, a tensor of rank 0.
pub(super) fn filled<'c: 'a, 'a>(
    scalar: Value<'c, 'a>,
    r#type: Type<'c>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    Ok(at.fill(at.element(scalar, &[]), r#type)?)
}

fn value_of<'c: 'a, 'a>(constant: OperationRef<'c, 'a>) -> Result<Attribute<'c>, PassError> {
    Ok(Constant::cast(constant).ok_or("is not a constant")?.value()?)
}

fn tensor_of<'c: 'a, 'a>(
    value: Attribute<'c>,
    tensor: &Tensor,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let typed = |element| types::tensor(&tensor.extents, element);
    match tensor.element {
        Element::Unsigned(_) => {
            let signless = typed(tensor.element.signless(at.context));
            let signless = at.literal(dense::of_bytes(signless, &bytes(value)?));
            Ok(at.cast(signless, tensor.r#type(at.context)))
        }
        Element::Complex(part) => {
            let pairs = bytes(value)?;
            let size = if part == RealType::F64 { 8 } else { 4 };
            let half = |second: bool| {
                let parts = pairs.chunks(size).skip(usize::from(second)).step_by(2);
                let bytes: Vec<u8> = parts.flatten().copied().collect();
                at.literal(dense::of_bytes(typed(types::real(at.context, part)), &bytes))
            };
            let parts = [false, true].map(half).map(|part| Access(part, all_loops(tensor.rank())));
            map(at, &parts, tensor.r#type(at.context), &[], |body, elements| {
                Ok(body.make(ops::complex::CREATE, &elements[..2], &[], tensor.element.r#type(at.context)))
            })
        }
        _ => Ok(at.literal(value)),
    }
}

/// The bytes of the elements; for a splat, the bytes of one element.
fn bytes(value: Attribute<'_>) -> Result<Vec<u8>, PassError> {
    let tensor = Tensor::from_type(dense::type_of(value)).ok_or("has a value of an unknown type")?;
    let one = match tensor.element {
        Element::Pred => 1,
        Element::Signed(width) | Element::Unsigned(width) => width.div_ceil(8),
        Element::Float(float) => float.bits() / 8,
        Element::Complex(part) => part.bits() / 4,
    };
    let (one, count) = (usize::try_from(one), usize::try_from(tensor.volume()));
    let bytes = one.ok().zip(count.ok());
    let bytes = bytes.and_then(|(one, count)| dense::bytes(value, one, count));
    bytes.ok_or_else(|| "has a value that is not dense".into())
}

/// A scalar zero.
pub(super) fn zero<'c: 'a, 'a>(element: Element, at: &Builder<'c, 'a>) -> Value<'c, 'a> {
    let signless = element.signless(at.context);
    match element {
        Element::Complex(part) => {
            let zero = at.zero(types::real(at.context, part));
            at.make(ops::complex::CREATE, &[zero, zero], &[], signless)
        }
        _ => element.with_sign(at.zero(signless), at),
    }
}
