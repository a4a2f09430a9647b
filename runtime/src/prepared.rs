// SPDX-License-Identifier: Apache-2.0
//! Values that a program computes once from variables without updates, such as copies in the layout of its kernels.

use crate::error::RunError;
use crate::instance::{accept, count};
use crate::program::Program;
use crate::threads;
use skript_tensor::{Pages, Tensor};
use std::sync::Arc;

/// Prepared variables of a program, shared by its instances.
#[derive(Clone)]
pub struct Prepared {
    inner: Arc<Inner>,
}

struct Inner {
    program: Program,
    /// The addresses of the variables that were read.
    sources: Vec<usize>,
    memory: Memory,
}

/// The bytes, which are not written any more.
enum Memory {
    Arena(Pages),
    /// In a file.
    Stored(Tensor),
}

impl Prepared {
    /// Prepares the variables of a program on `threads` threads; 0 for the default.
    ///
    /// # Errors
    /// [`RunError::Memory`] if there is not enough memory, [`RunError::Changed`] if a mapped file was truncated
    /// meanwhile, and the errors of [`crate::Instance::call`] for variables that do not match the interface.
    pub fn new(program: &Program, variables: &[&Tensor], threads: usize) -> Result<Prepared, RunError> {
        let artifact = program.artifact();
        count("variables", artifact.variables.len(), variables.len())?;
        for (port, variable) in artifact.variables.iter().zip(variables) {
            accept("variable", port, variable)?;
        }
        let memory = |e: std::io::Error| {
            let bytes = artifact.prepared;
            RunError::Memory(format!("prepared variables of {bytes} bytes: {e}"))
        };
        let mut arena = Pages::new(artifact.prepared).map_err(memory)?;
        let start = arena.pointer();
        let sources = sources(program, variables);
        if let Some(prepare) = program.prepare() {
            let inputs = std::iter::repeat_n(std::ptr::null_mut(), artifact.inputs.len());
            let mut pointers: Vec<*mut u8> = inputs.collect();
            pointers.extend(variables.iter().map(|v| v.bytes().as_ptr().cast_mut()));
            pointers.resize(artifact.pointer_count(), std::ptr::null_mut());
            pointers.push(start);
            // SAFETY: the function reads variables, whose tensors have the sizes of the interface, and writes the
            // memory, which has the size that the artifact states; it uses no other pointer of the table.
            threads::with_threads(threads, || unsafe { prepare(pointers.as_ptr()) });
        }
        for variable in variables {
            let intact = variable.intact();
            intact.map_err(|e| RunError::Changed(e.to_string()))?;
        }
        if program.prepare().is_some() {
            // What the entry still reads of the originals comes from their files again.
            variables.iter().for_each(|variable| variable.release());
        }
        Ok(Prepared {
            inner: Arc::new(Inner { program: program.clone(), sources, memory: Memory::Arena(arena) }),
        })
    }

    /// The size in bytes.
    pub fn size(&self) -> u64 {
        self.inner.program.artifact().prepared
    }

    /// Whether it was prepared from these variables of this program.
    pub(crate) fn is_of(&self, program: &Program, variables: &[&Tensor]) -> bool {
        self.inner.program.is(program) && self.inner.sources == sources(program, variables)
    }

    pub(crate) fn pointer(&self) -> *const u8 {
        match &self.inner.memory {
            Memory::Arena(arena) => arena.start(),
            Memory::Stored(bytes) => bytes.bytes().as_ptr(),
        }
    }

    /// Prepared values of these variables that are stored, as bytes. `None` if their number is wrong.
    pub(crate) fn stored(program: &Program, variables: &[&Tensor], bytes: Tensor) -> Option<Prepared> {
        let is_whole = bytes.shape() == [program.artifact().prepared];
        is_whole.then(|| Prepared {
            inner: Arc::new(Inner {
                program: program.clone(),
                sources: sources(program, variables),
                memory: Memory::Stored(bytes),
            }),
        })
    }

    /// As [`Prepared::new`]; the values that the artifact carries, if it does.
    ///
    /// # Errors
    /// Those of [`Prepared::new`], and [`RunError::Embedded`] if the variables are others than the artifact's.
    pub(crate) fn of(program: &Program, variables: &[&Tensor], threads: usize) -> Result<Prepared, RunError> {
        let Some(embedded) = &program.artifact().embedded else {
            return Prepared::new(program, variables, threads);
        };
        let own: Vec<&Tensor> = embedded.variables().iter().collect();
        let is_own = sources(program, &own) == sources(program, variables);
        let bytes = is_own.then(|| embedded.prepared().clone());
        let prepared = bytes.and_then(|bytes| Prepared::stored(program, variables, bytes));
        prepared.ok_or(RunError::Embedded)
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.inner.memory {
            Memory::Arena(arena) => arena.bytes(),
            Memory::Stored(bytes) => bytes.bytes(),
        }
    }

    /// Returns an error if bytes that were read so far were no longer in their file.
    ///
    /// # Errors
    /// [`RunError::Changed`].
    pub(crate) fn intact(&self) -> Result<(), RunError> {
        match &self.inner.memory {
            Memory::Arena(_) => Ok(()),
            Memory::Stored(bytes) => bytes.intact().map_err(|e| RunError::Changed(e.to_string())),
        }
    }
}

/// The addresses of the variables without updates.
fn sources(program: &Program, variables: &[&Tensor]) -> Vec<usize> {
    let updates = &program.artifact().updates;
    let is_updated = |n: usize| updates.iter().any(|(v, _)| usize::try_from(*v) == Ok(n));
    let constant = variables.iter().enumerate().filter(|(n, _)| !is_updated(*n));
    constant.map(|(_, v)| v.bytes().as_ptr().addr()).collect()
}
