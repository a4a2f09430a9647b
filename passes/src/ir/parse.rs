// SPDX-License-Identifier: Apache-2.0
//! Parses types.

use crate::error::CodegenError;
use melior::Context;
use melior::ContextRef;
use melior::ir::Type;

/// Parses a type from text that the compiler generated.
///
/// # Errors
/// [`CodegenError::Module`] if MLIR cannot parse it.
pub fn parse_type<'c>(context: ContextRef<'c>, text: &str) -> Result<Type<'c>, CodegenError> {
    // SAFETY: a context outlives its types.
    let context: &'c Context = unsafe { context.to_ref() };
    Type::parse(context, text).ok_or_else(|| CodegenError::Module(format!("not a type: {text}")))
}
