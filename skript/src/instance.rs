// SPDX-License-Identifier: Apache-2.0
//! Code that is loaded into this process.

use crate::code::{Output, outputs_of};
use crate::device;
use crate::error::Error;
use crate::model::{arranged, declared};
use crate::port::Port;
use skript_runtime::device::{Argument, DeviceArray, DeviceChoice, ForeignArray};
use skript_runtime::{Artifact, Cache, DeviceInstance, Prepared, Program, RunError, StopHandle, run};
use skript_tensor::Tensor;
use std::time::{Duration, Instant};

/// Code loaded into this process, or onto a GPU, with separate memory. It executes one call at a time.
///
/// Variables that the model updates (`@update`) keep their new values between calls.
pub struct Instance {
    program: Program,
    place: Place,
    variables: Vec<Tensor>,
    /// The outputs of [`Instance::trial`].
    slots: Vec<Tensor>,
}

/// The place where calls are executed.
enum Place {
    Processor(Box<skript_runtime::Instance>),
    Device(Box<DeviceInstance>),
}

/// New values of variables, by their positions.
type Updates = Vec<(usize, Tensor)>;

impl Instance {
    /// Loads code for a processor, with values for its variables.
    ///
    /// # Errors
    /// [`Error::Load`].
    pub fn on_processor(artifact: Artifact, variables: Vec<Tensor>) -> Result<Self, Error> {
        let program = Program::load(artifact)?;
        let place = Place::Processor(Box::new(skript_runtime::Instance::new(&program)?));
        Ok(Instance { program, place, variables, slots: Vec::new() })
    }

    /// Loads code for a GPU.
    ///
    /// # Errors
    /// [`Error::Run`] if the device does not exist or cannot execute the kernels, or if the code is for a processor; [`Error::Load`].
    pub fn on_device(
        artifact: Artifact,
        device: DeviceChoice,
        variables: Vec<Tensor>,
    ) -> Result<Self, Error> {
        let Some(kernels) = artifact.kernels.clone() else {
            let text = "the code is for a processor: compile it for a GPU";
            return Err(RunError::Device(text.to_owned()).into());
        };
        let program = Program::load(artifact)?;
        let device = device::open(&kernels, device).map_err(RunError::Device)?;
        let place = Place::Device(Box::new(DeviceInstance::new(&program, device)?));
        Ok(Instance { program, place, variables, slots: Vec::new() })
    }

    /// The program of the runtime. Its interface changes without notice.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The device.
    pub fn device(&self) -> DeviceChoice {
        match &self.place {
            Place::Processor(_) => DeviceChoice::Cpu,
            Place::Device(instance) => instance.device(),
        }
    }

    /// The outputs in order, without the new values of variables; packs are flattened.
    pub fn outputs(&self) -> Vec<Port> {
        outputs_of(self.program.artifact())
    }

    /// The values of the variables of the code, in order.
    pub fn variables(&self) -> &[Tensor] {
        &self.variables
    }

    /// Sets the number of threads of a call. 0, the initial value, selects the environment variable SKRIPT_NUM_THREADS or all CPUs of
    /// this process. Outputs do not depend on it.
    pub fn set_threads(&mut self, threads: usize) {
        if let Place::Processor(instance) = &mut self.place {
            instance.set_threads(threads);
        }
    }

    /// A handle by which another thread stops the calls of this instance; `None` on a GPU.
    pub fn stop_handle(&self) -> Option<StopHandle> {
        match &self.place {
            Place::Processor(instance) => Some(instance.stop_handle()),
            Place::Device(_) => None,
        }
    }

    /// Computes the values that depend only on variables, or loads them from the user's cache if `is_cached`. Otherwise the first
    /// call computes them. Returns the time; `None` if there are no such values.
    ///
    /// # Errors
    /// [`Error::Run`] as for [`Instance::call`].
    pub fn prepare(&mut self, is_cached: bool) -> Result<Option<Duration>, RunError> {
        let Place::Processor(instance) = &mut self.place else {
            return Ok(None);
        };
        if self.program.artifact().prepared == 0 {
            return Ok(None);
        }
        let begun = Instant::now();
        let variables: Vec<&Tensor> = self.variables.iter().collect();
        instance.set_prepared(match Cache::of_user().filter(|_| is_cached) {
            Some(cache) => cache.prepare(&self.program, &variables, 0)?,
            None => Prepared::new(&self.program, &variables, 0)?,
        });
        Ok(Some(begun.elapsed()))
    }

    /// Computes the outputs, in the order of the graph, from arrays in host memory, and copies them to host memory.
    ///
    /// # Errors
    /// [`Error::Name`] if an input has no array, [`Error::Run`] if an array has a wrong type or shape, a run-time check fails or the
    /// device fails. Variables then keep their values.
    pub fn call(&mut self, inputs: &[(&str, &Tensor)]) -> Result<Vec<Output>, Error> {
        self.call_if(inputs, |_| true)
    }

    /// Like [`Instance::call`], but variables get their new values only if `accept` returns true for the outputs, for instance because
    /// there is memory to write them to.
    ///
    /// # Errors
    /// The errors of [`Instance::call`].
    pub fn call_if(
        &mut self,
        inputs: &[(&str, &Tensor)],
        accept: impl FnOnce(&[Output]) -> bool,
    ) -> Result<Vec<Output>, Error> {
        let program = self.program.clone();
        let artifact = program.artifact();
        let arrays = declared(&artifact.inputs, arranged(&artifact.inputs, inputs)?)?;
        let arrays: Vec<&Tensor> = arrays.iter().map(AsRef::as_ref).collect();
        let (values, updates) = self.computed(&arrays)?;
        let names = artifact.outputs.iter().map(|port| port.name.clone());
        let outputs: Vec<Output> = names.zip(values).collect();
        if accept(&outputs) {
            self.keep(updates);
        }
        Ok(outputs)
    }

    /// Computes the outputs from arrays in the order of the inputs and with their types.
    ///
    /// # Errors
    /// The errors of [`Instance::call`].
    pub fn compute(&mut self, inputs: &[&Tensor]) -> Result<Vec<Tensor>, RunError> {
        let (values, updates) = self.computed(inputs)?;
        self.keep(updates);
        Ok(values)
    }

    /// The outputs, and new values of variables by position.
    fn computed(&mut self, inputs: &[&Tensor]) -> Result<(Vec<Tensor>, Updates), RunError> {
        let variables: Vec<&Tensor> = self.variables.iter().collect();
        let mut values = match &mut self.place {
            Place::Processor(instance) => run::compute(instance, inputs, &variables),
            Place::Device(instance) => run::compute_on_device(instance, inputs, &variables),
        }?;
        let updates = run::updates(self.program.artifact(), &mut values);
        Ok((values, updates))
    }

    /// Sets variables to new values, by their positions.
    fn keep(&mut self, updates: Updates) {
        for (position, value) in updates {
            if let Some(variable) = self.variables.get_mut(position) {
                *variable = value;
            }
        }
    }

    /// Computes the outputs into memory that the next trial reuses ([`Instance::trial_outputs`]). Variables keep their values. For
    /// measurements.
    ///
    /// # Errors
    /// The errors of [`Instance::call`].
    pub fn trial(&mut self, inputs: &[&Tensor]) -> Result<(), RunError> {
        if self.slots.is_empty() {
            self.slots = run::slots(self.program.artifact())?;
        }
        let variables: Vec<&Tensor> = self.variables.iter().collect();
        match &mut self.place {
            Place::Processor(instance) => instance.call(inputs, &variables, &mut self.slots),
            Place::Device(instance) => instance.call(inputs, &variables, &mut self.slots),
        }
    }

    /// The outputs of the last trial, with dynamic extents at their upper bounds, and the new values of variables.
    pub fn trial_outputs(&self) -> &[Tensor] {
        &self.slots
    }

    /// Repeats a trial on a GPU with the arrays that are on the device.
    ///
    /// # Errors
    /// The errors of [`Instance::call_on_device`].
    pub fn repeat(&mut self) -> Result<(), RunError> {
        self.on_gpu()?.repeat()
    }

    fn on_gpu(&mut self) -> Result<&mut DeviceInstance, RunError> {
        match &mut self.place {
            Place::Device(instance) => Ok(instance),
            Place::Processor(_) => Err(RunError::Device("the model is not on a GPU".to_owned())),
        }
    }

    /// Computes the outputs, in the order of the graph, in device memory, from arrays on the device or the host. Arrays on the device
    /// are not copied. The outputs are complete on return.
    ///
    /// # Errors
    /// The errors of [`Instance::call`], and [`Error::Run`] if the model is not on a GPU.
    pub fn call_on_device(
        &mut self,
        inputs: &[(&str, Argument)],
    ) -> Result<Vec<(String, DeviceArray)>, Error> {
        let program = self.program.clone();
        let artifact = program.artifact();
        let arrays = arranged(&artifact.inputs, inputs)?;
        let variables = self.variables.clone();
        let variables: Vec<&Tensor> = variables.iter().collect();
        let mut values = self.on_gpu()?.call_on_device(&arrays, &variables)?;
        let updated = run::updates(artifact, &mut values).into_iter();
        let updates = updated.map(|(n, array)| Ok((n, array.to_tensor()?)));
        self.keep(updates.collect::<Result<_, RunError>>()?);
        let names = artifact.outputs.iter().map(|port| port.name.clone());
        Ok(names.zip(values).collect())
    }

    /// Computes the outputs, in the order of the graph, in the caller's memory on the device; dynamic extents have their upper bounds.
    /// Returns the actual shapes. The outputs are complete on return.
    ///
    /// # Errors
    /// The errors of [`Instance::call_on_device`]; [`Error::Run`] for a model that updates variables.
    pub fn call_into(
        &mut self,
        inputs: &[(&str, Argument)],
        outputs: &[ForeignArray],
    ) -> Result<Vec<Vec<u64>>, Error> {
        let program = self.program.clone();
        if !program.artifact().updates.is_empty() {
            let text = "a model that updates variables cannot write its outputs to memory of the caller";
            return Err(RunError::Device(text.to_owned()).into());
        }
        let arrays = arranged(&program.artifact().inputs, inputs)?;
        let variables = self.variables.clone();
        let variables: Vec<&Tensor> = variables.iter().collect();
        let instance = self.on_gpu()?;
        instance.call_into(&arrays, &variables, outputs)?;
        Ok((0..outputs.len()).filter_map(|n| instance.output_shape(n)).collect())
    }

    /// Copies a tensor to the device.
    ///
    /// # Errors
    /// [`Error::Run`] if there is not enough memory, or the model is not on a GPU.
    pub fn upload(&mut self, tensor: &Tensor) -> Result<DeviceArray, Error> {
        Ok(self.on_gpu()?.upload(tensor)?)
    }

    /// The CUDA stream of calls, which must wait until the arrays of a call are written.
    pub fn stream(&self) -> Option<u64> {
        match &self.place {
            Place::Device(instance) => instance.stream(),
            Place::Processor(_) => None,
        }
    }
}
