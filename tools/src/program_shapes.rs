// SPDX-License-Identifier: Apache-2.0
//! The shapes of the arguments of a StableHLO program with symbolic dimensions, from `--input-shape` and from the arrays of a
//! call.

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::INPUT;
use skript_stablehlo::import::{Element, Program, Tensor};
use skript_tensor::npz::Npz;
use skript_tensor::{TensorError, npy};

use crate::command_line::{InputArgument, InputShape, ModelArguments};
use crate::inputs;

/// The sources of the shapes of a call, and the errors in them.
pub struct CallShapes<'a> {
    given: &'a [InputArgument],
    shapes: &'a [InputShape],
    /// The maximum unpacked size of a compressed array in bytes.
    max_bytes: u64,
    /// The errors that were found.
    pub wrong: Vec<Diagnostic>,
}

impl<'a> CallShapes<'a> {
    pub fn new(reading: &'a ModelArguments, given: &'a [InputArgument]) -> Self {
        CallShapes {
            given,
            shapes: &reading.input_shapes,
            max_bytes: reading.limits.in_force().unpacked_bytes,
            wrong: Vec::new(),
        }
    }

    /// The shapes of all arguments. Records an error for each unknown shape and returns `None` if there are any.
    pub fn arguments(&mut self, declared: &[Tensor]) -> Option<Vec<Vec<i64>>> {
        let archives = self.given.iter().filter_map(|argument| match argument {
            InputArgument::Archive(path) => Npz::open(path, self.max_bytes).ok(),
            _ => None,
        });
        let archives: Vec<Npz> = archives.collect();
        let mut shapes = Vec::new();
        for (n, tensor) in declared.iter().enumerate() {
            match self.one(n, tensor, &archives) {
                Ok(shape) => shapes.push(shape),
                Err(message) => {
                    let wrong = Diagnostic::without_location(&INPUT, message);
                    self.wrong.push(wrong);
                }
            }
        }
        (shapes.len() == declared.len()).then_some(shapes)
    }

    fn one(&self, n: usize, declared: &Tensor, archives: &[Npz]) -> Result<Vec<i64>, String> {
        if let Some(shape) = named_shape(self.shapes, n)? {
            return Ok(shape);
        }
        if declared.is_static() {
            return Ok(declared.extents.clone());
        }
        let shape = array_shape(self.given, n, archives)?;
        let mut shape = shape.ok_or_else(|| {
            format!(
                "argument {n} is {}: its shape is that of an array, --input {n}=FILE.npy, or of --input-shape {n}=…",
                declared.text()
            )
        })?;
        if let Element::Complex(_) = declared.element {
            shape.pop();
        }
        Ok(shape)
    }
}

/// The shape that `--input-shape` specifies for an argument.
fn named_shape(shapes: &[InputShape], n: usize) -> Result<Option<Vec<i64>>, String> {
    let named = shapes.iter().rfind(|(name, _)| *name == n.to_string());
    let Some((_, named)) = named else {
        return Ok(None);
    };
    let wrong = || format!("--input-shape {n} must be one shape of numbers: {n}=4,3");
    let [shape] = named.as_slice() else {
        return Err(wrong());
    };
    let extents = shape.iter().map(|extent| i64::try_from((*extent)?).ok());
    let extents: Option<Vec<i64>> = extents.collect();
    extents.map(Some).ok_or_else(wrong)
}

/// The shape of the array for an argument, from the header of its file.
fn array_shape(given: &[InputArgument], n: usize, archives: &[Npz]) -> Result<Option<Vec<i64>>, String> {
    let number = n.to_string();
    let shape = std::cell::RefCell::new(None);
    let seen = |_, extents: &[u64]| {
        *shape.borrow_mut() = extents.iter().map(|e| i64::try_from(*e).ok()).collect();
        // Stops after the header: the elements are read once the program is compiled.
        let reason = String::new();
        Err(TensorError::Unwanted { reason })
    };
    let named = given.iter().find_map(|argument| match argument {
        InputArgument::Files { name, files } if *name == number => Some(files.first()),
        _ => None,
    });
    let read = match named.flatten() {
        Some(file) => npy::read_wider(file, &seen).map(|_| ()),
        None => inputs::archived(archives, &number, &seen).map(|_| ()),
    };
    match (shape.take(), read) {
        (Some(shape), _) => Ok(Some(shape)),
        (None, Err(error)) => Err(format!("argument {n}: {error}")),
        (None, Ok(())) => Ok(None),
    }
}

/// The errors in `--input-shape` for a program: names of missing arguments, and shapes that contradict the declared ones.
pub fn misfits(program: &Program, shapes: &[InputShape]) -> Vec<Diagnostic> {
    let misfit = |(name, _): &InputShape| {
        let n = name.parse::<usize>().ok();
        let argument = n.and_then(|n| Some((n, program.arguments.get(n)?)));
        let Some((n, argument)) = argument else {
            let count = program.arguments.len();
            return Some(format!("there is no argument `{name}`: the program has {count}, numbered from 0"));
        };
        match named_shape(shapes, n) {
            Ok(Some(shape)) if shape != argument.extents => {
                Some(format!("argument {n} is {}, but --input-shape is {shape:?}", argument.text()))
            }
            Ok(_) => None,
            Err(message) => Some(message),
        }
    };
    let messages = shapes.iter().filter_map(misfit);
    messages.map(|message| Diagnostic::without_location(&INPUT, message)).collect()
}
