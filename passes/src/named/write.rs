// SPDX-License-Identifier: Apache-2.0
//! Writes a named operation as text, with reshapes of its operands.

use super::operand::Operand;
use crate::ir;
use crate::ir::ops;
use crate::ir::{Builder, splice, types};
use melior::ir::{OperationRef, Type, TypeLike, Value, ValueLike};
use skript_dialect::{PassError, melior};

/// A named operation.
pub(crate) struct Named<'c, 'a> {
    pub name: String,
    /// The text before the operands, and after the destination.
    pub head: String,
    pub tail: String,
    pub inputs: Vec<Input<'c, 'a>>,
    pub output: Operand<'c, 'a>,
    /// Whether the text ends with the type of the result.
    pub typed: bool,
}

pub(crate) enum Input<'c, 'a> {
    Tensor(Operand<'c, 'a>),
    Scalar(Value<'c, 'a>),
    /// An empty tensor that defines the extents of a window.
    Shape(Vec<i64>),
}

impl<'c: 'a, 'a> Named<'c, 'a> {
    /// Whether no tensor with dynamic extents is reshaped: the other shape could not be computed.
    pub(crate) fn keeps_dynamic_shapes(&self) -> bool {
        let kept = |operand: &Operand| {
            let extents = types::extents(operand.value.r#type()).unwrap_or_default();
            let is_open = extents.contains(&types::DYNAMIC);
            !is_open || operand.changes.is_empty() && extents == operand.shape
        };
        let inputs = self.inputs.iter().all(|input| match input {
            Input::Tensor(operand) => kept(operand),
            Input::Scalar(_) => true,
            Input::Shape(extents) => extents.iter().all(|extent| *extent >= 0),
        });
        inputs && kept(&self.output)
    }

    /// Inserts the operation, with reshapes around it, before `at`; returns the result.
    pub(crate) fn write(
        &self,
        at: OperationRef<'c, 'a>,
        builder: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let mut operands = Vec::new();
        for input in &self.inputs {
            operands.push(match input {
                Input::Tensor(operand) => operand.shaped(at, builder)?,
                Input::Scalar(value) => *value,
                Input::Shape(extents) => {
                    let element = self.output.element().ok_or("a result that is not a tensor")?;
                    builder.value(ops::tensor::EMPTY, &[], &[], types::tensor(extents, element))?
                }
            });
        }
        let init = self.output.shaped(at, builder)?;
        let list = |values: &[Value<'c, 'a>], first: usize| {
            let names: Vec<String> = (first..first + values.len()).map(|n| format!("%{n}")).collect();
            let types: Vec<String> = values.iter().map(|v| v.r#type().to_string()).collect();
            format!("({} : {})", names.join(", "), types.join(", "))
        };
        let count = operands.len();
        let result = init.r#type().to_string();
        let mut text = format!(
            "%v0 = {}{} ins{} outs{}{}",
            self.name,
            self.head,
            list(&operands, 0),
            list(&[init], count),
            self.tail
        );
        if self.typed {
            text.push_str(" -> ");
            text.push_str(&result);
        }
        operands.push(init);
        let made = splice::splice(at, &operands, &text, &[("%v0".to_owned(), result)])?;
        let value = *made.values.first().ok_or("a text without a result")?;
        self.output.restored(value, ir::result(at)?.r#type(), at, builder)
    }
}

/// Whether all are tensors of one element type.
pub(crate) fn same_elements(operands: &[&Operand<'_, '_>]) -> bool {
    let mut elements = operands.iter().map(|o| o.element());
    let first = elements.next().flatten();
    first.is_some() && elements.all(|e| e == first)
}

/// Whether linalg's products and poolings support elements of this type: all but `index`.
pub(crate) fn multiplies(element: Type<'_>) -> bool {
    !element.is_index()
}
