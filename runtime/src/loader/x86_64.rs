// SPDX-License-Identifier: Apache-2.0
//! Relocations and stubs of x86-64 (System V ABI, AMD64 supplement, section 4.4).

use super::layout::STUB;
use super::relocation::{Field, Relocation, Value};
use object::elf;

pub(crate) fn relocation(number: u32) -> Option<Relocation> {
    let (value, field) = match number {
        elf::R_X86_64_64 => (Value::Absolute, Field::Word64),
        elf::R_X86_64_PC64 => (Value::Relative, Field::Word64),
        elf::R_X86_64_PC32 => (Value::Relative, Field::Signed32),
        elf::R_X86_64_PLT32 => (Value::Call, Field::Signed32),
        elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX => {
            (Value::Entry, Field::Signed32)
        }
        _ => return None,
    };
    Some(Relocation { value, field })
}

/// `jmp *0(%rip)`, followed by the address.
pub(crate) fn stub(target: u64) -> [u8; STUB] {
    let [a, b, c, d, e, f, g, h] = target.to_le_bytes();
    const INT3: u8 = 0xcc;
    [0xff, 0x25, 0, 0, 0, 0, a, b, c, d, e, f, g, h, INT3, INT3]
}
