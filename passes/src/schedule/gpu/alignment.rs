// SPDX-License-Identifier: Apache-2.0
//! Which arrays begin at addresses that are multiples of the longest access of a thread.
//!
//! Devices allocate memory at multiples of 64 bytes ([`skript_runtime::device::Device`]), and the plan of memory keeps that.

use super::code::VECTOR;
use crate::ir::{self, argument, ops};
use melior::ir::Value;
use melior::ir::operation::OperationLike;

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
