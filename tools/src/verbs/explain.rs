//! `skript explain SKccnn`.

use skript_frontend::diagnostics::codes::ALL;
use skript_frontend::diagnostics::{closest, page};
use skript_frontend::limits::Limits;

use crate::command_line::ExplainArguments;
use crate::console::{Console, Status};

pub fn run(arguments: &ExplainArguments, console: &mut Console) -> Status {
    if arguments.all {
        super::print(&page());
        return Status::Done;
    }
    let Some(wanted) = &arguments.code else {
        let lines = ALL.iter().map(|c| format!("{}  {}\n", c.id, c.title));
        super::print(&lines.collect::<String>());
        return Status::Done;
    };
    if wanted == "limits" {
        let lines = Limits::ALL.iter().map(|l| {
            let summary = l.summary.trim();
            format!(
                "{:18} {summary} {} unless --limit {}=N says otherwise, at most {}\n",
                l.name, l.default, l.name, l.most
            )
        });
        super::print(&lines.collect::<String>());
        return Status::Done;
    }
    match ALL.iter().find(|c| c.id.eq_ignore_ascii_case(wanted)) {
        Some(code) => {
            let explanation = code.explanation.trim_end();
            super::print(&format!("{}: {}\n\n{explanation}\n", code.id, code.title));
            Status::Done
        }
        None => {
            let known = ALL.iter().map(|c| c.id);
            let near = closest(&wanted.to_ascii_uppercase(), known);
            let help = near.map_or("", |_| "did you mean ");
            let near = near.map_or(String::new(), |n| format!("`{n}`? "));
            let text = format!(
                "error: there is no diagnostic `{wanted}`; {help}{near}`skript explain` lists all codes\n"
            );
            console.write(&text);
            Status::Usage
        }
    }
}
