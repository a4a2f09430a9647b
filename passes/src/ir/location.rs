// SPDX-License-Identifier: Apache-2.0
//! Converts source positions to locations, and locations to source positions.

use super::attributes;
use melior::Context;
use melior::ir::{Attribute, Location};
use mlir_sys::MlirStringRef;

/// The location from `start` to `end`, which are lines and columns from 1. MLIR only prints the end if it differs from the start.
pub(crate) fn location<'c>(
    context: &'c Context,
    path: &str,
    start: (usize, usize),
    end: (usize, usize),
) -> Location<'c> {
    // Locations beyond 2³² lines or columns are not exact.
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

/// The texts `path:line:column-line:column: name` of a location and of its call sites, innermost first. The text of a location
/// without an end is `path:line:column: name`.
pub(crate) fn trace(location: Location) -> Vec<String> {
    let mut trace = Vec::new();
    let mut pending = vec![location.to_raw()];
    // SAFETY: locations live as long as their context; the kind of a location is checked before its parts are queried.
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
                trace.push(format!("{file}:{}:{}{end}: {name}", start.0, start.1));
            }
        }
    }
    trace
}

/// The parts of a fused location; for other locations, the location.
pub(crate) fn parts<'c>(location: Location<'c>) -> Vec<Location<'c>> {
    if location.is_fused() {
        (0..location.fused_num_locations()).map(|n| location.fused_location(n)).collect()
    } else {
        vec![location]
    }
}

/// The fused location of operations that were merged, with a remark.
pub(crate) fn fused<'c>(
    context: &'c Context,
    locations: &[Location<'c>],
    remark: Option<&str>,
) -> Location<'c> {
    let remark = match remark {
        Some(remark) => super::attributes::string(context, remark),
        // SAFETY: the null attribute stands for no metadata.
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
    attributes::text(unsafe { Attribute::from_raw(attribute) })
}

/// The name around the locations of tests whether values are finite, by which passes find them.
pub(crate) const FINITE: &str = "are finite";

/// The name around the locations of tests of exponents.
pub(crate) const EXPONENTS: &str = "exponents";

/// Maximum number of parts of a location that [`lines`] visits: parts that are shared are visited several times.
const MOST_PARTS: usize = 10_000;

/// A line of a text.
#[derive(Clone)]
pub(crate) struct Line {
    pub path: String,
    /// From 1.
    pub number: usize,
    pub column: usize,
    /// The operator, or the function of another language, around an inlined line.
    pub function: Option<String>,
    name: Option<String>,
    /// Whether the name is that of the function around the line, as JAX writes locations. Otherwise, it is that of the invoked operator
    /// where the line is that of an invocation.
    is_own: bool,
}

/// The lines of a location: the innermost line, then those of the call sites around it. Of a fused location, the first part that has lines.
pub(crate) fn lines(location: Location) -> Vec<Line> {
    let mut lines = found_lines(location, &mut MOST_PARTS.clone());
    let callers: Vec<_> = lines.iter().skip(1).map(|caller| caller.name.clone()).collect();
    for (line, caller) in lines.iter_mut().zip(callers) {
        line.function = if line.is_own { line.name.clone() } else { caller };
    }
    lines
}

fn found_lines(location: Location, left: &mut usize) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut pending = vec![(location, None, false)];
    while let Some((location, name, is_own)) = pending.pop().filter(|_| *left > 0) {
        *left -= 1;
        if location.is_call_site() {
            pending.push((location.call_site_caller(), name.clone(), is_own));
            pending.push((location.call_site_callee(), name, is_own));
        } else if location.is_name() {
            let child = location.name_child_location();
            // SAFETY: the name lives as long as the context.
            let inner = unsafe { lossy(location.name_value().as_string_ref().to_raw()) };
            // JAX writes the name of an operation around the names of functions.
            let is_around = child.is_call_site() || child.is_name();
            let is_operation = is_around && inner != FINITE && inner != EXPONENTS;
            let name = if is_around { name } else { Some(inner) };
            pending.push((child, name, is_own || is_operation));
        } else if location.is_fused() {
            let parts = parts(location).into_iter().map(|part| found_lines(part, left));
            lines.extend(parts.into_iter().find(|lines| !lines.is_empty()).into_iter().flatten());
        } else if location.is_file_line_col_range() {
            lines.extend(line(location, name, is_own));
        }
    }
    lines
}

/// The line of a file location; `None` for line 0, which stands for no line.
fn line(location: Location, name: Option<String>, is_own: bool) -> Option<Line> {
    let number = location.file_line_col_range_start_line();
    let column = location.file_line_col_range_start_column();
    // SAFETY: the name of the file lives as long as the context.
    let path = unsafe { lossy(location.file_line_col_range_filename().as_string_ref().to_raw()) };
    (number > 0).then_some(Line { path, number, column, function: None, name, is_own })
}

/// `path:line:column: ` of a file location, or of the callee of a call site.
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
        // SAFETY: the name lives as long as the context.
        let path = unsafe { lossy(file.to_raw()) };
        format!("{path}:{line}:{column}: ")
    })
}

/// # Safety
/// The text is alive.
unsafe fn lossy(text: mlir_sys::MlirStringRef) -> String {
    let bytes = unsafe { std::slice::from_raw_parts(text.data.cast::<u8>(), text.length) };
    String::from_utf8_lossy(bytes).into_owned()
}
