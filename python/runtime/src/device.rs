// SPDX-License-Identifier: Apache-2.0
//! Arrays in GPU memory, and the class `DeviceArray`.

use std::sync::Arc;

use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use skript_runtime::artifact::Port;
use skript_runtime::device::{Argument, DeviceArray, DeviceChoice};
use skript_tensor::{ElementType, Tensor};

use crate::dlpack::{self, OnDevice};
use crate::{arrays, errors};

/// An array that is passed to a call.
pub(crate) enum Passed {
    /// In host memory.
    Tensor(Tensor),
    /// A `DeviceArray`.
    Array(Arc<DeviceArray>),
    /// An array of another library.
    Foreign(OnDevice),
}

impl Passed {
    pub(crate) fn tensor(&self) -> Option<&Tensor> {
        match self {
            Passed::Tensor(tensor) => Some(tensor),
            Passed::Array(_) | Passed::Foreign(_) => None,
        }
    }

    pub(crate) fn argument(&self) -> Argument<'_> {
        match self {
            Passed::Tensor(tensor) => Argument::Tensor(tensor),
            Passed::Array(array) => Argument::Array(array),
            Passed::Foreign(array) => Argument::Foreign(array.array()),
        }
    }
}

/// The kind and the number of a device in DLPack.
fn place(device: DeviceChoice) -> (i32, i32) {
    let number = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
    match device {
        DeviceChoice::Cuda(n) => (dlpack::CUDA, number(n)),
        DeviceChoice::Vulkan(n) => (dlpack::VULKAN, number(n)),
        DeviceChoice::Cpu | DeviceChoice::Auto => (dlpack::CPU, 0),
    }
}

/// An argument of a call on a device with a stream.
///
/// # Errors
/// The errors of [`arrays::tensor_of`].
pub(crate) fn passed(
    py: Python<'_>,
    what: &str,
    value: &Bound<'_, PyAny>,
    port: &Port,
    (device, stream): (DeviceChoice, Option<u64>),
) -> PyResult<Passed> {
    if let Ok(array) = value.cast::<PyDeviceArray>() {
        let array = &array.get().array;
        fits(what, (array.element(), array.shape()), port)?;
        return Ok(Passed::Array(Arc::clone(array)));
    }
    let foreign = match stream {
        Some(stream) => dlpack::on_device(py, what, value, place(device), stream)?,
        None => None,
    };
    match foreign {
        Some(array) => {
            fits(what, (array.element, &array.shape), port)?;
            Ok(Passed::Foreign(array))
        }
        None => Ok(Passed::Tensor(arrays::tensor_of(py, what, value, port)?)),
    }
}

/// Checks the type and shape of an array on a device, which is not converted.
fn fits(what: &str, (element, shape): (ElementType, &[u64]), port: &Port) -> PyResult<()> {
    if element != port.element {
        return Err(pyo3::exceptions::PyTypeError::new_err(format!(
            "{what} has elements of {}, the model expects {}",
            arrays::type_name(element),
            arrays::type_name(port.element)
        )));
    }
    if !arrays::admits(port, shape) {
        return Err(arrays::unfit(what, shape, port));
    }
    Ok(())
}

/// The Python object of an array on a device.
pub(crate) fn object(py: Python<'_>, array: DeviceArray) -> PyResult<Bound<'_, PyAny>> {
    let array = Arc::new(array);
    Ok(Bound::new(py, PyDeviceArray { array })?.into_any())
}

/// An array in GPU memory: an output of a model on a GPU, or the result of `CompiledModel.upload`.
///
/// Other libraries share it by `__dlpack__` without a copy, such as torch with CUDA by `torch.from_dlpack(array)`. `numpy()` copies
/// it to CPU memory.
#[pyclass(frozen, module = "skript", name = "DeviceArray")]
pub(crate) struct PyDeviceArray {
    array: Arc<DeviceArray>,
}

#[pymethods]
impl PyDeviceArray {
    /// The extents.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.array.shape())
    }

    /// The type of the elements as a numpy dtype.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrays::dtype(py, self.array.element())
    }

    /// The device: 'cuda:0', 'vulkan:0'.
    #[getter]
    fn device(&self) -> String {
        self.array.device().to_string()
    }

    /// A copy as a numpy array.
    fn numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let tensor = py.detach(|| self.array.to_tensor());
        arrays::array(py, tensor.map_err(|e| errors::run(py, &e))?)
    }

    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy == Some(false) {
            return Err(PyValueError::new_err("an array on a GPU is copied"));
        }
        let array = self.numpy(py)?;
        match dtype {
            Some(dtype) => array.call_method1(intern!(py, "astype"), (dtype,)),
            None => Ok(array),
        }
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        place(self.array.device())
    }

    /// A DLPack capsule. The elements are complete for any stream.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = (stream, max_version);
        let device = place(self.array.device());
        if copy == Some(true) || dl_device.is_some_and(|wanted| wanted != device) {
            return Err(PyBufferError::new_err("the array is not copied: `numpy()` does that"));
        }
        dlpack::export(py, &self.array, device)
    }

    fn __repr__(&self) -> String {
        let (element, shape) = (self.array.element(), self.array.shape());
        let (element, shape) = (arrays::type_name(element), arrays::shape_text(shape));
        format!("<array of {element} {shape} on {}>", self.array.device())
    }
}
