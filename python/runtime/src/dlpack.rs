// SPDX-License-Identifier: Apache-2.0
//! Arrays of other libraries by DLPack, in all element types of models.
//!
//! GPU arrays are passed by address ([`OnDevice`]), and exported ([`export`]). For host arrays, numpy's `from_dlpack` does not
//! support bfloat16, so [`Shared`] takes ownership of an exported tensor and presents it to numpy by `__array_interface__`. The
//! numpy array keeps it alive, and dropping it calls the deleter of the tensor.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};
use skript_runtime::device::{DeviceArray, ForeignArray};
use skript_tensor::ElementType;
use std::sync::Arc;

use crate::arrays;

/// The CPU.
pub(crate) const CPU: i32 = 1;
/// A CUDA GPU.
pub(crate) const CUDA: i32 = 2;
/// A Vulkan device.
pub(crate) const VULKAN: i32 = 7;
/// The kinds of devices whose memory the CPU can read: the CPU, and host memory that CUDA or ROCm has pinned.
const HOST: [i32; 3] = [1, 3, 11];
const UNVERSIONED: &CStr = c"dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";
/// The supported major version of the format.
const VERSION: u32 = 1;
/// The maximum rank.
const MAX_DIMENSIONS: usize = 64;

/// `DLTensor`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Exported {
    data: *mut u8,
    device: [i32; 2],
    rank: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *const i64,
    strides: *const i64,
    offset: u64,
}

/// `DLManagedTensor`.
#[repr(C)]
struct Unversioned {
    tensor: Exported,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Unversioned)>,
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
struct Versioned {
    version: [u32; 2],
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    flags: u64,
    tensor: Exported,
}

/// An imported tensor.
enum Owned {
    Unversioned(NonNull<Unversioned>),
    Versioned(NonNull<Versioned>),
}

// SAFETY: a deleter may be called in any thread that holds the GIL, which Python holds when it destroys objects.
unsafe impl Send for Owned {}
// SAFETY: as above; this module does not write to tensors.
unsafe impl Sync for Owned {}

/// A tensor of another library with the interface that numpy converts to an array.
#[pyclass(frozen, module = "skript")]
struct Shared {
    owned: Owned,
    element: ElementType,
}

impl Owned {
    fn tensor(&self) -> Exported {
        // SAFETY: both are valid until `drop` calls their deleter.
        unsafe {
            match self {
                Owned::Unversioned(tensor) => tensor.as_ref().tensor,
                Owned::Versioned(tensor) => tensor.as_ref().tensor,
            }
        }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the consumer calls the deleter once, with the pointer that it received.
        unsafe {
            match self {
                Owned::Unversioned(tensor) => {
                    if let Some(deleter) = tensor.as_ref().deleter {
                        deleter(tensor.as_ptr());
                    }
                }
                Owned::Versioned(tensor) => {
                    if let Some(deleter) = tensor.as_ref().deleter {
                        deleter(tensor.as_ptr());
                    }
                }
            }
        }
    }
}

#[pymethods]
impl Shared {
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tensor = self.owned.tensor();
        let rank = tensor.rank.max(0) as usize;
        let extents = |start: *const i64| match rank {
            0 => Vec::new(),
            // SAFETY: the format guarantees `rank` numbers at the pointer; `array` checked the rank.
            _ => unsafe { std::slice::from_raw_parts(start, rank) }.to_vec(),
        };
        let interface = PyDict::new(py);
        let shape = extents(tensor.shape);
        let is_empty = shape.contains(&0);
        interface.set_item("version", 3)?;
        interface.set_item("shape", PyTuple::new(py, shape)?)?;
        if !tensor.strides.is_null() && !is_empty {
            let size = self.element.size() as i64;
            let strides = extents(tensor.strides);
            interface.set_item(
                "strides",
                PyTuple::new(py, strides.iter().map(|stride| stride.wrapping_mul(size)).collect::<Vec<_>>())?,
            )?;
        }
        let start = tensor.data.wrapping_add(tensor.offset as usize).addr();
        // numpy requires a non-null address even for an empty array.
        let start = if is_empty { self.element.size() } else { start };
        interface.set_item("data", (start, true))?;
        let kind = match self.element {
            ElementType::Bool => "|b1".to_owned(),
            // numpy itself does not support bf16, so the array has the bits as ints.
            ElementType::BF16 => "<u2".to_owned(),
            element => {
                let name = arrays::type_name(element);
                let kind = name.chars().take(1).collect::<String>();
                format!("<{kind}{}", element.size())
            }
        };
        interface.set_item("typestr", kind)?;
        Ok(interface)
    }
}

/// The read-only numpy array that shares the elements of an object with `__dlpack__`. `what` is the name of the object in
/// messages.
///
/// # Errors
/// TypeError for memory of another device and for unsupported element types, and the exceptions of the object's library.
pub fn array<'py>(py: Python<'py>, what: &str, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if value.hasattr(intern!(py, "__dlpack_device__"))? {
        let device = value.call_method0(intern!(py, "__dlpack_device__"))?;
        let (kind, number): (i32, i32) = device.extract()?;
        on_host(what, kind, number)?;
    }
    let owned = taken(what, &exported(py, value, None)?)?;
    let tensor = owned.tensor();
    on_host(what, tensor.device[0], tensor.device[1])?;
    rank(what, &tensor)?;
    let element = element(what, tensor)?;
    let shared = Bound::new(py, Shared { owned, element })?;
    let array = arrays::numpy(py)?.call_method1(intern!(py, "asarray"), (shared,))?;
    match element {
        ElementType::BF16 => array.call_method1(intern!(py, "view"), (arrays::dtype(py, element)?,)),
        _ => Ok(array),
    }
}

/// An array of another library in GPU memory. The export keeps it alive.
pub(crate) struct OnDevice {
    _owned: Owned,
    pub(crate) element: ElementType,
    pub(crate) shape: Vec<u64>,
    address: u64,
}

impl OnDevice {
    pub(crate) fn array(&self) -> ForeignArray<'_> {
        // SAFETY: the exporting library guarantees the address, and wrote the array in the stream of the device; the export keeps it alive.
        unsafe { ForeignArray::new(self.element, &self.shape, self.address) }
    }
}

/// The array of an object with `__dlpack__` in memory of this device, which is written before later work in the stream; `None` for
/// other objects.
///
/// # Errors
/// TypeError for unsupported element types, ValueError for a non-contiguous array, and the exceptions of the object's library.
pub(crate) fn on_device(
    py: Python<'_>,
    what: &str,
    value: &Bound<'_, PyAny>,
    device: (i32, i32),
    stream: u64,
) -> PyResult<Option<OnDevice>> {
    if !value.hasattr(intern!(py, "__dlpack_device__"))? {
        return Ok(None);
    }
    let array_device = value.call_method0(intern!(py, "__dlpack_device__"))?;
    if array_device.extract::<(i32, i32)>()? != device {
        return Ok(None);
    }
    let owned = taken(what, &exported(py, value, Some(stream))?)?;
    let tensor = owned.tensor();
    let rank = rank(what, &tensor)?;
    let extents = |start: *const i64| match rank {
        0 => Vec::new(),
        // SAFETY: the format guarantees `rank` numbers at the pointer.
        _ => unsafe { std::slice::from_raw_parts(start, rank) }.to_vec(),
    };
    let wrong = || PyValueError::new_err(format!("{what} has a negative extent"));
    let shape = extents(tensor.shape).into_iter().map(u64::try_from);
    let shape = shape.collect::<Result<Vec<_>, _>>().map_err(|_| wrong())?;
    if !tensor.strides.is_null() && !shape.contains(&0) {
        let mut dense = 1;
        for (extent, stride) in shape.iter().zip(extents(tensor.strides)).rev() {
            if *extent != 1 && u64::try_from(stride) != Ok(dense) {
                return Err(PyValueError::new_err(format!(
                    "{what} is not contiguous: copy it, with torch by `.contiguous()`"
                )));
            }
            dense = dense.saturating_mul(*extent);
        }
    }
    Ok(Some(OnDevice {
        element: element(what, tensor)?,
        shape,
        address: (tensor.data.addr() as u64).saturating_add(tensor.offset),
        _owned: owned,
    }))
}

/// The owner of an exported GPU array.
struct Export {
    tensor: Unversioned,
    shape: Vec<i64>,
    _array: Arc<DeviceArray>,
}

/// A DLPack capsule that keeps an array in GPU memory alive.
///
/// # Errors
/// An exception of the interpreter.
pub(crate) fn export<'py>(
    py: Python<'py>,
    array: &Arc<DeviceArray>,
    device: (i32, i32),
) -> PyResult<Bound<'py, PyCapsule>> {
    let (code, bits) = code(array.element());
    let shape = array.shape().iter().map(|n| n.cast_signed());
    let address = array.lend() as usize;
    let mut export = Box::new(Export {
        tensor: Unversioned {
            tensor: Exported {
                data: std::ptr::without_provenance_mut(address),
                device: [device.0, device.1],
                rank: array.shape().len() as i32,
                code,
                bits,
                lanes: 1,
                shape: std::ptr::null(),
                strides: std::ptr::null(),
                offset: 0,
            },
            context: std::ptr::null_mut(),
            deleter: Some(delete),
        },
        shape: shape.collect(),
        _array: Arc::clone(array),
    });
    export.tensor.tensor.shape = export.shape.as_ptr();
    let raw = Box::into_raw(export);
    // SAFETY: the export is alive until its deleter is called, which gets it by the context.
    unsafe {
        (*raw).tensor.context = raw.cast();
        let tensor: *mut Unversioned = &raw mut (*raw).tensor;
        let capsule = pyo3::ffi::PyCapsule_New(tensor.cast(), UNVERSIONED.as_ptr(), Some(delete_capsule));
        if capsule.is_null() {
            drop(Box::from_raw(raw));
            return Err(PyErr::fetch(py));
        }
        Ok(Bound::from_owned_ptr(py, capsule).cast_into_unchecked())
    }
}

/// The deleter of exported arrays.
unsafe extern "C" fn delete(tensor: *mut Unversioned) {
    // SAFETY: a consumer calls the deleter once, with the tensor of an export.
    unsafe { drop(Box::from_raw((*tensor).context.cast::<Export>())) };
}

/// Deletes the array of an unconsumed capsule.
unsafe extern "C" fn delete_capsule(capsule: *mut pyo3::ffi::PyObject) {
    // SAFETY: the object is a capsule of `export`, and has its initial name until a consumer takes ownership.
    unsafe {
        if pyo3::ffi::PyCapsule_IsValid(capsule, UNVERSIONED.as_ptr()) == 1 {
            let tensor = pyo3::ffi::PyCapsule_GetPointer(capsule, UNVERSIONED.as_ptr());
            delete(tensor.cast());
        }
    }
}

/// The rank of a tensor.
fn rank(what: &str, tensor: &Exported) -> PyResult<usize> {
    let rank = usize::try_from(tensor.rank).ok();
    rank.filter(|rank| *rank <= MAX_DIMENSIONS)
        .ok_or_else(|| PyValueError::new_err(format!("{what} has {} dimensions", tensor.rank)))
}

/// The capsule of an object, whose elements are ready for later work in a stream. Older libraries do not support versions.
fn exported<'py>(
    py: Python<'py>,
    value: &Bound<'py, PyAny>,
    stream: Option<u64>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let method = value.getattr(intern!(py, "__dlpack__"))?;
    let options = PyDict::new(py);
    if let Some(stream) = stream {
        options.set_item("stream", stream)?;
    }
    let versioned = options.copy()?;
    versioned.set_item("max_version", (VERSION, 0))?;
    let capsule = match method.call((), Some(&versioned)) {
        Err(error) if error.is_instance_of::<PyTypeError>(py) => method.call((), Some(&options))?,
        other => other?,
    };
    let wrong = |_| PyTypeError::new_err("`__dlpack__` returned no capsule");
    capsule.cast_into::<PyCapsule>().map_err(wrong)
}

/// Takes ownership of the tensor of a capsule, and renames the capsule, as the protocol requires.
fn taken(what: &str, capsule: &Bound<'_, PyCapsule>) -> PyResult<Owned> {
    let pointer = capsule.as_ptr();
    let has_name = |name: &CStr| {
        // SAFETY: the object is a capsule.
        unsafe { pyo3::ffi::PyCapsule_IsValid(pointer, name.as_ptr()) == 1 }
    };
    let take = |name: &CStr, used: &'static CStr| {
        // SAFETY: the capsule has this name, and `used` lives as long as the program.
        unsafe {
            let tensor = pyo3::ffi::PyCapsule_GetPointer(pointer, name.as_ptr());
            pyo3::ffi::PyCapsule_SetName(pointer, used.as_ptr());
            NonNull::new(tensor)
        }
    };
    let wrong = || PyValueError::new_err(format!("{what} has a DLPack capsule that is not valid"));
    if has_name(VERSIONED) {
        let tensor = take(VERSIONED, c"used_dltensor_versioned").ok_or_else(wrong)?;
        let tensor: NonNull<Versioned> = tensor.cast();
        let owned = Owned::Versioned(tensor);
        // SAFETY: the version, context and deleter are the same in all versions.
        let [major, _] = unsafe { tensor.as_ref().version };
        return match major {
            VERSION => Ok(owned),
            other => Err(PyValueError::new_err(format!(
                "{what} has version {other} of DLPack, which is not supported"
            ))),
        };
    }
    if has_name(UNVERSIONED) {
        let tensor = take(UNVERSIONED, c"used_dltensor").ok_or_else(wrong)?;
        return Ok(Owned::Unversioned(tensor.cast()));
    }
    Err(wrong())
}

fn on_host(what: &str, kind: i32, number: i32) -> PyResult<()> {
    if HOST.contains(&kind) {
        return Ok(());
    }
    let name = match kind {
        2 => "CUDA",
        7 => "Vulkan",
        8 => "Metal",
        10 => "ROCm",
        _ => "DLPack",
    };
    Err(PyTypeError::new_err(format!(
        "{what} is in memory of {name} device {kind}:{number}: copy it to the CPU, with torch by `.cpu()`"
    )))
}

/// Element types by their code and bits.
const ELEMENTS: [(ElementType, u8, u8); 13] = [
    (ElementType::I8, 0, 8),
    (ElementType::I16, 0, 16),
    (ElementType::I32, 0, 32),
    (ElementType::I64, 0, 64),
    (ElementType::U8, 1, 8),
    (ElementType::U16, 1, 16),
    (ElementType::U32, 1, 32),
    (ElementType::U64, 1, 64),
    (ElementType::F16, 2, 16),
    (ElementType::F32, 2, 32),
    (ElementType::F64, 2, 64),
    (ElementType::BF16, 4, 16),
    (ElementType::Bool, 6, 8),
];

/// The code and bits of an element type.
fn code(element: ElementType) -> (u8, u8) {
    let row = ELEMENTS.iter().find(|(known, ..)| *known == element);
    row.map_or((0, 8), |(_, code, bits)| (*code, *bits))
}

/// The element type of a tensor.
fn element(what: &str, tensor: Exported) -> PyResult<ElementType> {
    let mut known = ELEMENTS.iter();
    let row = known.find(|(_, code, bits)| (*code, *bits, 1) == (tensor.code, tensor.bits, tensor.lanes));
    row.map(|(element, ..)| *element).ok_or_else(|| {
        PyTypeError::new_err(format!(
            "{what} has an unsupported element type: DLPack type code {} with {} bits",
            tensor.code, tensor.bits
        ))
    })
}
