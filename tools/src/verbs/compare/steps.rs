// SPDX-License-Identifier: Apache-2.0
//! Steps of quantized tensors, by their elements.

use skript_semantics::Scalar;
use skript_tensor::Tensor;

/// Quantized tensors have at most this many steps between zero and an element: 8 bits.
const MOST: f64 = 255.0;

/// The largest element is at least this many steps: few elements would have a step by chance, and accept other results.
const LEAST: f64 = 16.0;

/// How far an element may be from a multiple of the step, in steps: both were rounded.
const TOLERANCE: f64 = 1e-3;

/// The same while the step is known from few elements.
const WIDE_TOLERANCE: f64 = 1e-2;

/// The largest step of which all elements of both tensors are multiples; `None` if they are no multiples of one step, the largest 16 to
/// 255 times as large.
///
/// A tensor that is one step off has the step among its differences, so that few elements do not make it larger.
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
            step = divisor(step, *size, largest / MOST)?;
        }
        // The largest element has the least relative error.
        step = largest / (largest / step).round();
    }
    let steps = largest / step;
    let is_step = step > 0.0 && (LEAST..=MOST * (1.0 + TOLERANCE)).contains(&steps);
    let mut sizes = sizes.iter();
    (is_step && sizes.all(|size| is_multiple(*size, step, TOLERANCE))).then_some(step)
}

/// The size of an element that is a finite number, not a truth value.
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

/// The greatest common divisor of two sizes; `None` for one below `least`.
fn divisor(first: f64, second: f64, least: f64) -> Option<f64> {
    let (mut large, mut small) = (first.max(second), first.min(second));
    while !is_multiple(large, small, WIDE_TOLERANCE) {
        let rest = large % small;
        // A multiple that rounding made smaller leaves almost all.
        let rest = rest.min(small - rest);
        if rest < least * (1.0 - WIDE_TOLERANCE) {
            return None;
        }
        (large, small) = (small, rest);
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
        let found = step_of(&[0.0, 0.3, -4.05], &[0.0, 0.3, -4.05]).unwrap();
        assert!((found - 0.15).abs() < 1e-6, "{found}");
        // All levels of 8 bits, rounded to f32.
        let levels: Vec<f32> = (-128_i8..=127).map(|q| f32::from(q) * 0.0371).collect();
        let found = step_of(&levels, &levels).unwrap();
        assert!((found - 0.0371).abs() < 1e-5, "{found}");
    }

    #[test]
    fn differences_count_as_elements() {
        let found = step_of(&[0.5, 4.0], &[0.5, 3.75]).unwrap();
        assert!((found - 0.25).abs() < 1e-6, "{found}");
    }

    #[test]
    fn other_tensors_have_no_step() {
        assert_eq!(step_of(&[0.123, 0.457, 3.1], &[0.123, 0.457, 3.1]), None);
        assert_eq!(step_of(&[0.0], &[0.0]), None);
        // A few elements: the results are wrong.
        assert_eq!(step_of(&[1.0], &[2.0]), None);
        assert_eq!(step_of(&[0.5, 1.0], &[0.5, 0.75]), None);
        assert_eq!(step_of(&[f32::NAN, 1.0], &[1.0, 1.0]), None);
        assert_eq!(step_of(&[1.0, 256.0], &[1.0, 256.0]), None);
        let flags = Tensor::from_bool(&[1], &[true]).unwrap();
        assert_eq!(step(&flags, &flags), None);
    }
}
