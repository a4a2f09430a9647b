// SPDX-License-Identifier: Apache-2.0
//! `skript view`: writes a page that shows a model as a graph, or a file for Graphviz.

use std::path::{Path, PathBuf};

use skript::Model;
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::{COMMAND_LINE_NAME, UNREADABLE};

use crate::command_line::ViewArguments;
use crate::console::{Console, Status};
use crate::session::{Session, Stopped, Weights, reporter};
use crate::watch::Watch;
use crate::written::write;

/// Maximum size of a profile in bytes.
const MAX_PROFILE_BYTES: u64 = 256 << 20;

/// The output format.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Html,
    Dot,
}

pub fn run(arguments: &ViewArguments, console: &mut Console) -> Status {
    let _watch = Watch::begin(arguments.stop.timeout, reporter(arguments.reading.message_format));
    let mut session = Session::open(&arguments.model, &arguments.reading);
    if session.status() == Status::Done {
        session.check_names(std::iter::empty());
    }
    if session.status() == Status::Done
        && let Some(model) = session.compose()
        && let Err(stopped) = show(arguments, &session, &model, console)
    {
        session.report_all(stopped);
    }
    session.close(console)
}

fn show(
    arguments: &ViewArguments,
    session: &Session,
    model: &Model,
    console: &mut Console,
) -> Result<(), Stopped> {
    let (format, output) = target(arguments)?;
    let mut picture = model.picture();
    if format == Format::Html {
        if let Some(path) = &arguments.profile {
            let wrong = |text: String| {
                Diagnostic::without_location(&UNREADABLE, format!("{}: {text}", path.display()))
            };
            let bytes = skript_host::file::read(path, MAX_PROFILE_BYTES).map_err(|e| wrong(e.to_string()))?;
            let text = String::from_utf8(bytes).map_err(|e| wrong(e.to_string()))?;
            picture.add_profile(&text).map_err(|e| wrong(e.to_string()))?;
        }
        if !arguments.no_weights {
            // Missing weights are not an error: the page then has no histograms.
            let weights = Weights { given: arguments.weights.as_ref(), ..Weights::from_model_folder() };
            model.add_histograms(&mut picture, &session.weights(weights)?)?;
        }
    }
    let text = match format {
        Format::Html => picture.html(),
        Format::Dot => picture.dot(),
    };
    let Some(path) = output else {
        crate::stdout::print(&text);
        return Ok(());
    };
    write(&path, &[text.as_bytes()])?;
    let name = path.to_string_lossy();
    console.write(&format!("wrote {}\n", skript_host::one_line(&name)));
    Ok(())
}

/// The format, and the file to write; `None` is stdout.
fn target(arguments: &ViewArguments) -> Result<(Format, Option<PathBuf>), Box<Diagnostic>> {
    let output = arguments.output.as_deref();
    let stdout = output == Some(Path::new("-"));
    let extension = output.and_then(Path::extension).and_then(|e| e.to_str());
    let format = match (arguments.dot, extension) {
        (true, None | Some("dot" | "gv")) => Format::Dot,
        (false, Some("dot" | "gv")) => Format::Dot,
        (false, Some("html" | "htm")) => Format::Html,
        (false, None) if output.is_none() || stdout => Format::Html,
        (dot, _) => {
            let name = output.unwrap_or(Path::new("")).display();
            let wanted = if dot { ".dot" } else { ".html or .dot" };
            let text = format!("the extension of `{name}` must be {wanted}");
            return Err(Box::new(Diagnostic::without_location(&COMMAND_LINE_NAME, text)));
        }
    };
    let file = match (output, format) {
        (Some(_), _) if stdout => None,
        (Some(path), _) => Some(path.to_owned()),
        (None, Format::Dot) => None,
        (None, Format::Html) => Some(default_name(&arguments.model)),
    };
    Ok((format, file))
}

/// `alexnet.html` for `models/alexnet/` and `models/alexnet.onnx`, in the current folder.
fn default_name(model: &Path) -> PathBuf {
    // Resolves paths such as `.`, which have no name.
    let resolved = model.canonicalize();
    let model = resolved.as_deref().unwrap_or(model);
    let stem = if model.is_dir() { model.file_name() } else { model.file_stem() };
    let mut name = stem.unwrap_or("model".as_ref()).to_owned();
    name.push(".html");
    PathBuf::from(name)
}
