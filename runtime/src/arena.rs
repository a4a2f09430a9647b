// SPDX-License-Identifier: Apache-2.0
//! The memory of one instance: mapped, aligned to 2 MiB, on huge pages where available.

use memmap2::MmapMut;

/// Zeroed memory at a fixed address.
#[derive(Debug)]
pub(crate) struct Arena {
    map: Option<MmapMut>,
    offset: usize,
    size: usize,
}

/// The alignment in bytes: one huge page of x86-64 and AArch64.
pub(crate) const ALIGNMENT: usize = 2 << 20;

impl Arena {
    /// Maps `size` bytes.
    ///
    /// # Errors
    /// The system's error, if it has no such memory.
    pub(crate) fn new(size: u64) -> std::io::Result<Arena> {
        let too_large = || std::io::Error::from(std::io::ErrorKind::OutOfMemory);
        let size = usize::try_from(size).map_err(|_| too_large())?;
        if size == 0 {
            return Ok(Arena {
                map: None,
                offset: 0,
                size,
            });
        }
        let length = size.checked_add(ALIGNMENT).ok_or_else(too_large)?;
        let map = MmapMut::map_anon(length)?;
        let offset = map.as_ptr().align_offset(ALIGNMENT);
        // Huge pages only affect speed, so a kernel without them is fine.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Ok(Arena {
            map: Some(map),
            offset,
            size,
        })
    }

    /// The start of the arena, aligned to [`ALIGNMENT`]; must not be accessed if the arena is empty.
    pub(crate) fn pointer(&mut self) -> *mut u8 {
        match &mut self.map {
            Some(map) => map.as_mut_ptr().wrapping_add(self.offset),
            None => std::ptr::without_provenance_mut(ALIGNMENT),
        }
    }

    /// As [`Arena::pointer`], for reading only.
    pub(crate) fn start(&self) -> *const u8 {
        match &self.map {
            Some(map) => map.as_ptr().wrapping_add(self.offset),
            None => std::ptr::without_provenance(ALIGNMENT),
        }
    }

    /// The content.
    pub(crate) fn bytes(&self) -> &[u8] {
        let map = self.map.as_deref().unwrap_or_default();
        let end = self.offset.saturating_add(self.size);
        map.get(self.offset..end).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arenas_are_aligned_and_zeroed() {
        let mut arena = Arena::new(3 << 20).unwrap();
        assert_eq!(arena.pointer().align_offset(ALIGNMENT), 0);
        // SAFETY: the last byte of the arena.
        assert_eq!(unsafe { *arena.pointer().add((3 << 20) - 1) }, 0);
    }

    #[test]
    fn memory_that_nobody_has_is_an_error() {
        assert!(Arena::new(1 << 60).is_err());
    }
}
