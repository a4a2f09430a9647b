// SPDX-License-Identifier: Apache-2.0
//! Changes operations in place.

use super::{attributes, context as holder};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationMutLike, OperationRefMut};
use melior::ir::{Attribute, BlockRef, Location, OperationRef, Type, TypeLike, Value, ValueLike};

/// Sets an attribute of the operation.
pub fn set<'c: 'a, 'a>(op: OperationRef<'c, 'a>, name: &str, value: Attribute<'c>) {
    // SAFETY: the operation is valid, and no other reference changes it during the call.
    let mut op: OperationRefMut<'c, 'a> = unsafe { OperationRefMut::from_raw(op.to_raw()) };
    op.set_attribute(name, value);
}

/// Removes an attribute, if it is present.
pub fn remove<'c: 'a, 'a>(op: OperationRef<'c, 'a>, name: &str) {
    // SAFETY: as in `set`.
    let mut op: OperationRefMut<'c, 'a> = unsafe { OperationRefMut::from_raw(op.to_raw()) };
    let _ = op.remove_attribute(name);
}

/// Sets the location of an operation.
pub(crate) fn set_location<'c: 'a, 'a>(op: OperationRef<'c, 'a>, location: Location<'c>) {
    // SAFETY: both are alive, and in one context.
    unsafe { mlir_sys::mlirOperationSetLocation(op.to_raw(), location.to_raw()) };
}

/// Replaces an operand by another value of the same type.
pub(crate) fn set_operand<'c: 'a, 'a>(op: OperationRef<'c, 'a>, position: usize, value: Value<'c, 'a>) {
    // SAFETY: as in `set`.
    let mut op: OperationRefMut<'c, 'a> = unsafe { OperationRefMut::from_raw(op.to_raw()) };
    op.set_operand(position, value);
}

/// Replaces all operands; their number may change.
pub(crate) fn set_operands<'c: 'a, 'a>(op: OperationRef<'c, 'a>, operands: &[Value<'c, 'a>]) {
    // SAFETY: as in `set`.
    let mut op: OperationRefMut<'c, 'a> = unsafe { OperationRefMut::from_raw(op.to_raw()) };
    op.set_operands(operands);
}

/// Removes an argument without uses from a block.
pub(crate) fn erase_argument(block: BlockRef, number: usize) {
    debug_assert!(number < block.argument_count());
    // SAFETY: the block is alive and has the argument, which nothing uses.
    unsafe { block.erase_argument(number) };
}

/// Adds arguments before the other arguments of a block.
pub(crate) fn prepend_arguments<'c: 'a, 'a>(
    block: BlockRef<'c, 'a>,
    types: &[Type<'c>],
    location: Location<'c>,
) -> Vec<Value<'c, 'a>> {
    let arguments = types.iter().enumerate().map(|(number, r#type)| {
        // SAFETY: the block is alive, and has at least `number` arguments.
        unsafe {
            let (position, r#type) = (number as isize, r#type.to_raw());
            let location = location.to_raw();
            Value::from_raw(mlir_sys::mlirBlockInsertArgument(block.to_raw(), position, r#type, location))
        }
    });
    arguments.collect()
}

/// Sets the type of a value; its definition and its users must accept the type.
pub fn retype(value: Value, r#type: Type) {
    // SAFETY: the value is alive.
    unsafe { mlir_sys::mlirValueSetType(value.to_raw(), r#type.to_raw()) }
}

/// Sets a string attribute.
pub fn set_string(op: OperationRef, name: &str, value: &str) {
    let owner = op.context();
    set(op, name, attributes::string(holder::borrow(&owner), value));
}
