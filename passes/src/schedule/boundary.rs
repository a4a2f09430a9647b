//! Queries and edits through MLIR's C API that melior has no safe form for. The only unsafe code of lowerings.

use crate::ir::{self, attributes, ops, regions};
use melior::Context;
use melior::ir::attribute::FlatSymbolRefAttribute;
use melior::ir::block::BlockLike;
use melior::ir::operation::{Operation, OperationBuilder, OperationLike, OperationRef};
use melior::ir::operation::{WalkOrder, WalkResult};
use melior::ir::r#type::MemRefType;
use melior::ir::{Identifier, Type, Value, ValueLike};
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

/// A new array before an operation.
///
/// # Errors
/// The builder's error.
pub fn array_before<'c, 'a>(
    anchor: OperationRef<'c, 'a>,
    r#type: &str,
) -> Result<Value<'c, 'a>, String> {
    let owner = anchor.context();
    let builder = regions::before(anchor, &owner).map_err(|e| e.to_string())?;
    let kind = ir::parse_type(anchor.context(), r#type).map_err(|e| e.to_string())?;
    let none = (
        "operandSegmentSizes",
        attributes::i32s(builder.context, &[0, 0]),
    );
    let alignment = ("alignment", attributes::i64(builder.context, 64));
    let array = builder.value(ops::memref::ALLOC, &[], &[none, alignment], kind);
    array.map_err(|e| e.to_string())
}

/// The array as a value of this type, before an operation: itself, or a pointer to its first element.
///
/// # Errors
/// The builder's error.
pub fn static_before<'c, 'a>(
    anchor: OperationRef<'c, 'a>,
    array: Value<'c, 'a>,
    r#type: &str,
) -> Result<Value<'c, 'a>, String> {
    if array.r#type().to_string() == r#type {
        return Ok(array);
    }
    let owner = anchor.context();
    let builder = regions::before(anchor, &owner).map_err(|e| e.to_string())?;
    let kind = ir::parse_type(anchor.context(), r#type).map_err(|e| e.to_string())?;
    let memref = MemRefType::try_from(kind).map_err(|e| e.to_string())?;
    let (_, offset) = memref.strides_and_offset();
    let list = |values: &[i64]| attributes::i64s(builder.context, values);
    let none = attributes::i32s(builder.context, &[1, 0, 0, 0]);
    let attributes = [
        ("operandSegmentSizes", none),
        ("static_offsets", list(&[offset])),
        ("static_sizes", list(&[1])),
        ("static_strides", list(&[1])),
    ];
    let view = builder.value(ops::memref::REINTERPRET_CAST, &[array], &attributes, kind);
    view.map_err(|e| e.to_string())
}

/// An extent of an array, before an operation.
///
/// # Errors
/// The builder's error.
pub fn extent_before<'c, 'a>(
    anchor: OperationRef<'c, 'a>,
    array: Value<'c, 'a>,
    dimension: usize,
) -> Result<Value<'c, 'a>, String> {
    let dimension = index_before(anchor, i64::try_from(dimension).unwrap_or(i64::MAX))?;
    let owner = anchor.context();
    let builder = regions::before(anchor, &owner).map_err(|e| e.to_string())?;
    let index = Type::index(builder.context);
    let extent = builder.value(ops::memref::DIM, &[array, dimension], &[], index);
    extent.map_err(|e| e.to_string())
}

/// The number of tiles that cover an extent, before an operation.
///
/// # Errors
/// The builder's error.
pub fn tiles_before<'c, 'a>(
    anchor: OperationRef<'c, 'a>,
    extent: Value<'c, 'a>,
    factor: i64,
) -> Result<Value<'c, 'a>, String> {
    let factor = index_before(anchor, factor)?;
    let owner = anchor.context();
    let builder = regions::before(anchor, &owner).map_err(|e| e.to_string())?;
    let index = Type::index(builder.context);
    let tiles = builder.value(ops::arith::CEILDIVUI, &[extent, factor], &[], index);
    tiles.map_err(|e| e.to_string())
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
