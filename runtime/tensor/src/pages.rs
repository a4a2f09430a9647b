// SPDX-License-Identifier: Apache-2.0
//! Zeroed memory that is mapped, aligned to 2 MiB, on huge pages where available.

use memmap2::{MmapMut, MmapOptions};

/// Zeroed memory at a fixed address.
#[derive(Debug)]
pub struct Pages {
    map: Option<MmapMut>,
    offset: usize,
    size: usize,
}

/// The alignment in bytes: one huge page of x86-64 and AArch64.
pub const ALIGNMENT: usize = 2 << 20;

impl Pages {
    /// Maps `size` bytes.
    ///
    /// # Errors
    /// The system's error, if it has no such memory.
    pub fn new(size: u64) -> std::io::Result<Pages> {
        Pages::mapped(size, false)
    }

    /// Reserves addresses for `size` bytes. The system provides memory for the pages that are used, which may be fewer: `size` may be
    /// larger than its memory.
    ///
    /// # Errors
    /// The system's error, if it has no such addresses.
    pub fn reserved(size: u64) -> std::io::Result<Pages> {
        Pages::mapped(size, true)
    }

    fn mapped(size: u64, is_reserved: bool) -> std::io::Result<Pages> {
        let too_large = || std::io::Error::from(std::io::ErrorKind::OutOfMemory);
        let size = usize::try_from(size).map_err(|_| too_large())?;
        if size == 0 {
            return Ok(Pages { map: None, offset: 0, size });
        }
        let length = size.checked_add(ALIGNMENT).ok_or_else(too_large)?;
        let mut options = MmapOptions::new();
        options.len(length);
        if is_reserved {
            options.no_reserve_swap();
        }
        let map = options.map_anon()?;
        let offset = map.as_ptr().align_offset(ALIGNMENT);
        // Huge pages only affect speed, so a kernel without them is fine.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Ok(Pages { map: Some(map), offset, size })
    }

    /// The start of the memory, aligned to [`ALIGNMENT`]; must not be accessed if it is empty.
    pub fn pointer(&mut self) -> *mut u8 {
        match &mut self.map {
            Some(map) => map.as_mut_ptr().wrapping_add(self.offset),
            None => std::ptr::without_provenance_mut(ALIGNMENT),
        }
    }

    /// As [`Pages::pointer`], for reading only.
    pub fn start(&self) -> *const u8 {
        match &self.map {
            Some(map) => map.as_ptr().wrapping_add(self.offset),
            None => std::ptr::without_provenance(ALIGNMENT),
        }
    }

    /// The content.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        let map = self.map.as_deref().unwrap_or_default();
        let end = self.offset.saturating_add(self.size);
        map.get(self.offset..end).unwrap_or_default()
    }

    /// The content, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let end = self.offset.saturating_add(self.size);
        let map = self.map.as_deref_mut().unwrap_or_default();
        map.get_mut(self.offset..end).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_aligned_and_zeroed() {
        let mut pages = Pages::new(3 << 20).unwrap();
        assert_eq!(pages.pointer().align_offset(ALIGNMENT), 0);
        assert_eq!(pages.bytes().last(), Some(&0));
        assert_eq!(pages.bytes_mut().len(), 3 << 20);
    }

    #[test]
    fn reserved_pages_may_exceed_the_memory() {
        let mut pages = Pages::reserved(1 << 40).unwrap();
        pages.bytes_mut()[1 << 39] = 1;
        assert_eq!(pages.bytes()[(1 << 39) + 1], 0);
    }

    #[test]
    fn memory_that_nobody_has_is_an_error() {
        assert!(Pages::new(1 << 60).is_err());
    }
}
