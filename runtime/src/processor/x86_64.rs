// SPDX-License-Identifier: Apache-2.0
//! Queries an x86-64 processor by `cpuid`, and the system by `xgetbv`.

use super::x86_features::TABLE;
use std::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};

/// `cpuid`, EAX of the first leaf: the largest leaf of a range.
const BASIC: u32 = 0;
const EXTENDED: u32 = 0x8000_0000;
/// Bit in leaf 1, ECX: the system saves registers with `xsave`, and `xgetbv` exists.
const OSXSAVE: u32 = 1 << 27;

/// EAX, EBX, ECX, EDX; zeros for a leaf that the processor lacks.
// Later Rust versions declare the functions safe.
#[allow(unused_unsafe)]
fn registers(leaf: u32, subleaf: u32) -> [u32; 4] {
    let range = leaf & EXTENDED;
    debug_assert!(range == BASIC || range == EXTENDED);
    // SAFETY: every x86-64 processor has the instruction, and the first leaf of both ranges.
    let (registers, subleaves) = unsafe {
        let largest = __cpuid(range).eax;
        if leaf > largest || (largest & EXTENDED) != range {
            return [0; 4];
        }
        // EAX of subleaf 0 of leaf 7 is the largest subleaf.
        let subleaves = match leaf {
            7 => __cpuid_count(7, 0).eax,
            _ => u32::MAX,
        };
        (__cpuid_count(leaf, subleaf), subleaves)
    };
    if subleaf <= subleaves { [registers.eax, registers.ebx, registers.ecx, registers.edx] } else { [0; 4] }
}

/// The processor state that the system saves for each thread (XCR0).
fn saved() -> u32 {
    #[target_feature(enable = "xsave")]
    fn xcr0() -> u64 {
        // SAFETY: the register exists; callers checked that the instruction does.
        unsafe { _xgetbv(0) }
    }
    let [_, _, features, _] = registers(1, 0);
    match features & OSXSAVE {
        0 => 0,
        // SAFETY: the bit means that the system enabled the instruction. The lower half has all required parts.
        _ => (unsafe { xcr0() }) as u32,
    }
}

/// Reads each leaf once: under a hypervisor, `cpuid` takes tens of microseconds.
pub(crate) fn features() -> Vec<&'static str> {
    let saved = saved();
    let mut last = None;
    let mut features = Vec::new();
    for feature in TABLE {
        let leaf = (feature.leaf, feature.subleaf);
        let read = match last {
            Some((of, read)) if of == leaf => read,
            _ => registers(feature.leaf, feature.subleaf),
        };
        last = Some((leaf, read));
        let register = read.get(feature.register as usize);
        let has = register.is_some_and(|r| r >> feature.bit & 1 == 1);
        if has && feature.state & !saved == 0 {
            features.push(feature.name);
        }
    }
    features
}

/// Bit in leaf 0x8000_0001, ECX: an AMD processor describes its caches in leaf 0x8000_001d, as other vendors do in leaf 4.
const TOPOLOGY: u32 = 1 << 22;

/// The sizes in bytes of the caches of levels 1 (data), 2 and 3.
pub(crate) fn caches() -> [Option<u64>; 3] {
    let [_, _, extended, _] = registers(0x8000_0001, 0);
    let leaf = if extended & TOPOLOGY == 0 { 4 } else { 0x8000_001d };
    let mut sizes = [None; 3];
    // No processor has more; kind 0 ends the list.
    for subleaf in 0..16 {
        let [kind, shape, sets, _] = registers(leaf, subleaf);
        let (kind, level) = (kind & 31, kind >> 5 & 7);
        if kind == 0 {
            break;
        }
        const CODE: u32 = 2;
        let field = |shift: u32, bits: u32| u64::from(shape >> shift & ((1 << bits) - 1)) + 1;
        let size = field(0, 12) * field(12, 10) * field(22, 10) * (u64::from(sets) + 1);
        let slot = (level as usize).checked_sub(1).and_then(|n| sizes.get_mut(n));
        if let Some(slot) = slot.filter(|_| kind != CODE) {
            *slot = Some(size);
        }
    }
    sizes
}

/// The brand string, such as `AMD EPYC 9B45`.
pub(crate) fn name() -> String {
    let registers = (0x8000_0002..=0x8000_0004).flat_map(|leaf| registers(leaf, 0));
    let bytes: Vec<u8> = registers.flat_map(u32::to_le_bytes).take_while(|b| *b != 0).collect();
    let words = String::from_utf8_lossy(&bytes).split_whitespace().collect::<Vec<_>>().join(" ");
    if words.is_empty() { "x86-64".to_owned() } else { words }
}
