// SPDX-License-Identifier: Apache-2.0
//! Recognizes the payloads of named operations in a `linalg.generic`.

use super::factor;
use crate::ir::generic::{Accumulation, LoopNest};
use crate::ir::operator::Operator;
use crate::ir::{self, ops};
use melior::ir::{OperationRef, Value};
use skript_dialect::melior;
use skript_dialect::op;

pub(crate) use super::factor::Factor;

/// A payload of a named operation. Inputs are identified by position.
pub(crate) enum Payload<'c, 'a> {
    /// A value from outside.
    Fill(Value<'c, 'a>),
    Copy(usize),
    /// The element of the output combined with the element of an input, which may have a narrower type.
    Combine {
        input: usize,
        combiner: Combiner<'c>,
    },
    /// The element of the output plus a product.
    Products([Factor<'c, 'a>; 2]),
}

/// A binary operation that accumulates.
pub(crate) struct Combiner<'c> {
    pub operator: Operator<'c>,
}

/// The operations that combine the elements of a window: the suffix of linalg's pooling operations, and the corresponding `arith`
/// operations.
pub(crate) const POOLS: &[(&str, [&str; 2])] = &[
    ("sum", [ops::arith::ADDF, ops::arith::ADDI]),
    ("max", [ops::arith::MAXIMUMF, ops::arith::MAXSI]),
    ("min", [ops::arith::MINIMUMF, ops::arith::MINSI]),
];

/// Additional operations for `linalg.reduce`. All are associative and commutative.
const COMBINERS: &[&str] = &[ops::arith::MULF, ops::arith::MULI, ops::arith::ANDI, ops::arith::ORI];

impl<'c: 'a, 'a> Payload<'c, 'a> {
    pub(crate) fn read(nest: &LoopNest<'c, 'a>) -> Option<Self> {
        let yielded = *nest.yielded.first()?;
        let elements: Vec<Value> = nest.inputs().iter().map(|input| input.element).collect();
        let position = |value: Value<'c, 'a>| elements.iter().position(|element| *element == value);
        if nest.payload.is_empty() {
            return match position(yielded) {
                Some(input) => Some(Payload::Copy(input)),
                None => (yielded != nest.output()?.element).then_some(Payload::Fill(yielded)),
            };
        }
        let Accumulation { op, value } = nest.accumulation()?;
        if let Some(input) = position(value).or_else(|| position(factor::widened(value)?)) {
            return Some(Payload::Combine { input, combiner: Combiner::new(op)? });
        }
        let subtracted = match op::name(&op).as_str() {
            ops::arith::ADDF | ops::arith::ADDI => false,
            ops::arith::SUBF | ops::arith::SUBI if ir::operand(op).ok()? != value => true,
            _ => return None,
        };
        let block = ir::first_block(nest.op)?;
        factor::product(value, subtracted, block, &elements).map(Payload::Products)
    }
}

impl<'c> Combiner<'c> {
    fn new(op: OperationRef<'c, '_>) -> Option<Self> {
        let operator = Operator::from_op(op);
        let mut known = POOLS.iter().flat_map(|(_, names)| names).chain(COMBINERS);
        known.any(|name| *name == operator.name).then_some(Combiner { operator })
    }

    /// The suffix of linalg's pooling operations.
    pub(crate) fn pool(&self) -> Option<&'static str> {
        let is_operator = |names: &[&str; 2]| names.contains(&self.operator.name.as_str());
        POOLS.iter().find(|(_, names)| is_operator(names)).map(|(word, _)| *word)
    }
}
