// SPDX-License-Identifier: Apache-2.0
//! Memory of tensors: owned, aligned to a cache line, and allocated fallibly.

use crate::pages::Pages;
use crate::tensor::Memory;
use bytemuck::{Pod, Zeroable};
use std::alloc::{Layout, handle_alloc_error};

/// The alignment of owned tensors in bytes.
pub(crate) const ALIGNMENT: usize = 64;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; ALIGNMENT]);

/// Minimum size in bytes of memory that is mapped separately, on huge pages. On small pages, TLB misses would dominate the time
/// of reading it once. WebAssembly maps no memory.
const MIN_MAPPED_BYTES: usize = if cfg!(target_family = "wasm") { usize::MAX } else { 4 << 20 };

/// Zero-initialized bytes at a 64-byte boundary.
pub(crate) struct Buffer {
    memory: Owned,
    length: usize,
}

enum Owned {
    Lines(Vec<Line>),
    Pages(Pages),
}

impl Buffer {
    /// `None` if the allocator refuses.
    pub(crate) fn zeroed(length: usize) -> Option<Buffer> {
        let memory = match length {
            MIN_MAPPED_BYTES.. => Owned::Pages(Pages::new(u64::try_from(length).ok()?).ok()?),
            _ => {
                let count = length.div_ceil(ALIGNMENT);
                Owned::Lines(bytemuck::allocation::try_zeroed_vec(count).ok()?)
            }
        };
        Some(Buffer { memory, length })
    }

    /// Like [`Buffer::zeroed`], without committing memory for untouched pages.
    pub(crate) fn reserved(length: usize) -> Option<Buffer> {
        if length < MIN_MAPPED_BYTES {
            return Buffer::zeroed(length);
        }
        let pages = Pages::reserved(u64::try_from(length).ok()?).ok()?;
        let memory = Owned::Pages(pages);
        Some(Buffer { memory, length })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        let all = match &self.memory {
            Owned::Lines(lines) => bytemuck::cast_slice(lines),
            Owned::Pages(pages) => pages.bytes(),
        };
        all.get(..self.length).unwrap_or(&[])
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        let all = match &mut self.memory {
            Owned::Lines(lines) => bytemuck::cast_slice_mut(lines),
            Owned::Pages(pages) => pages.bytes_mut(),
        };
        all.get_mut(..self.length).unwrap_or(&mut [])
    }
}

impl Clone for Buffer {
    fn clone(&self) -> Buffer {
        let Some(mut copy) = Buffer::zeroed(self.length) else {
            let layout = Layout::array::<u8>(self.length);
            handle_alloc_error(layout.unwrap_or(Layout::new::<u8>()))
        };
        copy.bytes_mut().copy_from_slice(self.bytes());
        copy
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
