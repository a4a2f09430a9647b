// SPDX-License-Identifier: Apache-2.0
//! Memory of tensors: owned, aligned to a cache line, and allocated fallibly.

use crate::tensor::Memory;
use bytemuck::{Pod, Zeroable};

/// The alignment of owned tensors in bytes.
pub(crate) const ALIGNMENT: usize = 64;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; ALIGNMENT]);

/// Zero-initialized bytes at a 64-byte boundary.
#[derive(Clone)]
pub(crate) struct Buffer {
    lines: Vec<Line>,
    length: usize,
}

impl Buffer {
    /// `None` if the allocator refuses.
    pub(crate) fn zeroed(length: usize) -> Option<Buffer> {
        let count = length.div_ceil(ALIGNMENT);
        let lines = bytemuck::allocation::try_zeroed_vec(count).ok()?;
        Some(Buffer { lines, length })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.lines)
            .get(..self.length)
            .unwrap_or(&[])
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.lines)
            .get_mut(..self.length)
            .unwrap_or(&mut [])
    }
}

impl Memory for Buffer {
    fn bytes(&self) -> &[u8] {
        Buffer::bytes(self)
    }
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer({} bytes)", self.length)
    }
}
