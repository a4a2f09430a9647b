// SPDX-License-Identifier: Apache-2.0
//! `skript view`: a page that shows a model as a graph, or a file for Graphviz.

use std::path::{Path, PathBuf};

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::{COMMAND_LINE_NAME, OUTPUT, UNREADABLE, WEIGHTS};
use skript_frontend::model::Model;
use skript_tensor::{MissingWeights, TensorError, load_each};
use skript_view::{Histogram, Picture};

use crate::command_line::{ViewArguments, WeightsArgument};
use crate::console::{Console, Status};
use crate::session::{Session, Stopped, Weights, requests};

/// The maximum size of a profile in bytes.
const MOST: u64 = 256 << 20;

/// What is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Html,
    Dot,
}

pub fn run(arguments: &ViewArguments, console: &mut Console) -> Status {
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
    let mut picture = Picture::of(model, &session.program);
    if format == Format::Html {
        if let Some(path) = &arguments.profile {
            let wrong = |text: String| {
                Diagnostic::without_location(&UNREADABLE, format!("{}: {text}", path.display()))
            };
            let bytes = skript_host::file::read(path, MOST).map_err(|e| wrong(e.to_string()))?;
            let text = String::from_utf8(bytes).map_err(|e| wrong(e.to_string()))?;
            picture.add_profile(&text).map_err(|e| wrong(e.to_string()))?;
        }
        if !arguments.no_weights {
            add_histograms(arguments, session, model, &mut picture)?;
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
    std::fs::write(&path, &text)
        .map_err(|error| Diagnostic::without_location(&OUTPUT, format!("{}: {error}", path.display())))?;
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
    // `.` has a name once it is resolved.
    let resolved = model.canonicalize();
    let model = resolved.as_deref().unwrap_or(model);
    let stem = if model.is_dir() { model.file_name() } else { model.file_stem() };
    let mut name = stem.unwrap_or("model".as_ref()).to_owned();
    name.push(".html");
    PathBuf::from(name)
}

/// Histograms of the weights that are there; a page without weights is one, too.
fn add_histograms(
    arguments: &ViewArguments,
    session: &Session,
    model: &Model,
    picture: &mut Picture,
) -> Result<(), Stopped> {
    let weights = Weights { given: arguments.weights.as_ref(), ..Weights::of_the_model() };
    let missing = match &arguments.weights {
        None | Some(WeightsArgument::From(_)) => MissingWeights::Error,
        Some(WeightsArgument::Zero) => MissingWeights::Zero,
        Some(WeightsArgument::Random(seed)) => MissingWeights::Random(*seed),
    };
    let wrong = |e: TensorError| Diagnostic::without_location(&WEIGHTS, e.to_string());
    let store = session.store(weights).map_err(wrong)?;
    let mut errors = Vec::new();
    let loaded = load_each(&store, &requests(model), missing);
    for (variable, loaded) in picture.variables.iter_mut().zip(loaded) {
        match loaded {
            Ok(tensor) => variable.histogram = Some(Histogram::of(&tensor)),
            Err(TensorError::Missing { .. }) => {}
            Err(error) => errors.push(wrong(error)),
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors.into()) }
}
