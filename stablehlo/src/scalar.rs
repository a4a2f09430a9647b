// SPDX-License-Identifier: Apache-2.0
//! Exports scalar operations on tensors of the same shape: as one StableHLO operation if possible, otherwise as the
//! steps of the lowering.
use super::tensors::Tensors;
use super::{cast, functions};
use melior::Error;
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::melior;
use skript_passes::ir::{ops, steps, types};
use skript_semantics::{Class, Emitter, Expansion, Operation, Scalar, ScalarKind, ScalarOp, StableHlo};

/// Applies an operation to operands of the same shape and, except for a condition, the same element type.
///
/// `None` if the operation does not support such operands.
pub(crate) fn apply<'c: 'a, 'a>(
    op: ScalarOp,
    operands: &[Value<'c, 'a>],
    result: Type<'c>,
    at: &Tensors<'c, 'a>,
) -> Option<Value<'c, 'a>> {
    let last = operands.last()?;
    let from = at.element(*last);
    let extents = at.extents(*last);
    let r#type = types::tensor(&extents, result);
    if is_cast(op) && types::kind_of(from) == types::kind_of(result) {
        return Some(cast::width(*last, result, at));
    }
    let kind = types::kind_of(from)?;
    match op.stablehlo(kind) {
        StableHlo::Named(name) => Some(at.op(name, operands, &[], r#type)),
        StableHlo::Compare(direction) => match operands {
            [lhs, rhs] => Some(at.compare(direction, comparison(kind), *lhs, *rhs)),
            _ => None,
        },
        StableHlo::Composed => {
            let (Some(operand), Some(result)) = (steps::class_of(from), steps::class_of(result)) else {
                return None;
            };
            let lowering = op.lowering(operand, result);
            lowering.map(|lowering| emit(&lowering, operands, at))
        }
    }
}

fn is_cast(op: ScalarOp) -> bool {
    matches!(op, ScalarOp::ToBool | ScalarOp::ToInt | ScalarOp::ToReal)
}

fn comparison(kind: ScalarKind) -> &'static str {
    match kind {
        ScalarKind::Bool => "UNSIGNED",
        ScalarKind::Int => "SIGNED",
        ScalarKind::Real => "FLOAT",
    }
}

/// Exports an operation of `arith` or `math`, which is a step of a lowering or an operation of the program.
///
/// `None` if the operation has no StableHLO form. `predicate` is the number of the predicate of a comparison.
pub(crate) fn arith<'c: 'a, 'a>(
    name: &str,
    predicate: Option<i64>,
    operands: &[Value<'c, 'a>],
    result: Type<'c>,
    at: &Tensors<'c, 'a>,
) -> Option<Value<'c, 'a>> {
    let last = operands.last()?;
    let r#type = types::tensor(&at.extents(*last), result);
    let same = match name {
        ops::arith::DIVSI => "divide",
        ops::arith::REMSI | ops::arith::REMF => "remainder",
        ops::arith::SHLI => "shift_left",
        ops::arith::SHRSI => "shift_right_arithmetic",
        ops::arith::SHRUI => "shift_right_logical",
        ops::arith::SITOFP
        | ops::arith::UITOFP
        | ops::arith::EXTUI
        | ops::arith::EXTSI
        | ops::arith::TRUNCI
        | ops::arith::FPTOSI
        | ops::arith::INDEX_CAST
        | ops::arith::EXTF
        | ops::arith::TRUNCF => "convert",
        ops::arith::BITCAST => "bitcast_convert",
        ops::math::ATAN2 => "atan2",
        ops::math::CBRT => "cbrt",
        ops::math::CTLZ => "count_leading_zeros",
        ops::math::CTPOP => "popcnt",
        ops::math::EXPM1 => "exponential_minus_one",
        // In lowerings, exponents of integer powers are not negative.
        ops::math::IPOWI => "power",
        ops::math::LOG1P => "log_plus_one",
        ops::math::ROUNDEVEN => "round_nearest_even",
        ops::math::RSQRT => "rsqrt",
        _ => match steps::scalar_of(name).map(|(op, kind)| op.stablehlo(kind)) {
            Some(StableHlo::Named(name)) => name,
            _ => "",
        },
    };
    if same == "convert" && last.r#type() == r#type {
        return Some(*last);
    }
    if !same.is_empty() {
        return Some(at.op(same, operands, &[], r#type));
    }
    match (name, operands) {
        (ops::arith::CMPI | ops::arith::CMPF, [lhs, rhs]) => {
            let direction = predicate.and_then(|code| direction(name, code))?;
            let is_unsigned = predicate.is_some_and(|code| code >= 6) || at.element(*lhs) == at.bool();
            let kind = match (name, is_unsigned) {
                (ops::arith::CMPF, _) => "FLOAT",
                (_, true) => "UNSIGNED",
                (_, false) => "SIGNED",
            };
            Some(at.compare(direction, kind, *lhs, *rhs))
        }
        _ => {
            let class = steps::class_of(at.element(*last));
            let expansion = class.and_then(|class| functions::expansion(name, class));
            expansion.map(|expansion| emit(&expansion, operands, at))
        }
    }
}

/// The direction of a comparison with this predicate number.
fn direction(name: &str, code: i64) -> Option<&'static str> {
    Some(match (name, code) {
        (ops::arith::CMPI, 0) | (ops::arith::CMPF, 1) => "EQ",
        (ops::arith::CMPI, 1) | (ops::arith::CMPF, 13) => "NE",
        (ops::arith::CMPI, 2 | 6) | (ops::arith::CMPF, 4) => "LT",
        (ops::arith::CMPI, 3 | 7) | (ops::arith::CMPF, 5) => "LE",
        (ops::arith::CMPI, 4 | 8) | (ops::arith::CMPF, 2) => "GT",
        (ops::arith::CMPI, 5 | 9) | (ops::arith::CMPF, 3) => "GE",
        _ => return None,
    })
}

/// Emits the steps of an expansion on tensors of the same shape.
pub(crate) fn emit<'c: 'a, 'a>(
    expansion: &Expansion,
    operands: &[Value<'c, 'a>],
    at: &Tensors<'c, 'a>,
) -> Value<'c, 'a> {
    let extents = at.extents(operands[operands.len() - 1]);
    expansion
        .emit(&mut Emission { at, extents }, operands)
        .unwrap_or_else(|error| unreachable!("internal compiler error: {error}"))
}

/// Emits steps on tensors.
struct Emission<'s, 'c, 'a> {
    at: &'s Tensors<'c, 'a>,
    extents: Vec<i64>,
}

impl<'c: 'a, 'a> Emitter for Emission<'_, 'c, 'a> {
    type Value = Value<'c, 'a>;
    type Error = Error;

    fn constant(&mut self, number: Scalar, class: Class) -> Result<Self::Value, Error> {
        Ok(self.at.splat(number, &self.extents, steps::type_of(self.at.at.context, class)))
    }

    fn apply(
        &mut self,
        operation: Operation,
        operands: &[(Self::Value, Class)],
        class: Class,
    ) -> Result<Self::Value, Error> {
        // Only rounding to odd uses `LessOrGreater`; NaN rounds to NaN with either result.
        let operation = match operation {
            Operation::LessOrGreater => Operation::Scalar(ScalarOp::Ne),
            operation => operation,
        };
        let from = operands.last().map_or(class, |(_, class)| *class);
        let (name, predicate) = steps::spelling(operation, from, class).ok_or(Error::OperationBuild)?;
        let operands: Vec<Value> = operands.iter().map(|(value, _)| *value).collect();
        let result = steps::type_of(self.at.at.context, class);
        arith(name, predicate, &operands, result, self.at).ok_or(Error::OperationBuild)
    }
}
