// SPDX-License-Identifier: Apache-2.0
//! Fills a mapping: copies sections, resolves symbols, applies relocations.

use super::layout::{Layout, Region};
use super::object::{Definition, Object, Section, Symbol};
use super::relocation::{Unstored, Value};
use super::wrong;
use crate::error::LoadError;
use object::LittleEndian;
use object::elf::Rela64;
use object::read::SymbolIndex;
use object::read::elf::Rela;
use std::collections::{BTreeSet, HashMap};

/// Resolves the address of a symbol that the object does not define.
pub(crate) type Resolve<'r> = dyn Fn(&str) -> Option<u64> + 'r;

/// The size of a page in the addressing of AArch64, independent of the system's page size.
const PAGE: u64 = 4096;

/// The offset of an exported function.
pub(crate) fn function(object: &Object, layout: &Layout, name: &str) -> Result<u64, LoadError> {
    let Some(symbol) = object.global(name)? else {
        return wrong(format!("it does not define the function `{name}`"));
    };
    if let Definition::Section(section, value) = symbol.definition
        && let Some((position, section)) = object.section(section)
        && let Some(offset) = layout.section(position)
        && section.region == Region::Code
        && value < section.size
    {
        return Ok(offset + value);
    }
    wrong(format!("`{name}` is not a function in its code"))
}

/// Fills `memory`, which will be at the address `base`.
///
/// # Errors
/// [`LoadError::Symbols`] for unresolved symbols, [`LoadError::Link`] for relocations that cannot be applied.
pub(crate) fn link(
    object: &Object,
    layout: &Layout,
    base: u64,
    memory: &mut [u8],
    resolve: &Resolve,
) -> Result<(), LoadError> {
    let symbols = Symbols::new(object, layout, base, resolve)?;
    for (position, section) in object.sections.iter().enumerate() {
        let bytes = bytes(layout.section(position), section.size, memory);
        let bytes = bytes.and_then(|bytes| bytes.get_mut(..section.data.len()));
        match bytes {
            Some(bytes) => bytes.copy_from_slice(section.data),
            None => {
                return wrong(format!("section `{}` lies outside of its memory", section.name));
            }
        }
    }
    for (symbol, offset) in layout.stubs() {
        let stub = object.architecture.stub(symbols.address(symbol)?);
        store(memory, offset, &stub)?;
    }
    for (symbol, offset) in layout.addresses() {
        store(memory, offset, &symbols.address(symbol)?.to_le_bytes())?;
    }
    for (position, section) in object.sections.iter().enumerate() {
        let offset = layout.section(position);
        let Some((offset, bytes)) = offset.zip(bytes(offset, section.size, memory)) else {
            continue;
        };
        let address = base + offset;
        for relocation in section.relocations {
            apply(&symbols, section, relocation, address, bytes)?;
        }
    }
    Ok(())
}

fn bytes(offset: Option<u64>, size: u64, memory: &mut [u8]) -> Option<&mut [u8]> {
    let start = usize::try_from(offset?).ok()?;
    let end = start.checked_add(usize::try_from(size).ok()?)?;
    memory.get_mut(start..end)
}

fn store(memory: &mut [u8], offset: u64, content: &[u8]) -> Result<(), LoadError> {
    match bytes(Some(offset), content.len() as u64, memory) {
        Some(bytes) => bytes.copy_from_slice(content),
        None => return wrong("a stub or an address lies outside of the memory"),
    }
    Ok(())
}

/// The addresses of the symbols that relocations refer to.
struct Symbols<'o, 'd> {
    object: &'o Object<'d>,
    layout: &'o Layout,
    base: u64,
    addresses: HashMap<usize, u64>,
}

impl<'o, 'd> Symbols<'o, 'd> {
    fn new(
        object: &'o Object<'d>,
        layout: &'o Layout,
        base: u64,
        resolve: &Resolve,
    ) -> Result<Self, LoadError> {
        let mut symbols = Symbols { object, layout, base, addresses: HashMap::new() };
        let mut missing = BTreeSet::new();
        let relocations = object.sections.iter().flat_map(|s| s.relocations);
        for index in relocations.filter_map(|r| r.symbol(LittleEndian, false)) {
            if symbols.addresses.contains_key(&index.0) {
                continue;
            }
            let symbol = object.symbol(index)?;
            match symbols.resolve(&symbol, resolve)? {
                Some(address) => {
                    symbols.addresses.insert(index.0, address);
                }
                None => {
                    missing.insert(symbol.name.to_owned());
                }
            }
        }
        if missing.is_empty() { Ok(symbols) } else { Err(LoadError::Symbols(missing.into_iter().collect())) }
    }

    fn resolve(&self, symbol: &Symbol, resolve: &Resolve) -> Result<Option<u64>, LoadError> {
        match symbol.definition {
            Definition::Absolute(address) => Ok(Some(address)),
            Definition::Undefined { weak } => Ok(resolve(symbol.name).or(weak.then_some(0))),
            Definition::Section(index, value) => {
                let Some((position, section)) = self.object.section(index) else {
                    return wrong(format!("`{}` is in a section that is not loaded", symbol.name));
                };
                // A symbol may be at the end of its section.
                if value > section.size {
                    return wrong(format!("`{}` lies outside of section `{}`", symbol.name, section.name));
                }
                Ok(self.layout.section(position).map(|offset| self.base + offset + value))
            }
        }
    }

    fn address(&self, symbol: SymbolIndex) -> Result<u64, LoadError> {
        let address = self.addresses.get(&symbol.0).copied();
        address.map_or_else(|| wrong("a symbol has no address"), Ok)
    }

    /// The name of a symbol in messages.
    fn name(&self, symbol: SymbolIndex) -> String {
        match self.object.symbol(symbol) {
            Ok(Symbol { name: "", definition: Definition::Section(index, _) }) => {
                let section = self.object.section(index);
                section.map_or_else(String::new, |(_, section)| section.name.to_owned())
            }
            Ok(symbol) => symbol.name.to_owned(),
            Err(_) => String::new(),
        }
    }
}

/// Applies a relocation to a section that will be loaded at `start`.
fn apply(
    symbols: &Symbols,
    section: &Section,
    relocation: &Rela64<LittleEndian>,
    start: u64,
    bytes: &mut [u8],
) -> Result<(), LoadError> {
    let number = relocation.r_type(LittleEndian, false);
    let offset = relocation.r_offset(LittleEndian);
    let symbol = relocation.symbol(LittleEndian, false);
    let location = || {
        let name = symbol.map_or_else(String::new, |symbol| symbols.name(symbol));
        format!(
            "relocation {number} of {:?} at `{}`+{offset:#x}, symbol `{name}`,",
            symbols.object.architecture, section.name
        )
    };
    if number == 0 {
        // R_X86_64_NONE and R_AARCH64_NONE.
        return Ok(());
    }
    let Some(kind) = symbols.object.architecture.relocation(number) else {
        return wrong(format!("{} is not supported", location()));
    };
    let Some(symbol) = symbol else {
        return wrong(format!("{} has no symbol", location()));
    };
    let position = usize::try_from(offset).ok();
    let Some(field) = position.and_then(|offset| bytes.get_mut(offset..)) else {
        return wrong(format!("{} is outside of its section", location()));
    };
    let addend = relocation.r_addend(LittleEndian);
    let from = start + offset;
    let target = symbols.address(symbol)?;
    let value = |to: u64| value(kind.value, to, addend, from);
    let mut stored =
        kind.field.store(field, value(through_table(kind.value, symbols, symbol).unwrap_or(target)));
    if stored == Err(Unstored::Overflow)
        && kind.value == Value::Call
        && let Some(stub) = symbols.layout.stub(symbol)
    {
        stored = kind.field.store(field, value(symbols.base + stub));
    }
    match stored {
        Ok(()) => Ok(()),
        Err(Unstored::Outside) => wrong(format!("{} reaches beyond its section", location())),
        Err(Unstored::Overflow) => wrong(format!("{} refers to an address out of range", location())),
    }
}

/// The address of a symbol's entry in the table of addresses, for relocations that refer to it.
fn through_table(value: Value, symbols: &Symbols, symbol: SymbolIndex) -> Option<u64> {
    match value {
        Value::Entry | Value::EntryPage | Value::EntryLow => {
            symbols.layout.address(symbol).map(|offset| symbols.base + offset)
        }
        _ => None,
    }
}

/// The value that a relocation at `from` stores. Addresses wrap around, as in the specification.
fn value(kind: Value, to: u64, addend: i64, from: u64) -> i64 {
    let to = to.wrapping_add_signed(addend);
    let page = |address: u64| address & !(PAGE - 1);
    let value = match kind {
        Value::Absolute => to,
        Value::Relative | Value::Call | Value::Entry => to.wrapping_sub(from),
        Value::Page | Value::EntryPage => page(to).wrapping_sub(page(from)),
        Value::Low | Value::EntryLow => to & (PAGE - 1),
    };
    value.cast_signed()
}
