// SPDX-License-Identifier: Apache-2.0
//! The tensors that a formula assigns (2.12).

use crate::ast::Lowering;
use crate::diagnostics::codes::FORMULA;
use crate::eval::stop::{EvalResult, stop};
use crate::eval::{Atom, Evaluator, Scope, Selected, Stop, TensorRef, Value};
use crate::model;

/// The target of a formula.
pub(in crate::compose) enum AssignedTensors {
    Tensors(Vec<TensorRef>),
    /// An item of a pack of dynamic length, which is stored as one tensor.
    Item(TensorRef, Atom),
    /// A tensor of a pack that is selected in each step.
    Selected(Selected),
}

pub(in crate::compose) fn targets(
    evaluator: &mut Evaluator,
    scope: &Scope,
    lowering: &Lowering,
) -> EvalResult<AssignedTensors> {
    let target = &lowering.target;
    let value = scope.get(&target.name.name);
    if let Some(Value::Atom(Atom::Stack(stack))) = value {
        let every = evaluator.formula.as_ref().and_then(|f| f.every.as_ref());
        let index = match (&target.item, every) {
            (Some(item), _) => evaluator.eval(item)?,
            (None, Some(every)) => Value::Atom(Atom::from_expr(model::Expr::index(every.index))),
            (None, None) => Value::Null,
        };
        return match index {
            Value::Atom(index @ (Atom::Int(_) | Atom::Runtime(_))) => {
                let location = match stack.tensor.shape.first() {
                    Some(length) => evaluator.position_in_stack(&index, length, target.span)?,
                    None => index,
                };
                Ok(AssignedTensors::Item(stack.clone(), location))
            }
            _ => stop(
                &FORMULA,
                target.span,
                format!(
                    "the length of pack `{0}` is known only at run time; assign its items, `{0}[k][…]`",
                    target.name.name
                ),
            ),
        };
    }
    let atoms: Vec<Atom> = match (value, &target.item) {
        (Some(Value::Pack(pack)), Some(item)) => match evaluator.tensor_item(pack.len(), item)? {
            Ok(position) => pack.get(position).into_iter().collect(),
            Err(run) => {
                let variable = crate::eval::index::free_index(&run);
                let keeps_order = evaluator.formula.as_ref().is_some_and(|f| f.keeps_order);
                if let Some(position) = variable.filter(|_| !keeps_order) {
                    return Err(Stop::Unroll(position));
                }
                return match (
                    Selected::new(&pack.iter().collect::<Vec<_>>(), &run, variable.is_some()),
                    variable,
                ) {
                    (Some(selected), _) => Ok(AssignedTensors::Selected(selected)),
                    (None, Some(position)) => Err(Stop::Unroll(position)),
                    (None, None) => stop(
                        &FORMULA,
                        item.span,
                        "the tensors of this pack differ in shape, and the tensor to write is known only at run time",
                    ),
                };
            }
        },
        (Some(value), None) => value.atoms().collect::<Vec<_>>(),
        _ => {
            return stop(&FORMULA, target.span, format!("`{}` is not an output", target.name.name));
        }
    };
    let mut tensors = Vec::with_capacity(atoms.len());
    for atom in atoms {
        match atom {
            Atom::Tensor(tensor) => tensors.push(tensor),
            Atom::Poison => return Err(Stop::Poison),
            other => {
                let message = format!("`{}` is {}, not an output", target.name.name, other.describe());
                return stop(&FORMULA, target.span, message);
            }
        }
    }
    Ok(AssignedTensors::Tensors(tensors))
}
