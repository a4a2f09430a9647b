// SPDX-License-Identifier: Apache-2.0
//! Derives the quantization step of tensors from their elements.

use skript_semantics::Scalar;
use skript_tensor::Tensor;

/// Maximum number of steps between zero and an element of an 8-bit quantized tensor.
const MAX_STEPS: f64 = 255.0;

/// Minimum number of steps between zero and the largest element. With fewer steps, elements could have a common step by chance,
/// and wrong results would be accepted.
const MIN_STEPS: f64 = 16.0;

/// Maximum distance of an element from a multiple of the step, in steps: both were rounded.
const TOLERANCE: f64 = 1e-3;

/// The tolerance while the step is derived from few elements.
const WIDE_TOLERANCE: f64 = 1e-2;

/// The largest step of which all elements of both tensors are multiples. `None` if there is no such step, or if the largest
/// element is not 16 to 255 times the step.
///
/// Where the tensors differ by one step, both elements are multiples of the step, so the result is correct even for few
/// distinct elements.
pub(super) fn step(expected: &Tensor, found: &Tensor) -> Option<f64> {
    let elements = |tensor: &Tensor| {
        let elements = (0..tensor.volume()).map(|i| magnitude(tensor, i));
        elements.collect::<Option<Vec<f64>>>()
    };
    let mut sizes = elements(expected)?;
    sizes.extend(elements(found)?);
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    let mut step = largest;
    for size in &sizes {
        if !is_multiple(*size, step, WIDE_TOLERANCE) {
            step = divisor(step, *size, largest / MAX_STEPS)?;
        }
        // The largest element has the smallest relative error.
        step = largest / (largest / step).round();
    }
    let steps = largest / step;
    let is_step = step > 0.0 && (MIN_STEPS..=MAX_STEPS * (1.0 + TOLERANCE)).contains(&steps);
    let mut sizes = sizes.iter();
    (is_step && sizes.all(|size| is_multiple(*size, step, TOLERANCE))).then_some(step)
}

/// The absolute value of an element; `None` unless it is a finite number.
fn magnitude(tensor: &Tensor, i: usize) -> Option<f64> {
    let value = match tensor.get(i)? {
        Scalar::Real(value) => value,
        Scalar::Int(value) => value as f64,
        Scalar::Bool(_) => return None,
    };
    value.is_finite().then_some(value.abs())
}

fn is_multiple(element: f64, step: f64, tolerance: f64) -> bool {
    let multiple = element / step;
    element == 0.0 || multiple.is_finite() && (multiple - multiple.round()).abs() <= tolerance
}

/// The greatest common divisor of two sizes; `None` if it is below `min_step`.
fn divisor(first: f64, second: f64, min_step: f64) -> Option<f64> {
    let (mut large, mut small) = (first.max(second), first.min(second));
    while !is_multiple(large, small, WIDE_TOLERANCE) {
        let remainder = large % small;
        // If rounding decreased a multiple, the remainder is close to `small`.
        let remainder = remainder.min(small - remainder);
        if remainder < min_step * (1.0 - WIDE_TOLERANCE) {
            return None;
        }
        (large, small) = (small, remainder);
    }
    Some(small)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(values: &[f32]) -> Tensor {
        Tensor::from_f32(&[values.len() as u64], values).unwrap()
    }

    fn step_of(expected: &[f32], found: &[f32]) -> Option<f64> {
        step(&tensor(expected), &tensor(found))
    }

    #[test]
    fn the_step_is_the_greatest_common_divisor() {
        let step = step_of(&[0.0, 0.3, -4.05], &[0.0, 0.3, -4.05]).unwrap();
        assert!((step - 0.15).abs() < 1e-6, "{step}");
        // All 8-bit levels, rounded to f32.
        let levels: Vec<f32> = (-128_i8..=127).map(|q| f32::from(q) * 0.0371).collect();
        let step = step_of(&levels, &levels).unwrap();
        assert!((step - 0.0371).abs() < 1e-5, "{step}");
    }

    #[test]
    fn differences_count_as_elements() {
        let step = step_of(&[0.5, 4.0], &[0.5, 3.75]).unwrap();
        assert!((step - 0.25).abs() < 1e-6, "{step}");
    }

    #[test]
    fn other_tensors_have_no_step() {
        assert_eq!(step_of(&[0.123, 0.457, 3.1], &[0.123, 0.457, 3.1]), None);
        assert_eq!(step_of(&[0.0], &[0.0]), None);
        // Few elements have no step, so these results count as wrong.
        assert_eq!(step_of(&[1.0], &[2.0]), None);
        assert_eq!(step_of(&[0.5, 1.0], &[0.5, 0.75]), None);
        assert_eq!(step_of(&[f32::NAN, 1.0], &[1.0, 1.0]), None);
        assert_eq!(step_of(&[1.0, 256.0], &[1.0, 256.0]), None);
        let flags = Tensor::from_bool(&[1], &[true]).unwrap();
        assert_eq!(step(&flags, &flags), None);
    }
}
