// SPDX-License-Identifier: Apache-2.0
//! Casts between widths: to the nearest value of the narrower type, rounded once.

use super::tensors::Tensors;
use melior::Error;
use melior::ir::r#type::IntegerType;
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::melior;
use skript_passes::ir::types;
use skript_semantics::Scalar;

/// The tensor of integers, or of floats, with elements of this type of the same kind.
pub(crate) fn width<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    element: Type<'c>,
    at: &Tensors<'c, 'a>,
) -> Result<Value<'c, 'a>, Error> {
    let extents = at.extents(value)?;
    let r#type = types::tensor(&extents, element);
    if value.r#type() == r#type {
        return Ok(value);
    }
    let width = |t| IntegerType::try_from(t).map(|t| t.width());
    let from = at.element(value)?;
    let value = match (width(from), width(element)) {
        (Ok(wide), Ok(narrow)) if narrow < wide => nearest(value, narrow, &extents, at)?,
        // Through f32, as XLA converts to bf16.
        (Err(_), Err(_)) if from.float_width() == 64 && element.float_width() == 16 => {
            rounded_to_odd(value, &extents, at)?
        }
        _ => value,
    };
    at.op("convert", &[value], &[], r#type)
}

/// A conversion that would truncate bits: saturates instead.
fn nearest<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    width: u32,
    extents: &[i64],
    at: &Tensors<'c, 'a>,
) -> Result<Value<'c, 'a>, Error> {
    let bound = |i| at.splat(Scalar::Int(i), extents, at.element(value)?);
    let least = types::least(width);
    let above = at.same("maximum", &[value, bound(least)?])?;
    at.same("minimum", &[above, bound(!least)?])
}

/// Rounds an f64 to f32 such that one more rounding gives the correctly rounded result: an inexact value gets an odd
/// last digit. The even neighbour that rounding to nearest gives moves by one towards the value; its magnitude's bits
/// are an int in the same order.
fn rounded_to_odd<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    extents: &[i64],
    at: &Tensors<'c, 'a>,
) -> Result<Value<'c, 'a>, Error> {
    let context = at.at.context;
    let of = |element| types::tensor(extents, element);
    let word: Type<'c> = IntegerType::new(context, 32).into();
    let number = |i| at.splat(Scalar::Int(i), extents, word);
    let single = of(Type::float32(context));
    let near = at.op("convert", &[value], &[], single)?;
    let back = at.op("convert", &[near], &[], value.r#type())?;
    let bits = at.op("bitcast_convert", &[near], &[], of(word))?;
    let magnitudes = [at.same("abs", &[value])?, at.same("abs", &[back])?];
    let outward = at.compare("GT", "FLOAT", magnitudes[0], magnitudes[1])?;
    let step = at.select(outward, number(1)?, number(-1)?)?;
    let moved = at.same("add", &[bits, step])?;
    let last = at.same("and", &[bits, number(1)?])?;
    let is_odd = at.compare("NE", "SIGNED", last, number(0)?)?;
    let moved = at.select(is_odd, bits, moved)?;
    let inexact = at.compare("NE", "FLOAT", value, back)?;
    let kept = at.select(inexact, moved, bits)?;
    at.op("bitcast_convert", &[kept], &[], single)
}
