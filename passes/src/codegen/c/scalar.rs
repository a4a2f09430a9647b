// SPDX-License-Identifier: Apache-2.0
//! Scalar operations as expressions.

use super::element::{Element, constant, integer_literal};
use super::expression::{Expression, level};
use super::writer::{Writer, refused};
use crate::error::CodegenError;
use crate::ir::arith::{Constant, predicate};
use crate::ir::{self, ops};
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value, ValueLike};
use skript_semantics::RealType;

/// The functions of the C library for real operations; those for `float` have the suffix `f`.
const LIBRARY: &[(&str, &str)] = &[
    (ops::arith::MAXNUMF, "fmax"),
    (ops::arith::MINNUMF, "fmin"),
    (ops::arith::REMF, "fmod"),
    (ops::math::ABSF, "fabs"),
    (ops::math::ACOS, "acos"),
    (ops::math::ACOSH, "acosh"),
    (ops::math::ASIN, "asin"),
    (ops::math::ASINH, "asinh"),
    (ops::math::ATAN, "atan"),
    (ops::math::ATAN2, "atan2"),
    (ops::math::ATANH, "atanh"),
    (ops::math::CBRT, "cbrt"),
    (ops::math::CEIL, "ceil"),
    (ops::math::COPYSIGN, "copysign"),
    (ops::math::COS, "cos"),
    (ops::math::COSH, "cosh"),
    (ops::math::ERF, "erf"),
    (ops::math::ERFC, "erfc"),
    (ops::math::EXP, "exp"),
    (ops::math::EXP2, "exp2"),
    (ops::math::EXPM1, "expm1"),
    (ops::math::FLOOR, "floor"),
    (ops::math::FMA, "fma"),
    (ops::math::LOG, "log"),
    (ops::math::LOG1P, "log1p"),
    (ops::math::POWF, "pow"),
    (ops::math::ROUND, "round"),
    (ops::math::ROUNDEVEN, "rint"),
    (ops::math::SIN, "sin"),
    (ops::math::SINH, "sinh"),
    (ops::math::SQRT, "sqrt"),
    (ops::math::TAN, "tan"),
    (ops::math::TANH, "tanh"),
    (ops::math::TRUNC, "trunc"),
];

/// The functions of [`super::support`] for operations on 64-bit integers; they are correct for narrower ones too.
const INTEGERS: &[(&str, &str)] = &[
    (ops::arith::CEILDIVSI, "ceildiv"),
    (ops::arith::FLOORDIVSI, "floordiv"),
    (ops::arith::MAXSI, "max"),
    (ops::arith::MINSI, "min"),
    (ops::arith::MAXUI, "umax"),
    (ops::arith::MINUI, "umin"),
    (ops::arith::SHLI, "shl"),
    (ops::arith::SHRSI, "shr"),
    (ops::math::ABSI, "abs"),
    (ops::math::IPOWI, "ipow"),
];

fn named(table: &[(&'static str, &'static str)], name: &str) -> Option<&'static str> {
    table.iter().find(|(operation, _)| *operation == name).map(|(_, function)| *function)
}

impl<'c: 'a, 'a> Writer<'c, 'a> {
    /// Writes an operation whose result is a scalar.
    pub(super) fn scalar(&mut self, op: OperationRef<'c, 'a>) -> Result<(), CodegenError> {
        let result: Value = op.result(0)?.into();
        let element = Element::new(result.r#type())?;
        let operands: Vec<Value> = op.operands().collect();
        let expression = match ir::name(op).as_str() {
            ops::arith::CONSTANT => self.constant(op, element)?,
            ops::arith::SELECT => {
                let [condition, then, otherwise] = self.taken(op)?;
                Expression::choice(&condition, &then, &otherwise)
            }
            ops::arith::CMPI => self.compared_integers(op)?,
            ops::arith::CMPF => self.compared_reals(op)?,
            name => match element {
                Element::Real(real) => self.real(op, name, &operands, real)?,
                Element::Bool => self.bool(op, name, &operands)?,
                Element::Int(_) => self.integer(op, name, &operands, element)?,
            },
        };
        self.ranges.record(op);
        self.define(result, expression)
    }

    /// The expressions of the operands.
    fn taken<const COUNT: usize>(
        &mut self,
        op: OperationRef<'c, 'a>,
    ) -> Result<[Expression; COUNT], CodegenError> {
        let operands: Vec<Value> = op.operands().collect();
        let taken: Vec<_> =
            operands.into_iter().map(|operand| self.take(operand)).collect::<Result<_, _>>()?;
        taken.try_into().map_err(|_| refused(op, "has another number of operands"))
    }

    fn constant(&mut self, op: OperationRef<'c, 'a>, element: Element) -> Result<Expression, CodegenError> {
        let value = Constant::cast(op).and_then(|constant| constant.value().ok());
        let literal = value.and_then(|value| constant(value, element));
        let literal = literal.ok_or_else(|| refused(op, "is not a scalar"))?;
        Ok(self.rounded(Expression::literal(literal), element))
    }

    /// A float expression as a value of a real type: 16-bit floats are rounded to their bits.
    fn rounded(&mut self, value: Expression, element: Element) -> Expression {
        let function = match element {
            Element::Real(RealType::F16) => "to_f16",
            Element::Real(RealType::BF16) => "to_bf16",
            _ => return value,
        };
        Expression::call(&self.support.call(function), &[value])
    }

    /// The expression of a real operand; 16-bit floats become `float`.
    fn widened(&mut self, value: Value<'c, 'a>) -> Result<Expression, CodegenError> {
        let expression = self.take(value)?;
        let function = match Element::new(value.r#type())? {
            Element::Real(RealType::F16) => "from_f16",
            Element::Real(RealType::BF16) => "from_bf16",
            _ => return Ok(expression),
        };
        Ok(Expression::call(&self.support.call(function), &[expression]))
    }

    fn real(
        &mut self,
        op: OperationRef<'c, 'a>,
        name: &str,
        operands: &[Value<'c, 'a>],
        real: RealType,
    ) -> Result<Expression, CodegenError> {
        let element = Element::Real(real);
        if let Some(converted) = self.converted_to_real(op, name, element)? {
            return Ok(converted);
        }
        let values = operands.iter().map(|value| self.widened(*value)).collect::<Result<Vec<_>, _>>()?;
        let is_double = real == RealType::F64;
        let suffixed = |name: &str| if is_double { name.to_owned() } else { format!("{name}f") };
        let value = match (name, values.as_slice()) {
            (ops::arith::ADDF, [a, b]) => Expression::binary(level::SUM, "+", a, b),
            (ops::arith::SUBF, [a, b]) => Expression::binary(level::SUM, "-", a, b),
            (ops::arith::MULF, [a, b]) => Expression::binary(level::PRODUCT, "*", a, b),
            (ops::arith::DIVF, [a, b]) => Expression::binary(level::PRODUCT, "/", a, b),
            (ops::arith::NEGF, [a]) => Expression::unary("-", a),
            (ops::arith::MAXIMUMF, [_, _]) => {
                let function = if is_double { "fmax" } else { "fmaxf" };
                Expression::call(&self.support.call(function), &values)
            }
            (ops::arith::MINIMUMF, [_, _]) => {
                let function = if is_double { "fmin" } else { "fminf" };
                Expression::call(&self.support.call(function), &values)
            }
            (ops::math::RSQRT, [_]) => {
                let one = Expression::literal(if is_double { "1.0" } else { "1.0f" }.to_owned());
                Expression::binary(level::PRODUCT, "/", &one, &Expression::call(&suffixed("sqrt"), &values))
            }
            _ => {
                let function = named(LIBRARY, name).ok_or_else(|| refused(op, "has no form in C"))?;
                Expression::call(&suffixed(function), &values)
            }
        };
        Ok(self.rounded(value, element))
    }

    /// A conversion to a real type.
    fn converted_to_real(
        &mut self,
        op: OperationRef<'c, 'a>,
        name: &str,
        element: Element,
    ) -> Result<Option<Expression>, CodegenError> {
        let Some(operand) = op.operands().next() else { return Ok(None) };
        let from = Element::new(operand.r#type())?;
        let r#type = if element.is_narrow_real() { "double" } else { element.name() };
        let converted = match name {
            ops::arith::EXTF | ops::arith::TRUNCF => {
                let value = self.widened(operand)?;
                if element.is_narrow_real() { value } else { Expression::cast(r#type, &value) }
            }
            ops::arith::SITOFP => {
                let value = Expression::cast(r#type, &self.take(operand)?);
                if from == Element::Bool { Expression::unary("-", &value) } else { value }
            }
            ops::arith::UITOFP => {
                let value = self.take(operand)?;
                Expression::cast(r#type, &Expression::cast(from.bits(), &value))
            }
            ops::arith::BITCAST => {
                let function = match element {
                    _ if element.is_narrow_real() => {
                        return Ok(Some(Expression::cast("uint16_t", &self.take(operand)?)));
                    }
                    Element::Real(RealType::F64) => "double_of_bits",
                    _ => "float_of_bits",
                };
                return Ok(Some(Expression::call(&self.support.call(function), &[self.take(operand)?])));
            }
            _ => return Ok(None),
        };
        Ok(Some(self.rounded(converted, element)))
    }

    fn bool(
        &mut self,
        op: OperationRef<'c, 'a>,
        name: &str,
        operands: &[Value<'c, 'a>],
    ) -> Result<Expression, CodegenError> {
        let is_true = |value: &Value<'c, 'a>| ir::integer(*value).is_some_and(|value| value != 0);
        match name {
            ops::arith::XORI if operands.get(1).is_some_and(is_true) => {
                let [value, _] = self.taken(op)?;
                Ok(Expression::unary("!", &value))
            }
            ops::arith::ANDI | ops::arith::MULI => self.binary(op, level::AND, "&&"),
            ops::arith::ORI => self.binary(op, level::OR, "||"),
            ops::arith::XORI | ops::arith::ADDI | ops::arith::SUBI => self.binary(op, level::EQUALITY, "!="),
            ops::arith::TRUNCI => {
                let [value] = self.taken(op)?;
                let one = Expression::literal("1".to_owned());
                let bit = Expression::binary(level::BITS, "&", &value, &one);
                let zero = Expression::literal("0".to_owned());
                Ok(Expression::binary(level::EQUALITY, "!=", &bit, &zero))
            }
            _ => Err(refused(op, "has no form in C for bools")),
        }
    }

    fn binary(
        &mut self,
        op: OperationRef<'c, 'a>,
        level: u8,
        operator: &str,
    ) -> Result<Expression, CodegenError> {
        let [a, b] = self.taken(op)?;
        Ok(Expression::binary(level, operator, &a, &b))
    }

    fn integer(
        &mut self,
        op: OperationRef<'c, 'a>,
        name: &str,
        operands: &[Value<'c, 'a>],
        element: Element,
    ) -> Result<Expression, CodegenError> {
        let are_natural = operands.iter().all(|value| self.ranges.is_natural(*value));
        match name {
            ops::arith::ADDI => self.wrapping(op, level::SUM, "+", element),
            ops::arith::SUBI => self.wrapping(op, level::SUM, "-", element),
            ops::arith::MULI => self.wrapping(op, level::PRODUCT, "*", element),
            ops::arith::DIVSI => self.quotient(op, "/", element),
            ops::arith::REMSI => self.quotient(op, "%", element),
            ops::arith::DIVUI | ops::arith::REMUI => {
                let operator = if name == ops::arith::DIVUI { "/" } else { "%" };
                if are_natural {
                    return self.quotient(op, operator, element);
                }
                let unsigned = self.taken::<2>(op)?.map(|value| Expression::cast(element.bits(), &value));
                let quotient = Expression::binary(level::PRODUCT, operator, &unsigned[0], &unsigned[1]);
                Ok(Expression::cast(element.name(), &quotient))
            }
            ops::arith::ANDI => self.binary(op, level::BITS, "&"),
            ops::arith::ORI => self.binary(op, level::BITS, "|"),
            ops::arith::XORI => self.binary(op, level::BITS, "^"),
            ops::arith::SHRUI => {
                let [value, count] = self.taken(op)?;
                let value = Expression::cast(element.bits(), &value);
                let shifted = Expression::call(&self.support.call("ushr"), &[value, count]);
                Ok(narrowed(shifted, element))
            }
            ops::math::CTPOP => {
                let [value] = self.taken(op)?;
                let bits = Expression::cast(element.bits(), &value);
                Ok(narrowed(Expression::call(&self.support.call("popcount"), &[bits]), element))
            }
            ops::arith::MINUI | ops::arith::MAXUI if are_natural && self.smaller(operands).is_none() => {
                let function = if name == ops::arith::MINUI { "min" } else { "max" };
                let values = self.taken::<2>(op)?;
                Ok(narrowed(Expression::call(&self.support.call(function), &values), element))
            }
            ops::arith::MINSI | ops::arith::MINUI if self.smaller(operands).is_some() => {
                self.take(self.smaller(operands).unwrap_or(operands[0]))
            }
            _ => match named(INTEGERS, name) {
                Some(function) => {
                    let values: Vec<_> =
                        operands.iter().map(|value| self.take(*value)).collect::<Result<_, _>>()?;
                    Ok(narrowed(Expression::call(&self.support.call(function), &values), element))
                }
                None => self.converted_to_integer(op, name, element),
            },
        }
    }

    /// The operand that is never greater than the other one. Both are not negative.
    fn smaller(&self, operands: &[Value<'c, 'a>]) -> Option<Value<'c, 'a>> {
        let [a, b] = *operands else { return None };
        let (first, second) = (self.ranges.get(a), self.ranges.get(b));
        let are_natural = first.0 >= 0 && second.0 >= 0;
        match are_natural {
            true if first.1 <= second.0 => Some(a),
            true if second.1 <= first.0 => Some(b),
            _ => None,
        }
    }

    /// A sum, difference or product that wraps. Signed arithmetic is used where it cannot overflow.
    fn wrapping(
        &mut self,
        op: OperationRef<'c, 'a>,
        level: u8,
        operator: &str,
        element: Element,
    ) -> Result<Expression, CodegenError> {
        let (low, high) = element.range();
        let fits = self.ranges.unwrapped(op).is_some_and(|range| range.0 >= low && range.1 <= high);
        let values = self.taken::<2>(op)?;
        if fits {
            return Ok(Expression::binary(level, operator, &values[0], &values[1]));
        }
        let unsigned = values.map(|value| Expression::cast(element.unsigned(), &value));
        Ok(Expression::cast(element.name(), &Expression::binary(level, operator, &unsigned[0], &unsigned[1])))
    }

    /// A quotient or a remainder, rounded toward zero.
    fn quotient(
        &mut self,
        op: OperationRef<'c, 'a>,
        operator: &str,
        element: Element,
    ) -> Result<Expression, CodegenError> {
        let quotient = self.binary(op, level::PRODUCT, operator)?;
        Ok(match element {
            // C divides narrower integers as `int`, whose quotient may be one above their maximum.
            Element::Int(8 | 16) => Expression::cast(element.name(), &quotient),
            _ => quotient,
        })
    }

    fn converted_to_integer(
        &mut self,
        op: OperationRef<'c, 'a>,
        name: &str,
        element: Element,
    ) -> Result<Expression, CodegenError> {
        let operand = op.operands().next().ok_or_else(|| refused(op, "has no operand"))?;
        let from = Element::new(operand.r#type())?;
        let value = match name {
            ops::arith::FPTOSI | ops::arith::FPTOUI => self.widened(operand)?,
            _ => self.take(operand)?,
        };
        Ok(match name {
            ops::arith::INDEX_CAST | ops::arith::EXTSI if from == Element::Bool => {
                Expression::unary("-", &Expression::cast(element.name(), &value))
            }
            ops::arith::INDEX_CAST | ops::arith::INDEX_CASTUI if from == element => value,
            ops::arith::INDEX_CAST | ops::arith::EXTSI | ops::arith::TRUNCI => {
                Expression::cast(element.name(), &value)
            }
            ops::arith::EXTUI | ops::arith::INDEX_CASTUI if from == Element::Bool => {
                Expression::cast(element.name(), &value)
            }
            ops::arith::EXTUI | ops::arith::INDEX_CASTUI => {
                Expression::cast(element.name(), &Expression::cast(from.bits(), &value))
            }
            ops::arith::FPTOSI => narrowed(Expression::call(&self.support.call("to_int"), &[value]), element),
            ops::arith::FPTOUI => {
                narrowed(Expression::call(&self.support.call("to_uint"), &[value]), element)
            }
            ops::arith::BITCAST => {
                let function = match from {
                    _ if from.is_narrow_real() => return Ok(Expression::cast(element.name(), &value)),
                    Element::Real(RealType::F64) => "bits_of_double",
                    Element::Real(_) => "bits_of_float",
                    _ => return Ok(value),
                };
                Expression::call(&self.support.call(function), &[value])
            }
            _ => return Err(refused(op, "has no form in C")),
        })
    }

    fn compared_integers(&mut self, op: OperationRef<'c, 'a>) -> Result<Expression, CodegenError> {
        let operand = op.operands().next().ok_or_else(|| refused(op, "has no operand"))?;
        let element = Element::new(operand.r#type())?;
        let are_natural = op.operands().all(|value| self.ranges.is_natural(value));
        let number = predicate(op).ok_or_else(|| refused(op, "has no predicate"))?;
        let [mut a, mut b] = self.taken(op)?;
        if a.text == b.text {
            // Compilers warn about comparisons of a value with itself.
            let is_true = matches!(number, 0 | 3 | 5 | 7 | 9);
            return Ok(Expression::literal(is_true.to_string()));
        }
        let (binding, operator) = match number {
            0 => (level::EQUALITY, "=="),
            1 => (level::EQUALITY, "!="),
            2 | 6 => (level::RELATION, "<"),
            3 | 7 => (level::RELATION, "<="),
            4 | 8 => (level::RELATION, ">"),
            _ => (level::RELATION, ">="),
        };
        if number >= 6 && !are_natural {
            [a, b] = [a, b].map(|value| Expression::cast(element.bits(), &value));
        } else if (2..6).contains(&number) && element == Element::Bool {
            // True is −1 as a signed integer.
            (a, b) = (b, a);
        }
        Ok(Expression::binary(binding, operator, &a, &b))
    }

    fn compared_reals(&mut self, op: OperationRef<'c, 'a>) -> Result<Expression, CodegenError> {
        let operands: Vec<Value> = op.operands().collect();
        let values = operands.iter().map(|value| self.widened(*value)).collect::<Result<Vec<_>, _>>()?;
        let ([a, b], Some(number)) = (values.as_slice(), predicate(op)) else {
            return Err(refused(op, "has no predicate"));
        };
        let relation = |operator: &str| Expression::binary(level::RELATION, operator, a, b);
        let not = |value: Expression| Expression::unary("!", &value);
        Ok(match number {
            0 => Expression::literal("false".to_owned()),
            1 => Expression::binary(level::EQUALITY, "==", a, b),
            2 => relation(">"),
            3 => relation(">="),
            4 => relation("<"),
            5 => relation("<="),
            6 => Expression::call("islessgreater", &values),
            7 => not(Expression::call("isunordered", &values)),
            8 => not(Expression::call("islessgreater", &values)),
            9 => not(relation("<=")),
            10 => not(relation("<")),
            11 => not(relation(">=")),
            12 => not(relation(">")),
            13 => Expression::binary(level::EQUALITY, "!=", a, b),
            14 => Expression::call("isunordered", &values),
            _ => Expression::literal("true".to_owned()),
        })
    }
}

/// A 64-bit result as an integer of another width.
fn narrowed(value: Expression, element: Element) -> Expression {
    if element == Element::Int(64) { value } else { Expression::cast(element.name(), &value) }
}

/// The literal of an index.
pub(super) fn index(value: i64) -> Expression {
    Expression::literal(integer_literal(value))
}
