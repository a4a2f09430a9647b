// SPDX-License-Identifier: Apache-2.0
//! `skript diff`: shows how two models differ.

mod weights;

use serde_json::json;
use skript::Model;
use skript_view::{Change, Detail, Difference, differences};

use crate::command_line::DiffArguments;
use crate::console::{Console, Status};
use crate::session::Session;
use crate::written::write;

pub fn run(arguments: &DiffArguments, console: &mut Console) -> Status {
    let mut models = Vec::new();
    let mut sessions = Vec::new();
    for path in [&arguments.first, &arguments.second] {
        let mut session = Session::open(path, &arguments.reading);
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
        if let Some(path) = &arguments.html {
            let [_, mut picture] = pictures;
            picture.mark(&all);
            match write(path, &[picture.html().as_bytes()]) {
                Ok(()) => console.write(&format!("wrote {}\n", path.display())),
                Err(error) => other.report_all(error.into()),
            }
        }
        if arguments.json {
            crate::stdout::print(&format!("{}\n", json!({ "differences": all })));
        } else {
            crate::stdout::print(&skript_host::printable(&text(&all)));
        }
    }
    let ends = sessions.into_iter().map(|session| session.close(console)).max();
    ends.unwrap_or(Status::Done).max(if differs { Status::Wrong } else { Status::Done })
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
    std::iter::once(head).chain(difference.details.iter().map(detail_text)).collect()
}

fn detail_text(detail: &Detail) -> String {
    let [before, after] = &detail.values;
    let is_long = [before, after].into_iter().flatten().any(|value| value.contains('\n') || value.len() > 60);
    match (before, after) {
        _ if is_long || detail.part == "formula" => {}
        (Some(before), Some(after)) => return format!("    {}: {before} -> {after}\n", detail.part),
        (Some(value), None) | (None, Some(value)) => return format!("    {}: {value}\n", detail.part),
        (None, None) => {}
    }
    let lines = |sign: char, value: &Option<String>| -> String {
        let lines = value.iter().flat_map(|value| value.lines());
        lines.map(|line| format!("      {sign} {line}\n")).collect()
    };
    format!("    {}:\n{}{}", detail.part, lines('-', before), lines('+', after))
}
