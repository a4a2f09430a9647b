//! One call from start to end: load, make an instance, compute.

use crate::artifact::Artifact;
use crate::error::RunError;
use crate::instance::Instance;
use crate::program::Program;
use crate::tensor::{Buffer, TensorMut, TensorRef};

/// What a call computed.
#[derive(Clone, Debug)]
pub struct Outputs {
    /// (shape, data) per output of the artifact, updates of variables last.
    pub tensors: Vec<(Vec<u64>, Buffer)>,
}

/// Loads `artifact` and computes its outputs once.
///
/// # Errors
/// [`RunError`]: what [`Program::load`] and [`Instance::call`] find.
pub fn run(
    artifact: &Artifact,
    inputs: &[TensorRef],
    variables: &[TensorRef],
) -> Result<Outputs, RunError> {
    let load = |e: crate::error::LoadError| RunError::Load(e.to_string());
    let program = Program::load(artifact.clone()).map_err(load)?;
    let mut instance = Instance::new(&program).map_err(load)?;
    call(&mut instance, &program, inputs, variables)
}

/// Computes the outputs of `instance` into buffers made for them.
///
/// # Errors
/// Those of [`Instance::call`].
pub fn call(
    instance: &mut Instance,
    program: &Program,
    inputs: &[TensorRef],
    variables: &[TensorRef],
) -> Result<Outputs, RunError> {
    let ports = &program.artifact().outputs;
    let mut buffers = Vec::with_capacity(ports.len());
    for port in ports {
        let bytes = port.byte_bound().and_then(|b| usize::try_from(b).ok());
        let bytes = bytes.ok_or_else(|| RunError::Load("an output is too large".to_owned()))?;
        buffers.push(Buffer::zeroed(bytes));
    }
    let mut outputs: Vec<TensorMut> = ports
        .iter()
        .zip(&mut buffers)
        .map(|(port, buffer)| TensorMut {
            element: port.element,
            data: buffer.as_bytes_mut(),
        })
        .collect();
    instance.call(inputs, variables, &mut outputs)?;
    let tensors = buffers
        .into_iter()
        .enumerate()
        .map(|(n, buffer)| (instance.output_shape(n).unwrap_or_default(), buffer))
        .collect();
    Ok(Outputs { tensors })
}
