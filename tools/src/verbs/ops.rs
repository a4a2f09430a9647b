// SPDX-License-Identifier: Apache-2.0
//! `skript ops`: lists the operators of the standard library and of a model.

use skript_frontend::diagnostics::closest;
use skript_frontend::documentation::{self, Entry};
use skript_frontend::program::Origin;
use skript_semantics::IntType;

use crate::command_line::{ImportOptions, IntName, MessageFormat, ModelArguments, OpsArguments};
use crate::console::{Console, Status};
use crate::limit_arguments::LimitArguments;
use crate::session::Session;

pub fn run(arguments: &OpsArguments, console: &mut Console) -> Status {
    let (entries, status) = known(arguments.model.as_deref(), arguments.message_format, console);
    if status != Status::Done {
        return status;
    }
    let pattern = arguments.pattern.as_deref().unwrap_or("");
    let module = arguments.module.as_deref();
    let wanted = |e: &Entry| e.name.contains(pattern) && module.is_none_or(|m| e.module == m);
    let missing = module.filter(|m| !entries.iter().any(|e| e.module == *m));
    let known: Vec<String> = entries.iter().map(|e| e.name.clone()).collect();
    let entries: Vec<Entry> = entries.into_iter().filter(wanted).collect();
    if entries.is_empty() {
        let what = match missing {
            Some(module) => format!("no module `{module}` has operators"),
            None => format!("no operator has `{pattern}` in its name"),
        };
        let names = known.iter().flat_map(|name| parts(name));
        let near = closest(missing.unwrap_or(pattern), names);
        let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        console.write(&format!("error: {what}{near}; `skript ops` lists all\n"));
        return Status::Usage;
    }
    if arguments.markdown {
        crate::stdout::print(&documentation::page(&entries));
    } else if arguments.json {
        let list: Vec<_> = entries.iter().map(json).collect();
        crate::stdout::print(&format!("{}\n", serde_json::Value::Array(list)));
    } else {
        for entry in &entries {
            let edition = edition(entry);
            crate::stdout::print(&format!("{}{edition}\n    {}\n", entry.signature, entry.comment.summary()));
        }
    }
    Status::Done
}

/// The names for which a pattern may be a misspelling: the full name, the module, the operator, and the words of its name.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    let (module, operator) = name.rsplit_once('.').unwrap_or(("", name));
    let words = operator.split('_');
    [name, module, operator].into_iter().chain(words)
}

/// The library's operators, then the operators of the model's modules; and the status of the model.
pub fn known(
    model: Option<&std::path::Path>,
    message_format: MessageFormat,
    console: &mut Console,
) -> (Vec<Entry>, Status) {
    let mut entries = documentation::of_library();
    let Some(model) = model else {
        return (entries, Status::Done);
    };
    let reading = ModelArguments {
        input_shapes: Vec::new(),
        edition: None,
        graph: None,
        quantize: None,
        real: None,
        import: ImportOptions::default(),
        int: IntName(IntType::default()),
        attributes: Vec::new(),
        absent_inputs: Vec::new(),
        given_inputs: Vec::new(),
        limits: LimitArguments::default(),
        intrinsics: Vec::new(),
        verbose: false,
        message_format,
    };
    let session = Session::open(model, &reading);
    let program = session.document.program();
    for (key, module) in &program.modules {
        if program.origin(key) == Origin::Model {
            entries.extend(documentation::of_module(module, &program.sources));
        }
    }
    let status = session.close(console);
    (entries, status)
}

pub fn edition(entry: &Entry) -> &'static str {
    if entry.khronos { "    (edition khronos)" } else { "" }
}

fn json(entry: &Entry) -> serde_json::Value {
    serde_json::json!({
        "name": entry.name,
        "module": entry.module,
        "edition": if entry.khronos { Some("khronos") } else { None },
        "signature": entry.signature,
        "summary": entry.comment.summary(),
        "text": entry.comment.text(),
        "section": entry.section.text(),
        "examples": entry.comment.examples,
    })
}
