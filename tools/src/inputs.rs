// SPDX-License-Identifier: Apache-2.0
//! Reads the arrays of `--input` arguments: one tensor for each input of the graph.

mod pack_arrays;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::INPUT;
use skript_frontend::model::{Extent, Model, Port, PortTensors, ShapeExpr, TensorType};
use skript_semantics::Numbers;
use skript_tensor::error::Admits;
use skript_tensor::npz::Npz;
use skript_tensor::random::{self, Purpose};
use skript_tensor::{ElementType, Tensor, TensorError, npy};

use crate::command_line::InputArgument;
use crate::console::Status;
use crate::session::{Session, Weights};

/// The names of inputs in the arguments.
pub fn named(arguments: &[InputArgument]) -> impl Iterator<Item = &str> {
    arguments.iter().filter_map(|a| match a {
        InputArgument::Files { name, .. } | InputArgument::Random { name, .. } => Some(name.as_str()),
        InputArgument::Archive(_) => None,
    })
}

/// The names of the entry's inputs, in the order of the flattened tensors: `x`, packs `xs_0`, `xs_1`.
pub fn names(model: &Model) -> Vec<String> {
    let inputs = model.function(model.entry).into_iter().flat_map(|entry| &entry.inputs);
    inputs.flat_map(Port::tensor_names).collect()
}

/// The names of inputs in the arguments and in their archives; `None` if an archive cannot be read.
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

/// The number of arrays for each input if it is a pack: its files, or the arrays `NAME_0`, `NAME_1`, … of an archive.
/// Files that cannot be read are reported later, when the arrays are read.
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
pub fn shapes(arguments: &[InputArgument], max_bytes: u64) -> Vec<(String, Vec<Vec<u64>>)> {
    let any: Admits<'_> = &|_, _| Ok(());
    let shapes = arguments.iter().filter_map(|argument| {
        let InputArgument::Files { name, files } = argument else {
            return None;
        };
        let shapes = files.iter().map(|path| {
            let tensor = file(path, max_bytes, name, any).ok()?;
            Some(tensor.shape().to_vec())
        });
        Some((name.clone(), shapes.collect::<Option<Vec<_>>>()?))
    });
    shapes.collect()
}

/// The length of the sequence `NAME_0`, `NAME_1`, … without a gap.
fn items(archive: &Npz, pack: &str) -> usize {
    (0..).take_while(|at| archive.contains(&format!("{pack}_{at}"))).count()
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
pub type Arrays = (Vec<Tensor>, Vec<Tensor>);

/// Inputs and weights of a run. Reports the errors of both together, and returns `None` after them.
pub fn prepare(
    session: &mut Session,
    model: &skript::Model,
    arguments: &[InputArgument],
    weights: Weights,
) -> Option<Arrays> {
    let inputs = gather(session, model.ir(), arguments).unwrap_or_else(|errors| {
        for error in errors {
            session.report(error);
        }
        Vec::new()
    });
    let variables = session.variables(model, weights)?;
    (session.status() == Status::Done).then_some((inputs, variables))
}

/// Adds seeded random numbers for every input without an argument.
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

/// The entry's inputs in order, in storage types; packs are flattened, absent optional inputs omitted. Checks kinds,
/// ranks, static extents and upper bounds, and ints by the type that an imported model declares; returns all errors otherwise.
pub fn gather(
    session: &Session,
    model: &Model,
    arguments: &[InputArgument],
) -> Result<Vec<Tensor>, Vec<Diagnostic>> {
    let max_bytes = session.unpacked_bytes();
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
        let values = port.tensors.values().iter().filter_map(|v| entry.values.get(v.0 as usize));
        let (types, numbers) = values.map(|v| (&v.tensor, entry.numbers_of(v))).unzip();
        let wanted = Wanted { port, types, numbers, session, archives: &archives, max_bytes };
        match wanted.read(argument) {
            Ok(found) => tensors.extend(found.into_iter().map(Tensor::into_shared)),
            Err(messages) => errors.extend(messages.into_iter().map(report)),
        }
    }
    if errors.is_empty() { Ok(tensors) } else { Err(errors) }
}

/// An input of the graph, and the sources of its arrays.
struct Wanted<'a> {
    port: &'a Port,
    types: Vec<&'a TensorType>,
    numbers: Vec<Numbers>,
    session: &'a Session<'a>,
    archives: &'a [Npz],
    max_bytes: u64,
}

impl Wanted<'_> {
    fn is_pack(&self) -> bool {
        matches!(self.port.tensors, PortTensors::Pack(_))
    }

    /// The name of the input's tensor at a position.
    fn item(&self, at: usize) -> String {
        if self.is_pack() { format!("{}_{at}", self.port.name) } else { self.port.name.clone() }
    }

    fn text(&self, error: TensorError) -> String {
        match error {
            // This message already names the input.
            TensorError::Shape { .. } => error.to_string(),
            error => format!("input `{}`: {error}", self.port.name),
        }
    }

    /// Reads the tensors in storage types; returns all errors.
    fn read(&self, argument: Option<&InputArgument>) -> Result<Vec<Tensor>, Vec<String>> {
        if let Some(stack) = self.stack(argument)? {
            return Ok(vec![stack]);
        }
        let sources = match argument {
            Some(InputArgument::Files { files, .. }) => self.files(files)?,
            Some(InputArgument::Random { seed, .. }) => self.random(*seed),
            Some(InputArgument::Archive(_)) | None => self.archived(),
        };
        let ints = self.session.ints(&self.port.name);
        let (mut tensors, mut messages) = (Vec::new(), Vec::new());
        for (at, source) in sources.into_iter().enumerate() {
            let wanted = self.types.get(at).zip(self.numbers.get(at));
            let fitted = source.and_then(|tensor| match wanted {
                Some((wanted, numbers)) => fit(tensor, &self.item(at), wanted, ints, *numbers),
                None => Ok(tensor),
            });
            match fitted {
                Ok(tensor) => tensors.push(tensor),
                Err(message) => messages.push(message),
            }
        }
        if messages.is_empty() { Ok(tensors) } else { Err(messages) }
    }

    /// The pack as one tensor, if the input is a pack of dynamic length and has arrays.
    fn stack(&self, argument: Option<&InputArgument>) -> Result<Option<Tensor>, Vec<String>> {
        let name = &self.port.name;
        let (PortTensors::Stack(_), [whole], [numbers]) =
            (&self.port.tensors, self.types.as_slice(), self.numbers.as_slice())
        else {
            return Ok(None);
        };
        let given = match argument {
            Some(InputArgument::Files { files, .. }) => {
                pack_arrays::files(files, self.max_bytes, name, whole)
            }
            Some(InputArgument::Random { .. }) => Ok(Vec::new()),
            Some(InputArgument::Archive(_)) | None => pack_arrays::archived(self.archives, name, whole),
        };
        let given = given.map_err(|e| vec![self.text(e)])?;
        if given.is_empty() {
            return Ok(None);
        }
        pack_arrays::pack(given, name, whole, *numbers).map(Some)
    }

    /// Reads the arrays of files: one file for each tensor, or one archive with all of them.
    fn files(&self, files: &[PathBuf]) -> Result<Vec<Result<Tensor, String>>, Vec<String>> {
        let files: Vec<&PathBuf> = match whole_pack(files) {
            Some(archive) if self.is_pack() => {
                let all = Npz::open(archive, self.max_bytes).map(|archive| vec![archive]);
                let row = all.and_then(|all| pack_arrays::whole_row(&all, &self.port.name));
                row.map_err(|e| vec![self.text(e)])?;
                files.iter().cycle().take(self.types.len()).collect()
            }
            _ => files.iter().collect(),
        };
        if files.len() != self.types.len() {
            return Err(vec![format!(
                "input `{}` needs {}, but there are {}",
                self.port.name,
                count(self.types.len(), "array"),
                count(files.len(), "file"),
            )]);
        }
        let read = files.iter().zip(&self.types).enumerate().map(|(at, (path, wanted))| {
            let name = self.item(at);
            let admits = |_, shape: &[u64]| shaped(shape, &name, wanted);
            let read = if is_archive(path) {
                open(self.session, path).and_then(|a| array(&a, &name, &admits))
            } else {
                npy::read(path, &admits)
            };
            read.map_err(|e| self.text(e))
        });
        Ok(read.collect())
    }

    fn random(&self, seed: u64) -> Vec<Result<Tensor, String>> {
        let filled = self.types.iter().zip(&self.numbers).enumerate().map(|(at, (tensor, numbers))| {
            let shape: Vec<u64> = tensor.shape.iter().map(Extent::bound).collect();
            let element = ElementType::for_kind(tensor.kind, *numbers);
            random::fill(element, &shape, seed, &self.item(at), Purpose::Input).map_err(|e| self.text(e))
        });
        filled.collect()
    }

    fn archived(&self) -> Vec<Result<Tensor, String>> {
        let port = &self.port.name;
        let missing = || {
            format!("input `{port}` has no value; pass --input {port}=FILE.npy or --input {port}=random:SEED")
        };
        let arrays = self.types.iter().enumerate().map(|(at, wanted)| {
            let name = self.item(at);
            let admits = |_, shape: &[u64]| shaped(shape, &name, wanted);
            let array = archived(self.archives, &name, &admits).map_err(|e| self.text(e));
            array.and_then(|array| array.ok_or_else(missing))
        });
        let mut arrays: Vec<Result<Tensor, String>> = arrays.collect();
        // One message for a pack without any argument.
        let exists = |at| self.archives.iter().any(|archive| archive.contains(&self.item(at)));
        if !(0..self.types.len()).any(exists) {
            arrays.truncate(1);
        }
        arrays
    }
}

/// Whether an array of an archive belongs to an input; items of packs are named `xs_0`, `xs_1`.
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

/// The archive, with arrays renamed from the names of the imported model to the names of the graph.
pub fn open(session: &Session, path: &Path) -> Result<Npz, TensorError> {
    let archive = Npz::open(path, session.unpacked_bytes())?;
    Ok(archive.renamed(session.imported_names()))
}

/// `NAME=x.npz` takes the array of that name.
pub fn file(path: &Path, max_bytes: u64, name: &str, admits: Admits<'_>) -> Result<Tensor, TensorError> {
    if !is_archive(path) {
        return npy::read(path, admits);
    }
    array(&Npz::open(path, max_bytes)?, name, admits)
}

fn array(archive: &Npz, name: &str, admits: Admits<'_>) -> Result<Tensor, TensorError> {
    let array = archive.get(name, admits)?;
    array.ok_or_else(|| TensorError::Format {
        path: archive.path().to_path_buf(),
        reason: format!("it has no array `{name}`"),
    })
}

/// The array of this name in the last archive that has one.
pub fn archived(archives: &[Npz], name: &str, admits: Admits<'_>) -> Result<Option<Tensor>, TensorError> {
    let archive = archives.iter().rev().find(|a| a.contains(name));
    archive.map_or(Ok(None), |archive| archive.get(name, admits))
}

/// Returns an error unless the shape fits the declaration of an input.
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

/// The tensor in storage types, if kind and shape fit its declaration; `ints` is the type of the elements in the imported model.
pub fn fit(
    tensor: Tensor,
    name: &str,
    wanted: &TensorType,
    ints: Option<ElementType>,
    numbers: Numbers,
) -> Result<Tensor, String> {
    let element = ElementType::for_kind(wanted.kind, numbers);
    let what = format!("input `{name}`");
    shaped(tensor.shape(), name, wanted).map_err(|e| e.to_string())?;
    let converted = match ints {
        Some(declared) => tensor.into_input(&what, declared, element),
        None => tensor.into_run_time(&what, element),
    };
    converted.map_err(|e| e.to_string())
}
