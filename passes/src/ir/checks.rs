//! Run-time checks in IR: calls of declared functions whose first operand is what must hold.

use melior::ir::OperationRef;
use melior::ir::attribute::FlatSymbolRefAttribute;
use melior::ir::operation::OperationLike;

/// Symbols of checks begin so; the number of values follows.
pub const PREFIX: &str = "skript.check.";
/// Attribute of a check: the diagnostic's code.
pub const CODE: &str = "skript.code";
/// Attribute of a check: what to say, in the format of [`skript_runtime::artifact::Check`].
pub const MESSAGE: &str = "skript.message";

/// Whether an operation is the call of a check; its first operand is what must hold.
pub fn is_check(op: OperationRef<'_, '_>) -> bool {
    let callee = op.attribute("callee").ok();
    let callee = callee.and_then(|a| FlatSymbolRefAttribute::try_from(a).ok());
    callee.is_some_and(|callee| callee.value().starts_with(PREFIX))
}

/// Attribute of a formula that only checks use.
pub const SEARCH: &str = "skript.search";
