// SPDX-License-Identifier: Apache-2.0
//! The plugin for MLIR's tools: `mlir-opt --load-dialect-plugin=libSkriptPasses.so --load-pass-plugin=libSkriptPasses.so`.
//!
//! The tool must link the shared library of the same MLIR that this library was built for.

use mlir_sys::MlirDialectRegistry;
use std::ffi::{CStr, c_char};

/// `MLIR_PLUGIN_API_VERSION` in MLIR 22.
const API_VERSION: u32 = 1;

const NAME: &CStr = c"skript";

/// `mlir::PassPluginLibraryInfo` and `mlir::DialectPluginLibraryInfo`, which differ in the callback only.
#[repr(C)]
pub struct PluginInfo<Callback> {
    api_version: u32,
    name: *const c_char,
    version: *const c_char,
    register: Callback,
}

impl<Callback> PluginInfo<Callback> {
    fn new(register: Callback) -> Self {
        let version = VERSION.as_ptr();
        PluginInfo { api_version: API_VERSION, name: NAME.as_ptr(), version, register }
    }
}

/// The version of the package, which ends with NUL.
const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => panic!("internal compiler error: a version with NUL"),
};

/// The entry that `--load-pass-plugin` reads.
#[unsafe(no_mangle)]
pub extern "C" fn mlirGetPassPluginInfo() -> PluginInfo<extern "C" fn()> {
    PluginInfo::new(crate::skriptRegisterPasses)
}

/// The entry that `--load-dialect-plugin` reads.
#[unsafe(no_mangle)]
pub extern "C" fn mlirGetDialectPluginInfo() -> PluginInfo<extern "C" fn(MlirDialectRegistry)> {
    PluginInfo::new(register_dialects)
}

/// MLIR passes a pointer, which is the only field of `MlirDialectRegistry`: both are passed in the same register.
extern "C" fn register_dialects(registry: MlirDialectRegistry) {
    // SAFETY: MLIR passes the registry of the tool.
    unsafe { skript_dialect::register_in(registry) };
}
