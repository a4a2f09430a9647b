// SPDX-License-Identifier: Apache-2.0
//! Composes a document and evaluates it.

use skript_frontend::check::check_program;
use skript_frontend::compose::{ComposeOptions, compose};
use skript_frontend::diagnostics::Sink;
use skript_frontend::limits::Limits;
use skript_frontend::model::Model;
use skript_frontend::program::Edition;
use skript_frontend::source_files::load_program;
use skript_reference::{EvalError, Outcome, evaluate};
use skript_semantics::Scalar;
use skript_tensor::Tensor;
use std::sync::Arc;

/// The first graph of a document, or its messages, such as `SK0850: text`.
pub fn model(text: &str) -> Result<Model, Vec<String>> {
    model_with(text, None, &ComposeOptions::default())
}

pub fn model_with(
    text: &str,
    edition: Option<Edition>,
    options: &ComposeOptions,
) -> Result<Model, Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("main.sknd");
    std::fs::write(&path, text).unwrap();
    let (limits, mut sink) = (Limits::default(), Sink::default());
    let program = load_program(&path, edition, &limits, &mut sink);
    check_program(&program, &mut sink);
    let model = if sink.has_errors() { None } else { compose(&program, options, &limits, &mut sink) };
    model.ok_or_else(|| {
        sink.into_sorted().into_iter().map(|d| format!("{}: {}", d.code.id, d.message)).collect()
    })
}

pub fn reals(shape: &[u64], values: &[f32]) -> Arc<Tensor> {
    Arc::new(Tensor::from_f32(shape, values).unwrap())
}

pub fn ints(shape: &[u64], values: &[i64]) -> Arc<Tensor> {
    Arc::new(Tensor::from_i64(shape, values).unwrap())
}

pub fn flag(value: bool) -> Arc<Tensor> {
    Arc::new(Tensor::from_bool(&[], &[value]).unwrap())
}

/// Runs with variables filled with ones.
pub fn run(text: &str, inputs: &[Arc<Tensor>]) -> Result<Outcome, EvalError> {
    let model = model(text).unwrap_or_else(|messages| panic!("{messages:#?}"));
    let ones = model.variables.iter().map(|v| {
        let shape = v.tensor.fixed_shape().unwrap();
        let volume: u64 = shape.iter().product();
        reals(&shape, &vec![1.0; usize::try_from(volume).unwrap()])
    });
    evaluate(&model, inputs, &ones.collect::<Vec<_>>())
}

/// The elements of each output, whatever its type.
pub fn outputs(text: &str, inputs: &[Arc<Tensor>]) -> Vec<Vec<f64>> {
    let outcome = run(text, inputs).unwrap_or_else(|error| panic!("{error}"));
    outcome.outputs.iter().map(|t| elements(t)).collect()
}

pub fn elements(tensor: &Tensor) -> Vec<f64> {
    let count = tensor.shape().iter().product::<u64>();
    (0..usize::try_from(count).unwrap())
        .map(|position| match tensor.get(position).unwrap() {
            Scalar::Bool(b) => f64::from(u8::from(b)),
            Scalar::Int(i) => i as f64,
            Scalar::Real(r) => r,
        })
        .collect()
}

/// A run of a document without variables in the edition khronos.
pub fn run_khronos(text: &str, inputs: &[Arc<Tensor>]) -> Result<Outcome, EvalError> {
    let model = model_with(text, Some(Edition::Khronos), &ComposeOptions::default());
    let model = model.unwrap_or_else(|messages| panic!("{text}: {messages:#?}"));
    evaluate(&model, inputs, &[])
}

/// The failure of a run, and the functions of its call stack, innermost first.
pub fn failure(text: &str, inputs: &[Arc<Tensor>]) -> (String, Vec<String>) {
    let error = run(text, inputs).err().unwrap();
    let calls = error.calls.iter().map(|call| call.function.clone());
    (error.failure.to_string(), calls.collect())
}
