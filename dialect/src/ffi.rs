// SPDX-License-Identifier: Apache-2.0
//! Declarations of `include/skript-c/*.h`.

use mlir_sys::{
    MlirAttribute, MlirContext, MlirDialectHandle, MlirDialectRegistry, MlirLocation, MlirOperation,
    MlirPass, MlirStringRef, MlirType, MlirValue,
};
use std::ffi::{c_char, c_int, c_uint, c_void};

#[repr(C)]
pub(crate) struct SkriptPassOption {
    pub name: MlirStringRef,
    pub summary: MlirStringRef,
    pub value: MlirStringRef,
}

#[repr(C)]
pub(crate) struct SkriptPassTable {
    pub flag: MlirStringRef,
    pub summary: MlirStringRef,
    pub anchor: MlirStringRef,
    pub(crate) n_dialects: isize,
    pub dialects: *const MlirDialectHandle,
    pub(crate) n_options: isize,
    pub options: *const SkriptPassOption,
    pub pass: *const c_void,
    pub run: unsafe extern "C" fn(*const c_void, MlirOperation, *const MlirStringRef) -> bool,
}

pub(crate) type SkriptImport =
    unsafe extern "C" fn(*const c_void, MlirContext, MlirStringRef, MlirStringRef) -> MlirOperation;

pub(crate) type SkriptExport = unsafe extern "C" fn(
    *const c_void,
    MlirOperation,
    unsafe extern "C" fn(MlirStringRef, *mut c_void),
    *mut c_void,
) -> bool;

unsafe extern "C" {
    pub(crate) fn mlirGetDialectHandle__skript__() -> MlirDialectHandle;
    pub(crate) fn mlirGetDialectHandle__skript_stablehlo__() -> MlirDialectHandle;
    pub(crate) fn mlirGetDialectHandle__skript_chlo__() -> MlirDialectHandle;
    pub(crate) fn mlirGetDialectHandle__skript_shardy__() -> MlirDialectHandle;
    pub(crate) fn skriptStablehloInlined(value: MlirAttribute) -> MlirAttribute;
    pub(crate) fn skriptStablehloStrayElement(
        text: *const c_char,
        offset: *mut usize,
        callback: unsafe extern "C" fn(MlirStringRef, *mut c_void),
        data: *mut c_void,
    ) -> bool;
    pub(crate) fn skriptRegisterTestDialect(registry: MlirDialectRegistry);

    pub(crate) fn skriptOperationIsElementwise(op: MlirOperation) -> bool;
    pub(crate) fn skriptOperationIsPure(op: MlirOperation) -> bool;
    pub(crate) fn skriptOperationIsSpeculatable(op: MlirOperation) -> bool;
    pub(crate) fn skriptOperationCloneWith(
        op: MlirOperation,
        n_operands: isize,
        operands: *const MlirValue,
        n_results: isize,
        results: *const MlirType,
    ) -> MlirOperation;
    pub(crate) fn skriptEmitOpError(
        op: MlirOperation,
        message: MlirStringRef,
        n_notes: isize,
        note_locations: *const MlirLocation,
        notes: *const MlirStringRef,
    );

    pub(crate) fn skriptRegisterPass(table: *const SkriptPassTable);
    pub(crate) fn skriptCreatePass(flag: MlirStringRef) -> MlirPass;
    pub(crate) fn skriptRegisterPipeline(flag: MlirStringRef, summary: MlirStringRef, text: MlirStringRef);

    pub(crate) fn skriptFuseElementwise(
        root: MlirOperation,
        operations: c_uint,
        inputs: c_uint,
        maps_only: bool,
    ) -> bool;
    pub(crate) fn skriptComputeInUsers(root: MlirOperation, operations: c_uint, inputs: c_uint) -> bool;
    pub(crate) fn skriptMergeDuplicates(root: MlirOperation);
    pub(crate) fn skriptFingerprint(function: MlirOperation) -> usize;
    pub(crate) fn skriptAreEqualFunctions(left: MlirOperation, right: MlirOperation) -> bool;
    pub(crate) fn skriptIsReduction(iterator: MlirAttribute) -> bool;
    pub(crate) fn skriptApproximateMath(root: MlirOperation) -> bool;
    pub(crate) fn skriptSerializeSpirv(
        module: MlirOperation,
        callback: unsafe extern "C" fn(MlirStringRef, *mut c_void),
        into: *mut c_void,
    ) -> bool;
    pub(crate) fn skriptComputePart(
        formula: MlirOperation,
        destinations: *const MlirValue,
        offsets: *const i64,
        sizes: *const i64,
        guarded: bool,
        results: *mut MlirValue,
    ) -> bool;

    pub(crate) fn skriptOptMain(
        argc: c_int,
        argv: *mut *mut c_char,
        registry: MlirDialectRegistry,
        help: MlirStringRef,
    ) -> c_int;
    pub(crate) fn skriptTranslateMain(argc: c_int, argv: *mut *mut c_char) -> c_int;
    pub(crate) fn skriptLspServerMain(
        argc: c_int,
        argv: *mut *mut c_char,
        registry: MlirDialectRegistry,
    ) -> c_int;
    pub(crate) fn skriptReduceMain(
        argc: c_int,
        argv: *mut *mut c_char,
        registry: MlirDialectRegistry,
    ) -> c_int;
    pub(crate) fn skriptRegisterImport(
        flag: MlirStringRef,
        summary: MlirStringRef,
        import: SkriptImport,
        translation: *const c_void,
    );
    pub(crate) fn skriptRegisterExport(
        flag: MlirStringRef,
        summary: MlirStringRef,
        export: SkriptExport,
        translation: *const c_void,
    );
}

/// A callback for text: `into` is a `String` that the caller passes with it.
pub(crate) unsafe extern "C" fn append(piece: MlirStringRef, into: *mut c_void) {
    // SAFETY: every caller that passes this callback passes a string with it.
    unsafe { (*into.cast::<String>()).push_str(&text(piece)) }
}

/// A string for C; valid as long as `text` is.
pub(crate) fn string_ref(text: &str) -> MlirStringRef {
    MlirStringRef { data: text.as_ptr().cast(), length: text.len() }
}

/// A string from C.
///
/// # Safety
/// `text` points to `length` bytes that outlive `'a`.
pub(crate) unsafe fn text<'a>(text: MlirStringRef) -> std::borrow::Cow<'a, str> {
    if text.length == 0 {
        return "".into();
    }
    let bytes = unsafe { std::slice::from_raw_parts(text.data.cast::<u8>(), text.length) };
    String::from_utf8_lossy(bytes)
}
