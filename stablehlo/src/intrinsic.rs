// SPDX-License-Identifier: Apache-2.0
//! Exports intrinsics, which the runtime computes by kernels, as operations on full tensors.
//!
//! The type of a result with a data-dependent extent has the upper bound, and the extent is an additional result
//! ([`compacted`]). There are no run-time checks: positions that a kernel rejects are clamped.

mod boxes;
mod compacted;
mod cubic;
mod domain;
mod grid;
mod largest;
mod length;
mod random;
mod regions;

use super::cast;
use super::error::ExportError;
use super::field::Field;
use super::tensors::Tensors;
use super::weights;
use domain::Domain;
use melior::ir::attribute::DenseI64ArrayAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Type, Value, ValueLike};
use skript_dialect::melior;
use skript_frontend::model::Accumulation;
use skript_intrinsics::{Call, Intrinsic, KernelError};
use skript_passes::ir::attribute_names;
use skript_passes::ir::skript;
use skript_passes::ir::types;
use skript_semantics::{Scalar, ScalarKind};
use skript_tensor::ElementType;

/// One invocation of an intrinsic.
struct Invocation<'c, 'a> {
    op: OperationRef<'c, 'a>,
    attributes: Vec<(String, skript_intrinsics::Value)>,
    /// The dynamic attributes, by name.
    given: Vec<(String, Value<'c, 'a>)>,
    inputs: Vec<Value<'c, 'a>>,
    /// For dynamic dimensions: the input (or result, numbered after the inputs), the dimension, and its extent.
    filled: Vec<(usize, usize, Value<'c, 'a>)>,
    results: Vec<Type<'c>>,
    at: Tensors<'c, 'a>,
}

/// Computes the results of an intrinsic; `operands` are inputs and destinations. Random intrinsics depend on `draws`,
/// the number of random operators executed so far, and update it.
///
/// # Errors
/// Fails if the operator has no StableHLO form or does not support its attributes.
pub(crate) fn export<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    operands: &[Value<'c, 'a>],
    draws: &mut Option<Value<'c, 'a>>,
    at: Tensors<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, ExportError> {
    let malformed = || ExportError::new(op, "is malformed");
    let intrinsic = skript::Intrinsic::cast(op).ok_or_else(malformed)?;
    let inputs = intrinsic.input_count().ok_or_else(malformed)?;
    // Narrower storage types are widened, like in the kernels.
    let inputs = operands.get(..inputs).ok_or_else(malformed)?;
    let pairs = filled_dimensions(op).ok_or_else(malformed)?;
    let count = inputs.len().checked_sub(pairs.len());
    let (inputs, extents) = inputs.split_at(count.ok_or_else(malformed)?);
    let given = intrinsic.dynamic_attributes();
    let count = inputs.len().checked_sub(given.len());
    let (inputs, run_time) = inputs.split_at(count.ok_or_else(malformed)?);
    // Numbers inputs and results consecutively, without the attributes between them.
    let renumbered =
        |tensor: usize| if tensor < inputs.len() { tensor } else { tensor.saturating_sub(run_time.len()) };
    let filled = pairs.into_iter().zip(extents);
    let declared: Vec<Type<'c>> = op.results().map(|r| r.r#type()).collect();
    let results = declared.iter().map(|r| {
        let element = types::element_of(*r)?;
        Some(types::tensor(&types::extents(*r)?, wide(element, &at)))
    });
    let mut attributes = intrinsic.operator_attributes().ok_or_else(malformed)?;
    let unknown = |name: &String| (name.clone(), skript_intrinsics::Value::Unknown);
    attributes.extend(given.iter().map(unknown));
    let invocation = Invocation {
        op,
        attributes,
        given: given.into_iter().zip(run_time.iter().copied()).collect(),
        inputs: inputs.iter().map(|v| cast::width(*v, wide(at.element(*v), &at), &at)).collect(),
        filled: filled.map(|((tensor, along), extent)| (renumbered(tensor), along, *extent)).collect(),
        results: results.collect::<Option<_>>().ok_or_else(malformed)?,
        at,
    };
    let values = computed(&intrinsic.operator(), &invocation, draws)?;
    let narrowed = values.iter().zip(&declared).map(|(value, r#type)| {
        let element = types::element_of(*r#type).ok_or_else(malformed)?;
        Ok(cast::width(*value, element, &at))
    });
    narrowed.collect()
}

/// The dynamic dimensions of inputs and results.
fn filled_dimensions(op: OperationRef<'_, '_>) -> Option<Vec<(usize, usize)>> {
    let Ok(list) = op.attribute(attribute_names::FILLED) else {
        return Some(Vec::new());
    };
    let list = DenseI64ArrayAttribute::try_from(list).ok()?;
    let number = |position| usize::try_from(list.element(position).ok()?).ok();
    (0..list.len() / 2).map(|pair| Some((number(2 * pair)?, number(2 * pair + 1)?))).collect()
}

/// The compute type of kernels for a storage type.
fn wide<'c: 'a, 'a>(element: Type<'c>, at: &Tensors<'c, 'a>) -> Type<'c> {
    let double = Type::float64(at.at.context);
    match types::kind_of(element) {
        Some(ScalarKind::Real) if element != double => Type::float32(at.at.context),
        Some(ScalarKind::Int) => at.int(),
        _ => element,
    }
}

fn computed<'c: 'a, 'a>(
    name: &str,
    invocation: &Invocation<'c, 'a>,
    draws: &mut Option<Value<'c, 'a>>,
) -> Result<Vec<Value<'c, 'a>>, ExportError> {
    match Intrinsic::named(name) {
        Some(Intrinsic::LargestElements) => largest::export(invocation),
        Some(Intrinsic::SuppressedBoxes) => boxes::suppress(invocation),
        Some(Intrinsic::NonzeroPositions) => compacted::nonzero(invocation),
        Some(Intrinsic::CubicResize) => cubic::resize(invocation),
        Some(Intrinsic::CubicSample) => grid::sample(invocation),
        Some(Intrinsic::RegionMaximum) => regions::pool(invocation, Accumulation::Max),
        Some(Intrinsic::RegionMean) => regions::pool(invocation, Accumulation::Sum),
        Some(Intrinsic::Uniform) => random::uniform(invocation, invocation.draw(draws)?),
        Some(Intrinsic::Normal) => random::normal(invocation, invocation.draw(draws)?),
        Some(Intrinsic::Bernoulli) => random::bernoulli(invocation, invocation.draw(draws)?),
        None => Err(ExportError::new(invocation.op, "is a user-defined kernel, which has no StableHLO form")),
    }
}

impl<'c: 'a, 'a> Invocation<'c, 'a> {
    fn input(&self, position: usize) -> Result<Value<'c, 'a>, ExportError> {
        let input = self.inputs.get(position).copied();
        input.ok_or_else(|| ExportError::new(self.op, "has too few operands"))
    }

    /// The extent of a dynamic dimension of an input.
    fn filled(&self, input: usize, dimension: usize) -> Option<Value<'c, 'a>> {
        let mut filled = self.filled.iter();
        filled.find(|(tensor, along, _)| (*tensor, *along) == (input, dimension)).map(|(.., extent)| *extent)
    }

    /// Whether each element of an input is within the dynamic extents; the indices are the dimensions. `None` if all
    /// elements are.
    fn inside(&self, input: usize) -> Result<Option<Field<'c, 'a>>, ExportError> {
        let domain = Domain { extents: self.at.extents(self.input(input)?), at: self.at };
        let mut inside = None;
        for dimension in 0..domain.extents.len() {
            let Some(extent) = self.filled(input, dimension) else {
                continue;
            };
            let within = domain.compare("LT", &domain.index(dimension), &Field::scalar(extent));
            inside = Some(match &inside {
                Some(others) => domain.apply("and", &[others, &within]),
                None => within,
            });
        }
        Ok(inside)
    }

    /// An input with `filler` outside of its dynamic extents.
    fn input_or(&self, position: usize, filler: Scalar) -> Result<Value<'c, 'a>, ExportError> {
        let (at, input) = (&self.at, self.input(position)?);
        let Some(inside) = self.inside(position)? else {
            return Ok(input);
        };
        let extents = at.extents(input);
        let all: Vec<usize> = (0..extents.len()).collect();
        let filler = at.splat(filler, &extents, at.element(input));
        Ok(at.select(inside.over(&all, &extents, at), input, filler))
    }

    /// The extent of a dynamic dimension of a result.
    fn filled_result(&self, result: usize, dimension: usize) -> Option<Value<'c, 'a>> {
        self.filled(self.inputs.len() + result, dimension)
    }

    /// The extents of a result.
    fn extents(&self, position: usize) -> Result<Vec<i64>, ExportError> {
        let result = self.results.get(position);
        result
            .and_then(|r| types::extents(*r))
            .ok_or_else(|| ExportError::new(self.op, "has too few results"))
    }

    fn element(&self, position: usize) -> Result<Type<'c>, ExportError> {
        let result = self.results.get(position);
        result
            .and_then(|r| types::element_of(*r))
            .ok_or_else(|| ExportError::new(self.op, "has too few results"))
    }

    /// The element type of a result in the model.
    fn declared(&self, position: usize) -> Result<ElementType, ExportError> {
        let declared = self.op.results().nth(position).map(|r| r.r#type());
        declared
            .and_then(types::element_of)
            .and_then(|element| weights::element_type(&element.to_string()))
            .ok_or_else(|| ExportError::new(self.op, "has too few results"))
    }

    /// Counts a random operator; returns its number, from 1.
    fn draw(&self, draws: &mut Option<Value<'c, 'a>>) -> Result<Value<'c, 'a>, ExportError> {
        let before = draws.ok_or_else(|| {
            ExportError::new(self.op, "draws random numbers in a function that does not count them")
        })?;
        let number = random::next(before, &self.at);
        *draws = Some(number);
        Ok(number)
    }

    /// An attribute as the kernel reads it.
    fn attribute<T>(&self, read: impl FnOnce(&Call<'_>) -> Result<T, KernelError>) -> Result<T, ExportError> {
        let call = Call { attributes: &self.attributes, inputs: &[], outputs: &[], seed: 0 };
        read(&call).map_err(|e| ExportError::new(self.op, &format!("is refused: {e}")))
    }

    /// An int attribute as a scalar, static or dynamic.
    fn int(&self, name: &str) -> Result<Value<'c, 'a>, ExportError> {
        match self.given.iter().find(|(given, _)| given == name) {
            Some((_, value)) => Ok(cast::width(*value, self.at.int(), &self.at)),
            None => Ok(self.at.integer(self.attribute(|c| c.int(name))?)),
        }
    }

    /// A dimension; negative numbers count from the end.
    fn dimension(&self, axis: i64, rank: usize) -> Result<usize, ExportError> {
        skript_intrinsics::axis(axis, rank)
            .ok_or_else(|| ExportError::new(self.op, "has an axis out of range"))
    }
}
