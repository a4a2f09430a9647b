// SPDX-License-Identifier: Apache-2.0
//! The registered dialects, and contexts that load them.

use crate::ffi;
use melior::Context;
use melior::dialect::DialectRegistry;
use melior::ir::{Attribute, AttributeLike};
use mlir_sys::MlirDialectHandle;
use std::ffi::CStr;

macro_rules! dialects {
    ($($(#[$doc:meta])* $name:ident = $handle:path,)*) => {
        /// A dialect that a pass may create operations of, or that a StableHLO program may contain.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Dialect { $($(#[$doc])* $name,)* }

        impl Dialect {
            pub(crate) fn handle(self) -> MlirDialectHandle {
                match self {
                    // SAFETY: these functions have no preconditions.
                    $(Dialect::$name => unsafe { $handle() },)*
                }
            }
        }
    };
}

dialects! {
    /// `affine`.
    Affine = mlir_sys::mlirGetDialectHandle__affine__,
    /// `arith`.
    Arith = mlir_sys::mlirGetDialectHandle__arith__,
    /// `bufferization`.
    Bufferization = mlir_sys::mlirGetDialectHandle__bufferization__,
    /// This project's definition of the CHLO subset; registered together with that of StableHLO.
    Chlo = ffi::mlirGetDialectHandle__skript_chlo__,
    /// `complex`.
    Complex = mlir_sys::mlirGetDialectHandle__complex__,
    /// `cf`.
    ControlFlow = mlir_sys::mlirGetDialectHandle__cf__,
    /// `func`.
    Func = mlir_sys::mlirGetDialectHandle__func__,
    /// `gpu`.
    Gpu = mlir_sys::mlirGetDialectHandle__gpu__,
    /// `index`.
    Index = mlir_sys::mlirGetDialectHandle__index__,
    /// `linalg`.
    Linalg = mlir_sys::mlirGetDialectHandle__linalg__,
    /// `llvm`.
    Llvm = mlir_sys::mlirGetDialectHandle__llvm__,
    /// `math`.
    Math = mlir_sys::mlirGetDialectHandle__math__,
    /// `memref`.
    MemRef = mlir_sys::mlirGetDialectHandle__memref__,
    /// `ml_program`.
    MlProgram = mlir_sys::mlirGetDialectHandle__ml_program__,
    /// `nvvm`.
    Nvvm = mlir_sys::mlirGetDialectHandle__nvvm__,
    /// `scf`.
    Scf = mlir_sys::mlirGetDialectHandle__scf__,
    /// Shardy's meshes and constraints with attributes as strings; only for parsing programs.
    Shardy = ffi::mlirGetDialectHandle__skript_shardy__,
    /// `skript`.
    Skript = ffi::mlirGetDialectHandle__skript__,
    /// This project's definition of the StableHLO subset; [`register_stablehlo`] registers it, [`register`] does not.
    Stablehlo = ffi::mlirGetDialectHandle__skript_stablehlo__,
    /// `spirv`.
    Spirv = mlir_sys::mlirGetDialectHandle__spirv__,
    /// `tensor`.
    Tensor = mlir_sys::mlirGetDialectHandle__tensor__,
    /// `transform`.
    Transform = mlir_sys::mlirGetDialectHandle__transform__,
    /// `ub`.
    Ub = mlir_sys::mlirGetDialectHandle__ub__,
    /// `vector`.
    Vector = mlir_sys::mlirGetDialectHandle__vector__,
}

/// Registers `skript`.
pub fn register(registry: &DialectRegistry) {
    insert(registry, &[Dialect::Skript]);
}

/// Registers this project's definitions of the StableHLO and CHLO subsets. The registry must not have the OpenXLA
/// project's.
pub fn register_stablehlo(registry: &DialectRegistry) {
    insert(registry, &[Dialect::Stablehlo, Dialect::Chlo]);
}

/// Registers the dialects of StableHLO programs: functions, StableHLO, CHLO, meshes and constraints of Shardy.
pub fn register_programs(registry: &DialectRegistry) {
    insert(registry, &[Dialect::Func, Dialect::Stablehlo, Dialect::Chlo, Dialect::Shardy]);
}

/// Registers `skript` and the dialects of StableHLO programs in a registry that C++ code owns.
///
/// # Safety
/// The registry must be valid.
pub unsafe fn register_in(registry: mlir_sys::MlirDialectRegistry) {
    for dialect in [Dialect::Skript, Dialect::Stablehlo, Dialect::Chlo, Dialect::Shardy] {
        // SAFETY: the handle is valid, and the caller guarantees the registry.
        unsafe {
            mlir_sys::mlirDialectHandleInsertDialect(dialect.handle(), registry);
        }
    }
}

fn insert(registry: &DialectRegistry, dialects: &[Dialect]) {
    for dialect in dialects {
        // SAFETY: handle and registry are valid.
        unsafe {
            mlir_sys::mlirDialectHandleInsertDialect(dialect.handle(), registry.to_raw());
        }
    }
}

/// Returns the value of a verified `stablehlo.constant`. Elements in the resources of the file are copied into the returned
/// attribute.
pub fn inlined_elements(value: Attribute<'_>) -> Attribute<'_> {
    // SAFETY: the attribute is valid, and the result is in the same context.
    unsafe { Attribute::from_raw(ffi::skriptStablehloInlined(value.to_raw())) }
}

/// Checks a tensor literal at the beginning of a text, `dense<…> : tensor<…>` or `sparse<…> : tensor<…>`: returns the
/// offset of the first element that does not fit the element type, and the message.
pub fn stray_element(text: &CStr) -> Option<(usize, String)> {
    let (mut offset, mut message) = (0, String::new());
    // SAFETY: the text ends with NUL; the callback writes to `message` before the function returns.
    let is_stray = unsafe {
        ffi::skriptStablehloStrayElement(
            text.as_ptr(),
            &raw mut offset,
            ffi::append,
            (&raw mut message).cast(),
        )
    };
    is_stray.then_some((offset, message))
}

/// Registers all upstream dialects and extensions.
pub(crate) fn register_upstream(registry: &DialectRegistry) {
    melior::utility::register_all_dialects(registry);
}

/// A context with `skript` and all upstream dialects registered, and with `skript` and the dialects of emitted models
/// loaded.
///
/// It uses MLIR's own thread pool; `enable_multi_threading(false)` disables it.
pub fn context() -> Context {
    let context = Context::new();
    add_all(&context);
    context
}

/// Registers and loads in a context what [`context`] does. Parse untrusted text before this call, while the context has only
/// the dialects of [`register_programs`].
pub fn add_all(context: &Context) {
    let registry = DialectRegistry::new();
    register_upstream(&registry);
    register(&registry);
    context.append_dialect_registry(&registry);
    for name in ["skript", "func", "arith", "math", "tensor", "linalg", "scf", "affine"] {
        context.get_or_load_dialect(name);
    }
    melior::utility::register_all_llvm_translations(context);
}

#[cfg(test)]
mod tests {
    use super::*;
    use melior::ir::{Module, operation::OperationLike};

    #[test]
    fn a_context_reads_the_dialect() {
        let context = context();
        let module = Module::parse(
            &context,
            "func.func @f(%x: tensor<4xf32>, %s: f32) -> tensor<4xf32> {
               %0 = skript.add %x, %s : tensor<4xf32>, f32
               return %0 : tensor<4xf32>
             }",
        );
        assert!(module.is_some_and(|m| m.as_operation().verify()));
    }
}
