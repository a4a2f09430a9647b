// SPDX-License-Identifier: Apache-2.0
//! Weights in an artifact: what `skript_prepare` computed of them, and the variables that the entry reads itself.

use super::Artifact;
use skript_tensor::map::MappedFile;
use skript_tensor::{ElementType, Tensor, TensorError};

/// Bytes; each part begins at a multiple of it.
pub(super) const ALIGNMENT: usize = 64;

/// Weights that an artifact carries. A clone shares them.
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

/// One array among the weights.
struct Part {
    offset: usize,
    length: usize,
}

/// The parts of an artifact's weights.
struct Layout {
    prepared: Part,
    /// `None` for a variable that only `skript_prepare` reads.
    variables: Vec<Option<Part>>,
    end: usize,
}

impl Layout {
    /// The parts from `start` on. `None` if a variable has no fixed size, or they are larger than any file.
    fn of(artifact: &Artifact, start: usize) -> Option<Layout> {
        let mut end = start;
        let mut part = |length: u64| {
            let length = usize::try_from(length).ok()?;
            let offset = end.checked_next_multiple_of(ALIGNMENT)?;
            end = offset.checked_add(length)?;
            Some(Part { offset, length })
        };
        let prepared = part(artifact.prepared)?;
        let mut variables = Vec::new();
        for (number, port) in artifact.variables.iter().enumerate() {
            let length = port.byte_bound().filter(|_| !port.is_dynamic())?;
            variables.push(if artifact.is_read(number) { Some(part(length)?) } else { None });
        }
        Some(Layout { prepared, variables, end })
    }
}

impl Embedded {
    /// Copies what was prepared, and those of the variables that the entry reads. `None` if a size differs from that of
    /// the interface, or there is not enough memory.
    pub(crate) fn new(artifact: &Artifact, prepared: &[u8], variables: &[&Tensor]) -> Option<Embedded> {
        let layout = Layout::of(artifact, 0)?;
        let parts = layout.variables.iter().zip(variables);
        let parts = parts.filter_map(|(part, tensor)| Some((part.as_ref()?, tensor.bytes())));
        let file = MappedFile::filled(layout.end, |data| {
            for (part, bytes) in parts.chain([(&layout.prepared, prepared)]) {
                let place = part.offset..part.offset.saturating_add(part.length);
                let place = data.get_mut(place).filter(|p| p.len() == bytes.len());
                if let Some(place) = place {
                    place.copy_from_slice(bytes);
                }
            }
        })?;
        Embedded::within(artifact, file, 0)
    }

    /// The weights in a file from `start` to its end. `None` if the file has another length, an element is no bool, or
    /// there is not enough memory.
    pub(super) fn within(artifact: &Artifact, file: MappedFile, start: usize) -> Option<Embedded> {
        let layout = Layout::of(artifact, start)?;
        if layout.end != file.bytes().len() {
            return None;
        }
        let bytes = [artifact.prepared];
        let offset = layout.prepared.offset;
        let prepared = Tensor::mapped(ElementType::U8, &bytes, file.clone(), offset)?;
        let unread = artifact.variables.iter().zip(&layout.variables);
        let most = unread.filter(|(_, part)| part.is_none()).filter_map(|(port, _)| port.byte_bound()).max();
        let zeros = MappedFile::zeros(usize::try_from(most.unwrap_or(0)).ok()?)?;
        let mut variables = Vec::new();
        for (port, part) in artifact.variables.iter().zip(&layout.variables) {
            let shape: Vec<u64> = port.shape.iter().map(|e| e.bound()).collect();
            let (file, offset) = match part {
                Some(part) => (&file, part.offset),
                None => (&zeros, 0),
            };
            let tensor = Tensor::mapped(port.element, &shape, file.clone(), offset)?;
            let is_bool = port.element == ElementType::Bool;
            if is_bool && part.is_some() && tensor.bytes().iter().any(|byte| *byte > 1) {
                return None;
            }
            variables.push(tensor);
        }
        Some(Embedded { file, start, prepared, variables })
    }

    /// The variables, in the order of the interface. Those that only `skript_prepare` reads are zeros.
    pub fn variables(&self) -> &[Tensor] {
        &self.variables
    }

    /// The offsets of the variables in [`Embedded::data`]; `None` for those that only `skript_prepare` reads. What it
    /// computed is at offset 0.
    pub(crate) fn offsets(&self, artifact: &Artifact) -> Vec<Option<usize>> {
        let variables = self.variables.iter().enumerate();
        let offset = |(n, tensor): (usize, &Tensor)| {
            let file = tensor.file().filter(|_| artifact.is_read(n));
            file.map(|(_, offset)| offset.saturating_sub(self.start))
        };
        variables.map(offset).collect()
    }

    /// What `skript_prepare` computed.
    pub(crate) fn prepared(&self) -> &Tensor {
        &self.prepared
    }

    /// All parts.
    pub fn data(&self) -> &[u8] {
        self.file.bytes().get(self.start..).unwrap_or_default()
    }

    /// Returns an error if the file was truncated or written to since it was opened.
    ///
    /// # Errors
    /// [`TensorError::Changed`].
    pub(crate) fn unchanged(&self) -> Result<(), TensorError> {
        self.file.unchanged()
    }
}
