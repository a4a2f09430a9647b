//! `skript-keep-operators`: invocations of the named operators are not inlined (SkriptND 3, operators to keep).
//!
//! A backend with a kernel of its own for an operator finds it whole after `inline`, with its attribute values; the function
//! that it invokes stays beside it and is lowered as all others are. Its arguments are never written, so bufferization need
//! not copy what an invocation reads.

use crate::codegen::mlir::{argument_attributes, signature};
use crate::mlir::{attributes, mark};
use skript_dialect::melior::Context;
use skript_dialect::melior::ir::attribute::{ArrayAttribute, DictionaryAttribute, StringAttribute};
use skript_dialect::melior::ir::operation::OperationLike;
use skript_dialect::melior::ir::{Attribute, OperationRef, TypeLike};
use skript_dialect::{Options, Pass, PassError, PassOption, Rewriter, op};
use std::collections::HashSet;

/// Attribute of an invocation that the inliner leaves alone.
const KEPT: &str = "skript.keep";
/// Attribute of an argument: whether bufferization may write into it.
const WRITABLE: &str = "bufferization.writable";

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
        rewriter: &Rewriter<'c>,
    ) -> Result<(), PassError> {
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
        for function in op::collect(&root, |op| op::is(&op, "func.func")) {
            let name = StringAttribute::try_from(function.attribute("sym_name")?)?;
            if invoked.contains(name.value()) {
                read_only(function, context)?;
            }
        }
        Ok(())
    }
}

/// Says of a function's tensors that they are not written.
fn read_only(function: OperationRef, context: &Context) -> Result<(), PassError> {
    let (inputs, _) = signature(function).map_err(|e| PassError::at(function, e.to_string()))?;
    let mut known = argument_attributes(function);
    known.resize(inputs.len(), DictionaryAttribute::new(context, &[]).into());
    let read = attributes::boolean(context, false);
    let all: Vec<Attribute> = inputs
        .iter()
        .zip(known)
        .map(|(input, known)| match input.is_ranked_tensor() {
            true => attributes::with_entry(context, known, WRITABLE, read),
            false => known,
        })
        .collect();
    mark::set(
        function,
        "arg_attrs",
        ArrayAttribute::new(context, &all).into(),
    );
    Ok(())
}

/// The qualified name of the operator that an invocation invokes.
fn operator(invocation: OperationRef) -> Option<String> {
    let name = StringAttribute::try_from(invocation.attribute("operator_name").ok()?).ok()?;
    Some(name.value().to_owned())
}
