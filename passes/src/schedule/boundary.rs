// SPDX-License-Identifier: Apache-2.0
//! Queries and edits through MLIR's C API that melior has no safe form for. The only unsafe code of lowerings.

use crate::ir::{ops, regions};
use melior::Context;
use melior::ir::attribute::FlatSymbolRefAttribute;
use melior::ir::block::BlockLike;
use melior::ir::operation::{Operation, OperationBuilder, OperationLike, OperationRef};
use melior::ir::operation::{WalkOrder, WalkResult};
use melior::ir::{Identifier, Value, ValueLike};
use mlir_sys::{
    mlirOpResultGetOwner, mlirOperationDestroy, mlirOperationRemoveFromParent, mlirValueIsAOpResult,
};

/// The operation whose result the value is; `None` for block arguments.
pub fn defining_operation<'c, 'a>(value: Value<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
    // SAFETY: the owner of a live value is alive for as long as the value.
    unsafe {
        mlirValueIsAOpResult(value.to_raw())
            .then(|| OperationRef::from_raw(mlirOpResultGetOwner(value.to_raw())))
    }
}

/// Inserts a call of a function without results before an operation.
///
/// # Errors
/// The builder's error.
pub fn call_before<'c>(
    anchor: OperationRef<'c, '_>,
    function: &str,
    arguments: &[Value<'c, '_>],
) -> Result<(), String> {
    let owner = anchor.context();
    // SAFETY: `owner` stands until the end of the function, and nothing made here refers to it beyond.
    let context: &Context = unsafe { owner.to_ref() };
    let call = OperationBuilder::new(ops::func::CALL, anchor.location())
        .add_operands(arguments)
        .add_attributes(&[(
            Identifier::new(context, "callee"),
            FlatSymbolRefAttribute::new(context, function).into(),
        )])
        .build()
        .map_err(|e| e.to_string())?;
    insert_before(anchor, call);
    Ok(())
}

/// A constant `index` before an operation.
///
/// # Errors
/// The builder's error.
pub fn index_before<'c, 'a>(
    anchor: OperationRef<'c, 'a>,
    value: i64,
) -> Result<Value<'c, 'a>, String> {
    let owner = anchor.context();
    let builder = regions::before(anchor, &owner).map_err(|e| e.to_string())?;
    builder.index(value).map_err(|e| e.to_string())
}

/// Identifies the allocation or argument that a memref value is a view of.
pub fn root_of(value: Value<'_, '_>) -> usize {
    const VIEWS: &[&str] = &[
        ops::memref::SUBVIEW,
        ops::memref::CAST,
        ops::memref::COLLAPSE_SHAPE,
        ops::memref::EXPAND_SHAPE,
        ops::memref::REINTERPRET_CAST,
        ops::memref::VIEW,
        ops::memref::TRANSPOSE,
        ops::memref::MEMORY_SPACE_CAST,
    ];
    match defining_operation(value) {
        Some(op)
            if op
                .name()
                .as_string_ref()
                .as_str()
                .is_ok_and(|n| VIEWS.contains(&n)) =>
        {
            op.operand(0).map_or(value.to_raw().ptr as usize, root_of)
        }
        _ => value.to_raw().ptr as usize,
    }
}

/// All operations of a name below another, in order.
pub fn operations_named<'c, 'a>(
    root: OperationRef<'c, 'a>,
    name: &str,
) -> Vec<OperationRef<'c, 'a>> {
    let mut found = Vec::new();
    root.walk(WalkOrder::PreOrder, |op| {
        if op.name().as_string_ref().as_str() == Ok(name) {
            found.push(op.to_raw());
        }
        WalkResult::Advance
    });
    // SAFETY: operations below a live one are alive.
    found
        .into_iter()
        .map(|raw| unsafe { OperationRef::from_raw(raw) })
        .collect()
}

/// Inserts a new operation before another.
fn insert_before<'c, 'a>(anchor: OperationRef<'c, 'a>, operation: Operation<'c>) {
    if let Some(block) = anchor.block() {
        block.insert_operation_before(anchor, operation);
    }
}

/// Removes an operation whose results are unused.
pub fn erase(op: OperationRef<'_, '_>) {
    // SAFETY: the caller holds the only reference that is used afterwards: none.
    unsafe {
        mlirOperationRemoveFromParent(op.to_raw());
        mlirOperationDestroy(op.to_raw());
    }
}
