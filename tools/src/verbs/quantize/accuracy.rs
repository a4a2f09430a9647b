// SPDX-License-Identifier: Apache-2.0
//! Compares computed tensors with those of the float model.

use skript_semantics::Scalar;
use skript_tensor::Tensor;

/// The differences of a tensor over all samples.
#[derive(Clone, Debug, Default)]
pub struct Accuracy {
    /// The sum of the squares of the expected elements.
    signal: f64,
    /// The sum of the squares of the differences.
    noise: f64,
    pub largest: f64,
    /// The number of rows, and of those whose largest element is at the same position.
    rows: usize,
    agreeing: usize,
}

impl Accuracy {
    pub fn add(&mut self, expected: &Tensor, found: &Tensor) {
        let number = |tensor: &Tensor, at: usize| match tensor.get(at) {
            Some(Scalar::Real(value)) => value,
            Some(Scalar::Int(value)) => value as f64,
            Some(Scalar::Bool(value)) => f64::from(u8::from(value)),
            None => f64::NAN,
        };
        let width = classes(expected);
        let (mut best, mut best_found) = ((f64::NEG_INFINITY, 0), (f64::NEG_INFINITY, 0));
        for at in 0..expected.volume() {
            let (expected, found) = (number(expected, at), number(found, at));
            self.add_element(expected, found);
            let column = width.map_or(at, |width| at % width);
            if expected > best.0 {
                best = (expected, column);
            }
            if found > best_found.0 {
                best_found = (found, column);
            }
            if width == Some(column + 1) {
                self.rows += 1;
                let is_number = best_found.0 > f64::NEG_INFINITY || best.0 == f64::NEG_INFINITY;
                self.agreeing += usize::from(is_number && best.1 == best_found.1);
                (best, best_found) = ((f64::NEG_INFINITY, 0), (f64::NEG_INFINITY, 0));
            }
        }
    }

    pub fn add_element(&mut self, expected: f64, found: f64) {
        // Equal infinities differ by zero, such as masked scores.
        let difference = if expected == found { 0.0 } else { (expected - found).abs() };
        self.signal += if expected.is_finite() { expected * expected } else { 0.0 };
        self.noise += difference * difference;
        self.largest = if difference.is_nan() { f64::INFINITY } else { self.largest.max(difference) };
    }

    /// The signal-to-noise ratio in dB: infinite without a difference, −∞ if an element is not a number or infinitely wrong.
    pub fn snr(&self) -> f64 {
        if self.noise == 0.0 {
            f64::INFINITY
        } else if self.noise.is_finite() {
            10.0 * (self.signal / self.noise).log10()
        } else {
            f64::NEG_INFINITY
        }
    }

    /// The fraction of rows whose largest elements are at the same position.
    pub fn agreement(&self) -> Option<f64> {
        (self.rows > 0).then(|| self.agreeing as f64 / self.rows as f64)
    }
}

/// The number of classes, if a tensor has the shape of class scores: one dimension of classes, which may follow a dimension of rows, and
/// may be followed by dimensions of one element, as in `[8, 1000, 1, 1]`.
fn classes(tensor: &Tensor) -> Option<usize> {
    let classes = match tensor.shape() {
        [classes] | [_, classes] => *classes,
        [_, classes, others @ ..] if others.iter().all(|extent| *extent == 1) => *classes,
        _ => return None,
    };
    usize::try_from(classes).ok().filter(|classes| *classes > 1)
}

/// `41.2 dB`, or `exact`.
pub fn decibels(snr: f64) -> String {
    if snr == f64::INFINITY { "exact".to_owned() } else { format!("{snr:.1}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(shape: &[u64], values: &[f32]) -> Tensor {
        Tensor::from_f32(shape, values).unwrap()
    }

    /// By hand: the signal is 100, the noise 1, so the ratio is 20 dB.
    #[test]
    fn a_ratio_of_powers() {
        let mut accuracy = Accuracy::default();
        accuracy.add(&tensor(&[2], &[6.0, 8.0]), &tensor(&[2], &[6.0, 9.0]));
        assert!((accuracy.snr() - 20.0).abs() < 1e-12);
        assert_eq!((accuracy.largest, accuracy.agreement()), (1.0, Some(1.0)));
        assert_eq!(decibels(Accuracy::default().snr()), "exact");
    }

    #[test]
    fn rows_agree_by_the_positions_of_their_largest_elements() {
        let mut accuracy = Accuracy::default();
        let expected = tensor(&[2, 3], &[1.0, 5.0, 2.0, 9.0, 0.0, 0.0]);
        accuracy.add(&expected, &tensor(&[2, 3], &[1.0, 4.0, 2.0, 0.0, 1.0, 0.0]));
        assert_eq!(accuracy.agreement(), Some(0.5));
    }

    #[test]
    fn images_are_no_class_scores() {
        assert_eq!(classes(&tensor(&[1, 2, 2], &[0.0; 4])), None);
        assert_eq!(classes(&tensor(&[2, 1], &[0.0; 2])), None);
        assert_eq!(classes(&tensor(&[1, 3, 1, 1], &[0.0; 3])), Some(3));
    }

    #[test]
    fn nan_is_an_infinite_error() {
        let mut accuracy = Accuracy::default();
        accuracy.add(&tensor(&[1], &[1.0]), &tensor(&[1], &[f32::NAN]));
        assert_eq!(accuracy.largest, f64::INFINITY);
        assert_eq!((accuracy.snr(), decibels(accuracy.snr())), (f64::NEG_INFINITY, "-inf".to_owned()));
    }

    #[test]
    fn a_row_without_numbers_does_not_agree() {
        let mut accuracy = Accuracy::default();
        accuracy.add(&tensor(&[1, 2], &[3.0, 1.0]), &tensor(&[1, 2], &[f32::NAN, f32::NAN]));
        assert_eq!(accuracy.agreement(), Some(0.0));
    }

    #[test]
    fn equal_infinities_are_exact() {
        let mut accuracy = Accuracy::default();
        let masked = tensor(&[3], &[f32::NEG_INFINITY, 6.0, 8.0]);
        accuracy.add(&masked, &tensor(&[3], &[f32::NEG_INFINITY, 6.0, 9.0]));
        assert!((accuracy.snr() - 20.0).abs() < 1e-12);
        assert_eq!(accuracy.largest, 1.0);
    }
}
