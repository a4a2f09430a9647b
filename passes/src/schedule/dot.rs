// SPDX-License-Identifier: Apache-2.0
//! Dot-product instructions: 32-bit sums of products of bytes or of bf16.
//!
//! Some instructions multiply a vector of unsigned bytes by a vector of signed bytes, and add groups of four products to the 32-bit
//! elements of a third vector; other instructions add groups of two products of bf16. A group runs along a reduction loop. One operand
//! is contiguous along the group: a group is loaded as one word and broadcast to all lanes. The other operand is packed so that the
//! groups of consecutive lanes are contiguous. Intermediate sums do not saturate at 16 bits.
//!
//! The instructions for bf16 treat subnormal numbers as zeros. They are used only where a run-time test finds no subnormal numbers
//! ([`super::exponents`]); the product is then marked with `afn`. Otherwise the elements of the same groups are widened to f32.

mod code;
mod groups;
mod matching;

use crate::ir::types;
use melior::Context;
use melior::ir::Type;

/// The instructions for sums of products of bytes or of bf16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Instruction {
    /// No dot-product instruction.
    #[default]
    None,
    /// `vpdpbusd` of AVX-512 VNNI and AVX-VNNI.
    Vpdpbusd,
    /// `vpmaddwd`: sums of two 16-bit products, on x86-64.
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

    /// Returns the instruction of a list with this name.
    ///
    /// # Errors
    /// Lists the valid names if there is no such instruction.
    pub(super) fn named(name: &str, list: &[Instruction]) -> Result<Self, String> {
        let instruction = list.iter().find(|instruction| instruction.name() == name);
        instruction.copied().ok_or_else(|| {
            let names: Vec<&str> = list.iter().map(|instruction| instruction.name()).collect();
            format!("`{name}` is not one of {}", names.join(", "))
        })
    }

    /// The element type of the factors.
    fn element(self, context: &Context) -> Type<'_> {
        match self {
            Instruction::Vdpbf16ps => Type::bfloat16(context),
            _ => types::int(context, 8),
        }
    }

    /// The number of products that one instruction adds to each 32-bit element.
    pub(super) fn group(self) -> i64 {
        match self {
            Instruction::Vdpbf16ps => 2,
            _ => 4,
        }
    }

    /// LLVM's intrinsic for vectors of `lanes` 32-bit elements.
    pub(super) fn intrinsic(self, lanes: i64) -> Option<&'static str> {
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
    /// The operand with unsigned bytes; the other operand has signed bytes. For products of bf16, the first operand.
    pub unsigned: usize,
}

impl Dot {
    /// The number of products in a group.
    pub(super) fn group(self) -> i64 {
        self.instruction.group()
    }

    /// Whether there is an instruction for vectors of `lanes` elements.
    pub(super) fn is_for(self, lanes: i64) -> bool {
        self.instruction.intrinsic(lanes).is_some()
    }
}

/// Rounds the iterations of a loop up to a multiple of the group size.
pub(super) fn in_groups(extent: i64, size: i64) -> i64 {
    (extent + size - 1) / size * size
}
