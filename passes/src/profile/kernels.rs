// SPDX-License-Identifier: Apache-2.0
//! `skript-number-kernels`: puts calls of `skript_profile` around each launch of a kernel, and lists the launches at the module.
//!
//! A launch is a step of the profile. The runtime waits for the device where a step begins and ends. The number of operations is not
//! known, nor are the bytes: arguments of kernels are whole buffers.
//!
//! Requires: `skript-outline-kernels`.

use super::mark::{call_with, operators};
use super::{TABLE, lists};
use crate::ir::{self, Builder, attributes, context, ops};
use melior::ir::attribute::{ArrayAttribute, DictionaryAttribute};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Attribute, Identifier};
use skript_dialect::{Dialect, Pass, PassError};
use skript_runtime::profile::SYMBOL;

/// The pass `skript-number-kernels`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-number-kernels",
    summary: "put calls of the profiler around launches of kernels, and list them in an attribute of the module",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Func],
    run: |root, _, rewriter| {
        if root.has_attribute(TABLE) {
            return Ok(());
        }
        let context = rewriter.context();
        let kernels: Vec<OperationRef> = ir::walk::named(root, ops::gpu::FUNC);
        let mut rows = Vec::new();
        for launch in ir::walk::named(ir::entry(root)?, ops::gpu::LAUNCH_FUNC) {
            let at = Builder::before(context, launch)?.with_location(launch.location());
            let number = i64::try_from(rows.len() + 1).unwrap_or(i64::MAX);
            let zero = at.index(0)?;
            call_with(&at, [at.index(number)?, zero, zero])?;
            let next = launch.next_in_block();
            let next = next.ok_or_else(|| PassError::at(launch, "ends its block"))?;
            let after = Builder::before(context, next)?.with_location(launch.location());
            call_with(&after, [zero, zero, zero])?;
            let name = launch.attribute("kernel").map(|name| name.to_string());
            let name = name.unwrap_or_default();
            let name = name.rsplit('@').next().unwrap_or_default();
            let own = |kernel: &&OperationRef| ir::func::symbol(**kernel).as_deref() == Some(name);
            let kernel = kernels.iter().find(own).copied();
            rows.push(row(kernel.unwrap_or(launch), name));
        }
        let rows = ArrayAttribute::new(context, &rows);
        ir::set_attribute(root, TABLE, rows.into());
        let declaration = format!("func.func private @{SYMBOL}(index, index, index)");
        Ok(ir::append_functions(root, &declaration)?)
    },
    ..Pass::NONE
};

/// The row of the table for a kernel.
fn row<'c>(kernel: OperationRef<'c, '_>, name: &str) -> Attribute<'c> {
    let context = context::of(kernel);
    let entry = |name: &str, value| (Identifier::new(context, name), value);
    let entries = [
        entry("operators", lists(context, &operators(kernel))),
        entry("kernel", attributes::string(context, name)),
    ];
    DictionaryAttribute::new(context, &entries).into()
}
