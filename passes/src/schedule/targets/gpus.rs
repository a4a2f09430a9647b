// SPDX-License-Identifier: Apache-2.0
//! GPUs as data: how kernels are written for them, and their properties that decide how loops are mapped.

pub use skript_runtime::artifact::Language;

/// The triple of LLVM's target for a language; empty for SPIR-V, which MLIR writes.
pub(crate) fn triple(language: Language) -> &'static str {
    match language {
        Language::Ptx => "nvptx64-nvidia-cuda",
        Language::Amdgcn => "amdgcn-amd-amdhsa",
        Language::SpirV => "",
    }
}

/// A GPU architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// The name on command lines: `sm_90`, `vulkan`.
    pub name: &'static str,
    /// The language of its kernels.
    pub language: Language,
    /// LLVM's features that code needs, such as the version of PTX.
    pub features: &'static str,
    /// Threads that execute one instruction together.
    pub warp: u32,
    /// Threads of a block where nothing else decides.
    pub block: u32,
    /// Registers of 32 bits that a thread has at most.
    pub registers: u32,
    /// Bytes of memory that a block shares.
    pub shared_memory: u32,
    /// Rows, columns and depth of a product of matrices of 16-bit floats that a warp computes at once; zeros if it has none.
    pub matrix: [u32; 3],
}

/// NVIDIA's GPUs from sm_80 on.
const AMPERE: Gpu = Gpu {
    name: "sm_80",
    language: Language::Ptx,
    features: "+ptx80",
    warp: 32,
    block: 256,
    registers: 255,
    shared_memory: 48 << 10,
    matrix: [16, 8, 16],
};

/// AMD's GPUs for computations from MI200 on.
const CDNA: Gpu = Gpu {
    name: "gfx90a",
    language: Language::Amdgcn,
    features: "",
    warp: 64,
    block: 256,
    registers: 512,
    shared_memory: 64 << 10,
    matrix: [32, 32, 8],
};

/// Every architecture that the compiler knows.
pub const GPUS: &[Gpu] = &[
    AMPERE,
    Gpu {
        name: "sm_90",
        ..AMPERE
    },
    CDNA,
    // A group of instructions is executed by 32 threads.
    Gpu {
        name: "gfx1100",
        warp: 32,
        registers: 256,
        ..CDNA
    },
    // What Vulkan guarantees, or lavapipe has.
    Gpu {
        name: "vulkan",
        language: Language::SpirV,
        features: "",
        warp: 8,
        block: 64,
        registers: 255,
        shared_memory: 16 << 10,
        matrix: [0, 0, 0],
    },
];

impl Gpu {
    /// The architecture of a name.
    pub fn named(name: &str) -> Option<&'static Gpu> {
        GPUS.iter().find(|gpu| gpu.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_whole_warps() {
        for gpu in GPUS {
            assert_eq!(gpu.block % gpu.warp, 0, "{}", gpu.name);
            assert_eq!(Gpu::named(gpu.name), Some(gpu));
        }
    }
}
