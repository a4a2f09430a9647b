//! Asks an x86-64 processor by `cpuid`, and the system by `xgetbv`.

use super::x86_features::{Feature, TABLE};
use std::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};

/// `cpuid`, EAX of the first leaf: the largest leaf of a range.
const BASIC: u32 = 0;
const EXTENDED: u32 = 0x8000_0000;
/// Leaf 1, ECX: the system saves registers with `xsave`, and `xgetbv` exists.
const OSXSAVE: u32 = 1 << 27;

/// EAX, EBX, ECX, EDX; zeros for a leaf that the processor lacks.
// The functions are safe in later versions of Rust.
#[allow(unused_unsafe)]
fn registers(leaf: u32, subleaf: u32) -> [u32; 4] {
    let range = leaf & EXTENDED;
    debug_assert!(range == BASIC || range == EXTENDED);
    // SAFETY: every x86-64 processor has the instruction, and the first leaf of both ranges.
    let (found, subleaves) = unsafe {
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
    match subleaf <= subleaves {
        true => [found.eax, found.ebx, found.ecx, found.edx],
        false => [0; 4],
    }
}

/// The parts of the processor's state that the system saves for each thread (XCR0).
fn saved() -> u32 {
    #[target_feature(enable = "xsave")]
    fn xcr0() -> u64 {
        // SAFETY: the register exists; callers checked that the instruction does.
        unsafe { _xgetbv(0) }
    }
    let [_, _, features, _] = registers(1, 0);
    match features & OSXSAVE {
        0 => 0,
        // SAFETY: the bit means that the system enabled the instruction. The lower half has all parts that are asked for.
        _ => (unsafe { xcr0() }) as u32,
    }
}

pub fn features() -> impl Iterator<Item = &'static str> {
    let saved = saved();
    let has = move |feature: &&Feature| {
        let registers = registers(feature.leaf, feature.subleaf);
        let register = registers.get(feature.register as usize);
        register.is_some_and(|r| r >> feature.bit & 1 == 1) && feature.state & !saved == 0
    };
    TABLE.iter().filter(has).map(|feature| feature.name)
}

/// The brand string, such as `AMD EPYC 9B45`.
pub fn name() -> String {
    let registers = (0x8000_0002..=0x8000_0004).flat_map(|leaf| registers(leaf, 0));
    let bytes: Vec<u8> = registers
        .flat_map(u32::to_le_bytes)
        .take_while(|b| *b != 0)
        .collect();
    let words = String::from_utf8_lossy(&bytes)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    match words.is_empty() {
        true => "x86-64".to_owned(),
        false => words,
    }
}
