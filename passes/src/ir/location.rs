// SPDX-License-Identifier: Apache-2.0
//! Locations from source positions, and source positions from locations.

use melior::Context;
use melior::ir::{Attribute, Location};
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
            MlirStringRef { data: path.as_ptr().cast(), length: path.len() },
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
                let file = mlir_sys::mlirIdentifierStr(mlir_sys::mlirLocationFileLineColRangeGetFilename(
                    source_position,
                ));
                let start = (
                    mlir_sys::mlirLocationFileLineColRangeGetStartLine(source_position),
                    mlir_sys::mlirLocationFileLineColRangeGetStartColumn(source_position),
                );
                let end = (
                    mlir_sys::mlirLocationFileLineColRangeGetEndLine(source_position),
                    mlir_sys::mlirLocationFileLineColRangeGetEndColumn(source_position),
                );
                let end = if end > start { format!("-{}:{}", end.0, end.1) } else { String::new() };
                let (file, name) = (lossy(file), lossy(name));
                found.push(format!("{file}:{}:{}{end}: {name}", start.0, start.1));
            }
        }
    }
    found
}

/// The locations that a fused one has; a location of another kind alone.
pub(crate) fn parts<'c>(location: Location<'c>) -> Vec<Location<'c>> {
    if location.is_fused() {
        (0..location.fused_num_locations()).map(|n| location.fused_location(n)).collect()
    } else {
        vec![location]
    }
}

/// One location of several operations that became one, with a remark on it.
pub(crate) fn fused<'c>(
    context: &'c Context,
    locations: &[Location<'c>],
    remark: Option<&str>,
) -> Location<'c> {
    let remark = match remark {
        Some(remark) => super::attributes::string(context, remark),
        // SAFETY: the null attribute means that there is none.
        None => unsafe { Attribute::from_raw(mlir_sys::mlirAttributeGetNull()) },
    };
    Location::fused(context, locations, remark)
}

/// The remark of a fused location.
pub(crate) fn remark(location: Location) -> Option<String> {
    if !location.is_fused() {
        return None;
    }
    // SAFETY: the location is a fused one; without a remark, the attribute is null.
    let attribute = unsafe { mlir_sys::mlirLocationFusedGetMetadata(location.to_raw()) };
    if attribute.ptr.is_null() {
        return None;
    }
    // SAFETY: attributes live as long as their context.
    let attribute = unsafe { Attribute::from_raw(attribute) };
    let text = melior::ir::attribute::StringAttribute::try_from(attribute).ok();
    text.map(|text| text.value().to_owned())
}

/// `path:line:column: ` of a location without a name; of the innermost call, for one of calls.
pub(crate) fn position(location: Location) -> Option<String> {
    let mut location = location;
    while location.is_call_site() {
        location = location.call_site_callee();
    }
    location.is_file_line_col_range().then(|| {
        let file = location.file_line_col_range_filename();
        let file = file.as_string_ref();
        let line = location.file_line_col_range_start_line();
        let column = location.file_line_col_range_start_column();
        format!("{}:{line}:{column}: ", file.as_str().unwrap_or_default())
    })
}

/// # Safety
/// The text is alive.
unsafe fn lossy(text: mlir_sys::MlirStringRef) -> String {
    let bytes = unsafe { std::slice::from_raw_parts(text.data.cast::<u8>(), text.length) };
    String::from_utf8_lossy(bytes).into_owned()
}
