// SPDX-License-Identifier: Apache-2.0
//! Reads `--input` arguments to one tensor per input of the graph.

mod pack_arrays;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use indexmap::IndexMap;
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::INPUT;
use skript_frontend::model::{Extent, Function, Model, Port, PortTensors, ShapeExpr, TensorType};
use skript_semantics::Numbers;
use skript_tensor::error::Admits;
use skript_tensor::npz::Npz;
use skript_tensor::random::{self, Purpose};
use skript_tensor::{ElementType, Tensor, TensorError, npy};

use crate::command_line::InputArgument;
use crate::console::Status;
use crate::session::{Session, Weights};

/// Names in the arguments.
pub fn named(arguments: &[InputArgument]) -> impl Iterator<Item = &str> {
    arguments.iter().filter_map(|a| match a {
        InputArgument::Files { name, .. } | InputArgument::Random { name, .. } => Some(name.as_str()),
        InputArgument::Archive(_) => None,
    })
}

/// Inputs in the arguments, including those in archives; `None` if an archive cannot be read, so that they are unknown.
pub fn held(arguments: &[InputArgument]) -> Option<HashSet<String>> {
    let mut held: HashSet<String> = named(arguments).map(str::to_owned).collect();
    for argument in arguments {
        if let InputArgument::Archive(path) = argument {
            for name in Npz::open(path, 0).ok()?.names() {
                held.extend(name.strip_suffix("_0").map(str::to_owned));
                held.insert(name.to_owned());
            }
        }
    }
    Some(held)
}

/// The number of arrays for each input, if it is a pack: its files, or the arrays `NAME_0`, `NAME_1`, … of an archive.
/// Errors of reading are reported later, when the arrays are read.
pub fn pack_lengths(arguments: &[InputArgument]) -> IndexMap<String, usize> {
    let mut lengths = IndexMap::new();
    for argument in arguments {
        if let InputArgument::Archive(path) = argument {
            let Ok(archive) = Npz::open(path, 0) else {
                continue;
            };
            for name in archive.names() {
                if let Some(pack) = name.strip_suffix("_0") {
                    lengths.insert(pack.to_owned(), items(&archive, pack));
                }
            }
        }
    }
    for argument in arguments {
        if let InputArgument::Files { name, files } = argument {
            let length = match whole_pack(files) {
                Some(path) => Npz::open(path, 0).map_or(0, |archive| items(&archive, name)),
                None => files.len(),
            };
            lengths.insert(name.clone(), length.max(1));
        }
    }
    lengths
}

/// The shapes of the arrays of each input whose files can be read; errors are reported when the arrays are read.
pub fn shapes(arguments: &[InputArgument], most: u64) -> Vec<(String, Vec<Vec<u64>>)> {
    let any: Admits<'_> = &|_, _| Ok(());
    let shapes = arguments.iter().filter_map(|argument| {
        let InputArgument::Files { name, files } = argument else {
            return None;
        };
        let shapes = files.iter().map(|path| {
            let tensor = file(path, most, name, any).ok()?;
            Some(tensor.shape().to_vec())
        });
        Some((name.clone(), shapes.collect::<Option<Vec<_>>>()?))
    });
    shapes.collect()
}

/// The length of the sequence `NAME_0`, `NAME_1`, … without a gap.
fn items(archive: &Npz, pack: &str) -> usize {
    let found = (0..).take_while(|at| archive.contains(&format!("{pack}_{at}")));
    found.count()
}

/// The archive that contains all items of a pack, as in `--input xs=all.npz`.
fn whole_pack(files: &[PathBuf]) -> Option<&Path> {
    let [single] = files else { return None };
    is_archive(single).then_some(single.as_path())
}

fn is_archive(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "npz")
}

/// The arrays of a run: inputs, then variables.
pub type Arrays = (Vec<Arc<Tensor>>, Vec<Arc<Tensor>>);

/// Inputs and weights of a run. `None` if there are errors; those of both are reported together.
pub fn prepare(
    session: &mut Session,
    model: &Model,
    arguments: &[InputArgument],
    weights: Weights,
) -> Option<Arrays> {
    let inputs = gather(session, model, arguments).unwrap_or_else(|errors| {
        for error in errors {
            session.report(error);
        }
        Vec::new()
    });
    let variables = session.variables(model, weights)?;
    (session.status() == Status::Done).then(|| (inputs, variables.into_iter().map(Arc::new).collect()))
}

/// The arguments, and seeded random numbers for every other input.
pub fn or_random(model: &Model, arguments: &[InputArgument]) -> Vec<InputArgument> {
    let mut all = arguments.to_vec();
    let archive = arguments.iter().any(|a| matches!(a, InputArgument::Archive(_)));
    let entry = model.function(model.entry).filter(|_| !archive);
    for port in entry.map_or(&[][..], |e| &e.inputs) {
        if !named(arguments).any(|n| n == port.name) {
            all.push(InputArgument::Random { name: port.name.clone(), seed: 1 });
        }
    }
    all
}

/// The entry's inputs in order, in storage types; packs are flattened, absent optional ones left out. Checks kinds,
/// ranks, static extents and upper bounds, and ints by the type that an imported model declares; returns all errors otherwise.
pub fn gather(
    session: &Session,
    model: &Model,
    arguments: &[InputArgument],
) -> Result<Vec<Arc<Tensor>>, Vec<Diagnostic>> {
    let most = session.unpacked_bytes();
    let mut errors = Vec::new();
    let mut tensors = Vec::new();
    let mut archives = Vec::new();
    for argument in arguments {
        if let InputArgument::Archive(path) = argument {
            match open(session, path) {
                Ok(archive) => {
                    for name in archive.names() {
                        if !is_input(model, name) && !session.is_constant(name) {
                            let text = format!("{}: `{name}` is not an input of the graph", path.display());
                            errors.push(Diagnostic::without_location(&INPUT, text));
                        }
                    }
                    archives.push(archive);
                }
                Err(error) => {
                    errors.push(Diagnostic::without_location(&INPUT, error.to_string()));
                }
            }
        }
    }
    let Some(entry) = model.function(model.entry) else {
        return Err(vec![crate::session::internal("the model has no entry")]);
    };
    let unread = arguments.iter().filter(|a| matches!(a, InputArgument::Archive(_))).count() > archives.len();
    for port in &entry.inputs {
        let argument = arguments.iter().find(|a| match a {
            InputArgument::Files { name, .. } | InputArgument::Random { name, .. } => *name == port.name,
            InputArgument::Archive(_) => false,
        });
        // The contents of an unreadable archive are unknown.
        if argument.is_none() && unread {
            continue;
        }
        let (own, imported) = (&port.name, session.imported_name(&port.name));
        let named = |text: String| text.replace(&format!("input `{own}`"), &format!("input `{imported}`"));
        let report = |text: String| Diagnostic::error(&INPUT, port.span, named(text));
        match read(entry, port, argument, session, (&archives, most)) {
            Ok(found) => tensors.extend(found.into_iter().map(Arc::new)),
            Err(messages) => errors.extend(messages.into_iter().map(report)),
        }
    }
    if errors.is_empty() { Ok(tensors) } else { Err(errors) }
}

fn read(
    entry: &Function,
    port: &Port,
    argument: Option<&InputArgument>,
    session: &Session,
    (archives, most): (&[Npz], u64),
) -> Result<Vec<Tensor>, Vec<String>> {
    let ints = session.ints(&port.name);
    let values = port.tensors.values().iter().filter_map(|v| entry.values.get(v.0 as usize));
    let (types, numbers): (Vec<&TensorType>, Vec<Numbers>) =
        values.map(|v| (&v.tensor, entry.numbers_of(v))).unzip();
    let is_pack = matches!(port.tensors, PortTensors::Pack(_));
    let item = |at: usize| if is_pack { format!("{}_{at}", port.name) } else { port.name.clone() };
    let mut sources: Vec<Result<Tensor, String>> = Vec::new();
    let text = |error: TensorError| match error {
        // The message names the input.
        TensorError::Shape { .. } => error.to_string(),
        error => format!("input `{}`: {error}", port.name),
    };
    if let (PortTensors::Stack(_), [whole], [numbers]) = (&port.tensors, types.as_slice(), numbers.as_slice())
    {
        let given = match argument {
            Some(InputArgument::Files { files, .. }) => pack_arrays::files(files, most, &port.name, whole),
            Some(InputArgument::Random { .. }) => Ok(Vec::new()),
            Some(InputArgument::Archive(_)) | None => pack_arrays::archived(archives, &port.name, whole),
        };
        let given = given.map_err(|e| vec![text(e)])?;
        if !given.is_empty() {
            return pack_arrays::pack(given, &port.name, whole, *numbers).map(|pack| vec![pack]);
        }
    }
    match argument {
        Some(InputArgument::Files { files, .. }) => {
            let files: Vec<&PathBuf> = match whole_pack(files) {
                Some(archive) if is_pack => {
                    let all = Npz::open(archive, most).map(|archive| vec![archive]);
                    let row = all.and_then(|all| pack_arrays::whole_row(&all, &port.name));
                    row.map_err(|e| vec![text(e)])?;
                    files.iter().cycle().take(types.len()).collect()
                }
                _ => files.iter().collect(),
            };
            if files.len() != types.len() {
                return Err(vec![format!(
                    "input `{}` needs {}, but there are {}",
                    port.name,
                    count(types.len(), "array"),
                    count(files.len(), "file"),
                )]);
            }
            for (at, (path, wanted)) in files.iter().zip(&types).enumerate() {
                let name = item(at);
                let admits = |_, shape: &[u64]| shaped(shape, &name, wanted);
                let found = if is_archive(path) {
                    open(session, path).and_then(|a| array(&a, &name, &admits))
                } else {
                    npy::read(path, &admits)
                };
                sources.push(found.map_err(text));
            }
        }
        Some(InputArgument::Random { seed, .. }) => {
            for (at, (tensor, numbers)) in types.iter().zip(&numbers).enumerate() {
                let shape: Vec<u64> = tensor.shape.iter().map(Extent::bound).collect();
                let element = ElementType::run_time(tensor.kind, *numbers);
                let filled = random::fill(element, &shape, *seed, &item(at), Purpose::Input);
                sources.push(filled.map_err(text));
            }
        }
        Some(InputArgument::Archive(_)) | None => {
            for (at, wanted) in types.iter().enumerate() {
                let name = item(at);
                let admits = |_, shape: &[u64]| shaped(shape, &name, wanted);
                let found = archived(archives, &name, &admits).map_err(text);
                sources.push(found.and_then(|found| {
                    found.ok_or_else(|| {
                        format!(
                            "input `{}` has no value; pass --input {}=FILE.npy or --input {}=random:SEED",
                            port.name, port.name, port.name
                        )
                    })
                }));
            }
            // One message for a pack without any argument.
            let given = |at| archives.iter().any(|archive| archive.contains(&item(at)));
            if !(0..types.len()).any(given) {
                sources.truncate(1);
            }
        }
    }
    let mut tensors = Vec::new();
    let mut messages = Vec::new();
    for (at, source) in sources.into_iter().enumerate() {
        let wanted = types.get(at).zip(numbers.get(at));
        let fitted = source.and_then(|tensor| match wanted {
            Some((wanted, numbers)) => fit(tensor, &item(at), wanted, ints, *numbers),
            None => Ok(tensor),
        });
        match fitted {
            Ok(tensor) => tensors.push(tensor),
            Err(message) => messages.push(message),
        }
    }
    if messages.is_empty() { Ok(tensors) } else { Err(messages) }
}

/// Whether an array of an archive belongs to an input; items of packs are `xs_0`, `xs_1`.
fn is_input(model: &Model, name: &str) -> bool {
    let entry = model.function(model.entry);
    let mut ports = entry.into_iter().flat_map(|f| &f.inputs);
    ports.any(|port| match &port.tensors {
        PortTensors::Pack(items) => (0..items.len()).any(|at| format!("{}_{at}", port.name) == name),
        PortTensors::Stack(_) => port.name == name || pack_arrays::is_item(&port.name, name),
        PortTensors::Single(_) | PortTensors::Null => port.name == name,
    })
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// The archive, with the names of the graph for arrays that have those of the model that was imported.
fn open(session: &Session, path: &Path) -> Result<Npz, TensorError> {
    let archive = Npz::open(path, session.unpacked_bytes())?;
    Ok(archive.renamed(session.imported_names()))
}

/// `NAME=x.npz` takes the array of that name.
pub fn file(path: &Path, most: u64, name: &str, admits: Admits<'_>) -> Result<Tensor, TensorError> {
    if !is_archive(path) {
        return npy::read(path, admits);
    }
    array(&Npz::open(path, most)?, name, admits)
}

fn array(archive: &Npz, name: &str, admits: Admits<'_>) -> Result<Tensor, TensorError> {
    let found = archive.get(name, admits)?;
    found.ok_or_else(|| TensorError::Format {
        path: archive.path().to_path_buf(),
        reason: format!("it has no array `{name}`"),
    })
}

/// The array of this name in the last archive that has one.
pub fn archived(archives: &[Npz], name: &str, admits: Admits<'_>) -> Result<Option<Tensor>, TensorError> {
    let holder = archives.iter().rev().find(|a| a.contains(name));
    holder.map_or(Ok(None), |archive| archive.get(name, admits))
}

/// Returns an error unless the shape is that of an input's declaration.
fn shaped(shape: &[u64], name: &str, wanted: &TensorType) -> Result<(), TensorError> {
    let fits = shape.len() == wanted.shape.len()
        && shape.iter().zip(&wanted.shape).all(|(n, e)| match e {
            Extent::Fixed(fixed) => n == fixed,
            Extent::Dynamic { bound, .. } => n <= bound,
        });
    if fits {
        return Ok(());
    }
    let expected = wanted.shape.iter().map(|e| match e {
        Extent::Fixed(n) => n.to_string(),
        Extent::Dynamic { expr, bound } => match &**expr {
            ShapeExpr::Symbol(name) => format!("{name}≤{bound}"),
            _ => format!("at most {bound}"),
        },
    });
    let expected = expected.collect::<Vec<String>>().join(", ");
    let mut pairs = shape.iter().zip(&wanted.shape);
    let exceeds =
        shape.len() == wanted.shape.len() && pairs.any(|(n, e)| e.fixed().is_none() && *n > e.bound());
    let remedy = if exceeds {
        "; `--bound` sets the upper bounds of ONNX models, a document declares them, as in `real[n|8]`"
    } else {
        ""
    };
    Err(TensorError::Shape {
        what: format!("input `{name}`"),
        expected: format!("[{expected}]{remedy}"),
        got: shape.to_vec(),
    })
}

/// The tensor in storage types, if kind and shape are those of its declaration; `ints` is the type of the elements in the model that
/// was imported.
fn fit(
    tensor: Tensor,
    name: &str,
    wanted: &TensorType,
    ints: Option<ElementType>,
    numbers: Numbers,
) -> Result<Tensor, String> {
    let element = ElementType::run_time(wanted.kind, numbers);
    let what = format!("input `{name}`");
    shaped(tensor.shape(), name, wanted).map_err(|e| e.to_string())?;
    let converted = match ints {
        Some(declared) => tensor.into_input(&what, declared, element),
        None => tensor.into_run_time(&what, element),
    };
    converted.map_err(|e| e.to_string())
}
