// SPDX-License-Identifier: Apache-2.0
//! Upstream C++ functions for GPU code generation.

use crate::ffi;
use melior::ir::OperationRef;
use mlir_sys::MlirStringRef;
use std::ffi::c_void;

/// Serializes a `spirv.module`. Returns `None` for another operation, or if MLIR cannot serialize the module.
pub fn serialize_spirv(module: OperationRef) -> Option<Vec<u8>> {
    let mut bytes: Vec<u8> = Vec::new();
    // SAFETY: the operation is valid, and the callback gets the vector.
    let done = unsafe { ffi::skriptSerializeSpirv(module.to_raw(), append, (&raw mut bytes).cast()) };
    done.then_some(bytes)
}

/// Replaces operations of the dialect `math` that are nested in `root` by upstream's polynomials for f32. Returns false if the
/// rewriting did not converge.
pub fn approximate_math(root: OperationRef) -> bool {
    // SAFETY: the operation is valid; callers hold no references below it.
    unsafe { ffi::skriptApproximateMath(root.to_raw()) }
}

/// # Safety
/// `piece` is valid, and `into` is a `Vec<u8>`.
unsafe extern "C" fn append(piece: MlirStringRef, into: *mut c_void) {
    if piece.length > 0 {
        // SAFETY: as the caller promises.
        unsafe {
            let bytes = std::slice::from_raw_parts(piece.data.cast::<u8>(), piece.length);
            (*into.cast::<Vec<u8>>()).extend_from_slice(bytes);
        }
    }
}
