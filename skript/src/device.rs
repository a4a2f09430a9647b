// SPDX-License-Identifier: Apache-2.0
//! Models on GPUs.

use crate::code::{Code, Output, keep, outputs_of};
use crate::error::Error;
use crate::model::{arranged, declared};
use crate::port::Port;
use crate::target::Target;
use crate::weights::Weights;
use skript_passes::target::{Gpu, Language};
use skript_runtime::device::{Argument, DeviceArray, DeviceChoice, ForeignArray};
use skript_runtime::{Program, RunError, run};
use skript_tensor::Tensor;

/// Code loaded into this process, and onto a GPU, with its own memory there: one call at a time.
///
/// Variables that the model updates (`@update`) keep their new values between calls.
pub struct DeviceInstance {
    inner: skript_runtime::DeviceInstance,
    variables: Vec<Tensor>,
}

impl Target {
    /// A GPU; code that launches its kernels is for this processor. [`DeviceChoice::Auto`] is the first GPU of this system.
    /// `architecture` is one of `skript compile --gpu-arch`, or `None` for the oldest one, which later GPUs run as well.
    ///
    /// # Errors
    /// [`Error::Target`] for an unknown architecture, [`Error::Run`] if no GPU was found, or [`DeviceChoice::Cpu`] is asked for.
    pub fn gpu(device: DeviceChoice, architecture: Option<&str>) -> Result<Self, Error> {
        let device = match device {
            DeviceChoice::Auto => found()?,
            other => other,
        };
        let usual = match device {
            DeviceChoice::Cuda(_) => "sm_80",
            DeviceChoice::Vulkan(_) => "vulkan",
            DeviceChoice::Cpu | DeviceChoice::Auto => {
                return Err(RunError::Device(format!("{device} is not a GPU")).into());
            }
        };
        let name = architecture.unwrap_or(usual);
        let language = match device {
            DeviceChoice::Vulkan(_) => Language::SpirV,
            _ => Language::Ptx,
        };
        let gpu = Gpu::named(name).filter(|gpu| gpu.language == language);
        let unknown = || skript_passes::target::TargetError::Gpu { name: name.to_owned(), language };
        let mut target = Target::host();
        target.inner.gpu = Some(gpu.ok_or_else(unknown)?);
        target.inner.device = device;
        Ok(target)
    }
}

fn found() -> Result<DeviceChoice, Error> {
    match skript_gpu::find() {
        Ok((device, _)) => Ok(device),
        Err([cuda, vulkan]) => Err(RunError::Device(format!("{cuda}; {vulkan}")).into()),
    }
}

impl Code {
    /// Loads code for a GPU onto that. Code that embeds its weights takes [`Weights::none`].
    ///
    /// # Errors
    /// [`Error::Run`] if the device is not there, or runs other kernels, or if the code is for a processor; and those of
    /// [`Code::load`].
    pub fn load_on(&self, device: DeviceChoice, weights: &Weights) -> Result<DeviceInstance, Error> {
        let artifact = self.artifact();
        let kernels = artifact.kernels.as_ref();
        let kernels = kernels.ok_or_else(|| {
            RunError::Device("the code is for a processor: compile it for a GPU".to_owned())
        })?;
        let device = skript_gpu::open(kernels, device);
        let device = device.map_err(|e| RunError::Device(e.to_string()))?;
        let program = Program::load(artifact.clone())?;
        Ok(DeviceInstance {
            inner: skript_runtime::DeviceInstance::new(&program, device)?,
            variables: self.values(weights)?,
        })
    }
}

impl DeviceInstance {
    /// The device.
    pub fn device(&self) -> DeviceChoice {
        self.inner.device()
    }

    /// Computes the outputs from arrays in memory of the host, and copies them there, in the order of the graph.
    ///
    /// # Errors
    /// Those of [`crate::Instance::call`], and [`Error::Run`] if the device fails.
    pub fn call(&mut self, inputs: &[(&str, &Tensor)]) -> Result<Vec<Output>, Error> {
        self.call_if(inputs, |_| true)
    }

    /// As [`DeviceInstance::call`]; variables keep their new values only if `accept` returns true for the outputs.
    ///
    /// # Errors
    /// Those of [`DeviceInstance::call`].
    pub fn call_if(
        &mut self,
        inputs: &[(&str, &Tensor)],
        accept: impl FnOnce(&[Output]) -> bool,
    ) -> Result<Vec<Output>, Error> {
        let artifact = self.inner.program().artifact().clone();
        let arrays = arranged(&artifact.inputs, inputs)?;
        let arrays = declared(&artifact.inputs, arrays)?;
        let arrays: Vec<&Tensor> = arrays.iter().map(AsRef::as_ref).collect();
        let variables: Vec<&Tensor> = self.variables.iter().collect();
        let mut values = run::compute_on_device(&mut self.inner, &arrays, &variables)?;
        let updates = run::updates(&artifact, &mut values);
        let names = artifact.outputs.iter().map(|port| port.name.clone());
        let outputs: Vec<Output> = names.zip(values).collect();
        if accept(&outputs) {
            keep(&mut self.variables, updates);
        }
        Ok(outputs)
    }

    /// The outputs in order, without the new values of variables; packs are flattened.
    pub fn outputs(&self) -> Vec<Port> {
        outputs_of(self.inner.program().artifact())
    }

    /// Computes the outputs in memory of the device, from arrays there or on the host, in the order of the graph. Arrays on the device
    /// are not copied. The outputs are complete when it returns.
    ///
    /// # Errors
    /// Those of [`DeviceInstance::call`].
    pub fn call_on_device(
        &mut self,
        inputs: &[(&str, Argument)],
    ) -> Result<Vec<(String, DeviceArray)>, Error> {
        let artifact = self.inner.program().artifact().clone();
        let arrays = arranged(&artifact.inputs, inputs)?;
        let variables: Vec<&Tensor> = self.variables.iter().collect();
        let mut values = self.inner.call_on_device(&arrays, &variables)?;
        let updates = run::updates(&artifact, &mut values).into_iter();
        let updates =
            updates.map(|(n, array)| Ok((n, array.to_tensor()?))).collect::<Result<_, RunError>>()?;
        keep(&mut self.variables, updates);
        let names = artifact.outputs.iter().map(|port| port.name.clone());
        Ok(names.zip(values).collect())
    }

    /// Computes the outputs in memory of the caller on the device, in the order of the graph; dynamic extents have their upper bounds.
    /// Returns the actual shapes. The outputs are complete when it returns.
    ///
    /// # Errors
    /// Those of [`DeviceInstance::call`]; [`Error::Run`] for a model that updates variables.
    pub fn call_into(
        &mut self,
        inputs: &[(&str, Argument)],
        outputs: &[ForeignArray],
    ) -> Result<Vec<Vec<u64>>, Error> {
        let artifact = self.inner.program().artifact().clone();
        if !artifact.updates.is_empty() {
            let text = "a model that updates variables has outputs in memory of its own";
            return Err(RunError::Device(text.to_owned()).into());
        }
        let arrays = arranged(&artifact.inputs, inputs)?;
        let variables: Vec<&Tensor> = self.variables.iter().collect();
        self.inner.call_into(&arrays, &variables, outputs)?;
        let shapes = (0..outputs.len()).map(|n| self.inner.output_shape(n).unwrap_or_default());
        Ok(shapes.collect())
    }

    /// A copy of a tensor in memory of the device.
    ///
    /// # Errors
    /// [`Error::Run`] if there is not enough memory.
    pub fn upload(&self, tensor: &Tensor) -> Result<DeviceArray, Error> {
        Ok(self.inner.upload(tensor)?)
    }

    /// The stream of CUDA that calls are in: who writes arrays for a call makes it wait for that.
    pub fn stream(&self) -> Option<u64> {
        self.inner.stream()
    }
}
