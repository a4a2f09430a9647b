// SPDX-License-Identifier: Apache-2.0
//! GPU kernels in an artifact, beside the code that launches them.

/// The language that kernels are compiled to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// PTX, for NVIDIA GPUs.
    Ptx,
    /// Object code for AMD GPUs.
    Amdgcn,
    /// SPIR-V for Vulkan 1.2 with physical addresses.
    SpirV,
}

impl Language {
    /// All languages. The index of a language is its code in files.
    pub(super) const ALL: [Language; 3] = [Language::Ptx, Language::Amdgcn, Language::SpirV];

    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Language::Ptx => "PTX",
            Language::Amdgcn => "AMDGPU",
            Language::SpirV => "SPIR-V",
        }
    }
}

/// Compiled kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernels {
    /// The language of the code.
    pub language: Language,
    /// PTX text, an object file, or a SPIR-V module.
    pub code: Vec<u8>,
    /// The names of the kernels, by their numbers in launches.
    pub names: Vec<String>,
}
