// SPDX-License-Identifier: Apache-2.0
//! Lowers chains of vector minima and maxima for processors without a NaN-propagating instruction.
//!
//! x86 has no NaN-propagating minimum or maximum. In a chain `max(max(max(a, b), c), d)`, each step ignores NaN, one comparison
//! tests two operands for NaN, and a final select yields NaN for the lanes with a NaN operand.

use crate::ir::builder::arith::Reals;
use crate::ir::vector::element_or_self;
use crate::ir::{self, Builder, ops};
use melior::Context;
use melior::ir::attribute::{DenseElementsAttribute, FloatAttribute};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Value, ValueLike};
use skript_dialect::{PassError, PassOption};
use std::collections::HashSet;

/// The implementation of vector minima and maxima on a processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Extremes {
    /// One instruction, or LLVM's lowering of the operation.
    #[default]
    Operations,
    /// Comparisons and selects.
    Selections,
    /// `vrangeps` of AVX-512, which orders −0 before +0.
    Ranges,
}

impl Extremes {
    /// The option of passes.
    pub(crate) const OPTION: PassOption = PassOption {
        name: "extremes",
        summary: "how minima and maxima of vectors are computed: operations, selections or ranges (AVX-512's vrangeps)",
        default: "operations",
    };

    /// The value of the option.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Extremes::Operations => "operations",
            Extremes::Selections => "selections",
            Extremes::Ranges => "ranges",
        }
    }

    pub(crate) fn named(name: &str) -> Result<Self, PassError> {
        let all = [Extremes::Operations, Extremes::Selections, Extremes::Ranges];
        all.into_iter().find(|known| known.name() == name).ok_or_else(|| {
            PassError::from(format!(
                "option extremes is `{name}`; it must be operations, selections or ranges"
            ))
        })
    }
}

/// Returns the operation that ignores NaN operands in place of the NaN-propagating operation.
fn of_numbers(op: OperationRef) -> Option<&'static str> {
    match ir::name(op).as_str() {
        ops::arith::MAXIMUMF => Some(ops::arith::MAXNUMF),
        ops::arith::MINIMUMF => Some(ops::arith::MINNUMF),
        _ => None,
    }
}

/// Rewrites the chains below `root` to test their operands for NaN two at a time. `is_step` selects the operations.
pub(super) fn test_chains<'c: 'a, 'a>(
    root: OperationRef<'c, 'a>,
    is_step: impl Fn(OperationRef) -> bool,
    context: &'c Context,
) -> Result<(), PassError> {
    let mut seen = HashSet::new();
    // The last operation of a chain follows the others.
    let chains = ir::nested(root).into_iter().rev().filter_map(|op| {
        // The test of the name is the fastest, and few operations are minima or maxima, so it comes first.
        let kinds = [ops::arith::MAXIMUMF, ops::arith::MINIMUMF];
        let is_extreme = kinds.iter().any(|name| skript_dialect::op::is(&op, name));
        let is_end = is_extreme && is_step(op) && !seen.contains(&ir::key(op));
        let chain = is_end.then(|| chain(op, &is_step))?;
        seen.extend(chain.iter().map(|step| ir::key(*step)));
        Some(chain)
    });
    for chain in chains.collect::<Vec<_>>() {
        replace(&chain, context)?;
    }
    Ok(())
}

/// Returns the chain that ends with `end`: operations of one kind, each of which is used only by the next operation.
fn chain<'c: 'a, 'a>(
    end: OperationRef<'c, 'a>,
    is_step: impl Fn(OperationRef) -> bool,
) -> Vec<OperationRef<'c, 'a>> {
    let (name, block) = (ir::name(end), end.block());
    let before = |op: &OperationRef<'c, 'a>| {
        let is_before =
            |op: &OperationRef<'c, 'a>| ir::name(*op) == name && op.block() == block && is_step(*op);
        op.operands().find_map(|operand| {
            ir::defining_op(operand).filter(is_before).filter(|_| ir::users(operand).len() == 1)
        })
    };
    let mut steps: Vec<_> = std::iter::successors(Some(end), before).collect();
    steps.reverse();
    steps
}

/// Replaces a chain by steps that ignore NaN, and a final select of NaN.
fn replace<'c: 'a, 'a>(steps: &[OperationRef<'c, 'a>], context: &'c Context) -> Result<(), PassError> {
    let [first, .., last] = steps else {
        return Ok(());
    };
    let mut selected = first.operand(0)?;
    // `untested` is the operand that is not tested yet; `numbers` holds if all tested operands are numbers.
    let (mut untested, mut numbers) = (Some(selected), None);
    let mut before = selected;
    for step in steps {
        let at = Builder::before(context, *step)?;
        let operand = if step.operand(0)? == before { step.operand(1)? } else { step.operand(0)? };
        match untested.take() {
            None => untested = Some(operand),
            Some(other) => numbers = Some(tested(&at, other, operand, numbers)),
        }
        let name = of_numbers(*step).ok_or("a chain of other operations than minima and maxima")?;
        selected = at.value(name, &[selected, operand], &[], selected.r#type())?;
        before = step.result(0)?.into();
    }
    let at = Builder::before(context, *last)?;
    if let Some(operand) = untested {
        numbers = Some(tested(&at, operand, operand, numbers));
    }
    if let Some(numbers) = numbers {
        let element = element_or_self(selected.r#type());
        let nan = FloatAttribute::new(context, element, f64::NAN);
        let nan = DenseElementsAttribute::new(selected.r#type(), &[nan.into()])?;
        let nan = at.dense(nan.into(), selected.r#type())?;
        let operands = [numbers, selected, nan];
        let result = at.value(ops::arith::SELECT, &operands, &[], selected.r#type())?;
        ir::replace_uses(before, result);
        for step in steps.iter().rev() {
            ir::erase(*step);
        }
    }
    Ok(())
}

/// Computes whether two operands are numbers and `before` holds.
fn tested<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    a: Value<'c, 'a>,
    b: Value<'c, 'a>,
    before: Option<Value<'c, 'a>>,
) -> Value<'c, 'a> {
    let are_numbers = at.cmpf(Reals::Ordered, a, b);
    before.map_or(are_numbers, |before| at.andi(before, are_numbers))
}
