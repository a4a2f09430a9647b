// SPDX-License-Identifier: Apache-2.0
//! The alignment of arrays: whether the address of an array is a multiple of the longest vector access of a thread.
//!
//! Devices allocate memory at multiples of 64 bytes ([`skript_runtime::device::Device`]), and the memory planner preserves this
//! alignment.

use super::code::VECTOR;
use crate::ir::types::DYNAMIC;
use crate::ir::{self, argument, memref, ops, typed};
use melior::ir::r#type::MemRefType;
use melior::ir::{Value, ValueLike};

/// Maximum length of a chain of views.
const DEPTH: usize = 64;

/// Whether the address of the buffer that contains an array is a multiple of [`VECTOR`]. The offsets of subviews are ignored.
pub(super) fn is_aligned(array: Value) -> bool {
    let mut array = array;
    for _ in 0..DEPTH {
        if let Some(argument) = argument(array) {
            use melior::ir::block::BlockLike;
            let owner = argument.owner().parent_operation();
            return owner.is_some_and(|op| ir::name(op) == ops::func::FUNC);
        }
        let Some((op, _)) = ir::definition(array) else {
            return false;
        };
        match ir::name(op).as_str() {
            ops::memref::ALLOC | ops::memref::GET_GLOBAL => return true,
            // This allocation later becomes an array in shared memory.
            ops::memref::ALLOCA => {
                let alignment = typed::integer(op, "alignment");
                return alignment.is_some_and(|bytes| bytes % VECTOR == 0);
            }
            ops::memref::VIEW => {
                let shift = ir::operand_at(op, 1).and_then(ir::integer);
                if shift.is_none_or(|shift| shift % VECTOR != 0) {
                    return false;
                }
            }
            ops::memref::CAST
            | ops::memref::SUBVIEW
            | ops::memref::REINTERPRET_CAST
            | ops::memref::EXPAND_SHAPE
            | ops::memref::COLLAPSE_SHAPE => {}
            _ => return false,
        }
        match ir::operand(op) {
            Ok(source) => array = source,
            Err(_) => return false,
        }
    }
    false
}

/// Returns a divisor of the dynamic offset of an array in its buffer, in elements: 1 if nothing is known.
pub(super) fn offset_factor(array: Value) -> i64 {
    let known = || {
        let view = memref::Subview::of(array)?;
        let source = view.source().ok()?;
        let kind = MemRefType::try_from(source.r#type()).ok()?;
        if !kind.affine_map().is_identity() {
            return None;
        }
        let extents = memref::extents(source.r#type());
        let offsets = typed::i64s(view.op(), "static_offsets");
        let (mut stride, mut factor) = (1_i64, 0_i64);
        for (extent, offset) in extents.iter().zip(&offsets).rev() {
            if *offset != 0 {
                factor = greatest_divisor(factor, stride);
            }
            // A dynamic extent is a multiple of 1.
            if *extent != DYNAMIC {
                stride = stride.checked_mul((*extent).max(1))?;
            }
        }
        Some(factor)
    };
    known().unwrap_or(1)
}

/// The greatest common divisor.
fn greatest_divisor(a: i64, b: i64) -> i64 {
    match b {
        0 => a,
        b => greatest_divisor(b, a % b),
    }
}
