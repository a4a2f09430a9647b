// SPDX-License-Identifier: Apache-2.0
//! Weights in an artifact: the result of `skript_prepare`, and the variables that the entry reads.

use super::Artifact;
use skript_tensor::map::MappedFile;
use skript_tensor::{ElementType, Tensor, TensorError};

/// Alignment of each array in bytes.
pub(super) const ALIGNMENT: usize = 64;

/// The weights of an artifact. Clones share them.
#[derive(Clone, Debug)]
pub struct Embedded {
    file: MappedFile,
    start: usize,
    prepared: Tensor,
    variables: Vec<Tensor>,
}

impl PartialEq for Embedded {
    fn eq(&self, other: &Self) -> bool {
        self.data() == other.data()
    }
}

impl Eq for Embedded {}

/// The position of one array in the weights.
struct ArrayPosition {
    offset: usize,
    length: usize,
}

/// The positions of all arrays in the weights.
struct Layout {
    prepared: ArrayPosition,
    /// `None` for a variable that only `skript_prepare` reads.
    variables: Vec<Option<ArrayPosition>>,
    end: usize,
}

impl Layout {
    /// Lays out the arrays from `start` on. `None` if a variable has a dynamic size, or if the size overflows.
    fn new(artifact: &Artifact, start: usize) -> Option<Layout> {
        let mut end = start;
        let mut position = |length: u64| {
            let length = usize::try_from(length).ok()?;
            let offset = end.checked_next_multiple_of(ALIGNMENT)?;
            end = offset.checked_add(length)?;
            Some(ArrayPosition { offset, length })
        };
        let prepared = position(artifact.prepared)?;
        let mut variables = Vec::new();
        for (number, port) in artifact.variables.iter().enumerate() {
            let length = port.byte_bound().filter(|_| !port.is_dynamic())?;
            variables.push(if artifact.is_read(number) { Some(position(length)?) } else { None });
        }
        Some(Layout { prepared, variables, end })
    }
}

impl Embedded {
    /// Copies the prepared values and the variables that the entry reads. `None` if a size differs from the interface, or
    /// if memory is insufficient.
    pub(crate) fn new(artifact: &Artifact, prepared: &[u8], variables: &[&Tensor]) -> Option<Embedded> {
        let layout = Layout::new(artifact, 0)?;
        let variables = layout.variables.iter().zip(variables);
        let parts = variables.filter_map(|(position, tensor)| Some((position.as_ref()?, tensor.bytes())));
        let file = MappedFile::filled(layout.end, |data| {
            for (position, bytes) in parts.chain([(&layout.prepared, prepared)]) {
                let range = position.offset..position.offset.saturating_add(position.length);
                let target = data.get_mut(range).filter(|target| target.len() == bytes.len());
                if let Some(target) = target {
                    target.copy_from_slice(bytes);
                }
            }
        })?;
        Embedded::within(artifact, file, 0)
    }

    /// The weights in a file from `start` to its end. `None` if the length of the file differs, an element of a bool
    /// tensor is neither 0 nor 1, or memory is insufficient.
    pub(super) fn within(artifact: &Artifact, file: MappedFile, start: usize) -> Option<Embedded> {
        let layout = Layout::new(artifact, start)?;
        if layout.end != file.bytes().len() {
            return None;
        }
        let bytes = [artifact.prepared];
        let offset = layout.prepared.offset;
        let prepared = Tensor::mapped(ElementType::U8, &bytes, file.clone(), offset)?;
        let unread = artifact.variables.iter().zip(&layout.variables);
        let bounds =
            unread.filter(|(_, position)| position.is_none()).filter_map(|(port, _)| port.byte_bound());
        let zeros = MappedFile::zeros(usize::try_from(bounds.fold(0, u64::max)).ok()?)?;
        let mut variables = Vec::new();
        for (port, position) in artifact.variables.iter().zip(&layout.variables) {
            let shape: Vec<u64> = port.shape.iter().map(|e| e.bound()).collect();
            let (file, offset) = match position {
                Some(position) => (&file, position.offset),
                None => (&zeros, 0),
            };
            let tensor = Tensor::mapped(port.element, &shape, file.clone(), offset)?;
            let is_bool = port.element == ElementType::Bool;
            if is_bool && position.is_some() && tensor.bytes().iter().any(|byte| *byte > 1) {
                return None;
            }
            variables.push(tensor);
        }
        Some(Embedded { file, start, prepared, variables })
    }

    /// The variables, in the order of the interface. Variables that only `skript_prepare` reads are zeros.
    pub fn variables(&self) -> &[Tensor] {
        &self.variables
    }

    /// The offsets of the variables in [`Embedded::data`]; `None` for variables that only `skript_prepare` reads. The
    /// result of `skript_prepare` is at offset 0.
    pub(crate) fn offsets(&self, artifact: &Artifact) -> Vec<Option<usize>> {
        let variables = self.variables.iter().enumerate();
        let offset = |(n, tensor): (usize, &Tensor)| {
            let file = tensor.file().filter(|_| artifact.is_read(n));
            file.map(|(_, offset)| offset.saturating_sub(self.start))
        };
        variables.map(offset).collect()
    }

    /// The result of `skript_prepare`.
    pub(crate) fn prepared(&self) -> &Tensor {
        &self.prepared
    }

    /// The bytes of all arrays.
    pub fn data(&self) -> &[u8] {
        self.file.bytes().split_at(self.start).1
    }

    /// Returns an error if the file was truncated or written to since it was opened.
    ///
    /// # Errors
    /// [`TensorError::Changed`].
    pub(crate) fn unchanged(&self) -> Result<(), TensorError> {
        self.file.unchanged()
    }
}
