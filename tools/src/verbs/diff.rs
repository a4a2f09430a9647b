// SPDX-License-Identifier: Apache-2.0
//! `skript diff`: shows how two models differ.

mod weights;

use serde_json::json;
use skript::Model;
use skript_host::format::is_onnx_model;
use skript_view::{Change, Detail, Difference, Picture, differences};
use std::path::PathBuf;

use crate::command_line::{DiffArguments, ModelArguments};
use crate::console::{Console, Status};
use crate::session::Session;
use crate::stopped::Stopped;
use crate::written::write;

/// Compares two models. The status is 0 if they are equal, 1 if they differ, and 2 if they could not be compared.
pub fn run(arguments: &DiffArguments, console: &mut Console) -> Status {
    let paths = [&arguments.first, &arguments.second];
    let reading = reading(paths, &arguments.reading);
    let mut models = Vec::new();
    let mut sessions = Vec::new();
    for (path, reading) in paths.into_iter().zip(&reading) {
        let mut session = Session::open(path, reading);
        if session.status() == Status::Done {
            session.check_names(std::iter::empty());
        }
        let model = if session.status() == Status::Done { session.compose() } else { None };
        models.extend(model);
        sessions.push(session);
    }
    let mut differs = false;
    if let ([first, second], [one, other]) = (models.as_slice(), sessions.as_mut_slice()) {
        let pictures = [first, second].map(Model::picture);
        let mut all = differences(&pictures[0], &pictures[1]);
        if !arguments.no_weights {
            match weights::compare([(first, one), (second, other)]) {
                Ok(weights) => all.extend(weights),
                Err(error) => other.report_all(error),
            }
        }
        differs = !all.is_empty();
        if let Err(error) = show(arguments, pictures, &all, console) {
            other.report_all(error);
        }
    }
    let worst = sessions.into_iter().map(|session| session.close(console)).max().unwrap_or(Status::Done);
    match worst {
        Status::Done if differs => Status::Wrong,
        Status::Wrong => Status::Usage,
        other => other,
    }
}

/// The options for each model: those of the import are for ONNX models, unless neither model is one.
fn reading(paths: [&PathBuf; 2], options: &ModelArguments) -> [ModelArguments; 2] {
    let imported = paths.map(|path| is_onnx_model(path));
    imported.map(|is_imported| {
        let mut options = options.clone();
        if !is_imported && imported.contains(&true) {
            options.import.bounds.clear();
            options.import.constants.clear();
        }
        options
    })
}

/// Prints the differences, and writes the page.
fn show(
    arguments: &DiffArguments,
    [_, mut picture]: [Picture; 2],
    all: &[Difference],
    console: &mut Console,
) -> Result<(), Stopped> {
    if arguments.json {
        crate::stdout::print(&format!("{}\n", json!({ "differences": all })));
    } else {
        crate::stdout::print(&skript_host::printable(&text(all)));
    }
    if let Some(path) = &arguments.html {
        picture.mark(all);
        write(path, &[picture.html().as_bytes()])?;
        console.write(&format!("wrote {}\n", path.display()));
    }
    Ok(())
}

/// The differences as text: a line for each item, and indented lines for its parts.
fn text(found: &[Difference]) -> String {
    found.iter().map(difference_text).collect()
}

fn difference_text(difference: &Difference) -> String {
    let sign = match difference.change {
        Change::Added => '+',
        Change::Removed => '-',
        Change::Changed => '~',
    };
    let places: Vec<&str> = difference.locations.iter().flatten().map(String::as_str).collect();
    let places = if places.is_empty() { String::new() } else { format!("  ({})", places.join(", ")) };
    let head = format!("{sign} {} {}{places}\n", difference.item, difference.name);
    let details = difference.details.iter().map(|detail| detail_text(detail, difference.change));
    std::iter::once(head).chain(details).collect()
}

fn detail_text(detail: &Detail, change: Change) -> String {
    let [before, after] = &detail.values;
    let is_long = [before, after].into_iter().flatten().any(|value| value.contains('\n') || value.len() > 60);
    match (before, after) {
        _ if is_long || detail.part == "formula" => {}
        (Some(before), Some(after)) => return format!("    {}: {before} -> {after}\n", detail.part),
        (Some(before), None) if change == Change::Changed => {
            return format!("    {}: {before} -> (none)\n", detail.part);
        }
        (None, Some(after)) if change == Change::Changed => {
            return format!("    {}: (none) -> {after}\n", detail.part);
        }
        (Some(value), None) | (None, Some(value)) => return format!("    {}: {value}\n", detail.part),
        (None, None) => {}
    }
    let lines = |sign: char, value: &Option<String>| -> String {
        let lines = value.iter().flat_map(|value| value.lines());
        lines.map(|line| format!("      {sign} {line}\n")).collect()
    };
    format!("    {}:\n{}{}", detail.part, lines('-', before), lines('+', after))
}
