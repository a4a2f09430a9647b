// SPDX-License-Identifier: Apache-2.0
//! Native code.

use crate::error::Error;
use crate::model::{arranged, declared};
use crate::port::Port;
use crate::target::Target;
use crate::weights::Weights;
use skript_runtime::{Artifact, Program, RunError, embed};
use skript_stablehlo::import;
use skript_tensor::Tensor;
use std::path::Path;

/// An output's name and value.
pub type Output = (String, Tensor);

/// Native code of a model with its interface; needs neither the text nor the compiler to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    artifact: Artifact,
}

/// Code loaded into this process with its own memory: one call at a time.
///
/// Variables that the model updates (`@update`) keep their new values between calls.
pub struct Instance {
    inner: skript_runtime::Instance,
    variables: Vec<Tensor>,
}

impl Code {
    pub(crate) fn new(artifact: Artifact) -> Self {
        Code { artifact }
    }

    #[cfg(feature = "gpu")]
    pub(crate) fn artifact(&self) -> &Artifact {
        &self.artifact
    }

    /// Whether it has kernels for a GPU: [`Code::load_on`] loads it.
    pub fn is_for_gpu(&self) -> bool {
        self.artifact.kernels.is_some()
    }

    /// The values of the variables.
    pub(crate) fn values(&self, weights: &Weights) -> Result<Vec<Tensor>, Error> {
        match &self.artifact.embedded {
            None => weights.load(&self.artifact.variables),
            Some(embedded) if weights.are_none() => Ok(embedded.variables().to_vec()),
            Some(_) => Err(RunError::Embedded.into()),
        }
    }

    /// The inputs in order; packs are flattened.
    pub fn inputs(&self) -> Vec<Port> {
        self.artifact.inputs.iter().map(Port::of).collect()
    }

    /// The variables in order.
    pub fn variables(&self) -> Vec<Port> {
        self.artifact.variables.iter().map(Port::of).collect()
    }

    /// Compiles a StableHLO program, as MLIR text: `@main`, or the only public function. Inputs and outputs are numbered.
    ///
    /// # Errors
    /// [`Error::Program`] with all reasons.
    pub fn of_stablehlo(text: &str, target: &Target) -> Result<Self, Error> {
        Code::of_stablehlo_for(text, target, |_| None)
    }

    /// Compiles a StableHLO program with symbolic dimensions for the shapes of a call, which `shapes` returns for a number
    /// of arguments. It is not called for a program without symbolic dimensions.
    ///
    /// # Errors
    /// [`Error::Program`] with all reasons; one is that the shapes are unknown or do not fit.
    pub fn of_stablehlo_for(
        text: &str,
        target: &Target,
        mut shapes: impl FnMut(usize) -> Option<Vec<Vec<u64>>>,
    ) -> Result<Self, Error> {
        let extent = |extent: u64| i64::try_from(extent).ok();
        let mut shapes = |declared: &[import::Tensor]| {
            let shapes = shapes(declared.len())?.into_iter();
            shapes.map(|s| s.into_iter().map(extent).collect()).collect()
        };
        let program = import::compile_unless(text, &target.inner, &mut shapes, |_| None);
        let program = program.map_err(|refusals| {
            let reasons = refusals.iter().map(|refusal| match refusal.source_position {
                Some((line, column)) => format!("{line}:{column}: {}", refusal.message),
                None => refusal.message.clone(),
            });
            Error::Program(reasons.collect())
        })?;
        Ok(Code::new(program.artifact))
    }

    /// The outputs in order, without the new values of variables; packs are flattened.
    pub fn outputs(&self) -> Vec<Port> {
        outputs_of(&self.artifact)
    }

    /// The code as the bytes of a `.skm` file; the same model gives the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.artifact.to_bytes()
    }

    /// Code from bytes. The bytes contain native code: load only bytes that you would execute as a program.
    ///
    /// # Errors
    /// [`Error::Code`] if the bytes are not what [`Code::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Ok(Code { artifact: Artifact::from_bytes(bytes)? })
    }

    /// Code from a `.skm` file, which must not be written to while the code is in use: embedded weights stay in it. The
    /// file contains native code: open only files that you would execute as a program.
    ///
    /// # Errors
    /// [`Error::Code`] if the file cannot be read, or its bytes are not what [`Code::to_bytes`] wrote.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Ok(Code { artifact: Artifact::open(path)? })
    }

    /// The code with these weights, and with what is computed of weights alone: `load(&Weights::none())` loads it.
    ///
    /// # Errors
    /// [`Error::Arrays`] if a variable has no value, [`Error::Run`] if the code does not run on this machine.
    pub fn embed(self, weights: &Weights) -> Result<Self, Error> {
        let variables = weights.load(&self.artifact.variables)?;
        let variables: Vec<&Tensor> = variables.iter().collect();
        Ok(Code { artifact: embed(self.artifact, &variables, 0)? })
    }

    /// Loads the code into this process. Code that embeds its weights takes [`Weights::none`].
    ///
    /// # Errors
    /// [`Error::Load`] if it was compiled for another kind of processor, [`Error::Arrays`] if a variable has no value,
    /// [`Error::Run`] if the code embeds its weights and others are passed.
    pub fn load(&self, weights: &Weights) -> Result<Instance, Error> {
        let variables = self.values(weights)?;
        let program = Program::load(self.artifact.clone())?;
        Ok(Instance { inner: skript_runtime::Instance::new(&program)?, variables })
    }
}

/// Gives variables new values, by their positions.
pub(crate) fn keep(variables: &mut [Tensor], updates: Vec<(usize, Tensor)>) {
    for (position, value) in updates {
        if let Some(slot) = variables.get_mut(position) {
            *slot = value;
        }
    }
}

/// The outputs of code, without the new values of variables.
pub(crate) fn outputs_of(artifact: &Artifact) -> Vec<Port> {
    let count = artifact.outputs.len();
    let count = count.saturating_sub(artifact.updates.len());
    artifact.outputs.iter().take(count).map(Port::of).collect()
}

impl Instance {
    /// Sets the number of threads of a call; 0, the initial value, stands for all CPUs of this process, or the environment
    /// variable SKRIPT_NUM_THREADS. Outputs do not depend on it.
    pub fn set_threads(&mut self, threads: usize) {
        self.inner.set_threads(threads);
    }

    /// Computes the outputs, in the order of the graph.
    ///
    /// # Errors
    /// [`Error::Name`] if an input has no array, [`Error::Run`] if an array does not fit or a run-time check fails;
    /// variables then keep their values.
    pub fn call(&mut self, inputs: &[(&str, &Tensor)]) -> Result<Vec<Output>, Error> {
        self.call_if(inputs, |_| true)
    }

    /// As [`Instance::call`]; variables keep their new values only if `accept` returns true for the outputs, such as
    /// where there is memory to write them to.
    ///
    /// # Errors
    /// Those of [`Instance::call`].
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
        let mut values = skript_runtime::run::compute(&mut self.inner, &arrays, &variables)?;
        let updates = skript_runtime::run::updates(&artifact, &mut values);
        let names = artifact.outputs.iter().map(|port| port.name.clone());
        let outputs: Vec<Output> = names.zip(values).collect();
        if accept(&outputs) {
            keep(&mut self.variables, updates);
        }
        Ok(outputs)
    }
}
