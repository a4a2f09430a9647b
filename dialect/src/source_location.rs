// SPDX-License-Identifier: Apache-2.0
//! The source locations of an operation.

use crate::ffi;
use melior::ir::Location;
use mlir_sys::{MlirIdentifier, MlirLocation};
use std::collections::HashMap;
use std::ffi::c_void;

/// A source range, and the name of the operator in which it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// The name of the enclosing operator; empty outside of operators.
    pub name: String,
    /// The file, as MLIR writes it in `loc("file":1:2)`.
    pub path: String,
    /// The line, from 1; so is that of the end.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The line of the end.
    pub end_line: usize,
    /// The column after the last character, from 1.
    pub end_column: usize,
}

/// The source positions of a location, innermost first; each is called from the next. Of a fused location, the first
/// part counts.
pub(crate) fn frames(location: MlirLocation) -> Vec<Frame> {
    let mut frames = Vec::new();
    let mut pending = vec![(location, String::new())];
    while let Some((location, name)) = pending.pop() {
        // SAFETY: the location is valid, and so are its parts, which are queried according to its kind.
        unsafe {
            if mlir_sys::mlirLocationIsACallSite(location) {
                let caller = mlir_sys::mlirLocationCallSiteGetCaller(location);
                let callee = mlir_sys::mlirLocationCallSiteGetCallee(location);
                pending.extend([(caller, String::new()), (callee, name)]);
            } else if mlir_sys::mlirLocationIsAName(location) {
                let name = text(mlir_sys::mlirLocationNameGetName(location));
                pending.push((mlir_sys::mlirLocationNameGetChildLoc(location), name));
            } else if mlir_sys::mlirLocationIsAFused(location) {
                pending.extend(first(location).map(|part| (part, name)));
            } else if mlir_sys::mlirLocationIsAFileLineColRange(location) {
                let number = |n: i32| n.max(0) as usize;
                frames.push(Frame {
                    name,
                    path: text(mlir_sys::mlirLocationFileLineColRangeGetFilename(location)),
                    line: number(mlir_sys::mlirLocationFileLineColRangeGetStartLine(location)),
                    column: number(mlir_sys::mlirLocationFileLineColRangeGetStartColumn(location)),
                    end_line: number(mlir_sys::mlirLocationFileLineColRangeGetEndLine(location)),
                    end_column: number(mlir_sys::mlirLocationFileLineColRangeGetEndColumn(location)),
                });
            }
        }
    }
    frames
}

/// The first part of a fused location.
fn first(fused: MlirLocation) -> Option<MlirLocation> {
    all(fused).first().copied()
}

/// The parts of a fused location.
fn all(fused: MlirLocation) -> Vec<MlirLocation> {
    // SAFETY: the location is a fused one; the list is large enough for all of its locations.
    unsafe {
        let count = mlir_sys::mlirLocationFusedGetNumLocations(fused) as usize;
        let mut parts = vec![fused; count];
        mlir_sys::mlirLocationFusedGetLocations(fused, parts.as_mut_ptr());
        parts
    }
}

/// The locations that a location consists of.
fn parts(location: MlirLocation) -> Vec<MlirLocation> {
    // SAFETY: the location is valid, and so are its parts, which are queried according to its kind.
    unsafe {
        if mlir_sys::mlirLocationIsACallSite(location) {
            let caller = mlir_sys::mlirLocationCallSiteGetCaller(location);
            vec![mlir_sys::mlirLocationCallSiteGetCallee(location), caller]
        } else if mlir_sys::mlirLocationIsAName(location) {
            vec![mlir_sys::mlirLocationNameGetChildLoc(location)]
        } else if mlir_sys::mlirLocationIsAFused(location) {
            all(location)
        } else {
            Vec::new()
        }
    }
}

/// Nesting depths of the locations of one context. Each location is visited once, even if many others contain it.
#[derive(Default)]
pub struct Levels {
    known: HashMap<*const c_void, usize>,
}

impl Levels {
    /// The nesting depth of a location; 1 for a source position.
    pub fn levels(&mut self, location: Location) -> usize {
        let whole = location.to_raw();
        let mut pending = vec![(whole, false)];
        while let Some((location, is_entered)) = pending.pop() {
            if self.known.contains_key(&location.ptr) {
                continue;
            }
            let parts = parts(location);
            if is_entered {
                let inner = parts.iter().filter_map(|part| self.known.get(&part.ptr).copied());
                let levels = 1 + inner.fold(0, usize::max);
                self.known.insert(location.ptr, levels);
            } else {
                pending.push((location, true));
                pending.extend(parts.into_iter().map(|part| (part, false)));
            }
        }
        let Some(levels) = self.known.get(&whole.ptr) else {
            unreachable!("internal compiler error: a location has no depth")
        };
        *levels
    }
}

fn text(identifier: MlirIdentifier) -> String {
    // SAFETY: the identifier is valid, its text lives as long as the context.
    unsafe { ffi::text(mlir_sys::mlirIdentifierStr(identifier)).into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use melior::ir::{Module, operation::OperationLike};

    fn rendered(text: &str) -> Vec<(String, usize, usize, usize)> {
        let context = crate::context();
        let module = Module::parse(&context, &format!("module {{}} loc({text})")).unwrap();
        let location: Location = module.as_operation().location();
        let frames = frames(location.to_raw());
        let brief = |f: Frame| (format!("{} {}", f.name, f.path), f.line, f.column, f.end_column);
        frames.into_iter().map(brief).collect()
    }

    #[test]
    fn calls_are_listed_from_the_inside() {
        let text =
            r#"callsite(callsite("f"("a":1:2 to :5) at "g"("b":3:4)) at fused["h"("c":5:6), "d":7:8])"#;
        let want = [("f a", 1, 2, 5), ("g b", 3, 4, 4), ("h c", 5, 6, 6)];
        assert_eq!(rendered(text), want.map(|(n, l, c, e)| (n.to_string(), l, c, e)));
    }

    #[test]
    fn a_location_without_a_source_gives_none() {
        assert!(rendered("unknown").is_empty());
    }
}
