// SPDX-License-Identifier: Apache-2.0
//! `skript-lower-invocations`: lowers invocations that were not inlined to calls of their functions.
//!
//! These are invocations of operators that no backend resolved, of operators that invoke themselves, and of functions
//! that are defined elsewhere.
//!
//! Requires: the callee is a `func.func`. Guarantees: no invocations remain.

use crate::ir::func::callee;
use crate::ir::ops;
use crate::ir::{Builder, replace_each};
use skript_dialect::melior::ir::attribute::FlatSymbolRefAttribute;
use skript_dialect::melior::ir::operation::OperationLike;
use skript_dialect::melior::ir::{Type, Value, ValueLike};
use skript_dialect::{Dialect, Pass, op};

pub(crate) const PASS: Pass = Pass {
    flag: "skript-lower-invocations",
    summary: "lower unresolved invocations to calls",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Func],
    run: |root, _, rewriter| {
        let functions = super::functions(root);
        let invocations = op::collect(&root, |op| op::is(&op, ops::skript::INVOKE));
        replace_each(invocations, rewriter, |invocation| {
            let name = callee(invocation).ok_or("names no function")?;
            if !functions.contains_key(&name) {
                return Err(format!("invokes '{name}', which is not a func.func").into());
            }
            let callee = FlatSymbolRefAttribute::new(rewriter.context(), &name);
            let operands: Vec<Value> = invocation.operands().collect();
            let results: Vec<Type> = invocation.results().map(|r| r.r#type()).collect();
            let at = Builder::before(rewriter.context(), invocation)?;
            let callee = [("callee", callee.into())];
            let call = at.create(ops::func::CALL, &operands, &callee, &results, Vec::new())?;
            Ok(call.results().map(Into::into).collect())
        })
    },
    ..Pass::NONE
};
