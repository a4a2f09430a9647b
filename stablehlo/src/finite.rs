// SPDX-License-Identifier: Apache-2.0
//! Finds values that are always finite: constants, embedded weights, and results of operations that only move their
//! elements.

use super::weights::element_type;
use crate::typed::Constant;
use skript_passes::ir;
use skript_passes::ir::arith;

use melior::ir::operation::{OperationLike, OperationResult};
use melior::ir::{Module, OperationRef, RegionLike, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::op::{collect, is};
use skript_passes::ir::attribute_names;
use skript_passes::ir::builder::operations;
use skript_passes::ir::copy::{arguments, operation_name};
use skript_passes::ir::func::{callee, symbol};
use skript_passes::ir::ops;
use skript_passes::ir::{ValueKey, dense, types};
use skript_semantics::Scalar;
use skript_tensor::Tensor;
use std::collections::{HashMap, HashSet};

/// The arguments of functions whose elements are always finite.
#[derive(Debug, Default)]
pub(crate) struct Finite {
    arguments: HashMap<String, Vec<bool>>,
}

/// An operand of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passed {
    /// An argument of the caller.
    Argument(usize),
    Finite,
    Unknown,
}

/// A call and its operands.
struct Call {
    caller: String,
    callee: String,
    passed: Vec<Passed>,
}

impl Finite {
    /// Analyses a module whose entry has constants for the arguments in `held`, by position.
    pub(crate) fn new(module: &Module<'_>, held: &[Option<&Tensor>]) -> Result<Self, melior::Error> {
        let mut finite = Finite::default();
        let mut calls = Vec::new();
        for function in operations(module.body()) {
            let Some(name) = symbol(function) else {
                continue;
            };
            let Some(body) = function.region(0)?.first_block() else {
                continue;
            };
            let parameters = arguments(body);
            let is_entry = function.has_attribute(attribute_names::ENTRY);
            let holds = |position: usize| held.get(position).copied().flatten();
            let known = |position| !is_entry || holds(position).is_some_and(is_finite);
            // Arguments are assumed to be finite until a call passes a value that is not.
            let known = (0..parameters.len()).map(known).collect();
            finite.arguments.insert(name.clone(), known);
            let parameters: Vec<_> = parameters.into_iter().map(ValueKey::of).collect();
            for call in collect(&function, |op| is(&op, ops::skript::INVOKE)) {
                let callee = callee(call).ok_or(melior::Error::OperationBuild)?;
                calls.push(Call {
                    caller: name.clone(),
                    callee,
                    passed: call.operands().map(|o| passed(o, &parameters)).collect(),
                });
            }
        }
        while calls.iter().any(|call| finite.meet(call)) {}
        Ok(finite)
    }

    /// Whether all elements of a function's argument are finite.
    pub(crate) fn holds(&self, function: &str, argument: usize) -> bool {
        let known = self.arguments.get(function);
        known.and_then(|k| k.get(argument)).copied() == Some(true)
    }

    /// Propagates the operands of a call; returns whether an argument changed.
    fn meet(&mut self, call: &Call) -> bool {
        let mut changed = false;
        for (position, passed) in call.passed.iter().enumerate() {
            let holds = match passed {
                Passed::Argument(position) => self.holds(&call.caller, *position),
                Passed::Finite => true,
                Passed::Unknown => false,
            };
            let known = self.arguments.get_mut(&call.callee);
            let known = known.and_then(|known| known.get_mut(position));
            if let Some(known) = known.filter(|known| **known && !holds) {
                *known = false;
                changed = true;
            }
        }
        changed
    }
}

fn passed(value: Value<'_, '_>, parameters: &[ValueKey]) -> Passed {
    if let Some(position) = parameters.iter().position(|a| *a == ValueKey::of(value)) {
        return Passed::Argument(position);
    }
    let result = OperationResult::try_from(value);
    let is_constant = result.is_ok_and(|r| is_finite_constant(r.owner()));
    if is_constant { Passed::Finite } else { Passed::Unknown }
}

fn is_finite(tensor: &Tensor) -> bool {
    (0..tensor.volume()).all(|position| match tensor.get(position) {
        Some(Scalar::Real(number)) => number.is_finite(),
        number => number.is_some(),
    })
}

/// Whether an operation is a constant with finite elements.
fn is_finite_constant(op: OperationRef<'_, '_>) -> bool {
    let elements = || {
        let r#type = ir::result(op).ok()?.r#type();
        let element = element_type(&types::element_of(r#type)?.to_string())?;
        let shape = types::extents(r#type)?;
        let volume = shape.iter().product::<i64>().try_into().ok()?;
        let scalar = arith::Constant::cast(op).map(arith::Constant::value);
        let value = scalar.or_else(|| Some(Constant::cast(op)?.value()))?.ok()?;
        let bytes = dense::bytes(value, element.size(), volume)?;
        let held = [(bytes.len() / element.size()) as u64];
        Tensor::from_bytes(element, &held, &bytes).ok()
    };
    elements().is_some_and(|elements| is_finite(&elements))
}

/// Whether all elements of a value are finite: values in `known`, constants, and results of operations that only move
/// elements.
pub(crate) fn is_finite_value(value: Value<'_, '_>, known: &HashSet<ValueKey>) -> bool {
    let (mut pending, mut seen) = (vec![value], HashSet::new());
    while let Some(value) = pending.pop() {
        let key = ValueKey::of(value);
        if known.contains(&key) || !seen.insert(key) {
            continue;
        }
        let Ok(result) = OperationResult::try_from(value) else {
            return false;
        };
        let op = result.owner();
        // The operands whose elements the result contains.
        let from = match operation_name(op).as_str() {
            ops::stablehlo::SLICE
            | ops::stablehlo::DYNAMIC_SLICE
            | ops::stablehlo::RESHAPE
            | ops::stablehlo::TRANSPOSE
            | ops::stablehlo::BROADCAST_IN_DIM
            | ops::stablehlo::REVERSE
            | ops::stablehlo::GATHER => 0..1,
            ops::stablehlo::PAD | ops::stablehlo::DYNAMIC_UPDATE_SLICE => 0..2,
            ops::stablehlo::SELECT => 1..3,
            ops::stablehlo::CONCATENATE => 0..op.operand_count(),
            _ if is_finite_constant(op) => 0..0,
            _ => return false,
        };
        for position in from {
            match op.operand(position) {
                Ok(operand) => pending.push(operand),
                Err(_) => return false,
            }
        }
    }
    true
}
