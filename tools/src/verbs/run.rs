// SPDX-License-Identifier: Apache-2.0
//! `skript run`: runs a model on inputs from files, and prints or writes the outputs.

mod stablehlo;

use std::path::Path;

use skript::{Model, Tensor};
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::{COMMAND_LINE_NAME, OUTPUT};
use skript_runtime::SMALLER;
use skript_tensor::saved;

use crate::command_line::{EngineName, InputArgument, RunArguments};
use crate::console::{Console, Status};
use crate::engine::{Calls, Computed, Job};
use crate::session::{Session, Stopped, Weights, reporter};
use crate::timings::Timings;
use crate::watch::Watch;
use crate::{inputs, measure, outputs, stablehlo_program};

/// Runs a model. A record of the run may be kept under the key `record`.
pub fn run(arguments: &RunArguments, record: Option<&str>, console: &mut Console) -> Status {
    let _watch = Watch::begin(arguments.stop.timeout, reporter(arguments.reading.message_format));
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
    if session.status() == Status::Done
        && let Some((model, stacks, computed)) = compute(arguments, &mut session)
    {
        report(arguments, record, &mut session, (&model, &stacks), computed);
    }
    session.close(console)
}

/// Returns the called model, the names of the packs whose length is dynamic before a specialization, and the results. Reports
/// errors and returns `None` if there are any.
fn compute(arguments: &RunArguments, session: &mut Session) -> Option<(Model, Vec<String>, Computed)> {
    let given = session.named(&arguments.inputs);
    let mut model = session.compose_for(&given)?;
    let stacks = outputs::stacks(model.ir());
    // Unsuitable inputs are reported below.
    if arguments.specialize
        && let Ok(inputs) = inputs::gather(session, model.ir(), &given)
    {
        model = specialized(&model, &inputs).unwrap_or(model);
    }
    let (inputs, variables) = inputs::prepare(session, &model, &given, Weights::from(&arguments.weights))?;
    if arguments.profile.is_some() && arguments.engine == EngineName::Reference {
        let text = "--profile is for compiled code, not for --engine=reference";
        session.report_usage(Diagnostic::without_location(&COMMAND_LINE_NAME, text));
        return None;
    }
    let result = call(arguments, &Job { model: &model, inputs: &inputs, variables: &variables });
    let result = match result {
        Ok(computed) => return Some((model, stacks, computed)),
        Err(error) => for_shapes(session, &model, &given, &inputs, error),
    };
    let result = result.and_then(|(model, inputs)| {
        let computed = call(arguments, &Job { model: &model, inputs: &inputs, variables: &variables })?;
        Ok((model, stacks, computed))
    });
    result.map_err(|error| session.report_all(error)).ok()
}

fn call(arguments: &RunArguments, job: &Job) -> Result<Computed, Stopped> {
    if arguments.engine == EngineName::Reference {
        return job.evaluate(arguments.repeat);
    }
    let is_cached = !arguments.no_cache;
    let compiler = arguments.target.compiler(arguments.pipeline, &arguments.reading);
    let compiler = if is_cached { compiler.for_this_executable(true) } else { compiler };
    let is_profiled = arguments.profile.is_some();
    job.compute(&compiler, Calls { count: arguments.repeat, is_profiled, is_cached })
}

fn specialized(model: &Model, inputs: &[Tensor]) -> Option<Model> {
    let shapes: Vec<&[u64]> = inputs.iter().map(Tensor::shape).collect();
    model.specialized(&shapes)
}

/// Specializes the model to the shapes of the inputs if it cannot be compiled for all shapes, or if memory is insufficient for
/// all shapes. Returns the inputs as well, because the specialized model has an input for each item of a pack that is one array
/// in the model for all shapes.
///
/// # Errors
/// `error`, if it has another reason, or if the model cannot be specialized.
fn for_shapes(
    session: &mut Session,
    model: &Model,
    given: &[InputArgument],
    inputs: &[Tensor],
    error: Stopped,
) -> Result<(Model, Vec<Tensor>), Stopped> {
    if !(error.is_not_compiled() || error.message().contains(SMALLER)) {
        return Err(error);
    }
    let Some(model) = specialized(model, inputs) else {
        return Err(error);
    };
    let Ok(inputs) = inputs::gather(session, model.ir(), given) else {
        return Err(error);
    };
    session.note("the model is compiled for the shapes of the inputs");
    Ok((model, inputs))
}

/// Prints or writes the results, and reports files that cannot be written.
fn report(
    arguments: &RunArguments,
    record: Option<&str>,
    session: &mut Session,
    (model, stacks): (&Model, &[String]),
    computed: Computed,
) {
    if let (Some(profile), Some(output)) = (&computed.profile, &arguments.profile)
        && let Err(error) = profile.report(output)
    {
        session.report(*error);
    }
    if let Some(folder) = &arguments.save_variables {
        let names = model.ir().variables.iter().map(|variable| variable.name.as_str());
        if let Err(error) = saved::save(folder, names.zip(&computed.variables)) {
            session.report(Diagnostic::without_location(&OUTPUT, error.to_string()));
        }
    }
    if let Some(path) = &arguments.stats
        && let Err(error) = measure::write_stats(path, &computed.spent)
    {
        session.report(*error);
    }
    let stacked = outputs::stacked(model.ir(), stacks, model.converted(computed.outputs));
    let (names, results) = match stacked {
        Ok(outputs) => outputs,
        Err(error) => return session.report(*error),
    };
    match &arguments.output_dir {
        Some(folder) => {
            if let Err(error) = outputs::write(&names, &results, folder) {
                session.report(*error);
            }
        }
        None => crate::stdout::print(&outputs::summary(&names, &results)),
    }
    if let (Some(key), Some(kept)) = (record, &computed.kept) {
        session.keep_record(key, arguments, model, kept);
    }
}
