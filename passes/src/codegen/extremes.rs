// SPDX-License-Identifier: Apache-2.0
//! The lesser and the greater of vectors: what a processor does for them, and chains of them.
//!
//! On x86 no instruction yields NaN where either operand is. A chain `max(max(max(a, b), c), d)` selects numbers step by step, tests two
//! operands for NaN at once, and is NaN in the end where a test found one.

use crate::ir::vector::{element_or_self, shaped_like};
use crate::ir::{self, Builder, ops};
use melior::Context;
use melior::ir::attribute::{DenseElementsAttribute, FloatAttribute};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Value, ValueLike};
use skript_dialect::{PassError, PassOption};
use std::collections::HashSet;

/// What a processor has for the lesser and the greater of the elements of vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Extremes {
    /// One instruction, or what LLVM makes of the operation.
    #[default]
    Operations,
    /// A selection by a comparison.
    Selections,
    /// A selection by AVX-512's `vrangeps`, which orders zeros.
    Ranges,
}

impl Extremes {
    /// The option of passes.
    pub(crate) const OPTION: PassOption = PassOption {
        name: "extremes",
        summary: "what selects the lesser and the greater of the elements of vectors: operations, selections or ranges (vrangeps of AVX-512)",
        default: "operations",
    };

    /// As an option has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Extremes::Operations => "operations",
            Extremes::Selections => "selections",
            Extremes::Ranges => "ranges",
        }
    }

    /// # Errors
    /// The name is none of [`Self::name`].
    pub(crate) fn named(name: &str) -> Result<Self, PassError> {
        let all = [Extremes::Operations, Extremes::Selections, Extremes::Ranges];
        let found = all.into_iter().find(|known| known.name() == name);
        found.ok_or_else(|| {
            PassError::from(format!(
                "option extremes is {name}, which is none of operations, selections and ranges"
            ))
        })
    }
}

/// The operation that selects a number where the other operand is NaN, of one that is NaN there.
fn of_numbers(op: OperationRef) -> Option<&'static str> {
    match ir::name(op).as_str() {
        ops::arith::MAXIMUMF => Some(ops::arith::MAXNUMF),
        ops::arith::MINIMUMF => Some(ops::arith::MINNUMF),
        _ => None,
    }
}

/// Tests the operands of chains below `root` for NaN two at a time. Operations that are no `is_step` stay.
pub(super) fn test_chains<'c: 'a, 'a>(
    root: OperationRef<'c, 'a>,
    is_step: impl Fn(OperationRef) -> bool,
    context: &'c Context,
) -> Result<(), PassError> {
    let mut known = HashSet::new();
    // The ends of chains are behind their other operations.
    let chains = ir::nested(root).into_iter().rev().filter_map(|op| {
        // Most operations are none, which their names show without more.
        let kinds = [ops::arith::MAXIMUMF, ops::arith::MINIMUMF];
        let is_extreme = kinds.iter().any(|name| skript_dialect::op::is(&op, name));
        let starts = is_extreme && is_step(op) && !known.contains(&ir::key(op));
        let chain = starts.then(|| chain(op, &is_step))?;
        known.extend(chain.iter().map(|step| ir::key(*step)));
        Some(chain)
    });
    for chain in chains.collect::<Vec<_>>() {
        replace(&chain, context)?;
    }
    Ok(())
}

/// The operations of one kind that end with one, each of which is an operand of the next one and of nothing else.
fn chain<'c: 'a, 'a>(
    end: OperationRef<'c, 'a>,
    is_step: impl Fn(OperationRef) -> bool,
) -> Vec<OperationRef<'c, 'a>> {
    let (name, block) = (ir::name(end), end.block());
    let before = |op: &OperationRef<'c, 'a>| {
        let operands = op.operands().collect::<Vec<_>>();
        let found = operands.into_iter().find(|operand| {
            let step = ir::definition(*operand).map(|(op, _)| op);
            let is_before = |op| ir::name(op) == name && op.block() == block && is_step(op);
            step.is_some_and(is_before) && ir::users(*operand).len() == 1
        });
        found.and_then(ir::definition).map(|(op, _)| op)
    };
    let mut steps: Vec<_> = std::iter::successors(Some(end), before).collect();
    steps.reverse();
    steps
}

/// Selects numbers in each step of a chain, and NaN in the end.
fn replace<'c: 'a, 'a>(steps: &[OperationRef<'c, 'a>], context: &'c Context) -> Result<(), PassError> {
    let [first, .., last] = steps else {
        return Ok(());
    };
    let mut selected = first.operand(0)?;
    // What no test has yet, and whether all that tests had are numbers.
    let (mut untested, mut numbers) = (Some(selected), None);
    let mut before = selected;
    for step in steps {
        let at = Builder::before(context, *step)?;
        let operand = if step.operand(0)? == before { step.operand(1)? } else { step.operand(0)? };
        match untested.take() {
            None => untested = Some(operand),
            Some(other) => numbers = Some(tested(&at, other, operand, numbers)?),
        }
        let name = of_numbers(*step).unwrap_or(ops::arith::MAXNUMF);
        selected = at.value(name, &[selected, operand], &[], selected.r#type())?;
        before = step.result(0)?.into();
    }
    let at = Builder::before(context, *last)?;
    if let Some(operand) = untested {
        numbers = Some(tested(&at, operand, operand, numbers)?);
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

/// Whether two operands are numbers, and what was tested before.
fn tested<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    a: Value<'c, 'a>,
    b: Value<'c, 'a>,
    before: Option<Value<'c, 'a>>,
) -> Result<Value<'c, 'a>, PassError> {
    let ordered = ir::maps::integer_predicate(at.context, ORDERED);
    let flags = shaped_like(a.r#type(), ir::types::flag(at.context));
    let own = at.value(ops::arith::CMPF, &[a, b], &[("predicate", ordered)], flags)?;
    Ok(match before {
        None => own,
        Some(before) => at.value(ops::arith::ANDI, &[before, own], &[], flags)?,
    })
}

/// The predicate of `arith.cmpf` that two numbers fulfil.
const ORDERED: i64 = 7;
