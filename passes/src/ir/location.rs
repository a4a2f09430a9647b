// SPDX-License-Identifier: Apache-2.0
//! Locations from source positions.

use melior::Context;
use melior::ir::Location;
use mlir_sys::MlirStringRef;

/// From the start's line and column to the end's, both from 1; MLIR prints the end only where it differs.
pub fn location<'c>(
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
