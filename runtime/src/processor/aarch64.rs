// SPDX-License-Identifier: Apache-2.0
//! The features of AArch64 processors, by LLVM's names.

/// Expands to the names, and to the system's test for each.
macro_rules! features {
    ($($name:literal = $detected:tt)*) => {
        /// The features that the loader can check.
        pub const NAMES: &[&str] = &[$($name),*];

        /// The features that this processor has.
        #[cfg(target_arch = "aarch64")]
        pub fn features() -> Vec<&'static str> {
            let known = [$(($name, std::arch::is_aarch64_feature_detected!($detected))),*];
            known.into_iter().filter(|(_, has)| *has).map(|(name, _)| name).collect()
        }
    };
}

// LLVM's name, and that of Rust.
features! {
    "fp-armv8" = "fp"
    "neon" = "neon"
    "aes" = "aes"
    "sha2" = "sha2"
    "sha3" = "sha3"
    "sm4" = "sm4"
    "crc" = "crc"
    "lse" = "lse"
    "rdm" = "rdm"
    "rcpc" = "rcpc"
    "rcpc-immo" = "rcpc2"
    "dotprod" = "dotprod"
    "fullfp16" = "fp16"
    "fp16fml" = "fhm"
    "jsconv" = "jsconv"
    "complxnum" = "fcma"
    "bf16" = "bf16"
    "i8mm" = "i8mm"
    "f32mm" = "f32mm"
    "f64mm" = "f64mm"
    "sve" = "sve"
    "sve2" = "sve2"
    "flagm" = "flagm"
    "pauth" = "paca"
    "ssbs" = "ssbs"
    "sb" = "sb"
    "dpb" = "dpb"
}
