// SPDX-License-Identifier: Apache-2.0
//! The payload of a `linalg.generic`, if some named operation has it.

use super::factor;
use crate::ir;
use crate::ir::ops;
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, RegionLike, Value};
use skript_dialect::melior;
use skript_dialect::op;

pub(crate) use super::factor::Factor;

/// A payload of a named operation; inputs are named by position.
pub(crate) enum Payload<'c, 'a> {
    /// A value from outside.
    Fill(Value<'c, 'a>),
    Copy(usize),
    /// The output's element combined with an input's element, possibly of a narrower type.
    Combine {
        input: usize,
        combiner: Combiner,
    },
    /// The output's element plus a product.
    Products([Factor<'c, 'a>; 2]),
}

/// A binary operation that accumulates.
pub(crate) struct Combiner {
    pub name: String,
    /// Its attributes as the generic form prints them.
    pub attributes: String,
}

/// The operations that a window may combine with: the suffix of linalg's pooling operations, and the `arith` operations
/// that they stand for.
pub(crate) const POOLS: &[(&str, [&str; 2])] = &[
    ("sum", [ops::arith::ADDF, ops::arith::ADDI]),
    ("max", [ops::arith::MAXIMUMF, ops::arith::MAXSI]),
    ("min", [ops::arith::MINIMUMF, ops::arith::MINSI]),
];

/// Further operations for `linalg.reduce`: all are associative and commutative.
const COMBINERS: &[&str] = &[ops::arith::MULF, ops::arith::MULI, ops::arith::ANDI, ops::arith::ORI];

impl<'c: 'a, 'a> Payload<'c, 'a> {
    pub(crate) fn read(generic: OperationRef<'c, 'a>, inputs: usize) -> Option<Self> {
        let block = generic.region(0).ok()?.first_block()?;
        let argument = |position: usize| block.argument(position).ok().map(Value::from);
        let position = |value: Value<'c, 'a>| (0..inputs).find(|n| argument(*n) == Some(value));
        let present = argument(inputs)?;
        let operations = ir::operations(block);
        let (end, steps) = operations.split_last()?;
        let yielded = (end.operand_count() == 1).then(|| ir::operand(*end).ok())??;
        if steps.is_empty() {
            return match position(yielded) {
                Some(input) => Some(Payload::Copy(input)),
                None => (yielded != present).then_some(Payload::Fill(yielded)),
            };
        }
        let last = steps.last()?;
        let added = with(*last, present)?;
        if ir::result(*last).ok() != Some(yielded) {
            return None;
        }
        let element = position(added).or_else(|| position(factor::widened(added)?));
        if let Some(input) = element {
            return Some(Payload::Combine { input, combiner: Combiner::of(*last)? });
        }
        let elements: Vec<Value<'c, 'a>> = (0..inputs).map(argument).collect::<Option<_>>()?;
        let subtracted = match op::name(last).as_str() {
            ops::arith::ADDF | ops::arith::ADDI => false,
            ops::arith::SUBF | ops::arith::SUBI if ir::operand(*last).ok() == Some(present) => true,
            _ => return None,
        };
        factor::product(added, subtracted, block, &elements).map(Payload::Products)
    }
}

/// The other operand of a binary operation.
fn with<'c: 'a, 'a>(op: OperationRef<'c, 'a>, operand: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    if op.operand_count() != 2 || op.result_count() != 1 {
        return None;
    }
    let [left, right] = ir::both_operands(op).ok()?;
    match (left == operand, right == operand) {
        (true, false) => Some(right),
        (false, true) => Some(left),
        _ => None,
    }
}

impl Combiner {
    fn of(found: OperationRef<'_, '_>) -> Option<Self> {
        let name = op::name(&found);
        let known = POOLS.iter().flat_map(|(_, names)| names).chain(COMBINERS);
        if !known.into_iter().any(|n| *n == name) {
            return None;
        }
        Some(Combiner { name, attributes: ir::inherent(found)? })
    }

    /// The suffix of linalg's pooling operations.
    pub(crate) fn pool(&self) -> Option<&'static str> {
        let means = |names: &[&str; 2]| names.contains(&self.name.as_str());
        POOLS.iter().find(|(_, names)| means(names)).map(|(word, _)| *word)
    }
}
