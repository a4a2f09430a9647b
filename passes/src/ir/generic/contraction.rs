// SPDX-License-Identifier: Apache-2.0
//! Contractions, which are sums of products of two inputs, such as matrix products and convolutions.

use super::LoopNest;
use crate::ir::arith::Select;
use crate::ir::{both_operands, defining_op, is_zero, name, ops, users};
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value};
use skript_dialect::melior;

/// The payload of a contraction. It uses each element of the inputs and the output once.
#[derive(Clone, Copy)]
pub(crate) struct Contraction<'c, 'a> {
    /// The addition to the element of the output.
    pub(crate) sum: OperationRef<'c, 'a>,
    /// A bool. Products are only added if it is true.
    pub(crate) predicate: Option<Value<'c, 'a>>,
}

impl<'c: 'a, 'a> LoopNest<'c, 'a> {
    /// The payload as a contraction, if it adds a product of both inputs; integers may be cast in between.
    pub(crate) fn contraction(&self) -> Option<Contraction<'c, 'a>> {
        let [first, second, output] = self.operands.as_slice() else {
            return None;
        };
        let sum = computed(*self.yielded.first()?, &[ops::arith::ADDF, ops::arith::ADDI])?;
        let [left, right] = both_operands(sum).ok()?.map(without_casts);
        let term = match (left == output.element, right == output.element) {
            (true, false) => right,
            (false, true) => left,
            _ => return None,
        };
        let (product, predicate) = match Select::of(term) {
            Some(select) if is_zero(select.otherwise().ok()?) => {
                (select.then().ok()?, Some(select.condition().ok()?))
            }
            Some(_) => return None,
            None => (term, None),
        };
        let product = computed(product, &[ops::arith::MULF, ops::arith::MULI])?;
        let factors = both_operands(product).ok()?.map(without_casts);
        let inputs = [first.element, second.element];
        let has_both = factors == inputs || factors == [second.element, first.element];
        let is_used_once = self.operands.iter().all(|operand| users(operand.element).len() == 1);
        (has_both && is_used_once).then_some(Contraction { sum, predicate })
    }
}

/// The operation with one of these names that defines a value, ignoring casts.
fn computed<'c: 'a, 'a>(value: Value<'c, 'a>, names: &[&str]) -> Option<OperationRef<'c, 'a>> {
    defining_op(without_casts(value)).filter(|op| names.contains(&name(*op).as_str()))
}

/// The operand of casts of integers.
fn without_casts<'c: 'a, 'a>(value: Value<'c, 'a>) -> Value<'c, 'a> {
    let casts = [ops::arith::INDEX_CAST, ops::arith::EXTSI];
    match defining_op(value) {
        Some(op) if casts.contains(&name(op).as_str()) => op.operand(0).map_or(value, without_casts),
        _ => value,
    }
}
