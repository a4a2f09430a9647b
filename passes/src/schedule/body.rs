// SPDX-License-Identifier: Apache-2.0
//! The payload of a reduction as plain data: scalar operations, and the combination of their result with the output.

use crate::ir::operator::Operator;
use crate::ir::{attributes, ops, types};
use melior::ir::attribute::{FloatAttribute, IntegerAttribute};
use melior::ir::operation::OperationRef;
use melior::ir::{Attribute, Type, TypeLike, ValueLike};
use std::collections::HashSet;

/// The source of a scalar of the payload.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// The element of an input, by position among [`super::nest::Nest::operands`].
    Input(usize),
    /// The result of a step.
    Step(usize),
    /// A value defined outside of the nest, by position in [`Body::captures`].
    Capture(usize),
    /// An element of the output after the reduction; in [`Body::finish`] only.
    Reduced,
}

/// One scalar operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<'c> {
    /// The index of a dimension of the original operation.
    Index {
        /// The dimension, from the outermost.
        dimension: usize,
    },
    /// A constant.
    Constant(Attribute<'c>),
    /// Any operation with the same meaning on scalars and on vectors.
    Apply {
        /// The operation.
        operator: Operator<'c>,
        /// The operands, in order.
        operands: Vec<Operand>,
        /// Element types of the operands.
        operand_elements: Vec<Type<'c>>,
        /// The element type of the result.
        element: Type<'c>,
    },
}

/// The operation that combines values with the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Combine<'c> {
    /// `arith.addf` and the like.
    pub operator: Operator<'c>,
    /// The kind of `vector.reduction`.
    pub reduction: &'static str,
    /// The identity of the operation for the element type.
    pub identity: Attribute<'c>,
}

impl<'c> Combine<'c> {
    /// Reads an operation of a payload; `None` if it is not associative.
    pub(crate) fn read(op: OperationRef<'c, '_>) -> Option<Combine<'c>> {
        let element = op.result(0).ok()?.r#type();
        Combine::from_operator(Operator::from_op(op), element)
    }

    /// Returns the combination by an operator for an element type; `None` if the operator is not associative.
    pub fn from_operator(operator: Operator<'c>, element: Type<'c>) -> Option<Combine<'c>> {
        let real = |value: f64| {
            let is_known = element.is_f16() || element.is_f32() || element.is_f64();
            is_known.then(|| FloatAttribute::new(types::context_of(element), element, value).into())
        };
        let integer = |value: i64| IntegerAttribute::new(element, value).into();
        let integer_type = types::as_integer(element).filter(|integer| [32, 64].contains(&integer.width()));
        let min = integer_type.map(|integer| types::min_integer(integer.width()));
        let is_real = element.is_f16() || element.is_f32() || element.is_f64();
        let (reduction, identity) = match operator.name.as_str() {
            ops::arith::ADDF => ("add", real(0.0)),
            ops::arith::MULF => ("mul", real(1.0)),
            ops::arith::MAXIMUMF => ("maximumf", real(f64::NEG_INFINITY)),
            ops::arith::MINIMUMF => ("minimumf", real(f64::INFINITY)),
            ops::arith::ADDI => ("add", Some(integer(0))),
            ops::arith::MULI => ("mul", Some(integer(1))),
            ops::arith::MAXSI => ("maxsi", min.map(integer)),
            ops::arith::MINSI => ("minsi", min.map(|min| integer(!min))),
            _ => return None,
        };
        let is_supported = is_real == operator.name.ends_with('f');
        is_supported.then_some(Combine { operator, reduction, identity: identity? })
    }

    /// Whether the result depends on the order of the values.
    pub(crate) fn rounds(&self, element: Type) -> bool {
        matches!(self.reduction, "add" | "mul") && element.is_float()
    }

    /// Returns the neutral value of the combination; for a sum of reals, the negative zero.
    pub(crate) fn neutral(&self, element: Type<'c>) -> Attribute<'c> {
        if self.reduction == "add" && self.rounds(element) {
            return FloatAttribute::new(types::context_of(element), element, -0.0).into();
        }
        self.identity
    }
}

/// Whether a constant is the identity of the operation; zeros of both signs are equal.
pub(crate) fn is_identity(constant: Attribute, combine: &Combine) -> bool {
    constant == combine.identity
        || attributes::real(constant)
            .zip(attributes::real(combine.identity))
            .is_some_and(|(one, other)| one == other)
}

/// A payload: the initial value of each element of the output is `start`. At each point where `predicate` is true, `value` is combined
/// with the element. The final value is `finish`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body<'c> {
    /// The operations, in order.
    pub steps: Vec<Step<'c>>,
    /// An element before the reduction: the element of the output, or a value that the payload computes.
    pub start: Operand,
    /// An element after the reduction; [`Operand::Reduced`] if no operation follows the reduction.
    pub finish: Operand,
    /// The element type of the reduction.
    pub accumulator: Type<'c>,
    /// The value that is combined with the accumulator.
    pub value: Operand,
    /// A bool; points where it is false do not contribute.
    pub predicate: Option<Operand>,
    /// A bool; points where it is false may be skipped, because their values do not change the result.
    pub skips: Option<Operand>,
    /// The combination with the accumulator.
    pub combine: Combine<'c>,
    /// Element types of the captures, which are defined outside of the nest.
    pub captures: Vec<Type<'c>>,
}

impl<'c> Body<'c> {
    /// Returns the dimensions whose indices are used.
    pub fn used_dimensions(&self) -> Vec<usize> {
        let mut roots = vec![self.value.clone(), self.start.clone(), self.finish.clone()];
        roots.extend(self.predicate.clone());
        self.dimensions(roots)
    }

    /// Returns the dimensions that determine which points may be skipped.
    pub fn skipped_dimensions(&self) -> Vec<usize> {
        self.dimensions(self.skips.clone().into_iter().collect())
    }

    /// Whether an index that is a capture determines which points may be skipped: the nest is then a block of a larger nest.
    pub(super) fn skips_by_outside(&self) -> bool {
        let mut skips = false;
        self.visit(self.skips.clone().into_iter().collect(), |operand| {
            if let Operand::Capture(number) = operand {
                skips |= self.captures.get(*number).is_some_and(|kind| kind.is_index());
            }
        });
        skips
    }

    /// Returns the inputs whose elements determine which points contribute.
    pub fn tested_inputs(&self) -> Vec<usize> {
        let mut inputs = Vec::new();
        let roots = self.predicate.iter().chain(&self.skips).cloned().collect();
        self.visit(roots, |operand| {
            if let Operand::Input(number) = operand {
                inputs.push(*number);
            }
        });
        inputs
    }

    fn dimensions(&self, roots: Vec<Operand>) -> Vec<usize> {
        let mut used = Vec::new();
        self.visit(roots, |operand| {
            if let Operand::Step(number) = operand
                && let Some(Step::Index { dimension }) = self.steps.get(*number)
            {
                used.push(*dimension);
            }
        });
        used.sort_unstable();
        used
    }

    /// Whether the initial value of elements is the identity of the combination.
    pub(crate) fn starts_with_identity(&self) -> bool {
        let Operand::Step(number) = self.start else {
            return false;
        };
        match self.steps.get(number) {
            Some(Step::Constant(value)) => is_identity(*value, &self.combine),
            _ => false,
        }
    }

    /// Whether the final values of elements are computed from an array.
    pub fn finish_reads(&self, array: usize) -> bool {
        self.reads(&self.finish, array)
    }

    /// Whether the initial values of elements are computed from an array.
    pub fn start_reads(&self, array: usize) -> bool {
        self.reads(&self.start, array)
    }

    fn reads(&self, root: &Operand, array: usize) -> bool {
        let mut reads = false;
        self.visit(vec![root.clone()], |operand| {
            reads |= *operand == Operand::Input(array);
        });
        reads
    }

    /// Splits a payload whose predicate is true everywhere if a capture is true. Returns the payload without a predicate, for a true
    /// capture, the payload with the predicate, for a false capture, and the position of the capture in [`Body::captures`]. `None` if
    /// there is no such capture.
    pub fn cases(&self) -> Option<(Body<'c>, Body<'c>, usize)> {
        let Some(Operand::Step(number)) = &self.predicate else {
            return None;
        };
        let Some(Step::Apply { operator, operands, .. }) = self.steps.get(*number) else {
            return None;
        };
        let (ops::arith::ORI, [holds, Operand::Capture(condition)]) =
            (operator.name.as_str(), operands.as_slice())
        else {
            return None;
        };
        let with =
            |predicate: Option<Operand>, skips: Option<Operand>| Body { predicate, skips, ..self.clone() };
        let open = with(None, Some(holds.clone()));
        Some((open, with(Some(holds.clone()), None), *condition))
    }

    /// Visits the pending values, and all values that they are computed from, once each.
    fn visit(&self, mut pending: Vec<Operand>, mut visit: impl FnMut(&Operand)) {
        let mut seen = HashSet::new();
        while let Some(operand) = pending.pop() {
            if !seen.insert(operand.clone()) {
                continue;
            }
            visit(&operand);
            if let Operand::Step(number) = operand
                && let Some(Step::Apply { operands, .. }) = self.steps.get(number)
            {
                pending.extend(operands.iter().cloned());
            }
        }
    }

    /// Whether the payload uses the input's element; some operands only define the shape.
    pub fn uses_input(&self, input: usize) -> bool {
        let is = |o: &Operand| *o == Operand::Input(input);
        is(&self.value)
            || is(&self.start)
            || is(&self.finish)
            || self.predicate.as_ref().is_some_and(is)
            || self.steps.iter().any(|s| match s {
                Step::Apply { operands, .. } => operands.iter().any(is),
                _ => false,
            })
    }
}
