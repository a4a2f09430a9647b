// SPDX-License-Identifier: Apache-2.0
//! `skript run program.mlir`: runs a StableHLO program on arrays that are named by their position.

use std::path::Path;
use std::time::Instant;

use skript::{Instance, Tensor};
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::source::SourceMap;
use skript_runtime::profile::{self, Profile};
use skript_stablehlo::import::{Element, Program};
use skript_tensor::npy;

use crate::command_line::{EngineName, Pipeline, RunArguments};
use crate::console::{Console, Status};
use crate::engine::{RunCost, compiler};
use crate::profile::Recorded;
use crate::stablehlo_program::{self, call_flags, gather, load, load_for_profile};
use crate::stopped::diagnostics;
use crate::{measure, outputs};

pub fn run(path: &Path, arguments: &RunArguments, console: &mut Console) -> Status {
    let flags = [
        ("--engine=reference", arguments.engine == EngineName::Reference),
        ("--pipeline", arguments.pipeline != Pipeline::Linalg),
        ("--weights", arguments.weights.weights.is_some()),
        ("--variables", arguments.weights.variables.is_some()),
        ("--save-variables", arguments.save_variables.is_some()),
    ];
    let wrong = call_flags(&arguments.reading, &flags, &arguments.inputs);
    stablehlo_program::perform(&arguments.reading, wrong, console, |sources| {
        let (program, results) = compute(path, arguments, sources)?;
        write(arguments, &program, &results)
    })
}

/// Runs the program and returns it with its results. Writes the profile and the statistics if requested.
fn compute(
    path: &Path,
    arguments: &RunArguments,
    sources: &mut SourceMap,
) -> Result<(Program, Vec<Tensor>), Vec<Diagnostic>> {
    let begun = Instant::now();
    let (reading, given) = (&arguments.reading, &arguments.inputs);
    let compiler = compiler(arguments.pipeline, arguments.target.target());
    let (program, steps, cached) = if arguments.profile.is_some() {
        let (program, steps) = load_for_profile(path, reading, given, &compiler, sources)?;
        (program, steps, false)
    } else {
        let compiler = if arguments.no_cache { compiler } else { compiler.for_this_executable(true) };
        let (program, cached) = load(path, reading, given, &compiler, sources)?;
        (program, Vec::new(), cached)
    };
    let tensors = gather(&program, given, reading.limits.in_force().unpacked_bytes)?;
    let failed = |e: skript::RunError| diagnostics(e.into());
    let mut instance = Instance::on_processor(program.artifact.clone(), Vec::new()).map_err(diagnostics)?;
    let mut spent = RunCost {
        compile: begun.elapsed(),
        cached,
        arena: program.artifact.arena.size,
        ..RunCost::default()
    };
    let tensors: Vec<&Tensor> = tensors.iter().collect();
    let mut results = Vec::new();
    let mut profile = Profile::default();
    for _ in 0..arguments.repeat {
        if arguments.profile.is_some() {
            // The first call faults in the pages.
            instance.trial(&tensors).map_err(failed)?;
        }
        let begun = Instant::now();
        let computed;
        // Only the last call is reported.
        (computed, profile) = match arguments.profile {
            None => (instance.compute(&tensors), profile),
            Some(_) => profile::record(steps.len(), || instance.compute(&tensors)),
        };
        results = computed.map_err(failed)?;
        spent.run = begun.elapsed();
    }
    if let Some(output) = &arguments.profile {
        let model = stablehlo_program::name(path);
        let recorded = Recorded { steps, profile, calls: 1, prepared: None, model };
        recorded.report(output).map_err(|e| vec![*e])?;
    }
    if let Some(path) = &arguments.stats {
        measure::write_stats(path, &spent).map_err(|e| vec![*e])?;
    }
    Ok((program, results))
}

/// Writes the results, pairs of complex results as complex numbers, or prints a summary.
fn write(arguments: &RunArguments, program: &Program, results: &[Tensor]) -> Result<(), Vec<Diagnostic>> {
    let names: Vec<String> = (0..results.len()).map(|n| n.to_string()).collect();
    let Some(folder) = &arguments.output_dir else {
        crate::stdout::print(&outputs::summary(&names, results));
        return Ok(());
    };
    for ((name, tensor), declared) in names.iter().zip(results).zip(&program.results) {
        let is_complex = matches!(declared.element, Element::Complex(_));
        let write: outputs::Writer = if is_complex { npy::write_pairs } else { npy::write };
        outputs::write_one(name, tensor, folder, write).map_err(|e| vec![*e])?;
    }
    Ok(())
}
