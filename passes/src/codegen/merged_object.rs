// SPDX-License-Identifier: Apache-2.0
//! Merges the objects of a module's parts into one relocatable object.
//!
//! Sections with the same name are concatenated in the order of the parts. Hidden symbols, which parts share, become local,
//! so that several models can be linked into one program.

use super::CodegenError;
use object::elf::{self, FileHeader64};
use object::read::elf::ElfFile;
use object::read::{Object as _, ObjectSection as _, ObjectSymbol as _};
use object::write::{Object, Relocation, Symbol, SymbolId, SymbolSection};
use object::{
    BinaryFormat, Endianness, FileFlags, LittleEndian, RelocationFlags, RelocationTarget, SectionFlags,
    SectionIndex, SectionKind, SymbolFlags, SymbolIndex, SymbolKind, SymbolScope,
};
use std::collections::HashMap;

type Part<'d> = ElfFile<'d, FileHeader64<LittleEndian>>;

/// Flags that permit linkers to merge the contents of a section. They are removed, because concatenated sections are not mergeable.
const MERGED: u64 = (elf::SHF_MERGE | elf::SHF_STRINGS) as u64;

/// The position of a part's section in the result.
#[derive(Clone, Copy)]
struct Position {
    section: object::write::SectionId,
    offset: u64,
}

/// Merges all parts into one object. The output is deterministic.
///
/// # Errors
/// [`CodegenError::Llvm`] if a part is not an ELF object in the form that LLVM writes, or if two parts define the same symbol.
pub(super) fn merge(parts: &[Vec<u8>]) -> Result<Vec<u8>, CodegenError> {
    let parts = parts
        .iter()
        .map(|part| Part::parse(part.as_slice()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(wrong)?;
    let first = parts.first().ok_or_else(|| wrong("no parts"))?;
    let mut result = Object::new(BinaryFormat::Elf, first.architecture(), Endianness::Little);
    if let FileFlags::Elf { .. } = first.flags() {
        result.flags = first.flags();
    }
    let mut merged =
        Merged { result, sections: HashMap::new(), defined: HashMap::new(), undefined: HashMap::new() };
    let mut placed = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        let positions = merged.place(part, number == 0)?;
        let symbols = merged.define(part, &positions)?;
        placed.push((positions, symbols));
    }
    for (part, (positions, symbols)) in parts.iter().zip(&placed) {
        merged.relocate(part, positions, symbols)?;
    }
    merged.result.write().map_err(wrong)
}

struct Merged<'d> {
    result: Object<'d>,
    /// The sections of the result, by name.
    sections: HashMap<String, object::write::SectionId>,
    /// The global and hidden symbols that parts define.
    defined: HashMap<String, SymbolId>,
    /// The symbols that parts use but do not define.
    undefined: HashMap<String, SymbolId>,
}

impl<'d> Merged<'d> {
    /// Appends the sections of a part. Sections that are not loaded are equal in all parts, except for line tables, so only those of the
    /// first part are kept.
    fn place(
        &mut self,
        part: &Part<'d>,
        is_first: bool,
    ) -> Result<HashMap<SectionIndex, Position>, CodegenError> {
        let mut positions = HashMap::new();
        for section in part.sections() {
            let header = section.elf_section_header();
            let r#type = header.sh_type.get(LittleEndian);
            let flags = header.sh_flags.get(LittleEndian);
            let loaded = flags & u64::from(elf::SHF_ALLOC) != 0;
            let kind = match r#type {
                elf::SHT_PROGBITS | elf::SHT_X86_64_UNWIND | elf::SHT_NOTE => SectionKind::Elf(r#type),
                elf::SHT_NOBITS => SectionKind::UninitializedData,
                elf::SHT_NULL | elf::SHT_SYMTAB | elf::SHT_STRTAB | elf::SHT_RELA => continue,
                other => return Err(wrong(format!("a section of type {other:#x}"))),
            };
            let name = section.name().map_err(wrong)?;
            if !loaded && !is_first && !name.starts_with(".debug_") {
                continue;
            }
            let id = match self.sections.get(name) {
                Some(id) => *id,
                None => {
                    let id = self.result.add_section(Vec::new(), name.into(), kind);
                    let sh_flags = if loaded { flags & !MERGED } else { flags };
                    self.result.section_mut(id).flags = SectionFlags::Elf { sh_flags };
                    self.sections.insert(name.to_owned(), id);
                    id
                }
            };
            let alignment = section.align().max(1);
            let offset = match r#type {
                elf::SHT_NOBITS => self.result.append_section_bss(id, section.size(), alignment),
                _ => {
                    let data = section.data().map_err(wrong)?;
                    self.result.append_section_data(id, data, alignment)
                }
            };
            let position = Position { section: id, offset };
            positions.insert(section.index(), position);
        }
        Ok(positions)
    }

    /// Adds the symbols that a part defines.
    fn define(
        &mut self,
        part: &Part<'d>,
        positions: &HashMap<SectionIndex, Position>,
    ) -> Result<HashMap<SymbolIndex, SymbolId>, CodegenError> {
        let mut symbols = HashMap::new();
        for symbol in part.symbols() {
            let Some(position) = symbol.section_index().and_then(|s| positions.get(&s)) else {
                continue;
            };
            if symbol.kind() == SymbolKind::Section {
                continue;
            }
            let name = symbol.name().map_err(wrong)?;
            let SymbolFlags::Elf { st_other, .. } = symbol.flags() else {
                continue;
            };
            let hidden = st_other & 3 == elf::STV_HIDDEN;
            let id = self.result.add_symbol(Symbol {
                name: name.into(),
                value: position.offset + symbol.address(),
                size: symbol.size(),
                kind: match symbol.kind() {
                    SymbolKind::Text => SymbolKind::Text,
                    SymbolKind::Data => SymbolKind::Data,
                    _ => SymbolKind::Label,
                },
                scope: if hidden || symbol.is_local() {
                    SymbolScope::Compilation
                } else {
                    SymbolScope::Dynamic
                },
                weak: symbol.is_weak() && !hidden,
                section: SymbolSection::Section(position.section),
                flags: SymbolFlags::None,
            });
            if !symbol.is_local() && self.defined.insert(name.to_owned(), id).is_some() {
                return Err(wrong(format!("two parts define `{name}`")));
            }
            symbols.insert(symbol.index(), id);
        }
        Ok(symbols)
    }

    /// Adds the relocations of a part. The symbols of all parts must be defined.
    fn relocate(
        &mut self,
        part: &Part<'d>,
        positions: &HashMap<SectionIndex, Position>,
        symbols: &HashMap<SymbolIndex, SymbolId>,
    ) -> Result<(), CodegenError> {
        for section in part.sections() {
            let Some(at) = positions.get(&section.index()) else {
                continue;
            };
            for (offset, relocation) in section.relocations() {
                let RelocationTarget::Symbol(index) = relocation.target() else {
                    return Err(wrong("a relocation without a symbol"));
                };
                let RelocationFlags::Elf { r_type } = relocation.flags() else {
                    return Err(wrong("a relocation that is not ELF's"));
                };
                let mut addend = relocation.addend();
                let symbol = match symbols.get(&index) {
                    Some(symbol) => *symbol,
                    None => {
                        let symbol = part.symbol_by_index(index).map_err(wrong)?;
                        let section = symbol.section_index().and_then(|s| positions.get(&s));
                        match section.filter(|_| symbol.kind() == SymbolKind::Section) {
                            Some(position) => {
                                addend = addend.wrapping_add_unsigned(position.offset);
                                self.result.section_symbol(position.section)
                            }
                            None => self.outside(
                                symbol.name().map_err(wrong)?,
                                symbol.is_undefined(),
                                symbol.is_weak(),
                            )?,
                        }
                    }
                };
                let relocation = Relocation {
                    offset: at.offset + offset,
                    symbol,
                    addend,
                    flags: RelocationFlags::Elf { r_type },
                };
                self.result.add_relocation(at.section, relocation).map_err(wrong)?;
            }
        }
        Ok(())
    }

    /// Returns a symbol that the part does not define; adds it as undefined if no part defines it.
    fn outside(&mut self, name: &str, is_undefined: bool, weak: bool) -> Result<SymbolId, CodegenError> {
        if !is_undefined {
            return Err(wrong(format!("`{name}` is in no section")));
        }
        if let Some(id) = self.defined.get(name).or_else(|| self.undefined.get(name)) {
            return Ok(*id);
        }
        let id = self.result.add_symbol(Symbol {
            name: name.into(),
            value: 0,
            size: 0,
            kind: SymbolKind::Unknown,
            scope: SymbolScope::Unknown,
            weak,
            section: SymbolSection::Undefined,
            flags: SymbolFlags::None,
        });
        self.undefined.insert(name.to_owned(), id);
        Ok(id)
    }
}

fn wrong(error: impl std::fmt::Display) -> CodegenError {
    CodegenError::Llvm(format!("the parts of the object cannot be joined: {error}"))
}
