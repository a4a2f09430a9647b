// SPDX-License-Identifier: Apache-2.0
//! Calls of models whose kernels run on a device: a GPU, by [`Device`].
//!
//! The code of the host launches kernels by calls of [`skript_launch`]. It never accesses memory of the device: addresses there are
//! numbers to it, and what it needs to know it reads by [`skript_device_read`].

use crate::artifact::Port;
use crate::error::RunError;
use crate::extents::Extents;
use crate::instance::{accept, accept_output, count, outcome};
use crate::program::Program;
use skript_intrinsics::compiled::{Context, skript_intrinsic};
use skript_intrinsics::description::Description;
use skript_tensor::Tensor;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_void;
use std::str::FromStr;

/// Where a model runs, as command lines name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The processor.
    Cpu,
    /// A GPU with CUDA, by its number.
    Cuda(usize),
    /// A device with Vulkan, by its number.
    Vulkan(usize),
    /// A GPU if there is one, otherwise the processor.
    Auto,
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, number) = text.split_once(':').unwrap_or((text, "0"));
        let is_plain = name == text;
        let number = number
            .parse()
            .map_err(|_| format!("`{number}` is no number"))?;
        match name {
            "cpu" if is_plain => Ok(DeviceChoice::Cpu),
            "auto" if is_plain => Ok(DeviceChoice::Auto),
            "cuda" => Ok(DeviceChoice::Cuda(number)),
            "vulkan" => Ok(DeviceChoice::Vulkan(number)),
            _ => Err("there are cpu, cuda, cuda:N, vulkan, vulkan:N and auto".to_owned()),
        }
    }
}

/// A device with the kernels of one model. Addresses are its own.
pub trait Device {
    /// Memory of so many bytes, aligned to 64.
    ///
    /// # Errors
    /// Why there is none.
    fn allocate(&mut self, bytes: u64) -> Result<u64, String>;

    /// Writes bytes, after all launches before.
    ///
    /// # Errors
    /// Why it failed.
    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), String>;

    /// Reads bytes, after all launches before.
    ///
    /// # Errors
    /// Why it failed.
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), String>;

    /// Launches a kernel by its number, after all launches before.
    ///
    /// # Errors
    /// Why it failed.
    fn launch(
        &mut self,
        kernel: usize,
        blocks: u32,
        threads: u32,
        words: &[u64],
    ) -> Result<(), String>;

    /// Waits for the end of all launches.
    ///
    /// # Errors
    /// Why one of them failed.
    fn finish(&mut self) -> Result<(), String>;
}

/// A program with its memory on a device: executes one call at a time.
pub struct DeviceInstance {
    program: Program,
    state: State,
    arena: u64,
    /// The memory of each tensor; `None` before the first call.
    tensors: Vec<Option<u64>>,
    extents: Extents,
    pointers: Vec<*mut u8>,
    /// The variables that the device has, by the addresses of their bytes.
    variables: Vec<usize>,
}

// SAFETY: the pointers are dead between calls.
unsafe impl Send for DeviceInstance {}

/// What the functions of compiled code need.
struct State {
    device: Box<dyn Device + Send>,
    /// Constants of the code, by address and length.
    constants: HashMap<(usize, usize), u64>,
    /// The first failure of the device.
    failure: Option<String>,
}

thread_local! {
    /// The device of the call in progress.
    static CURRENT: RefCell<Option<State>> = const { RefCell::new(None) };
}

impl DeviceInstance {
    /// Allocates the arena.
    ///
    /// # Errors
    /// [`RunError::Device`] if the device has no such memory.
    pub fn new(
        program: &Program,
        mut device: Box<dyn Device + Send>,
    ) -> Result<DeviceInstance, RunError> {
        let artifact = program.artifact();
        let arena = device
            .allocate(artifact.arena.size)
            .map_err(RunError::Device)?;
        Ok(DeviceInstance {
            program: program.clone(),
            tensors: vec![None; artifact.ports().count()],
            state: State {
                device,
                constants: HashMap::new(),
                failure: None,
            },
            arena,
            extents: Extents::default(),
            pointers: Vec::new(),
            variables: Vec::new(),
        })
    }

    /// The program that the instance executes.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Computes the outputs, as [`crate::Instance::call`] does. Variables are copied to the device by the first call, and by a call
    /// with others.
    ///
    /// # Errors
    /// Those of [`crate::Instance::call`], and [`RunError::Device`].
    pub fn call(
        &mut self,
        inputs: &[&Tensor],
        variables: &[&Tensor],
        outputs: &mut [Tensor],
    ) -> Result<(), RunError> {
        let program = self.program.clone();
        let artifact = program.artifact();
        count("inputs", artifact.inputs.len(), inputs.len())?;
        count("variables", artifact.variables.len(), variables.len())?;
        count("outputs", artifact.outputs.len(), outputs.len())?;
        self.pointers.clear();
        let addresses: Vec<usize> = variables
            .iter()
            .map(|v| v.bytes().as_ptr().addr())
            .collect();
        let has_variables = self.variables == addresses && !addresses.is_empty();
        let read = [
            ("input", &artifact.inputs, inputs),
            ("variable", &artifact.variables, variables),
        ];
        let mut position = 0;
        for (role, ports, tensors) in read {
            for (port, tensor) in ports.iter().zip(tensors) {
                accept(role, port, tensor)?;
                let address = self.memory(position, port)?;
                if role == "input" || !has_variables {
                    let written = self.state.device.write(address, tensor.bytes());
                    written.map_err(RunError::Device)?;
                }
                self.pointers.push(pointer(address));
                position += 1;
            }
        }
        self.variables = addresses;
        for (port, tensor) in artifact.outputs.iter().zip(outputs.iter()) {
            accept_output(port, tensor)?;
            let address = self.memory(position, port)?;
            self.pointers.push(pointer(address));
            position += 1;
        }
        self.extents
            .pass(artifact, inputs, variables, &mut self.pointers);
        self.repeat()?;
        let first = artifact.inputs.len() + artifact.variables.len();
        for (position, tensor) in outputs.iter_mut().enumerate() {
            let address = self.tensors.get(first + position).copied().flatten();
            let bytes = tensor.bytes_mut();
            let bytes = bytes.map_err(|e| RunError::Memory(e.to_string()))?;
            if let Some(address) = address {
                let read = self.state.device.read(address, bytes);
                read.map_err(RunError::Device)?;
            }
        }
        Ok(())
    }

    /// Computes the outputs of the last call's inputs once more, and waits for them; nothing is copied.
    ///
    /// # Errors
    /// Those of [`crate::Instance::call`], and [`RunError::Device`].
    pub fn repeat(&mut self) -> Result<(), RunError> {
        let mut context = Context::default();
        let status = self.execute(&mut context)?;
        outcome(self.program.artifact(), status, &context)?;
        self.state.device.finish().map_err(RunError::Device)
    }

    /// Calls the code of the host.
    fn execute(&mut self, context: &mut Context) -> Result<i32, RunError> {
        let nothing = State {
            device: Box::new(NoDevice),
            constants: HashMap::new(),
            failure: None,
        };
        let state = std::mem::replace(&mut self.state, nothing);
        CURRENT.with_borrow_mut(|current| *current = Some(state));
        // SAFETY: every pointer is an address of the device, which the code does not access, or covers the extents of a tensor;
        // the program outlives the call.
        let status = unsafe {
            self.program.entry()(
                self.pointers.as_ptr(),
                pointer(self.arena),
                std::ptr::from_mut(context).cast(),
            )
        };
        if let Some(state) = CURRENT.with_borrow_mut(Option::take) {
            self.state = state;
        }
        match self.state.failure.take() {
            Some(failure) => Err(RunError::Device(failure)),
            None => Ok(status),
        }
    }

    /// The memory of a tensor.
    fn memory(&mut self, position: usize, port: &Port) -> Result<u64, RunError> {
        if let Some(Some(known)) = self.tensors.get(position) {
            return Ok(*known);
        }
        let shape: Vec<u64> = port.shape.iter().map(|e| e.bound()).collect();
        let bytes = skript_tensor::shape::byte_length(port.element, &shape);
        let bytes = bytes.and_then(|bytes| u64::try_from(bytes).ok());
        let bytes = bytes.ok_or_else(|| RunError::Memory(format!("shape {shape:?}")))?;
        let address = self
            .state
            .device
            .allocate(bytes)
            .map_err(RunError::Device)?;
        if let Some(slot) = self.tensors.get_mut(position) {
            *slot = Some(address);
        }
        Ok(address)
    }

    /// The actual extents of output `position` after a call; `None` beyond the outputs.
    pub fn output_shape(&self, position: usize) -> Option<Vec<u64>> {
        self.extents.of_output(self.program.artifact(), position)
    }
}

/// An address of the device as the code's pointer, which is not accessed.
fn pointer(address: u64) -> *mut u8 {
    std::ptr::without_provenance_mut(usize::try_from(address).unwrap_or(usize::MAX))
}

/// Stands in while a call has the device.
struct NoDevice;

impl Device for NoDevice {
    fn allocate(&mut self, _: u64) -> Result<u64, String> {
        Err("the device is in use".to_owned())
    }

    fn write(&mut self, _: u64, _: &[u8]) -> Result<(), String> {
        Err("the device is in use".to_owned())
    }

    fn read(&mut self, _: u64, _: &mut [u8]) -> Result<(), String> {
        Err("the device is in use".to_owned())
    }

    fn launch(&mut self, _: usize, _: u32, _: u32, _: &[u64]) -> Result<(), String> {
        Err("the device is in use".to_owned())
    }

    fn finish(&mut self) -> Result<(), String> {
        Err("the device is in use".to_owned())
    }
}

/// Runs `work` with the device of the call; a failure is kept, and later work is left out.
fn with<T: Default>(work: impl FnOnce(&mut State) -> Result<T, String>) -> T {
    CURRENT.with_borrow_mut(|current| {
        let Some(state) = current.as_mut().filter(|state| state.failure.is_none()) else {
            return T::default();
        };
        match work(state) {
            Ok(result) => result,
            Err(failure) => {
                state.failure = Some(failure);
                T::default()
            }
        }
    })
}

/// Launches a kernel.
///
/// # Safety
/// `words` points to `count` words.
pub(crate) unsafe extern "C" fn skript_launch(
    kernel: i64,
    blocks: i64,
    threads: i64,
    words: *const u64,
    count: i64,
) {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: as the caller promises.
    let words = unsafe { std::slice::from_raw_parts(words, count) };
    with(|state| {
        let size = |n: i64| u32::try_from(n).map_err(|_| "a launch of too many threads".to_owned());
        let kernel = usize::try_from(kernel).unwrap_or(usize::MAX);
        state
            .device
            .launch(kernel, size(blocks)?, size(threads)?, words)
    });
}

/// The bytes at an address of the device, at most 8, in the low ones of a word.
pub(crate) extern "C" fn skript_device_read(address: u64, bytes: i64) -> i64 {
    with(|state| {
        let mut word = [0; 8];
        let length = usize::try_from(bytes).unwrap_or(0).min(8);
        let part = word.get_mut(..length).unwrap_or_default();
        state.device.read(address, part)?;
        Ok(i64::from_le_bytes(word))
    })
}

/// The address of a constant of the code on the device.
///
/// # Safety
/// `bytes` points to `length` bytes that never change.
pub(crate) unsafe extern "C" fn skript_device_constant(bytes: *const u8, length: i64) -> u64 {
    let length = usize::try_from(length).unwrap_or(0);
    // SAFETY: as the caller promises.
    let content = unsafe { std::slice::from_raw_parts(bytes, length) };
    with(|state| {
        let key = (bytes.addr(), length);
        if let Some(known) = state.constants.get(&key) {
            return Ok(*known);
        }
        let size = u64::try_from(length).unwrap_or(u64::MAX);
        let address = state.device.allocate(size)?;
        state.device.write(address, content)?;
        state.constants.insert(key, address);
        Ok(address)
    })
}

/// `skript_intrinsic` on arrays of the device: computes on copies.
///
/// # Safety
/// As for [`skript_intrinsic`], but addresses are those of the device.
pub(crate) unsafe extern "C" fn skript_device_intrinsic(
    call: *const u8,
    length: usize,
    arrays: *const i64,
    context: *mut Context,
) -> i32 {
    // SAFETY: as the caller promises.
    let bytes = unsafe { std::slice::from_raw_parts(call, length) };
    let Some(description) = Description::from_bytes(bytes) else {
        // The kernel reports it.
        return unsafe { skript_intrinsic(call, length, arrays, context) };
    };
    let operands: Vec<_> = description
        .inputs
        .iter()
        .chain(&description.outputs)
        .collect();
    let words: usize = operands.iter().map(|a| 1 + 2 * a.rank).sum();
    // SAFETY: as the caller promises.
    let mut words = unsafe { std::slice::from_raw_parts(arrays, words) }.to_vec();
    // Elements are a multiple of 8 bytes or less, so words align them.
    let mut copies: Vec<(u64, usize, Vec<u64>)> = Vec::new();
    let mut at = 0;
    for array in &operands {
        let address = words.get(at).copied().unwrap_or(0).cast_unsigned();
        let extents = words.get(at + 1..at + 1 + array.rank).unwrap_or_default();
        let strides = words.get(at + 1 + array.rank..at + 1 + 2 * array.rank);
        let last = extents.iter().zip(strides.unwrap_or_default());
        let last: i64 = last
            .map(|(n, stride)| (n - 1).saturating_mul(*stride))
            .sum();
        let is_empty = extents.iter().any(|n| *n <= 0);
        let elements = if is_empty { 0 } else { last.saturating_add(1) };
        let bytes = usize::try_from(elements).unwrap_or(0) * array.element.size();
        let mut copy = vec![0_u64; bytes.div_ceil(8).max(1)];
        with(|state| state.device.read(address, prefix(&mut copy, bytes)));
        if let Some(word) = words.get_mut(at) {
            *word = copy.as_mut_ptr().expose_provenance() as i64;
        }
        copies.push((address, bytes, copy));
        at += 1 + 2 * array.rank;
    }
    // SAFETY: as the caller promises; addresses are those of the copies.
    let status = unsafe { skript_intrinsic(call, length, words.as_ptr(), context) };
    for (address, bytes, copy) in copies.iter_mut().skip(description.inputs.len()) {
        with(|state| state.device.write(*address, prefix(copy, *bytes)));
    }
    status
}

/// The first bytes of words.
fn prefix(words: &mut [u64], bytes: usize) -> &mut [u8] {
    let bytes = bytes.min(words.len() * 8);
    // SAFETY: the words have as many bytes.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast::<u8>(), bytes) }
}

/// Names and addresses of the functions above.
pub(crate) fn table() -> [(&'static str, *const c_void); 4] {
    let launch: unsafe extern "C" fn(i64, i64, i64, *const u64, i64) = skript_launch;
    let read: extern "C" fn(u64, i64) -> i64 = skript_device_read;
    let constant: unsafe extern "C" fn(*const u8, i64) -> u64 = skript_device_constant;
    let intrinsic: unsafe extern "C" fn(*const u8, usize, *const i64, *mut Context) -> i32 =
        skript_device_intrinsic;
    [
        ("skript_launch", launch as *const c_void),
        ("skript_device_read", read as *const c_void),
        ("skript_device_constant", constant as *const c_void),
        ("skript_device_intrinsic", intrinsic as *const c_void),
    ]
}
