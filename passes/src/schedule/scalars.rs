// SPDX-License-Identifier: Apache-2.0
//! Reads the scalar operations of a region as steps of a payload.

use super::body::{Operand, Step};
use crate::ir::operator::Operator;
use crate::ir::{ValueKey, linalg, ops};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Type, Value, ValueLike};
use std::collections::HashMap;

/// Reads the operations of a region as steps.
#[derive(Default)]
pub(super) struct Scalars<'c, 'a> {
    /// The operand of each value that was read. The caller first adds the arguments of the region.
    pub(super) known: HashMap<ValueKey, Operand>,
    pub(super) steps: Vec<Step<'c>>,
    /// The element types of `captured`.
    pub(super) captures: Vec<Type<'c>>,
    /// The values that are defined outside of the region.
    pub(super) captured: Vec<Value<'c, 'a>>,
}

impl<'c, 'a> Scalars<'c, 'a> {
    /// Returns the operand for a value of the payload. A value from outside of the region becomes a capture, or a step if it is a
    /// constant.
    pub(super) fn operand(&mut self, value: Value<'c, 'a>) -> Option<Operand> {
        if let Some(operand) = self.known.get(&ValueKey::of(value)) {
            return Some(operand.clone());
        }
        let constant = crate::ir::definition(value)
            .map(|(op, _)| op)
            .filter(|o| o.name().as_string_ref().as_str() == Ok(ops::arith::CONSTANT));
        let operand = match constant {
            Some(constant) => {
                self.steps.push(constant_step(constant)?);
                Operand::Step(self.steps.len() - 1)
            }
            None => {
                self.captures.push(value.r#type());
                self.captured.push(value);
                Operand::Capture(self.captures.len() - 1)
            }
        };
        self.known.insert(ValueKey::of(value), operand.clone());
        Some(operand)
    }

    /// Adds an operation with one result as a step; `None` if the operation cannot be applied to vectors.
    pub(super) fn step(&mut self, op: OperationRef<'c, 'a>, name: &str) -> Option<()> {
        if op.region_count() != 0 || op.result_count() != 1 {
            return None;
        }
        let step = if name == ops::linalg::INDEX {
            Step::Index { dimension: linalg::index_of(op)? }
        } else if name == ops::arith::CONSTANT {
            constant_step(op)?
        } else if name.starts_with("arith.") || name.starts_with("math.") {
            let mut operands = Vec::new();
            let mut operand_elements = Vec::new();
            for value in op.operands() {
                operands.push(self.operand(value)?);
                operand_elements.push(value.r#type());
            }
            Step::Apply {
                operator: Operator::from_op(op),
                operands,
                operand_elements,
                element: op.result(0).ok()?.r#type(),
            }
        } else {
            return None;
        };
        self.steps.push(step);
        let result = Value::from(op.result(0).ok()?);
        self.known.insert(ValueKey::of(result), Operand::Step(self.steps.len() - 1));
        Some(())
    }
}

fn constant_step<'c>(op: OperationRef<'c, '_>) -> Option<Step<'c>> {
    let element = op.result(0).ok()?.r#type();
    let scalar = ["index", "i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"];
    let is_scalar = scalar.contains(&element.to_string().as_str());
    Some(Step::Constant(op.attribute("value").ok()?)).filter(|_| is_scalar)
}
