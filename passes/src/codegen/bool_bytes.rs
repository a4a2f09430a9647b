// SPDX-License-Identifier: Apache-2.0
//! `skript-access-bool-bytes`: loads and stores bools as bytes.
//!
//! A bool in memory is a byte with the value 0 or 1. LLVM (22) does not vectorize loops that load or store values of type i1,
//! because their size is not that of their memory.
//!
//! Requires: the dialect `llvm`. Guarantees: no scalar load or store has type i1.

use crate::ir::{self, Builder, mutation, ops, types};
use melior::ir::ValueLike;
use melior::ir::operation::{OperationLike, OperationRef};
use skript_dialect::{Dialect, Pass, op};

/// The pass `skript-access-bool-bytes`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-access-bool-bytes",
    summary: "load and store bools as bytes, because LLVM does not vectorize accesses of type i1",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Llvm],
    run: |root, _, rewriter| {
        let context = rewriter.context();
        let flag = types::flag(context);
        for access in ir::nested(root) {
            if op::is(&access, ops::llvm::STORE) {
                let value = access.operand(0)?;
                if value.r#type() == flag {
                    let at = Builder::before(context, access)?;
                    let byte = at.value(ops::llvm::ZEXT, &[value], &[], types::i8(context))?;
                    ir::use_instead(access, 0, byte);
                }
            } else if op::is(&access, ops::llvm::LOAD) && ir::result(access)?.r#type() == flag {
                load_byte(access, &Builder::before(context, access)?)?;
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Changes a load of a bool to a load of its byte, which is truncated after it.
fn load_byte<'c: 'a, 'a>(load: OperationRef<'c, 'a>, at: &Builder<'c, 'a>) -> Result<(), melior::Error> {
    let byte = ir::result(load)?;
    let truncation = at.create(ops::llvm::TRUNC, &[byte], &[], &[byte.r#type()], Vec::new())?;
    ir::move_before(load, truncation);
    ir::replace_uses(byte, ir::result(truncation)?);
    ir::use_instead(truncation, 0, byte);
    mutation::retype(byte, types::i8(at.context));
    Ok(())
}
