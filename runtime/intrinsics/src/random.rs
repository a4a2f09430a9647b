//! Random tensors: SplitMix64, seeded per invocation, the same on every machine.

use crate::{Call, KernelError, number};
use skript_semantics::ScalarKind;
use skript_tensor::Tensor;
use skript_tensor::random::SplitMix64;
use skript_tensor::shape::volume;

fn count(shape: &[u64]) -> usize {
    volume(shape)
        .and_then(|v| usize::try_from(v).ok())
        .unwrap_or(0)
}

/// `min` (included) to `max` (excluded).
pub(super) fn uniform(call: &Call<'_>) -> Result<Vec<Tensor>, KernelError> {
    let (shape, kind) = call.output(0)?;
    let low = number(call.attribute("min")?).unwrap_or(0.0);
    let high = number(call.attribute("max")?).unwrap_or(1.0);
    let mut stream = SplitMix64::new(call.seed);
    let mut tensor = Tensor::zeros(skript_tensor::ElementType::run_time(kind), &shape)?;
    if kind == ScalarKind::Int {
        let (low, span) = (low as i64, (high as i64).saturating_sub(low as i64).max(1));
        for element in tensor.as_i64_mut().into_iter().flatten() {
            let step = i64::try_from(stream.next_u64() >> 1).unwrap_or(0) % span;
            *element = low.wrapping_add(step);
        }
    }
    for element in tensor.as_f32_mut().into_iter().flatten() {
        *element = (low + (high - low) * stream.next_real()) as f32;
    }
    Ok(vec![tensor])
}

/// Normal distribution by the method of Box and Muller (1958).
pub(super) fn normal(call: &Call<'_>) -> Result<Vec<Tensor>, KernelError> {
    use skript_semantics::{Scalar, ScalarOp};
    let (shape, _) = call.output(0)?;
    let (mean, deviation) = (call.real("mean")?, call.real("std")?);
    let mut stream = SplitMix64::new(call.seed);
    let apply = |op: ScalarOp, x: f64| op.eval(&[Scalar::Real(x)]).to_real();
    let values: Vec<f32> = (0..count(&shape))
        .map(|_| {
            let radius = (-2.0 * apply(ScalarOp::Log, 1.0 - stream.next_real())).sqrt();
            let turn = std::f64::consts::TAU * stream.next_real();
            (mean + deviation * radius * apply(ScalarOp::Cos, turn)) as f32
        })
        .collect();
    Ok(vec![Tensor::from_f32(&shape, &values)?])
}

/// true with probability `prob`.
pub(super) fn bernoulli(call: &Call<'_>) -> Result<Vec<Tensor>, KernelError> {
    let (shape, _) = call.output(0)?;
    let probability = call.real("prob")?;
    let mut stream = SplitMix64::new(call.seed);
    let values: Vec<bool> = (0..count(&shape))
        .map(|_| stream.next_real() < probability)
        .collect();
    Ok(vec![Tensor::from_bool(&shape, &values)?])
}
