// SPDX-License-Identifier: Apache-2.0
//! Queries and copies of operations that melior does not have.

use crate::ffi;
use melior::ir::attribute::AttributeLike;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, WalkOrder, WalkResult};
use melior::ir::{Attribute, Operation, OperationRef, RegionLike, Type, TypeLike, Value, ValueLike};

/// Whether an operation has the Elementwise trait (with Scalarizable, Vectorizable and Tensorizable), whatever its
/// dialect.
pub fn has_elementwise_trait<'c: 'a, 'a>(op: &impl OperationLike<'c, 'a>) -> bool {
    // SAFETY: the operation is valid.
    unsafe { ffi::skriptOperationIsElementwise(op.to_raw()) }
}

/// Whether an operation and all nested operations have no memory effects.
pub fn is_pure<'c: 'a, 'a>(op: &impl OperationLike<'c, 'a>) -> bool {
    // SAFETY: the operation is valid.
    unsafe { ffi::skriptOperationIsPure(op.to_raw()) }
}

/// Whether an operation may be speculated: it has no memory effects, and no operand makes its behaviour undefined.
pub fn is_speculatable<'c: 'a, 'a>(op: &impl OperationLike<'c, 'a>) -> bool {
    // SAFETY: the operation is valid.
    unsafe { ffi::skriptOperationIsSpeculatable(op.to_raw()) }
}

/// Whether any operation uses a value.
pub fn is_used<'c>(value: impl ValueLike<'c>) -> bool {
    // SAFETY: the value is valid.
    unsafe { !mlir_sys::mlirOpOperandIsNull(mlir_sys::mlirValueGetFirstUse(value.to_raw())) }
}

/// Creates a detached copy with other operands and result types. Name, attributes, properties, location and regions are
/// kept; captured values of the regions too.
///
/// The scalar form of an elementwise operation is `clone_with(op, scalars, element types)`.
pub fn clone_with<'c: 'a, 'a>(
    op: &impl OperationLike<'c, 'a>,
    operands: &[Value<'c, '_>],
    results: &[Type<'c>],
) -> Operation<'c> {
    let operands: Vec<_> = operands.iter().map(|v| v.to_raw()).collect();
    let results: Vec<_> = results.iter().map(|t| t.to_raw()).collect();
    // SAFETY: operation, values and types are valid and of one context; the new operation has no other owner.
    unsafe {
        Operation::from_raw(ffi::skriptOperationCloneWith(
            op.to_raw(),
            operands.len() as isize,
            operands.as_ptr(),
            results.len() as isize,
            results.as_ptr(),
        ))
    }
}

/// Replaces operations below `root` without memory effects by equal earlier ones, and erases unused ones. Unlike
/// upstream `cse`, it takes linear time, because the hash includes the regions.
pub fn merge_duplicates<'c: 'a, 'a>(root: &impl OperationLike<'c, 'a>) {
    // SAFETY: the operation is valid; callers hold no references below it.
    unsafe { ffi::skriptMergeDuplicates(root.to_raw()) }
}

/// A hash of a function without its name and locations. Equal functions have equal hashes, except functions that differ in the order
/// of operands of a commutative operation. The hash differs between processes.
pub fn fingerprint<'c: 'a, 'a>(function: &impl OperationLike<'c, 'a>) -> usize {
    // SAFETY: the operation is valid, and only read.
    unsafe { ffi::skriptFingerprint(function.to_raw()) }
}

/// Whether two functions are equal except for their names and locations.
pub fn are_equal_functions<'c: 'a + 'b, 'a, 'b>(
    left: &impl OperationLike<'c, 'a>,
    right: &impl OperationLike<'c, 'b>,
) -> bool {
    // SAFETY: as in `fingerprint`.
    unsafe { ffi::skriptAreEqualFunctions(left.to_raw(), right.to_raw()) }
}

/// Whether an attribute is the iterator type of a `linalg` loop that reduces.
pub fn is_reduction(iterator: Attribute) -> bool {
    // SAFETY: the attribute is valid.
    unsafe { ffi::skriptIsReduction(iterator.to_raw()) }
}

/// Fuses elementwise `linalg.generic` operations below `root` into their only users, as long as the result has at most
/// `operations` operations in its payload and reads at most `inputs` tensors; with `maps_only`, not into reductions. Returns
/// false if the rewriting did not converge.
pub fn fuse_elementwise<'c: 'a, 'a>(
    root: &impl OperationLike<'c, 'a>,
    operations: u32,
    inputs: u32,
    maps_only: bool,
) -> bool {
    // SAFETY: as in `merge_duplicates`.
    unsafe { ffi::skriptFuseElementwise(root.to_raw(), operations, inputs, maps_only) }
}

/// Computes elementwise `linalg.generic` operations below `root` in the payloads of users that read each of their elements once:
/// in the only user, if it is a reduction, or in all users, if an element takes a few operations. Bounds and result are those
/// of [`fuse_elementwise`].
pub fn compute_in_users<'c: 'a, 'a>(root: &impl OperationLike<'c, 'a>, operations: u32, inputs: u32) -> bool {
    // SAFETY: as in `merge_duplicates`.
    unsafe { ffi::skriptComputeInUsers(root.to_raw(), operations, inputs) }
}

/// Inserts operations that compute a tile of a `skript.formula`, before the formula. Returns the contents of `destinations` after
/// the steps of the tile, which begins at `low` and has `extents` steps along each loop. Without `guarded`, the predicate is
/// omitted: it must hold in the whole tile. `None` if the operation is not a formula
/// or runs in order (reported), and for lists of the wrong length.
pub fn compute_part<'c: 'a, 'a>(
    formula: &OperationRef<'c, 'a>,
    destinations: &[Value<'c, 'a>],
    low: &[i64],
    extents: &[i64],
    guarded: bool,
) -> Option<Vec<Value<'c, 'a>>> {
    let indices = formula.region(1).ok()?.first_block()?.argument_count();
    if !is(formula, "skript.formula")
        || destinations.len() != formula.result_count()
        || [low.len(), extents.len()] != [indices.checked_sub(destinations.len())?; 2]
    {
        return None;
    }
    let mut values: Vec<_> = destinations.iter().map(|v| v.to_raw()).collect();
    let given = values.clone();
    // SAFETY: the operation is a formula, and the lists have its numbers of destinations and of index variables.
    unsafe {
        ffi::skriptComputePart(
            formula.to_raw(),
            given.as_ptr(),
            low.as_ptr(),
            extents.as_ptr(),
            guarded,
            values.as_mut_ptr(),
        )
        .then(|| values.into_iter().map(|v| Value::from_raw(v)).collect())
    }
}

/// The operation's full name, as in `skript.add`.
pub fn name<'c: 'a, 'a>(op: &impl OperationLike<'c, 'a>) -> String {
    op.name().as_string_ref().as_str().unwrap_or_default().to_string()
}

/// Whether the operation has this full name.
pub fn is<'c: 'a, 'a>(op: &impl OperationLike<'c, 'a>, name: &str) -> bool {
    // SAFETY: the identifier is valid, and its bytes outlive the comparison.
    let name_bytes = unsafe {
        let text = mlir_sys::mlirIdentifierStr(op.name().to_raw());
        match text.length {
            0 => &[][..],
            length => std::slice::from_raw_parts(text.data.cast::<u8>(), length),
        }
    };
    name_bytes == name.as_bytes()
}

/// Names of the attributes that are not part of the operation's definition.
pub fn discardable_attributes<'c: 'a, 'a>(op: impl OperationLike<'c, 'a>) -> Vec<String> {
    // SAFETY: the operation is valid, positions are below the count, and names live as long as the context.
    unsafe {
        let count = mlir_sys::mlirOperationGetNumDiscardableAttributes(op.to_raw());
        let named = (0..count).map(|n| mlir_sys::mlirOperationGetDiscardableAttribute(op.to_raw(), n));
        let names = named.map(|named| mlir_sys::mlirIdentifierStr(named.name));
        names.map(|name| ffi::text(name).into_owned()).collect()
    }
}

/// The parent operation; `None` for a module.
pub fn parent<'c, 'a>(op: OperationRef<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
    let outer = op.parent_operation()?;
    // SAFETY: the parent of an operation lives at least as long as the operation.
    Some(unsafe { OperationRef::from_raw(outer.to_raw()) })
}

/// All operations below `root` (and `root` itself) for which `choose` is true: nested ones first, otherwise in textual
/// order.
///
/// The list is valid until one of its operations is erased.
pub fn collect<'c: 'a, 'a>(
    root: &impl OperationLike<'c, 'a>,
    mut choose: impl FnMut(OperationRef<'c, 'a>) -> bool,
) -> Vec<OperationRef<'c, 'a>> {
    let mut operations = Vec::new();
    root.walk(WalkOrder::PostOrder, |op| {
        // SAFETY: operations nested in `root` live as long as `root`; the caller tracks erased operations.
        let op = unsafe { OperationRef::from_raw(op.to_raw()) };
        if choose(op) {
            operations.push(op);
        }
        WalkResult::Advance
    });
    operations
}
