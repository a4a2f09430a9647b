// SPDX-License-Identifier: Apache-2.0
//! Scalar operations on tensors of one shape: the StableHLO operation if there is one, else the recipe.

use super::cast;
use super::tensors::Tensors;
use melior::Error;
use melior::ir::r#type::IntegerType;
use melior::ir::{Type, TypeLike, Value, ValueLike};
use skript_dialect::melior;
use skript_passes::ir::ops;
use skript_passes::ir::types;
use skript_semantics::recipe::Input;
use skript_semantics::{Recipe, Scalar, ScalarKind, ScalarOp, StableHlo, Step, TypeClass};

/// The operation on operands of one shape and, except for a condition, of one element type.
///
/// `None` if it does not support such operands.
pub(crate) fn apply<'c: 'a, 'a>(
    op: ScalarOp,
    operands: &[Value<'c, 'a>],
    result: Type<'c>,
    at: &Tensors<'c, 'a>,
) -> Result<Option<Value<'c, 'a>>, Error> {
    let Some(last) = operands.last() else {
        return Ok(None);
    };
    let from = at.element(*last)?;
    let extents = at.extents(*last)?;
    let r#type = types::tensor(&extents, result);
    if is_cast(op) && class(from) == class(result) {
        return cast::width(*last, result, at).map(Some);
    }
    let Some(kind) = types::kind_of(from) else {
        return Ok(None);
    };
    match op.stablehlo(kind) {
        StableHlo::Named(name) => Ok(Some(at.op(name, operands, &[], r#type)?)),
        StableHlo::Compare(direction) => match operands {
            [lhs, rhs] => Ok(Some(at.compare(direction, comparison(kind), *lhs, *rhs)?)),
            _ => Ok(None),
        },
        StableHlo::Composed => {
            let (Some(operand_class), Some(result_class)) = (class(from), class(result)) else {
                return Ok(None);
            };
            let Some(recipe) = op.recipe(operand_class, result_class) else {
                return Ok(None);
            };
            let int = [from, result]
                .into_iter()
                .find(|t| class(*t) == Some(TypeClass::Int))
                .unwrap_or_else(|| at.int());
            let real = [from, result]
                .into_iter()
                .find(|t| t.is_float())
                .unwrap_or_else(|| Type::float32(at.at.context));
            let cook = Cook { at, operands, extents, int, real };
            cook.run(&recipe).map(Some)
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

fn class(r#type: Type<'_>) -> Option<TypeClass> {
    Some(match types::kind_of(r#type)? {
        ScalarKind::Bool => TypeClass::Bool,
        ScalarKind::Int => TypeClass::Int,
        ScalarKind::Real => TypeClass::Real,
    })
}

/// An operation of `arith` or `math`, from a recipe or a program.
///
/// `None` if it has no StableHLO form. `predicate` is the name of a comparison.
pub(crate) fn arith<'c: 'a, 'a>(
    name: &str,
    predicate: Option<&str>,
    operands: &[Value<'c, 'a>],
    result: Type<'c>,
    at: &Tensors<'c, 'a>,
) -> Result<Option<Value<'c, 'a>>, Error> {
    let Some(last) = operands.last() else {
        return Ok(None);
    };
    let r#type = types::tensor(&at.extents(*last)?, result);
    let same = match name {
        ops::arith::ADDF | ops::arith::ADDI => "add",
        ops::arith::SUBF | ops::arith::SUBI => "subtract",
        ops::arith::MULF | ops::arith::MULI => "multiply",
        ops::arith::DIVF => "divide",
        ops::arith::DIVSI => "divide",
        ops::arith::REMSI | ops::arith::REMF => "remainder",
        ops::arith::NEGF => "negate",
        ops::arith::ANDI => "and",
        ops::arith::ORI => "or",
        ops::arith::XORI => "xor",
        ops::arith::SHLI => "shift_left",
        ops::arith::SHRSI => "shift_right_arithmetic",
        ops::arith::SHRUI => "shift_right_logical",
        ops::arith::MAXSI | ops::arith::MAXIMUMF => "maximum",
        ops::arith::MINSI | ops::arith::MINIMUMF => "minimum",
        ops::arith::SELECT => "select",
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
        ops::math::ABSF => "abs",
        ops::math::CEIL => "ceil",
        ops::math::FLOOR => "floor",
        ops::math::COS => "cosine",
        ops::math::SIN => "sine",
        ops::math::TANH => "tanh",
        ops::math::ATAN2 => "atan2",
        ops::math::CBRT => "cbrt",
        ops::math::CTLZ => "count_leading_zeros",
        ops::math::CTPOP => "popcnt",
        ops::math::EXP => "exponential",
        ops::math::EXPM1 => "exponential_minus_one",
        ops::math::LOG => "log",
        ops::math::LOG1P => "log_plus_one",
        // Recipes give integer powers no negative exponent.
        ops::math::POWF | ops::math::IPOWI => "power",
        ops::math::ROUND => "round_nearest_afz",
        ops::math::ROUNDEVEN => "round_nearest_even",
        ops::math::RSQRT => "rsqrt",
        ops::math::SQRT => "sqrt",
        _ => "",
    };
    if same == "convert" && last.r#type() == r#type {
        return Ok(Some(*last));
    }
    if !same.is_empty() {
        return Ok(Some(at.op(same, operands, &[], r#type)?));
    }
    let functions = super::functions::Functions { at };
    match (name, operands) {
        (ops::arith::CMPI | ops::arith::CMPF, [lhs, rhs]) => {
            let predicate = predicate.unwrap_or_default();
            let direction = match predicate.trim_start_matches(['s', 'u', 'o']) {
                "eq" => "EQ",
                "ne" => "NE",
                "lt" => "LT",
                "le" => "LE",
                "gt" => "GT",
                "ge" => "GE",
                _ => return Ok(None),
            };
            let kind = match (name, predicate.starts_with('u')) {
                (ops::arith::CMPF, _) => "FLOAT",
                (_, true) => "UNSIGNED",
                (_, false) if at.element(*lhs)? == at.bool() => "UNSIGNED",
                (_, false) => "SIGNED",
            };
            Ok(Some(at.compare(direction, kind, *lhs, *rhs)?))
        }
        (ops::arith::FLOORDIVSI, [a, b]) => functions.rounded_quotient(*a, *b, "NE").map(Some),
        (ops::arith::CEILDIVSI, [a, b]) => functions.rounded_quotient(*a, *b, "EQ").map(Some),
        (_, [x]) => functions.real(name, *x),
        _ => Ok(None),
    }
}

/// Builds the steps of a recipe.
struct Cook<'s, 'c, 'a> {
    at: &'s Tensors<'c, 'a>,
    operands: &'s [Value<'c, 'a>],
    extents: Vec<i64>,
    int: Type<'c>,
    real: Type<'c>,
}

impl<'c: 'a, 'a> Cook<'_, 'c, 'a> {
    fn run(&self, recipe: &Recipe) -> Result<Value<'c, 'a>, Error> {
        let mut values = Vec::new();
        for step in &recipe.steps {
            let value = self.step(step, &values)?;
            values.push(value);
        }
        self.input(recipe.result, &values)
    }

    fn step(&self, step: &Step, values: &[Value<'c, 'a>]) -> Result<Value<'c, 'a>, Error> {
        let operands =
            step.inputs.iter().map(|input| self.input(*input, values)).collect::<Result<Vec<_>, _>>()?;
        let predicate = step.predicate.map(|p| p.name);
        arith(step.op, predicate, &operands, self.r#type(step.result), self.at)?.ok_or(Error::OperationBuild)
    }

    fn r#type(&self, class: TypeClass) -> Type<'c> {
        match class {
            TypeClass::Bool => self.at.bool(),
            TypeClass::Int => self.int,
            TypeClass::Index | TypeClass::I64 => self.at.int(),
            TypeClass::Real => self.real,
        }
    }

    fn input(&self, input: Input, values: &[Value<'c, 'a>]) -> Result<Value<'c, 'a>, Error> {
        let splat = |value, class| self.at.splat(value, &self.extents, self.r#type(class));
        let least = |class| {
            let width = IntegerType::try_from(self.r#type(class)).map_or(64, |t| t.width());
            types::least(width)
        };
        match input {
            Input::Arg(position) => self.operands.get(position).copied().ok_or(Error::OperationBuild),
            Input::Step(position) => values.get(position).copied().ok_or(Error::OperationBuild),
            Input::Bool(value) => splat(Scalar::Bool(value), TypeClass::Bool),
            Input::Int(class, value) => splat(Scalar::Int(value), class),
            Input::Real(value) => splat(Scalar::Real(value), TypeClass::Real),
            Input::Least(class) => splat(Scalar::Int(least(class)), class),
            Input::Greatest(class) => splat(Scalar::Int(!least(class)), class),
            Input::LeastAsReal(class) => splat(Scalar::Real(least(class) as f64), TypeClass::Real),
            Input::BeyondGreatestAsReal(class) => {
                splat(Scalar::Real(-(least(class) as f64)), TypeClass::Real)
            }
        }
    }
}
