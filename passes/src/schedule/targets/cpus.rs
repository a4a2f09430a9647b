// SPDX-License-Identifier: Apache-2.0
//! Named processors that code can be compiled for, as data.

use super::architectures::{AARCH64, ARM, RISCV64, WASM32, X86_64};
use crate::schedule::costs::Costs;
use skript_runtime::artifact::Target;

/// A processor with the name that LLVM uses. Cache sizes are typical values where models of a processor differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cpu {
    pub name: &'static str,
    /// The name of its architecture.
    pub(crate) architecture: &'static str,
    /// The name of the processor whose features this processor extends; may be empty.
    base: &'static str,
    /// The features that code uses, in addition to the features of `base`. Features for operating systems are omitted, because virtual
    /// machines often hide them.
    features: &'static str,
    /// Costs of operations.
    pub(crate) costs: Costs,
    /// Sizes of the caches of levels 1 (data), 2 and 3, in KiB.
    pub(crate) caches: [u64; 3],
}

/// Two FMA units; measured on Zen 3.
const TWO_FMA: Costs = Costs::TYPICAL;

/// One FMA unit, or vectors of maximum width that take two cycles.
const ONE_FMA: Costs = Costs { fma_ports: 1, ..TWO_FMA };

/// Two 512-bit FMA units, as in Intel server processors. The bandwidth between the L1 and L2 caches is 64 bytes per cycle, of which
/// three quarters are sustained.
const WIDE_FMA: Costs = Costs { l2_bytes: 48, ..TWO_FMA };

/// Four FMA units.
const FOUR_FMA: Costs = Costs { fma_ports: 4, ..TWO_FMA };

const fn cpu(
    name: &'static str,
    architecture: &'static str,
    base: &'static str,
    features: &'static str,
    costs: Costs,
    caches: [u64; 3],
) -> Cpu {
    Cpu { name, architecture, base, features, costs, caches }
}

/// The microarchitecture levels of the x86-64 ABI, then specific processors. `generic` is any AArch64 processor. For a
/// processor without caches, the sizes are those of its equally fast memory.
#[rustfmt::skip]
pub(crate) const CPUS: &[Cpu] = &[
    cpu("x86-64", X86_64, "", "cmov cx8 mmx sse sse2", ONE_FMA, [32, 256, 2048]),
    cpu("x86-64-v2", X86_64, "x86-64", "cx16 sahf sse3 ssse3 sse4.1 sse4.2 crc32 popcnt", ONE_FMA, [32, 256, 4096]),
    cpu("x86-64-v3", X86_64, "x86-64-v2", "avx avx2 fma f16c bmi bmi2 lzcnt movbe", TWO_FMA, [32, 256, 8192]),
    cpu("x86-64-v4", X86_64, "x86-64-v3", "avx512f avx512bw avx512cd avx512dq avx512vl", WIDE_FMA, [32, 1024, 16384]),
    cpu("haswell", X86_64, "x86-64-v3", "pclmul", TWO_FMA, [32, 256, 8192]),
    cpu("skylake", X86_64, "haswell", "adx aes prfchw", TWO_FMA, [32, 256, 8192]),
    cpu("skylake-avx512", X86_64, "x86-64-v4", "adx aes pclmul prfchw", WIDE_FMA, [32, 1024, 22528]),
    cpu("cascadelake", X86_64, "skylake-avx512", "avx512vnni", WIDE_FMA, [32, 1024, 22528]),
    cpu("icelake-server", X86_64, "x86-64-v4", "adx aes pclmul sha gfni vaes vpclmulqdq prfchw avx512ifma avx512vbmi avx512vbmi2 avx512vnni avx512bitalg avx512vpopcntdq", WIDE_FMA, [48, 1280, 32768]),
    cpu("sapphirerapids", X86_64, "icelake-server", "avx512bf16 avx512fp16 avxvnni", WIDE_FMA, [48, 2048, 65536]),
    cpu("znver2", X86_64, "x86-64-v3", "adx aes pclmul sha sse4a prfchw", TWO_FMA, [32, 512, 16384]),
    cpu("znver3", X86_64, "znver2", "vaes vpclmulqdq", TWO_FMA, [32, 512, 32768]),
    cpu("znver4", X86_64, "znver3", "gfni avx512f avx512bw avx512cd avx512dq avx512vl avx512ifma avx512vbmi avx512vbmi2 avx512vnni avx512bitalg avx512vpopcntdq avx512bf16", ONE_FMA, [32, 1024, 32768]),
    cpu("znver5", X86_64, "znver4", "avx512vp2intersect avxvnni", WIDE_FMA, [48, 1024, 32768]),
    cpu("generic", AARCH64, "", "fp-armv8 neon", TWO_FMA, [32, 512, 2048]),
    cpu("neoverse-n1", AARCH64, "", "fp-armv8 neon aes sha2 crc lse rdm rcpc dotprod fullfp16 ssbs", TWO_FMA, [64, 1024, 32768]),
    cpu("neoverse-v1", AARCH64, "", "fp-armv8 neon aes sha2 sha3 sm4 crc lse rdm rcpc dotprod fullfp16 fp16fml jsconv complxnum bf16 i8mm sve flagm pauth ssbs", FOUR_FMA, [64, 1024, 32768]),
    cpu("neoverse-n2", AARCH64, "", "fp-armv8 neon crc lse rdm rcpc dotprod fullfp16 fp16fml jsconv complxnum bf16 i8mm sve sve2 flagm pauth ssbs sb", TWO_FMA, [64, 1024, 32768]),
    cpu("neoverse-v2", AARCH64, "", "fp-armv8 neon crc lse rdm rcpc dotprod fullfp16 fp16fml jsconv complxnum bf16 i8mm sve sve2 flagm pauth ssbs sb", FOUR_FMA, [64, 2048, 65536]),
    cpu("apple-m1", AARCH64, "", "fp-armv8 neon aes sha2 sha3 crc lse rdm rcpc dotprod fullfp16 fp16fml jsconv complxnum flagm pauth ssbs sb", FOUR_FMA, [128, 12288, 16384]),
    cpu("generic-rv64", RISCV64, "", "m a f d c", ONE_FMA, [32, 256, 2048]),
    cpu("spacemit-x60", RISCV64, "", "m a f d c v zvl256b zvfh zba zbb zbs", ONE_FMA, [32, 512, 1024]),
    cpu("generic-wasm", WASM32, "", "", ONE_FMA, [32, 256, 2048]),
    cpu("cortex-m4", ARM, "", "vfp4d16sp thumb2", ONE_FMA, [16, 64, 64]),
];

impl Cpu {
    /// Returns the processor with a name.
    pub(crate) fn named(name: &str) -> Option<&'static Cpu> {
        CPUS.iter().find(|cpu| cpu.name == name)
    }

    /// Returns the target for this processor on the system of a triple.
    pub(crate) fn target(&self, triple: &str) -> Target {
        let features = self.features();
        let features = features.iter().map(|f| format!("+{f}"));
        Target {
            triple: triple.to_owned(),
            cpu: self.name.to_owned(),
            features: features.collect::<Vec<_>>().join(","),
        }
    }

    /// The name that LLVM accepts.
    pub(crate) fn llvm_name(&self) -> &'static str {
        match self.name {
            "generic-wasm" => "generic",
            name => name,
        }
    }

    /// Returns all features that code uses, including those of the base processors.
    pub(crate) fn features(&self) -> Vec<&'static str> {
        let mut features = match Cpu::named(self.base) {
            // The table is ordered so that each processor follows the one that it is based on.
            Some(base) if base.name != self.name => base.features(),
            _ => Vec::new(),
        };
        features.extend(self.features.split_whitespace());
        features
    }
}
