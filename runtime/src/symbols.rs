// SPDX-License-Identifier: Apache-2.0
//! The functions that compiled code may call: a fixed table, so that loaded code cannot call other functions of the
//! process.
//!
//! `convert-math-to-libm` and LLVM generate calls of mathematical functions of the C library. LLVM also generates calls of
//! memory functions, and of functions for arithmetic that the processor lacks. None of these functions accesses memory
//! outside its arguments.

use crate::device;
use crate::profile::{self, skript_profile};
use crate::threads::{self, Task, skript_parallel};
use skript_intrinsics::compiled::{self, skript_intrinsic};
use skript_intrinsics::sharing;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::LazyLock;

macro_rules! functions {
    ($($name:ident)*) => {
        unsafe extern "C" {
            // Only addresses are taken: no signature is needed.
            $(fn $name();)*
        }

        fn functions() -> Vec<(&'static str, *const c_void)> {
            vec![$((stringify!($name), $name as *const c_void),)*]
        }
    };
}

functions! {
    // `convert-math-to-libm`.
    acos acosf acosh acoshf asin asinf asinh asinhf atan atanf atan2 atan2f atanh atanhf cbrt cbrtf ceil ceilf
    cos cosf cosh coshf erf erff erfc erfcf exp expf exp2 exp2f expm1 expm1f fabs fabsf floor floorf fma fmaf
    log logf log10 log10f log1p log1pf log2 log2f pow powf round roundf roundeven roundevenf sin sinf sinh sinhf
    sqrt sqrtf tan tanf tanh tanhf trunc truncf
    // For operations that a processor may lack, and for functions that LLVM substitutes for those above.
    copysign copysignf exp10 exp10f fmax fmaxf fmin fminf fmod fmodf frexp frexpf ldexp ldexpf llrint llrintf
    llround llroundf lrint lrintf lround lroundf modf modff nearbyint nearbyintf rint rintf sincos sincosf
    __powidf2 __powisf2
    // Memory functions.
    bcmp memcmp memcpy memmove memset
    // 128-bit integers.
    __divti3 __modti3 __multi3 __udivti3 __umodti3
}

/// Names and addresses of the functions above and of the functions of the runtime that compiled code calls.
fn table() -> impl Iterator<Item = (&'static str, *const c_void)> {
    let kernels: unsafe extern "C" fn(
        *const u8,
        usize,
        *const i64,
        *mut compiled::Context,
    ) -> std::ffi::c_int = skript_intrinsic;
    let intrinsic = (compiled::SYMBOL, kernels as *const c_void);
    let parallel: unsafe extern "C" fn(Task, *const c_void, i64) = skript_parallel;
    let parallel = (threads::SYMBOL, parallel as *const c_void);
    let profile: extern "C" fn(usize, usize, usize) = skript_profile;
    let profile = (profile::SYMBOL, profile as *const c_void);
    functions().into_iter().chain([intrinsic, parallel, profile]).chain(device::table())
}

/// The address of a function that compiled code may call; `None` for any other name.
pub(crate) fn address(name: &str) -> Option<u64> {
    static ADDRESSES: LazyLock<HashMap<&'static str, u64>> = LazyLock::new(|| {
        sharing::share_with(threads::share);
        let addresses = table().map(|(name, address)| (name, address.expose_provenance() as u64));
        addresses.collect()
    });
    ADDRESSES.get(name).copied()
}
