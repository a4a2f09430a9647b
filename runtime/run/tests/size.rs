// SPDX-License-Identifier: Apache-2.0
//! Checks that `skript-run` links neither LLVM nor MLIR and is small.

#![allow(clippy::unwrap_used)]

use object::elf::{self, FileHeader64};
use object::read::elf::{Dyn as _, FileHeader as _};
use object::{LittleEndian, StringTable};

const PROGRAM: &str = env!("CARGO_BIN_EXE_skript-run");

/// Names of the shared libraries that an ELF program links.
fn libraries(file: &[u8]) -> Vec<String> {
    let header = FileHeader64::<LittleEndian>::parse(file).unwrap();
    let sections = header.sections(LittleEndian, file).unwrap();
    let (entries, strings) = sections.dynamic(LittleEndian, file).unwrap().unwrap();
    let strings: StringTable = sections.strings(LittleEndian, file, strings).unwrap();
    let needed =
        entries.iter().filter(|entry| entry.tag32(LittleEndian).map(i64::from) == Some(elf::DT_NEEDED));
    let names = needed.map(|entry| entry.string(LittleEndian, strings).unwrap());
    names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}

#[test]
fn skript_run_loads_the_c_library_alone() {
    let file = std::fs::read(PROGRAM).unwrap();
    let libraries = libraries(&file);
    let known = ["libc.so", "libm.so", "libgcc_s.so", "libdl.so", "libpthread.so", "librt.so", "ld-linux"];
    let is_known = |name: &String| known.iter().any(|known| name.starts_with(known));
    assert!(libraries.iter().any(|name| name.starts_with("libc.so")), "{libraries:?}");
    assert!(libraries.iter().all(is_known), "{libraries:?}");
}

/// Sums the sections that are loaded: all except symbols and debug information, which `strip` removes.
#[cfg(not(debug_assertions))]
#[test]
fn skript_run_is_small() {
    use object::read::elf::SectionHeader as _;
    /// The limit for wheels and containers.
    const MAX_BYTES: u64 = 5 << 20;
    let file = std::fs::read(PROGRAM).unwrap();
    let header = FileHeader64::<LittleEndian>::parse(&*file).unwrap();
    let sections = header.sections(LittleEndian, &*file).unwrap();
    let is_kept = |section: &&elf::SectionHeader64<LittleEndian>| {
        section.sh_flags(LittleEndian) & u64::from(elf::SHF_ALLOC) != 0
    };
    let bytes: u64 = sections.iter().filter(is_kept).map(|s| s.sh_size(LittleEndian)).sum();
    assert!((1 << 16..MAX_BYTES).contains(&bytes), "{bytes}");
}
