// SPDX-License-Identifier: Apache-2.0
//! A program with its own memory: executes one call at a time, without allocations.

use crate::arena::Arena;
use crate::artifact::{Artifact, Port, PortExtent};
use crate::error::{LoadError, RunError};
use crate::prepared::Prepared;
use crate::program::Program;
use crate::threads;
use skript_intrinsics::compiled::Context;
use skript_tensor::Tensor;

/// A program with its arena and the buffers for the pointers of a call.
pub struct Instance {
    program: Program,
    arena: Arena,
    context: Context,
    /// The prepared variables; `None` before the first call.
    prepared: Option<Prepared>,
    /// Inputs, variables, outputs, then a pointer into `extents` per dynamic tensor, then the prepared variables.
    pointers: Vec<*mut u8>,
    /// The extents of all dynamic tensors, in order.
    extents: Vec<i64>,
    /// The number of threads of a call; 0 for the default.
    threads: usize,
}

// SAFETY: the pointers are dead between calls.
unsafe impl Send for Instance {}

impl Instance {
    /// Maps the arena.
    ///
    /// # Errors
    /// [`LoadError::Arena`] if the system cannot provide the memory.
    pub fn new(program: &Program) -> Result<Instance, LoadError> {
        let artifact = program.artifact();
        let bytes = artifact.arena.size;
        let arena = Arena::new(bytes).map_err(|source| LoadError::Arena { bytes, source })?;
        let extents = artifact
            .ports()
            .filter(|p| p.is_dynamic())
            .map(|p| p.shape.len())
            .sum();
        Ok(Instance {
            program: program.clone(),
            arena,
            context: Context::default(),
            prepared: None,
            pointers: Vec::with_capacity(artifact.pointer_count() + 1),
            extents: Vec::with_capacity(extents),
            threads: 0,
        })
    }

    /// The program that the instance executes.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Sets the number of threads of a call; 0, the initial value, means [`threads::default_threads`]. Outputs do not
    /// depend on it.
    pub fn set_threads(&mut self, threads: usize) {
        self.threads = threads;
    }

    /// Shares a program's prepared variables with this instance, which otherwise prepares them itself.
    pub fn set_prepared(&mut self, prepared: Prepared) {
        self.prepared = Some(prepared);
    }

    /// Computes the outputs. Variables are read, never written: new values are outputs.
    ///
    /// The first call prepares variables, and so does a call with other variables than the previous one, which are
    /// recognized by their addresses. If elements of a variable were changed in place, or if variables were freed so
    /// that others may have their addresses, call [`Instance::forget`] first.
    ///
    /// # Errors
    /// [`RunError`] if the tensors do not match the interface, a run-time check fails, or a mapped file was truncated
    /// meanwhile; the outputs are then unspecified. [`Tensor::unchanged`] detects that a mapped file was written to.
    pub fn call(
        &mut self,
        inputs: &[&Tensor],
        variables: &[&Tensor],
        outputs: &mut [Tensor],
    ) -> Result<(), RunError> {
        let artifact = self.program.artifact();
        count("inputs", artifact.inputs.len(), inputs.len())?;
        count("variables", artifact.variables.len(), variables.len())?;
        count("outputs", artifact.outputs.len(), outputs.len())?;
        self.pointers.clear();
        self.extents.clear();
        let read = [
            ("input", &artifact.inputs, inputs),
            ("variable", &artifact.variables, variables),
        ];
        for (role, ports, tensors) in read {
            for (port, tensor) in ports.iter().zip(tensors) {
                accept(role, port, tensor)?;
                self.pointers.push(tensor.bytes().as_ptr().cast_mut());
            }
        }
        for (port, tensor) in artifact.outputs.iter().zip(outputs.iter_mut()) {
            accept_output(port, tensor)?;
            let bytes = tensor
                .bytes_mut()
                .map_err(|e| RunError::Memory(e.to_string()))?;
            self.pointers.push(bytes.as_mut_ptr());
        }
        for (ports, tensors) in [(&artifact.inputs, inputs), (&artifact.variables, variables)] {
            for (port, tensor) in ports.iter().zip(tensors) {
                if port.is_dynamic() {
                    // Shapes were compared with upper bounds below 2⁴⁰.
                    self.extents
                        .extend(tensor.shape().iter().map(|n| n.cast_signed()));
                }
            }
        }
        for port in artifact.outputs.iter().filter(|p| p.is_dynamic()) {
            let bounds = port.shape.iter().map(|e| e.bound().cast_signed());
            self.extents.extend(bounds);
        }
        let mut next = self.extents.as_mut_ptr();
        for port in artifact.ports().filter(|p| p.is_dynamic()) {
            self.pointers.push(next.cast());
            next = next.wrapping_add(port.shape.len());
        }
        if artifact.prepared > 0 {
            let known = self.prepared.take();
            let known = known.filter(|p| p.is_of(&self.program, variables));
            let prepared = match known {
                Some(prepared) => prepared,
                None => Prepared::of(&self.program, variables, self.threads)?,
            };
            self.pointers.push(prepared.pointer().cast_mut());
            self.prepared = Some(prepared);
        }
        self.context = Context::default();
        // SAFETY: every pointer covers the size in the interface, aligned to its elements; the arena has the size that
        // the code requires; the program outlives the call.
        let status = threads::with_threads(self.threads, || unsafe {
            self.program.entry()(
                self.pointers.as_ptr(),
                self.arena.pointer(),
                (&raw mut self.context).cast(),
            )
        });
        // Any result was computed from zeros in place of lost bytes.
        if let Some(prepared) = &self.prepared {
            prepared.intact()?;
        }
        for tensor in inputs.iter().chain(variables) {
            let intact = tensor.intact();
            intact.map_err(|e| RunError::Changed(e.to_string()))?;
        }
        outcome(self.program.artifact(), status, &self.context)
    }

    /// Discards the prepared variables: the next call prepares them again.
    pub fn forget(&mut self) {
        self.prepared = None;
    }

    /// The actual extents of output `position` after a call; `None` beyond the outputs.
    pub fn output_shape(&self, position: usize) -> Option<Vec<u64>> {
        output_shape(self.program.artifact(), &self.extents, position)
    }
}

/// The actual extents of an output after a call that left these extents; `None` beyond the outputs.
pub(crate) fn output_shape(
    artifact: &Artifact,
    extents: &[i64],
    position: usize,
) -> Option<Vec<u64>> {
    let port = artifact.outputs.get(position)?;
    if !port.is_dynamic() {
        return Some(port.shape.iter().map(|e| e.bound()).collect());
    }
    let before = artifact.inputs.len() + artifact.variables.len() + position;
    let start: usize = artifact
        .ports()
        .take(before)
        .filter(|p| p.is_dynamic())
        .map(|p| p.shape.len())
        .sum();
    let actual = extents.get(start..start + port.shape.len())?;
    let clamped = actual
        .iter()
        .zip(&port.shape)
        .map(|(n, bound)| u64::try_from(*n).unwrap_or_default().min(bound.bound()));
    Some(clamped.collect())
}

/// The result of a call by the status of its code.
pub(crate) fn outcome(artifact: &Artifact, status: i32, context: &Context) -> Result<(), RunError> {
    if status == 0 {
        return Ok(());
    }
    let check = usize::try_from(status)
        .ok()
        .and_then(|n| n.checked_sub(1))
        .and_then(|n| artifact.checks.get(n))
        .ok_or(RunError::Status(status))?;
    Err(RunError::Check {
        code: check.code.clone(),
        message: check.message(context),
        trace: check.trace.clone(),
    })
}

pub(crate) fn count(role: &'static str, expected: usize, found: usize) -> Result<(), RunError> {
    if expected == found {
        return Ok(());
    }
    Err(RunError::Count {
        role,
        expected,
        found,
    })
}

/// The element type and shape of a tensor to read.
pub(crate) fn accept(role: &'static str, port: &Port, tensor: &Tensor) -> Result<(), RunError> {
    let shape = tensor.shape();
    let fits = shape.len() == port.shape.len()
        && shape.iter().zip(&port.shape).all(|(n, e)| match e {
            PortExtent::Fixed(m) => n == m,
            PortExtent::Dynamic(bound) => n <= bound,
        });
    compare(role, port, tensor, fits)
}

/// The element type and shape of a slot: dynamic extents have their upper bounds.
pub(crate) fn accept_output(port: &Port, tensor: &Tensor) -> Result<(), RunError> {
    let bounds = port.shape.iter().map(|e| e.bound());
    let fits = tensor.shape().iter().copied().eq(bounds);
    compare("output", port, tensor, fits)
}

fn compare(role: &'static str, port: &Port, tensor: &Tensor, fits: bool) -> Result<(), RunError> {
    if tensor.element() != port.element {
        return Err(RunError::Element {
            role,
            name: port.name.clone(),
            expected: port.element,
            found: tensor.element(),
        });
    }
    if fits {
        return Ok(());
    }
    Err(RunError::Shape {
        role,
        name: port.name.clone(),
        expected: shape_text(port),
        found: tensor.shape().to_vec(),
    })
}

fn shape_text(port: &Port) -> String {
    let extents: Vec<String> = port
        .shape
        .iter()
        .map(|e| match e {
            PortExtent::Fixed(n) => n.to_string(),
            PortExtent::Dynamic(n) => format!("at most {n}"),
        })
        .collect();
    format!("[{}]", extents.join(", "))
}
