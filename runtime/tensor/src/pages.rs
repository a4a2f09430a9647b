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
    /// The system's error, if the memory cannot be mapped.
    pub fn new(size: u64) -> std::io::Result<Pages> {
        Pages::mapped(size, false)
    }

    /// Reserves addresses for `size` bytes. The system commits memory when a page is first touched, so `size` may exceed physical
    /// memory.
    ///
    /// # Errors
    /// The system's error, if the addresses cannot be reserved.
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
        // Huge pages only affect speed, so an error is ignored.
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

    /// Like [`Pages::pointer`], for reading only.
    pub fn start(&self) -> *const u8 {
        match &self.map {
            Some(map) => map.as_ptr().wrapping_add(self.offset),
            None => std::ptr::without_provenance(ALIGNMENT),
        }
    }

    /// The content.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match &self.map {
            Some(map) => map.split_at(self.offset).1.split_at(self.size).0,
            None => &[],
        }
    }

    /// The content, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.map {
            Some(map) => map.split_at_mut(self.offset).1.split_at_mut(self.size).0,
            None => &mut [],
        }
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
    fn impossible_sizes_are_errors() {
        assert!(Pages::new(1 << 60).is_err());
    }
}
