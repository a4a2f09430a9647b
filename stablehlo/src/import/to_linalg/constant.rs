// SPDX-License-Identifier: Apache-2.0
//! Constants.

use super::generic::{Port, dims, empty, filled, generic};
use super::operation::{Found, Tensor};
use crate::import::element::{Element, Float};
use crate::typed::Constant;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, OperationRef, Type, Value};
use skript_dialect::PassError;
use skript_dialect::melior;
use skript_passes::ir;
use skript_passes::ir::dense;
use skript_passes::ir::splice::{Lines, splice};

/// The number of elements from which a splat is filled at run time instead of stored in the object code.
const REPEATED: i64 = 1 << 10;

/// A constant tensor; complex ones are combined from two real ones.
pub(crate) fn constant<'c: 'a, 'a>(found: &Found<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, PassError> {
    let (value, tensor) = (value_of(found.op)?, found.result()?);
    if tensor.volume() <= REPEATED || !dense::is_splat(value) {
        return values(value, tensor, found.op);
    }
    let only = Tensor { extents: Vec::new(), element: tensor.element };
    let r#type = ir::parse_type(found.op.context(), &only.text()).map_err(|e| e.to_string())?;
    let only = values(dense::of_bytes(r#type, &bytes(value)?), &only, found.op)?;
    let mut lines = Lines::default();
    let whole = filled(&mut lines, "%0", tensor);
    Ok(splice(found.op, &only, lines.text(), &[(whole, tensor.text())])?.values)
}

/// The only element of a constant of rank 0, as a scalar before `at`.
pub(super) fn scalar<'c: 'a, 'a>(
    constant: OperationRef<'c, 'a>,
    element: Element,
    at: OperationRef<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, PassError> {
    let tensor = Tensor { extents: Vec::new(), element };
    let whole = values(value_of(constant)?, &tensor, at)?;
    let text = format!("%r = tensor.extract %0[] : {}", tensor.text());
    Ok(splice(at, &whole, &text, &[("%r".to_owned(), element.text())])?.values)
}

fn value_of<'c: 'a, 'a>(constant: OperationRef<'c, 'a>) -> Result<Attribute<'c>, PassError> {
    Ok(Constant::cast(constant).ok_or("is not a constant")?.value()?)
}

fn values<'c: 'a, 'a>(
    value: Attribute<'c>,
    tensor: &Tensor,
    at: OperationRef<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, PassError> {
    let typed = |element: &str| -> Result<Type<'c>, PassError> {
        let extents: String = tensor.extents.iter().map(|e| format!("{e}x")).collect();
        let text = format!("tensor<{extents}{element}>");
        ir::parse_type(at.context(), &text).map_err(|e| e.to_string().into())
    };
    match tensor.element {
        Element::Unsigned(_) => {
            let value = dense::of_bytes(typed(&tensor.element.signless())?, &bytes(value)?);
            let signless = dense::constant(value, at)?;
            let text = format!(
                "%r = builtin.unrealized_conversion_cast %0 : {} to {}",
                typed(&tensor.element.signless())?,
                tensor.text()
            );
            Ok(splice(at, &[signless], &text, &[("%r".to_owned(), tensor.text())])?.values)
        }
        Element::Complex(part) => {
            let pairs = bytes(value)?;
            let size = if part == Float::F64 { 8 } else { 4 };
            let half = |second: bool| -> Vec<u8> {
                let parts = pairs.chunks(size).skip(usize::from(second)).step_by(2);
                parts.flatten().copied().collect()
            };
            let mut parts = Vec::new();
            for second in [false, true] {
                let value = dense::of_bytes(typed(part.text())?, &half(second));
                parts.push(dense::constant(value, at)?);
            }
            let reals = Tensor { extents: tensor.extents.clone(), element: Element::Float(part) };
            let mut lines = Lines::default();
            let out = empty(&mut lines, tensor);
            let position = dims(0..tensor.rank());
            let body = format!(
                "%c = complex.create %i0, %i1 : {e}\nlinalg.yield %c : {e}",
                e = tensor.element.text()
            );
            let made = generic(
                &mut lines,
                tensor.rank(),
                0,
                &[Port::new("%0", &reals, position.clone()), Port::new("%1", &reals, position.clone())],
                &[Port::new(&out, tensor, position)],
                &body,
            );
            let made = made.into_iter().map(|name| (name, tensor.text()));
            Ok(splice(at, &parts, lines.text(), &made.collect::<Vec<_>>())?.values)
        }
        _ => Ok(vec![dense::constant(value, at)?]),
    }
}

/// The bytes of the elements; of one element for a splat.
fn bytes(value: Attribute<'_>) -> Result<Vec<u8>, PassError> {
    let tensor = Tensor::of(dense::type_of(value)).ok_or("has a value of an unknown type")?;
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

/// The name of a scalar zero.
pub(super) fn zero(lines: &mut Lines, element: Element) -> String {
    let signless = element.signless();
    match element {
        Element::Pred => lines.value("arith.constant false"),
        Element::Signed(_) => lines.value(format!("arith.constant 0 : {signless}")),
        Element::Unsigned(_) => {
            let zero = lines.value(format!("arith.constant 0 : {signless}"));
            let to = element.text();
            lines.value(format!("builtin.unrealized_conversion_cast {zero} : {signless} to {to}"))
        }
        Element::Float(_) => lines.value(format!("arith.constant 0.0 : {signless}")),
        Element::Complex(part) => {
            let zero = lines.value(format!("arith.constant 0.0 : {}", part.text()));
            lines.value(format!("complex.create {zero}, {zero} : {signless}"))
        }
    }
}
