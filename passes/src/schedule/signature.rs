// SPDX-License-Identifier: Apache-2.0
//! The arguments of a kernel.

#![allow(
    clippy::indexing_slicing,
    reason = "the lists of a signature have equal lengths"
)]

/// The arguments of a kernel, in order: the nest's operands, then captures.
#[derive(Clone, Debug, Default)]
pub struct Signature {
    /// Types of the arrays at the call.
    pub arrays: Vec<String>,
    /// Their element types.
    pub elements: Vec<String>,
    /// Their memory's offset and span in elements.
    pub windows: Vec<(i64, i64)>,
}

impl Signature {
    /// The type of an array as a flat one, from its first element to its last.
    pub fn flat(&self, position: usize) -> String {
        let (offset, span) = self.windows[position];
        let element = &self.elements[position];
        match offset {
            0 => format!("memref<{span}x{element}, strided<[1]>>"),
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
