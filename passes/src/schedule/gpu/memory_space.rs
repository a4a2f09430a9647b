// SPDX-License-Identifier: Apache-2.0
//! The memory space of each array of the entry. Extents, the context of a call, arrays on the stack, and constants are in host
//! memory; all other arrays are in device memory.

use crate::ir::{self, argument, attribute_names, attributes, memref, ops};
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationRef;
use melior::ir::{Value, ValueLike};
use std::collections::HashSet;

/// The arrays of the entry that the host accesses.
pub(crate) struct HostMemory {
    arguments: HashSet<usize>,
}

impl HostMemory {
    /// Reads the attributes of the entry's arguments.
    pub(crate) fn new(entry: OperationRef) -> HostMemory {
        let arguments = ir::argument_attributes(entry).into_iter().enumerate();
        let is_host = |attributes| {
            let marks = [attribute_names::EXTENTS, attribute_names::RESULT_EXTENTS, attribute_names::CONTEXT];
            marks.iter().any(|mark| attributes::entry(attributes, mark).is_some())
        };
        HostMemory {
            arguments: arguments.filter(|(_, attributes)| is_host(*attributes)).map(|(n, _)| n).collect(),
        }
    }

    /// Whether a memref is in host memory.
    pub(crate) fn holds(&self, value: Value) -> bool {
        let root = memref::root(value);
        if let Some(argument) = argument(root) {
            // Arguments of loops are never roots of host memory.
            let owner = argument.owner().parent_operation();
            let is_entry = owner.is_some_and(|op| ir::name(op) == ops::func::FUNC);
            return is_entry && self.arguments.contains(&argument.argument_number());
        }
        let op = ir::definition(root).map(|(op, _)| ir::name(op));
        matches!(op.as_deref(), Some(ops::memref::ALLOCA | ops::memref::GET_GLOBAL))
    }
}

/// Whether a memref is a constant of the module.
pub(crate) fn is_constant(value: Value) -> bool {
    let op = ir::definition(memref::root(value)).map(|(op, _)| ir::name(op));
    op.as_deref() == Some(ops::memref::GET_GLOBAL)
}

/// Whether a value is an array.
pub(crate) fn is_array<'c>(value: Value<'c, '_>) -> bool {
    use melior::ir::TypeLike;
    value.r#type().is_mem_ref()
}
