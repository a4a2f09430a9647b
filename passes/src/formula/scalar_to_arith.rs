// SPDX-License-Identifier: Apache-2.0
//! `convert-skript-scalar-to-arith`: converts scalar and vector operations of the dialect to `arith` and `math`.
//!
//! Each operation follows its recipe in the scalar table. Sums, differences and products that are a whole recipe may be
//! contracted. The operation that combines an accumulator with a value (attribute `accumulates`) may be reassociated
//! too. Results of bf16 are computed in a wider type and rounded once.
//!
//! Requires: no scalar operation of the dialect is on tensors (run `convert-skript-elementwise-to-linalg` first).
//! Guarantees: no scalar operation of the dialect is left.

mod int_width;
pub(crate) mod real_width;

use super::linalg::ACCUMULATES;
use crate::ir;
use crate::ir::ops;
use crate::ir::{Builder, attributes, replace_each, types, vector};
use melior::ir::attribute::{DenseElementsAttribute, FloatAttribute, IntegerAttribute};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Type, TypeLike, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::melior::ir::OperationRef;
use skript_dialect::melior::ir::operation::OperationLike;
use skript_dialect::{Dialect, Pass, PassError, op};
use skript_semantics::recipe::Input;
use skript_semantics::{Recipe, ScalarKind, ScalarOp, Step, TypeClass};

/// The pass `convert-skript-scalar-to-arith`.
pub(crate) const PASS: Pass = Pass {
    flag: "convert-skript-scalar-to-arith",
    summary: "convert scalar operations to arith and math",
    dependent_dialects: &[Dialect::Arith, Dialect::Math, Dialect::Vector],
    run: |root, _, rewriter| {
        let context = rewriter.context();
        let all = op::collect(&root, is_scalar_operation);
        replace_each(all, rewriter, |found| {
            let lowering = Lowering::of(found, Builder::before(context, found)?).ok_or(
                "has no form on these operands; tensors become linalg.generic first \
                 (convert-skript-elementwise-to-linalg)",
            )?;
            Ok(vec![lowering.run()?])
        })
    },
    ..Pass::NONE
};

/// An elementwise operation of the dialect, whatever its operands.
fn is_scalar_operation(found: OperationRef<'_, '_>) -> bool {
    let name = op::name(&found);
    name == ops::skript::CAST || ScalarOp::ALL.into_iter().any(|s| s.row().name == name)
}

struct Lowering<'c, 'a> {
    found: OperationRef<'c, 'a>,
    at: Builder<'c, 'a>,
    operands: Vec<Value<'c, 'a>>,
    /// Element types for [`TypeClass::Int`] and [`TypeClass::Real`].
    int: Type<'c>,
    real: Type<'c>,
    result: Type<'c>,
    kind: Kind,
}

enum Kind {
    Recipe(Recipe),
    RealWidth,
    IntWidth,
    Same,
}

impl<'c: 'a, 'a> Lowering<'c, 'a> {
    fn of(found: OperationRef<'c, 'a>, at: Builder<'c, 'a>) -> Option<Self> {
        let operands: Vec<Value<'c, 'a>> = found.operands().collect();
        let result = ir::result(found).ok()?.r#type();
        let last = operands.last()?.r#type();
        for value in operands.iter().map(|o| o.r#type()).chain([result]) {
            if value.is_ranked_tensor() || value.is_tensor() {
                return None;
            }
        }
        let (from, to) = (element(last), element(result));
        let context = at.context;
        let pick = |fits: &dyn Fn(Type<'c>) -> bool, default: Type<'c>| {
            [from, to].into_iter().find(|t| fits(*t)).unwrap_or(default)
        };
        let int = pick(&|t| class(t) == Some(TypeClass::Int), IntegerType::new(context, 64).into());
        let real = pick(&|t| t.is_float(), Type::float32(context));
        let scalar = named(found)?;
        let kind = if op::is(&found, ops::skript::CAST) && from == to {
            Kind::Same
        } else if op::is(&found, ops::skript::CAST) && from.is_float() && to.is_float() {
            Kind::RealWidth
        } else if op::is(&found, ops::skript::CAST)
            && matches!(class(from), Some(TypeClass::Int | TypeClass::Index))
            && class(to) == Some(TypeClass::Int)
        {
            Kind::IntWidth
        } else {
            Kind::Recipe(scalar.recipe(class(from)?, class(to)?)?)
        };
        Some(Lowering { found, at, operands, int, real, result, kind })
    }

    fn run(&self) -> Result<Value<'c, 'a>, PassError> {
        let first = || self.operands.first().copied().ok_or(PassError::from("no operand"));
        match &self.kind {
            Kind::Same => first(),
            Kind::RealWidth => self.real_width(first()?),
            Kind::IntWidth => self.int_width(first()?),
            Kind::Recipe(recipe) => {
                let mut values = Vec::new();
                let is_alone = recipe.steps.len() == 1;
                for step in &recipe.steps {
                    let value = self.step(step, &values, is_alone)?;
                    values.push(value);
                }
                self.input(recipe.result, &values)
            }
        }
    }

    fn step(
        &self,
        step: &Step,
        values: &[Value<'c, 'a>],
        is_alone: bool,
    ) -> Result<Value<'c, 'a>, PassError> {
        let mut operands = Vec::new();
        for input in &step.inputs {
            operands.push(self.input(*input, values)?);
        }
        let result = self.shaped(step.result);
        if self.is_brain(result)
            && let Some(rounded) = self.rounded_once(step.op, &operands)?
        {
            return Ok(rounded);
        }
        let context = self.at.context;
        let mut named = Vec::new();
        if let Some(predicate) = step.predicate {
            named.push(("predicate", attributes::i64(context, predicate.code)));
        }
        if is_alone && let Some(flags) = self.fastmath(step.op) {
            let flags = Attribute::parse(context, flags).ok_or("arith is not loaded")?;
            named.push(("fastmath", flags));
        }
        Ok(self.at.value(step.op, &operands, &named, result)?)
    }

    fn apply(
        &self,
        name: &'static str,
        operands: &[Value<'c, 'a>],
        result: Type<'c>,
    ) -> Result<Value<'c, 'a>, PassError> {
        Ok(self.at.value(name, operands, &[], result)?)
    }

    /// In a longer recipe every step rounds, as in the table: a contracted `x - y * floor(x / y)` could leave `[0, y)`.
    fn fastmath(&self, name: &str) -> Option<&'static str> {
        if !matches!(name, ops::arith::ADDF | ops::arith::SUBF | ops::arith::MULF) {
            return None;
        }
        Some(if self.found.has_attribute(ACCUMULATES) {
            "#arith.fastmath<reassoc,contract>"
        } else {
            "#arith.fastmath<contract>"
        })
    }

    fn input(&self, input: Input, values: &[Value<'c, 'a>]) -> Result<Value<'c, 'a>, PassError> {
        let missing = "a recipe names a value that is not there";
        match input {
            Input::Arg(position) => {
                let value = self.operands.get(position).copied().ok_or(missing)?;
                self.spread(value)
            }
            Input::Step(position) => Ok(values.get(position).copied().ok_or(missing)?),
            Input::Bool(value) => self.constant(TypeClass::Bool, i64::from(value), 0.0),
            Input::Int(class, value) => self.constant(class, value, 0.0),
            Input::Real(value) => self.constant(TypeClass::Real, 0, value),
            Input::Least(class) => self.constant(class, types::least(self.width(class)), 0.0),
            Input::Greatest(class) => self.constant(class, !types::least(self.width(class)), 0.0),
            Input::LeastAsReal(class) => {
                self.constant(TypeClass::Real, 0, types::least(self.width(class)) as f64)
            }
            Input::BeyondGreatestAsReal(class) => {
                self.constant(TypeClass::Real, 0, -(types::least(self.width(class)) as f64))
            }
        }
    }

    /// A scalar operand of a vector operation, as a vector.
    fn spread(&self, value: Value<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let r#type = value.r#type();
        if !self.result.is_vector() || r#type.is_vector() {
            return Ok(value);
        }
        let shaped = vector::shaped_like(self.result, r#type);
        Ok(self.at.value(ops::vector::BROADCAST, &[value], &[], shaped)?)
    }

    fn constant(&self, class: TypeClass, int: i64, real: f64) -> Result<Value<'c, 'a>, PassError> {
        let scalar = self.scalar(class);
        let number: Attribute<'c> = if class == TypeClass::Real {
            FloatAttribute::new(self.at.context, scalar, real).into()
        } else {
            IntegerAttribute::new(scalar, int).into()
        };
        self.number(number, self.shaped(class))
    }

    /// A constant of this type, each element of which is `number`.
    fn number(&self, number: Attribute<'c>, r#type: Type<'c>) -> Result<Value<'c, 'a>, PassError> {
        let value =
            if r#type.is_vector() { DenseElementsAttribute::splat(r#type, number).into() } else { number };
        Ok(self.at.value(ops::arith::CONSTANT, &[], &[("value", value)], r#type)?)
    }

    fn scalar(&self, class: TypeClass) -> Type<'c> {
        let context = self.at.context;
        match class {
            TypeClass::Bool => IntegerType::new(context, 1).into(),
            TypeClass::Int => self.int,
            TypeClass::Index => Type::index(context),
            TypeClass::I64 => IntegerType::new(context, 64).into(),
            TypeClass::Real => self.real,
        }
    }

    fn shaped(&self, class: TypeClass) -> Type<'c> {
        vector::shaped_like(self.result, self.scalar(class))
    }

    fn width(&self, class: TypeClass) -> u32 {
        IntegerType::try_from(self.scalar(class)).map_or(64, |t| t.width())
    }
}

fn named(found: OperationRef<'_, '_>) -> Option<ScalarOp> {
    let name = op::name(&found);
    if name == ops::skript::CAST {
        let to = types::kind_of(element(ir::result(found).ok()?.r#type()))?;
        return Some(match to {
            ScalarKind::Bool => ScalarOp::ToBool,
            ScalarKind::Int => ScalarOp::ToInt,
            ScalarKind::Real => ScalarOp::ToReal,
        });
    }
    ScalarOp::ALL.into_iter().find(|s| s.row().name == name)
}

fn element(r#type: Type<'_>) -> Type<'_> {
    vector::element_or_self(r#type)
}

fn class(r#type: Type<'_>) -> Option<TypeClass> {
    if r#type.is_index() {
        return Some(TypeClass::Index);
    }
    if r#type.is_float() {
        return Some(TypeClass::Real);
    }
    let width = IntegerType::try_from(r#type).ok()?.width();
    Some(if width == 1 { TypeClass::Bool } else { TypeClass::Int })
}
