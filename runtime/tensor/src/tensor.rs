// SPDX-License-Identifier: Apache-2.0
//! Contiguous, row-major tensors.

use crate::buffer::Buffer;
use crate::element::ElementType;
use crate::error::TensorError;
use crate::map::MappedFile;
use crate::shape;
use skript_semantics::{Scalar, ScalarKind};
use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

/// Memory with another owner, such as an array of another language, which lives as long as this value.
pub trait Memory: fmt::Debug + Send + Sync {
    /// The bytes; every call returns the same slice.
    fn bytes(&self) -> &[u8];
}

/// Elements in row-major order without gaps: owned, mapped from a file, or in shared memory.
#[derive(Clone, Debug)]
pub struct Tensor {
    element: ElementType,
    shape: Vec<u64>,
    data: Data,
}

#[derive(Clone, Debug)]
enum Data {
    Owned(Buffer),
    /// Offset and length are within the mapping, and the offset is a multiple of the element's size.
    Mapped {
        file: MappedFile,
        offset: usize,
        length: usize,
    },
    Shared(Arc<dyn Memory>),
}

impl Tensor {
    /// A tensor of zeros (false).
    ///
    /// # Errors
    /// [`TensorError::TooLarge`] if the tensor does not fit the memory.
    pub fn zeros(element: ElementType, shape: &[u64]) -> Result<Tensor, TensorError> {
        Tensor::zeroed(element, shape, Buffer::zeroed)
    }

    /// Like [`Tensor::zeros`] for upper bounds of extents: unused elements occupy no memory.
    ///
    /// # Errors
    /// [`TensorError::TooLarge`] if the tensor does not fit the address space.
    pub fn reserved(element: ElementType, shape: &[u64]) -> Result<Tensor, TensorError> {
        Tensor::zeroed(element, shape, Buffer::reserved)
    }

    fn zeroed(
        element: ElementType,
        shape: &[u64],
        allocate: impl FnOnce(usize) -> Option<Buffer>,
    ) -> Result<Tensor, TensorError> {
        let too_large = || TensorError::TooLarge { element, shape: shape.to_vec() };
        let length = shape::byte_length(element, shape).ok_or_else(too_large)?;
        let buffer = allocate(length).ok_or_else(too_large)?;
        Ok(Tensor { element, shape: shape.to_vec(), data: Data::Owned(buffer) })
    }

    /// Copies bytes that hold the elements in memory format. Bools are 0 or 1; other values become 1.
    ///
    /// # Errors
    /// [`TensorError::Length`] if the shape needs another number of bytes, [`TensorError::TooLarge`] if it does not fit the
    /// memory.
    pub fn from_bytes(element: ElementType, shape: &[u64], bytes: &[u8]) -> Result<Tensor, TensorError> {
        if shape::byte_length(element, shape) != Some(bytes.len()) {
            return Err(TensorError::Length { element, shape: shape.to_vec(), got: bytes.len() });
        }
        let mut tensor = Tensor::zeros(element, shape)?;
        tensor.bytes_mut()?.copy_from_slice(bytes);
        tensor.normalize_bools()?;
        Ok(tensor)
    }

    /// A tensor of f32, from its elements in row-major order.
    ///
    /// # Errors
    /// Like [`Tensor::from_bytes`].
    pub fn from_f32(shape: &[u64], values: &[f32]) -> Result<Tensor, TensorError> {
        Tensor::from_bytes(ElementType::F32, shape, bytemuck::cast_slice(values))
    }

    /// A tensor of i64, from its elements in row-major order.
    ///
    /// # Errors
    /// Like [`Tensor::from_bytes`].
    pub fn from_i64(shape: &[u64], values: &[i64]) -> Result<Tensor, TensorError> {
        Tensor::from_bytes(ElementType::I64, shape, bytemuck::cast_slice(values))
    }

    /// A tensor of bools, from its elements in row-major order.
    ///
    /// # Errors
    /// Like [`Tensor::from_bytes`].
    pub fn from_bool(shape: &[u64], values: &[bool]) -> Result<Tensor, TensorError> {
        let bytes: Vec<u8> = values.iter().map(|&b| u8::from(b)).collect();
        Tensor::from_bytes(ElementType::Bool, shape, &bytes)
    }

    /// Elements in a mapped file; `None` if they are not aligned, or exceed the file. Bytes of bools are not verified.
    pub fn mapped(element: ElementType, shape: &[u64], file: MappedFile, offset: usize) -> Option<Tensor> {
        let length = shape::byte_length(element, shape)?;
        let end = offset.checked_add(length)?;
        if end > file.bytes().len() || !offset.is_multiple_of(element.size()) {
            return None;
        }
        Some(Tensor { element, shape: shape.to_vec(), data: Data::Mapped { file, offset, length } })
    }

    /// Elements in a mapped file, which are copied if they are not aligned.
    ///
    /// # Errors
    /// [`TensorError::Length`] if they exceed the file, [`TensorError::Changed`] if the file was truncated.
    pub(crate) fn within(
        element: ElementType,
        shape: &[u64],
        file: &MappedFile,
        start: usize,
    ) -> Result<Tensor, TensorError> {
        let mut tensor = match Tensor::mapped(element, shape, file.clone(), start) {
            Some(tensor) => tensor,
            None => {
                let rest = file.bytes().get(start..);
                let part = shape::byte_length(element, shape).and_then(|length| rest?.get(..length));
                let got = file.bytes().len().saturating_sub(start);
                let outside = || TensorError::Length { element, shape: shape.to_vec(), got };
                Tensor::from_bytes(element, shape, part.ok_or_else(outside)?)?
            }
        };
        tensor.normalize_bools()?;
        file.intact()?;
        Ok(tensor)
    }

    /// Elements in memory with another owner, without a copy. Bytes of bools must be 0 or 1.
    ///
    /// # Errors
    /// [`TensorError::Length`] if the shape needs another number of bytes.
    pub fn shared(
        element: ElementType,
        shape: &[u64],
        memory: Arc<dyn Memory>,
    ) -> Result<Tensor, TensorError> {
        let got = memory.bytes().len();
        if shape::byte_length(element, shape) != Some(got) {
            return Err(TensorError::Length { element, shape: shape.to_vec(), got });
        }
        Ok(Tensor { element, shape: shape.to_vec(), data: Data::Shared(memory) })
    }

    /// The same tensor, such that clones share its elements.
    #[must_use]
    pub fn into_shared(mut self) -> Tensor {
        if let Data::Owned(buffer) = self.data {
            self.data = Data::Shared(Arc::new(buffer));
        }
        self
    }

    /// The type of the elements.
    pub fn element(&self) -> ElementType {
        self.element
    }

    /// Whether the elements are bools, integers or reals.
    pub fn kind(&self) -> ScalarKind {
        self.element.kind()
    }

    /// The extents, outermost first; empty for a scalar.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Number of elements.
    pub fn volume(&self) -> usize {
        self.bytes().len() / self.element.size()
    }

    /// Whether the elements are in a mapped file.
    pub fn is_mapped(&self) -> bool {
        matches!(self.data, Data::Mapped { .. })
    }

    /// The mapped file that contains the elements, and their offset in bytes; `None` for other tensors.
    pub fn file(&self) -> Option<(&MappedFile, usize)> {
        match &self.data {
            Data::Owned(_) | Data::Shared(_) => None,
            Data::Mapped { file, offset, .. } => Some((file, *offset)),
        }
    }

    /// Returns an error if elements that were read so far were no longer in the mapped file; never for other tensors.
    ///
    /// # Errors
    /// [`TensorError::Changed`].
    pub fn intact(&self) -> Result<(), TensorError> {
        match &self.data {
            Data::Owned(_) | Data::Shared(_) => Ok(()),
            Data::Mapped { file, .. } => file.intact(),
        }
    }

    /// Returns the memory of elements in a mapped file to the system; the next read gets them from the file again. Other
    /// tensors keep their memory.
    pub fn release(&self) {
        if let Data::Mapped { file, offset, length } = &self.data {
            file.release(*offset, *length);
        }
    }

    /// Returns an error if the mapped file was truncated or written to since it was opened; never for other tensors.
    /// Call it before using results computed from the tensor.
    ///
    /// # Errors
    /// [`TensorError::Changed`].
    pub fn unchanged(&self) -> Result<(), TensorError> {
        match &self.data {
            Data::Owned(_) | Data::Shared(_) => Ok(()),
            Data::Mapped { file, .. } => file.unchanged(),
        }
    }

    /// The elements in row-major order, in the byte order of this machine.
    pub fn bytes(&self) -> &[u8] {
        match &self.data {
            Data::Owned(buffer) => buffer.bytes(),
            Data::Shared(memory) => memory.bytes(),
            Data::Mapped { file, offset, length } => {
                file.bytes().get(*offset..offset.saturating_add(*length)).unwrap_or(&[])
            }
        }
    }

    /// The elements for writing; elements in a file, or in memory with another owner, are copied first.
    ///
    /// # Errors
    /// [`TensorError`] if the copy does not fit the memory, or the mapped file changed.
    pub fn bytes_mut(&mut self) -> Result<&mut [u8], TensorError> {
        if !matches!(self.data, Data::Owned(_)) {
            let mut buffer = Buffer::zeroed(self.bytes().len())
                .ok_or_else(|| TensorError::TooLarge { element: self.element, shape: self.shape.clone() })?;
            buffer.bytes_mut().copy_from_slice(self.bytes());
            self.intact()?;
            self.data = Data::Owned(buffer);
        }
        match &mut self.data {
            Data::Owned(buffer) => Ok(buffer.bytes_mut()),
            Data::Mapped { .. } | Data::Shared(_) => Ok(&mut []),
        }
    }

    /// Stacks tensors of the shape `item` along a new first dimension.
    ///
    /// # Errors
    /// An item of another element type or shape; more elements than memory holds.
    pub fn stacked<T: Borrow<Tensor>>(
        element: ElementType,
        item: &[u64],
        items: &[T],
    ) -> Result<Tensor, TensorError> {
        for (at, given) in items.iter().enumerate() {
            let given: &Tensor = given.borrow();
            if given.element != element || given.shape != item {
                return Err(TensorError::Shape {
                    what: format!("item {at} of a pack"),
                    expected: shape::text(item),
                    got: given.shape.clone(),
                });
            }
        }
        let mut shape = vec![items.len() as u64];
        shape.extend(item);
        let mut whole = Tensor::zeros(element, &shape)?;
        if let Some(size @ 1..) = shape::byte_length(element, item) {
            for (target, given) in whole.bytes_mut()?.chunks_mut(size).zip(items) {
                target.copy_from_slice(given.borrow().bytes());
            }
        }
        Ok(whole)
    }

    /// The same elements under another shape of the same volume.
    ///
    /// # Errors
    /// [`TensorError::Length`] if the shape has another number of elements.
    pub fn reshaped(mut self, shape: &[u64]) -> Result<Tensor, TensorError> {
        if shape::byte_length(self.element, shape) != Some(self.bytes().len()) {
            return Err(TensorError::Length {
                element: self.element,
                shape: shape.to_vec(),
                got: self.bytes().len(),
            });
        }
        self.shape = shape.to_vec();
        Ok(self)
    }

    /// The elements, if they are f32.
    pub fn as_f32(&self) -> Option<&[f32]> {
        self.view(ElementType::F32)
    }

    /// The elements, if they are f64.
    pub fn as_f64(&self) -> Option<&[f64]> {
        self.view(ElementType::F64)
    }

    /// The elements, if they are i64.
    pub fn as_i64(&self) -> Option<&[i64]> {
        self.view(ElementType::I64)
    }

    /// The elements as bytes 0 and 1, if they are bool.
    pub fn as_bool_bytes(&self) -> Option<&[u8]> {
        self.view(ElementType::Bool)
    }

    /// The elements for writing, in row-major order; `None` unless they are f32.
    pub fn as_f32_mut(&mut self) -> Option<&mut [f32]> {
        if self.element != ElementType::F32 {
            return None;
        }
        bytemuck::try_cast_slice_mut(self.bytes_mut().ok()?).ok()
    }

    /// The elements for writing, in row-major order; `None` unless they are i64.
    pub fn as_i64_mut(&mut self) -> Option<&mut [i64]> {
        if self.element != ElementType::I64 {
            return None;
        }
        bytemuck::try_cast_slice_mut(self.bytes_mut().ok()?).ok()
    }

    fn view<T: bytemuck::Pod>(&self, element: ElementType) -> Option<&[T]> {
        if self.element != element {
            return None;
        }
        bytemuck::try_cast_slice(self.bytes()).ok()
    }

    /// One element by its row-major position.
    pub fn get(&self, position: usize) -> Option<Scalar> {
        let size = self.element.size();
        let start = position.checked_mul(size)?;
        let bytes = self.bytes().get(start..start.checked_add(size)?)?;
        crate::convert::element_value(self.element, bytes)
    }

    /// Bytes other than 0 and 1 become 1.
    pub(crate) fn normalize_bools(&mut self) -> Result<(), TensorError> {
        if self.element == ElementType::Bool && self.bytes().iter().any(|&b| b > 1) {
            for byte in self.bytes_mut()? {
                *byte = u8::from(*byte != 0);
            }
        }
        Ok(())
    }

    /// Returns an error unless the tensor has this kind and shape. `what` names the tensor in the message.
    ///
    /// # Errors
    /// [`TensorError::Kind`] or [`TensorError::Shape`].
    pub fn expect(&self, what: &str, kind: ScalarKind, shape: &[u64]) -> Result<(), TensorError> {
        expect(what, (self.element, &self.shape), kind, shape)
    }
}

/// Returns an error unless an array has this kind and shape. `what` names the array in the message.
pub(crate) fn expect(
    what: &str,
    (element, got): (ElementType, &[u64]),
    kind: ScalarKind,
    shape: &[u64],
) -> Result<(), TensorError> {
    if element.kind() != kind {
        return Err(TensorError::Kind { what: what.to_string(), expected: kind, got: element });
    }
    if got != shape {
        return Err(TensorError::Shape {
            what: what.to_string(),
            expected: shape::text(shape),
            got: got.to_vec(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_checked_before_allocation() {
        let huge = Tensor::zeros(ElementType::F32, &[1 << 40, 1 << 40]);
        assert!(matches!(huge, Err(TensorError::TooLarge { .. })));
        let short = Tensor::from_f32(&[2, 3], &[0.0; 5]);
        assert!(matches!(short, Err(TensorError::Length { got: 20, .. })));
    }

    #[test]
    fn elements_are_row_major() {
        let tensor = Tensor::from_i64(&[2, 2], &[1, 2, 3, 4]).unwrap();
        assert_eq!(tensor.get(2), Some(Scalar::Int(3)));
        assert_eq!(tensor.get(4), None);
        assert_eq!(tensor.as_f32(), None);
        assert_eq!(tensor.bytes().as_ptr() as usize % 64, 0);
    }

    #[test]
    fn shared_memory_is_read_in_place_and_copied_to_write() {
        #[derive(Debug)]
        struct Bytes(Vec<u8>);
        impl Memory for Bytes {
            fn bytes(&self) -> &[u8] {
                &self.0
            }
        }
        let memory = Arc::new(Bytes(vec![1, 2, 3, 4]));
        let address = memory.bytes().as_ptr();
        let shared = |shape: &[u64]| Tensor::shared(ElementType::U8, shape, memory.clone());
        let mut tensor = shared(&[2, 2]).unwrap();
        assert_eq!(tensor.bytes().as_ptr(), address);
        tensor.bytes_mut().unwrap()[0] = 9;
        assert_eq!(tensor.bytes(), [9, 2, 3, 4]);
        assert_eq!(memory.bytes(), [1, 2, 3, 4]);
        assert!(matches!(shared(&[3]), Err(TensorError::Length { got: 4, .. })));
    }

    #[test]
    fn views_have_the_type_of_the_elements() {
        let mut reals = Tensor::from_f32(&[2], &[1.5, -2.0]).unwrap();
        assert_eq!((reals.kind(), reals.volume()), (ScalarKind::Real, 2));
        reals.as_f32_mut().unwrap()[1] = 4.0;
        assert_eq!(reals.as_f32(), Some(&[1.5, 4.0][..]));
        assert!(reals.as_i64_mut().is_none() && reals.as_i64().is_none() && reals.as_f64().is_none());
        let mut ints = Tensor::from_i64(&[2], &[7, 8]).unwrap();
        ints.as_i64_mut().unwrap()[0] = -7;
        assert_eq!(ints.as_i64(), Some(&[-7, 8][..]));
        assert!(ints.as_f32_mut().is_none() && ints.as_bool_bytes().is_none());
        let wide = Tensor::from_bytes(ElementType::F64, &[1], &2.5f64.to_ne_bytes()).unwrap();
        assert_eq!(wide.as_f64(), Some(&[2.5][..]));
    }

    #[test]
    fn a_tensor_in_memory_does_not_change() {
        let tensor = Tensor::from_i64(&[2, 2], &[1, 2, 3, 4]).unwrap();
        assert!(tensor.intact().is_ok() && tensor.unchanged().is_ok());
        assert!(tensor.file().is_none() && !tensor.is_mapped());
        tensor.release();
        let shared = tensor.clone().into_shared();
        assert!(shared.intact().is_ok() && shared.unchanged().is_ok() && shared.file().is_none());
        assert_eq!(shared.bytes().as_ptr(), shared.clone().bytes().as_ptr());
        assert_eq!(shared.reshaped(&[4, 1]).unwrap().shape(), [4, 1]);
        let refused = tensor.reshaped(&[3]);
        assert!(matches!(refused, Err(TensorError::Length { got: 32, .. })));
    }

    #[test]
    fn kinds_and_shapes_are_expected() {
        let tensor = Tensor::from_i64(&[2, 1], &[1, 2]).unwrap();
        assert!(tensor.expect("x", ScalarKind::Int, &[2, 1]).is_ok());
        let kind = tensor.expect("x", ScalarKind::Real, &[2, 1]);
        assert!(matches!(kind, Err(TensorError::Kind { .. })));
        let shape = tensor.expect("x", ScalarKind::Int, &[1, 2]);
        assert!(matches!(shape, Err(TensorError::Shape { .. })));
    }

    #[test]
    fn stacks_have_items_of_one_shape() {
        let item = |values: &[i64]| Tensor::from_i64(&[values.len() as u64], values).unwrap();
        let stack = |items: &[Tensor]| Tensor::stacked(ElementType::I64, &[2], items);
        let whole = stack(&[item(&[1, 2]), item(&[3, 4]), item(&[5, 6])]).unwrap();
        assert_eq!(whole.shape(), [3, 2]);
        assert_eq!(whole.as_i64(), Some(&[1, 2, 3, 4, 5, 6][..]));
        assert_eq!(stack(&[]).unwrap().shape(), [0, 2]);
        assert!(matches!(stack(&[item(&[1, 2]), item(&[3])]), Err(TensorError::Shape { .. })));
        // Items without elements.
        let empty = Tensor::stacked(ElementType::I64, &[0], &[item(&[]), item(&[])]);
        assert_eq!(empty.unwrap().shape(), [2, 0]);
    }
}
