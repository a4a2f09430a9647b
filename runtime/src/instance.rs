// SPDX-License-Identifier: Apache-2.0
//! A program with its own memory: executes one call at a time, without allocations.

use crate::artifact::{Artifact, Port, PortExtent};
use crate::error::{LoadError, RunError, SMALLER};
use crate::extents::Extents;
use crate::prepared::Prepared;
use crate::program::Program;
use crate::stop::{CallContext, StopHandle};
use crate::threads;
use skript_intrinsics::compiled::Context;
use skript_tensor::{ElementType, Pages, Tensor};

/// A program with its arena and the buffers for the pointers of a call.
pub struct Instance {
    program: Program,
    arena: Pages,
    context: CallContext,
    /// The prepared variables; `None` before the first call.
    prepared: Option<Prepared>,
    /// Inputs, variables, outputs, then a pointer into `extents` per dynamic tensor, then the prepared variables.
    pointers: Vec<*mut u8>,
    /// The extents of all dynamic tensors, in order.
    extents: Extents,
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
        if let Some(kernels) = &artifact.kernels {
            return Err(LoadError::Kernels(kernels.language.name()));
        }
        let bytes = artifact.arena.size;
        let is_dynamic = artifact.ports().any(Port::is_dynamic);
        // A call touches only the pages that its extents need.
        let arena = if is_dynamic { Pages::reserved(bytes) } else { Pages::new(bytes) };
        let arena = arena.map_err(|source| {
            let remedy = if is_dynamic { format!("; {SMALLER}") } else { String::new() };
            LoadError::Arena { bytes, source, remedy }
        })?;
        let extents = artifact.ports().filter(|p| p.is_dynamic()).map(|p| p.shape.len()).sum();
        Ok(Instance {
            program: program.clone(),
            arena,
            context: CallContext::default(),
            prepared: None,
            pointers: Vec::with_capacity(artifact.pointer_count() + 1),
            extents: Extents::with_capacity(extents),
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
    /// The first call prepares variables, and so does a call whose variables have other addresses than the variables of the
    /// previous call. If elements of a variable were changed in place, or if variables were freed so that other variables may
    /// have their addresses, call [`Instance::forget`] first.
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
        let read = [("input", &artifact.inputs, inputs), ("variable", &artifact.variables, variables)];
        for (role, ports, tensors) in read {
            for (port, tensor) in ports.iter().zip(tensors) {
                accept(role, port, tensor)?;
                self.pointers.push(tensor.bytes().as_ptr().cast_mut());
            }
        }
        for (port, tensor) in artifact.outputs.iter().zip(outputs.iter_mut()) {
            accept_output(port, tensor)?;
            let bytes = tensor.bytes_mut().map_err(|e| RunError::Memory(e.to_string()))?;
            self.pointers.push(bytes.as_mut_ptr());
        }
        let shapes = inputs.iter().chain(variables).map(|t| t.shape());
        self.extents.set(artifact, shapes);
        self.extents.add_pointers(artifact, &mut self.pointers);
        if artifact.prepared > 0 {
            let known = self.prepared.take().filter(|p| p.is_of(&self.program, variables));
            let prepared = match known {
                Some(prepared) => prepared,
                None => Prepared::embedded_or_new(&self.program, variables, self.threads)?,
            };
            self.pointers.push(prepared.pointer().cast_mut());
            self.prepared = Some(prepared);
        }
        if self.context.handle().is_stopped() {
            return Err(RunError::Stopped { trace: Vec::new() });
        }
        self.context.reset();
        // SAFETY: every pointer covers the size in the interface, aligned to its elements; the arena has the size that
        // the code requires; the program outlives the call.
        let status = threads::with_threads(self.threads, || unsafe {
            self.program.entry()(self.pointers.as_ptr(), self.arena.pointer(), self.context.pointer().cast())
        });
        // Bytes lost to truncation read as zeros, so the result is invalid.
        if let Some(prepared) = &self.prepared {
            prepared.intact()?;
        }
        for tensor in inputs.iter().chain(variables) {
            let intact = tensor.intact();
            intact.map_err(|e| RunError::Changed(e.to_string()))?;
        }
        outcome(self.program.artifact(), status, &self.context.values())
    }

    /// A handle by which another thread stops the calls of this instance.
    pub fn stop_handle(&self) -> StopHandle {
        self.context.handle()
    }

    /// The prepared variables, which other instances of the program may share; `None` before the first call.
    pub fn prepared(&self) -> Option<&Prepared> {
        self.prepared.as_ref()
    }

    /// Discards the prepared variables: the next call prepares them again.
    pub fn forget(&mut self) {
        self.prepared = None;
    }

    /// The actual extents of output `position` after a call; `None` beyond the outputs.
    pub fn output_shape(&self, position: usize) -> Option<Vec<u64>> {
        self.extents.of_output(self.program.artifact(), position)
    }
}

/// Converts the status of compiled code to a result: n for a failure of check n, −n if another thread stopped the call at check n.
pub(crate) fn outcome(artifact: &Artifact, status: i32, context: &Context) -> Result<(), RunError> {
    if status == 0 {
        return Ok(());
    }
    let position = usize::try_from(status.unsigned_abs()).ok().and_then(|n| n.checked_sub(1));
    let check = position.and_then(|n| artifact.checks.get(n)).ok_or(RunError::Status(status))?;
    if status < 0 {
        return Err(RunError::Stopped { trace: check.trace.clone() });
    }
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
    Err(RunError::Count { role, expected, found })
}

/// Compares the element type and shape of a tensor to read with a port.
pub(crate) fn accept(role: &'static str, port: &Port, tensor: &Tensor) -> Result<(), RunError> {
    accept_array(role, port, tensor.element(), tensor.shape(), false)
}

/// Compares the element type and shape of a tensor to write with a port: dynamic extents have their upper bounds.
pub(crate) fn accept_output(port: &Port, tensor: &Tensor) -> Result<(), RunError> {
    accept_array("output", port, tensor.element(), tensor.shape(), true)
}

/// Compares an element type and a shape with a port. Dynamic extents are at most their upper bounds, or equal to them if
/// `is_bounds`.
pub(crate) fn accept_array(
    role: &'static str,
    port: &Port,
    element: ElementType,
    shape: &[u64],
    is_bounds: bool,
) -> Result<(), RunError> {
    if element != port.element {
        return Err(RunError::Element {
            role,
            name: port.name.clone(),
            expected: port.element,
            found: element,
        });
    }
    let fits = |(n, extent): (&u64, &PortExtent)| match extent {
        PortExtent::Dynamic(bound) if !is_bounds => n <= bound,
        extent => *n == extent.bound(),
    };
    if shape.len() == port.shape.len() && shape.iter().zip(&port.shape).all(fits) {
        return Ok(());
    }
    Err(RunError::Shape { role, name: port.name.clone(), expected: shape_text(port), found: shape.to_vec() })
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
