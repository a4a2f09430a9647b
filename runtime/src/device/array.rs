// SPDX-License-Identifier: Apache-2.0
//! Arrays in device memory.

use super::DeviceChoice;
use super::home::Home;
use crate::error::RunError;
use skript_tensor::{ElementType, Tensor};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A contiguous row-major array in device memory. The device reuses the memory when the array is dropped.
pub struct DeviceArray {
    element: ElementType,
    shape: Vec<u64>,
    address: u64,
    /// The size of the array's memory in bytes, which may exceed the size of its elements.
    bytes: u64,
    choice: DeviceChoice,
    home: Arc<Home>,
    /// Whether its address was passed to another library.
    is_lent: AtomicBool,
}

impl DeviceArray {
    /// An array in new memory, with unspecified elements.
    pub(crate) fn new(
        home: &Arc<Home>,
        choice: DeviceChoice,
        element: ElementType,
        shape: &[u64],
    ) -> Result<DeviceArray, RunError> {
        let bytes = byte_length(element, shape)?;
        Ok(DeviceArray {
            element,
            shape: shape.to_vec(),
            address: home.take(bytes).map_err(RunError::Device)?,
            bytes,
            choice,
            home: Arc::clone(home),
            is_lent: AtomicBool::new(false),
        })
    }

    /// The type of its elements.
    pub fn element(&self) -> ElementType {
        self.element
    }

    /// Its extents.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The address of its first element on the device.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The address for another library, which may read the array in its own stream after this value is dropped: the memory is
    /// reused only when that work is complete.
    pub fn lend(&self) -> u64 {
        self.is_lent.store(true, Ordering::Relaxed);
        self.address
    }

    /// The device.
    pub fn device(&self) -> DeviceChoice {
        self.choice
    }

    /// Whether the array is in the memory of this device, opened by this instance.
    pub(crate) fn is_of(&self, home: &Arc<Home>) -> bool {
        Arc::ptr_eq(&self.home, home)
    }

    /// The array with other extents, which fit in its memory.
    pub(crate) fn with_shape(mut self, shape: Vec<u64>) -> DeviceArray {
        self.shape = shape;
        self
    }

    /// A copy in host memory.
    ///
    /// # Errors
    /// [`RunError::Memory`] or [`RunError::Device`].
    pub fn to_tensor(&self) -> Result<Tensor, RunError> {
        let failed = |e: skript_tensor::TensorError| RunError::Memory(e.to_string());
        let mut tensor = Tensor::zeros(self.element, &self.shape).map_err(failed)?;
        let bytes = tensor.bytes_mut().map_err(failed)?;
        let read = self.home.device().read(self.address, bytes);
        read.map_err(RunError::Device)?;
        Ok(tensor)
    }
}

impl Drop for DeviceArray {
    fn drop(&mut self) {
        let is_lent = self.is_lent.load(Ordering::Relaxed);
        self.home.give(self.address, self.bytes, is_lent);
    }
}

impl fmt::Debug for DeviceArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DeviceArray { element, shape, .. } = self;
        write!(f, "{element}{shape:?} at {:#x} of {}", self.address, self.choice)
    }
}

/// A contiguous row-major array in device memory that another library owns.
#[derive(Clone, Copy, Debug)]
pub struct ForeignArray<'a> {
    element: ElementType,
    shape: &'a [u64],
    address: u64,
}

impl<'a> ForeignArray<'a> {
    /// An array at an address.
    ///
    /// # Safety
    /// The memory holds all elements of `shape`, and belongs to the device on which the array is used. During a call, an input
    /// is not written to, and an output is not accessed at all. Previous writes were in the stream of the device, or are
    /// complete.
    pub unsafe fn new(element: ElementType, shape: &'a [u64], address: u64) -> Self {
        ForeignArray { element, shape, address }
    }

    /// The address of its first element.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }
}

/// An input of a call on a device.
#[derive(Clone, Copy, Debug)]
pub enum Argument<'a> {
    /// In host memory: it is copied.
    Tensor(&'a Tensor),
    /// In device memory: it is not copied, unless another Vulkan instance created it.
    Array(&'a DeviceArray),
    /// In device memory that another library owns: it is not copied if its address is a multiple of 64.
    Foreign(ForeignArray<'a>),
}

impl<'a> Argument<'a> {
    /// The type of its elements, and its extents.
    pub(crate) fn kind(&self) -> (ElementType, &'a [u64]) {
        match self {
            Argument::Tensor(tensor) => (tensor.element(), tensor.shape()),
            Argument::Array(array) => (array.element, &array.shape),
            Argument::Foreign(array) => (array.element, array.shape),
        }
    }
}

/// The length of an array in bytes.
pub(crate) fn byte_length(element: ElementType, shape: &[u64]) -> Result<u64, RunError> {
    let bytes = skript_tensor::shape::byte_length(element, shape);
    let bytes = bytes.and_then(|bytes| u64::try_from(bytes).ok());
    bytes.ok_or_else(|| RunError::Memory(format!("shape {shape:?}")))
}
