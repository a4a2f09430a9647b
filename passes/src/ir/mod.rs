// SPDX-License-Identifier: Apache-2.0
//! Builds and reads IR, with short names for verbose calls of melior.

pub mod arith;
pub mod attribute_names;
pub mod attributes;
pub mod builder;
pub mod context;
pub mod conversion;
pub mod copy;
pub mod dense;
pub mod effects;
pub mod func;
pub mod linalg;
pub mod location;
pub mod maps;
pub mod memref;
pub mod mutation;
pub mod operands;
pub mod ops;
pub mod outline;
pub mod parse;
pub mod read_back;
pub mod regions;
pub mod run;
pub mod scf;
pub mod shape;
pub mod skript;
pub mod splat;
pub mod splice;
pub mod typed;
pub mod types;
pub mod uses;
pub mod vector;
pub mod walk;

pub use attributes::inherent;
pub use builder::Builder;
pub use builder::operations;
pub use conversion::replace_each;
pub use copy::{Copier, arguments, operation_name as name};
pub use func::{
    append_argument, argument_attributes, body, entry, retype, set_signature, signature, symbols,
    uncalled_entry,
};
pub use mutation::{set as set_attribute, set_operand as use_instead, set_operands, set_string};
pub use operands::{both_operands, destination, operand, result};
pub use parse::{append_functions, parse_attribute, parse_type, template};
pub use run::{bounded, collecting, context as new_context, load_all, run_pipeline};
pub use uses::{ancestor_in, definition, erase, is_before, key, move_before, replace_uses, users};
pub use walk::{blocks, first_block, nested};

use melior::ir::block::BlockArgument;
use melior::ir::{Value, ValueLike};

/// Identity of a value, for maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueKey(usize);

impl ValueKey {
    pub fn of<'c>(value: impl ValueLike<'c>) -> Self {
        ValueKey(value.to_raw().ptr as usize)
    }
}

/// The block argument that a value is. For any other value, melior's conversion would print the whole function into its
/// error.
pub fn argument<'c, 'a>(value: Value<'c, 'a>) -> Option<BlockArgument<'c, 'a>> {
    let is_argument = value.is_block_argument();
    is_argument
        .then(|| BlockArgument::try_from(value).ok())
        .flatten()
}

/// The first `count` items; all if there are fewer.
pub fn first<T>(items: &[T], count: usize) -> &[T] {
    items.get(..count).unwrap_or(items)
}

/// The last `count` items; all if there are fewer.
pub fn last<T>(items: &[T], count: usize) -> &[T] {
    items
        .get(items.len().saturating_sub(count)..)
        .unwrap_or(items)
}

/// The values of a slice with the type that operand lists want.
pub fn values<'c, 'a, T: Copy + Into<Value<'c, 'a>>>(items: &[T]) -> Vec<Value<'c, 'a>> {
    items.iter().map(|v| (*v).into()).collect()
}
