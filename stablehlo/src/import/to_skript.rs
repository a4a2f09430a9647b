// SPDX-License-Identifier: Apache-2.0
//! `convert-stablehlo-to-skript`: converts elementwise StableHLO to operations of `skript`.
//!
//! The scalar table, which defines the StableHLO form of each operation, is read in reverse; other functions become the
//! operation of `arith` or `math` that the export writes in the same way. Operations that are undefined for some
//! operands are guarded unless the program guards them already, so that export, conversion and export give the first
//! export again. Broadcasts become formulas, calls become invocations.
//!
//! Requires: static extents. Guarantees: no StableHLO operation is left; otherwise one diagnostic names all unsupported
//! operations, and the module is unchanged.

mod form;
mod guards;
mod integer;
mod views;

use super::to_linalg::Found;
use super::{entry, survey};
use crate::typed::Constant;
use melior::ir::attribute::FlatSymbolRefAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::pipeline::Message;
use skript_dialect::{Dialect, Pass, PassError, op};
use skript_passes::ir;
use skript_passes::ir::attribute_names;
use skript_passes::ir::func::callee_attribute;
use skript_passes::ir::ops;
use skript_passes::ir::splice::Lines;
use skript_passes::ir::{Builder, attributes, context, mutation};

/// The pass `convert-stablehlo-to-skript`.
pub(crate) const PASS: Pass = Pass {
    flag: "convert-stablehlo-to-skript",
    summary: "elementwise StableHLO becomes operations of skript",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Func, Dialect::Math, Dialect::Skript, Dialect::Tensor],
    run: |root, _, rewriter| {
        let mut plans = Vec::new();
        let mut refused = Vec::new();
        for found in op::collect(&root, is_of_program) {
            match Plan::of(found) {
                Some(plan) => plans.push((found, plan)),
                None => refused.push(found),
            }
        }
        if let Some(first) = refused.first() {
            let names = refused.iter().map(|op| (op::name(op), Some(location(*op))));
            let names = survey::listed(&survey::grouped(names));
            let message = format!("has no form in the skript dialect; without one are {names}");
            return Err(PassError::at(*first, message));
        }
        let holder = root.context();
        let context = context::borrow(&holder);
        for (found, plan) in plans {
            let values = plan.carry_out(found, &Builder::before(context, found)?)?;
            rewriter.replace_op_with_values(found, &values);
        }
        if let Some(entry) = entry::entry_of(op::collect(&root, |op| op::is(&op, ops::func::FUNC))) {
            mutation::set(entry, attribute_names::ENTRY, attributes::unit(context));
        }
        Ok(())
    },
    ..Pass::NONE
};

/// All operations except functions and their terminators.
fn is_of_program(op: OperationRef<'_, '_>) -> bool {
    let name = op::name(&op);
    // Operations in a body are converted with the operation that contains them.
    let outside = op::parent(op).is_some_and(|p| op::is(&p, ops::func::FUNC));
    outside && name != ops::func::RETURN
}

fn location(op: OperationRef<'_, '_>) -> (usize, usize) {
    let message = Message::error(op, String::new());
    (message.frames.first()).map_or((0, 0), |f| (f.line, f.column))
}

/// The replacement of an operation, determined before any operation is replaced.
enum Plan {
    /// Operations as text, and the name of the result.
    Text(Lines, String),
    Constant,
    Invocation,
}

impl Plan {
    fn of(op: OperationRef) -> Option<Plan> {
        if op::is(&op, ops::func::CALL) {
            return Some(Plan::Invocation);
        }
        let found = Found::of(op).ok()?;
        if !found.operands.iter().chain(&found.results).all(|t| form::is_taken(t.element)) {
            return None;
        }
        if op::is(&op, ops::stablehlo::CONSTANT) {
            return Some(Plan::Constant);
        }
        let mut lines = Lines::default();
        let result = form::form(&mut lines, &found)?;
        Some(Plan::Text(lines, result))
    }

    fn carry_out<'c: 'a, 'a>(
        self,
        op: OperationRef<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Vec<Value<'c, 'a>>, PassError> {
        match self {
            Plan::Text(lines, result) => Found::of(op)?.replace(&lines, &result),
            Plan::Constant => {
                let value = Constant::cast(op).ok_or("is not a constant")?.value()?;
                Ok(vec![at.dense(value, ir::result(op)?.r#type())?])
            }
            Plan::Invocation => {
                let callee = FlatSymbolRefAttribute::try_from(callee_attribute(op)?)?;
                let operands: Vec<Value> = op.operands().collect();
                let results: Vec<_> = op.results().map(|r| r.r#type()).collect();
                let name = attributes::string(at.context, callee.value());
                let marks = [("callee", callee.into()), ("operator_name", name)];
                let made = at.create(ops::skript::INVOKE, &operands, &marks, &results, Vec::new())?;
                Ok(made.results().map(Into::into).collect())
            }
        }
    }
}
