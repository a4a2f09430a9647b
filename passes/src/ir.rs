// SPDX-License-Identifier: Apache-2.0
//! Builds and analyzes IR, with short names for frequent combinations of calls of melior.

pub mod arith;
pub mod attribute_names;
pub mod attributes;
pub mod bufferization;
pub mod builder;
pub mod context;
pub(crate) mod conversion;
pub mod copy;
pub(crate) mod counts;
pub(crate) mod debug_info;
pub mod dense;
pub(crate) mod effects;
pub mod func;
pub mod generic;
pub(crate) mod linalg;
pub(crate) mod llvm;
pub(crate) mod location;
pub(crate) mod maps;
pub(crate) mod memref;
pub mod mutation;
pub(crate) mod numbers;
pub(crate) mod operands;
pub mod operator;
pub mod ops;
pub(crate) mod outline;
pub(crate) mod read_back;
pub mod regions;
pub(crate) mod run;
pub mod scf;
pub(crate) mod shape;
pub mod skript;
pub(crate) mod spirv;
pub mod splat;
pub(crate) mod step;
pub mod steps;
pub mod typed;
pub mod types;
pub(crate) mod uses;
pub mod vector;
pub(crate) mod walk;
pub(crate) mod work;

pub(crate) use attributes::inherent;
pub use builder::Builder;
pub use builder::operations;
pub use conversion::replace_each;
pub use copy::{arguments, operation_name as name};
pub use func::{body, entry, retype, signature};

pub(crate) use arith::{integer, is_zero, real};
pub(crate) use mutation::set_operand as use_instead;
pub use mutation::{set as set_attribute, set_string};
pub use operands::{both_operands, operand, result};
pub use run::{bounded, collecting, context as new_context, load_all, run_pipeline};
pub use uses::{definition, erase, is_before, key, replace_uses, users};
pub use walk::{blocks, children, first_block, nested};

pub(crate) use copy::Copier;
pub(crate) use counts::{segment, signed};
pub(crate) use func::{append_argument, argument_attributes, set_signature, symbols, uncalled_entry};
use melior::ir::block::BlockArgument;
use melior::ir::{Value, ValueLike};
pub(crate) use mutation::set_operands;
pub(crate) use operands::{destination, operand_at, result_at};
pub(crate) use uses::{ancestor_in, defined_by, defining_op, move_before};

/// Identity of a value, for maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueKey(usize);

impl ValueKey {
    /// The identity of a value, as long as its definition is not erased.
    pub fn of<'c>(value: impl ValueLike<'c>) -> Self {
        ValueKey(value.to_raw().ptr as usize)
    }

    /// The identity as a number.
    pub(crate) fn number(self) -> usize {
        self.0
    }
}

/// Converts a value to a block argument; `None` for a result. For a result, the error of melior's conversion would contain the
/// text of the entire function.
pub fn argument<'c, 'a>(value: Value<'c, 'a>) -> Option<BlockArgument<'c, 'a>> {
    let is_argument = value.is_block_argument();
    is_argument.then(|| BlockArgument::try_from(value).ok()).flatten()
}

/// The first `count` items; all items if there are fewer.
pub fn first<T>(items: &[T], count: usize) -> &[T] {
    items.get(..count).unwrap_or(items)
}

/// The last `count` items; all items if there are fewer.
pub fn last<T>(items: &[T], count: usize) -> &[T] {
    items.get(items.len().saturating_sub(count)..).unwrap_or(items)
}

/// Converts results or block arguments to values.
pub fn values<'c, 'a, T: Copy + Into<Value<'c, 'a>>>(items: &[T]) -> Vec<Value<'c, 'a>> {
    items.iter().map(|v| (*v).into()).collect()
}
