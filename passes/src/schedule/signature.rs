// SPDX-License-Identifier: Apache-2.0
//! The arguments of a kernel.

#![allow(clippy::indexing_slicing, reason = "the lists of a signature have equal lengths")]

/// The arguments of a kernel, in order: the nest's operands, then captures.
#[derive(Clone, Debug, Default)]
pub struct Signature {
    /// Types of the arrays at the call.
    pub arrays: Vec<String>,
    /// Their element types.
    pub elements: Vec<String>,
    /// Their memory's offset and span in elements. An offset of [`AT_RUN_TIME`] is an argument.
    pub windows: Vec<(i64, i64)>,
}

/// An offset that the caller computes.
pub const AT_RUN_TIME: i64 = i64::MIN;

impl Signature {
    /// The arrays whose offsets are arguments, which follow the captures.
    pub fn placed(&self) -> impl Iterator<Item = usize> {
        self.windows
            .iter()
            .enumerate()
            .filter_map(|(position, (offset, _))| (*offset == AT_RUN_TIME).then_some(position))
    }

    /// The view of the array `source`, of a type, as [`Signature::flat`]: `offset` is the value of an offset at run time.
    pub fn view(&self, position: usize, source: &str, kind: &str, offset: &str) -> String {
        let (known, span) = self.windows[position];
        let offset = match known {
            AT_RUN_TIME => offset.to_owned(),
            known => known.to_string(),
        };
        format!(
            "memref.reinterpret_cast {source} to offset: [{offset}], sizes: [{span}], strides: [1] : {kind} to {}",
            self.flat(position)
        )
    }

    /// The type of an array as a flat one, from its first element to its last.
    pub fn flat(&self, position: usize) -> String {
        let (offset, span) = self.windows[position];
        let element = &self.elements[position];
        match offset {
            0 => format!("memref<{span}x{element}, strided<[1]>>"),
            AT_RUN_TIME => format!("memref<{span}x{element}, strided<[1], offset: ?>>"),
            _ => format!("memref<{span}x{element}, strided<[1], offset: {offset}>>"),
        }
    }
}

/// The type as which an array with dynamic extents is passed: functions take arrays with static extents by pointer.
pub fn pointer_type(element: &str, offset: i64) -> String {
    match offset {
        0 => format!("memref<1x{element}, strided<[1]>>"),
        _ => format!("memref<1x{element}, strided<[1], offset: {offset}>>"),
    }
}
