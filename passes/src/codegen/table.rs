// SPDX-License-Identifier: Apache-2.0
//! Alias scopes for memory that the entry's table of pointers refers to, which is never written.
//!
//! For two arguments, LLVM knows that no write through one changes the other (`llvm.noalias`). It knows nothing of a
//! pointer that was loaded, so it would not vectorize a loop that reads many of them. On the model in the LLVM dialect.

use crate::error::CodegenError;
use crate::ir;
use crate::ir::attribute_names;
use crate::ir::attributes;
use crate::ir::llvm::{ElementPointer, Load, Store};
use crate::ir::ops;
use melior::ir::Value;
use melior::ir::attribute::ArrayAttribute;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};

/// The scope of everything that the table points at.
const SCOPE: &str = "#llvm.alias_scope<id = distinct[0]<>, domain = <id = distinct[1]<>>>";

/// The argument of the model that is its table of pointers.
pub(crate) fn position(model: OperationRef) -> Option<usize> {
    let dictionaries = ir::argument_attributes(model);
    let is_table = |own| attributes::entry(own, attribute_names::TABLE).is_some();
    dictionaries.into_iter().position(is_table)
}

/// Marks every load through the table with the scope, and all other accesses as outside of it.
///
/// # Errors
/// [`CodegenError::Module`] if the LLVM dialect does not accept the scope.
pub(crate) fn add_alias_scopes(model: OperationRef) -> Result<(), CodegenError> {
    let Some(table) = position(model) else {
        return Ok(());
    };
    let context = ir::context::of(model);
    let scope = ir::parse_attribute(model.context(), SCOPE)?;
    let scopes = ArrayAttribute::new(context, &[scope]).into();
    for op in ir::nested(model) {
        let address = match (Load::cast(op), Store::cast(op)) {
            (Some(load), _) => load.address(),
            (_, Some(store)) => store.address(),
            (None, None) => continue,
        };
        let address = address.map_err(|e| CodegenError::Module(e.to_string()))?;
        match Base::of(address, model, table) {
            Base::Tabled => ir::set_attribute(op, "alias_scopes", scopes),
            Base::Own => ir::set_attribute(op, "noalias_scopes", scopes),
            Base::Unknown => {}
        }
    }
    Ok(())
}

/// The origin of an address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    /// A pointer out of the table.
    Tabled,
    /// An argument, or memory of the function.
    Own,
    Unknown,
}

impl Base {
    fn of<'c: 'a, 'a>(address: Value<'c, 'a>, model: OperationRef<'c, 'a>, table: usize) -> Base {
        let mut address = address;
        while let Some(base) = ElementPointer::of(address).and_then(|op| op.base().ok()) {
            address = base;
        }
        let slot = Load::of(address).and_then(|load| load.address().ok());
        match ir::definition(address) {
            None => Base::of_argument(address, model),
            Some(_) if slot.is_some_and(|slot| is_slot(slot, model, table)) => Base::Tabled,
            Some((op, _)) if ir::name(op) == ops::llvm::ALLOCA => Base::Own,
            Some(_) => Base::Unknown,
        }
    }

    fn of_argument<'c: 'a, 'a>(place: Value<'c, 'a>, model: OperationRef<'c, 'a>) -> Base {
        match argument(place, model) {
            Some(_) => Base::Own,
            None => Base::Unknown,
        }
    }
}

/// Whether the address is one of a slot of the table.
fn is_slot<'c: 'a, 'a>(slot: Value<'c, 'a>, model: OperationRef<'c, 'a>, table: usize) -> bool {
    let base = match ir::definition(slot) {
        Some((op, _)) => ElementPointer::cast(op).and_then(|op| op.base().ok()),
        None => Some(slot),
    };
    base.and_then(|base| argument(base, model)) == Some(table)
}

/// The argument of the function that a value is.
fn argument<'c: 'a, 'a>(value: Value<'c, 'a>, model: OperationRef<'c, 'a>) -> Option<usize> {
    let argument = crate::ir::argument(value)?;
    let first = ir::first_block(model)?;
    (argument.owner().to_raw().ptr == first.to_raw().ptr).then(|| argument.argument_number())
}
