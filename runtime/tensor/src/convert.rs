//! From what files hold to what runs: f32, i64, one-byte bools.

use crate::element::ElementType;
use crate::error::TensorError;
use crate::tensor::Tensor;
use half::{bf16, f16};
use skript_semantics::{Scalar, ScalarKind};

/// The value of one element's bytes (little endian); `None` if the length is wrong or a u64 exceeds i64.
pub(crate) fn element_value(element: ElementType, bytes: &[u8]) -> Option<Scalar> {
    Some(match element {
        ElementType::F16 => Scalar::Real(f16::from_le_bytes(bytes.try_into().ok()?).to_f64()),
        ElementType::BF16 => Scalar::Real(bf16::from_le_bytes(bytes.try_into().ok()?).to_f64()),
        ElementType::F32 => Scalar::Real(f32::from_le_bytes(bytes.try_into().ok()?).into()),
        ElementType::F64 => Scalar::Real(f64::from_le_bytes(bytes.try_into().ok()?)),
        ElementType::I8 => Scalar::Int(i8::from_le_bytes(bytes.try_into().ok()?).into()),
        ElementType::I16 => Scalar::Int(i16::from_le_bytes(bytes.try_into().ok()?).into()),
        ElementType::I32 => Scalar::Int(i32::from_le_bytes(bytes.try_into().ok()?).into()),
        ElementType::I64 => Scalar::Int(i64::from_le_bytes(bytes.try_into().ok()?)),
        ElementType::U8 => Scalar::Int(u8::from_le_bytes(bytes.try_into().ok()?).into()),
        ElementType::U16 => Scalar::Int(u16::from_le_bytes(bytes.try_into().ok()?).into()),
        ElementType::U32 => Scalar::Int(u32::from_le_bytes(bytes.try_into().ok()?).into()),
        ElementType::U64 => {
            Scalar::Int(u64::from_le_bytes(bytes.try_into().ok()?).try_into().ok()?)
        }
        ElementType::Bool => Scalar::Bool(*bytes.first()? != 0),
    })
}

/// The bytes of an element of this type, little endian; cut off to its width.
fn element_bytes(value: Scalar, to: ElementType) -> Vec<u8> {
    match (value, to) {
        (Scalar::Real(x), ElementType::F16) => f16::from_f64(x).to_le_bytes().to_vec(),
        (Scalar::Real(x), ElementType::BF16) => bf16::from_f64(x).to_le_bytes().to_vec(),
        (Scalar::Real(x), ElementType::F32) => (x as f32).to_le_bytes().to_vec(),
        (Scalar::Real(x), _) => x.to_le_bytes().to_vec(),
        (Scalar::Int(i), _) => i.to_le_bytes().into_iter().take(to.size()).collect(),
        (Scalar::Bool(b), _) => vec![u8::from(b)],
    }
}

impl Tensor {
    /// The elements in another type of the same kind, each the nearest one; integers modulo 2^n.
    #[must_use]
    pub fn with_element(self, to: ElementType) -> Tensor {
        if self.element() == to {
            return self;
        }
        let bytes = self.bytes().chunks_exact(self.element().size());
        let values = bytes.filter_map(|b| element_value(self.element(), b));
        let bytes: Vec<u8> = values.flat_map(|v| element_bytes(v, to)).collect();
        // As many elements of the size of `to`, unless a u64 had no value.
        Tensor::from_bytes(to, self.shape(), &bytes).unwrap_or(self)
    }

    /// The tensor in the run-time representation of its kind; shares mapped memory where that is what it holds.
    ///
    /// Floats are rounded to f32, and must not become infinite. Integers must fit i64. A tensor of another kind than `kind` is an error: the language
    /// has no implicit conversion of tensors. `what` names the tensor in messages.
    pub fn into_run_time(self, what: &str, kind: ScalarKind) -> Result<Tensor, TensorError> {
        if self.kind() != kind {
            return Err(TensorError::Kind {
                what: what.to_string(),
                expected: kind,
                got: self.element(),
            });
        }
        let to = ElementType::run_time(kind);
        if self.element() == to {
            return Ok(self);
        }
        let mut converted = Tensor::zeros(to, self.shape())?;
        let size = self.element().size();
        let target = converted.bytes_mut()?.chunks_exact_mut(to.size());
        for (position, (source, target)) in self.bytes().chunks_exact(size).zip(target).enumerate()
        {
            let value = match element_value(self.element(), source) {
                Some(Scalar::Real(x)) if (x as f32).is_finite() || !x.is_finite() => {
                    target.copy_from_slice(&(x as f32).to_le_bytes());
                    continue;
                }
                Some(Scalar::Int(i)) => {
                    target.copy_from_slice(&i.to_le_bytes());
                    continue;
                }
                Some(Scalar::Real(x)) => format!("{x:e}"),
                _ => u64::from_le_bytes(source.try_into().unwrap_or_default()).to_string(),
            };
            return Err(TensorError::Value {
                what: what.to_string(),
                position,
                value,
                to,
            });
        }
        Ok(converted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_that_do_not_fit_are_errors() {
        let bytes = [5u64.to_le_bytes(), u64::MAX.to_le_bytes()].concat();
        let tensor = Tensor::from_bytes(ElementType::U64, &[2], &bytes).unwrap();
        let error = tensor.into_run_time("x", ScalarKind::Int).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("element 1 is 18446744073709551615"),
            "{error}"
        );
    }

    #[test]
    fn elements_change_within_their_kind() {
        let tensor = Tensor::from_i64(&[2], &[-1, 300]).unwrap();
        assert_eq!(tensor.with_element(ElementType::U8).bytes(), [255, 44]);
        let half = Tensor::from_bytes(ElementType::BF16, &[1], &[0x80, 0x3f]).unwrap();
        let wide = half.with_element(ElementType::F32);
        assert_eq!(wide.as_f32(), Some(&[1.0f32][..]));
    }

    #[test]
    fn numbers_that_would_become_infinite_are_errors() {
        let bytes = [3.4e38f64.to_le_bytes(), (-1e300f64).to_le_bytes()].concat();
        let tensor = Tensor::from_bytes(ElementType::F64, &[2], &bytes).unwrap();
        let error = tensor.into_run_time("w.dat", ScalarKind::Real).unwrap_err();
        assert_eq!(
            error.to_string(),
            "w.dat: element 1 is -1e300, which is no f32 number"
        );
    }

    #[test]
    fn floats_narrow_and_kinds_stay_apart() {
        let bytes = [0.1f64.to_le_bytes(), f64::NEG_INFINITY.to_le_bytes()].concat();
        let tensor = Tensor::from_bytes(ElementType::F64, &[2], &bytes).unwrap();
        let error = tensor
            .clone()
            .into_run_time("x", ScalarKind::Int)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "the elements of x are real (f64) instead of int; convert them first"
        );
        let narrow = tensor.into_run_time("x", ScalarKind::Real).unwrap();
        assert_eq!(narrow.as_f32(), Some(&[0.1f32, f32::NEG_INFINITY][..]));
        let half = Tensor::from_bytes(ElementType::F16, &[1], &[0x00, 0xc1]).unwrap();
        let wide = half.into_run_time("x", ScalarKind::Real).unwrap();
        assert_eq!(wide.as_f32(), Some(&[-2.5f32][..]));
    }
}
