// SPDX-License-Identifier: Apache-2.0
//! Relocations and stubs of AArch64 (ELF for the Arm 64-bit Architecture, section 5.7).

use super::layout::STUB;
use super::relocation::{Field, Relocation, Value};
use object::elf;

pub(crate) fn relocation(number: u32) -> Option<Relocation> {
    let (value, field) = match number {
        elf::R_AARCH64_ABS64 => (Value::Absolute, Field::Word64),
        elf::R_AARCH64_PREL64 => (Value::Relative, Field::Word64),
        elf::R_AARCH64_PREL32 | elf::R_AARCH64_PLT32 => (Value::Relative, Field::Signed32),
        elf::R_AARCH64_CALL26 | elf::R_AARCH64_JUMP26 => (Value::Call, branch(26, 0)),
        elf::R_AARCH64_CONDBR19 | elf::R_AARCH64_LD_PREL_LO19 => (Value::Relative, branch(19, 5)),
        elf::R_AARCH64_TSTBR14 => (Value::Relative, branch(14, 5)),
        elf::R_AARCH64_ADR_PREL_LO21 => (Value::Relative, Field::Adr { scale: 0 }),
        elf::R_AARCH64_ADR_PREL_PG_HI21 => (Value::Page, Field::Adr { scale: 12 }),
        elf::R_AARCH64_ADR_GOT_PAGE => (Value::EntryPage, Field::Adr { scale: 12 }),
        elf::R_AARCH64_ADD_ABS_LO12_NC | elf::R_AARCH64_LDST8_ABS_LO12_NC => (Value::Low, low(0)),
        elf::R_AARCH64_LDST16_ABS_LO12_NC => (Value::Low, low(1)),
        elf::R_AARCH64_LDST32_ABS_LO12_NC => (Value::Low, low(2)),
        elf::R_AARCH64_LDST64_ABS_LO12_NC => (Value::Low, low(3)),
        elf::R_AARCH64_LDST128_ABS_LO12_NC => (Value::Low, low(4)),
        elf::R_AARCH64_LD64_GOT_LO12_NC => (Value::EntryLow, low(3)),
        _ => return None,
    };
    Some(Relocation { value, field })
}

/// The distance of a branch, or of a literal, in instructions.
const fn branch(bits: u32, lowest: u32) -> Field {
    Field::Instruction { scale: 2, bits, lowest, signed: true }
}

/// The offset of `add`, or of a load or store of 2^`scale` bytes.
const fn low(scale: u32) -> Field {
    Field::Instruction { scale, bits: 12 - scale, lowest: 10, signed: false }
}

/// `ldr x16, .+8; br x16`, followed by the address.
pub(crate) fn stub(target: u64) -> [u8; STUB] {
    let [a, b, c, d, e, f, g, h] = target.to_le_bytes();
    [0x50, 0, 0, 0x58, 0, 0x02, 0x1f, 0xd6, a, b, c, d, e, f, g, h]
}
