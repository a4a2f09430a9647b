// SPDX-License-Identifier: Apache-2.0
//! `skript train`: trains the variables of a model on samples, and writes the model with its weights.

mod checkpoint;
mod curve;
mod data;
mod steps;

use std::path::Path;

use skript::{ComposeOptions, Gradient, Mode, Model, Tensor};
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::{COMMAND_LINE_NAME, TRAINING};
use skript_frontend::model::{Extent, Function};
use skript_host::format::is_onnx_model;
use skript_semantics::ScalarKind;
use skript_tensor::{MissingWeights, VariableRequest, load_each};

use crate::command_line::{Pipeline, TrainArguments};
use crate::console::{Console, Status};
use crate::model_folder::write_modules;
use crate::session::{Session, Stopped, Weights, internal};
use crate::verbs::grad::write_document;
use crate::written::check_folder;
use checkpoint::{Fingerprint, Progress, save_arrays};
use data::Data;
use steps::Training;

/// The default number of samples of a step, if the inputs have no static number.
const BATCH: u64 = 32;

pub fn run(arguments: &TrainArguments, console: &mut Console) -> Status {
    arguments.threads.apply();
    arguments.target.announce(console);
    let mut session = Session::open(&arguments.model, &arguments.reading);
    if session.status() == Status::Done {
        session.check_names(std::iter::empty());
    }
    if session.status() == Status::Done
        && let Some(model) = session.compose()
        && let Err(stopped) = train(arguments, &mut session, &model, console)
    {
        session.report_all(stopped);
    }
    session.close(console)
}

fn train(
    arguments: &TrainArguments,
    session: &mut Session,
    model: &Model,
    console: &mut Console,
) -> Result<(), Stopped> {
    let folder = arguments.output.as_path();
    check(arguments)?;
    let data = Data::read(session, entry(model)?, &arguments.data)?;
    let validation = match &arguments.validation {
        Some(path) => Some(Data::read(session, entry(model)?, path)?),
        None => None,
    };
    let whole = model;
    let (model, batch) = batched(arguments, whole, &data)?;
    check_count(&data, &arguments.data, batch)?;
    note_rest(data.count as u64 % batch, &arguments.data, console);
    let mut rest = None;
    if let (Some(samples), Some(path)) = (&validation, &arguments.validation) {
        check_count(samples, path, batch)?;
        rest = rest_of(&model, whole, samples, batch)?;
        let left_out = if rest.is_some() { 0 } else { samples.count as u64 % batch };
        note_rest(left_out, path, console);
    }
    let wrt: Vec<&str> = arguments.wrt.iter().map(String::as_str).collect();
    let of = arguments.of.as_deref();
    let recipe = arguments.steps.training(&arguments.optimizer);
    let gradient = model.derivatives_or_reasons(of.as_slice(), &wrt, &Mode::Training(recipe))?;
    let Some(_) = session.variables(&model, Weights::from(&arguments.weights)) else { return Ok(()) };
    let weights = session.weights(Weights::from(&arguments.weights))?;
    let (step, initial) = gradient.model(&model, &weights)?;
    let variables = initial.load_each(&step.requests()).into_iter().collect::<Result<Vec<Tensor>, _>>();
    let variables = variables.map_err(|error| skript::Error::Arrays(vec![error]))?;
    let outputs = outputs(arguments, &model);
    let fingerprint = fingerprint(arguments, &model, &gradient, batch, &data, validation.as_ref());
    let columns = outputs.len() * if validation.is_some() { 2 } else { 1 };
    let (variables, progress) = if arguments.resume {
        checkpoint::load(folder, &step, &fingerprint)?
    } else {
        write_model(session, &model, &gradient, folder)?;
        (variables, Progress { sums: vec![0.0; columns], ..Progress::default() })
    };
    let compiler = arguments.target.compiler(Pipeline::Linalg, &arguments.reading).for_this_executable(true);
    let training = Training {
        arguments,
        compiler: &compiler,
        model: &model,
        gradient: &gradient,
        step: &step,
        data: &data,
        validation: validation.as_ref(),
        rest: rest.as_ref(),
        batch: usize::try_from(batch).map_err(|_| internal("the batch is too large"))?,
        outputs: &outputs,
        fingerprint,
    };
    let trained = training.run(variables, progress)?;
    write_weights(session, &model, &trained, &weights, folder)
}

/// Refuses ONNX models, and folders with files.
fn check(arguments: &TrainArguments) -> Result<(), Stopped> {
    if is_onnx_model(&arguments.model) {
        let text = format!("{} is an ONNX model", arguments.model.display());
        let wrong = Diagnostic::without_location(&COMMAND_LINE_NAME, text);
        return Err(wrong
            .with_help("`skript import --trainable` writes it as a model folder, to which a loss is added")
            .into());
    }
    if arguments.resume {
        return Ok(());
    }
    Ok(check_folder(&arguments.output, &arguments.model, arguments.force)?)
}

fn entry(model: &Model) -> Result<&Function, Stopped> {
    let model = model.ir();
    model.function(model.entry).ok_or_else(|| internal("the model has no entry").into())
}

/// The model for the number of samples of a step, and this number.
fn batched(arguments: &TrainArguments, model: &Model, data: &Data) -> Result<(Model, u64), Stopped> {
    let wrong =
        |text: String, help: &str| Err(Diagnostic::without_location(&TRAINING, text).with_help(help).into());
    let entry = entry(model)?;
    let firsts = entry.inputs.iter().flat_map(|port| {
        let values = port.tensors.values().iter().filter_map(|id| entry.values.get(id.0 as usize));
        values.filter_map(|value| Some((port.name.as_str(), value.tensor.shape.first()?)))
    });
    let firsts: Vec<(&str, &Extent)> = firsts.collect();
    let fixed: Vec<(&str, u64)> =
        firsts.iter().filter_map(|(name, extent)| Some((*name, extent.fixed()?))).collect();
    let least = firsts.iter().map(|(_, extent)| extent.bound()).fold(BATCH.min(data.count as u64), u64::min);
    let batch = arguments.batch.or(fixed.first().map(|(_, extent)| *extent)).unwrap_or(least.max(1));
    if let Some((name, extent)) = fixed.iter().find(|(_, extent)| *extent != batch) {
        let text = format!("the input `{name}` has {extent} samples, and a step has {batch}");
        return wrong(text, "leave --batch out, or declare a dynamic first extent, as in `x: real[n|64,8]`");
    }
    if batch == 0 {
        return wrong(
            "a step has no samples: the first extent of the inputs is 0".to_owned(),
            "declare a positive extent",
        );
    }
    let shapes = data.shapes(batch);
    let shapes: Vec<&[u64]> = shapes.iter().map(Vec::as_slice).collect();
    let shapes = model.ir().dynamic_shapes(&shapes);
    let model = if shapes.is_empty() { model.clone() } else { model.with_shapes(shapes)? };
    Ok((model, batch))
}

/// The model for the samples that do not fill a batch; `None` without such samples, and for a model with a static number.
fn rest_of(model: &Model, whole: &Model, samples: &Data, batch: u64) -> Result<Option<Model>, Stopped> {
    let rest = samples.count as u64 % batch;
    let shapes = samples.shapes(rest);
    let shapes: Vec<&[u64]> = shapes.iter().map(Vec::as_slice).collect();
    let shapes = whole.ir().dynamic_shapes(&shapes);
    if rest == 0 || shapes.is_empty() {
        return Ok(None);
    }
    let rest = whole.with_shapes(shapes)?;
    let shapes = |model: &Model| -> Vec<Vec<u64>> {
        model.requests().into_iter().map(|request| request.shape).collect()
    };
    let is_same = shapes(&rest) == shapes(model);
    Ok(is_same.then_some(rest))
}

/// Checks that there is a batch of samples.
fn check_count(samples: &Data, path: &Path, batch: u64) -> Result<(), Stopped> {
    let count = samples.count as u64;
    if count < batch {
        let text = format!("{} has {count} samples, and a step has {batch}", path.display());
        let wrong = Diagnostic::without_location(&TRAINING, text);
        return Err(wrong.with_help("reduce --batch, or add samples").into());
    }
    Ok(())
}

fn note_rest(count: u64, path: &Path, console: &mut Console) {
    if count > 0 {
        let path = skript_host::printable(&path.display().to_string()).into_owned();
        console.write(&format!(
            "note: {count} samples of {path} are left out in each epoch, because they do not fill a step\n"
        ));
    }
}

/// The real outputs with one element, by position and name; first the one to reduce.
fn outputs(arguments: &TrainArguments, model: &Model) -> Vec<(usize, String)> {
    let ir = model.ir();
    let names = crate::outputs::names(ir);
    let values = ir.function(ir.entry).into_iter().flat_map(|entry| {
        let ids = entry.outputs.iter().flat_map(|port| port.tensors.values());
        ids.filter_map(|id| entry.values.get(id.0 as usize))
    });
    let is_scalar = values.map(|value| {
        let shape = value.tensor.fixed_shape();
        value.tensor.kind == ScalarKind::Real && shape.is_some_and(|shape| shape.iter().all(|n| *n == 1))
    });
    let named = names.into_iter().enumerate().zip(is_scalar).filter(|(_, is_scalar)| *is_scalar);
    let mut outputs: Vec<(usize, String)> = named.map(|(output, _)| output).collect();
    // Sorting is stable: the other outputs keep their order.
    outputs.sort_by_key(|(_, name)| arguments.of.as_ref().is_some_and(|of| of != name));
    outputs
}

fn fingerprint(
    arguments: &TrainArguments,
    model: &Model,
    gradient: &Gradient,
    batch: u64,
    data: &Data,
    validation: Option<&Data>,
) -> Fingerprint {
    let mut step = blake3::Hasher::new();
    step.update(gradient.text.as_bytes());
    gradient.modules.iter().for_each(|(_, text)| _ = step.update(text.as_bytes()));
    step.update(format!("{:?} {:?}", model.ir().numbers, gradient.variables).as_bytes());
    let mut samples = blake3::Hasher::new();
    data.hash(&mut samples);
    samples.update(b"validation");
    validation.into_iter().for_each(|validation| validation.hash(&mut samples));
    let options = blake3::hash(format!("{batch} {}", arguments.seed).as_bytes());
    [step.finalize().into(), options.into(), samples.finalize().into()]
}

/// Writes the modules of the model, and the training step into the folder `training`.
fn write_model(session: &Session, model: &Model, gradient: &Gradient, folder: &Path) -> Result<(), Stopped> {
    let program = session.document.program();
    let main = program.main_module().and_then(|module| program.sources.get(module.file));
    let main = main.ok_or_else(|| internal("the main module has no text"))?;
    write_modules(program, &main.text, folder)?;
    write_document(model, gradient, &folder.join("training"))?;
    Ok(())
}

/// Writes the weights, and those of the other graphs of the main module. A variable of another graph with the path, shape and
/// type of a trained one has the trained value, unless it had another value before: a graph without the loss has the weights of
/// the one that was trained.
fn write_weights(
    session: &Session,
    model: &Model,
    trained: &[Tensor],
    before: &skript::Weights,
    folder: &Path,
) -> Result<(), Stopped> {
    let stored = |request: &VariableRequest| {
        let requests = std::slice::from_ref(request);
        load_each(before.store(), requests, MissingWeights::Error).pop()?.ok()
    };
    let numbers = model.ir().numbers;
    let main = format!("{}.", session.document.program().main);
    let inner = |name: &'_ str| name.strip_prefix(&main).unwrap_or(name).to_owned();
    let path = |name: &str| inner(name).split_once('.').map(|(_, path)| path.to_owned());
    // The main module of the new folder is called `main`.
    let renamed = |name: &str| format!("main.{}", inner(name));
    let requests = model.requests();
    let mut arrays: Vec<(String, Tensor)> =
        requests.iter().map(|request| renamed(request.name)).zip(trained.iter().cloned()).collect();
    let graphs: Vec<&str> =
        session.document.graph_definitions().map(|graph| graph.name.name.as_str()).collect();
    for graph in graphs {
        let options =
            ComposeOptions::default().graph(graph).real(numbers.real.name())?.int(numbers.int.name())?;
        let Ok(other) = session.document.compose(&options) else { continue };
        for request in other.requests() {
            let mut known = requests.iter().zip(trained);
            let like = known.find(|(own, tensor)| {
                path(own.name) == path(request.name)
                    && tensor.shape() == request.shape
                    && tensor.element() == request.element
            });
            let name = renamed(request.name);
            if arrays.iter().any(|(known, _)| *known == name) {
                continue;
            }
            let old = stored(&request);
            let shared = like.filter(|(own, _)| {
                old.as_ref().is_none_or(|old| stored(own).is_some_and(|own| own.bytes() == old.bytes()))
            });
            let value = shared.map(|(_, tensor)| tensor.clone()).or(old);
            arrays.extend(value.map(|value| (name, value)));
        }
    }
    let named = arrays.iter().map(|(name, tensor)| (name.as_str(), tensor));
    Ok(save_arrays(&folder.join("main.safetensors"), named)?)
}
