//! Results → `.npy` files, or a summary.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::OUTPUT;
use skript_frontend::model::{Model, PortTensors};
use skript_host::printable;
use skript_tensor::{ElementType, Tensor, TensorError, npy};

/// File stems of the entry's outputs, in the order of the flattened tensors: `y`, packs `ys_0`, `ys_1`.
pub fn names(model: &Model) -> Vec<String> {
    let mut names = Vec::new();
    for port in model
        .function(model.entry)
        .into_iter()
        .flat_map(|f| &f.outputs)
    {
        match &port.tensors {
            PortTensors::Single(_) | PortTensors::Stack(_) => names.push(port.name.clone()),
            PortTensors::Pack(items) => {
                names.extend((0..items.len()).map(|at| format!("{}_{at}", port.name)));
            }
            PortTensors::Null => {}
        }
    }
    names
}

/// Writes `DIR/<name>.npy` for each, making the folder.
pub fn write(
    names: &[String],
    tensors: &[Arc<Tensor>],
    folder: &Path,
) -> Result<(), Box<Diagnostic>> {
    make(folder)?;
    for (name, tensor) in names.iter().zip(tensors) {
        write_one(name, tensor, folder, npy::write)?;
    }
    Ok(())
}

/// How one tensor is written: path for messages, tensor, stream.
pub type Writer = fn(&Path, &Tensor, &mut dyn Write) -> Result<(), TensorError>;

/// Writes `DIR/<name>.npy`, making the folder.
pub fn write_one(
    name: &str,
    tensor: &Tensor,
    folder: &Path,
    write: Writer,
) -> Result<(), Box<Diagnostic>> {
    make(folder)?;
    let path = folder.join(format!("{name}.npy"));
    let file = File::create(&path).map_err(|e| wrong(&path, e.to_string()))?;
    let mut stream = BufWriter::new(file);
    write(&path, tensor, &mut stream).map_err(|e| wrong(&path, e.to_string()))?;
    stream.flush().map_err(|e| wrong(&path, e.to_string()))
}

fn make(folder: &Path) -> Result<(), Box<Diagnostic>> {
    fs::create_dir_all(folder).map_err(|e| wrong(folder, e.to_string()))
}

fn wrong(path: &Path, reason: String) -> Box<Diagnostic> {
    let message = format!("cannot write {}: {reason}", path.display());
    Box::new(Diagnostic::without_place(&OUTPUT, message))
}

/// A line per output: name, type, shape and the first elements.
pub fn summary(names: &[String], tensors: &[Arc<Tensor>]) -> String {
    const SHOWN: usize = 8;
    let mut text = String::new();
    for (name, tensor) in names.iter().zip(tensors) {
        let elements = (0..tensor.volume().min(SHOWN)).filter_map(|at| element(tensor, at));
        let mut elements: Vec<String> = elements.collect();
        if tensor.volume() > SHOWN {
            elements.push("…".to_string());
        }
        let line = format!(
            "{}: {}{:?} = {}\n",
            printable(name),
            tensor.element(),
            tensor.shape(),
            elements.join(" ")
        );
        text.push_str(&line);
    }
    text
}

/// One element; of `u64`, those above the language's integers too.
fn element(tensor: &Tensor, at: usize) -> Option<String> {
    if tensor.element() == ElementType::U64 {
        let bytes = tensor.bytes().chunks_exact(size_of::<u64>()).nth(at)?;
        return Some(u64::from_le_bytes(bytes.try_into().ok()?).to_string());
    }
    Some(match tensor.get(at)? {
        skript_semantics::Scalar::Int(i) => i.to_string(),
        skript_semantics::Scalar::Real(r) => format!("{r}"),
        skript_semantics::Scalar::Bool(b) => b.to_string(),
    })
}
