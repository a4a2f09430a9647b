// SPDX-License-Identifier: Apache-2.0
//! Selects the scales and zero points of tensors from samples.

use skript::{Compiler, Instance, Model, Tensor};
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::{CALIBRATION, QUANTIZATION_NOISE};
use skript_frontend::model::ValueId;

use super::observation::{Method, Observation, magnitudes};
use super::operands::{Selected, Source};
use super::parameters::{Parameters, Precision};
use super::samples::Samples;
use crate::engine::{failed, load};
use crate::stopped::Stopped;

/// The float model, its weights and the samples.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    pub model: &'a Model,
    pub compiler: &'a Compiler,
    pub variables: &'a [Tensor],
    pub samples: &'a Samples,
}

impl Run<'_> {
    /// Compiles a model with the variables of this run.
    pub fn load(&self, model: &Model, compiler: &Compiler) -> Result<Instance, Stopped> {
        let artifact = compiler.compile(model)?.artifact;
        load(artifact, compiler, model, self.variables)
    }

    /// The inputs of a sample, and the outputs of a model for it.
    pub fn call(
        &self,
        instance: &mut Instance,
        model: &Model,
        sample: usize,
    ) -> Result<(Vec<Tensor>, Vec<Tensor>), Stopped> {
        let inputs = self.samples.get(sample)?;
        let outputs = instance.compute(&inputs.iter().collect::<Vec<_>>()).map_err(|e| failed(&e, model))?;
        Ok((inputs, outputs))
    }
}

/// The tensors of the selection that are computed, in the order of the selection, as outputs of a model.
pub struct Exposed {
    model: Model,
    /// For each selected tensor, its position among the outputs.
    outputs: Vec<Option<usize>>,
}

impl Exposed {
    /// # Errors
    /// A tensor of an operator with dynamic extents.
    pub fn new(model: &Model, selected: &[Selected]) -> Result<Self, Stopped> {
        let mut places: Vec<(Vec<usize>, ValueId)> = Vec::new();
        let positions = selected.iter().map(|selected| {
            let place = &selected.place;
            let is_computed = matches!(place.source, Source::Computed | Source::Weights);
            is_computed.then(|| {
                places.push((place.path.clone(), place.value));
                places.len() - 1
            })
        });
        let outputs = positions.collect();
        let exposed = model.with_outputs(&places).ok_or_else(|| {
            let text = "a tensor of an operator has dynamic extents, so its elements cannot be collected";
            let wrong = Diagnostic::without_location(&CALIBRATION, text);
            wrong.with_help("use data whose samples all have the same shape, or --input-shape")
        })?;
        Ok(Exposed { model: exposed, outputs })
    }

    /// Calls the function with the elements of each selected tensor for each of the samples. Constant tensors are passed for the first
    /// sample only.
    pub fn for_each(
        &self,
        run: Run,
        selected: &[Selected],
        samples: std::ops::Range<usize>,
        mut visit: impl FnMut(usize, usize, &Tensor) -> Result<(), Stopped>,
    ) -> Result<(), Stopped> {
        let has_outputs = self.outputs.iter().any(Option::is_some);
        let mut instance = has_outputs.then(|| run.load(&self.model, run.compiler)).transpose()?;
        for (number, sample) in samples.enumerate() {
            let (inputs, outputs) = match &mut instance {
                Some(instance) => run.call(instance, &self.model, sample)?,
                None => (run.samples.get(sample)?, Vec::new()),
            };
            for (at, (selected, output)) in selected.iter().zip(&self.outputs).enumerate() {
                let source = selected.place.source;
                let tensor = match source {
                    Source::Variable(id) => run.variables.get(id.0 as usize),
                    Source::Input(position) => inputs.get(position),
                    Source::Weights | Source::Computed => output.and_then(|position| outputs.get(position)),
                };
                if let Some(tensor) = tensor.filter(|_| number == 0 || !source.is_constant()) {
                    visit(at, sample, tensor)?;
                }
            }
        }
        Ok(())
    }
}

/// The parameters of each selected tensor; `None` for tensors of zeros, which are reported as warnings.
pub struct Calibration {
    pub parameters: Vec<Option<Parameters>>,
    /// The range of the elements before clamping.
    pub ranges: Vec<[f64; 2]>,
    pub warnings: Vec<Diagnostic>,
}

/// Runs the model on the samples, and selects the parameters of its tensors.
///
/// # Errors
/// The model cannot be compiled or run, or a tensor has an element that is not finite.
pub fn calibrate(
    run: Run,
    selected: &[Selected],
    exposed: &Exposed,
    samples: std::ops::Range<usize>,
    (method, precision): (Method, Precision),
) -> Result<Calibration, Stopped> {
    let mut observations = vec![Observation::new(method, precision); selected.len()];
    let mut weights: Vec<Option<Vec<f64>>> = vec![None; selected.len()];
    exposed.for_each(run, selected, samples.clone(), |at, sample, tensor| {
        let (Some(selected), Some(observation)) = (selected.get(at), observations.get_mut(at)) else {
            return Ok(());
        };
        if let Some(unfit) = observation.add(tensor) {
            let text = format!("`{}` has the element {unfit} in sample {sample}", selected.name);
            let wrong = Diagnostic::error(&CALIBRATION, selected.place.span, text);
            let help = "a range has finite limits; leave out the sample, or correct the weights";
            return Err(wrong.with_help(help).into());
        }
        if selected.place.source.is_constant()
            && let Some(weights) = weights.get_mut(at)
        {
            *weights = Some(magnitudes(tensor, selected.channel));
        }
        Ok(())
    })?;
    if method.has_second_pass() {
        observations.iter_mut().for_each(Observation::begin_second);
        exposed.for_each(run, selected, samples, |at, _, tensor| {
            if let Some(observation) = observations.get_mut(at) {
                observation.add_second(tensor);
            }
            Ok(())
        })?;
    }
    let mut result = Calibration { parameters: Vec::new(), ranges: Vec::new(), warnings: Vec::new() };
    for ((selected, observation), weights) in selected.iter().zip(&observations).zip(&weights) {
        let parameters = match weights {
            Some(magnitudes) => precision.for_magnitudes(magnitudes, selected.channel),
            None => {
                let [low, high] = observation.range();
                precision.for_range(low, high)
            }
        };
        if parameters.is_none() {
            let text = format!("`{}` is zero for all samples, so it is not quantized", selected.name);
            result.warnings.push(Diagnostic::warning(&QUANTIZATION_NOISE, selected.place.span, text));
        }
        result.parameters.push(parameters);
        result.ranges.push(observation.extremes());
    }
    Ok(result)
}
