// SPDX-License-Identifier: Apache-2.0
//! Reads the scalar operations of a region as steps of a payload.

use super::body::{Operand, Step};
use crate::ir::{self, ValueKey, linalg, ops};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Value, ValueLike};
use std::collections::HashMap;

/// Reads the operations of a region as steps.
#[derive(Default)]
pub(super) struct Scalars<'c, 'a> {
    /// What values are that were read already; the arguments of the region are entered first.
    pub(super) known: HashMap<ValueKey, Operand>,
    pub(super) steps: Vec<Step>,
    /// The element types of the values from outside.
    pub(super) captures: Vec<String>,
    pub(super) captured: Vec<Value<'c, 'a>>,
}

impl<'c, 'a> Scalars<'c, 'a> {
    /// A value of the payload. One from outside becomes a capture, or a step if it is a constant.
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
                self.captures.push(value.r#type().to_string());
                self.captured.push(value);
                Operand::Capture(self.captures.len() - 1)
            }
        };
        self.known.insert(ValueKey::of(value), operand.clone());
        Some(operand)
    }

    /// Adds an operation with one result; `None` if it has no meaning on vectors.
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
                operand_elements.push(value.r#type().to_string());
            }
            Step::Apply {
                name: name.to_string(),
                attributes: ir::inherent(op)?,
                operands,
                operand_elements,
                element: op.result(0).ok()?.r#type().to_string(),
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

fn constant_step(op: OperationRef<'_, '_>) -> Option<Step> {
    let element = op.result(0).ok()?.r#type().to_string();
    let scalar =
        ["index", "i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"].contains(&element.as_str());
    if !scalar {
        return None;
    }
    Some(Step::Constant { attribute: op.attribute("value").ok()?.to_string(), element })
}
