//! Random tensors: SplitMix64, seeded per invocation, the same on every machine.

use crate::{Call, KernelError, number};
use skript_semantics::{Scalar, ScalarKind, ScalarOp};
use skript_tensor::Tensor;
use skript_tensor::random::SplitMix64;
use skript_tensor::shape::volume;

fn count(shape: &[u64]) -> usize {
    volume(shape)
        .and_then(|v| usize::try_from(v).ok())
        .unwrap_or(0)
}

/// `min` (included) to `max` (excluded), also where the nearest number of the elements' type would be `max`.
pub(super) fn uniform(call: &Call<'_>) -> Result<Vec<Tensor>, KernelError> {
    let shape = call.output(0)?;
    let kind = call.element(0)?.kind();
    let low = number(call.attribute("min")?).unwrap_or(0.0);
    let high = number(call.attribute("max")?).unwrap_or(1.0);
    let mut stream = SplitMix64::new(call.seed);
    let (least, span) = (low as i64, (high as i64).saturating_sub(low as i64).max(1));
    let (smallest, largest) = match call.element(0)?.real() {
        Some(real) => real.within(low, high),
        None => (low, high),
    };
    let values = (0..count(&shape)).map(|_| match kind {
        ScalarKind::Int => {
            let step = i64::try_from(stream.next_u64() >> 1).unwrap_or(0) % span;
            Scalar::Int(least.wrapping_add(step))
        }
        _ => {
            let number = low + (high - low) * stream.next_real();
            Scalar::Real(number.min(largest).max(smallest))
        }
    });
    Ok(vec![call.result(0, &shape, values)?])
}

/// Normal distribution by the method of Box and Muller (1958).
pub(super) fn normal(call: &Call<'_>) -> Result<Vec<Tensor>, KernelError> {
    let shape = call.output(0)?;
    let (mean, deviation) = (call.real("mean")?, call.real("std")?);
    let mut stream = SplitMix64::new(call.seed);
    let apply = |op: ScalarOp, x: f64| op.eval(&[Scalar::Real(x)]).to_real();
    let values = (0..count(&shape)).map(|_| {
        let radius = (-2.0 * apply(ScalarOp::Log, 1.0 - stream.next_real())).sqrt();
        let turn = std::f64::consts::TAU * stream.next_real();
        Scalar::Real(mean + deviation * radius * apply(ScalarOp::Cos, turn))
    });
    Ok(vec![call.result(0, &shape, values)?])
}

/// true with probability `prob`.
pub(super) fn bernoulli(call: &Call<'_>) -> Result<Vec<Tensor>, KernelError> {
    let shape = call.output(0)?;
    let probability = call.real("prob")?;
    let mut stream = SplitMix64::new(call.seed);
    let values: Vec<bool> = (0..count(&shape))
        .map(|_| stream.next_real() < probability)
        .collect();
    Ok(vec![Tensor::from_bool(&shape, &values)?])
}
