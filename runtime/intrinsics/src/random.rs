//! Random tensors: SplitMix64, seeded per invocation, the same on every machine.

use crate::{Call, KernelError};
use skript_semantics::{Scalar, ScalarOp};
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
    let mut stream = SplitMix64::new(call.seed);
    let mut next: Box<dyn FnMut() -> Scalar> = match call.element(0)?.real() {
        None => {
            let (low, span) = span(call.int("min")?, call.int("max")?);
            Box::new(move || Scalar::Int(low.wrapping_add_unsigned(stream.next_below(span))))
        }
        Some(real) => {
            let (low, high) = (call.real("min")?, call.real("max")?);
            let (smallest, largest) = real.within(low, high);
            Box::new(move || {
                let number = low + (high - low) * stream.next_real();
                Scalar::Real(number.min(largest).max(smallest))
            })
        }
    };
    let values = (0..count(&shape)).map(|_| next());
    Ok(vec![call.result(0, &shape, values)?])
}

/// The least of uniform ints and how many follow from there: `min` alone where the bounds are the same.
pub fn span(min: i64, max: i64) -> (i64, u64) {
    (min, max.wrapping_sub(min).cast_unsigned().max(1))
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
