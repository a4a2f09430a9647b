// SPDX-License-Identifier: Apache-2.0
//! The main functions of the command-line tools: upstream's, with `skript` and this project's passes.
//!
//! Each may restart the program with a larger stack, so call it first.

use crate::boundary::guard;
use crate::error::PassError;
use crate::ffi;
use crate::registered::registered;
use melior::dialect::DialectRegistry;
use melior::ir::{Location, Module};
use melior::{Context, ContextRef};
use mlir_sys::{MlirContext, MlirOperation, MlirStringRef};
use std::ffi::{CString, c_char, c_int, c_void};

/// Runs `mlir-opt` with all upstream dialects and passes, `skript`, this project's StableHLO, the test dialect, and
/// passes registered before the call, which `--help` also lists in groups. Returns the exit status.
pub fn opt_main(arguments: impl IntoIterator<Item = String>) -> i32 {
    let registry = DialectRegistry::new();
    // SAFETY: the registry is valid.
    unsafe { ffi::skriptRegisterTestDialect(registry.to_raw()) };
    crate::register_programs(&registry);
    let help = registered().help();
    // SAFETY: the argument vector is as `main` gets it; `help` lives during the call.
    with_arguments(arguments, |argc, argv| unsafe {
        ffi::skriptOptMain(argc, argv, registry.to_raw(), ffi::string_ref(&help))
    })
}

/// Runs `mlir-translate` with all upstream translations, and those registered before the call.
pub fn translate_main(arguments: impl IntoIterator<Item = String>) -> i32 {
    // SAFETY: the argument vector is as `main` gets it.
    with_arguments(arguments, |argc, argv| unsafe { ffi::skriptTranslateMain(argc, argv) })
}

/// Runs `mlir-lsp-server` for the same dialects.
pub fn lsp_server_main(arguments: impl IntoIterator<Item = String>) -> i32 {
    let registry = DialectRegistry::new();
    crate::register_stablehlo(&registry);
    // SAFETY: the argument vector is as `main` gets it.
    with_arguments(arguments, |argc, argv| unsafe { ffi::skriptLspServerMain(argc, argv, registry.to_raw()) })
}

/// Runs `mlir-reduce`: shrinks a module while a script still finds the defect in it.
pub fn reduce_main(arguments: impl IntoIterator<Item = String>) -> i32 {
    let registry = DialectRegistry::new();
    // SAFETY: the argument vector is as `main` gets it.
    with_arguments(arguments, |argc, argv| unsafe { ffi::skriptReduceMain(argc, argv, registry.to_raw()) })
}

/// The text of `skript-opt --help`: the project's passes and pipelines, and the options that engineers use most.
pub fn opt_help() -> String {
    let options = OPTIONS.iter().map(|(option, summary)| format!("  {option:33} - {summary}\n"));
    let options: String = options.collect();
    format!(
        "OVERVIEW: SkriptND optimizer driver. The input is trusted: a module may reach everything that MLIR and LLVM do. \
         Run it on your own files only.\n\nUSAGE: skript-opt [options] <input file>\n\nOptions of mlir-opt:\n\n{options}{}\n\
         All options, passes and pipelines of mlir-opt: --help-hidden\n",
        registered().help()
    )
}

/// The options of `mlir-opt` that [`opt_help`] lists.
const OPTIONS: &[(&str, &str)] = &[
    ("-o <file>", "output file; the default is stdout"),
    ("--pass-pipeline=<pipeline>", "the passes to run, as `builtin.module(cse,func.func(canonicalize))`"),
    ("--split-input-file", "process each part between lines `// -----` separately"),
    ("--verify-diagnostics", "compare diagnostics with the `expected-error` comments"),
    ("--verify-each=false", "do not verify the module after each pass"),
    ("--allow-unregistered-dialect", "accept operations of unknown dialects"),
    ("--mlir-print-ir-after-all", "print the module after each pass"),
    ("--mlir-print-debuginfo", "print locations"),
    ("--mlir-timing", "print the time of each pass"),
    ("--emit-bytecode", "write bytecode"),
    ("--show-dialects", "list the registered dialects"),
    ("--load-pass-plugin=<library>", "load passes from a shared library"),
    ("--load-dialect-plugin=<library>", "load dialects from a shared library"),
    ("--version", "print the version"),
];

fn with_arguments(
    arguments: impl IntoIterator<Item = String>,
    run: impl FnOnce(c_int, *mut *mut c_char) -> c_int,
) -> i32 {
    crate::stack::ensure_large();
    // Rust ignores SIGPIPE, and MLIR aborts on a failed write: a closed pipe ends the tool quietly, as other programs.
    // SAFETY: the default action is a valid handler.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    // An argument never contains NUL, because the system ends it there.
    let owned: Vec<CString> =
        arguments.into_iter().map(|argument| CString::new(argument).unwrap_or_default()).collect();
    let mut pointers: Vec<*mut c_char> = owned.iter().map(|a| a.as_ptr().cast_mut()).collect();
    let count = c_int::try_from(pointers.len()).unwrap_or(c_int::MAX);
    pointers.push(std::ptr::null_mut());
    run(count, pointers.as_mut_ptr())
}

/// Parses text of another format into a module: context, file name (`<stdin>`), text.
///
/// Errors are reported at their location or returned; both fail the tool.
pub(crate) type Import = for<'c> fn(&'c Context, &str, &str) -> Result<Module<'c>, PassError>;

/// Adds `--flag` to [`translate_main`].
pub fn register_import(flag: &str, summary: &str, import: Import) {
    // Registered for the life of the process.
    let import: &'static Import = Box::leak(Box::new(import));
    // SAFETY: the strings are copied; `import` is static.
    unsafe {
        ffi::skriptRegisterImport(
            ffi::string_ref(flag),
            ffi::string_ref(summary),
            call_import,
            (&raw const *import).cast(),
        );
    }
}

unsafe extern "C" fn call_import(
    import: *const c_void,
    context: MlirContext,
    name: MlirStringRef,
    text: MlirStringRef,
) -> MlirOperation {
    // SAFETY: the pointers come from `register_import` and MLIR; all outlive the call.
    let (import, context, name, text) = unsafe {
        (*import.cast::<Import>(), ContextRef::from_raw(context), ffi::text(name), ffi::text(text))
    };
    // SAFETY: the tool's context outlives the module.
    let context = unsafe { context.to_ref() };
    match guard(|| import(context, &name, &text)) {
        Ok(module) => {
            // SAFETY: the module is valid; MLIR takes ownership.
            let op = unsafe { mlir_sys::mlirModuleGetOperation(module.to_raw()) };
            std::mem::forget(module);
            op
        }
        Err(error) => {
            if let Some(message) = error.message() {
                PassError::at_location(Location::new(context, &name, 1, 1), message);
            }
            MlirOperation { ptr: std::ptr::null_mut() }
        }
    }
}

/// Writes a module as text of another format.
///
/// Errors are reported at their location or returned; both fail the tool.
pub type Export = for<'c> fn(&'c Context, &Module<'c>) -> Result<String, PassError>;

/// Adds `--flag` to [`translate_main`].
pub fn register_export(flag: &str, summary: &str, export: Export) {
    // Registered for the life of the process.
    let export: &'static Export = Box::leak(Box::new(export));
    // SAFETY: the strings are copied; `export` is static.
    unsafe {
        ffi::skriptRegisterExport(
            ffi::string_ref(flag),
            ffi::string_ref(summary),
            call_export,
            (&raw const *export).cast(),
        );
    }
}

unsafe extern "C" fn call_export(
    export: *const c_void,
    module: MlirOperation,
    write: unsafe extern "C" fn(MlirStringRef, *mut c_void),
    stream: *mut c_void,
) -> bool {
    // SAFETY: the pointers come from `register_export` and MLIR; all outlive the call. MLIR keeps ownership of the
    // module.
    let (export, context, module) = unsafe {
        (
            *export.cast::<Export>(),
            ContextRef::from_raw(mlir_sys::mlirOperationGetContext(module)),
            std::mem::ManuallyDrop::new(Module::from_raw(mlir_sys::mlirModuleFromOperation(module))),
        )
    };
    // SAFETY: the tool's context outlives the module.
    let context = unsafe { context.to_ref() };
    match guard(|| export(context, &module)) {
        Ok(text) => {
            // SAFETY: `write` is MLIR's, for this stream.
            unsafe { write(ffi::string_ref(&text), stream) };
            true
        }
        Err(error) => {
            if let Some(message) = error.message() {
                PassError::at_location(Location::unknown(context), message);
            }
            false
        }
    }
}
