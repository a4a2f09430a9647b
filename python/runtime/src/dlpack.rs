// SPDX-License-Identifier: Apache-2.0
//! Arrays of other libraries through DLPack, in all element types that models have.
//!
//! numpy's own `from_dlpack` has no bfloat16. A [`Shared`] takes over an exported tensor and shows it to numpy by
//! `__array_interface__`; the array keeps it alive, and it calls the tensor's deleter when it dies.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};
use skript_tensor::ElementType;

use crate::arrays;

/// Kinds of devices whose memory the CPU reads: the CPU, and memory of the host that CUDA and ROCm pinned.
const HOST: [i32; 3] = [1, 3, 11];
const UNVERSIONED: &CStr = c"dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";
/// The major version of the format that this is.
const VERSION: u32 = 1;
/// The maximum rank.
const MOST_DIMENSIONS: usize = 64;

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

/// A tensor that was taken over.
enum Owned {
    Unversioned(NonNull<Unversioned>),
    Versioned(NonNull<Versioned>),
}

// SAFETY: a deleter may be called in any thread that holds the GIL, which Python holds where it destroys objects.
unsafe impl Send for Owned {}
// SAFETY: as above; nothing here writes to a tensor.
unsafe impl Sync for Owned {}

/// A tensor of another library, as an object that numpy makes an array of.
#[pyclass(frozen, module = "skript")]
struct Shared {
    owned: Owned,
    element: ElementType,
}

impl Owned {
    fn tensor(&self) -> Exported {
        // SAFETY: both are initialized until their deleter is called, which `drop` does.
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
        let rank = usize::try_from(tensor.rank).unwrap_or(0);
        let extents = |start: *const i64| match rank {
            0 => Vec::new(),
            // SAFETY: the format has `rank` numbers there; `array` checked the rank.
            _ => unsafe { std::slice::from_raw_parts(start, rank) }.to_vec(),
        };
        let interface = PyDict::new(py);
        let shape = extents(tensor.shape);
        let is_empty = shape.contains(&0);
        interface.set_item("version", 3)?;
        interface.set_item("shape", PyTuple::new(py, shape)?)?;
        if !tensor.strides.is_null() && !is_empty {
            let size = i64::try_from(self.element.size()).unwrap_or(1);
            let strides = extents(tensor.strides);
            let strides = strides.iter().map(|stride| stride.wrapping_mul(size));
            interface.set_item("strides", PyTuple::new(py, strides.collect::<Vec<_>>())?)?;
        }
        let offset = usize::try_from(tensor.offset).unwrap_or(0);
        let start = tensor.data.wrapping_add(offset).addr();
        // numpy reads nothing of an empty array, but wants an address.
        let start = if is_empty { self.element.size() } else { start };
        interface.set_item("data", (start, true))?;
        let kind = match self.element {
            ElementType::Bool => "|b1".to_owned(),
            // Its type is that of a package: numpy views the bits.
            ElementType::BF16 => "<u2".to_owned(),
            element => {
                let name = arrays::type_name(element);
                let kind = name.get(..1).unwrap_or_default();
                format!("<{kind}{}", element.size())
            }
        };
        interface.set_item("typestr", kind)?;
        Ok(interface)
    }
}

/// The array of numpy that shares the elements of an object with `__dlpack__`; it cannot be written to. `what` names the
/// object.
///
/// # Errors
/// TypeError for memory of another device, and for elements that no model has; those of the object's library.
pub fn array<'py>(
    py: Python<'py>,
    what: &str,
    value: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    if value.hasattr(intern!(py, "__dlpack_device__"))? {
        let device = value.call_method0(intern!(py, "__dlpack_device__"))?;
        let (kind, number): (i32, i32) = device.extract()?;
        on_host(what, kind, number)?;
    }
    let owned = taken(what, &exported(py, value)?)?;
    let tensor = owned.tensor();
    on_host(what, tensor.device[0], tensor.device[1])?;
    if !usize::try_from(tensor.rank).is_ok_and(|rank| rank <= MOST_DIMENSIONS) {
        let text = format!("{what} has {} dimensions", tensor.rank);
        return Err(PyValueError::new_err(text));
    }
    let element = element(what, tensor)?;
    let shared = Bound::new(py, Shared { owned, element })?;
    let array = arrays::numpy(py)?.call_method1(intern!(py, "asarray"), (shared,))?;
    match element {
        ElementType::BF16 => {
            array.call_method1(intern!(py, "view"), (arrays::dtype(py, element)?,))
        }
        _ => Ok(array),
    }
}

/// The capsule of an object. Older libraries do not know the argument.
fn exported<'py>(py: Python<'py>, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyCapsule>> {
    let method = value.getattr(intern!(py, "__dlpack__"))?;
    let options = PyDict::new(py);
    options.set_item("max_version", (VERSION, 0))?;
    let capsule = match method.call((), Some(&options)) {
        Err(error) if error.is_instance_of::<PyTypeError>(py) => method.call0()?,
        other => other?,
    };
    let wrong = |_| PyTypeError::new_err("`__dlpack__` returned no capsule");
    capsule.cast_into::<PyCapsule>().map_err(wrong)
}

/// Takes over the tensor of a capsule, which is renamed then, as the protocol wants.
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
        "{what} is in memory of {name} device {kind}:{number}: copy it to the CPU, as `.cpu()` of torch does"
    )))
}

/// The element type of a tensor.
fn element(what: &str, tensor: Exported) -> PyResult<ElementType> {
    use ElementType::*;
    let found = match (tensor.code, tensor.bits, tensor.lanes) {
        (0, 8, 1) => Some(I8),
        (0, 16, 1) => Some(I16),
        (0, 32, 1) => Some(I32),
        (0, 64, 1) => Some(I64),
        (1, 8, 1) => Some(U8),
        (1, 16, 1) => Some(U16),
        (1, 32, 1) => Some(U32),
        (1, 64, 1) => Some(U64),
        (2, 16, 1) => Some(F16),
        (2, 32, 1) => Some(F32),
        (2, 64, 1) => Some(F64),
        (4, 16, 1) => Some(BF16),
        (6, 8, 1) => Some(Bool),
        _ => None,
    };
    found.ok_or_else(|| {
        PyTypeError::new_err(format!(
            "{what} has elements that no model has: DLPack's type {} of {} bits",
            tensor.code, tensor.bits
        ))
    })
}
