// SPDX-License-Identifier: Apache-2.0
//! Runs operators without a body by the kernels of `skript-intrinsics`.

use crate::block::flattened;
use crate::error::{EvalError, Failure, internal};
use crate::frame::Frame;
use skript_frontend::model::AttributeValue;
use skript_intrinsics::{Call, KernelError, Output, Value, kernel};
use skript_semantics::ScalarKind;
use skript_tensor::Tensor;
use std::sync::Arc;

/// Computes the outputs of the function of `frame`, which has no body.
pub(crate) fn call(frame: &Frame<'_>, inputs: &[Arc<Tensor>], seed: u64) -> Result<Vec<Tensor>, EvalError> {
    let name = &frame.function.name;
    let kernel = kernel(name).ok_or_else(|| Failure::UnknownIntrinsic(name.clone()))?;
    let attributes = frame
        .function
        .attributes
        .iter()
        .map(|(name, given)| Ok((name.clone(), value(given, frame)?)))
        .collect::<Result<Vec<_>, EvalError>>()?;
    let inputs: Vec<&Tensor> = inputs.iter().map(Arc::as_ref).collect();
    let ids = flattened(&frame.function.outputs);
    let mut outputs = Vec::new();
    for id in &ids {
        let declared = &frame.declared(*id)?.tensor;
        let shape = frame.shape(*id).ok();
        let upper_bounds = || declared.shape.iter().map(|e| e.bound()).collect();
        outputs.push(Output {
            element: frame.element(*id)?,
            bound: shape.clone().unwrap_or_else(upper_bounds),
            shape,
        });
    }
    let result = kernel.run(&Call { attributes: &attributes, inputs: &inputs, outputs: &outputs, seed });
    result.map_err(|error| match error {
        KernelError::Invocation(reason) => {
            EvalError::new(Failure::Intrinsic { operator: name.clone(), reason })
        }
        // The frame's error states why the shape is unknown.
        KernelError::NoShape(position) => match ids.get(position).map(|id| frame.shape(*id)) {
            Some(Err(why)) => why,
            _ => internal("an output of an intrinsic has no shape"),
        },
        KernelError::Tensor(error) => Failure::Tensor(error).into(),
    })
}

fn value(attribute: &AttributeValue, frame: &Frame<'_>) -> Result<Value, EvalError> {
    Ok(match attribute {
        AttributeValue::Null => Value::Null,
        AttributeValue::Unknown => Value::Unknown,
        AttributeValue::Bool(b) => Value::Bool(*b),
        AttributeValue::Int(i) => Value::Int(*i),
        AttributeValue::Real(x) => Value::Real(*x),
        AttributeValue::Str(s) => Value::Str(s.clone()),
        AttributeValue::List(items) => {
            Value::List(items.iter().map(|item| value(item, frame)).collect::<Result<_, _>>()?)
        }
        AttributeValue::Run { kind, value } => {
            let scalar =
                frame.scalar(value).ok_or_else(|| internal("an attribute depends on unknown extents"))?;
            match kind {
                ScalarKind::Bool => Value::Bool(scalar.to_bool()),
                ScalarKind::Int => Value::Int(scalar.to_int()),
                ScalarKind::Real => Value::Real(scalar.to_real()),
            }
        }
    })
}
