// SPDX-License-Identifier: Apache-2.0
//! Converts numpy arrays to tensors and tensors to arrays, without copies if type and layout allow it.

use std::sync::Arc;

use numpy::ndarray::ArrayView1;
use numpy::{PyArray1, PyUntypedArray, PyUntypedArrayMethods as _};
use pyo3::exceptions::{PyImportError, PyMemoryError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyTuple};
use skript_runtime::artifact::{LARGEST, Port, PortExtent};
use skript_tensor::{ElementType, Memory, Tensor};

use crate::dlpack;
use crate::errors;

/// The elements of a numpy array, which lives as long as this value.
#[derive(Debug)]
struct Elements {
    _array: Py<PyAny>,
    start: *const u8,
    length: usize,
}

// SAFETY: the array owns the elements, and reading them does not require the interpreter.
unsafe impl Send for Elements {}
// SAFETY: as above; this module does not write to the elements.
unsafe impl Sync for Elements {}

impl Memory for Elements {
    fn bytes(&self) -> &[u8] {
        if self.length == 0 {
            return &[];
        }
        // SAFETY: a contiguous array of `length` bytes begins at `start`, and `_array` keeps it alive.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }
}

/// The owner of the elements of an output.
#[pyclass(frozen, module = "skript")]
struct Owner {
    _tensor: Tensor,
}

/// All element types.
const ELEMENTS: [ElementType; 13] = [
    ElementType::F16,
    ElementType::BF16,
    ElementType::F32,
    ElementType::F64,
    ElementType::I8,
    ElementType::I16,
    ElementType::I32,
    ElementType::I64,
    ElementType::U8,
    ElementType::U16,
    ElementType::U32,
    ElementType::U64,
    ElementType::Bool,
];

/// The numpy name of an element type.
pub fn type_name(element: ElementType) -> &'static str {
    match element {
        ElementType::F16 => "float16",
        ElementType::BF16 => "bfloat16",
        ElementType::F32 => "float32",
        ElementType::F64 => "float64",
        ElementType::I8 => "int8",
        ElementType::I16 => "int16",
        ElementType::I32 => "int32",
        ElementType::I64 => "int64",
        ElementType::U8 => "uint8",
        ElementType::U16 => "uint16",
        ElementType::U32 => "uint32",
        ElementType::U64 => "uint64",
        ElementType::Bool => "bool",
    }
}

/// The numpy dtype of an element type; the dtype of bf16 is in the package ml_dtypes.
///
/// # Errors
/// ImportError for bf16 if ml_dtypes is not installed.
pub fn dtype(py: Python<'_>, element: ElementType) -> PyResult<Bound<'_, PyAny>> {
    static TYPES: [PyOnceLock<Py<PyAny>>; 13] = [const { PyOnceLock::new() }; 13];
    let position = ELEMENTS.iter().position(|e| *e == element);
    match position.and_then(|at| TYPES.get(at)) {
        Some(known) => {
            let known = known.get_or_try_init(py, || Ok::<_, PyErr>(new_type(py, element)?.unbind()))?;
            Ok(known.bind(py).clone())
        }
        None => new_type(py, element),
    }
}

fn new_type(py: Python<'_>, element: ElementType) -> PyResult<Bound<'_, PyAny>> {
    let name = match element {
        ElementType::BF16 => {
            let package = py
                .import(intern!(py, "ml_dtypes"))
                .map_err(|_| PyImportError::new_err("arrays of bfloat16 need the package ml_dtypes"))?;
            package.getattr(intern!(py, "bfloat16"))?
        }
        _ => type_name(element).into_pyobject(py)?.into_any(),
    };
    numpy(py)?.call_method1(intern!(py, "dtype"), (name,))
}

pub fn numpy(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static NUMPY: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let known = NUMPY.get_or_try_init(py, || Ok::<_, PyErr>(py.import("numpy")?.unbind()))?;
    Ok(known.bind(py))
}

/// The tensor of an argument: a numpy array, an object with `__dlpack__` or `__array__`, or nested lists of numbers. Elements
/// are copied if they are not contiguous, or have another type of the same kind, whose values must fit. `what` is the name of the
/// argument in messages.
///
/// # Errors
/// TypeError for another element type, ValueError for another shape.
pub fn tensor_of(py: Python<'_>, what: &str, value: &Bound<'_, PyAny>, port: &Port) -> PyResult<Tensor> {
    let array = native(array_of(py, what, value, port)?)?;
    let declared = port.declared();
    let compatible = if declared.is_int() { int_type(&array)? } else { wider_real(&array, declared)? };
    let array = match compatible {
        Some(_) => array,
        None => typed(py, what, array, &dtype(py, declared)?)?,
    };
    let shape = array.cast::<PyUntypedArray>()?.shape().to_vec();
    let shape: Vec<u64> = shape.iter().map(|n| *n as u64).collect();
    if !admits(port, &shape) {
        return Err(unfit(what, &shape, port));
    }
    let tensor = tensor_at(py, what, array, compatible.unwrap_or(declared), &shape)?;
    let fitted = tensor.into_input(what, declared, port.element);
    fitted.map_err(|wrong| errors::input(py, &wrong.to_string()))
}

/// The type of the elements, if they are ints.
fn int_type(array: &Bound<'_, PyAny>) -> PyResult<Option<ElementType>> {
    let py = array.py();
    let actual = array.getattr(intern!(py, "dtype"))?;
    for element in ELEMENTS {
        if element.is_int() && actual.eq(dtype(py, element)?)? {
            return Ok(Some(element));
        }
    }
    Ok(None)
}

/// The type of the elements, if it is a real type with values that the declared real type cannot represent.
fn wider_real(array: &Bound<'_, PyAny>, declared: ElementType) -> PyResult<Option<ElementType>> {
    let py = array.py();
    let actual = array.getattr(intern!(py, "dtype"))?;
    if declared.real().is_none() || actual.eq(dtype(py, declared)?)? {
        return Ok(None);
    }
    let name = actual.str()?;
    let mut reals = ELEMENTS.into_iter().filter(|e| e.real().is_some());
    let element = reals.find(|e| name == type_name(*e));
    Ok(element.filter(|e| e.size() >= declared.size()))
}

/// The tensor of any array, with the type and shape of the array.
///
/// # Errors
/// TypeError for elements that are not numbers.
pub fn any_tensor(py: Python<'_>, what: &str, value: &Bound<'_, PyAny>) -> PyResult<Tensor> {
    let array = if value.is_instance_of::<PyUntypedArray>() {
        value.clone()
    } else if value.hasattr(intern!(py, "__dlpack__"))? {
        dlpack::array(py, what, value)?
    } else {
        numpy(py)?.call_method1(intern!(py, "asarray"), (value,))?
    };
    let array = native(array)?;
    let name = array.getattr(intern!(py, "dtype"))?.str()?;
    let element = ELEMENTS.into_iter().find(|e| name == type_name(*e));
    let element = element.ok_or_else(|| PyTypeError::new_err(format!("{what} has elements of {name}")))?;
    let shape = array.cast::<PyUntypedArray>()?.shape().to_vec();
    let shape: Vec<u64> = shape.iter().map(|n| *n as u64).collect();
    tensor_at(py, what, array, element, &shape)
}

/// The tensor of an array with this type and shape.
fn tensor_at(
    py: Python<'_>,
    what: &str,
    array: Bound<'_, PyAny>,
    element: ElementType,
    shape: &[u64],
) -> PyResult<Tensor> {
    let aligned = |array: &Bound<'_, PyUntypedArray>| {
        // SAFETY: the pointer is a numpy array.
        let start = unsafe { (*array.as_array_ptr()).fields.data };
        start.addr().is_multiple_of(element.size())
    };
    let untyped = array.cast::<PyUntypedArray>()?;
    let array = if untyped.is_c_contiguous() && aligned(untyped) {
        array
    } else {
        let copy = numpy(py)?.call_method1(intern!(py, "array"), (array,))?;
        numpy(py)?.call_method1(intern!(py, "ascontiguousarray"), (copy,))?
    };
    let untyped = array.cast::<PyUntypedArray>()?;
    let length = untyped.len().saturating_mul(element.size());
    // SAFETY: the pointer is a numpy array.
    let start = unsafe { (*untyped.as_array_ptr()).fields.data }.cast_const().cast::<u8>();
    let elements = Elements { _array: array.clone().unbind(), start, length };
    let wrong = |e: skript_tensor::TensorError| PyValueError::new_err(format!("{what}: {e}"));
    if element == ElementType::Bool && elements.bytes().iter().any(|b| *b > 1) {
        return Tensor::from_bytes(element, shape, elements.bytes()).map_err(wrong);
    }
    Tensor::shared(element, shape, Arc::new(elements)).map_err(wrong)
}

/// Converts an argument to a numpy array.
fn array_of<'py>(
    py: Python<'py>,
    what: &str,
    value: &Bound<'py, PyAny>,
    port: &Port,
) -> PyResult<Bound<'py, PyAny>> {
    if value.is_instance_of::<PyUntypedArray>() {
        return Ok(value.clone());
    }
    let numpy = numpy(py)?;
    let is_number = value.is_instance_of::<PyFloat>()
        || value.is_instance_of::<PyInt>()
        || value.is_instance_of::<PyBool>();
    if is_number || value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        if port.declared().is_int() {
            // The array gets the type of the values, which is checked later; an empty list has no type.
            let array = numpy.call_method1(intern!(py, "asarray"), (value,))?;
            if array.getattr(intern!(py, "size"))?.extract::<usize>()? > 0 {
                return Ok(array);
            }
        }
        // Reals are rounded to the declared type later, where values that exceed it are errors.
        let element = match port.declared().real() {
            Some(_) => ElementType::F64,
            None => port.declared(),
        };
        let options = pyo3::types::PyDict::new(py);
        options.set_item("dtype", dtype(py, element)?)?;
        return numpy.call_method("asarray", (value,), Some(&options));
    }
    if value.hasattr(intern!(py, "__dlpack__"))? {
        return dlpack::array(py, what, value);
    }
    if value.hasattr(intern!(py, "__array__"))? {
        return numpy.call_method1(intern!(py, "asarray"), (value,));
    }
    Err(PyTypeError::new_err(format!(
        "{what} must be an array of {} with shape {}, not {}",
        type_name(port.declared()),
        wanted_shape(port),
        value.get_type().name()?
    )))
}

/// The array in native byte order; copied if its byte order differs.
fn native(array: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    let py = array.py();
    let dtype = array.getattr(intern!(py, "dtype"))?;
    if dtype.getattr(intern!(py, "isnative"))?.is_truthy()? {
        return Ok(array);
    }
    let native = dtype.call_method1(intern!(py, "newbyteorder"), ("=",))?;
    array.call_method1(intern!(py, "astype"), (native,))
}

/// The array with this dtype; widened if its dtype differs.
fn typed<'py>(
    py: Python<'py>,
    what: &str,
    array: Bound<'py, PyAny>,
    wanted: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let actual = array.getattr(intern!(py, "dtype"))?;
    if actual.is(wanted) || actual.eq(wanted)? {
        return Ok(array);
    }
    let kind = |dtype: &Bound<'py, PyAny>| -> PyResult<char> {
        Ok(match dtype.getattr(intern!(py, "kind"))?.extract()? {
            'u' => 'i',
            // bfloat16
            'V' => 'f',
            kind => kind,
        })
    };
    let exact = kind(&actual)? == kind(wanted)?
        && numpy(py)?.call_method1(intern!(py, "can_cast"), (&actual, wanted, "safe"))?.is_truthy()?;
    if exact {
        array.call_method1(intern!(py, "astype"), (wanted,))
    } else {
        Err(PyTypeError::new_err(format!(
            "{what} has elements of {actual}, the model expects {wanted}: convert them, as `.astype({:?})` does",
            wanted.str()?.to_string()
        )))
    }
}

pub(crate) fn admits(port: &Port, shape: &[u64]) -> bool {
    let fits = |(n, extent): (&u64, &PortExtent)| match extent {
        PortExtent::Fixed(m) => n == m,
        PortExtent::Dynamic(bound) => n <= bound,
    };
    shape.len() == port.shape.len() && shape.iter().zip(&port.shape).all(fits)
}

/// The exception for an array with a wrong shape.
pub(crate) fn unfit(what: &str, shape: &[u64], port: &Port) -> PyErr {
    let exceeds =
        |(n, extent): (&u64, &PortExtent)| matches!(extent, PortExtent::Dynamic(bound) if n > bound);
    let same_rank = shape.len() == port.shape.len();
    let remedy = if same_rank && shape.iter().zip(&port.shape).any(exceeds) {
        "; `bounds` of skript.load sets the upper bounds of ONNX models, a document declares them, as in `real[n|8]`"
    } else {
        ""
    };
    PyValueError::new_err(format!(
        "{what} has shape {}, the model expects {}{remedy}",
        shape_text(shape),
        wanted_shape(port)
    ))
}

/// A shape as a Python tuple, such as `(2, 3)`.
pub fn shape_text(shape: &[u64]) -> String {
    let extents: Vec<String> = shape.iter().map(u64::to_string).collect();
    listed(&extents)
}

/// The shape of a port, such as `(2, ≤8)`.
pub fn wanted_shape(port: &Port) -> String {
    let extents: Vec<String> = port.shape.iter().map(extent_text).collect();
    listed(&extents)
}

/// An extent, such as `2` or `≤8`; `?` without an upper bound.
pub fn extent_text(extent: &PortExtent) -> String {
    match extent {
        PortExtent::Fixed(n) => n.to_string(),
        PortExtent::Dynamic(LARGEST) => "?".to_owned(),
        PortExtent::Dynamic(bound) => format!("≤{bound}"),
    }
}

/// Extents as a Python tuple.
pub fn listed(extents: &[String]) -> String {
    match extents {
        [one] => format!("({one},)"),
        all => format!("({})", all.join(", ")),
    }
}

/// The array of a tensor, which owns the elements.
///
/// # Errors
/// MemoryError, or ImportError as for [`dtype`].
pub fn array(py: Python<'_>, mut tensor: Tensor) -> PyResult<Bound<'_, PyAny>> {
    let element = tensor.element();
    let shape = PyTuple::new(py, tensor.shape())?;
    let bytes = tensor.bytes_mut().map_err(|e| PyMemoryError::new_err(e.to_string()))?;
    let (start, length) = (bytes.as_mut_ptr().cast_const(), bytes.len());
    let owner = Owner { _tensor: tensor };
    viewed(py, (start, length), owner, true, (element, &shape))
}

/// The read-only array of a tensor that is in use elsewhere.
///
/// # Errors
/// ImportError as for [`dtype`].
pub fn read_only(py: Python<'_>, tensor: Tensor) -> PyResult<Bound<'_, PyAny>> {
    let element = tensor.element();
    let shape = PyTuple::new(py, tensor.shape())?;
    let (start, length) = (tensor.bytes().as_ptr(), tensor.bytes().len());
    let owner = Owner { _tensor: tensor };
    viewed(py, (start, length), owner, false, (element, &shape))
}

/// An array that refers to the bytes of an owner.
fn viewed<'py>(
    py: Python<'py>,
    (start, length): (*const u8, usize),
    owner: Owner,
    writeable: bool,
    (element, shape): (ElementType, &Bound<'py, PyTuple>),
) -> PyResult<Bound<'py, PyAny>> {
    let owner = Bound::new(py, owner)?.into_any();
    // SAFETY: the bytes of the owner's tensor do not move when the tensor moves.
    let bytes = unsafe {
        let view = ArrayView1::from_shape_ptr(length, start);
        PyArray1::<u8>::borrow_from_array(&view, owner)
    };
    if !writeable {
        let flags = bytes.getattr(intern!(py, "flags"))?;
        flags.setattr(intern!(py, "writeable"), false)?;
    }
    let typed = bytes.call_method1(intern!(py, "view"), (dtype(py, element)?,))?;
    typed.call_method1(intern!(py, "reshape"), (shape,))
}
