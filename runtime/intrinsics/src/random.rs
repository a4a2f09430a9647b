// SPDX-License-Identifier: Apache-2.0
//! Random tensors: SplitMix64, seeded per invocation, the same on every machine.

use crate::{Call, KernelError};
use skript_semantics::{Scalar, ScalarOp};
use skript_tensor::random::SplitMix64;
use skript_tensor::shape::volume;
use skript_tensor::{ElementType, Tensor};

fn count(shape: &[u64]) -> usize {
    volume(shape).map_or(0, |volume| volume as usize)
}

/// Uniform elements from `min` (inclusive) to `max` (exclusive), even where rounding to the element type would result in `max`.
pub(super) fn uniform(call: &Call<'_>) -> Result<Vec<Tensor>, KernelError> {
    let shape = call.output(0)?;
    let mut stream = SplitMix64::new(call.seed);
    let element = call.element(0)?;
    let mut next: Box<dyn FnMut() -> Scalar> = match element.real() {
        None => {
            let (low, span) = int_range(call, element)?;
            Box::new(move || Scalar::Int(low.wrapping_add_unsigned(stream.next_below(span))))
        }
        Some(real) => {
            let (low, high) = real_range(call, element)?;
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

/// The minimum of uniform ints, and the number of possible values; only `min` is possible if the bounds are equal.
///
/// # Errors
/// A bound is not an int, or the element type cannot represent some of these ints.
pub fn int_range(call: &Call<'_>, element: ElementType) -> Result<(i64, u64), KernelError> {
    let (min, max) = (call.int("min")?, call.int("max")?);
    let number = max.wrapping_sub(min).cast_unsigned().max(1);
    for (name, end) in [("min", min), ("max", min.wrapping_add_unsigned(number - 1))] {
        if element.int().wrap(end) != end {
            let number = Scalar::Int(end);
            return Err(call.wrong(format!("'{name}' allows {end}, {}", element.refusal(Some(number)))));
        }
    }
    Ok((min, number))
}

/// The bounds of uniform reals.
///
/// # Errors
/// A bound is not a number, or would be infinite in the element type.
pub fn real_range(call: &Call<'_>, element: ElementType) -> Result<(f64, f64), KernelError> {
    Ok((held(call, "min", element)?, held(call, "max", element)?))
}

/// The mean of a normal distribution.
///
/// # Errors
/// It is not a number, or would be infinite in the element type.
pub fn mean(call: &Call<'_>, element: ElementType) -> Result<f64, KernelError> {
    held(call, "mean", element)
}

fn held(call: &Call<'_>, name: &str, element: ElementType) -> Result<f64, KernelError> {
    let number = call.real(name)?;
    if element.real().is_none_or(|real| real.holds(number)) {
        return Ok(number);
    }
    let refusal = element.refusal(Some(Scalar::Real(number)));
    Err(call.wrong(format!("'{name}' is {number}, {refusal}")))
}

/// Normally distributed elements, by the Box–Muller transform (1958).
pub(super) fn normal(call: &Call<'_>) -> Result<Vec<Tensor>, KernelError> {
    let shape = call.output(0)?;
    let (mean, deviation) = (mean(call, call.element(0)?)?, call.real("std")?);
    let mut stream = SplitMix64::new(call.seed);
    let apply = |op: ScalarOp, x: f64| op.eval(&[Scalar::Real(x)]).to_real();
    let values = (0..count(&shape)).map(|_| {
        let radius = (-2.0 * apply(ScalarOp::Log, 1.0 - stream.next_real())).sqrt();
        let turn = std::f64::consts::TAU * stream.next_real();
        Scalar::Real(mean + deviation * radius * apply(ScalarOp::Cos, turn))
    });
    Ok(vec![call.result(0, &shape, values)?])
}

/// Elements that are true with probability `prob`.
pub(super) fn bernoulli(call: &Call<'_>) -> Result<Vec<Tensor>, KernelError> {
    let shape = call.output(0)?;
    let probability = call.real("prob")?;
    let mut stream = SplitMix64::new(call.seed);
    let values: Vec<bool> = (0..count(&shape)).map(|_| stream.next_real() < probability).collect();
    Ok(vec![Tensor::from_bool(&shape, &values)?])
}
