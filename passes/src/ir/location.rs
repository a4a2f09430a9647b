// SPDX-License-Identifier: Apache-2.0
//! Locations from source positions, and source positions from locations.

use melior::Context;
use melior::ir::Location;
use mlir_sys::MlirStringRef;

/// From the start's line and column to the end's, both from 1; MLIR prints the end only where it differs.
pub(crate) fn location<'c>(
    context: &'c Context,
    path: &str,
    start: (usize, usize),
    end: (usize, usize),
) -> Location<'c> {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    // SAFETY: the context is valid and outlives the location; the path is copied.
    unsafe {
        Location::from_raw(mlir_sys::mlirLocationFileLineColRangeGet(
            context.to_raw(),
            MlirStringRef {
                data: path.as_ptr().cast(),
                length: path.len(),
            },
            number(start.0),
            number(start.1),
            number(end.0),
            number(end.1),
        ))
    }
}

/// `path:line:column-line:column: name` of a location and of the calls around it, innermost first; without the end if a
/// location has none.
pub(crate) fn trace(location: Location) -> Vec<String> {
    let mut found = Vec::new();
    let mut pending = vec![location.to_raw()];
    // SAFETY: locations live as long as their context; each kind is queried for its own parts.
    unsafe {
        while let Some(location) = pending.pop() {
            if mlir_sys::mlirLocationIsACallSite(location) {
                pending.push(mlir_sys::mlirLocationCallSiteGetCaller(location));
                pending.push(mlir_sys::mlirLocationCallSiteGetCallee(location));
            } else if mlir_sys::mlirLocationIsAName(location) {
                let name = mlir_sys::mlirIdentifierStr(mlir_sys::mlirLocationNameGetName(location));
                let source_position = mlir_sys::mlirLocationNameGetChildLoc(location);
                if !mlir_sys::mlirLocationIsAFileLineColRange(source_position) {
                    continue;
                }
                let file = mlir_sys::mlirIdentifierStr(
                    mlir_sys::mlirLocationFileLineColRangeGetFilename(source_position),
                );
                let start = (
                    mlir_sys::mlirLocationFileLineColRangeGetStartLine(source_position),
                    mlir_sys::mlirLocationFileLineColRangeGetStartColumn(source_position),
                );
                let end = (
                    mlir_sys::mlirLocationFileLineColRangeGetEndLine(source_position),
                    mlir_sys::mlirLocationFileLineColRangeGetEndColumn(source_position),
                );
                let end = match end > start {
                    true => format!("-{}:{}", end.0, end.1),
                    false => String::new(),
                };
                let (file, name) = (lossy(file), lossy(name));
                found.push(format!("{file}:{}:{}{end}: {name}", start.0, start.1));
            }
        }
    }
    found
}

/// # Safety
/// The text is alive.
unsafe fn lossy(text: mlir_sys::MlirStringRef) -> String {
    let bytes = unsafe { std::slice::from_raw_parts(text.data.cast::<u8>(), text.length) };
    String::from_utf8_lossy(bytes).into_owned()
}
