// SPDX-License-Identifier: Apache-2.0
//! Alias scopes for memory that the entry's table of pointers refers to, which is read-only.
//!
//! `llvm.noalias` asserts that writes through an argument do not change the memory of others. It does not apply to loaded
//! pointers, so LLVM would not vectorize a loop that reads memory through them. Applies to the model in the LLVM dialect.

use crate::error::CodegenError;
use crate::ir;
use crate::ir::attribute_names;
use crate::ir::attributes;
use crate::ir::llvm::{ElementPointer, Load, Store};
use crate::ir::ops;
use melior::ir::Value;
use melior::ir::attribute::ArrayAttribute;
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationRef;

/// Returns the index of the model's argument that is its table of pointers.
pub(crate) fn position(model: OperationRef) -> Option<usize> {
    let is_table = |dictionary| attributes::entry(dictionary, attribute_names::TABLE).is_some();
    ir::argument_attributes(model).into_iter().position(is_table)
}

/// Adds every load through the table to the alias scope, and marks all other accesses as outside of the scope.
pub(crate) fn add_alias_scopes(model: OperationRef) -> Result<(), CodegenError> {
    let Some(table) = position(model) else {
        return Ok(());
    };
    let context = ir::context::of(model);
    // The scope of all memory that the table points to.
    let scopes = ArrayAttribute::new(context, &[attributes::alias_scope(context)]).into();
    for op in ir::nested(model) {
        let address = match (Load::cast(op), Store::cast(op)) {
            (Some(load), _) => load.address(),
            (_, Some(store)) => store.address(),
            (None, None) => continue,
        };
        match Base::find(address?, model, table) {
            Base::Tabled => ir::set_attribute(op, "alias_scopes", scopes),
            Base::Local => ir::set_attribute(op, "noalias_scopes", scopes),
            Base::Unknown => {}
        }
    }
    Ok(())
}

/// The origin of an address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    /// A pointer from the table.
    Tabled,
    /// An argument, or stack memory.
    Local,
    Unknown,
}

impl Base {
    fn find<'c: 'a, 'a>(address: Value<'c, 'a>, model: OperationRef<'c, 'a>, table: usize) -> Base {
        let mut address = address;
        while let Some(base) = ElementPointer::of(address).and_then(|op| op.base().ok()) {
            address = base;
        }
        let slot = Load::of(address).and_then(|load| load.address().ok());
        if slot.is_some_and(|slot| is_slot(slot, model, table)) {
            Base::Tabled
        } else if argument(address, model).is_some() || ir::defined_by(address, ops::llvm::ALLOCA).is_some() {
            Base::Local
        } else {
            Base::Unknown
        }
    }
}

/// Whether an address is a slot of the table.
fn is_slot<'c: 'a, 'a>(slot: Value<'c, 'a>, model: OperationRef<'c, 'a>, table: usize) -> bool {
    let base = match ir::defining_op(slot) {
        Some(op) => ElementPointer::cast(op).and_then(|op| op.base().ok()),
        None => Some(slot),
    };
    base.and_then(|base| argument(base, model)) == Some(table)
}

/// Returns the index of the function argument that the value is.
fn argument<'c: 'a, 'a>(value: Value<'c, 'a>, model: OperationRef<'c, 'a>) -> Option<usize> {
    let argument = crate::ir::argument(value)?;
    let first = ir::first_block(model)?;
    (argument.owner().to_raw().ptr == first.to_raw().ptr).then(|| argument.argument_number())
}
