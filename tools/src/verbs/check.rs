// SPDX-License-Identifier: Apache-2.0
//! `skript check`: everything that can be found without running.

use crate::command_line::CheckArguments;
use crate::console::{Console, Status};
use crate::session::{Session, Weights};
use crate::stablehlo_program;
use skript_frontend::source::SourceMap;
use skript_passes::target::TargetDescription;

pub fn run(arguments: &CheckArguments, console: &mut Console) -> Status {
    if stablehlo_program::is_program(&arguments.model) {
        return check_program(arguments, console);
    }
    let mut session = Session::open(&arguments.model, &arguments.reading);
    let mut graphs = session.possible_graphs();
    match session.status() {
        Status::Done => session.check_names_of(&graphs, std::iter::empty()),
        // Errors elsewhere do not hide those that composition finds.
        _ => graphs = session.sound_graphs(graphs),
    }
    if session.status() != Status::Usage {
        for graph in &graphs {
            check(arguments, &mut session, graph, console);
        }
    }
    session.close(console)
}

/// Checks a StableHLO program: whether it is valid and supported.
fn check_program(arguments: &CheckArguments, console: &mut Console) -> Status {
    let mut sources = SourceMap::default();
    let own = [("--weights", arguments.weights)];
    let wrong = stablehlo_program::model_flags(&arguments.reading, &own);
    let done = if wrong.is_empty() {
        stablehlo_program::load(
            &arguments.model,
            &arguments.reading,
            &[],
            &TargetDescription::host(),
            true,
            &mut sources,
        )
        .map(|_| ())
        .map_err(|diagnostics| (Status::Wrong, diagnostics))
    } else {
        Err((Status::Usage, wrong))
    };
    stablehlo_program::finish(done, &sources, &arguments.reading, console)
}

/// Checks one graph as the main one. Its errors do not prevent the check of others.
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
            session.variables(&model, Weights::of_the_model());
        }
        return;
    }
    // Definitions are checked without values; shapes need them.
    let text = format!(
        "note: shapes of graph `{graph}` are not checked, because {} no value; pass it with --set\n",
        match missing.as_slice() {
            [one] => format!("attribute `{one}` has"),
            several => format!("attributes {} have", several.join(", ")),
        }
    );
    console.write(&text);
}
