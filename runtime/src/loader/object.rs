// SPDX-License-Identifier: Apache-2.0
//! Parses the parts of an ELF relocatable object that the loader needs. The file is not trusted.

use super::layout::Region;
use super::{Architecture, wrong};
use crate::error::LoadError;
use object::elf::{self, FileHeader64, Rela64, SectionHeader64};
use object::read::SymbolIndex;
use object::read::elf::{FileHeader, SectionHeader, SectionTable, Sym, SymbolTable};
use object::{LittleEndian, SectionIndex};

type Header = FileHeader64<LittleEndian>;
const ENDIAN: LittleEndian = LittleEndian;

/// An object with its loaded sections.
pub(crate) struct Object<'d> {
    pub architecture: Architecture,
    pub sections: Vec<Section<'d>>,
    symbols: SymbolTable<'d, Header>,
}

/// A loaded section.
pub(crate) struct Section<'d> {
    /// Its index in the file.
    pub index: SectionIndex,
    pub name: &'d str,
    pub region: Region,
    /// Its content; shorter than `size` if the remaining bytes are zero.
    pub data: &'d [u8],
    pub size: u64,
    /// The alignment, a power of two.
    pub alignment: u64,
    pub relocations: &'d [Rela64<LittleEndian>],
}

/// The target of a relocation or an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Symbol<'d> {
    /// The name; empty for the symbol of a section.
    pub name: &'d str,
    pub definition: Definition,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Definition {
    /// An offset in the section with this index.
    Section(SectionIndex, u64),
    Absolute(u64),
    /// Undefined: resolved elsewhere.
    Undefined {
        weak: bool,
    },
}

impl<'d> Object<'d> {
    pub(crate) fn parse(file: &'d [u8]) -> Result<Object<'d>, LoadError> {
        let header = Header::parse(file).or_else(unreadable("the header"))?;
        if !header.is_little_endian() || header.e_type(ENDIAN) != elf::ET_REL {
            return wrong("it is not an ELF relocatable object of a little-endian processor");
        }
        let architecture = match header.e_machine(ENDIAN) {
            elf::EM_X86_64 => Architecture::X86_64,
            elf::EM_AARCH64 => Architecture::Aarch64,
            other => return wrong(format!("it is code for ELF machine {other}")),
        };
        let table = header.sections(ENDIAN, file).or_else(unreadable("the sections"))?;
        let symbols = table.symbols(ENDIAN, file, elf::SHT_SYMTAB).or_else(unreadable("the symbols"))?;
        let mut sections = Vec::new();
        for (index, section) in table.enumerate() {
            sections.extend(Section::read(&table, index, section, file)?);
        }
        attach_relocations(&mut sections, &table, &symbols, file)?;
        Ok(Object { architecture, sections, symbols })
    }

    /// The loaded section with this index in the file.
    pub(crate) fn section(&self, index: SectionIndex) -> Option<(usize, &Section<'d>)> {
        // The list is in the order of the file.
        let position = self.sections.binary_search_by_key(&index.0, |s| s.index.0).ok()?;
        Some((position, self.sections.get(position)?))
    }

    /// The symbol at an index.
    pub(crate) fn symbol(&self, index: SymbolIndex) -> Result<Symbol<'d>, LoadError> {
        let symbol = self.symbols.symbol(index).or_else(unreadable("a symbol"))?;
        self.definition(index, symbol)
    }

    /// The global symbol with a name, if the object defines it.
    pub(crate) fn global(&self, name: &str) -> Result<Option<Symbol<'d>>, LoadError> {
        for (index, symbol) in self.symbols.enumerate() {
            let is_match = !symbol.is_local()
                && self.symbols.symbol_name(ENDIAN, symbol).is_ok_and(|n| n == name.as_bytes());
            if is_match {
                return self.definition(index, symbol).map(Some);
            }
        }
        Ok(None)
    }

    fn definition(
        &self,
        index: SymbolIndex,
        symbol: &'d elf::Sym64<LittleEndian>,
    ) -> Result<Symbol<'d>, LoadError> {
        let name = self.symbols.symbol_name(ENDIAN, symbol).or_else(unreadable("the name of a symbol"))?;
        let name = std::str::from_utf8(name).or_else(|_| wrong("the name of a symbol is not UTF-8"))?;
        if matches!(symbol.st_type(), elf::STT_TLS | elf::STT_GNU_IFUNC) {
            return wrong(format!(
                "`{name}` is a thread-local variable or an indirect function, which are not supported"
            ));
        }
        let section = self.symbols.symbol_section(ENDIAN, symbol, index);
        let section = section.or_else(unreadable("the section of a symbol"))?;
        let value = symbol.st_value(ENDIAN);
        let definition = match (section, symbol.st_shndx(ENDIAN)) {
            (Some(section), _) => Definition::Section(section, value),
            (None, elf::SHN_UNDEF) => Definition::Undefined { weak: symbol.is_weak() },
            (None, elf::SHN_ABS) => Definition::Absolute(value),
            (None, _) => {
                return wrong(format!("`{name}` is a common symbol, which is not supported"));
            }
        };
        Ok(Symbol { name, definition })
    }
}

impl<'d> Section<'d> {
    /// The section, if it is loaded.
    fn read(
        table: &SectionTable<'d, Header>,
        index: SectionIndex,
        section: &'d SectionHeader64<LittleEndian>,
        file: &'d [u8],
    ) -> Result<Option<Section<'d>>, LoadError> {
        let name = table.section_name(ENDIAN, section).or_else(unreadable("the name of a section"))?;
        let name = std::str::from_utf8(name).or_else(|_| wrong("the name of a section is not UTF-8"))?;
        let flags = section.sh_flags(ENDIAN);
        let has = |flag: u32| flags & u64::from(flag) != 0;
        // Only on x86-64, unwind tables have their own section type.
        if !has(elf::SHF_ALLOC) || name == ".eh_frame" {
            return Ok(None);
        }
        let data = match section.sh_type(ENDIAN) {
            elf::SHT_NOTE => return Ok(None),
            elf::SHT_PROGBITS => {
                let data = section.data(ENDIAN, file);
                data.or_else(unreadable(&format!("the content of section `{name}`")))?
            }
            elf::SHT_NOBITS => &[],
            other => {
                return wrong(format!("section `{name}` is of type {other:#x}, which is not supported"));
            }
        };
        if has(elf::SHF_TLS) {
            return wrong(format!("section `{name}` holds thread-local variables, which are not supported"));
        }
        let constant = name == ".data.rel.ro" || name.starts_with(".data.rel.ro.");
        let region = match (has(elf::SHF_EXECINSTR), has(elf::SHF_WRITE) && !constant) {
            (true, false) => Region::Code,
            (false, false) => Region::Constants,
            (false, true) => Region::Variables,
            (true, true) => return wrong(format!("section `{name}` is writable and executable")),
        };
        let alignment = section.sh_addralign(ENDIAN).max(1);
        if !alignment.is_power_of_two() {
            return wrong(format!("the alignment {alignment} of section `{name}` is not a power of two"));
        }
        Ok(Some(Section {
            index,
            name,
            region,
            data,
            size: section.sh_size(ENDIAN),
            alignment,
            relocations: &[],
        }))
    }
}

/// Adds the relocations to the sections that they apply to.
fn attach_relocations<'d>(
    sections: &mut [Section<'d>],
    table: &SectionTable<'d, Header>,
    symbols: &SymbolTable<'d, Header>,
    file: &'d [u8],
) -> Result<(), LoadError> {
    for section in table.iter() {
        let kind = section.sh_type(ENDIAN);
        if !matches!(kind, elf::SHT_RELA | elf::SHT_REL | elf::SHT_CREL) {
            continue;
        }
        let target = section.info_link(ENDIAN);
        let Some(target) = sections.iter_mut().find(|s| s.index == target) else {
            continue;
        };
        let relocations = section.rela(ENDIAN, file);
        let relocations =
            relocations.or_else(unreadable(&format!("the relocations of section `{}`", target.name)))?;
        let Some((relocations, of)) = relocations else {
            return wrong(format!("the relocations of section `{}` have no addends", target.name));
        };
        if of != symbols.section() || !target.relocations.is_empty() {
            return wrong(format!(
                "section `{}` has relocations of two symbol tables, or twice",
                target.name
            ));
        }
        target.relocations = relocations;
    }
    Ok(())
}

/// Describes what cannot be parsed.
fn unreadable<T>(what: &str) -> impl FnOnce(object::read::Error) -> Result<T, LoadError> {
    move |error| wrong(format!("{what} cannot be read: {error}"))
}
