// SPDX-License-Identifier: Apache-2.0
//! `skript explain`: explains a diagnostic (`SK0201`), an operator (`nn.conv`), or the limits.

use skript_frontend::diagnostics::closest;
use skript_frontend::diagnostics::codes::ALL;
use skript_frontend::documentation::Entry;
use skript_frontend::limits::Limits;

use super::ops::{edition, known};
use crate::command_line::ExplainArguments;
use crate::console::{Console, Status};

pub fn run(arguments: &ExplainArguments, console: &mut Console) -> Status {
    if arguments.all {
        crate::stdout::print(&skript_frontend::diagnostics::page());
        return Status::Done;
    }
    let Some(wanted) = &arguments.subject else {
        let lines = ALL.iter().map(|c| format!("{}  {}\n", c.id, c.title));
        crate::stdout::print(&lines.collect::<String>());
        return Status::Done;
    };
    if wanted == "limits" {
        let lines = Limits::ALL.iter().map(|l| {
            let summary = l.summary.trim();
            format!(
                "{:18} {summary} {} unless changed by --limit {}=N, at most {}\n",
                l.name, l.default, l.name, l.most
            )
        });
        crate::stdout::print(&lines.collect::<String>());
        return Status::Done;
    }
    if let Some(code) = ALL.iter().find(|c| c.id.eq_ignore_ascii_case(wanted)) {
        let explanation = code.explanation.trim_end();
        crate::stdout::print(&format!("{}: {}\n\n{explanation}\n", code.id, code.title));
        return Status::Done;
    }
    let model = arguments.model.as_deref();
    let (entries, status) = known(model, arguments.message_format, console);
    if status != Status::Done {
        return status;
    }
    let named = |e: &&Entry| e.name == *wanted || e.name.ends_with(&format!(".{wanted}"));
    let pages: Vec<String> = entries.iter().filter(named).map(page).collect();
    if pages.is_empty() {
        let codes = ALL.iter().map(|c| c.id);
        let near = closest(&wanted.to_ascii_uppercase(), codes)
            .or_else(|| closest(wanted, entries.iter().map(|e| e.name.as_str())));
        let near = near.map_or(String::new(), |n| format!("did you mean `{n}`? "));
        let text = format!(
            "error: there is neither a diagnostic nor an operator `{wanted}`; {near}`skript explain` lists all codes, `skript ops` \
             all operators\n"
        );
        console.write(&text);
        return Status::Usage;
    }
    crate::stdout::print(&pages.join("\n"));
    Status::Done
}

/// The page of an operator: signature, comment, the text of its section, examples.
fn page(entry: &Entry) -> String {
    let mut text = format!("{}{}\n\n{}\n", entry.signature, edition(entry), entry.comment.text());
    if !entry.section.paragraphs.is_empty() {
        text += &format!("\n{}\n", entry.section.text());
    }
    for example in &entry.comment.examples {
        text += &format!("\nExample: {example}\n");
    }
    text
}
