//! `skript-keep-operators`: invocations of the named operators are not inlined (SkriptND 3, operators to keep).
//!
//! A backend with a kernel of its own for an operator finds it whole after `inline`, with its attribute values; the function
//! that it invokes stays beside it and is lowered as all others are.

use crate::mlir::{attributes, context, mark};
use skript_dialect::melior::ir::OperationRef;
use skript_dialect::melior::ir::attribute::StringAttribute;
use skript_dialect::melior::ir::operation::OperationLike;
use skript_dialect::{Options, Pass, PassError, PassOption, Rewriter, op};

/// Attribute of an invocation that the inliner leaves alone.
const KEPT: &str = "skript.keep";

#[derive(Default)]
pub struct KeepOperators;

impl Pass for KeepOperators {
    const FLAG: &'static str = "skript-keep-operators";
    const SUMMARY: &'static str = "leave operators whole for somebody else's backend";
    const OPTIONS: &'static [PassOption] = &[PassOption {
        name: "operators",
        summary: "qualified names, separated by commas: nn.conv,mine.blur",
        default: "",
    }];

    fn run<'c>(
        &self,
        root: OperationRef<'c, '_>,
        options: &Options,
        _rewriter: &Rewriter<'c>,
    ) -> Result<(), PassError> {
        let holder = root.context();
        let context = context::borrow(&holder);
        let invocations = op::collect(&root, |op| op::is(&op, "skript.invoke"));
        let names: Vec<Option<String>> = invocations.iter().map(|op| operator(*op)).collect();
        let wanted = options.text("operators").split(',').map(str::trim);
        for name in wanted.filter(|name| !name.is_empty()) {
            let mut found = false;
            for (invocation, operator) in invocations.iter().zip(&names) {
                if operator.as_deref() == Some(name) {
                    mark::set(*invocation, KEPT, attributes::unit(context));
                    found = true;
                }
            }
            if !found {
                let message = format!("invokes no operator `{name}` that could be kept");
                return Err(PassError::at(root, message));
            }
        }
        Ok(())
    }
}

/// The qualified name of the operator that an invocation invokes.
fn operator(invocation: OperationRef) -> Option<String> {
    let name = StringAttribute::try_from(invocation.attribute("operator_name").ok()?).ok()?;
    Some(name.value().to_owned())
}
