// SPDX-License-Identifier: Apache-2.0
//! Which arrays begin at addresses that are multiples of the longest access of a thread.
//!
//! Devices allocate memory at multiples of 64 bytes ([`skript_runtime::device::Device`]), and the plan of memory keeps that.

use super::code::VECTOR;
use crate::ir::types::DYNAMIC;
use crate::ir::{self, argument, memref, ops, typed};
use melior::ir::operation::OperationLike;
use melior::ir::r#type::MemRefType;
use melior::ir::{Value, ValueLike};

/// Views that an array is one of at most.
const DEPTH: usize = 64;

/// Whether the address of the buffer that an array is a part of is a multiple of [`VECTOR`]. Offsets of parts are not considered.
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
            // An array that the threads of a block share, once it is in its memory.
            ops::memref::ALLOCA => {
                let alignment = typed::integer(op, "alignment");
                return alignment.is_some_and(|bytes| bytes.unsigned_abs() % VECTOR == 0);
            }
            ops::memref::VIEW => {
                let shift = op.operand(1).ok().and_then(super::threads::constant);
                let bytes = i64::try_from(VECTOR).unwrap_or(i64::MAX);
                if shift.is_none_or(|shift| shift % bytes != 0) {
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

/// A number that the dynamic offset of an array in its buffer is a multiple of, in elements: 1 if nothing is known.
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
            // A dynamic extent is a multiple of one.
            if *extent != DYNAMIC {
                stride = stride.checked_mul((*extent).max(1))?;
            }
        }
        Some(factor)
    };
    known().unwrap_or(1)
}

/// The greatest number that divides both.
fn greatest_divisor(a: i64, b: i64) -> i64 {
    match b {
        0 => a,
        b => greatest_divisor(b, a % b),
    }
}
