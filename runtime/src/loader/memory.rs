// SPDX-License-Identifier: Apache-2.0
//! The mapping that contains loaded code: the unsafe part of the loader.

use super::layout::Region;
use super::{Entry, Prepare, wrong};
use crate::error::LoadError;
use std::io::Error;
use std::ops::Range;
use std::ptr::{NonNull, null_mut};

/// Private pages of this process.
pub(crate) struct Memory {
    start: NonNull<u8>,
    /// The size, a multiple of the page size, not 0.
    size: usize,
}

// SAFETY: after loading, only the code itself writes to the pages, and it has no global variables (contract of the artifact).
unsafe impl Send for Memory {}
unsafe impl Sync for Memory {}

/// The size of a page of the system in bytes.
pub(crate) fn page_size() -> u64 {
    // SAFETY: `sysconf` does not access memory of the program.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(size).unwrap_or(4096).max(4096)
}

impl Memory {
    /// Maps zeroed, writable pages.
    pub(crate) fn new(size: u64) -> Result<Memory, LoadError> {
        let refused = |error: Error| wrong(format!("no memory for {size} bytes of code: {error}"));
        let Ok(bytes) = usize::try_from(size) else {
            return refused(Error::from(std::io::ErrorKind::OutOfMemory));
        };
        // SAFETY: a new private mapping.
        let start = unsafe {
            libc::mmap(
                null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return refused(Error::last_os_error());
        }
        match NonNull::new(start.cast()) {
            Some(start) => Ok(Memory { start, size: bytes }),
            None => wrong("the system mapped code at address 0"),
        }
    }

    pub(crate) fn address(&self) -> u64 {
        self.start.as_ptr().expose_provenance() as u64
    }

    /// The content of the mapping, before [`Memory::protect`].
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the mapping has this size, is writable until `protect`, and is borrowed with `self`.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.size) }
    }

    /// Sets the final protection of pages.
    pub(crate) fn protect(&mut self, range: Range<u64>, region: Region) -> Result<(), LoadError> {
        let protection = match region {
            Region::Code => libc::PROT_READ | libc::PROT_EXEC,
            Region::Constants => libc::PROT_READ,
            Region::Variables => return Ok(()),
        };
        let bounds = (usize::try_from(range.start), usize::try_from(range.end));
        let (Ok(start), Ok(end)) = bounds else {
            return wrong("pages lie outside of the memory");
        };
        if start > end || end > self.size {
            return wrong("pages lie outside of the memory");
        }
        // SAFETY: the range is inside of the mapping; nothing borrows it.
        let status = unsafe {
            let first = self.start.as_ptr().add(start);
            if region == Region::Code {
                synchronize(first, end - start);
            }
            libc::mprotect(first.cast(), end - start, protection)
        };
        match status {
            0 => Ok(()),
            _ => wrong(format!(
                "the system refused executable or read-only memory: {}",
                Error::last_os_error()
            )),
        }
    }

    /// The entry at an offset.
    pub(crate) fn entry(&self, offset: u64) -> Result<Entry, LoadError> {
        let address = self.function(offset)?;
        // SAFETY: that this is a function of this type is the contract of the artifact, whose code is trusted.
        Ok(unsafe { std::mem::transmute::<*const u8, Entry>(address) })
    }

    /// The function at an offset that prepares variables.
    pub(crate) fn prepare(&self, offset: u64) -> Result<Prepare, LoadError> {
        let address = self.function(offset)?;
        // SAFETY: as for the entry.
        Ok(unsafe { std::mem::transmute::<*const u8, Prepare>(address) })
    }

    fn function(&self, offset: u64) -> Result<*const u8, LoadError> {
        let offset = usize::try_from(offset).ok().filter(|offset| *offset < self.size);
        let Some(offset) = offset else {
            return wrong("the entry lies outside of the memory");
        };
        // SAFETY: the offset is inside of the mapping.
        Ok(unsafe { self.start.as_ptr().add(offset) })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: this value owns the mapping; callers keep the program alive while they run its code.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.size) };
    }
}

/// Synchronizes the instruction cache with written code; x86-64 does so in hardware.
///
/// # Safety
/// The range is mapped and readable.
#[cfg(not(target_arch = "aarch64"))]
unsafe fn synchronize(_start: *const u8, _size: usize) {}

/// Synchronizes the instruction cache with written code: cleans the data cache, then invalidates the instruction cache,
/// by lines of the sizes in `ctr_el0`.
///
/// # Safety
/// The range is mapped and readable.
#[cfg(target_arch = "aarch64")]
unsafe fn synchronize(start: *const u8, size: usize) {
    use std::arch::asm;
    unsafe {
        let sizes: u64;
        asm!("mrs {}, ctr_el0", out(reg) sizes, options(nomem, nostack));
        let (data, code) = (4usize << (sizes >> 16 & 15), 4usize << (sizes & 15));
        for offset in (0..size).step_by(data) {
            asm!("dc cvau, {}", in(reg) start.add(offset), options(nostack));
        }
        asm!("dsb ish", options(nostack));
        for offset in (0..size).step_by(code) {
            asm!("ic ivau, {}", in(reg) start.add(offset), options(nostack));
        }
        asm!("dsb ish", "isb", options(nostack));
    }
}
