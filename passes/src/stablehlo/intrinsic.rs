//! Intrinsics: what the runtime's kernels compute, on whole tensors.
//!
//! Where the data decide an extent, results are as large as their bounds, and the extents a result of their own ([`found`]).
//! There are no run-time checks: places that a kernel would refuse are clamped.

mod boxes;
mod cubic;
mod domain;
mod found;
mod largest;
mod random;
mod regions;

use super::error::ExportError;
use super::tensors::Tensors;
use crate::mlir::{read_back, types};
use melior::ir::attribute::{DenseI32ArrayAttribute, StringAttribute};
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Type, Value, ValueLike};
use skript_dialect::melior;
use skript_frontend::model::Accumulation;
use skript_intrinsics::{Call, Intrinsic, KernelError};

/// One invocation.
struct Invocation<'c, 'a> {
    op: OperationRef<'c, 'a>,
    attributes: Vec<(String, skript_intrinsics::Value)>,
    inputs: Vec<Value<'c, 'a>>,
    results: Vec<Type<'c>>,
    at: Tensors<'c, 'a>,
}

/// The results of an intrinsic; `operands` are inputs and destinations. Random ones count on `draws`, the number of random
/// operators executed so far.
///
/// # Errors
/// It has no form, or its attributes are none that the operator takes.
pub fn export<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    operands: &[Value<'c, 'a>],
    draws: &mut Option<Value<'c, 'a>>,
    at: Tensors<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, ExportError> {
    let malformed = || ExportError::at(op, "is malformed");
    let name = StringAttribute::try_from(op.attribute("operator_name")?)?
        .value()
        .to_owned();
    let segments = DenseI32ArrayAttribute::try_from(op.attribute("operandSegmentSizes")?)?;
    let inputs = usize::try_from(segments.element(0)?).map_err(|_| malformed())?;
    let attributes = op.attribute("operator_attributes").ok();
    let attributes = attributes.map(|a| read_back::entries(a).ok_or_else(malformed));
    let invocation = Invocation {
        op,
        attributes: attributes.transpose()?.unwrap_or_default(),
        inputs: operands.get(..inputs).ok_or_else(malformed)?.to_vec(),
        results: op.results().map(|r| r.r#type()).collect(),
        at,
    };
    match Intrinsic::named(&name) {
        Some(Intrinsic::LargestElements) => largest::export(&invocation),
        Some(Intrinsic::SuppressedBoxes) => boxes::suppress(&invocation),
        Some(Intrinsic::NonzeroPositions) => found::nonzero(&invocation),
        Some(Intrinsic::CubicResize) => cubic::resize(&invocation),
        Some(Intrinsic::CubicSample) => cubic::sample(&invocation),
        Some(Intrinsic::RegionMaximum) => regions::pool(&invocation, Accumulation::Max),
        Some(Intrinsic::RegionMean) => regions::pool(&invocation, Accumulation::Sum),
        Some(Intrinsic::Uniform) => random::uniform(&invocation, invocation.draw(draws)?),
        Some(Intrinsic::Normal) => random::normal(&invocation, invocation.draw(draws)?),
        Some(Intrinsic::Bernoulli) => random::bernoulli(&invocation, invocation.draw(draws)?),
        None => Err(ExportError::at(
            op,
            "is computed by a kernel of a user, which has no StableHLO form",
        )),
    }
}

impl<'c: 'a, 'a> Invocation<'c, 'a> {
    fn input(&self, position: usize) -> Result<Value<'c, 'a>, ExportError> {
        let input = self.inputs.get(position).copied();
        input.ok_or_else(|| ExportError::at(self.op, "has too few operands"))
    }

    /// The extents of a result.
    fn extents(&self, position: usize) -> Result<Vec<i64>, ExportError> {
        let result = self.results.get(position);
        result
            .and_then(|r| types::extents(*r))
            .ok_or_else(|| ExportError::at(self.op, "has too few results"))
    }

    fn element(&self, position: usize) -> Result<Type<'c>, ExportError> {
        let result = self.results.get(position);
        result
            .and_then(|r| types::element_of(*r))
            .ok_or_else(|| ExportError::at(self.op, "has too few results"))
    }

    /// The number of this random operator, from 1.
    fn draw(&self, draws: &mut Option<Value<'c, 'a>>) -> Result<Value<'c, 'a>, ExportError> {
        let before = draws.ok_or_else(|| ExportError::at(self.op, "draws where nothing counts"))?;
        let own = random::next(before, &self.at)?;
        *draws = Some(own);
        Ok(own)
    }

    /// An attribute, as the kernel reads it.
    fn attribute<T>(
        &self,
        read: impl FnOnce(&Call<'_>) -> Result<T, KernelError>,
    ) -> Result<T, ExportError> {
        let call = Call {
            attributes: &self.attributes,
            inputs: &[],
            outputs: &[],
            seed: 0,
        };
        read(&call).map_err(|e| ExportError::at(self.op, &format!("is refused: {e}")))
    }

    /// A dimension counted from the end if negative.
    fn dimension(&self, axis: i64, rank: usize) -> Result<usize, ExportError> {
        skript_intrinsics::axis(axis, rank)
            .ok_or_else(|| ExportError::at(self.op, "has an axis out of range"))
    }
}
