// SPDX-License-Identifier: Apache-2.0
//! Detects the features of this processor, by LLVM's names, without LLVM.
//!
//! Shared objects check features with `runtime/c/x86_features.h`, which is generated from the x86-64 table.

pub mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;
pub mod x86_features;

use std::sync::OnceLock;

/// The features that this processor has and that the system supports, in the order of the table.
pub fn features() -> &'static [&'static str] {
    #[cfg(target_arch = "aarch64")]
    use aarch64::features;
    #[cfg(target_arch = "x86_64")]
    use x86_64::features;
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let features = Vec::new;
    static FEATURES: OnceLock<Vec<&'static str>> = OnceLock::new();
    FEATURES.get_or_init(features)
}

/// The sizes in bytes of the caches of levels 1 (data), 2 and 3 that a core uses; `None` for a size that the processor
/// does not report.
pub fn caches() -> [Option<u64>; 3] {
    #[cfg(target_arch = "x86_64")]
    return x86_64::caches();
    #[cfg(not(target_arch = "x86_64"))]
    return [None; 3];
}

/// The number of processors online, which may exceed the number that this process may use.
pub fn cores() -> u32 {
    // SAFETY: `sysconf` does not access memory of the program.
    let cores = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    u32::try_from(cores).unwrap_or(1).max(1)
}

/// The processor's name for messages.
pub fn name() -> String {
    #[cfg(target_arch = "x86_64")]
    return x86_64::name();
    #[cfg(not(target_arch = "x86_64"))]
    return std::env::consts::ARCH.to_owned();
}
