// SPDX-License-Identifier: Apache-2.0
//! A CUDA device, by the driver alone: PTX is compiled by it, and launches are in the order of the calls in one stream.

use crate::DeviceError;
use cudarc::driver::sys::{self, CUdevice_attribute};
use cudarc::driver::{DriverError, result};
use skript_runtime::device::{Device, DeviceChoice, Launch};
use std::ffi::{CString, c_void};

/// The least compute capability that kernels need.
const LEAST: (i32, i32) = (8, 0);

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

/// A device of the driver, before anything is made on it.
struct Found {
    device: sys::CUdevice,
    name: String,
}

/// Finds device `number`.
fn find(number: usize) -> Result<Found, DeviceError> {
    let missing = |reason: String| DeviceError::Missing { api: "CUDA", reason };
    // SAFETY: the driver of the system is a library that can be loaded.
    if !unsafe { sys::is_culib_present() } {
        return Err(missing("libcuda.so, NVIDIA's driver, is not on this system".to_owned()));
    }
    result::init().map_err(|e| missing(failed("starting the driver")(e).to_string()))?;
    let found = result::device::get_count().map_err(failed("listing devices"))?;
    let ordinal = i32::try_from(number).ok().filter(|n| *n < found);
    let ordinal = ordinal.ok_or(DeviceError::Number {
        api: "CUDA",
        wanted: number,
        found: usize::try_from(found).unwrap_or(0),
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
    if (major, minor) >= LEAST {
        Ok(Found { device, name })
    } else {
        Err(DeviceError::Features {
            device: format!("{name} (compute capability {major}.{minor})"),
            lacks: "compute capability 8.0",
        })
    }
}

/// Whether device `number` is there and runs kernels; its name.
///
/// # Errors
/// [`DeviceError`]: why not.
pub fn probe(number: usize) -> Result<String, DeviceError> {
    Ok(find(number)?.name)
}

impl Cuda {
    /// Opens device `number` for the kernels of a text of PTX.
    ///
    /// # Errors
    /// [`DeviceError`] without a driver, such a device, or its features, or if the driver does not compile the kernels.
    pub fn open(number: usize, code: &[u8], kernels: &[String]) -> Result<Cuda, DeviceError> {
        let Found { device, name } = find(number)?;
        // SAFETY: the device is one of the driver's; `Drop` releases its context.
        let context = unsafe { result::primary_ctx::retain(device) };
        let mut made = Cuda {
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
        made.select()?;
        let kind = result::stream::StreamKind::NonBlocking;
        made.stream = result::stream::create(kind).map_err(failed("making a stream"))?;
        if kernels.is_empty() {
            return Ok(made);
        }
        let wrong = |_| DeviceError::Driver {
            what: "compiling the kernels",
            error: "their text has a zero".to_owned(),
        };
        let text = CString::new(code).map_err(wrong)?;
        // SAFETY: the text ends with a zero.
        let module = unsafe { result::module::load_data(text.as_ptr().cast()) };
        made.module = module.map_err(failed("compiling the kernels"))?;
        for kernel in kernels {
            let name = CString::new(kernel.as_str()).map_err(wrong)?;
            // SAFETY: the module is loaded.
            let function = unsafe { result::module::get_function(made.module, name) };
            made.functions.push(function.map_err(failed("finding a kernel"))?);
        }
        Ok(made)
    }

    /// The name of the device.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Makes the device's context that of this thread.
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
        let bytes = usize::try_from(bytes.max(64)).unwrap_or(usize::MAX);
        // SAFETY: `Drop` frees it.
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
        // SAFETY: the address is of an allocation of as many bytes; they outlive the copy.
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
        // The driver reads as many bytes of a word as the parameter has.
        let words = launch.words.iter().map(std::ptr::from_ref);
        let mut words: Vec<*mut c_void> = words.map(|word| word.cast_mut().cast()).collect();
        let (grid, block) = ((launch.blocks, 1, 1), (launch.threads, 1, 1));
        // SAFETY: the words are the kernel's parameters, and the driver copies them.
        unsafe { result::launch_kernel(*function, grid, block, 0, self.stream, &mut words) }
            .map_err(failed("launching a kernel"))
    }

    fn duplicate(&mut self, from: u64, to: u64, bytes: u64) -> Result<(), DeviceError> {
        self.select()?;
        let length = usize::try_from(bytes).unwrap_or(usize::MAX);
        // SAFETY: both arrays have as many bytes.
        unsafe { result::memcpy_dtod_async(to, from, length, self.stream) }
            .map_err(failed("copying memory of the device"))
    }

    /// A graph of launches, one after the other.
    fn graph(&mut self, launches: &[Launch]) -> Result<usize, DeviceError> {
        self.select()?;
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream is this device's.
        unsafe { result::stream::begin_capture(self.stream, mode) }.map_err(failed("recording launches"))?;
        let started = launches.iter().try_for_each(|launch| self.start(launch));
        // SAFETY: as above; a capture is ended after a failure, too.
        let graph = unsafe { result::stream::end_capture(self.stream) };
        started?;
        let graph = graph.map_err(failed("recording launches"))?;
        // SAFETY: the graph is complete; what is made of it does not need it.
        let made = unsafe {
            let made = result::graph::instantiate(graph, sys::CUgraphInstantiate_flags(0));
            let _ = result::graph::destroy(graph);
            made
        };
        self.graphs.push(Some(made.map_err(failed("making a graph of launches"))?));
        Ok(self.graphs.len() - 1)
    }

    fn play(&mut self, number: usize) -> Result<(), DeviceError> {
        self.select()?;
        let found = self.graphs.get(number).copied().flatten();
        let graph = found.ok_or(DeviceError::Driver {
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
        // SAFETY: the device waits for its work; every handle is of this device, and used no more. What fails is gone already.
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
        let found = self.memory.iter().position(|known| *known == address);
        if let (Some(at), Ok(())) = (found, self.select()) {
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
            // SAFETY: it was made here, and is used no more.
            let _ = unsafe { result::graph::exec_destroy(graph) };
        }
    }
}
