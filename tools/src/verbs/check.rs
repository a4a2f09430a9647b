// SPDX-License-Identifier: Apache-2.0
//! `skript check`: reports all errors that are detectable without a run.

use crate::command_line::CheckArguments;
use crate::console::{Console, Status};
use crate::session::{Session, Weights};
use crate::stablehlo_program;
use skript::{Compiler, Target};

pub fn run(arguments: &CheckArguments, console: &mut Console) -> Status {
    if stablehlo_program::is_program(&arguments.model) {
        return check_program(arguments, console);
    }
    let mut session = Session::open(&arguments.model, &arguments.reading);
    let mut graphs = session.possible_graphs();
    match session.status() {
        Status::Done => session.check_names_of(&graphs, std::iter::empty()),
        // Errors in other definitions do not hide errors that composition reports.
        _ => graphs = session.sound_graphs(graphs),
    }
    if session.status() != Status::Usage {
        for graph in &graphs {
            check(arguments, &mut session, graph, console);
        }
    }
    session.close(console)
}

/// Checks whether a StableHLO program is valid and supported.
fn check_program(arguments: &CheckArguments, console: &mut Console) -> Status {
    let (path, reading) = (&arguments.model, &arguments.reading);
    let wrong = stablehlo_program::model_flags(reading, &[("--weights", arguments.weights)]);
    stablehlo_program::perform(reading, wrong, console, |sources| {
        let compiler = Compiler::new(&Target::host()).for_this_executable(true);
        stablehlo_program::load(path, reading, &[], &compiler, sources).map(drop)
    })
}

/// Checks one graph as the main graph. Its errors do not prevent checks of other graphs.
fn check(arguments: &CheckArguments, session: &mut Session, graph: &str, console: &mut Console) {
    let missing = session.missing_attributes(graph);
    let open = session.open_packs(graph);
    if let (true, [first, ..]) = (missing.is_empty(), &*open) {
        let text = format!(
            "note: shapes of graph `{graph}` are not checked, because the length of the pack `{first}` is unknown; pass \
             --input-shape {first}=…;…, one shape for each tensor\n"
        );
        console.write(&text);
        return;
    }
    if missing.is_empty() {
        if let Some(model) = session.compose_checked(graph)
            && arguments.weights
        {
            session.variables(&model, Weights::from_model_folder());
        }
        return;
    }
    // Definitions were checked without values of attributes; shapes require them.
    let text = format!(
        "note: shapes of graph `{graph}` are not checked, because {} no value; pass it with --set\n",
        match missing.as_slice() {
            [one] => format!("attribute `{one}` has"),
            several => format!("attributes {} have", several.join(", ")),
        }
    );
    console.write(&text);
}
