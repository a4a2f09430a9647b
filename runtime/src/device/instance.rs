// SPDX-License-Identifier: Apache-2.0
//! A program with its device memory.

use super::array::{Argument, DeviceArray, ForeignArray, byte_length};
use super::calls::{Constants, NoDevice, State, during};
use super::graphs::{Graphs, Key};
use super::home::Home;
use super::{Device, DeviceChoice};
use crate::artifact::Port;
use crate::error::RunError;
use crate::extents::Extents;
use crate::instance::{accept, accept_array, accept_output, count, outcome};
use crate::prepared::Prepared;
use crate::profile;
use crate::program::Program;
use skript_intrinsics::compiled::Context;
use skript_tensor::Tensor;
use std::sync::Arc;

/// Alignment of arrays in bytes, which kernels rely on.
const ALIGNMENT: u64 = 64;

/// A program with its device memory; executes one call at a time.
pub struct DeviceInstance {
    program: Program,
    home: Arc<Home>,
    choice: DeviceChoice,
    constants: Constants,
    graphs: Graphs,
    arena: u64,
    /// The instance's memory for each tensor; `None` before its first use.
    tensors: Vec<Option<u64>>,
    extents: Extents,
    /// Addresses of the tensors of the last call.
    addresses: Vec<u64>,
    /// The host addresses of the variables that were copied to the device.
    variables: Vec<Option<usize>>,
    /// The prepared variables, which the CPU computes, and the address of their copy on the device.
    prepared: Option<(Prepared, u64)>,
}

impl DeviceInstance {
    /// Allocates the arena.
    ///
    /// # Errors
    /// [`RunError::Device`] if the device cannot allocate the memory.
    pub fn new(program: &Program, mut device: Box<dyn Device + Send>) -> Result<DeviceInstance, RunError> {
        let artifact = program.artifact();
        let arena = device.allocate(artifact.arena.size);
        Ok(DeviceInstance {
            program: program.clone(),
            choice: device.choice(),
            arena: arena.map_err(RunError::Device)?,
            home: Arc::new(Home::new(device)),
            constants: Constants::new(),
            graphs: Graphs::default(),
            tensors: vec![None; artifact.ports().count()],
            extents: Extents::default(),
            addresses: Vec::new(),
            variables: vec![None; artifact.variables.len()],
            prepared: None,
        })
    }

    /// The program that the instance executes.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The device.
    pub fn device(&self) -> DeviceChoice {
        self.choice
    }

    /// The CUDA stream of the calls.
    pub fn stream(&self) -> Option<u64> {
        self.home.device().stream()
    }

    /// Computes the outputs, as [`crate::Instance::call`] does. The first call copies variables to the device. Later calls
    /// recognize changed variables by their addresses; see [`DeviceInstance::forget`].
    ///
    /// # Errors
    /// The errors of [`crate::Instance::call`], and [`RunError::Device`].
    pub fn call(
        &mut self,
        inputs: &[&Tensor],
        variables: &[&Tensor],
        outputs: &mut [Tensor],
    ) -> Result<(), RunError> {
        let program = self.program.clone();
        let artifact = program.artifact();
        count("outputs", artifact.outputs.len(), outputs.len())?;
        for (port, tensor) in artifact.outputs.iter().zip(outputs.iter()) {
            accept_output(port, tensor)?;
        }
        let inputs: Vec<Argument> = inputs.iter().map(|t| Argument::Tensor(t)).collect();
        self.pass(&inputs, variables)?;
        let first = self.addresses.len();
        for (position, port) in artifact.outputs.iter().enumerate() {
            let address = self.memory(first + position, port)?;
            self.addresses.push(address);
        }
        self.execute(&inputs, variables)?;
        for (address, tensor) in self.addresses.iter().skip(first).zip(outputs) {
            let bytes = tensor.bytes_mut();
            let bytes = bytes.map_err(|e| RunError::Memory(e.to_string()))?;
            let read = self.home.device().read(*address, bytes);
            read.map_err(RunError::Device)?;
        }
        Ok(())
    }

    /// Computes the outputs in device memory: the outputs of the graph, then the new values of updated variables. All outputs
    /// are complete on return.
    ///
    /// # Errors
    /// The errors of [`DeviceInstance::call`].
    pub fn call_on_device(
        &mut self,
        inputs: &[Argument],
        variables: &[&Tensor],
    ) -> Result<Vec<DeviceArray>, RunError> {
        let program = self.program.clone();
        self.pass(inputs, variables)?;
        let mut outputs = Vec::new();
        for port in &program.artifact().outputs {
            let shape: Vec<u64> = port.shape.iter().map(|e| e.bound()).collect();
            let array = DeviceArray::new(&self.home, self.choice, port.element, &shape)?;
            self.addresses.push(array.address());
            outputs.push(array);
        }
        self.execute(inputs, variables)?;
        Ok(outputs
            .into_iter()
            .enumerate()
            .map(|(n, array)| match self.output_shape(n) {
                Some(shape) => array.with_shape(shape),
                None => array,
            })
            .collect())
    }

    /// Computes the outputs in arrays that another library owns, sized by the upper bounds of dynamic extents. Elements are
    /// contiguous for the extents of [`DeviceInstance::output_shape`], and complete on return.
    ///
    /// # Errors
    /// The errors of [`DeviceInstance::call`].
    pub fn call_into(
        &mut self,
        inputs: &[Argument],
        variables: &[&Tensor],
        outputs: &[ForeignArray],
    ) -> Result<(), RunError> {
        let program = self.program.clone();
        let artifact = program.artifact();
        count("outputs", artifact.outputs.len(), outputs.len())?;
        self.pass(inputs, variables)?;
        let mut copies = Vec::new();
        for (position, (port, array)) in artifact.outputs.iter().zip(outputs).enumerate() {
            let (element, shape) = Argument::Foreign(*array).kind();
            accept_array("output", port, element, shape, true)?;
            let address = if array.address().is_multiple_of(ALIGNMENT) {
                array.address()
            } else {
                let first = artifact.inputs.len() + artifact.variables.len();
                let address = self.memory(first + position, port)?;
                copies.push((address, array.address(), byte_length(element, shape)?));
                address
            };
            self.addresses.push(address);
        }
        self.execute(inputs, variables)?;
        let mut device = self.home.device();
        for (from, to, bytes) in &copies {
            let copied = device.copy(*from, *to, *bytes);
            copied.map_err(RunError::Device)?;
        }
        device.finish().map_err(RunError::Device)
    }

    /// A copy of a tensor in device memory.
    ///
    /// # Errors
    /// [`RunError::Device`].
    pub fn upload(&self, tensor: &Tensor) -> Result<DeviceArray, RunError> {
        let array = DeviceArray::new(&self.home, self.choice, tensor.element(), tensor.shape())?;
        let written = self.home.device().write(array.address(), tensor.bytes());
        written.map_err(RunError::Device)?;
        Ok(array)
    }

    /// Makes the next call copy all variables again: elements were changed in place, or the addresses were reused.
    pub fn forget(&mut self) {
        self.variables.fill(None);
        self.discard_prepared();
    }

    /// Releases the prepared variables.
    fn discard_prepared(&mut self) {
        if let Some((_, address)) = self.prepared.take() {
            self.home.device().release(address);
        }
    }

    /// Prepares variables on the CPU and copies the result to the device, unless the same variables are prepared already.
    fn prepare(&mut self, variables: &[&Tensor]) -> Result<(), RunError> {
        let program = self.program.clone();
        let size = program.artifact().prepared;
        let known = self.prepared.as_ref();
        if size == 0 || known.is_some_and(|(prepared, _)| prepared.is_of(&program, variables)) {
            return Ok(());
        }
        self.discard_prepared();
        let prepared = Prepared::embedded_or_new(&program, variables, 0)?;
        let mut device = self.home.device();
        let address = device.allocate(size).map_err(RunError::Device)?;
        let written = device.write(address, prepared.bytes());
        drop(device);
        prepared.intact()?;
        self.prepared = Some((prepared, address));
        written.map_err(RunError::Device)
    }

    /// Repeats the last call without copies, and waits for the outputs.
    ///
    /// # Errors
    /// The errors of [`crate::Instance::call`], and [`RunError::Device`].
    pub fn repeat(&mut self) -> Result<(), RunError> {
        self.compute()
    }

    /// The actual extents of output `position` after a call; `None` beyond the outputs.
    pub fn output_shape(&self, position: usize) -> Option<Vec<u64>> {
        self.extents.of_output(self.program.artifact(), position)
    }

    /// Sets the addresses of inputs and variables; host arrays are copied first.
    fn pass(&mut self, inputs: &[Argument], variables: &[&Tensor]) -> Result<(), RunError> {
        let program = self.program.clone();
        let artifact = program.artifact();
        count("inputs", artifact.inputs.len(), inputs.len())?;
        count("variables", artifact.variables.len(), variables.len())?;
        self.addresses.clear();
        for (position, (port, argument)) in artifact.inputs.iter().zip(inputs).enumerate() {
            let (element, shape) = argument.kind();
            accept_array("input", port, element, shape, false)?;
            let address = match argument {
                Argument::Tensor(tensor) => {
                    let address = self.memory(position, port)?;
                    let written = self.home.device().write(address, tensor.bytes());
                    written.map_err(RunError::Device)?;
                    address
                }
                Argument::Array(array) if array.is_of(&self.home) => array.address(),
                Argument::Array(array) if matches!(self.choice, DeviceChoice::Vulkan(_)) => {
                    let address = self.memory(position, port)?;
                    let tensor = array.to_tensor()?;
                    let written = self.home.device().write(address, tensor.bytes());
                    written.map_err(RunError::Device)?;
                    address
                }
                Argument::Array(array) if array.device() != self.choice => {
                    let text = format!("the array of input `{}` is on {}", port.name, array.device());
                    return Err(RunError::Device(format!("{text}, the model on {}", self.choice)));
                }
                Argument::Array(array) => array.address(),
                Argument::Foreign(array) if array.address().is_multiple_of(ALIGNMENT) => array.address(),
                Argument::Foreign(array) => {
                    let address = self.memory(position, port)?;
                    let bytes = byte_length(element, shape)?;
                    let copied = self.home.device().copy(array.address(), address, bytes);
                    copied.map_err(RunError::Device)?;
                    address
                }
            };
            self.addresses.push(address);
        }
        for (n, (port, tensor)) in artifact.variables.iter().zip(variables).enumerate() {
            accept("variable", port, tensor)?;
            let address = self.memory(artifact.inputs.len() + n, port)?;
            let here = Some(tensor.bytes().as_ptr().addr());
            if let Some(known) = self.variables.get_mut(n).filter(|known| **known != here) {
                *known = None;
                let written = self.home.device().write(address, tensor.bytes());
                written.map_err(RunError::Device)?;
                *known = here;
            }
            self.addresses.push(address);
        }
        Ok(())
    }

    /// Computes the outputs of a call whose addresses are set.
    fn execute(&mut self, inputs: &[Argument], variables: &[&Tensor]) -> Result<(), RunError> {
        let shapes = inputs.iter().map(|argument| argument.kind().1);
        let shapes = shapes.chain(variables.iter().map(|tensor| tensor.shape()));
        self.extents.set(self.program.artifact(), shapes);
        self.prepare(variables)?;
        self.compute()
    }

    /// Computes the outputs for the current addresses and extents, and waits for them.
    fn compute(&mut self) -> Result<(), RunError> {
        let program = self.program.clone();
        let artifact = program.artifact();
        self.extents.bound_outputs(artifact);
        let prepared = self.prepared.iter().map(|(_, address)| *address);
        let key = Key {
            addresses: self.addresses.iter().copied().chain(prepared).collect(),
            extents: self.extents.values().to_vec(),
        };
        let home = Arc::clone(&self.home);
        let mut device = home.device();
        // A profile measures single launches.
        if !profile::is_recording() {
            let known = self.graphs.repeat(&key, device.as_mut());
            if let Some(extents) = known.map_err(RunError::Device)? {
                self.extents.replace(extents);
                return device.finish().map_err(RunError::Device);
            }
        }
        let mut pointers: Vec<*mut u8> = self.addresses.iter().map(|a| pointer(*a)).collect();
        self.extents.add_pointers(artifact, &mut pointers);
        pointers.extend(self.prepared.iter().map(|(_, address)| pointer(*address)));
        let state = State {
            device: std::mem::replace(&mut *device, Box::new(NoDevice)),
            constants: std::mem::take(&mut self.constants),
            failure: None,
            launches: Vec::new(),
            depends_on_arrays: false,
        };
        let mut context = Context::default();
        let arena = pointer(self.arena);
        // SAFETY: every pointer is a device address, which the code does not access, or covers the extents of a tensor;
        // the program outlives the call.
        let (status, state) = during(state, || unsafe {
            program.entry()(pointers.as_ptr(), arena, std::ptr::from_mut(&mut context).cast())
        });
        let state = state.ok_or_else(|| RunError::Device("the device was lost".to_owned()))?;
        *device = state.device;
        self.constants = state.constants;
        if let Some(failure) = state.failure {
            return Err(RunError::Device(failure));
        }
        let outcome = outcome(artifact, status, &context);
        if outcome.is_ok() && !state.depends_on_arrays {
            let extents = self.extents.values().to_vec();
            self.graphs.add(key, extents, state.launches, device.as_mut());
        }
        let finished = device.finish().map_err(RunError::Device);
        outcome.and(finished)
    }

    /// The instance's memory for a tensor.
    fn memory(&mut self, position: usize, port: &Port) -> Result<u64, RunError> {
        if let Some(Some(known)) = self.tensors.get(position) {
            return Ok(*known);
        }
        let shape: Vec<u64> = port.shape.iter().map(|e| e.bound()).collect();
        let bytes = byte_length(port.element, &shape)?;
        let address = self.home.device().allocate(bytes);
        let address = address.map_err(RunError::Device)?;
        if let Some(slot) = self.tensors.get_mut(position) {
            *slot = Some(address);
        }
        Ok(address)
    }
}

impl Drop for DeviceInstance {
    fn drop(&mut self) {
        // Arrays may keep the device alive.
        let mut device = self.home.device();
        let tensors = self.tensors.drain(..).flatten();
        let constants = self.constants.drain().map(|(_, address)| address);
        let prepared = self.prepared.take().map(|(_, address)| address);
        for address in tensors.chain(constants).chain(prepared).chain([self.arena]) {
            device.release(address);
        }
    }
}

/// A device address as a pointer, which host code does not access.
fn pointer(address: u64) -> *mut u8 {
    std::ptr::without_provenance_mut(address as usize)
}
