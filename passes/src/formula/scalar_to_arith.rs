// SPDX-License-Identifier: Apache-2.0
//! `convert-skript-scalar-to-arith`: converts scalar and vector operations of the dialect to `arith` and `math`.
//!
//! Each operation becomes the steps of its lowering in the scalar table. A sum, difference or product that is the only step of a
//! lowering may be contracted. The operation that combines an accumulator with a value (attribute `accumulates`) may also be
//! reassociated. Results of bf16 are computed in a wider type and rounded once.
//!
//! Requires: no scalar operation of the dialect is on tensors (run `convert-skript-elementwise-to-linalg` first).
//! Guarantees: no scalar operation of the dialect is left.

use super::linalg::ACCUMULATES;
use crate::ir::steps::{self, Steps};
use crate::ir::{self, Builder, attributes, ops, replace_each, types, vector};
use melior::Error;
use melior::ir::operation::{OperationLike, OperationRef, OperationResult};
use melior::ir::{Type, TypeLike, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError, melior, op};
use skript_semantics::{Class, Emitter, Expansion, Operation, RealType, Scalar, ScalarOp};

pub(crate) const PASS: Pass = Pass {
    flag: "convert-skript-scalar-to-arith",
    summary: "convert scalar operations to arith and math",
    dependent_dialects: &[Dialect::Arith, Dialect::Math, Dialect::Vector],
    run: |root, _, rewriter| {
        let context = rewriter.context();
        let operations = op::collect(&root, is_scalar_operation);
        replace_each(operations, rewriter, |op| {
            let lowering = lowering(op).ok_or(
                "has no form on these operands; tensors become linalg.generic first \
                 (convert-skript-elementwise-to-linalg)",
            )?;
            Ok(vec![emit(op, &lowering, Builder::before(context, op)?)?])
        })
    },
    ..Pass::NONE
};

/// Whether an operation is an elementwise operation of the dialect, on operands of any type.
fn is_scalar_operation(op: OperationRef<'_, '_>) -> bool {
    let name = op::name(&op);
    ScalarOp::ALL.into_iter().any(|s| s.row().name == name)
}

/// Returns the lowering of an operation; `None` for an operation on tensors, or on types that the table does not support.
fn lowering(op: OperationRef<'_, '_>) -> Option<Expansion> {
    let result = ir::result(op).ok()?.r#type();
    let operands: Vec<Type> = op.operands().map(|operand| operand.r#type()).collect();
    let is_tensor = |r#type: &Type| r#type.is_ranked_tensor() || r#type.is_tensor();
    if operands.iter().chain([&result]).any(is_tensor) {
        return None;
    }
    let class = |r#type| steps::class_of(vector::element_or_self(r#type));
    let kind = types::kind_of(vector::element_or_self(result))?;
    ScalarOp::from_name(&op::name(&op), kind)?.lowering(class(*operands.last()?)?, class(result)?)
}

fn emit<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    lowering: &Expansion,
    at: Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    // In a longer lowering every step rounds, as in the table: a contracted `x - y * floor(x / y)` could be outside of `[0, y)`.
    let flags = (lowering.steps.len() == 1).then(|| {
        let reassociates = op.has_attribute(ACCUMULATES);
        attributes::fast(at.context, if reassociates { "reassoc,contract" } else { "contract" })
    });
    let model = ir::result(op)?.r#type();
    let steps = Steps::new(at, model).with_fast_math(flags);
    let mut operands: Vec<Value> = op.operands().collect();
    // A scalar operand of a vector operation becomes a vector.
    for operand in &mut operands {
        if model.is_vector() && !operand.r#type().is_vector() {
            let shaped = vector::shaped_like(model, operand.r#type());
            *operand = at.value(ops::vector::BROADCAST, &[*operand], &[], shaped)?;
        }
    }
    Ok(lowering.emit(&mut Emission(steps), &operands)?)
}

/// Emits steps whose results of bf16 are computed in a wider type and rounded once.
struct Emission<'c, 'a>(Steps<'c, 'a>);

impl<'c: 'a, 'a> Emitter for Emission<'c, 'a> {
    type Value = Value<'c, 'a>;
    type Error = Error;

    fn constant(&mut self, number: Scalar, class: Class) -> Result<Self::Value, Error> {
        self.0.constant(number, class)
    }

    /// Applies an operation. A bf16 result is computed in f32: for these operations, rounding twice gives the same result as
    /// rounding once. If an operand is an int, the result is computed in f64, because an int may have more digits than f32.
    fn apply(
        &mut self,
        operation: Operation,
        operands: &[(Self::Value, Class)],
        class: Class,
    ) -> Result<Self::Value, Error> {
        let moves = match operation {
            Operation::Scalar(op) => matches!(op, ScalarOp::Neg | ScalarOp::Abs | ScalarOp::Select),
            _ => operation == Operation::Bits,
        };
        if class == Class::BF16 && !moves {
            let is_of_integer = operands.iter().any(|(_, class)| !class.is_real());
            let wide = if is_of_integer { Class::F64 } else { Class::F32 };
            let mut widened = Vec::new();
            for (value, class) in operands {
                widened.push(match *class {
                    Class::BF16 => (self.converted(*value, Class::BF16, wide)?, wide),
                    class => (*value, class),
                });
            }
            let result = self.0.with_fast_math(None).apply(operation, &widened, wide)?;
            return self.converted(result, wide, Class::BF16);
        }
        self.0.apply(operation, operands, class)
    }
}

impl<'c: 'a, 'a> Emission<'c, 'a> {
    fn converted(&mut self, value: Value<'c, 'a>, from: Class, to: Class) -> Result<Value<'c, 'a>, Error> {
        let conversion = ScalarOp::ToReal.lowering(from, to).ok_or(Error::OperationBuild)?;
        conversion.emit(&mut self.0, &[value])
    }
}

/// Returns the bf16 number that was widened to the f32 `single` by moving its bits.
pub(crate) fn widened_from<'c: 'a, 'a>(single: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    let of = |value: Value<'c, 'a>, name: &str| {
        let op = OperationResult::try_from(value).ok()?.owner();
        op::is(&op, name).then_some(op)
    };
    let shifted = of(ir::operand(of(single, ops::arith::BITCAST)?).ok()?, ops::arith::SHLI)?;
    let [extended, by] = ir::both_operands(shifted).ok()?;
    let extended = of(extended, ops::arith::EXTUI)?;
    let brain = of(ir::operand(extended).ok()?, ops::arith::BITCAST)?;
    let brain = ir::operand(brain).ok()?;
    let moves = ir::integer(by) == Some(16);
    let is_brain = types::reals(brain.r#type()) == Some(RealType::BF16)
        && types::reals(single.r#type()) == Some(RealType::F32);
    (moves && is_brain).then_some(brain)
}
