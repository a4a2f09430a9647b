// SPDX-License-Identifier: Apache-2.0
//! `convert-stablehlo-to-skript`: converts elementwise StableHLO to operations of `skript`.
//!
//! The pass reads the scalar table, which defines the StableHLO form of each operation, in reverse. Other functions
//! become the operation of `arith` or `math` that the export writes in the same way. Operations that are undefined for
//! some operands are guarded unless the program guards them already; therefore, exporting a converted export reproduces
//! it. Broadcasts become formulas, calls become invocations.
//!
//! Requires: static extents. Guarantees: no StableHLO operation remains; on failure, one diagnostic names all
//! unsupported operations, and the module is unchanged.

mod form;
mod guards;
mod integer;
mod views;

use super::to_linalg::SourceOp;
use super::{entry, survey};
use crate::typed::Constant;
use melior::ir::attribute::FlatSymbolRefAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Region, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::pipeline::Message;
use skript_dialect::{Dialect, Pass, PassError, op};
use skript_passes::ir::func::callee_attribute;
use skript_passes::ir::{Builder, attribute_names, attributes, context, mutation, ops, regions};

/// The pass `convert-stablehlo-to-skript`.
pub(crate) const PASS: Pass = Pass {
    flag: "convert-stablehlo-to-skript",
    summary: "elementwise StableHLO becomes operations of skript",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Func, Dialect::Math, Dialect::Skript, Dialect::Tensor],
    run: |root, _, rewriter| {
        let mut plans = Vec::new();
        let mut refused = Vec::new();
        for source in op::collect(&root, is_in_function) {
            match planned(source) {
                Some(plan) => plans.push((source, plan)),
                None => refused.push(source),
            }
        }
        if let Some(first) = refused.first() {
            let names = refused.iter().map(|op| (op::name(op), Some(location(*op))));
            let names = survey::listed(&survey::grouped(names));
            let message = format!("has no form in the skript dialect; without one are {names}");
            return Err(PassError::at(*first, message));
        }
        for (source, plan) in plans {
            let values = regions::inline(source, &plan)?;
            rewriter.replace_op_with_values(source, &values);
        }
        if let Some(entry) = entry::entry_of(op::collect(&root, |op| op::is(&op, ops::func::FUNC))) {
            mutation::set(entry, attribute_names::ENTRY, attributes::unit(context::of(root)));
        }
        Ok(())
    },
    ..Pass::NONE
};

/// All operations except functions and their terminators.
fn is_in_function(op: OperationRef<'_, '_>) -> bool {
    let name = op::name(&op);
    // Operations in a body are converted with the operation that contains them.
    let outside = op::parent(op).is_some_and(|p| op::is(&p, ops::func::FUNC));
    outside && name != ops::func::RETURN
}

fn location(op: OperationRef<'_, '_>) -> (usize, usize) {
    let message = Message::error(op, String::new());
    (message.frames.first()).map_or((0, 0), |f| (f.line, f.column))
}

/// The operations that replace an operation, before any operation is replaced: a region without arguments, whose terminator returns
/// the values for the results. `None` if the dialect does not have the operation.
fn planned<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Option<Region<'c>> {
    let outside = Builder::before(context::of(op), op).ok()?;
    let (region, at, _) = outside.region(&[]);
    let values = replacement(op, &at)?;
    at.op(ops::skript::YIELD, &values, &[], &[], Vec::new());
    Some(region)
}

fn replacement<'c: 'a, 'a>(op: OperationRef<'c, 'a>, at: &Builder<'c, 'a>) -> Option<Vec<Value<'c, 'a>>> {
    if op::is(&op, ops::func::CALL) {
        let callee = FlatSymbolRefAttribute::try_from(callee_attribute(op).ok()?).ok()?;
        let operands: Vec<Value> = op.operands().collect();
        let results: Vec<_> = op.results().map(|r| r.r#type()).collect();
        let name = attributes::string(at.context, callee.value());
        let marks = [("callee", callee.into()), ("operator_name", name)];
        let invocation = at.op(ops::skript::INVOKE, &operands, &marks, &results, Vec::new());
        return Some(at.results(invocation));
    }
    let source = SourceOp::with_static_extents(op).ok()?;
    if !source.operands.iter().chain(&source.results).all(|t| form::is_supported(t.element)) {
        return None;
    }
    if let Some(constant) = Constant::cast(op) {
        return Some(vec![at.literal(constant.value().ok()?)]);
    }
    Some(vec![form::form(&SourceOp { at: *at, ..source })?])
}
