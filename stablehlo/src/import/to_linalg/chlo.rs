// SPDX-License-Identifier: Apache-2.0
//! Converts operations of `chlo`, the dialect of composite functions that accompanies StableHLO.

mod inverse;
mod neighbour;

use super::generic::{Port, dims};
use super::operation::SourceOp;
use super::reduce::accumulator;
use super::{generic, sort};
use crate::import::element::{Element, Float};
use crate::import::library::{Invocation, Passing};
use crate::import::scalar_to_arith::principal::by_parts;
use crate::import::terms::Terms;
use melior::ir::Value;
use skript_dialect::PassError;
use skript_dialect::melior;
use skript_passes::ir::splice::Lines;

/// Functions of one float with an operation in the `math` dialect.
const FUNCTIONS: [&str; 10] =
    ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "erf", "erfc", "sinh"];

/// Functions of floats with an operator in the library.
const OPERATORS: [&str; 6] = ["bessel_i1e", "digamma", "erf_inv", "lgamma", "polygamma", "zeta"];

/// The conversion of a `chlo` operation; `None` for unsupported ones.
pub(super) fn convert<'c: 'a, 'a>(
    source: &SourceOp<'c, 'a>,
) -> Result<Option<Vec<Value<'c, 'a>>>, PassError> {
    if source.name == "top_k" {
        return sort::top_k(source).map(Some);
    }
    let operand = source.operand(0)?.element;
    if let Some(operator) = operator(&source.name, operand) {
        let operands = vec![Passing::Reals; source.operands.len()];
        let attributes = String::new();
        let invocation = Invocation { operator, attributes, operands: &operands, results: &[Passing::Reals] };
        return invocation.replace(source).map(Some);
    }
    let mut body = Lines::default();
    let t = operand.text();
    let name = source.name.as_str();
    let value = match (name, operand) {
        ("square", _) => Some(body.value(format!("stablehlo.multiply %i0, %i0 : {t}"))),
        ("tan", _) => Some(body.value(format!("stablehlo.tan %i0 : {t}"))),
        ("next_after", Element::Float(float)) => Some(neighbour::next_after(&mut body, float)),
        (_, Element::Float(_)) => of_reals(&mut body, name, operand),
        (_, Element::Complex(part)) => by_parts(&mut body, part, "%i0", |pair| inverse::function(name, pair)),
        _ => None,
    };
    value.map(|v| mapped(source, body, &v)).transpose()
}

/// The library operator for an operation and an element type; `None` for other operations.
fn operator(name: &str, element: Element) -> Option<&str> {
    let Element::Float(float) = element else {
        return None;
    };
    let name = OPERATORS.into_iter().find(|known| *known == name)?;
    Some(if name == "erf_inv" && float == Float::F64 { "erf_inv_double" } else { name })
}

/// Computes functions of floats; half-precision floats are computed in f32 and rounded once.
fn of_reals(body: &mut Lines, name: &str, element: Element) -> Option<String> {
    let Element::Float(float) = accumulator(element) else {
        return None;
    };
    let (t, wide) = (element.text(), float.text());
    let is_half = t != wide;
    let x = if is_half {
        body.value(format!("stablehlo.convert %i0 : ({t}) -> {wide}"))
    } else {
        "%i0".to_owned()
    };
    if name == "is_inf" {
        return Some(Terms::append(body, float, |t| t.named(x).abs().is_infinite().name()));
    }
    let name = FUNCTIONS.into_iter().find(|known| *known == name)?;
    let value = Terms::append(body, float, |t| t.named(x).apply(&format!("math.{name}"), &[]).name());
    Some(if is_half { body.value(format!("stablehlo.convert {value} : ({wide}) -> {t}")) } else { value })
}

/// Emits a map over all operands, which have the same shape; its body yields `value`.
fn mapped<'c: 'a, 'a>(
    source: &SourceOp<'c, 'a>,
    mut body: Lines,
    value: &str,
) -> Result<Vec<Value<'c, 'a>>, PassError> {
    let result = source.result()?;
    body.line(format!("linalg.yield {value} : {}", result.element.text()));
    let position = dims(0..result.rank());
    let ports = source.operands.iter().enumerate();
    let ports: Vec<_> = ports.map(|(n, t)| Port::new(&format!("%{n}"), t, position.clone())).collect();
    let mut lines = Lines::default();
    let name = generic::map(&mut lines, &ports, result, body.text());
    source.replace(&lines, &name)
}
