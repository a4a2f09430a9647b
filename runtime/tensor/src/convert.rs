// SPDX-License-Identifier: Apache-2.0
//! Conversion from element types of files to storage types.

use crate::element::ElementType;
use crate::error::TensorError;
use crate::tensor::Tensor;
use half::{bf16, f16};
use skript_semantics::Scalar;

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
        ElementType::U64 => Scalar::Int(u64::from_le_bytes(bytes.try_into().ok()?).try_into().ok()?),
        ElementType::Bool => Scalar::Bool(*bytes.first()? != 0),
    })
}

/// Writes an element of this type, little endian: the nearest value.
fn write_element(value: Scalar, to: ElementType, target: &mut [u8]) {
    fn put<const N: usize>(bytes: [u8; N], target: &mut [u8]) {
        for (index, byte) in target.iter_mut().zip(bytes) {
            *index = byte;
        }
    }
    match (value, to) {
        (Scalar::Real(x), ElementType::F16) => put(f16::from_f32(odd(x)).to_le_bytes(), target),
        (Scalar::Real(x), ElementType::BF16) => put(bf16::from_f32(odd(x)).to_le_bytes(), target),
        (Scalar::Real(x), ElementType::F32) => put((x as f32).to_le_bytes(), target),
        (Scalar::Real(x), _) => put(x.to_le_bytes(), target),
        (Scalar::Int(i), _) => {
            let (minimum, maximum) = to.int_range();
            put(i.clamp(minimum, maximum).to_le_bytes(), target)
        }
        (Scalar::Bool(b), _) => put([u8::from(b)], target),
    }
}

/// Rounds an f64 to f32 to odd, so that rounding it again to fewer digits gives the correctly rounded result: an
/// inexact value gets an odd last digit. If the nearest value is even, the neighbour on the other side of the exact
/// value is used; magnitudes are ordered as their bits. (`half` rounds f64 through f32 on some processors, and
/// truncates its lower bits on others.)
fn odd(x: f64) -> f32 {
    let near = x as f32;
    let back = f64::from(near);
    let bits = near.to_bits();
    if back == x || x.is_nan() || bits & 1 == 1 {
        return near;
    }
    if x.abs() > back.abs() { f32::from_bits(bits + 1) } else { f32::from_bits(bits - 1) }
}

impl Tensor {
    /// Converts values to the nearest elements of a type, in row-major order. Kinds that differ are converted by the
    /// rules of casts.
    ///
    /// # Errors
    /// [`TensorError::TooLarge`] if the tensor does not fit the memory; [`TensorError::Length`] if the shape has another
    /// number of elements.
    pub fn from_scalars(
        element: ElementType,
        shape: &[u64],
        values: impl Iterator<Item = Scalar>,
    ) -> Result<Tensor, TensorError> {
        let mut tensor = Tensor::zeros(element, shape)?;
        let mut count = 0usize;
        let mut indices = tensor.bytes_mut()?.chunks_exact_mut(element.size());
        for value in values {
            if let Some(index) = indices.next() {
                write_element(value.cast(element.kind()), element, index);
            }
            count += 1;
        }
        if count != tensor.volume() {
            return Err(TensorError::Length {
                element,
                shape: shape.to_vec(),
                got: count.saturating_mul(element.size()),
            });
        }
        Ok(tensor)
    }

    /// All elements in row-major order; u64 values beyond i64 are omitted.
    pub fn scalars(&self) -> impl Iterator<Item = Scalar> {
        let elements = self.bytes().chunks_exact(self.element().size());
        elements.filter_map(|bytes| element_value(self.element(), bytes))
    }

    /// The elements in another type of the same kind, each rounded to the nearest; integers modulo 2^n.
    #[must_use]
    pub fn with_element(self, to: ElementType) -> Tensor {
        if self.element() == to {
            return self;
        }
        // As many elements of the size of `to`, unless a u64 had no value.
        Tensor::from_scalars(to, self.shape(), self.scalars()).unwrap_or(self)
    }

    /// The tensor with elements of the requested type; shares mapped memory if the type is unchanged.
    ///
    /// Reals are rounded, and must not become infinite; ints must fit. A tensor of another kind is an error: the language
    /// has no implicit conversion of tensors. `what` names the tensor in messages.
    ///
    /// # Errors
    /// [`TensorError::Kind`] for another kind, [`TensorError::Value`] for the first value that does not fit.
    pub fn into_run_time(self, what: &str, to: ElementType) -> Result<Tensor, TensorError> {
        self.converted(what, to, |value| to.refusal(value))
    }

    /// The tensor of an input whose type in the model is `declared`: [`Tensor::into_run_time`] for that type, then with elements of the
    /// type `to`, which represents all values of `declared`, or, for u64, their bits.
    ///
    /// # Errors
    /// The errors of [`Tensor::into_run_time`].
    pub fn into_input(
        self,
        what: &str,
        declared: ElementType,
        to: ElementType,
    ) -> Result<Tensor, TensorError> {
        let tensor = self.converted(what, declared, |value| declared.declared_refusal(value))?;
        match (declared, to) {
            (ElementType::U64, ElementType::I64) => Tensor::from_bytes(to, tensor.shape(), tensor.bytes()),
            _ => tensor.into_run_time(what, to),
        }
    }

    fn converted(
        self,
        what: &str,
        to: ElementType,
        refusal: impl Fn(Option<Scalar>) -> String,
    ) -> Result<Tensor, TensorError> {
        if self.kind() != to.kind() {
            return Err(TensorError::Kind {
                what: what.to_string(),
                expected: to.kind(),
                got: self.element(),
            });
        }
        if self.element() == to {
            return Ok(self);
        }
        let mut converted = Tensor::zeros(to, self.shape())?;
        if convert_all(self.element(), self.bytes(), to, converted.bytes_mut()?) {
            self.intact()?;
            return Ok(converted);
        }
        let size = self.element().size();
        let target = converted.bytes_mut()?.chunks_exact_mut(to.size());
        for (position, (source, target)) in self.bytes().chunks_exact(size).zip(target).enumerate() {
            let value = element_value(self.element(), source);
            if let Some(value) = value {
                write_element(value, to, target);
                if holds(value, element_value(to, target)) {
                    continue;
                }
            }
            let refusal = refusal(value);
            let value = match value {
                Some(Scalar::Real(x)) => format!("{x:e}"),
                Some(Scalar::Int(i)) => i.to_string(),
                _ => u64::from_le_bytes(source.try_into().unwrap_or_default()).to_string(),
            };
            return Err(TensorError::Value { what: what.to_string(), position, value, refusal });
        }
        self.intact()?;
        Ok(converted)
    }
}

/// Converts the elements `source` to the elements `target` of another type. Returns `false` if there is no loop for the pair of types,
/// or if an element does not fit.
fn convert_all(from: ElementType, source: &[u8], to: ElementType, target: &mut [u8]) -> bool {
    fn each<const N: usize, const M: usize>(
        source: &[u8],
        target: &mut [u8],
        element: impl Fn([u8; N]) -> ([u8; M], bool),
    ) -> bool {
        let pairs = source.as_chunks().0.iter().zip(target.as_chunks_mut().0);
        pairs.fold(true, |fits, (source, target)| {
            let (bytes, is_held) = element(*source);
            *target = bytes;
            fits & is_held
        })
    }
    macro_rules! pairs {
        ($($from:ident($source:ty) => $($to:ident($target:ty)),+;)*) => {
            match (from, to) {
                $($((ElementType::$from, ElementType::$to) => each(source, target, |bytes| {
                    (<$target>::from(<$source>::from_le_bytes(bytes)).to_le_bytes(), true)
                }),)+)*
                (ElementType::F64, ElementType::F32) => each(source, target, |bytes| {
                    let (x, y) = (f64::from_le_bytes(bytes), f64::from_le_bytes(bytes) as f32);
                    (y.to_le_bytes(), y.is_finite() || !x.is_finite())
                }),
                (ElementType::I64, ElementType::I32) => each(source, target, |bytes| {
                    let (x, y) = (i64::from_le_bytes(bytes), i64::from_le_bytes(bytes) as i32);
                    (y.to_le_bytes(), i64::from(y) == x)
                }),
                _ => false,
            }
        };
    }
    // The target represents all values of the source.
    pairs! {
        U8(u8) => I16(i16), I32(i32), I64(i64);
        I8(i8) => I16(i16), I32(i32), I64(i64);
        U16(u16) => I32(i32), I64(i64);
        I16(i16) => I32(i32), I64(i64);
        U32(u32) => I64(i64);
        I32(i32) => I64(i64);
        F16(f16) => F32(f32), F64(f64);
        BF16(bf16) => F32(f32), F64(f64);
        F32(f32) => F64(f64);
    }
}

/// Whether a value was converted without loss except for rounding.
fn holds(value: Scalar, stored: Option<Scalar>) -> bool {
    match (value, stored) {
        (Scalar::Real(x), Some(Scalar::Real(y))) => y.is_finite() || !x.is_finite(),
        (x, Some(y)) => x == y,
        (_, None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wider_types_have_all_values_of_narrower_ones() {
        use ElementType::{BF16, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32};
        let types = [BF16, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32];
        let mut pairs = 0;
        for (from, to) in types.iter().flat_map(|from| types.iter().map(move |to| (*from, *to))) {
            // Every pair of bytes, so that signs, infinities and denormal numbers are among the elements.
            let source: Vec<u8> = (0..=u16::MAX)
                .flat_map(|bits| [bits.to_le_bytes(), (!bits).to_le_bytes()].concat())
                .collect();
            let mut target = vec![0; source.len() / from.size() * to.size()];
            if !convert_all(from, &source, to, &mut target) {
                continue;
            }
            pairs += 1;
            for (source, target) in source.chunks_exact(from.size()).zip(target.chunks_exact(to.size())) {
                let (value, stored) = (element_value(from, source), element_value(to, target));
                let is_equal = match (value, stored) {
                    (Some(Scalar::Real(x)), Some(Scalar::Real(y))) => {
                        x == y && x.signum() == y.signum() || x.is_nan() && y.is_nan()
                    }
                    (value, stored) => value == stored,
                };
                assert!(is_equal, "{from:?} to {to:?}: {value:?} became {stored:?}");
            }
        }
        assert_eq!(pairs, 17);
    }

    #[test]
    fn one_element_that_does_not_fit_is_an_error() {
        let reals =
            Tensor::from_scalars(ElementType::F64, &[3], [1.5, 1e300, 2.0].map(Scalar::Real).into_iter())
                .unwrap();
        let error = reals.into_run_time("x", ElementType::F32).unwrap_err();
        assert!(error.to_string().contains("element 1 is 1e300"), "{error}");
        let infinite = [f64::INFINITY, 0.1].map(Scalar::Real).into_iter();
        let reals = Tensor::from_scalars(ElementType::F64, &[2], infinite).unwrap();
        let reals = reals.into_run_time("x", ElementType::F32).unwrap();
        assert_eq!(reals.as_f32(), Some(&[f32::INFINITY, 0.1][..]));
        let ints = [7, 1 << 31].map(Scalar::Int).into_iter();
        let ints = Tensor::from_scalars(ElementType::I64, &[2], ints).unwrap();
        let error = ints.into_run_time("x", ElementType::I32).unwrap_err();
        assert!(error.to_string().contains("element 1 is 2147483648"), "{error}");
    }

    #[test]
    fn integers_that_do_not_fit_are_errors() {
        let bytes = [5u64.to_le_bytes(), u64::MAX.to_le_bytes()].concat();
        let tensor = Tensor::from_bytes(ElementType::U64, &[2], &bytes).unwrap();
        let error = tensor.into_run_time("x", ElementType::I64).unwrap_err();
        assert!(error.to_string().contains("element 1 is 18446744073709551615"), "{error}");
    }

    #[test]
    fn inputs_have_the_type_that_the_model_declares() {
        let ints = |values: &[i64]| Tensor::from_i64(&[values.len() as u64], values).unwrap();
        let input = |tensor: Tensor, declared| tensor.into_input("x", declared, ElementType::I64);
        let wide = input(ints(&[0, 255]), ElementType::U8).unwrap();
        assert_eq!(wide.bytes(), ints(&[0, 255]).bytes());
        for (values, declared, text) in [
            (
                &[7, 256],
                ElementType::U8,
                "element 1 is 256, which does not fit u8 (0 to 255), its type in the model",
            ),
            (
                &[-1, 0],
                ElementType::U32,
                "element 0 is -1, which does not fit u32 (0 to 4294967295), its type in the model",
            ),
            (
                &[-129, 0],
                ElementType::I8,
                "element 0 is -129, which does not fit i8 (-128 to 127), its type in the model",
            ),
            (
                &[-1, 0],
                ElementType::U64,
                "element 0 is -1, which does not fit u64 (0 to 18446744073709551615), its type in the model",
            ),
        ] {
            let error = input(ints(values), declared).unwrap_err();
            assert_eq!(error.to_string(), format!("x: {text}"));
        }
        let bytes = [5u64.to_le_bytes(), u64::MAX.to_le_bytes()].concat();
        let large = Tensor::from_bytes(ElementType::U64, &[2], &bytes).unwrap();
        let bits = input(large.clone(), ElementType::U64).unwrap();
        assert_eq!(bits.bytes(), ints(&[5, -1]).bytes());
        assert!(input(large, ElementType::U32).is_err());
    }

    #[test]
    fn elements_become_the_nearest_of_their_kind() {
        let tensor = Tensor::from_i64(&[3], &[-1, 300, -129]).unwrap();
        let of = |element| tensor.clone().with_element(element);
        assert_eq!(of(ElementType::U8).bytes(), [0, 255, 0]);
        assert_eq!(of(ElementType::I8).bytes(), [0xff, 0x7f, 0x80]);
        let half = Tensor::from_bytes(ElementType::BF16, &[1], &[0x80, 0x3f]).unwrap();
        let wide = half.with_element(ElementType::F32);
        assert_eq!(wide.as_f32(), Some(&[1.0f32][..]));
    }

    #[test]
    fn numbers_that_would_become_infinite_are_errors() {
        let bytes = [3.4e38f64.to_le_bytes(), (-1e300f64).to_le_bytes()].concat();
        let tensor = Tensor::from_bytes(ElementType::F64, &[2], &bytes).unwrap();
        let error = tensor.into_run_time("w.dat", ElementType::F32).unwrap_err();
        assert_eq!(
            error.to_string(),
            "w.dat: element 1 is -1e300, which does not fit f32 (at most 3.4028e38 in size); --real=f64 holds it"
        );
    }

    #[test]
    fn narrow_types_round_and_never_lose_more() {
        let tensor = Tensor::from_f32(&[3], &[1.0009, -65504.0, 3.0e-8]).unwrap();
        let half = tensor.into_run_time("w", ElementType::F16).unwrap();
        // numpy: np.float16([1.0009, -65504, 3e-8]).view(np.uint16)
        let bits: Vec<u8> = [0x3c01u16, 0xfbff, 0x0001].iter().flat_map(|b| b.to_le_bytes()).collect();
        assert_eq!(half.bytes(), bits);
        let large = Tensor::from_f32(&[2], &[65519.0, 65520.0]).unwrap();
        let error = large.clone().into_run_time("w.dat", ElementType::F16).unwrap_err();
        assert_eq!(
            error.to_string(),
            "w.dat: element 1 is 6.552e4, which does not fit f16 (at most 6.5504e4 in size); --real=f32 holds it"
        );
        assert!(large.into_run_time("w.dat", ElementType::BF16).is_ok());
        let ints = Tensor::from_i64(&[2], &[-128, 128]).unwrap();
        let error = ints.clone().into_run_time("w.dat", ElementType::I8).unwrap_err();
        assert_eq!(
            error.to_string(),
            "w.dat: element 1 is 128, which does not fit i8 (-128 to 127); --int=i16 holds it"
        );
        let short = ints.into_run_time("w.dat", ElementType::I16).unwrap();
        assert_eq!(short.bytes(), [0x80, 0xff, 0x80, 0x00]);
    }

    /// Just beside the midpoint of two neighbours: 1 and the next number, the largest and infinity, zero and the
    /// smallest.
    #[test]
    fn reals_are_rounded_once() {
        let beside = |middle: f64| [middle.next_down(), middle, middle.next_up(), -middle.next_up()];
        let bits = |element, values: &[f64]| -> Vec<u16> {
            let scalars = values.iter().map(|x| Scalar::Real(*x));
            let tensor = Tensor::from_scalars(element, &[values.len() as u64], scalars).unwrap();
            let pairs = tensor.bytes().chunks(2);
            pairs.map(|b| u16::from_le_bytes([b[0], b[1]])).collect()
        };
        // By hand: f16 has 11 digits from 2^-14 to 2^15, bf16 8 digits from 2^-126 to 2^127.
        let two = |e| 2f64.powi(e);
        let f16 = |middle| bits(ElementType::F16, &beside(middle));
        assert_eq!(f16(1.0 + two(-11)), [0x3c00, 0x3c00, 0x3c01, 0xbc01]);
        assert_eq!(f16(1.0 + 3.0 * two(-11)), [0x3c01, 0x3c02, 0x3c02, 0xbc02]);
        assert_eq!(f16(65520.0), [0x7bff, 0x7c00, 0x7c00, 0xfc00]);
        assert_eq!(f16(two(-25)), [0, 0, 1, 0x8001]);
        let bf16 = |middle| bits(ElementType::BF16, &beside(middle));
        assert_eq!(bf16(1.0 + two(-8)), [0x3f80, 0x3f80, 0x3f81, 0xbf81]);
        assert_eq!(bf16(1.0 + 3.0 * two(-8)), [0x3f81, 0x3f82, 0x3f82, 0xbf82]);
        assert_eq!(bf16(255.5 * two(120)), [0x7f7f, 0x7f80, 0x7f80, 0xff80]);
        assert_eq!(bf16(two(-134)), [0, 0, 1, 0x8001]);
        let ends = [f64::INFINITY, -0.0, 1e-320, f64::MAX];
        assert_eq!(bits(ElementType::F16, &ends), [0x7c00, 0x8000, 0, 0x7c00]);
    }

    #[test]
    fn floats_narrow_and_kinds_are_not_converted() {
        let bytes = [0.1f64.to_le_bytes(), f64::NEG_INFINITY.to_le_bytes()].concat();
        let tensor = Tensor::from_bytes(ElementType::F64, &[2], &bytes).unwrap();
        let error = tensor.clone().into_run_time("x", ElementType::I64).unwrap_err();
        assert_eq!(error.to_string(), "the elements of x are real (f64) instead of int; convert them first");
        let narrow = tensor.into_run_time("x", ElementType::F32).unwrap();
        assert_eq!(narrow.as_f32(), Some(&[0.1f32, f32::NEG_INFINITY][..]));
        let half = Tensor::from_bytes(ElementType::F16, &[1], &[0x00, 0xc1]).unwrap();
        let wide = half.into_run_time("x", ElementType::F32).unwrap();
        assert_eq!(wide.as_f32(), Some(&[-2.5f32][..]));
    }
}
