// SPDX-License-Identifier: Apache-2.0
//! Loads object code into this process, without LLVM: position-independent ELF objects, as LLVM writes them.
//!
//! `object` reads the file, `layout` arranges its sections in one mapping, `link` copies them there and applies their
//! relocations, `memory` owns the mapping. Undefined symbols are resolved by the fixed table of [`crate::symbols`], never by
//! the process.
//!
//! Pages are writable while they are filled, then read-only, executable, or (for data that code writes) writable; pages are never
//! writable and executable at once. `.eh_frame` is not loaded: neither compiled code nor the functions that it calls
//! unwind through it, since a panic in one of them aborts at its `extern "C"` boundary.

mod aarch64;
mod layout;
mod link;
mod memory;
mod object;
mod relocation;
#[cfg(test)]
mod tests;
mod x86_64;

use crate::error::LoadError;
use crate::symbols;
use layout::{Layout, Region};
use memory::Memory;
use object::Object;
use std::ffi::{c_int, c_void};

/// The C entry of a compiled model.
pub(crate) type Entry = unsafe extern "C" fn(*const *mut u8, *mut u8, *mut c_void) -> c_int;

/// The C function of a compiled model that prepares variables.
pub(crate) type Prepare = unsafe extern "C" fn(*const *mut u8);

/// Object code in this process; unmapped when it is dropped.
pub(crate) struct Linked {
    entry: Entry,
    prepare: Option<Prepare>,
    _memory: Memory,
}

/// The processors whose objects can be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Architecture {
    X86_64,
    Aarch64,
}

impl Architecture {
    /// The architecture that this program was compiled for.
    const HOST: Option<Architecture> = if cfg!(target_arch = "x86_64") {
        Some(Architecture::X86_64)
    } else if cfg!(target_arch = "aarch64") {
        Some(Architecture::Aarch64)
    } else {
        None
    };

    /// The effect of a relocation, by its number in the ELF specification.
    fn relocation(self, number: u32) -> Option<relocation::Relocation> {
        match self {
            Architecture::X86_64 => x86_64::relocation(number),
            Architecture::Aarch64 => aarch64::relocation(number),
        }
    }

    /// Code that jumps to any address.
    fn stub(self, target: u64) -> [u8; layout::STUB] {
        match self {
            Architecture::X86_64 => x86_64::stub(target),
            Architecture::Aarch64 => aarch64::stub(target),
        }
    }
}

impl Linked {
    /// Loads `object`, and finds the function `entry` in it, and the function `prepare` if a name is given.
    ///
    /// # Errors
    /// [`LoadError::Symbols`] if the table of symbols lacks a function that the code calls; [`LoadError::Link`] for
    /// everything else: a file that is not such an object, unsupported relocations, a system that refuses memory.
    pub(crate) fn new(object: &[u8], entry: &str, prepare: Option<&str>) -> Result<Linked, LoadError> {
        let object = Object::parse(object)?;
        if Some(object.architecture) != Architecture::HOST {
            return Err(LoadError::Link(format!(
                "it is code for {:?}, but this processor is {}",
                object.architecture,
                std::env::consts::ARCH
            )));
        }
        let layout = Layout::new(&object, memory::page_size())?;
        let entry = link::function(&object, &layout, entry)?;
        let prepare_function = prepare.map(|name| link::function(&object, &layout, name)).transpose()?;
        let mut memory = Memory::new(layout.size())?;
        let base = memory.address();
        link::link(&object, &layout, base, memory.bytes(), &symbols::address)?;
        for region in Region::ALL {
            memory.protect(layout.range(region), region)?;
        }
        Ok(Linked {
            entry: memory.entry(entry)?,
            prepare: prepare_function.map(|offset| memory.prepare(offset)).transpose()?,
            _memory: memory,
        })
    }

    /// The entry; valid while `self` lives.
    pub(crate) fn entry(&self) -> Entry {
        self.entry
    }

    /// The function that prepares variables; valid while `self` lives.
    pub(crate) fn prepare(&self) -> Option<Prepare> {
        self.prepare
    }
}

/// An error in the object itself.
fn wrong<T>(message: impl Into<String>) -> Result<T, LoadError> {
    Err(LoadError::Link(message.into()))
}
