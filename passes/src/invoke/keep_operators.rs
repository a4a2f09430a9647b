//! `skript-keep-operators`: keeps invocations of the named operators from being inlined (SkriptND 3).
//!
//! After `inline`, a backend with a kernel of its own for an operator finds the invocation with its attribute values.
//! The function that it invokes stays, and is lowered like any other. The function never writes its arguments, so
//! bufferization need not copy what an invocation reads. An operator that invokes itself under its own name is kept at
//! the outermost level only; the inner invocations are inlined.

use crate::ir::ops;
use crate::ir::{attributes, mutation};
use skript_dialect::melior::ir::OperationRef;
use skript_dialect::melior::ir::attribute::StringAttribute;
use skript_dialect::melior::ir::operation::OperationLike;
use skript_dialect::{Pass, PassError, PassOption, op};
use std::collections::HashSet;

/// Attribute of an invocation that the inliner leaves alone.
const KEPT: &str = "skript.keep";

/// The pass `skript-keep-operators`.
pub const PASS: Pass = Pass {
    flag: "skript-keep-operators",
    summary: "keep invocations of the named operators, for other backends",
    options: &[PassOption {
        name: "operators",
        summary: "qualified names, separated by commas, as in nn.conv,mine.blur",
        default: "",
    }],
    run: |root, options, rewriter| {
        let context = rewriter.context();
        let invocations = op::collect(&root, |op| op::is(&op, ops::skript::INVOKE));
        let names: Vec<Option<String>> = invocations.iter().map(|op| operator(*op)).collect();
        let wanted = options.text("operators").split(',').map(str::trim);
        let functions = super::functions(root);
        let mut invoked = HashSet::new();
        for name in wanted.filter(|name| !name.is_empty()) {
            let named = invocations.iter().zip(&names);
            let named = named.filter(|(_, operator)| operator.as_deref() == Some(name));
            let named: Vec<OperationRef> = named.map(|(invocation, _)| *invocation).collect();
            if named.is_empty() {
                let message = format!("invokes no operator `{name}` that could be kept");
                return Err(PassError::at(root, message));
            }
            let callees: HashSet<String> =
                named.iter().copied().filter_map(super::callee).collect();
            let mut parts = Vec::new();
            for callee in &callees {
                let inside = |op: OperationRef| {
                    named.contains(&op) && super::callee(op).as_ref() != Some(callee)
                };
                parts.extend(functions.get(callee).map(|body| op::collect(body, inside)));
            }
            let parts: Vec<OperationRef> = parts.concat();
            for invocation in named.iter().filter(|op| !parts.contains(op)) {
                mutation::set(*invocation, KEPT, attributes::unit(context));
                invoked.extend(super::callee(*invocation));
            }
        }
        let mut kept = invoked.iter().filter_map(|name| functions.get(name));
        kept.try_for_each(|function| super::read_only(*function, context))
    },
    ..Pass::NONE
};

/// The qualified name of the operator that an invocation invokes.
fn operator(invocation: OperationRef) -> Option<String> {
    let name = StringAttribute::try_from(invocation.attribute("operator_name").ok()?).ok()?;
    Some(name.value().to_owned())
}
