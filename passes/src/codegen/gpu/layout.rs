// SPDX-License-Identifier: Apache-2.0
//! Addresses of elements of arrays, as values of the code.

use crate::extents::size;
use crate::ir::{self, Builder, ops, types};
use melior::ir::operation::OperationLike;
use melior::ir::r#type::MemRefType;
use melior::ir::{ShapedTypeLike, Type, Value, ValueLike};
use skript_dialect::PassError;

/// Offset, extents and strides of an array, in elements, by `memref.extract_strided_metadata`.
pub(super) struct Layout<'c, 'a> {
    pub(super) offset: Value<'c, 'a>,
    pub(super) strides: Vec<Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Layout<'c, 'a> {
    pub(super) fn of(array: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Self, PassError> {
        let index = Type::index(at.context);
        let r#type = MemRefType::try_from(array.r#type())?;
        let rank = r#type.rank();
        let mut results = vec![types::memref(&[], r#type.element())];
        results.resize(2 + 2 * rank, index);
        let metadata =
            at.create(ops::memref::EXTRACT_STRIDED_METADATA, &[array], &[], &results, Vec::new())?;
        let strides = metadata.results().skip(2 + rank).map(Value::from);
        Ok(Layout { offset: metadata.result(1)?.into(), strides: strides.collect() })
    }
}

/// The address of the first element of an array's buffer.
pub(super) fn pointer<'c: 'a, 'a>(
    array: Value<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let index = Type::index(at.context);
    Ok(at.value(ops::memref::EXTRACT_ALIGNED_POINTER_AS_INDEX, &[array], &[], index)?)
}

/// The number of an element in its buffer.
pub(super) fn linear<'c: 'a, 'a>(
    layout: &Layout<'c, 'a>,
    position: &[Value<'c, 'a>],
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let index = Type::index(at.context);
    let mut number = layout.offset;
    for (position, stride) in position.iter().zip(&layout.strides) {
        let part = at.value(ops::arith::MULI, &[*position, *stride], &[], index)?;
        number = at.value(ops::arith::ADDI, &[number, part], &[], index)?;
    }
    Ok(number)
}

/// Bytes of an element in memory.
pub(super) fn bytes(element: Type) -> Result<i64, PassError> {
    let bytes = size::element_bytes(&element.to_string());
    let bytes = bytes.and_then(|bytes| i64::try_from(bytes).ok());
    bytes.ok_or_else(|| PassError::from(format!("elements of {element} have no size")))
}

/// A number as an `i64` with the same bits in its low ones.
pub(super) fn word<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    use melior::ir::TypeLike;
    let word = types::word(at.context);
    let r#type = value.r#type();
    if r#type.is_index() {
        return Ok(at.value(ops::arith::INDEX_CAST, &[value], &[], word)?);
    }
    let mut value = value;
    if r#type.is_float() {
        let bits = integer(at, bytes(r#type)? * 8)?;
        value = at.value(ops::arith::BITCAST, &[value], &[], bits)?;
    }
    if value.r#type() == word { Ok(value) } else { Ok(at.value(ops::arith::EXTUI, &[value], &[], word)?) }
}

/// The number of a type whose bits are the low ones of an `i64`.
pub(super) fn of_word<'c: 'a, 'a>(
    word: Value<'c, 'a>,
    r#type: Type<'c>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    use melior::ir::TypeLike;
    if r#type.is_index() {
        return Ok(at.value(ops::arith::INDEX_CAST, &[word], &[], r#type)?);
    }
    let bits = if r#type.is_float() { integer(at, bytes(r#type)? * 8)? } else { r#type };
    let mut value = word;
    if value.r#type() != bits {
        value = at.value(ops::arith::TRUNCI, &[value], &[], bits)?;
    }
    if value.r#type() == r#type {
        Ok(value)
    } else {
        Ok(at.value(ops::arith::BITCAST, &[value], &[], r#type)?)
    }
}

/// The integer type of a width.
pub(super) fn integer<'c>(at: &Builder<'c, '_>, bits: i64) -> Result<Type<'c>, PassError> {
    let bits = u32::try_from(bits).map_err(|_| "an integer without a width")?;
    Ok(melior::ir::r#type::IntegerType::new(at.context, bits).into())
}

/// A constant `i64`.
pub(super) fn constant<'c: 'a, 'a>(value: i64, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
    let word = types::word(at.context);
    let value = ir::attributes::i64(at.context, value);
    Ok(at.value(ops::arith::CONSTANT, &[], &[("value", value)], word)?)
}
