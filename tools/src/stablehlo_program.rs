// SPDX-License-Identifier: Apache-2.0
//! StableHLO programs as input of commands: loads them, reports diagnostics, and reads one array for each argument.

use std::path::Path;

use skript::Compiler;
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::{
    COMMAND_LINE_NAME, INPUT, NOT_COMPILED, STABLEHLO_TEXT, UNREADABLE,
};
use skript_frontend::source::{FileId, SourceMap, Span};
use skript_runtime::profile::Step;
use skript_semantics::{IntType, RealType};
use skript_stablehlo::import::{Element, Program, Refusal};
use skript_tensor::npz::Npz;
use skript_tensor::random::{self, Purpose};
use skript_tensor::{ElementType, Tensor, TensorError, npy};

use crate::command_line::{InputArgument, ModelArguments};
use crate::console::{Console, Status};
use crate::inputs;
use crate::program_shapes::{CallShapes, misfits};
use crate::session::{print_count, repeated, twice};

/// Whether the path names a StableHLO program, by its extension.
pub fn is_program(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "mlir")
}

/// Executes the work of a command on a program, unless the command line has wrong flags, and writes the diagnostics.
pub fn perform(
    reading: &ModelArguments,
    wrong: Vec<Diagnostic>,
    console: &mut Console,
    work: impl FnOnce(&mut SourceMap) -> Result<(), Vec<Diagnostic>>,
) -> Status {
    let mut sources = SourceMap::default();
    let (status, diagnostics) = if !wrong.is_empty() {
        (Status::Usage, wrong)
    } else {
        match work(&mut sources) {
            Ok(()) => return Status::Done,
            Err(diagnostics) => (Status::Wrong, diagnostics),
        }
    };
    let format = reading.message_format;
    crate::render::render(&diagnostics, &sources, format, console);
    print_count(&diagnostics, format, console);
    status
}

/// [`flags_of_documents`] for a StableHLO program.
pub fn model_flags(reading: &ModelArguments, specific: &[(&str, bool)]) -> Vec<Diagnostic> {
    flags_of_documents(reading, specific, "StableHLO programs")
}

/// Errors for given flags that apply only to models in SkriptND: the common flags, and the flags of a verb. `others` names the models
/// that they do not apply to.
pub fn flags_of_documents(
    reading: &ModelArguments,
    specific: &[(&str, bool)],
    others: &str,
) -> Vec<Diagnostic> {
    let flags = [
        ("--edition", reading.edition.is_some()),
        ("--graph", reading.graph.is_some()),
        ("--quantize", reading.quantize.is_some()),
        ("--real", reading.real.is_some_and(|real| real.0 != RealType::F32)),
        ("--int", reading.int.0 != IntType::I64),
        ("--set", !reading.attributes.is_empty()),
        ("--bound", !reading.import.bounds.is_empty()),
        ("--constant", !reading.import.constants.is_empty()),
        ("--intrinsic", !reading.intrinsics.is_empty()),
    ];
    let given = flags.iter().chain(specific).filter(|(_, given)| *given);
    given
        .map(|(flag, _)| {
            let text = format!("{flag} is for models in SkriptND, not for {others}");
            Diagnostic::without_location(&COMMAND_LINE_NAME, text)
        })
        .collect()
}

/// Like [`model_flags`], for a verb with inputs. Also reports inputs that are given more than once.
pub fn call_flags(
    reading: &ModelArguments,
    specific: &[(&str, bool)],
    given: &[InputArgument],
) -> Vec<Diagnostic> {
    let several = repeated(inputs::named(given)).into_iter().map(|name| twice("--input", name));
    model_flags(reading, specific).into_iter().chain(several).collect()
}

/// Compiles the program of a file, for the shapes of the call if it has symbolic dimensions. Also returns whether the
/// code was in the user's cache.
pub fn load(
    path: &Path,
    reading: &ModelArguments,
    given: &[InputArgument],
    compiler: &Compiler,
    sources: &mut SourceMap,
) -> Result<(Program, bool), Vec<Diagnostic>> {
    let (text, file) = read(path, reading, sources)?;
    let mut shapes = CallShapes::new(reading, given);
    let compiled = compiler.program(&text, &mut |declared| shapes.arguments(declared));
    let (program, cached) = compiled.map_err(|refusals| wrong(shapes, path, file, &refusals, sources))?;
    program_shapes_fit(&program, reading)?;
    Ok((program, cached))
}

/// The errors of a program that was not compiled: the errors of its shapes, if there are any.
fn wrong(
    shapes: CallShapes,
    path: &Path,
    file: FileId,
    refusals: &[Refusal],
    sources: &SourceMap,
) -> Vec<Diagnostic> {
    if shapes.wrong.is_empty() { diagnostics(path, file, refusals, sources) } else { shapes.wrong }
}

fn program_shapes_fit(program: &Program, reading: &ModelArguments) -> Result<(), Vec<Diagnostic>> {
    match misfits(program, &reading.input_shapes) {
        wrong if wrong.is_empty() => Ok(()),
        wrong => Err(wrong),
    }
}

/// The name of a program in profiles: the name of its file.
pub fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Compiles the program of a file for a profile. Also returns the steps of its code.
pub fn load_for_profile(
    path: &Path,
    reading: &ModelArguments,
    given: &[InputArgument],
    compiler: &Compiler,
    sources: &mut SourceMap,
) -> Result<(Program, Vec<Step>), Vec<Diagnostic>> {
    let (text, file) = read(path, reading, sources)?;
    let mut shapes = CallShapes::new(reading, given);
    let compiled = compiler.profile_program(&text, &mut |declared| shapes.arguments(declared));
    let (program, mut steps) = compiled.map_err(|refusals| wrong(shapes, path, file, &refusals, sources))?;
    program_shapes_fit(&program, reading)?;
    // MLIR locations have `-` in place of the file name.
    let name = path.display();
    let text = sources.get(file).map_or("", |source| &source.text);
    let calls = steps.iter_mut().flat_map(|step| &mut step.operators).flatten();
    for call in calls {
        if let Some(position) = call.strip_prefix("-:") {
            *call = format!("{name}:{position}{}", operation(position, text));
        }
    }
    Ok((program, steps))
}

/// The name of the operation at `line:column: ` of a text; empty if there is no operation, or if a name follows the position.
fn operation<'t>(position: &str, text: &'t str) -> &'t str {
    let parse = || {
        let (line, column) = position.strip_suffix(": ")?.split_once(':')?;
        let (line, column): (usize, usize) = (line.parse().ok()?, column.parse().ok()?);
        let line = text.lines().nth(line.checked_sub(1)?)?;
        let rest = line.get(column.checked_sub(1)?..)?;
        let rest = rest.strip_prefix('"').unwrap_or(rest);
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '_'));
        let name = rest.get(..end.unwrap_or(rest.len()))?;
        name.contains('.').then_some(name)
    };
    parse().unwrap_or("")
}

/// Reads the text of a program, and adds it to the sources.
fn read(
    path: &Path,
    reading: &ModelArguments,
    sources: &mut SourceMap,
) -> Result<(String, FileId), Vec<Diagnostic>> {
    let max_bytes = reading.limits.in_force().program_bytes;
    let text = skript_host::file::read(path, max_bytes).map_err(|e| {
        let text = format!("cannot read {}: {e}", path.display());
        vec![Diagnostic::without_location(&UNREADABLE, text)]
    })?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let file = sources.add(path, text.as_str());
    Ok((text, file))
}

/// Refusals as diagnostics in the program's text.
fn diagnostics(path: &Path, file: FileId, refusals: &[Refusal], sources: &SourceMap) -> Vec<Diagnostic> {
    let convert = |refusal: &Refusal| {
        let code = if refusal.malformed { &STABLEHLO_TEXT } else { &NOT_COMPILED };
        let source = sources.get(file);
        let offset = refusal.source_position.and_then(|(l, c)| source?.offset(l, c));
        match offset {
            Some(at) => Diagnostic::error(code, Span::new(file, at, at), &refusal.message),
            None => Diagnostic::without_location(code, format!("{}: {}", path.display(), refusal.message)),
        }
    };
    refusals.iter().map(convert).collect::<Vec<_>>()
}

/// One array per argument, with its type and shape; all errors otherwise. `max_bytes` bounds the unpacked size of a
/// compressed array in bytes.
pub fn gather(
    program: &Program,
    given: &[InputArgument],
    max_bytes: u64,
) -> Result<Vec<Tensor>, Vec<Diagnostic>> {
    let count = program.arguments.len();
    let mut wrong = Vec::new();
    let mut say = |text: String| wrong.push(Diagnostic::without_location(&INPUT, text));
    let mut archives = Vec::new();
    for argument in given {
        if let InputArgument::Archive(path) = argument {
            match Npz::open(path, max_bytes) {
                Ok(archive) => archives.push(archive),
                Err(error) => say(error.to_string()),
            }
        }
    }
    let is_argument = |name: &str| (0..count).any(|n| n.to_string() == name);
    let archived = archives.iter().flat_map(Npz::names).map(String::as_str);
    for name in inputs::named(given).chain(archived) {
        if !is_argument(name) {
            let last = count.saturating_sub(1);
            say(match count {
                0 => format!("there is no argument `{name}`: the program has none"),
                _ => format!("there is no argument `{name}`: they are numbered from 0 to {last}"),
            });
        }
    }
    let mut tensors = Vec::new();
    for n in 0..count {
        let read = one(program, n, given, &archives).and_then(|t| fit(program, n, t));
        match read {
            Ok(tensor) => tensors.push(tensor),
            Err(text) => say(text),
        }
    }
    if wrong.is_empty() { Ok(tensors) } else { Err(wrong) }
}

/// Reads the array of the command line for argument `n`.
fn one(program: &Program, n: usize, given: &[InputArgument], archives: &[Npz]) -> Result<Tensor, String> {
    let number = n.to_string();
    let admits = |element, shape: &[u64]| {
        let result = admitted(program, n, element, shape);
        result.map_err(|reason| TensorError::Unwanted { reason })
    };
    let text = |error: TensorError| match error {
        // This message already names the argument.
        TensorError::Unwanted { reason } => reason,
        error => format!("argument {n}: {error}"),
    };
    let named = given.iter().find(|a| match a {
        InputArgument::Files { name, .. } | InputArgument::Random { name, .. } => *name == number,
        InputArgument::Archive(_) => false,
    });
    match named {
        Some(InputArgument::Files { files, .. }) => match files.as_slice() {
            [file] => npy::read_wider(file, &admits).map_err(text),
            _ => Err(format!("argument {n} is one array, but there are {} files", files.len())),
        },
        Some(InputArgument::Random { seed, .. }) => {
            let port = program.artifact.inputs.get(n).ok_or("no such argument")?;
            let shape: Vec<u64> = port.shape.iter().map(|e| e.bound()).collect();
            let tensor = random::fill(port.element, &shape, *seed, &number, Purpose::Input);
            tensor.map_err(text)
        }
        Some(InputArgument::Archive(_)) | None => {
            let array = inputs::archived(archives, &number, &admits).map_err(text)?;
            array.ok_or_else(|| {
                format!("argument {n} has no value; pass --input {n}=FILE.npy or --input {n}=random:SEED")
            })
        }
    }
}

/// Checks the type and shape of an array for argument `n`.
fn admitted(program: &Program, n: usize, element: ElementType, shape: &[u64]) -> Result<(), String> {
    let (Some(port), Some(wanted)) = (program.artifact.inputs.get(n), program.arguments.get(n)) else {
        return Err(format!("there is no argument {n}"));
    };
    // Every bf16 value is exactly representable in f32.
    let half = wanted.element == Element::Float(RealType::BF16) && element == ElementType::BF16;
    let extents: Vec<u64> = port.shape.iter().map(|e| e.bound()).collect();
    if shape != extents || element != port.element && !half {
        return Err(format!(
            "argument {n} is {}, for which the array must be {}{extents:?}, but it is {element}{shape:?}",
            wanted.text(),
            port.element,
        ));
    }
    Ok(())
}

/// Converts the array to the storage type of the code.
fn fit(program: &Program, n: usize, tensor: Tensor) -> Result<Tensor, String> {
    admitted(program, n, tensor.element(), tensor.shape())?;
    let Some(wanted) = program.arguments.get(n) else {
        return Err(format!("there is no argument {n}"));
    };
    let tensor = match tensor.element() {
        ElementType::BF16 => tensor.with_element(ElementType::F32),
        _ => tensor,
    };
    let fits = |byte: &u8| match wanted.element {
        Element::Signed(4) => (-8..8).contains(&byte.cast_signed()),
        Element::Unsigned(4) => *byte < 16,
        _ => true,
    };
    match tensor.bytes().iter().position(|b| !fits(b)) {
        Some(at) => {
            Err(format!("argument {n} is {}, but element {at} does not fit into 4 bits", wanted.text()))
        }
        None => Ok(tensor),
    }
}

#[cfg(test)]
mod tests {
    use super::operation;

    #[test]
    fn operations_are_named_by_their_text() {
        let text = "func.func @f() {\n  %0 = \"stablehlo.add\"(%a)\n  %1 = chlo.erf %0 : t\n}\n";
        assert_eq!(operation("2:8: ", text), "stablehlo.add");
        assert_eq!(operation("3:8: ", text), "chlo.erf");
        assert_eq!(operation("3:3: ", text), "");
        assert_eq!(operation("9:1: ", text), "");
        assert_eq!(operation("2:8: named", text), "");
    }
}
