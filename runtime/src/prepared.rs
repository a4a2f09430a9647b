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

/// The bytes, which are immutable.
enum Memory {
    Arena(Pages),
    /// In a file.
    Stored(Tensor),
}

impl Prepared {
    /// Prepares the variables of a program on `threads` threads; 0 for the default.
    ///
    /// # Errors
    /// [`RunError::Memory`] if memory is insufficient, [`RunError::Changed`] if a mapped file was truncated
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
            // Pages of variables that the entry also reads are faulted in from their files again.
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

    /// Prepared values of these variables from stored bytes. `None` if the number of bytes is wrong.
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

    /// The embedded values of the artifact if it has any, otherwise the values of [`Prepared::new`].
    ///
    /// # Errors
    /// The errors of [`Prepared::new`], and [`RunError::Embedded`] if the variables differ from the embedded variables.
    pub(crate) fn embedded_or_new(
        program: &Program,
        variables: &[&Tensor],
        threads: usize,
    ) -> Result<Prepared, RunError> {
        let Some(embedded) = &program.artifact().embedded else {
            return Prepared::new(program, variables, threads);
        };
        let embedded_variables: Vec<&Tensor> = embedded.variables().iter().collect();
        let is_same = sources(program, &embedded_variables) == sources(program, variables);
        let bytes = is_same.then(|| embedded.prepared().clone());
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

    /// Returns an error if a file was truncated before its bytes were read.
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
