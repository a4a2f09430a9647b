// SPDX-License-Identifier: Apache-2.0
//! Repeats a recorded run without reading the model.

use std::io::{ErrorKind, Write as _};
use std::path::Path;

use skript_runtime::cache::{Cache, RunRecord};
use skript_runtime::{Artifact, Instance, Program, files, run, threads};
use skript_tensor::{Tensor, WeightStore, summary};

use crate::command::Command;

/// Computes and writes the outputs, if the cache has a valid record of the command. `None` if a file has changed or a step
/// fails: the driver then executes the command, and only the driver prints messages. Nothing is written before all outputs
/// are computed.
pub fn repeat(command: &Command, key: &str) -> Option<()> {
    let cache = Cache::of_user()?;
    let record = cache.run(key).filter(|record| cache.holds(record))?;
    if let Some(threads) = command.threads {
        threads::set_default_threads(threads.into());
    }
    let artifact = cache.get(&record.code)?;
    let inputs = inputs(command, &record, &artifact)?;
    let variables = variables(&record, &artifact)?;
    let inputs: Vec<&Tensor> = inputs.iter().collect();
    let variables: Vec<&Tensor> = variables.iter().collect();
    let program = Program::load(artifact).ok()?;
    let mut instance = Instance::new(&program).ok()?;
    if program.artifact().prepared > 0 {
        let prepared = cache.prepare(&program, &variables, 0);
        instance.set_prepared(prepared.ok()?);
    }
    let outputs = run::compute(&mut instance, &inputs, &variables).ok()?;
    let results = results(&record, program.artifact(), &outputs)?;
    write(command.output_dir.as_deref(), &results)
}

/// The inputs of the code in order; `None` unless each of them occurs once in the command.
fn inputs(command: &Command, record: &RunRecord, artifact: &Artifact) -> Option<Vec<Tensor>> {
    let is_complete =
        record.inputs.len() == command.inputs.len() && artifact.inputs.len() == command.inputs.len();
    let read = artifact.inputs.iter().enumerate().map(|(number, port)| {
        let is_port = |at: &u32| usize::try_from(*at) == Ok(number);
        let at = record.inputs.iter().position(is_port)?;
        let (_, file) = command.inputs.get(at)?;
        let mut port = port.clone();
        port.imported = *record.declared.get(number)?;
        files::input(&port, file).ok()
    });
    is_complete.then(|| read.collect())?
}

fn variables(record: &RunRecord, artifact: &Artifact) -> Option<Vec<Tensor>> {
    let folder = if record.folder.as_os_str().is_empty() { Path::new(".") } else { &record.folder };
    let weights = WeightStore::folder(folder, &record.stem, record.unpacked_bytes).ok()?;
    files::variables(artifact, &weights).ok()
}

/// The outputs with their names, in the element types of the imported model.
fn results(record: &RunRecord, artifact: &Artifact, outputs: &[Tensor]) -> Option<Vec<(String, Tensor)>> {
    let ports: Vec<_> = files::outputs(artifact).collect();
    if ports.len() != record.outputs.len() {
        return None;
    }
    let results = ports.into_iter().zip(&record.outputs);
    results
        .map(|((number, name), element)| {
            let tensor = outputs.get(number)?;
            let converted = element.and_then(|element| files::converted(tensor, element));
            Some((name, converted.unwrap_or_else(|| tensor.clone())))
        })
        .collect()
}

/// Writes to stdout; a closed pipe is not an error.
fn print(text: &str) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(text.as_bytes());
    match written.and_then(|()| stdout.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(e),
        _ => Ok(()),
    }
}

/// Writes the outputs, or prints a summary of them.
fn write(folder: Option<&Path>, results: &[(String, Tensor)]) -> Option<()> {
    let Some(folder) = folder else {
        let lines: String = results.iter().map(|(name, t)| summary::line(name, t)).collect();
        return print(&lines).ok();
    };
    std::fs::create_dir_all(folder).ok()?;
    let mut results = results.iter();
    results.try_for_each(|(name, tensor)| files::write(folder, name, tensor).ok())
}
