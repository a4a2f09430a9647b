//! `skript-keep-operators`: invocations of the named operators are not inlined (SkriptND 3, operators to keep).
//!
//! A backend with a kernel of its own for an operator finds it whole after `inline`, with its attribute values; the function
//! that it invokes stays beside it and is lowered as all others are. Its arguments are never written, so bufferization need
//! not copy what an invocation reads.

use crate::mlir::{attributes, mark};
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
    summary: "leave operators whole for somebody else's backend",
    options: &[PassOption {
        name: "operators",
        summary: "qualified names, separated by commas: nn.conv,mine.blur",
        default: "",
    }],
    run: |root, options, rewriter| {
        let context = rewriter.context();
        let invocations = op::collect(&root, |op| op::is(&op, "skript.invoke"));
        let names: Vec<Option<String>> = invocations.iter().map(|op| operator(*op)).collect();
        let wanted = options.text("operators").split(',').map(str::trim);
        let mut invoked = HashSet::new();
        for name in wanted.filter(|name| !name.is_empty()) {
            let mut found = false;
            for (invocation, operator) in invocations.iter().zip(&names) {
                if operator.as_deref() == Some(name) {
                    mark::set(*invocation, KEPT, attributes::unit(context));
                    invoked.extend(super::callee(*invocation));
                    found = true;
                }
            }
            if !found {
                let message = format!("invokes no operator `{name}` that could be kept");
                return Err(PassError::at(root, message));
            }
        }
        let functions = super::functions(root);
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
