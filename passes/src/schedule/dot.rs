// SPDX-License-Identifier: Apache-2.0
//! Sums of several products at once, for sums in 32 bits of products of bytes or of bf16.
//!
//! Processors have instructions that multiply a vector of bytes without a sign by one of bytes with a sign, and add groups of four
//! products to the 32-bit elements of a third one; others do so with groups of two products of bf16. A group is along a reduction. One
//! operand is read as a word of a group, which is contiguous, for all lanes. The other one is packed so that the groups of the lanes
//! follow each other. No sum in between is limited to 16 bits.
//!
//! The instructions for bf16 take subnormal numbers for zeros. They are used where a test shows that there are none
//! ([`super::exponents`]): the product is then marked with `afn`. Elsewhere the same groups are widened to f32.

mod code;
mod groups;
mod matching;

/// The instructions for sums of products of bytes or of bf16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Instruction {
    /// No special ones.
    #[default]
    None,
    /// `vpdpbusd` of AVX-512 VNNI and AVX-VNNI.
    Vpdpbusd,
    /// `vpmaddwd`: sums of two products of 16 bits, of x86-64.
    Vpmaddwd,
    /// `usdot` of AArch64.
    Usdot,
    /// `vdpbf16ps` of AVX512-BF16.
    Vdpbf16ps,
}

/// Instructions for products of bytes.
pub(super) const OF_BYTES: &[Instruction] =
    &[Instruction::None, Instruction::Vpdpbusd, Instruction::Vpmaddwd, Instruction::Usdot];

/// Instructions for products of bf16.
pub(super) const OF_BF16: &[Instruction] = &[Instruction::None, Instruction::Vdpbf16ps];

impl Instruction {
    /// The name in options of passes.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Instruction::None => "none",
            Instruction::Vpdpbusd => "vpdpbusd",
            Instruction::Vpmaddwd => "vpmaddwd",
            Instruction::Usdot => "usdot",
            Instruction::Vdpbf16ps => "vdpbf16ps",
        }
    }

    /// The one of a list that has a name.
    ///
    /// # Errors
    /// The names of the list.
    pub(super) fn named(name: &str, list: &[Instruction]) -> Result<Self, String> {
        let found = list.iter().find(|own| own.name() == name);
        found.copied().ok_or_else(|| {
            let names: Vec<&str> = list.iter().map(|own| own.name()).collect();
            format!("`{name}` is not one of {}", names.join(", "))
        })
    }

    /// The element type of the factors.
    fn element(self) -> &'static str {
        match self {
            Instruction::Vdpbf16ps => "bf16",
            _ => "i8",
        }
    }

    /// Products that are summed at once: those of a word.
    pub(super) fn group(self) -> i64 {
        match self {
            Instruction::Vdpbf16ps => 2,
            _ => 4,
        }
    }

    /// LLVM's intrinsic for vectors of so many elements of 32 bits.
    fn intrinsic(self, lanes: i64) -> Option<&'static str> {
        Some(match (self, lanes) {
            (Instruction::Vpdpbusd, 16) => "llvm.x86.avx512.vpdpbusd.512",
            (Instruction::Vpdpbusd, 8) => "llvm.x86.avx512.vpdpbusd.256",
            (Instruction::Vpdpbusd, 4) => "llvm.x86.avx512.vpdpbusd.128",
            (Instruction::Vpmaddwd, 16) => "llvm.x86.avx512.pmaddw.d.512",
            (Instruction::Vpmaddwd, 8) => "llvm.x86.avx2.pmadd.wd",
            (Instruction::Vpmaddwd, 4) => "llvm.x86.sse2.pmadd.wd",
            (Instruction::Usdot, 4) => "llvm.aarch64.neon.usdot.v4i32.v16i8",
            (Instruction::Vdpbf16ps, 16) => "llvm.x86.avx512bf16.dpbf16ps.512",
            (Instruction::Vdpbf16ps, 8) => "llvm.x86.avx512bf16.dpbf16ps.256",
            (Instruction::Vdpbf16ps, 4) => "llvm.x86.avx512bf16.dpbf16ps.128",
            _ => return None,
        })
    }
}

/// A nest that sums products of bytes or of bf16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dot {
    /// The instruction of the target.
    pub instruction: Instruction,
    /// The operand whose bytes have no sign: the other one of two has them with a sign. Of products of bf16, the first one.
    pub unsigned: usize,
}

impl Dot {
    /// Products that are summed at once.
    pub(super) fn group(self) -> i64 {
        self.instruction.group()
    }

    /// Whether there is an instruction for vectors of so many lanes.
    pub(super) fn is_for(self, lanes: i64) -> bool {
        self.instruction.intrinsic(lanes).is_some()
    }
}

/// The iterations of a loop in whole groups of a size.
pub(super) fn in_groups(extent: i64, size: i64) -> i64 {
    (extent + size - 1) / size * size
}
