// SPDX-License-Identifier: Apache-2.0
//! Finds the definitions of the extents of tensors and memrefs.

use crate::ir::arith::Select;
use crate::ir::{self, ops, shape, types};
use melior::ir::operation::{OperationLike, OperationRef, OperationResult};
use melior::ir::{Value, ValueLike};
use skript_dialect::op;

/// The definition of one extent of a tensor or a memref.
pub(crate) enum Definition<'c, 'a> {
    /// A static extent.
    Fixed(i64),
    /// An index that is an operand of the operation that creates the tensor.
    Value(Value<'c, 'a>),
    /// The extent of a dimension of another tensor.
    Same(Value<'c, 'a>, usize),
    /// The product of the extents of several dimensions of another tensor.
    Product(Value<'c, 'a>, Vec<usize>),
    /// No operation defines the extent.
    Unknown,
}

/// The definition of an extent, from the operation that defines the tensor.
pub(crate) fn definition<'c: 'a, 'a>(tensor: Value<'c, 'a>, dimension: usize) -> Definition<'c, 'a> {
    let extents = types::shape(tensor.r#type());
    match extents.get(dimension) {
        Some(&types::DYNAMIC) => {}
        Some(fixed) => return Definition::Fixed(*fixed),
        None => return Definition::Unknown,
    }
    // Operations only list the dynamic extents.
    let position = extents.iter().take(dimension).filter(|extent| **extent == types::DYNAMIC).count();
    let result = OperationResult::try_from(tensor).ok();
    result.and_then(|result| of_result(&result, dimension, position)).unwrap_or(Definition::Unknown)
}

fn of_result<'c: 'a, 'a>(
    result: &OperationResult<'c, 'a>,
    dimension: usize,
    position: usize,
) -> Option<Definition<'c, 'a>> {
    let op = result.owner();
    let same = |other| Definition::Same(other, dimension);
    match ir::name(op).as_str() {
        ops::tensor::EMPTY
        | ops::tensor::SPLAT
        | ops::tensor::EXPAND_SHAPE
        | ops::tensor::EXTRACT_SLICE
        | ops::memref::ALLOC
        | ops::memref::EXPAND_SHAPE
        | ops::memref::SUBVIEW
        | ops::memref::VIEW => shape::dynamic_size(op, position).map(Definition::Value),
        ops::tensor::CAST | ops::memref::CAST => ir::operand(op).ok().map(same),
        ops::tensor::INSERT_SLICE => shape::InsertSlice::cast(op)?.destination().ok().map(same),
        ops::tensor::COLLAPSE_SHAPE | ops::memref::COLLAPSE_SHAPE => {
            let source = ir::operand(op).ok()?;
            let extents = types::shape(source.r#type());
            let mut merged = shape::reassociation(op)?.get(dimension)?.clone();
            merged.retain(|dimension| extents.get(*dimension) != Some(&1));
            Some(match merged.as_slice() {
                [only] => Definition::Same(source, *only),
                _ => Definition::Product(source, merged),
            })
        }
        // Their last operands are the destinations, one for each result.
        name if matches!(name, ops::skript::FORMULA | ops::skript::INTRINSIC)
            || name.starts_with("linalg.") =>
        {
            ir::operands::destination(op, result.result_number()).map(same)
        }
        _ if computes_elements(op) => {
            op.operands().find(|operand| types::shape(operand.r#type()).len() == rank(result)).map(same)
        }
        _ => None,
    }
}

fn rank(result: &OperationResult) -> usize {
    types::shape(result.r#type()).len()
}

/// Whether an operation has the elementwise trait and computes elements. An `arith.select` with a scalar condition and tensors of dynamic
/// extents selects a tensor. Its operands may have different extents, like results of branches.
pub(crate) fn computes_elements(op: OperationRef) -> bool {
    let is_dynamic = |tensor: Value| types::shape(tensor.r#type()).contains(&types::DYNAMIC);
    let selects_tensors = Select::cast(op).is_some_and(|select| {
        let condition = select.condition();
        condition.is_ok_and(|condition| types::extents(condition.r#type()).is_none())
            && select.then().is_ok_and(is_dynamic)
    });
    op::has_elementwise_trait(&op) && !selects_tensors
}
