// SPDX-License-Identifier: Apache-2.0
//! Payloads of elementwise operations, computed on vectors of elements.

use crate::extents::size::element_bytes;
use crate::ir::arith::Constant;
use crate::ir::{self, Builder, ValueKey, ops, vector};
use melior::Error;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::op;
use std::collections::HashMap;

/// Whether an operation computes a number, or whether a condition holds, from such, and processors have it in vectors.
pub(super) fn is_vectorizable(op: OperationRef) -> bool {
    let name = ir::name(op);
    let is_plain = match name.strip_prefix("math.") {
        Some(_) => PLAIN.contains(&name.as_str()),
        None => op::has_elementwise_trait(&op),
    };
    let is_number = |kind: Type| element_bytes(&kind.to_string()).is_some();
    name == ops::arith::CONSTANT
        || is_plain
            && op.result_count() == 1
            && op.region_count() == 0
            && op.operands().all(|value| is_number(value.r#type()))
            && op.results().all(|result| is_number(result.r#type()))
}

/// The bytes of the widest type of a payload; `None` if vectors have no such elements, or arrays have elements that vectors pack.
pub(super) fn widest(elements: &[Value], payload: &[OperationRef]) -> Option<i64> {
    let elements = elements.iter().map(|element| element.r#type());
    let is_packed = |kind: Type| kind.to_string() == "i1";
    if elements.clone().any(is_packed) {
        return None;
    }
    let computed = payload.iter().flat_map(|own| own.results());
    let computed = computed.map(|result| result.r#type());
    let bytes = elements.chain(computed).map(|kind| {
        let text = kind.to_string();
        element_bytes(&text).filter(|_| !text.starts_with("complex"))
    });
    let bytes: Vec<u64> = bytes.collect::<Option<_>>()?;
    i64::try_from(*bytes.iter().max()?).ok()
}

/// Functions of reals that are one instruction.
const PLAIN: [&str; 5] =
    [ops::math::ABSF, ops::math::CEIL, ops::math::FLOOR, ops::math::ROUNDEVEN, ops::math::SQRT];

/// The result of a payload for vectors of elements. `known` are vectors of what is the same for all of them.
pub(super) fn in_vectors<'c: 'a, 'a>(
    payload: &[OperationRef<'c, 'a>],
    elements: &[Value<'c, 'a>],
    lanes: i64,
    at: &Builder<'c, 'a>,
    known: &mut HashMap<ValueKey, Value<'c, 'a>>,
    vectors: &[Value<'c, 'a>],
) -> Result<Value<'c, 'a>, Error> {
    let own = elements.iter().zip(vectors);
    let mut computed: HashMap<ValueKey, Value> =
        own.map(|(element, vector)| (ValueKey::of(*element), *vector)).collect();
    for op in payload {
        let at = at.with_location(op.location());
        let mut operands = Vec::new();
        for value in op.operands() {
            let key = ValueKey::of(value);
            let vector = match computed.get(&key).or_else(|| known.get(&key)) {
                Some(vector) => *vector,
                None => {
                    let scalar = match Constant::of(value) {
                        // It may stand in the payload.
                        Some(constant) => {
                            let attribute = [("value", constant.value()?)];
                            at.value(ops::arith::CONSTANT, &[], &attribute, value.r#type())?
                        }
                        None => value,
                    };
                    let kind = vector::of(&[lanes], scalar.r#type());
                    let vector = at.value(ops::vector::BROADCAST, &[scalar], &[], kind)?;
                    known.insert(key, vector);
                    vector
                }
            };
            operands.push(vector);
        }
        match ir::name(*op).as_str() {
            ops::linalg::YIELD => return operands.first().copied().ok_or(Error::OperationBuild),
            ops::arith::CONSTANT => {}
            _ => {
                let result = op.result(0)?;
                let kind = vector::of(&[lanes], result.r#type());
                let copied = at.insert(op::clone_with(op, &operands, &[kind]));
                computed.insert(ValueKey::of(result), copied.result(0)?.into());
            }
        }
    }
    Err(Error::OperationBuild)
}
