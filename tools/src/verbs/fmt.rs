// SPDX-License-Identifier: Apache-2.0
//! `skript fmt`: formats files in the style of the standard library.

use std::path::Path;

use skript_frontend::diagnostics::Sink;
use skript_frontend::format::format;
use skript_frontend::limits::Limits;
use skript_frontend::source::SourceMap;
use skript_frontend::source_texts;
use skript_host::overwrite;

use crate::command_line::FormatArguments;
use crate::console::{Console, Status};
use crate::render::render;
use crate::written::unwritten;

pub fn run(arguments: &FormatArguments, console: &mut Console) -> Status {
    let mut work =
        Work { check: arguments.check, sources: SourceMap::default(), sink: Sink::default(), differs: false };
    for path in &arguments.files {
        if path == Path::new("-") {
            work.stdin();
            continue;
        }
        match source_texts::find(path) {
            Ok(files) => files.iter().for_each(|file| work.file(file)),
            Err(error) => work.sink.report(*error),
        }
    }
    let failed = work.sink.has_errors();
    let diagnostics = work.sink.into_sorted();
    render(&diagnostics, &work.sources, arguments.message_format, console);
    if failed || (arguments.check && work.differs) { Status::Wrong } else { Status::Done }
}

struct Work {
    check: bool,
    sources: SourceMap,
    sink: Sink,
    /// Whether any file is not formatted.
    differs: bool,
}

impl Work {
    /// The formatted text of a file. Reports the errors of the file and returns `None` if there are any.
    fn formatted(&mut self, path: &Path, text: &str) -> Option<String> {
        let file = self.sources.add(path, text);
        format(file, text, &Limits::default(), &mut self.sink)
    }

    fn stdin(&mut self) {
        let path = Path::new("<stdin>");
        let stdin = std::io::stdin().lock();
        let text = match source_texts::read_stream(stdin, path, &Limits::default()) {
            Ok(text) => text,
            Err(error) => return self.sink.report(*error),
        };
        let Some(formatted) = self.formatted(path, &text) else {
            return;
        };
        self.differs |= formatted != text;
        match self.check {
            true if formatted != text => crate::stdout::print("<stdin>\n"),
            true => {}
            false => crate::stdout::print(&formatted),
        }
    }

    fn file(&mut self, path: &Path) {
        let text = match source_texts::read(path, &Limits::default()) {
            Ok(text) => text,
            Err(error) => return self.sink.report(*error),
        };
        let Some(formatted) = self.formatted(path, &text) else {
            return;
        };
        if formatted == text {
            return;
        }
        self.differs = true;
        if self.check {
            let name = path.to_string_lossy();
            crate::stdout::print(&format!("{}\n", skript_host::printable(&name)));
        } else if let Err(error) = overwrite(path, &[formatted.as_bytes()]) {
            self.sink.report(*unwritten(path, error));
        }
    }
}
