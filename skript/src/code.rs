// SPDX-License-Identifier: Apache-2.0
//! Native code.

use crate::compiler::Compiler;
use crate::error::Error;
use crate::instance::Instance;
use crate::port::Port;
use crate::target::Target;
use crate::weights::Weights;
use skript_runtime::device::DeviceChoice;
use skript_runtime::{Artifact, RunError, embed};
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

impl Code {
    /// The code of an artifact of the runtime.
    pub fn new(artifact: Artifact) -> Self {
        Code { artifact }
    }

    /// The artifact of the runtime. Its interface changes without notice.
    pub fn artifact(&self) -> &Artifact {
        &self.artifact
    }

    /// Converts to the artifact of the runtime without a copy.
    pub fn into_artifact(self) -> Artifact {
        self.artifact
    }

    /// Whether the code has GPU kernels, so that [`Code::load_on`] loads it.
    pub fn is_for_gpu(&self) -> bool {
        self.artifact.kernels.is_some()
    }

    /// The values of the variables.
    fn values(&self, weights: &Weights) -> Result<Vec<Tensor>, Error> {
        match &self.artifact.embedded {
            None => weights.of_ports(&self.artifact.variables),
            Some(embedded) if weights.are_none() => Ok(embedded.variables().to_vec()),
            Some(_) => Err(RunError::Embedded.into()),
        }
    }

    /// The inputs in order; packs are flattened.
    pub fn inputs(&self) -> Vec<Port> {
        self.artifact.inputs.iter().map(Port::new).collect()
    }

    /// The variables in order.
    pub fn variables(&self) -> Vec<Port> {
        self.artifact.variables.iter().map(Port::new).collect()
    }

    /// The outputs in order, without the new values of variables; packs are flattened.
    pub fn outputs(&self) -> Vec<Port> {
        outputs_of(&self.artifact)
    }

    /// Compiles `@main`, or the only public function, of a StableHLO program (MLIR text). Inputs and outputs are numbered.
    ///
    /// # Errors
    /// [`Error::Program`] with all reasons why the program cannot be compiled.
    pub fn of_stablehlo(text: &str, target: &Target) -> Result<Self, Error> {
        Code::of_stablehlo_for(text, &Compiler::new(target), |_| None)
    }

    /// Compiles a StableHLO program with symbolic dimensions for the shapes of a call: `shapes` receives the number of
    /// arguments and returns their shapes. It is not called for a program without symbolic dimensions.
    ///
    /// # Errors
    /// [`Error::Program`] with all reasons why the program cannot be compiled, for instance that the shapes are unknown or do
    /// not match.
    pub fn of_stablehlo_for(
        text: &str,
        compiler: &Compiler,
        mut shapes: impl FnMut(usize) -> Option<Vec<Vec<u64>>>,
    ) -> Result<Self, Error> {
        let extent = |extent: u64| i64::try_from(extent).ok();
        let mut shapes = |declared: &[import::Tensor]| {
            let shapes = shapes(declared.len())?.into_iter();
            shapes.map(|s| s.into_iter().map(extent).collect()).collect()
        };
        let (program, _) = compiler.program(text, &mut shapes).map_err(|refusals| {
            let reasons = refusals.iter().map(|refusal| match refusal.source_position {
                Some((line, column)) => format!("{line}:{column}: {}", refusal.message),
                None => refusal.message.clone(),
            });
            Error::Program(reasons.collect())
        })?;
        Ok(Code::new(program.artifact))
    }

    /// The bytes of a `.skm` file. Equal models result in equal bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.artifact.to_bytes()
    }

    /// Writes a `.skm` file, which replaces one with the same name.
    ///
    /// # Errors
    /// The error of the system; an old file remains.
    pub fn save(&self, path: &Path) -> std::io::Result<()> {
        self.artifact.save(path)
    }

    /// Reads code from bytes. The bytes contain native code: load only bytes that you would execute as a program.
    ///
    /// # Errors
    /// [`Error::Code`] if the bytes were not written by [`Code::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Ok(Code { artifact: Artifact::from_bytes(bytes)? })
    }

    /// Maps code from a `.skm` file. The file must not be written to while the code is in use, because embedded weights are
    /// mapped. It contains native code: open only files that you would execute as a program.
    ///
    /// # Errors
    /// [`Error::Code`] if the file cannot be read, or its bytes were not written by [`Code::to_bytes`].
    pub fn open(path: &Path) -> Result<Self, Error> {
        Ok(Code { artifact: Artifact::open(path)? })
    }

    /// Embeds these weights and the values that depend only on weights. `load(&Weights::none())` loads the result.
    ///
    /// # Errors
    /// [`Error::Arrays`] if a variable has no value, [`Error::Run`] if the code does not run on this machine.
    pub fn embed(self, weights: &Weights) -> Result<Self, Error> {
        let variables = weights.of_ports(&self.artifact.variables)?;
        let variables: Vec<&Tensor> = variables.iter().collect();
        Ok(Code { artifact: embed(self.artifact, &variables, 0)? })
    }

    /// Loads the code into this process. Code that embeds its weights requires [`Weights::none`].
    ///
    /// # Errors
    /// [`Error::Load`] if the code was compiled for another kind of processor, [`Error::Arrays`] if a variable has no value,
    /// [`Error::Run`] if the code embeds its weights and other weights are passed.
    pub fn load(&self, weights: &Weights) -> Result<Instance, Error> {
        Instance::on_processor(self.artifact.clone(), self.values(weights)?)
    }

    /// Loads code for a GPU onto a GPU. Code that embeds its weights requires [`Weights::none`].
    ///
    /// # Errors
    /// [`Error::Run`] if the device does not exist or cannot execute the kernels, or if the code is for a processor; and the errors of
    /// [`Code::load`].
    pub fn load_on(&self, device: DeviceChoice, weights: &Weights) -> Result<Instance, Error> {
        Instance::on_device(self.artifact.clone(), device, self.values(weights)?)
    }
}

/// The outputs of code, without the new values of variables.
pub(crate) fn outputs_of(artifact: &Artifact) -> Vec<Port> {
    let count = artifact.outputs.len().saturating_sub(artifact.updates.len());
    artifact.outputs.iter().take(count).map(Port::new).collect()
}
