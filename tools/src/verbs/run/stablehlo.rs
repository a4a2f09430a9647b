// SPDX-License-Identifier: Apache-2.0
//! `skript run program.mlir`: a StableHLO program on arrays that are named by their position.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::RUN_FAILED;
use skript_frontend::source::SourceMap;
use skript_runtime::profile::{self, Profile};
use skript_runtime::{Instance, Program as Loaded};
use skript_stablehlo::import::Element;
use skript_tensor::{Tensor, npy};

use crate::command_line::{EngineName, Pipeline, RunArguments};
use crate::console::{Console, Status};
use crate::engine::Spent;
use crate::profile::Recorded;
use crate::session::{repeated, twice};
use crate::stablehlo_program::{self, gather, load, load_for_profile};
use crate::{inputs, measure, outputs};

pub fn run(path: &Path, arguments: &RunArguments, console: &mut Console) -> Status {
    let mut sources = SourceMap::default();
    let done = usage(arguments).and_then(|()| {
        let done = compute(path, arguments, &mut sources);
        done.map_err(|diagnostics| (Status::Wrong, diagnostics))
    });
    stablehlo_program::finish(done, &sources, &arguments.reading, console)
}

/// Errors for flags that apply only to models in SkriptND, and for arguments that are given twice.
fn usage(arguments: &RunArguments) -> Result<(), (Status, Vec<Diagnostic>)> {
    let own = [
        ("--engine=reference", arguments.engine == EngineName::Reference),
        ("--pipeline", arguments.pipeline != Pipeline::Linalg),
        ("--weights", arguments.weights.is_some()),
        ("--variables", arguments.variables.is_some()),
        ("--save-variables", arguments.save_variables.is_some()),
    ];
    let mut wrong = stablehlo_program::model_flags(&arguments.reading, &own);
    let several = repeated(inputs::named(&arguments.inputs));
    wrong.extend(several.into_iter().map(|name| twice("--input", name)));
    if wrong.is_empty() { Ok(()) } else { Err((Status::Usage, wrong)) }
}

fn compute(path: &Path, arguments: &RunArguments, sources: &mut SourceMap) -> Result<(), Vec<Diagnostic>> {
    let begun = Instant::now();
    let (reading, given) = (&arguments.reading, &arguments.inputs);
    let target = arguments.target.target();
    let (program, steps, cached) = match arguments.profile {
        None => {
            let (program, cached) = load(path, reading, given, &target, !arguments.no_cache, sources)?;
            (program, Vec::new(), cached)
        }
        Some(_) => {
            let (program, steps) = load_for_profile(path, reading, given, &target, sources)?;
            (program, steps, false)
        }
    };
    let most = arguments.reading.limits.in_force().unpacked_bytes;
    let tensors = gather(&program, given, most)?;
    let failed = |text: String| vec![Diagnostic::without_location(&RUN_FAILED, text)];
    let loaded = Loaded::load(program.artifact.clone()).map_err(|e| failed(e.to_string()))?;
    let mut instance = Instance::new(&loaded).map_err(|e| failed(e.to_string()))?;
    let mut spent =
        Spent { compile: begun.elapsed(), cached, arena: program.artifact.arena.size, ..Spent::default() };
    let read: Vec<&Tensor> = tensors.iter().collect();
    let mut results = Vec::new();
    let mut profile = Profile::default();
    for _ in 0..arguments.repeat.max(1) {
        let begun = Instant::now();
        let mut call = || skript_runtime::run::compute(&mut instance, &read, &[]);
        let (computed, recorded) = match arguments.profile {
            None => (call(), Profile::default()),
            Some(_) => {
                // Pages of memory are not there before a first call.
                call().map_err(|e| failed(e.to_string()))?;
                profile::record(steps.len(), call)
            }
        };
        results = computed.map_err(|e| failed(e.to_string()))?;
        spent.run = begun.elapsed();
        // The last call counts.
        profile = recorded;
    }
    if let Some(output) = &arguments.profile {
        let recorded =
            Recorded { steps, profile, calls: 1, prepared: None, model: stablehlo_program::name(path) };
        recorded.report(output).map_err(|e| vec![*e])?;
    }
    if let Some(path) = &arguments.stats {
        measure::write_stats(path, &spent).map_err(|e| vec![*e])?;
    }
    let names: Vec<String> = (0..results.len()).map(|n| n.to_string()).collect();
    match &arguments.output_dir {
        Some(folder) => {
            let pairs = |n: usize| {
                let tensor = program.results.get(n);
                tensor.is_some_and(|t| matches!(t.element, Element::Complex(_)))
            };
            for (n, (name, tensor)) in names.iter().zip(&results).enumerate() {
                let write: outputs::Writer = if pairs(n) { npy::write_pairs } else { npy::write };
                outputs::write_one(name, tensor, folder, write).map_err(|e| vec![*e])?;
            }
        }
        None => {
            let shared: Vec<Arc<Tensor>> = results.into_iter().map(Arc::new).collect();
            crate::stdout::print(&outputs::summary(&names, &shared));
        }
    }
    Ok(())
}
