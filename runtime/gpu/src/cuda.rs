// SPDX-License-Identifier: Apache-2.0
//! A CUDA device, through the driver API alone: the driver compiles PTX, and launches are in call order in one stream.

use crate::DeviceError;
use cudarc::driver::sys::{self, CUdevice_attribute};
use cudarc::driver::{DriverError, result};
use skript_runtime::device::{Device, DeviceChoice, Launch};
use std::ffi::{CString, c_void};

/// Minimum compute capability for kernels.
const MIN_CAPABILITY: (i32, i32) = (8, 0);

/// A device with the kernels of a model.
pub struct Cuda {
    device: sys::CUdevice,
    context: sys::CUcontext,
    stream: sys::CUstream,
    module: sys::CUmodule,
    functions: Vec<sys::CUfunction>,
    memory: Vec<sys::CUdeviceptr>,
    /// Graphs of launches; `None` where they were discarded.
    graphs: Vec<Option<sys::CUgraphExec>>,
    number: usize,
    name: String,
}

// SAFETY: handles of the driver may be used by any thread, one at a time, which exclusive borrows guarantee.
unsafe impl Send for Cuda {}

fn failed(what: &'static str) -> impl Fn(DriverError) -> DeviceError {
    move |error| {
        let name = error.error_name().ok().map(|n| n.to_string_lossy());
        let text = error.error_string().ok().map(|t| t.to_string_lossy());
        DeviceError::Driver {
            what,
            error: match (name, text) {
                (Some(name), Some(text)) => format!("{name}, {text}"),
                _ => format!("{:?}", error.0),
            },
        }
    }
}

/// A device without a context.
struct FoundDevice {
    device: sys::CUdevice,
    name: String,
}

/// Finds device `number`.
fn find(number: usize) -> Result<FoundDevice, DeviceError> {
    let missing = |reason: String| DeviceError::Missing { api: "CUDA", reason };
    // SAFETY: the driver of the system is a library that can be loaded.
    if !unsafe { sys::is_culib_present() } {
        return Err(missing("libcuda.so, NVIDIA's driver, is not on this system".to_owned()));
    }
    result::init().map_err(|e| missing(failed("starting the driver")(e).to_string()))?;
    let count = result::device::get_count().map_err(failed("listing devices"))?;
    let ordinal = i32::try_from(number).ok().filter(|n| *n < count);
    let ordinal = ordinal.ok_or(DeviceError::Number {
        api: "CUDA",
        wanted: number,
        found: count.unsigned_abs() as usize,
    })?;
    let device = result::device::get(ordinal).map_err(failed("opening the device"))?;
    let name = result::device::get_name(device).unwrap_or_else(|_| "?".to_owned());
    let capability = |attribute| {
        // SAFETY: the device is one of the driver's.
        unsafe { result::device::get_attribute(device, attribute) }
            .map_err(failed("reading the compute capability"))
    };
    let major = capability(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = capability(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    if (major, minor) >= MIN_CAPABILITY {
        Ok(FoundDevice { device, name })
    } else {
        Err(DeviceError::Features {
            device: format!("{name} (compute capability {major}.{minor})"),
            lacks: "compute capability 8.0",
        })
    }
}

/// Returns the name of device `number` if it exists and can run kernels.
///
/// # Errors
/// [`DeviceError`] with the reason otherwise.
pub fn probe(number: usize) -> Result<String, DeviceError> {
    Ok(find(number)?.name)
}

impl Cuda {
    /// Opens device `number` for the kernels of a PTX text.
    ///
    /// # Errors
    /// [`DeviceError`] if there is no driver or no such device, if it lacks features, or if the driver rejects the kernels.
    pub fn open(number: usize, code: &[u8], kernels: &[String]) -> Result<Cuda, DeviceError> {
        let FoundDevice { device, name } = find(number)?;
        // SAFETY: the device is one of the driver's; `Drop` releases its context.
        let context = unsafe { result::primary_ctx::retain(device) };
        let mut cuda = Cuda {
            device,
            context: context.map_err(failed("opening the device"))?,
            stream: std::ptr::null_mut(),
            module: std::ptr::null_mut(),
            functions: Vec::new(),
            memory: Vec::new(),
            graphs: Vec::new(),
            number,
            name,
        };
        cuda.select()?;
        let kind = result::stream::StreamKind::NonBlocking;
        cuda.stream = result::stream::create(kind).map_err(failed("making a stream"))?;
        if kernels.is_empty() {
            return Ok(cuda);
        }
        let wrong = |_| DeviceError::Driver {
            what: "compiling the kernels",
            error: "their text has a zero".to_owned(),
        };
        let text = CString::new(code).map_err(wrong)?;
        // SAFETY: the text ends with a zero.
        let module = unsafe { result::module::load_data(text.as_ptr().cast()) };
        cuda.module = module.map_err(failed("compiling the kernels"))?;
        for kernel in kernels {
            let name = CString::new(kernel.as_str()).map_err(wrong)?;
            // SAFETY: the module is loaded.
            let function = unsafe { result::module::get_function(cuda.module, name) };
            cuda.functions.push(function.map_err(failed("finding a kernel"))?);
        }
        Ok(cuda)
    }

    /// The name of the device.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Makes the context of the device current on this thread.
    fn select(&self) -> Result<(), DeviceError> {
        // SAFETY: the context is retained.
        unsafe { result::ctx::set_current(self.context) }.map_err(failed("selecting the device"))
    }

    fn wait(&self) -> Result<(), DeviceError> {
        // SAFETY: the stream is this device's.
        unsafe { result::stream::synchronize(self.stream) }.map_err(failed("waiting for the device"))
    }

    fn memory(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        self.select()?;
        let bytes = bytes.max(64) as usize;
        // SAFETY: `Drop` frees the allocation.
        let address = unsafe { result::malloc_sync(bytes) };
        let address = address.map_err(|error| match error.0 {
            sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                DeviceError::Memory { device: self.name.clone(), bytes }
            }
            _ => failed("allocating memory of the device")(error),
        })?;
        self.memory.push(address);
        Ok(address)
    }

    fn upload(&mut self, address: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.select()?;
        // SAFETY: the allocation has at least this number of bytes; the source outlives the copy.
        unsafe { result::memcpy_htod_async(address, bytes, self.stream) }
            .map_err(failed("writing memory of the device"))?;
        self.wait()
    }

    fn download(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), DeviceError> {
        self.select()?;
        // SAFETY: as in `upload`.
        unsafe { result::memcpy_dtoh_async(bytes, address, self.stream) }
            .map_err(failed("reading memory of the device"))?;
        self.wait()
    }

    fn start(&mut self, launch: &Launch) -> Result<(), DeviceError> {
        let function = self.functions.get(launch.kernel);
        let function = function.ok_or(DeviceError::Driver {
            what: "launching a kernel",
            error: "there is no such kernel".to_owned(),
        })?;
        self.select()?;
        // The driver reads only the bytes of a word that the parameter has.
        let words = launch.words.iter().map(std::ptr::from_ref);
        let mut words: Vec<*mut c_void> = words.map(|word| word.cast_mut().cast()).collect();
        let (grid, block) = ((launch.blocks, 1, 1), (launch.threads, 1, 1));
        // SAFETY: the words are the kernel's parameters, and the driver copies them.
        unsafe { result::launch_kernel(*function, grid, block, 0, self.stream, &mut words) }
            .map_err(failed("launching a kernel"))
    }

    fn duplicate(&mut self, from: u64, to: u64, bytes: u64) -> Result<(), DeviceError> {
        self.select()?;
        // SAFETY: both arrays have at least this number of bytes.
        unsafe { result::memcpy_dtod_async(to, from, bytes as usize, self.stream) }
            .map_err(failed("copying memory of the device"))
    }

    /// Records a graph of launches that run one after the other.
    fn graph(&mut self, launches: &[Launch]) -> Result<usize, DeviceError> {
        self.select()?;
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream is this device's.
        unsafe { result::stream::begin_capture(self.stream, mode) }.map_err(failed("recording launches"))?;
        let started = launches.iter().try_for_each(|launch| self.start(launch));
        // SAFETY: as above; the capture must also be ended after a failure.
        let graph = unsafe { result::stream::end_capture(self.stream) };
        started?;
        let graph = graph.map_err(failed("recording launches"))?;
        // SAFETY: the graph is complete, and the executable graph does not depend on it.
        let executable = unsafe {
            let executable = result::graph::instantiate(graph, sys::CUgraphInstantiate_flags(0));
            let _ = result::graph::destroy(graph);
            executable
        };
        self.graphs.push(Some(executable.map_err(failed("making a graph of launches"))?));
        Ok(self.graphs.len() - 1)
    }

    fn play(&mut self, number: usize) -> Result<(), DeviceError> {
        self.select()?;
        let recorded = self.graphs.get(number).copied().flatten();
        let graph = recorded.ok_or(DeviceError::Driver {
            what: "launching kernels",
            error: "there is no such graph".to_owned(),
        })?;
        // SAFETY: graph and stream are this device's.
        unsafe { result::graph::launch(graph, self.stream) }.map_err(failed("launching kernels"))
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        if self.select().is_err() {
            return;
        }
        // SAFETY: the device waits for its work; every handle belongs to this device, and is not used afterwards. A failure means
        // that the resource no longer exists.
        unsafe {
            if !self.stream.is_null() {
                let _ = result::stream::synchronize(self.stream);
            }
            for graph in self.graphs.drain(..).flatten() {
                let _ = result::graph::exec_destroy(graph);
            }
            for address in self.memory.drain(..) {
                let _ = result::free_sync(address);
            }
            if !self.module.is_null() {
                let _ = result::module::unload(self.module);
            }
            if !self.stream.is_null() {
                let _ = result::stream::destroy(self.stream);
            }
            let _ = result::primary_ctx::release(self.device);
        }
    }
}

impl Device for Cuda {
    fn choice(&self) -> DeviceChoice {
        DeviceChoice::Cuda(self.number)
    }

    fn allocate(&mut self, bytes: u64) -> Result<u64, String> {
        self.memory(bytes).map_err(|e| e.to_string())
    }

    fn wait_for_others(&mut self) -> Result<(), String> {
        let selected = self.select();
        let waited = selected.and_then(|()| {
            let waited = result::ctx::synchronize();
            waited.map_err(failed("waiting for the device"))
        });
        waited.map_err(|e| e.to_string())
    }

    fn release(&mut self, address: u64) {
        let position = self.memory.iter().position(|known| *known == address);
        if let (Some(at), Ok(())) = (position, self.select()) {
            self.memory.swap_remove(at);
            // SAFETY: it was allocated here; the driver waits for launches that use it.
            let _ = unsafe { result::free_sync(address) };
        }
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), String> {
        self.upload(address, bytes).map_err(|e| e.to_string())
    }

    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), String> {
        self.download(address, bytes).map_err(|e| e.to_string())
    }

    fn copy(&mut self, from: u64, to: u64, bytes: u64) -> Result<(), String> {
        self.duplicate(from, to, bytes).map_err(|e| e.to_string())
    }

    fn launch(&mut self, launch: &Launch) -> Result<(), String> {
        self.start(launch).map_err(|e| e.to_string())
    }

    fn finish(&mut self) -> Result<(), String> {
        self.wait().map_err(|e| e.to_string())
    }

    fn stream(&self) -> Option<u64> {
        u64::try_from(self.stream.addr()).ok()
    }

    fn record(&mut self, launches: &[Launch]) -> Result<Option<usize>, String> {
        self.graph(launches).map(Some).map_err(|e| e.to_string())
    }

    fn replay(&mut self, recorded: usize) -> Result<(), String> {
        self.play(recorded).map_err(|e| e.to_string())
    }

    fn discard(&mut self, recorded: usize) {
        let slot = self.graphs.get_mut(recorded);
        if let (Some(graph), Ok(())) = (slot.and_then(Option::take), self.select()) {
            // SAFETY: it was created here, and is not used afterwards.
            let _ = unsafe { result::graph::exec_destroy(graph) };
        }
    }
}
