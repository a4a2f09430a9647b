//! Tensors without elements among the entry's arguments: nothing of them is read or written.
//!
//! MLIR has no bare pointer for arrays such as `memref<3x0xf32>`, whose strides are not defined. A placeholder keeps
//! their place in the table of pointers.

use super::error::CodegenError;
use super::mlir;
use crate::mlir::types;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Type, TypeLike, Value, ValueLike};

/// The type of a placeholder: one byte that nobody touches.
const PLACEHOLDER: &str = "i8";

pub fn is_empty(r#type: Type) -> bool {
    types::extents(r#type).is_some_and(|extents| extents.contains(&0))
}

/// Adds a placeholder argument.
///
/// # Errors
/// [`CodegenError::Module`] if the entry is malformed.
pub fn append_placeholder(entry: OperationRef) -> Result<(), CodegenError> {
    let r#type = mlir::parse_type(entry.context(), &format!("memref<1x{PLACEHOLDER}>"))?;
    mlir::append_argument(entry, r#type, "{llvm.noalias}")?;
    Ok(())
}

/// Lets whoever uses an argument without elements use a tensor made on the spot.
///
/// # Errors
/// [`CodegenError::Module`] if the entry is malformed.
pub fn detach_arguments(entry: OperationRef) -> Result<(), CodegenError> {
    let body = mlir::body(entry)?;
    let first = body.first_operation();
    // SAFETY: a context outlives its modules.
    let owner = entry.context();
    let context = unsafe { owner.to_ref() };
    for n in 0..body.argument_count() {
        let wrong = |e: melior::Error| CodegenError::Module(e.to_string());
        let argument: Value = body.argument(n).map_err(wrong)?.into();
        let r#type = argument.r#type();
        if !is_empty(r#type) {
            continue;
        }
        let text = format!("%v = tensor.empty() : {}", r#type);
        let fresh = mlir::template(context, &[], &text, entry.location())?;
        let fresh = match first {
            Some(first) => body.insert_operation_before(first, fresh),
            None => body.append_operation(fresh),
        };
        mlir::replace_uses(argument, fresh.result(0).map_err(wrong)?.into());
        let placeholder = mlir::parse_type(entry.context(), &format!("tensor<1x{PLACEHOLDER}>"))?;
        // SAFETY: argument and type are alive; the argument has no uses any more.
        unsafe { mlir_sys::mlirValueSetType(argument.to_raw(), placeholder.to_raw()) };
    }
    mlir::set_signature(entry, None)
}
