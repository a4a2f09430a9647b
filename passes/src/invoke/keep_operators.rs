// SPDX-License-Identifier: Apache-2.0
//! `skript-keep-operators`: prevents inlining of invocations of the named operators (SkriptND 3).
//!
//! After `inline`, a backend that has a kernel for an operator finds the invocation with its attribute values.
//! The function that it invokes remains, and is lowered like other functions. It never writes its arguments, so
//! bufferization need not copy the operands of an invocation. If an operator invokes itself, only the outermost invocations are
//! kept; inner invocations are inlined.

use crate::ir::attribute_names;
use crate::ir::func;
use crate::ir::skript::Invoke;

use crate::ir::{attributes, mutation};
use skript_dialect::melior::ir::OperationRef;

use skript_dialect::{Pass, PassError, PassOption, op};
use std::collections::HashSet;

pub(crate) const PASS: Pass = Pass {
    flag: "skript-keep-operators",
    summary: "keep invocations of the named operators, for other backends",
    options: &[PassOption {
        name: "operators",
        summary: "qualified names, separated by commas, as in nn.conv,mine.blur",
        default: "",
    }],
    run: |root, options, rewriter| {
        let context = rewriter.context();
        let invocations = op::collect(&root, |op| Invoke::cast(op).is_some());
        let names = invocations.iter().map(|op| Invoke::cast(*op).map(Invoke::operator));
        let names: Vec<Option<String>> = names.collect();
        let wanted = options.text("operators").split(',').map(str::trim);
        let functions = super::functions(root);
        let mut invoked = HashSet::new();
        for name in wanted.filter(|name| !name.is_empty()) {
            let named = invocations.iter().zip(&names);
            let named: Vec<OperationRef> = named
                .filter(|(_, operator)| operator.as_deref() == Some(name))
                .map(|(invocation, _)| *invocation)
                .collect();
            if named.is_empty() {
                let message = format!("invokes no operator `{name}` that could be kept");
                return Err(PassError::at(root, message));
            }
            let callees: HashSet<String> = named.iter().copied().filter_map(func::callee).collect();
            let mut parts = Vec::new();
            for callee in &callees {
                let inside =
                    |op: OperationRef| named.contains(&op) && func::callee(op).as_ref() != Some(callee);
                parts.extend(functions.get(callee).map(|body| op::collect(body, inside)));
            }
            let parts: Vec<OperationRef> = parts.concat();
            for invocation in named.iter().filter(|op| !parts.contains(op)) {
                mutation::set(*invocation, attribute_names::KEEP, attributes::unit(context));
                invoked.extend(func::callee(*invocation));
            }
        }
        let mut kept = invoked.iter().filter_map(|name| functions.get(name));
        kept.try_for_each(|function| super::read_only(*function, context))
    },
    ..Pass::NONE
};
