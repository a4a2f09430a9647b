// SPDX-License-Identifier: Apache-2.0
//! The layout of an object's sections in its mapping.
//!
//! The mapping has one range of pages for each protection: code and its stubs; constants and the table of addresses
//! that code reads through (the GOT); variables.

use super::object::{Definition, Object, Symbol};
use super::relocation::Value;
use super::wrong;
use crate::error::LoadError;
use object::LittleEndian;
use object::read::SymbolIndex;
use object::read::elf::Rela;
use std::collections::BTreeMap;
use std::ops::Range;

/// The size of a stub in bytes: code that jumps to an address too far away for a direct call.
pub(crate) const STUB: usize = 16;
/// The size of an address in bytes.
const ADDRESS: u64 = 8;
/// Maximum size of a mapping in bytes: 1 GiB, as for artifacts.
const MAX_BYTES: u64 = 1 << 30;

/// Pages with the same protection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Region {
    /// Executable.
    Code,
    /// Read-only.
    Constants,
    /// Writable.
    Variables,
}

impl Region {
    pub(crate) const ALL: [Region; 3] = [Region::Code, Region::Constants, Region::Variables];
}

/// Offsets in the mapping.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The offset of each loaded section.
    sections: Vec<u64>,
    /// The offset of the stub of each symbol that is called and not defined.
    stubs: BTreeMap<usize, u64>,
    /// The offset of the table entry of each symbol that is read through the table.
    addresses: BTreeMap<usize, u64>,
    /// The offset of each region, in the order of [`Region::ALL`].
    regions: [Range<u64>; 3],
}

impl Layout {
    pub(crate) fn new(object: &Object, page: u64) -> Result<Layout, LoadError> {
        let (mut stubs, mut addresses) = referenced(object)?;
        let mut sections = vec![0; object.sections.len()];
        let mut end = 0;
        let mut regions = [0..0, 0..0, 0..0];
        for (region, range) in Region::ALL.into_iter().zip(&mut regions) {
            let start = end;
            let all = object.sections.iter().zip(&mut sections);
            for (section, offset) in all.filter(|(s, _)| s.region == region) {
                if section.alignment > page {
                    return wrong(format!(
                        "section `{}` is aligned to {} bytes, more than a page",
                        section.name, section.alignment
                    ));
                }
                *offset = append(&mut end, section.size, section.alignment)?;
            }
            let (table, size) = match region {
                Region::Code => (&mut stubs, STUB as u64),
                Region::Constants => (&mut addresses, ADDRESS),
                Region::Variables => (&mut BTreeMap::new(), 0),
            };
            for offset in table.values_mut() {
                *offset = append(&mut end, size, size)?;
            }
            append(&mut end, 0, page)?;
            *range = start..end;
        }
        Ok(Layout { sections, stubs, addresses, regions })
    }

    /// The size of the mapping in bytes, a multiple of the page size.
    pub(crate) fn size(&self) -> u64 {
        let [.., last] = &self.regions;
        last.end
    }

    pub(crate) fn range(&self, region: Region) -> Range<u64> {
        let [code, constants, variables] = &self.regions;
        match region {
            Region::Code => code.clone(),
            Region::Constants => constants.clone(),
            Region::Variables => variables.clone(),
        }
    }

    /// The offset of the loaded section at a position.
    pub(crate) fn section(&self, position: usize) -> Option<u64> {
        self.sections.get(position).copied()
    }

    pub(crate) fn stub(&self, symbol: SymbolIndex) -> Option<u64> {
        self.stubs.get(&symbol.0).copied()
    }

    /// The offset of the symbol's entry in the table of addresses.
    pub(crate) fn address(&self, symbol: SymbolIndex) -> Option<u64> {
        self.addresses.get(&symbol.0).copied()
    }

    pub(crate) fn stubs(&self) -> impl Iterator<Item = (SymbolIndex, u64)> {
        self.stubs.iter().map(|(symbol, offset)| (SymbolIndex(*symbol), *offset))
    }

    pub(crate) fn addresses(&self) -> impl Iterator<Item = (SymbolIndex, u64)> {
        self.addresses.iter().map(|(symbol, offset)| (SymbolIndex(*symbol), *offset))
    }
}

/// Symbols that need a stub, and symbols that need an entry in the table of addresses; both without offsets yet.
type Referenced = (BTreeMap<usize, u64>, BTreeMap<usize, u64>);

fn referenced(object: &Object) -> Result<Referenced, LoadError> {
    let (mut stubs, mut addresses) = Referenced::default();
    for relocation in object.sections.iter().flat_map(|s| s.relocations) {
        let number = relocation.r_type(LittleEndian, false);
        let Some(symbol) = relocation.symbol(LittleEndian, false) else {
            continue;
        };
        match object.architecture.relocation(number).map(|r| r.value) {
            Some(Value::Entry | Value::EntryPage | Value::EntryLow) => {
                addresses.insert(symbol.0, 0);
            }
            Some(Value::Call) => {
                let Symbol { definition, .. } = object.symbol(symbol)?;
                if matches!(definition, Definition::Undefined { .. }) {
                    stubs.insert(symbol.0, 0);
                }
            }
            _ => {}
        }
    }
    Ok((stubs, addresses))
}

/// Allocates `size` bytes after `end`: returns their offset and advances `end`.
fn append(end: &mut u64, size: u64, alignment: u64) -> Result<u64, LoadError> {
    let start = end.checked_next_multiple_of(alignment.max(1));
    let next = start.and_then(|start| start.checked_add(size));
    match (start, next.filter(|next| *next <= MAX_BYTES)) {
        (Some(start), Some(next)) => {
            *end = next;
            Ok(start)
        }
        _ => wrong(format!("it takes more than {MAX_BYTES} bytes of memory")),
    }
}
