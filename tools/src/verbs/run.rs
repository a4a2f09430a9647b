//! `skript run`: inputs from files, outputs to files.

use std::path::Path;
use std::sync::Arc;

use crate::command_line::RunArguments;
use crate::console::{Console, Status};
use crate::engine::{Job, engine};
use crate::session::Session;
use crate::{inputs, outputs};

pub fn run(arguments: &RunArguments, console: &mut Console) -> Status {
    let model = arguments.model.as_deref().unwrap_or(Path::new("."));
    let mut session = Session::open(model, &arguments.reading);
    if session.status() == Status::Done {
        session.check_names(inputs::named(&arguments.inputs));
    }
    if session.status() == Status::Done {
        compute(arguments, &mut session);
    }
    session.close(console)
}

/// Reports to the session.
fn compute(arguments: &RunArguments, session: &mut Session) {
    let Some(model) = session.compose() else {
        return;
    };
    let inputs = match inputs::gather(&model, &arguments.inputs) {
        Ok(inputs) => inputs,
        Err(errors) => {
            for error in errors {
                session.report(error);
            }
            Vec::new()
        }
    };
    // Weights are looked at even if inputs are wrong, so that all is said at once.
    let variables = session.variables(&model, arguments.weights);
    let Some(variables) = variables.filter(|_| session.status() == Status::Done) else {
        return;
    };
    let variables: Vec<_> = variables.into_iter().map(Arc::new).collect();
    let job = Job {
        model: &model,
        sources: &session.program.sources,
        inputs: &inputs,
        variables: &variables,
    };
    let results = match engine(arguments.engine, arguments.pipeline, !arguments.no_cache).run(&job)
    {
        Ok(results) => results,
        Err(error) => return session.report(*error),
    };
    let names = outputs::names(&model);
    match &arguments.output_dir {
        Some(folder) => {
            if let Err(error) = outputs::write(&names, &results, folder) {
                session.report(*error);
            }
        }
        None => super::print(&outputs::summary(&names, &results)),
    }
}
