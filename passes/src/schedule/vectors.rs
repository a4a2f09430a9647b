// SPDX-License-Identifier: Apache-2.0
//! Payloads of elementwise operations, computed on vectors of elements.

use crate::extents::size::element_bytes;
use crate::ir::arith::Constant;
use crate::ir::generic::LoopNest;
use crate::ir::{self, Builder, ValueKey, ops, types, vector};
use melior::Error;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::op;
use std::collections::HashMap;

/// Whether an operation computes a number or a bool from numbers and bools, and processors have a vector instruction for it.
pub(super) fn is_vectorizable(op: OperationRef) -> bool {
    let name = ir::name(op);
    let is_plain = match name.strip_prefix("math.") {
        Some(_) => PLAIN.contains(&name.as_str()),
        None => op::has_elementwise_trait(&op),
    };
    let is_number = |kind: Type| element_bytes(kind).is_some();
    name == ops::arith::CONSTANT
        || is_plain
            && op.result_count() == 1
            && op.region_count() == 0
            && op.operands().all(|value| is_number(value.r#type()))
            && op.results().all(|result| is_number(result.r#type()))
}

/// The bytes of the widest type of a payload. `None` if a type cannot be the element of a vector, or if an array has elements of type
/// `i1`, which vectors would pack.
pub(super) fn widest(nest: &LoopNest) -> Option<i64> {
    let elements = nest.operands.iter().map(|operand| operand.element.r#type());
    let is_packed = |kind: Type| types::bits(kind) == Some(1);
    if elements.clone().any(is_packed) {
        return None;
    }
    let computed = nest.payload.iter().flat_map(|op| op.results()).map(|result| result.r#type());
    let scalars = elements.chain(computed);
    let bytes = scalars.map(|kind| element_bytes(kind).filter(|_| types::complex_part(kind).is_none()));
    let bytes: Vec<u64> = bytes.collect::<Option<_>>()?;
    i64::try_from(*bytes.iter().max()?).ok()
}

/// Functions of reals that compile to one instruction.
const PLAIN: [&str; 5] =
    [ops::math::ABSF, ops::math::CEIL, ops::math::FLOOR, ops::math::ROUNDEVEN, ops::math::SQRT];

/// Computes the result of a payload with one output on `vectors`, one for each input.
///
/// `known` caches the broadcast vectors of values that are the same in all lanes.
pub(super) fn in_vectors<'c: 'a, 'a>(
    nest: &LoopNest<'c, 'a>,
    lanes: i64,
    at: &Builder<'c, 'a>,
    known: &mut HashMap<ValueKey, Value<'c, 'a>>,
    vectors: &[Value<'c, 'a>],
) -> Result<Value<'c, 'a>, Error> {
    let inputs = nest.inputs().iter().zip(vectors);
    let mut computed: HashMap<ValueKey, Value> =
        inputs.map(|(input, vector)| (ValueKey::of(input.element), *vector)).collect();
    let mut vector_of =
        |computed: &HashMap<ValueKey, Value<'c, 'a>>, value: Value<'c, 'a>, at: &Builder<'c, 'a>| {
            let key = ValueKey::of(value);
            if let Some(vector) = computed.get(&key).or_else(|| known.get(&key)) {
                return Ok(*vector);
            }
            let scalar = match Constant::of(value) {
                // The constant may be inside the payload, so it is cloned.
                Some(constant) => {
                    at.value(ops::arith::CONSTANT, &[], &[("value", constant.value()?)], value.r#type())?
                }
                None => value,
            };
            let kind = vector::of(&[lanes], scalar.r#type());
            let vector = at.value(ops::vector::BROADCAST, &[scalar], &[], kind)?;
            known.insert(key, vector);
            Ok(vector)
        };
    for op in nest.payload.iter().filter(|op| !op::is(*op, ops::arith::CONSTANT)) {
        let at = at.with_location(op.location());
        let operands: Result<Vec<Value>, Error> =
            op.operands().map(|value| vector_of(&computed, value, &at)).collect();
        let result = op.result(0)?;
        let kind = vector::of(&[lanes], result.r#type());
        let copied = at.insert(op::clone_with(op, &operands?, &[kind]));
        computed.insert(ValueKey::of(result), copied.result(0)?.into());
    }
    vector_of(&computed, *nest.yielded.first().ok_or(Error::OperationBuild)?, at)
}
