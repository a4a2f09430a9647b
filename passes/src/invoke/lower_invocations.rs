//! `skript-lower-invocations`: invocations that were not inlined become calls of the functions beside them.
//!
//! For operators that are kept where nobody took them, operators that invoke themselves, and functions that are defined elsewhere.
//! Requires: the callee is a `func.func`. Guarantees: no invocation is left.

use crate::mlir::{Builder, replace_each};
use skript_dialect::melior::ir::attribute::FlatSymbolRefAttribute;
use skript_dialect::melior::ir::operation::OperationLike;
use skript_dialect::melior::ir::{OperationRef, Type, Value, ValueLike};
use skript_dialect::{Dialect, Options, Pass, PassError, Rewriter, op};

#[derive(Default)]
pub struct LowerInvocations;

impl Pass for LowerInvocations {
    const FLAG: &'static str = "skript-lower-invocations";
    const SUMMARY: &'static str = "invocations become calls of functions";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const DEPENDENT_DIALECTS: &'static [Dialect] = &[Dialect::Func];

    fn run<'c>(
        &self,
        root: OperationRef<'c, '_>,
        _options: &Options,
        rewriter: &Rewriter<'c>,
    ) -> Result<(), PassError> {
        let functions = super::functions(root);
        let invocations = op::collect(&root, |op| op::is(&op, "skript.invoke"));
        replace_each(invocations, rewriter, |invocation| {
            let name = super::callee(invocation).ok_or("names no function")?;
            if !functions.contains(&name) {
                return Err(format!("invokes '{name}', which is no func.func to call").into());
            }
            let callee = FlatSymbolRefAttribute::new(rewriter.context(), &name);
            let operands: Vec<Value> = invocation.operands().collect();
            let results: Vec<Type> = invocation.results().map(|r| r.r#type()).collect();
            let at = Builder::before(rewriter.context(), invocation)?;
            let callee = [("callee", callee.into())];
            let call = at.create("func.call", &operands, &callee, &results, Vec::new())?;
            Ok(call.results().map(Into::into).collect())
        })
    }
}
