// SPDX-License-Identifier: Apache-2.0
//! Converts operations of `chlo`, the dialect of composite functions that accompanies StableHLO.

mod inverse;
mod neighbour;

use super::operation::{SourceOp, Values};
use super::reduce::accumulator;
use super::sort;
use crate::import::element::{Element, converted};
use crate::import::library::{Invocation, Passing};
use crate::import::scalar_to_arith::principal::by_parts;
use crate::import::terms::Real;
use crate::tensors::Tensors;
use melior::ir::{Value, ValueLike};
use skript_dialect::melior;
use skript_passes::ir::generic::{Access, all_loops, map};
use skript_passes::ir::{Builder, ops};
use skript_semantics::RealType;

/// Functions of one float with an operation in the `math` dialect.
const FUNCTIONS: [(&str, &str); 10] = [
    ("acos", ops::math::ACOS),
    ("acosh", ops::math::ACOSH),
    ("asin", ops::math::ASIN),
    ("asinh", ops::math::ASINH),
    ("atan", ops::math::ATAN),
    ("atanh", ops::math::ATANH),
    ("cosh", ops::math::COSH),
    ("erf", ops::math::ERF),
    ("erfc", ops::math::ERFC),
    ("sinh", ops::math::SINH),
];

/// Functions of floats with an operator in the library.
const OPERATORS: [&str; 6] = ["bessel_i1e", "digamma", "erf_inv", "lgamma", "polygamma", "zeta"];

/// The conversion of a `chlo` operation.
pub(super) fn convert<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    if source.name == "top_k" {
        return sort::top_k(source);
    }
    let operand = source.operand(0)?.element;
    if let Some(operator) = operator(&source.name, operand) {
        let operands = vec![Passing::Reals; source.operands.len()];
        let attributes = String::new();
        let invocation = Invocation { operator, attributes, operands: &operands, results: &[Passing::Reals] };
        return invocation.replace(source);
    }
    // A map over all operands, which have the same shape.
    let loops = all_loops(source.result()?.rank());
    let inputs: Vec<Access> = source.values.iter().map(|value| Access(*value, loops.clone())).collect();
    let result = map(&source.at, &inputs, source.result_type()?, &[], |body, elements| {
        function(body, &source.name, operand, elements).ok_or_else(super::unsupported)
    })?;
    Ok(vec![result])
}

/// A function of the first elements; `None` for unsupported ones.
fn function<'c: 'a, 'a>(
    body: &Builder<'c, 'a>,
    name: &str,
    element: Element,
    elements: &[Value<'c, 'a>],
) -> Option<Value<'c, 'a>> {
    let x = *elements.first()?;
    match (name, element) {
        ("square", _) => Some(Tensors { at: *body }.same("multiply", &[x, x])),
        ("tan", _) => Some(Tensors { at: *body }.same("tan", &[x])),
        ("next_after", Element::Float(float)) => {
            Some(neighbour::next_after(body, [x, *elements.get(1)?], float))
        }
        (_, Element::Float(_)) => of_reals(body, name, element, x),
        (_, Element::Complex(_)) => by_parts(body, x, |pair| inverse::function(name, pair)),
        _ => None,
    }
}

/// The library operator for an operation and an element type; `None` for other operations.
fn operator(name: &str, element: Element) -> Option<&str> {
    let Element::Float(float) = element else {
        return None;
    };
    let name = OPERATORS.into_iter().find(|known| *known == name)?;
    Some(if name == "erf_inv" && float == RealType::F64 { "erf_inv_double" } else { name })
}

/// Computes functions of floats; half-precision floats are computed in f32 and rounded once.
fn of_reals<'c: 'a, 'a>(
    body: &Builder<'c, 'a>,
    name: &str,
    element: Element,
    value: Value<'c, 'a>,
) -> Option<Value<'c, 'a>> {
    let wide = accumulator(element).r#type(body.context);
    let x = Real { at: *body, value: converted(value, wide, body) };
    if name == "is_inf" {
        return Some(x.abs().is_infinite().value);
    }
    let (_, function) = FUNCTIONS.into_iter().find(|(known, _)| *known == name)?;
    Some(converted(x.apply(function, &[]).value, value.r#type(), body))
}
