// SPDX-License-Identifier: Apache-2.0
//! Models, their gradients, and central differences, in f64 by the evaluator.

use skript_frontend::check::check_program;
use skript_frontend::compose::{ComposeOptions, compose};
use skript_frontend::diagnostics::Sink;
use skript_frontend::limits::Limits;
use skript_frontend::model::{Model, TensorType};
use skript_frontend::source::SourceMap;
use skript_frontend::source_files::load_text;
use skript_gradient::{Mode, Request, gradient};
use skript_semantics::{IntType, Numbers, RealType, ScalarKind};
use skript_tensor::Tensor;
use std::path::Path;
use std::sync::Arc;

/// A composed model with its texts.
pub struct Composed {
    pub model: Model,
    pub sources: SourceMap,
}

/// Composes a document with reals in f64.
pub fn composed(text: &str) -> Result<Composed, String> {
    let (limits, mut sink) = (Limits::default(), Sink::default());
    let program = load_text(text, Path::new("main.sknd"), None, &limits, &mut sink);
    check_program(&program, &mut sink);
    let options = ComposeOptions {
        numbers: Numbers { real: RealType::F64, int: IntType::I64 },
        ..ComposeOptions::default()
    };
    let model = if sink.has_errors() { None } else { compose(&program, &options, &limits, &mut sink) };
    let messages: Vec<String> = sink.diagnostics().iter().map(|d| d.message.clone()).collect();
    let model = model.ok_or_else(|| messages.join("; "))?;
    Ok(Composed { sources: Arc::try_unwrap(Arc::new(program)).unwrap().sources, model })
}

/// The types of the inputs and variables.
pub fn arguments(model: &Model) -> Vec<(String, TensorType)> {
    let entry = model.function(model.entry).unwrap();
    let ports = entry.inputs.iter().flat_map(|port| port.tensors.values());
    let name = |value: u32| {
        let value = &entry.values[value as usize];
        (value.name.clone().unwrap(), value.tensor.clone())
    };
    let mut all: Vec<(String, TensorType)> = ports.map(|value| name(value.0)).collect();
    all.extend(model.variables.iter().map(|variable| {
        let name = variable.name.strip_prefix("main.G.").unwrap().to_owned();
        (name, variable.tensor.clone())
    }));
    all
}

/// The values of a tensor of reals.
pub fn reals(tensor: &Tensor) -> Vec<f64> {
    tensor.bytes().chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap())).collect()
}

/// The outputs for arguments in the order of [`arguments`].
pub fn evaluated(model: &Model, arguments: &[Tensor]) -> Result<Vec<Tensor>, String> {
    let shared: Vec<Arc<Tensor>> = arguments.iter().cloned().map(Arc::new).collect();
    let (inputs, variables) = shared.split_at(shared.len() - model.variables.len());
    let outcome = skript_reference::evaluate(model, inputs, variables).map_err(|e| e.to_string())?;
    Ok(outcome.outputs.into_iter().map(Arc::unwrap_or_clone).collect())
}

/// Random numbers: a linear congruential generator.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// Between 0 and 1.
    pub fn unit(&mut self) -> f64 {
        self.next() as f64 / (1_u64 << 31) as f64
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

/// The sum of the products of outputs and weights.
fn weighted(output: &Tensor, weights: &[f64]) -> f64 {
    reals(output).iter().zip(weights).map(|(value, weight)| value * weight).sum()
}

const STEP: f64 = 1e-6;

/// Compares the gradient of each real output by all real arguments, and its tangent, with central differences.
///
/// # Errors
/// The refusal of the derivatives, or the first difference.
pub fn compare(document: &Composed, values: &[Tensor], random: &mut Random) -> Result<(), String> {
    let model = &document.model;
    let entry = model.function(model.entry).unwrap();
    let all = arguments(model);
    let real = |(_, (_, tensor)): &(usize, &(String, TensorType))| tensor.kind == ScalarKind::Real;
    let wrt: Vec<usize> = all.iter().enumerate().filter(real).map(|(at, _)| at).collect();
    let names: Vec<String> = wrt.iter().map(|at| all[*at].0.clone()).collect();
    let outputs = evaluated(model, values)?;
    let direction = Direction::new(values, &wrt, &mut Random(random.0 ^ 1));
    let tangents = tangents(document, values, &direction, &names)?;
    for (at, output) in outputs.iter().enumerate() {
        let port = &entry.outputs[at];
        let request = Request { of: vec![port.name.clone()], wrt: names.clone(), ..Request::default() };
        let derived = gradient(model, &document.sources, &request);
        let written = derived.map_err(|reasons| reasons[0].message.clone())?;
        let derived =
            composed(&written.text).map_err(|e| format!("invalid document: {e}\n{}", written.text))?;
        let weights: Vec<f64> = match written.seed {
            Some(_) => reals(output).iter().map(|_| random.unit() + 0.5).collect(),
            None => vec![1.0],
        };
        let mut passed = values.to_vec();
        if written.seed.is_some() {
            let inputs = passed.len() - model.variables.len();
            passed.insert(inputs, tensor(output.shape(), &weights));
        }
        let gradients = evaluated(&derived.model, &passed)?;
        let (value, gradients) = gradients.split_first().unwrap();
        if reals(value) != reals(output) {
            return Err("the gradient computes other outputs".to_owned());
        }
        let along = direction.parts.iter().zip(gradients);
        let along: f64 = along.map(|((_, direction), gradient)| weighted(gradient, direction)).sum();
        let tangent = weighted(&tangents[at], &weights);
        if (along - tangent).abs().is_nan() || (along - tangent).abs() > 1e-9 * along.abs().max(1.0) {
            return Err(format!(
                "{}: {along} by gradients, {tangent} by tangents\n{}",
                port.name, written.text
            ));
        }
        for ((argument, name), gradient) in wrt.iter().zip(&names).zip(gradients) {
            let expected = differences(model, values, *argument, at, &weights)?;
            let computed = reals(gradient);
            let largest = expected.iter().fold(1e-2_f64, |most, x| most.max(x.abs()));
            for (n, (a, b)) in computed.iter().zip(&expected).enumerate() {
                if (a - b).abs().is_nan() || (a - b).abs() > 1e-6 * largest {
                    let text = &written.text;
                    return Err(format!("{}/{name}[{n}]: {a}, expected {b}\n{text}", port.name));
                }
            }
        }
    }
    Ok(())
}

/// A direction in which arguments change: their positions, with the values of their tangents.
struct Direction {
    parts: Vec<(usize, Vec<f64>)>,
}

impl Direction {
    fn new(values: &[Tensor], wrt: &[usize], random: &mut Random) -> Self {
        let mut part = |at: &usize| (*at, reals(&values[*at]).iter().map(|_| random.unit() - 0.4).collect());
        Direction { parts: wrt.iter().map(&mut part).collect() }
    }

    /// The arguments after a step in the direction.
    fn moved(&self, values: &[Tensor], step: f64) -> Vec<Tensor> {
        let mut moved = values.to_vec();
        for (at, direction) in &self.parts {
            let elements = reals(&values[*at]);
            let elements: Vec<f64> = elements.iter().zip(direction).map(|(x, d)| x + step * d).collect();
            moved[*at] = tensor(values[*at].shape(), &elements);
        }
        moved
    }
}

/// The tangents of all outputs in a direction, compared with central differences.
fn tangents(
    document: &Composed,
    values: &[Tensor],
    direction: &Direction,
    names: &[String],
) -> Result<Vec<Tensor>, String> {
    let model = &document.model;
    let request = Request { of: Vec::new(), wrt: names.to_vec(), mode: Mode::Tangents };
    let derived = gradient(model, &document.sources, &request);
    let written = derived.map_err(|reasons| reasons[0].message.clone())?;
    let derived = composed(&written.text).map_err(|e| format!("invalid document: {e}\n{}", written.text))?;
    let mut passed = values.to_vec();
    let inputs = passed.len() - model.variables.len();
    let shaped = direction.parts.iter().map(|(at, direction)| tensor(values[*at].shape(), direction));
    passed.splice(inputs..inputs, shaped);
    let mut results = evaluated(&derived.model, &passed).map_err(|e| format!("{e}\n{}", written.text))?;
    let outputs = evaluated(model, values)?;
    let tangents = results.split_off(outputs.len());
    if !results.iter().map(reals).eq(outputs.iter().map(reals)) {
        return Err(format!("the tangents come with other outputs\n{}", written.text));
    }
    let step = STEP * 300.0;
    let at = |step: f64| evaluated(model, &direction.moved(values, step));
    let moved = [at(step)?, at(-step)?, at(2.0 * step)?, at(-2.0 * step)?];
    for (output, tangent) in tangents.iter().enumerate() {
        let computed = reals(tangent);
        let [a, b, c, d] = [0, 1, 2, 3].map(|shift: usize| reals(&moved[shift][output]));
        let slope = |n: usize| (8.0 * (a[n] - b[n]) - (c[n] - d[n])) / (12.0 * step);
        let expected: Vec<f64> = (0..computed.len()).map(slope).collect();
        let largest = expected.iter().fold(1e-2_f64, |most, x| most.max(x.abs()));
        for (n, (a, b)) in computed.iter().zip(&expected).enumerate() {
            if (a - b).abs().is_nan() || (a - b).abs() > 1e-6 * largest {
                return Err(format!("tangent {output}[{n}]: {a}, expected {b}\n{}", written.text));
            }
        }
    }
    Ok(tangents)
}

pub fn tensor(shape: &[u64], values: &[f64]) -> Tensor {
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    Tensor::from_bytes(skript_tensor::ElementType::F64, shape, &bytes).unwrap()
}

/// Central differences of the weighted sum of an output by all elements of an argument.
fn differences(
    model: &Model,
    values: &[Tensor],
    argument: usize,
    output: usize,
    weights: &[f64],
) -> Result<Vec<f64>, String> {
    let at = reals(&values[argument]);
    let mut slopes = Vec::new();
    for element in 0..at.len() {
        let value = |shift: f64| {
            let mut moved = at.clone();
            moved[element] += shift;
            let mut all = values.to_vec();
            all[argument] = tensor(values[argument].shape(), &moved);
            evaluated(model, &all).map(|outputs| weighted(&outputs[output], weights))
        };
        // The five-point formula: its error is of the fourth order, so that the step may be large.
        let step = STEP * 300.0;
        let near = value(step)? - value(-step)?;
        let far = value(2.0 * step)? - value(-2.0 * step)?;
        slopes.push((8.0 * near - far) / (12.0 * step));
    }
    Ok(slopes)
}
