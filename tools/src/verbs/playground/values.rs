// SPDX-License-Identifier: Apache-2.0
//! `skript playground-values`, a hidden command: the arrays of a call on random inputs as JSON.

use serde_json::{Value, json};
use skript::{Compiler, Model, Target};
use skript_view::arrays::listed;

use crate::command_line::{EngineName, InputArgument, ValuesArguments, WeightsArgument};
use crate::console::{Console, Status};
use crate::engine::{Calls, Job};
use crate::session::{Session, Stopped, Weights, reporter};
use crate::watch::Watch;
use crate::{inputs, outputs};

/// Maximum number of elements of an array in the result.
const MAX_ELEMENTS: usize = 1 << 16;

pub fn print_values(arguments: &ValuesArguments, console: &mut Console) -> Status {
    let _watch = Watch::begin(arguments.stop.timeout, reporter(arguments.reading.message_format));
    let mut session = Session::open(&arguments.model, &arguments.reading);
    if session.status() == Status::Done {
        session.check_names(std::iter::empty());
    }
    if session.status() == Status::Done
        && let Some(model) = session.compose()
        && let Some(arrays) = arrays(arguments, &mut session, &model)
    {
        match call(arguments, &model, &arrays) {
            Ok(result) => crate::stdout::print(&format!("{result}\n")),
            Err(stopped) => session.report_all(stopped),
        }
    }
    session.close(console)
}

/// Random inputs and weights. Reports errors, and returns `None` after them.
fn arrays(arguments: &ValuesArguments, session: &mut Session, model: &Model) -> Option<inputs::Arrays> {
    let given = inputs::or_random(model.ir(), &[]).into_iter().map(|input| match input {
        InputArgument::Random { name, .. } => InputArgument::Random { name, seed: arguments.seed },
        other => other,
    });
    let weights = WeightsArgument::Random(arguments.seed);
    let weights = Weights { given: Some(&weights), ..Weights::from_model_folder() };
    inputs::prepare(session, model, &given.collect::<Vec<_>>(), weights)
}

fn call(
    arguments: &ValuesArguments,
    model: &Model,
    (inputs, variables): &inputs::Arrays,
) -> Result<Value, Stopped> {
    let job = Job { model, inputs, variables };
    let computed = match arguments.engine {
        EngineName::Reference => job.evaluate(1)?,
        EngineName::Compiled => {
            let compiler = Compiler::new(&Target::host());
            job.compute(&compiler, Calls { count: 1, is_profiled: false, is_cached: false })?
        }
    };
    let results = model.converted(computed.outputs);
    Ok(json!({
        "inputs": listed(&inputs::names(model.ir()), inputs, MAX_ELEMENTS),
        "outputs": listed(&outputs::names(model.ir()), &results, MAX_ELEMENTS),
        "seconds": computed.spent.run.as_secs_f64(),
    }))
}
