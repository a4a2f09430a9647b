// SPDX-License-Identifier: Apache-2.0
//! Converts constants.

use super::generic::map;
use super::generic::{Port, dims, filled};
use super::operation::Values;
use super::operation::{SourceOp, Tensor};
use crate::import::element::{Element, Float};
use crate::typed::Constant;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, OperationRef, Type, Value};
use skript_dialect::PassError;
use skript_dialect::melior;
use skript_passes::ir;
use skript_passes::ir::dense;
use skript_passes::ir::splice::{Lines, splice};

/// Maximum number of elements of a splat that is stored in the object code; larger splats are filled at run time.
const MAX_STORED_SPLAT: i64 = 1 << 10;
/// Converts a constant tensor; a complex constant is combined from two real constants.
pub(crate) fn constant<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let (value, tensor) = (value_of(source.op)?, source.result()?);
    if tensor.volume() <= MAX_STORED_SPLAT || !dense::is_splat(value) {
        return values(value, tensor, source.op);
    }
    let scalar = Tensor { extents: Vec::new(), element: tensor.element };
    let r#type = ir::parse_type(source.op.context(), &scalar.text()).map_err(|e| e.to_string())?;
    let scalar = values(dense::of_bytes(r#type, &bytes(value)?), &scalar, source.op)?;
    let mut lines = Lines::default();
    let whole = filled(&mut lines, "%0", tensor);
    Ok(splice(source.op, &scalar, lines.text(), &[(whole, tensor.text())])?.values)
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
            let position = dims(0..tensor.rank());
            let ports = ["%0", "%1"].map(|name| Port::new(name, &reals, position.clone()));
            let body = format!(
                "%c = complex.create %i0, %i1 : {e}\nlinalg.yield %c : {e}",
                e = tensor.element.text()
            );
            let pairs = map(&mut lines, &ports, tensor, &body);
            Ok(splice(at, &parts, lines.text(), &[(pairs, tensor.text())])?.values)
        }
        _ => Ok(vec![dense::constant(value, at)?]),
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

/// Emits a scalar zero; returns its name.
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
