// SPDX-License-Identifier: Apache-2.0
//! `convert-stablehlo-scalar-to-arith`: converts elementwise StableHLO operations on scalars to `arith`, `math` and
//! `complex`.
//!
//! Results that StableHLO leaves undefined are the same as in XLA: integers wrap around, `x / 0` has all bits set, the
//! remainder by 0 is `x`, and conversions of floats to integers truncate, saturate, and map NaN to 0. Half precision is
//! computed in f32 and rounded after each operation.
//!
//! Guarantees: no elementwise StableHLO operation on scalars remains. Casts convert unsigned values;
//! `skript-drop-signs` removes the casts.

pub(crate) mod compare;
mod complex;
mod convert;
mod integer;
pub(crate) mod precision;
pub(crate) mod principal;
mod real;

use super::element::Element;
use melior::ir::{OperationRef, TypeLike, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::melior::ir::operation::OperationLike;
use skript_dialect::{Dialect, Pass, PassError, op};
use skript_passes::ir::builder::arith::Reals;
use skript_passes::ir::{self, Builder, context, ops, replace_each, types};
use skript_semantics::RealType;

/// The pass `convert-stablehlo-scalar-to-arith`.
pub(crate) const PASS: Pass = Pass {
    flag: "convert-stablehlo-scalar-to-arith",
    summary: "StableHLO on scalars becomes arith, math and complex",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Math, Dialect::Scf, Dialect::Complex, Dialect::Func],
    run: |root, _, rewriter| {
        replace_each(op::collect(&root, is_scalar), rewriter, |op| {
            let value = lower(op)?.ok_or("has no form on these operands")?;
            Ok(vec![value])
        })
    },
    ..Pass::NONE
};

/// Whether an operation is an elementwise StableHLO operation on scalars.
fn is_scalar(op: OperationRef<'_, '_>) -> bool {
    op::name(&op).starts_with("stablehlo.")
        && op::has_elementwise_trait(&op)
        && op.results().all(|r| !r.r#type().is_tensor())
}

/// The value that replaces the operation; `None` if it is not supported.
fn lower<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<Option<Value<'c, 'a>>, PassError> {
    let operands: Vec<_> = op.operands().collect();
    let first = operands.first().and_then(|v| Element::from_type(v.r#type()));
    let to = Element::from_type(ir::result(op)?.r#type());
    let (Some(from), Some(to)) = (first, to) else {
        return Ok(None);
    };
    let at = Builder::before(context::of(op), op)?;
    let operands: Vec<Value> = operands.into_iter().map(|value| from.without_sign(value, &at)).collect();
    let result = form(&at, op, &operands, [from, to]);
    Ok(result.map(|value| to.with_sign(value, &at)))
}

/// The value of an operation; `operands` are signless. The verifier has checked their number.
fn form<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    op: OperationRef<'c, 'a>,
    operands: &[Value<'c, 'a>],
    [from, to]: [Element; 2],
) -> Option<Value<'c, 'a>> {
    let name = op::name(&op);
    let name = name.trim_start_matches("stablehlo.");
    let x = *operands.first()?;
    let both = [x, operands.get(1).copied().unwrap_or(x)];
    match name {
        "compare" => return Some(compare::compare(at, both, from, &compare::direction(op)?)),
        "reduce_precision" => return precision::reduce(at, x, from, precision::format(op)?),
        "convert" => return Some(convert::between(at, x, from, to)),
        "complex" => return Some(at.make(ops::complex::CREATE, &both, &[], to.signless(at.context))),
        _ => {}
    }
    match from {
        Element::Pred => integer::of_preds(at, name, both),
        Element::Signed(width) => integer::of_integers(at, name, both, width, true),
        Element::Unsigned(width) => integer::of_integers(at, name, both, width, false),
        Element::Complex(_) => complex::of_pairs(at, name, both),
        Element::Float(float) if float.is_half() => {
            let wide: Vec<Value> = operands.iter().map(|value| widen(at, *value, float)).collect();
            let value = real::of_reals(at, name, [*wide.first()?, *wide.get(1).unwrap_or(wide.first()?)])?;
            match to {
                Element::Float(to) => Some(narrow(at, value, to)),
                _ => Some(value),
            }
        }
        Element::Float(_) => real::of_reals(at, name, both),
    }
}

/// Converts a half-precision float to f32; bf16 by integer operations, because some processors lack the instruction.
fn widen<'c: 'a, 'a>(at: &Builder<'c, 'a>, value: Value<'c, 'a>, float: RealType) -> Value<'c, 'a> {
    let (word, single) = (types::int(at.context, 32), types::real(at.context, RealType::F32));
    match float {
        RealType::BF16 => {
            let bits = at.bitcast(value, types::int(at.context, 16));
            let bits = at.convert(ops::arith::EXTUI, bits, word);
            at.bitcast(at.shli(bits, at.int(16, word)), single)
        }
        RealType::F16 => at.convert(ops::arith::EXTF, value, single),
        RealType::F32 | RealType::F64 => value,
    }
}

/// Rounds an f32 to half precision: to nearest, ties to even.
fn narrow<'c: 'a, 'a>(at: &Builder<'c, 'a>, value: Value<'c, 'a>, float: RealType) -> Value<'c, 'a> {
    let word = types::int(at.context, 32);
    match float {
        RealType::BF16 => {
            let bits = at.bitcast(value, word);
            let (sixteen, one) = (at.int(16, word), at.int(1, word));
            let odd = at.andi(at.shrui(bits, sixteen), one);
            let bias = at.addi(odd, at.int(0x7fff, word));
            let rounded = at.shrui(at.addi(bits, bias), sixteen);
            let is_nan = at.cmpf(Reals::Unordered, value, value);
            let bits = at.select(is_nan, at.int(0x7fc0, word), rounded);
            let bits = at.convert(ops::arith::TRUNCI, bits, types::int(at.context, 16));
            at.bitcast(bits, types::real(at.context, float))
        }
        RealType::F16 => at.convert(ops::arith::TRUNCF, value, types::real(at.context, float)),
        RealType::F32 | RealType::F64 => value,
    }
}
