// SPDX-License-Identifier: Apache-2.0
//! The features of AArch64 processors, by LLVM's names.

/// Expands to the names, and to the runtime detection of each feature.
macro_rules! features {
    ($($name:literal = $detected:tt)*) => {
        /// The features that the loader can check.
        pub const NAMES: &[&str] = &[$($name),*];

        /// The features that this processor has.
        #[cfg(target_arch = "aarch64")]
        pub fn features() -> Vec<&'static str> {
            let known = [$(($name, std::arch::is_aarch64_feature_detected!($detected))),*];
            known.into_iter().chain(lengths()).filter(|(_, has)| *has).map(|(name, _)| name).collect()
        }
    };
}

// The name in LLVM, and in Rust.
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

/// The names of SVE register lengths, and whether the registers of this thread are at least as long.
#[cfg(target_arch = "aarch64")]
fn lengths() -> [(&'static str, bool); 2] {
    // Linux's `PR_SVE_GET_VL`, and the mask of the register size in bytes in its result.
    const GET_LENGTH: i32 = 51;
    const LENGTH_MASK: i32 = 0xffff;
    // SAFETY: the call has no pointer arguments. It fails on processors without SVE.
    #[cfg(target_os = "linux")]
    let length = unsafe { libc::prctl(GET_LENGTH) };
    #[cfg(not(target_os = "linux"))]
    let length = -1;
    let bytes = if length < 0 { 0 } else { length & LENGTH_MASK };
    [("sve256", bytes >= 32), ("sve512", bytes >= 64)]
}
