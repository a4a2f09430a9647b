// SPDX-License-Identifier: Apache-2.0
//! Relocations as data: a value, and the field of the code or data that holds it.

/// The effect of a relocation type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Relocation {
    pub value: Value,
    pub field: Field,
}

/// How the value is computed from the symbol's address S, the addend A and the address P of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// S + A.
    Absolute,
    /// S + A − P.
    Relative,
    /// S + A − P for a call or jump, which may go through a stub.
    Call,
    /// From P to the symbol's entry in the table of addresses, + A.
    Entry,
    /// From the page of P to the page of S + A; pages of 4096 bytes.
    Page,
    /// The lower 12 bits of S + A.
    Low,
    /// From the page of P to the page of the symbol's entry in the table of addresses.
    EntryPage,
    /// The lower 12 bits of that entry's address.
    EntryLow,
}

/// Where the value is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// 8 bytes.
    Word64,
    /// 4 bytes, a signed integer.
    Signed32,
    /// Bits of an AArch64 instruction: the value divided by 2^`scale`, in `bits` bits from bit `lowest`.
    Instruction { scale: u32, bits: u32, lowest: u32, signed: bool },
    /// The 21 bits of `adr`, in two parts; of `adrp`, where the value counts pages of 2^`scale` bytes.
    Adr { scale: u32 },
}

/// Why a value is not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unstored {
    /// The field is outside of its section.
    Outside,
    /// The value is too large for the field, or not a multiple of the field's unit.
    Overflow,
}

impl Field {
    /// Stores `value` at the start of `bytes`, which end at the end of the section.
    pub(crate) fn store(self, bytes: &mut [u8], value: i64) -> Result<(), Unstored> {
        match self {
            Field::Word64 => *first(bytes)? = value.to_le_bytes(),
            Field::Signed32 => {
                let value = i32::try_from(value).map_err(|_| Unstored::Overflow)?;
                *first(bytes)? = value.to_le_bytes();
            }
            Field::Instruction { scale, bits, lowest, signed } => {
                let number = number(value, scale, bits, signed)?;
                replace(bytes, mask(bits) << lowest, number << lowest)?;
            }
            Field::Adr { scale } => {
                let number = number(value, scale, 21, true)?;
                let (low, high) = (number & 3, number >> 2);
                replace(bytes, 3 << 29 | mask(19) << 5, low << 29 | high << 5)?;
            }
        }
        Ok(())
    }
}

fn first<const N: usize>(bytes: &mut [u8]) -> Result<&mut [u8; N], Unstored> {
    bytes.first_chunk_mut().ok_or(Unstored::Outside)
}

fn mask(bits: u32) -> u32 {
    ((1_u64 << bits) - 1) as u32
}

/// The value in units of 2^`scale`, as a field of `bits` bits.
fn number(value: i64, scale: u32, bits: u32, signed: bool) -> Result<u32, Unstored> {
    let number = value >> scale;
    let range = if signed { -(1 << (bits - 1))..1 << (bits - 1) } else { 0..1i64 << bits };
    if number << scale != value || !range.contains(&number) {
        return Err(Unstored::Overflow);
    }
    // Bits of a negative number beyond the field are dropped.
    let number = u32::try_from(number & i64::from(mask(bits)));
    number.map_err(|_| Unstored::Overflow)
}

/// Replaces the bits of an instruction that are set in `mask`.
fn replace(bytes: &mut [u8], mask: u32, value: u32) -> Result<(), Unstored> {
    let bytes: &mut [u8; 4] = first(bytes)?;
    let instruction = u32::from_le_bytes(*bytes) & !mask | value;
    *bytes = instruction.to_le_bytes();
    Ok(())
}
