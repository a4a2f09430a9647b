// SPDX-License-Identifier: Apache-2.0
//! `skript run`: inputs from files, outputs to files.

mod stablehlo;

use std::path::Path;
use std::sync::Arc;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::COMMAND_LINE_NAME;
use skript_frontend::model::Model;
use skript_runtime::SMALLER;
use skript_tensor::Tensor;

use crate::command_line::{EngineName, InputArgument, RunArguments};
use crate::console::{Console, Status};
use crate::engine::{Engine, Job, engine};
use crate::session::{Session, Stopped, Weights};
use crate::timings::Timings;
use crate::{inputs, measure, outputs, stablehlo_program, variables};

/// Runs a model; a record of the run may be kept under the key `record`.
pub fn run(arguments: &RunArguments, record: Option<&str>, console: &mut Console) -> Status {
    let timings = Timings::begin(console);
    let status = run_model(arguments, record, console);
    timings.end(arguments.timings, console);
    status
}

fn run_model(arguments: &RunArguments, record: Option<&str>, console: &mut Console) -> Status {
    arguments.threads.apply();
    let model = arguments.model.as_deref().unwrap_or(Path::new("."));
    if stablehlo_program::is_program(model) {
        return stablehlo::run(model, arguments, console);
    }
    arguments.target.announce(console);
    let mut session = Session::open_for_call(model, &arguments.reading, &arguments.inputs);
    if session.status() == Status::Done {
        let given = session.named(&arguments.inputs);
        session.check_names(inputs::named(&given));
    }
    if session.status() == Status::Done {
        compute(arguments, record, &mut session);
    }
    session.close(console)
}

/// The model for the shapes of the inputs, if there is no code for all shapes, or no memory for it; with its inputs: packs that
/// are stacked in the model for all shapes have an input for each item.
///
/// # Errors
/// The error, if it has another reason, or there is no such model.
fn for_shapes(
    session: &mut Session,
    model: &Model,
    given: &[InputArgument],
    inputs: &[Arc<Tensor>],
    error: Stopped,
) -> Result<(Model, Vec<Arc<Tensor>>), Stopped> {
    if !(error.is_not_compiled() || error.message().contains(SMALLER)) {
        return Err(error);
    }
    let shaped: Vec<&Tensor> = inputs.iter().map(Arc::as_ref).collect();
    let Some(specialized) = session.specialized(model, given, &shaped) else {
        return Err(error);
    };
    let Ok(inputs) = inputs::gather(session, &specialized, given) else {
        return Err(error);
    };
    session.note("the model is compiled for the shapes of the inputs");
    Ok((specialized, inputs))
}

/// Adds diagnostics to the session.
fn compute(arguments: &RunArguments, record: Option<&str>, session: &mut Session) {
    let given = session.named(&arguments.inputs);
    let Some(mut model) = session.compose_for(&given) else {
        return;
    };
    // What is wrong with the inputs is reported below.
    if arguments.specialize
        && let Ok(inputs) = inputs::gather(session, &model, &given)
    {
        let inputs: Vec<&Tensor> = inputs.iter().map(Arc::as_ref).collect();
        model = session.specialized(&model, &given, &inputs).unwrap_or(model);
    }
    let weights = Weights::of_arguments(arguments.variables.as_deref(), arguments.weights.as_ref());
    let prepared = inputs::prepare(session, &model, &given, weights);
    let Some((mut inputs, mut variables)) = prepared else {
        return;
    };
    if arguments.profile.is_some() && arguments.engine == EngineName::Reference {
        let text = "--profile is for compiled code, not for --engine=reference";
        session.report_usage(Diagnostic::without_location(&COMMAND_LINE_NAME, text));
        return;
    }
    let engine = |profile| {
        engine(
            arguments.engine,
            arguments.pipeline,
            arguments.target.target_of(&arguments.reading),
            !arguments.no_cache,
            profile,
        )
    };
    let (usual, last) = (engine(false), engine(arguments.profile.is_some()));
    let mut call = |session: &Session, model: &Model, inputs: &[Arc<Tensor>], engine: &dyn Engine| {
        let job = Job { model, sources: &session.program.sources, inputs, variables: &variables };
        let mut computed = engine.run(&job)?;
        variables::commit(&mut variables, std::mem::take(&mut computed.updates));
        Ok(computed)
    };
    // The last call is the one that is profiled.
    let calls = (1..arguments.repeat).map(|_| usual.as_ref());
    let mut last_result = None;
    for engine in calls.chain([last.as_ref()]) {
        let called = call(session, &model, &inputs, engine).or_else(|error| {
            (model, inputs) = for_shapes(session, &model, &given, &inputs, error)?;
            call(session, &model, &inputs, engine)
        });
        match called {
            Ok(computed) => last_result = Some(computed),
            Err(error) => return session.report_all(error),
        }
    }
    let Some(computed) = last_result else {
        return;
    };
    if let (Some(profile), Some(output)) = (&computed.profile, &arguments.profile)
        && let Err(error) = profile.report(output)
    {
        session.report(*error);
    }
    if let Some(folder) = &arguments.save_variables
        && let Err(error) = variables::save(&model, &variables, folder)
    {
        session.report(*error);
    }
    if let Some(path) = &arguments.stats
        && let Err(error) = measure::write_stats(path, &computed.spent)
    {
        session.report(*error);
    }
    let names = outputs::names(&model);
    let results = session.converted(&names, computed.outputs);
    match &arguments.output_dir {
        Some(folder) => {
            if let Err(error) = outputs::write(&names, &results, folder) {
                session.report(*error);
            }
        }
        None => crate::stdout::print(&outputs::summary(&names, &results)),
    }
    if let (Some(key), Some(kept)) = (record, &computed.kept) {
        session.keep_record(key, arguments, &model, kept);
    }
}
