// SPDX-License-Identifier: Apache-2.0
//! Emits a named operation, with reshapes of its operands.

use super::operand::Operand;
use crate::ir;
use crate::ir::operator::Operator;
use crate::ir::ops;
use crate::ir::{Builder, linalg, types};
use melior::ir::{Attribute, OperationRef, Region, Type, TypeLike, Value, ValueLike};
use skript_dialect::{PassError, melior};

/// A named operation.
pub(crate) struct Named<'c, 'a> {
    pub name: String,
    pub attributes: Vec<(&'static str, Attribute<'c>)>,
    pub payload: Payload<'c>,
    pub inputs: Vec<Input<'c, 'a>>,
    pub output: Operand<'c, 'a>,
}

/// The payload of a named operation.
pub(crate) enum Payload<'c> {
    /// The payload that the name implies.
    Named,
    /// The element of the input.
    Copy,
    /// A combination of the element of the output and the element of the input. The operation `widens` extends the input if it has
    /// another type.
    Combine { combiner: Operator<'c>, widens: &'static str },
}

pub(crate) enum Input<'c, 'a> {
    Tensor(Operand<'c, 'a>),
    Scalar(Value<'c, 'a>),
    /// An empty tensor that defines the extents of a window.
    Shape(Vec<i64>),
}

impl<'c: 'a, 'a> Named<'c, 'a> {
    /// Whether no tensor with dynamic extents is reshaped. The new shape of such a tensor could not be computed.
    pub(crate) fn keeps_dynamic_shapes(&self) -> bool {
        let is_supported = |operand: &Operand| {
            let extents = types::shape(operand.value.r#type());
            let is_open = extents.contains(&types::DYNAMIC);
            !is_open || operand.changes.is_empty() && extents == operand.shape
        };
        let inputs = self.inputs.iter().all(|input| match input {
            Input::Tensor(operand) => is_supported(operand),
            Input::Scalar(_) => true,
            Input::Shape(extents) => extents.iter().all(|extent| *extent >= 0),
        });
        inputs && is_supported(&self.output)
    }

    /// Inserts the operation and the reshapes before `at`. Returns the result.
    pub(crate) fn write(
        &self,
        at: OperationRef<'c, 'a>,
        builder: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let mut operands = Vec::new();
        for input in &self.inputs {
            operands.push(match input {
                Input::Tensor(operand) => operand.shaped(builder)?,
                Input::Scalar(value) => *value,
                Input::Shape(extents) => {
                    let element = self.output.element().ok_or("a result that is not a tensor")?;
                    builder.value(ops::tensor::EMPTY, &[], &[], types::tensor(extents, element))?
                }
            });
        }
        let init = self.output.shaped(builder)?;
        let element = |value: &Value<'c, 'a>| types::element_or_self(value.r#type());
        let (count, result) = (operands.len(), init.r#type());
        operands.push(init);
        let elements: Vec<Type> = operands.iter().map(element).collect();
        let mut attributes = self.attributes.clone();
        let (region, inside, arguments) = match self.payload {
            Payload::Named => {
                let count = i32::try_from(count).map_err(|_| "too many operands")?;
                attributes.push(builder.segments(&[count, 1]));
                (Region::new(), *builder, Vec::new())
            }
            _ => builder.region(&elements),
        };
        let yielded = match &self.payload {
            Payload::Named => None,
            Payload::Copy => arguments.first().copied(),
            Payload::Combine { combiner, widens } => {
                let (wide, element) = (elements[count], arguments[0]);
                let element = if widens.is_empty() { element } else { inside.convert(widens, element, wide) };
                Some(combiner.apply(&inside, &[arguments[count], element], wide))
            }
        };
        if let Some(value) = yielded {
            inside.op(ops::linalg::YIELD, &[value], &[], &[], Vec::new());
        }
        let op = builder.op(&self.name, &operands, &attributes, &[result], vec![region]);
        if let Payload::Named = self.payload {
            linalg::fill_region(op);
        }
        let value = builder.result(op, 0);
        self.output.restored(value, ir::result(at)?.r#type(), builder)
    }
}

/// Whether all operands are tensors with the same element type.
pub(crate) fn same_elements(operands: &[&Operand<'_, '_>]) -> bool {
    let mut elements = operands.iter().map(|o| o.element());
    let first = elements.next().flatten();
    first.is_some() && elements.all(|e| e == first)
}

/// Whether linalg's products and poolings support elements of this type. They support all types except `index`.
pub(crate) fn multiplies(element: Type<'_>) -> bool {
    !element.is_index()
}
