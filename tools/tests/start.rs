// SPDX-License-Identifier: Apache-2.0
//! `skript` links neither LLVM nor MLIR; `skript-driver` links them.

#![allow(clippy::unwrap_used)]

use object::elf::{self, FileHeader64};
use object::read::elf::{Dyn as _, FileHeader as _};
use object::{LittleEndian, StringTable};

/// Names of the shared libraries that an ELF program links.
fn libraries(program: &str) -> Vec<String> {
    let file = std::fs::read(program).unwrap();
    let header = FileHeader64::<LittleEndian>::parse(&*file).unwrap();
    let sections = header.sections(LittleEndian, &*file).unwrap();
    let (entries, strings) = sections.dynamic(LittleEndian, &*file).unwrap().unwrap();
    let strings: StringTable = sections.strings(LittleEndian, &*file, strings).unwrap();
    let needed =
        entries.iter().filter(|entry| entry.tag32(LittleEndian).map(i64::from) == Some(elf::DT_NEEDED));
    let names = needed.map(|entry| entry.string(LittleEndian, strings).unwrap());
    names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}

#[test]
fn only_the_driver_loads_the_compiler() {
    let is_compiler = |name: &String| name.contains("MLIR") || name.contains("LLVM");
    let start = libraries(env!("CARGO_BIN_EXE_skript"));
    assert!(start.iter().any(|name| name.starts_with("libc.so")));
    assert!(!start.iter().any(is_compiler), "{start:?}");
    let driver = libraries(env!("CARGO_BIN_EXE_skript-driver"));
    assert!(driver.iter().any(is_compiler), "{driver:?}");
}
