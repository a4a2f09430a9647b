// SPDX-License-Identifier: Apache-2.0
//! The attributes of the dialect `llvm` from which LLVM writes line tables.

use super::attributes;
use super::location::Line;
use melior::Context;
use melior::StringRef;
use melior::ir::{Attribute, AttributeLike, Location};
use mlir_sys::{
    MlirAttribute, MlirLLVMDIEmissionKind_MlirLLVMDIEmissionKindDebugDirectivesOnly,
    MlirLLVMDIEmissionKind_MlirLLVMDIEmissionKindLineTablesOnly,
    MlirLLVMDINameTableKind_MlirLLVMDINameTableKindDefault,
};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;
use std::ptr::null;

/// DWARF's number of C: DWARF has no number of SkriptND, and debuggers can read registers with types of C.
const LANGUAGE: u32 = 2;
/// DWARF's calling convention of functions without another one.
const NORMAL: u32 = 1;
/// LLVM's flags of optimized definitions.
const FLAGS: u64 = 1 << 3 | 1 << 4;

/// The functions of a module.
pub(crate) struct Unit<'c> {
    context: &'c Context,
    unit: Attribute<'c>,
    r#type: Attribute<'c>,
}

impl<'c> Unit<'c> {
    /// The functions of a module with a text at this path. With `has_dwarf`, LLVM writes tables in DWARF; otherwise, directives in assembly.
    pub(crate) fn new(context: &'c Context, path: &str, has_dwarf: bool) -> Self {
        let kind = if has_dwarf {
            MlirLLVMDIEmissionKind_MlirLLVMDIEmissionKindLineTablesOnly
        } else {
            MlirLLVMDIEmissionKind_MlirLLVMDIEmissionKindDebugDirectivesOnly
        };
        let text = |text| attributes::string(context, text).to_raw();
        // SAFETY: the attributes belong to the context, and each has the kind that its parameter requires.
        unsafe {
            let unit = mlir_sys::mlirLLVMDICompileUnitAttrGet(
                context.to_raw(),
                distinct(context),
                LANGUAGE,
                file(context, path),
                text("SkriptND"),
                true,
                kind,
                MlirLLVMDINameTableKind_MlirLLVMDINameTableKindDefault,
                text(""),
            );
            let r#type = mlir_sys::mlirLLVMDISubroutineTypeAttrGet(context.to_raw(), NORMAL, 0, null());
            Unit { context, unit: Attribute::from_raw(unit), r#type: Attribute::from_raw(r#type) }
        }
    }

    /// The scope of the lines of a function, or of an operator that was inlined into functions. `line` is 0 if it is not known. Calls with
    /// equal arguments return different functions.
    pub(crate) fn function(&self, name: &str, path: &str, line: usize) -> Attribute<'c> {
        let context = self.context.to_raw();
        // LLVM's type of lines; MLIR has no larger ones.
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        let name = attributes::string(self.context, name).to_raw();
        // SAFETY: as in `new`; a function without retained nodes and annotations has null for each list.
        unsafe {
            let file = file(self.context, path);
            Attribute::from_raw(mlir_sys::mlirLLVMDISubprogramAttrGet(
                context,
                distinct(self.context),
                false,
                distinct(self.context),
                self.unit.to_raw(),
                file,
                name,
                name,
                file,
                line,
                line,
                FLAGS,
                self.r#type.to_raw(),
                0,
                null(),
                0,
                null(),
            ))
        }
    }

    /// A line in a scope.
    pub(crate) fn place(&self, line: &Line, scope: Attribute<'c>) -> Location<'c> {
        let place = Location::new(self.context, &line.path, line.number, line.column);
        Location::fused(self.context, &[place], scope)
    }

    /// The scope of lines of another file in a function.
    pub(crate) fn in_file(&self, function: Attribute<'c>, path: &str) -> Attribute<'c> {
        // SAFETY: as in `new`.
        unsafe {
            let file = file(self.context, path);
            let context = self.context.to_raw();
            Attribute::from_raw(mlir_sys::mlirLLVMDILexicalBlockFileAttrGet(
                context,
                function.to_raw(),
                file,
                0,
            ))
        }
    }
}

/// Whether a function has a scope for its lines.
pub(crate) fn has_scope(function: Location) -> bool {
    // SAFETY: the location is a fused one; without metadata, the attribute is null.
    function.is_fused()
        && unsafe {
            let metadata = mlir_sys::mlirLocationFusedGetMetadata(function.to_raw());
            !metadata.ptr.is_null() && {
                let dialect = mlir_sys::mlirDialectGetNamespace(mlir_sys::mlirAttributeGetDialect(metadata));
                StringRef::from_raw(dialect).as_str() == Ok("llvm")
            }
        }
}

/// # Safety
/// The context outlives the attribute.
unsafe fn file(context: &Context, path: &str) -> MlirAttribute {
    let path = Path::new(path);
    let part = |part: Option<&OsStr>| {
        attributes::string(context, &part.map_or(Cow::Borrowed(""), OsStr::to_string_lossy)).to_raw()
    };
    let (name, folder) = (part(path.file_name()), part(path.parent().map(Path::as_os_str)));
    // SAFETY: both are strings of the context.
    unsafe { mlir_sys::mlirLLVMDIFileAttrGet(context.to_raw(), name, folder) }
}

/// An attribute that is equal only to itself.
///
/// # Safety
/// The context outlives the attribute.
unsafe fn distinct(context: &Context) -> MlirAttribute {
    // SAFETY: the attribute belongs to the context.
    unsafe { mlir_sys::mlirDisctinctAttrCreate(attributes::unit(context).to_raw()) }
}
