// SPDX-License-Identifier: Apache-2.0
//! `skript-divide-by-invariants`: replaces integer divisions by loop-invariant divisors with multiplications.
//!
//! LLVM strength-reduces division by a constant. Division by a loop-invariant value that is known only at run time, such as a dynamic
//! extent or a scalar input, costs a scalar instruction of 10 to 40 cycles per element. The pass computes the reciprocal of the divisor
//! once, as an f64. The error of a quotient that is computed with the reciprocal is less than 2¹¹. The error of the quotient of its
//! remainder is at most 1, and the second remainder shows this error. The pass adds a second version of each operation with such
//! divisions, which runs if all divisors are between 2 and 2³¹.
//!
//! Requires: buffers. Guarantees: results do not change.

use crate::ir::arith::Constant;
use crate::ir::attribute_names::GENERAL;
use crate::ir::builder::arith::Integers;
use crate::ir::linalg::Generic;
use crate::ir::memref::root_of;
use crate::ir::steps::Steps;
use crate::ir::walk::{named, nested};
use crate::ir::{self, Builder, Copier, ValueKey, attributes, ops};
use melior::Error;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::{IntegerType, MemRefType};
use melior::ir::{ShapedTypeLike, Type, TypeLike, Value, ValueLike};
use skript_dialect::{Dialect, Pass, op};
use skript_semantics::expansion::Value as Number;
use skript_semantics::{Class, Expansion, Scalar, ScalarOp};
use std::collections::HashMap;

/// The pass `skript-divide-by-invariants`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-divide-by-invariants",
    summary: "divide integers by loop-invariant divisors without divisions",
    dependent_dialects: &[Dialect::Arith, Dialect::MemRef, Dialect::Scf],
    run: |root, _, rewriter| {
        for op in named(root, ops::linalg::GENERIC) {
            let divisions = Divisions::from_op(op).filter(|_| is_long(op));
            if let Some(divisions) = divisions {
                divisions.emit(op, &Builder::before(rewriter.context(), op)?)?;
                ir::erase(op);
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Minimum number of elements of an operation with a second version.
const MIN_ELEMENTS: i64 = 256;

/// Maximum divisor: the remainder of the first quotient, which is less than 2¹¹ times the divisor, is exact in f64.
const MAX_DIVISOR: i64 = 1 << 31;

/// The divisions of an operation by loop-invariant divisors.
struct Divisions<'c, 'a> {
    /// The arguments of the payload that are loop-invariant elements of arrays of rank 0, with the arrays.
    scalars: HashMap<ValueKey, Value<'c, 'a>>,
    payload: Vec<OperationRef<'c, 'a>>,
    divisors: Vec<Value<'c, 'a>>,
}

/// A divisor that is computed before the operation: as an integer, and its reciprocal as an f64.
#[derive(Clone, Copy)]
struct Divisor<'c, 'a> {
    value: Value<'c, 'a>,
    reciprocal: Value<'c, 'a>,
}

/// Whether the operation may have many elements.
fn is_long(op: OperationRef) -> bool {
    let elements = op.operands().map(|array| {
        let extents = ir::memref::extents(array.r#type());
        if extents.iter().any(|extent| *extent < 0) {
            MIN_ELEMENTS
        } else {
            extents.iter().fold(1_i64, |all, e| all.saturating_mul(*e))
        }
    });
    elements.max().is_some_and(|max| max >= MIN_ELEMENTS)
}

/// Whether an operation divides indices or 64-bit integers, rounding down or toward zero.
fn divides(op: OperationRef) -> bool {
    let names = [ops::arith::FLOORDIVSI, ops::arith::DIVSI, ops::arith::REMSI];
    let is_wide = |r#type: Type| r#type.is_index() || r#type.to_string() == "i64";
    names.iter().any(|name| op::is(&op, name)) && op.results().any(|result| is_wide(result.r#type()))
}

impl<'c: 'a, 'a> Divisions<'c, 'a> {
    /// `None` for an operation without such divisions.
    fn from_op(op: OperationRef<'c, 'a>) -> Option<Self> {
        let is_general = op.attribute(GENERAL).is_ok() || op.result_count() > 0;
        let generic = Generic::cast(op).filter(|_| !is_general)?;
        let payload = nested(op);
        if !payload.iter().any(|op| divides(*op)) {
            return None;
        }
        let body = generic.body()?;
        let outputs = ir::operations(body).last()?.operand_count();
        let inputs = op.operand_count().checked_sub(outputs)?;
        let arrays: Vec<Value> = op.operands().collect();
        let (inputs, outputs) = arrays.split_at_checked(inputs)?;
        let elements = ir::arguments(body);
        let scalars = inputs.iter().zip(elements).filter(|(array, _)| {
            let is_one = MemRefType::try_from(array.r#type()).is_ok_and(|memref| memref.rank() == 0);
            let is_written = outputs.iter().any(|output| root_of(*output) == root_of(**array));
            is_one && !is_written
        });
        let mut divisions = Divisions {
            scalars: scalars.map(|(array, element)| (ValueKey::of(element), *array)).collect(),
            payload,
            divisors: Vec::new(),
        };
        for division in divisions.payload.iter().filter(|op| divides(**op)) {
            let (x, divisor) = (ir::operand_at(*division, 0)?, ir::operand_at(*division, 1)?);
            let is_known = divisions.divisors.iter().any(|d| ValueKey::of(*d) == ValueKey::of(divisor));
            // LLVM strength-reduces divisions by constants, and hoists loop-invariant divisions.
            let is_variable = Constant::of(divisor).is_none() && !divisions.is_invariant(x, MAX_DEPTH);
            if is_variable && !is_known && divisions.is_invariant(divisor, MAX_DEPTH) {
                divisions.divisors.push(divisor);
            }
        }
        (!divisions.divisors.is_empty()).then_some(divisions)
    }

    /// Whether a value can be computed before the operation.
    fn is_invariant(&self, value: Value<'c, 'a>, depth: usize) -> bool {
        if self.scalars.contains_key(&ValueKey::of(value)) {
            return true;
        }
        match ir::definition(value) {
            Some((maker, _)) if !self.payload.contains(&maker) => true,
            Some((maker, _)) => {
                let is_plain = op::has_elementwise_trait(&maker)
                    || op::is(&maker, ops::arith::CONSTANT)
                    || op::is(&maker, ops::arith::INDEX_CAST);
                let mut operands = maker.operands();
                is_plain
                    && maker.region_count() == 0
                    // A division is not hoisted, because the divisor may be zero in an operation without points.
                    && !divides(maker)
                    && depth > 0
                    && operands.all(|operand| self.is_invariant(operand, depth - 1))
            }
            None => !self.is_argument(value),
        }
    }

    /// Whether a value is an argument of a block of the operation.
    fn is_argument(&self, value: Value<'c, 'a>) -> bool {
        let blocks = self.payload.iter().filter_map(|op| op.block());
        let mut arguments = blocks.flat_map(ir::arguments);
        arguments.any(|argument| ValueKey::of(argument) == ValueKey::of(value))
    }

    /// Computes a loop-invariant value before the operation.
    fn outside(
        &self,
        value: Value<'c, 'a>,
        known: &mut Copier<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let replacement = known.get(value);
        if ValueKey::of(replacement) != ValueKey::of(value) {
            return Ok(replacement);
        }
        if let Some(array) = self.scalars.get(&ValueKey::of(value)) {
            let loaded = at.value(ops::memref::LOAD, &[*array], &[], value.r#type())?;
            known.set(value, loaded);
            return Ok(loaded);
        }
        match ir::definition(value).filter(|(maker, _)| self.payload.contains(maker)) {
            None => Ok(value),
            Some((maker, _)) => {
                for operand in maker.operands() {
                    self.outside(operand, known, at)?;
                }
                known.copy(maker, at, &mut |_, _, _| Ok(false))?;
                Ok(known.get(value))
            }
        }
    }

    /// Emits both versions of the operation.
    fn emit(&self, op: OperationRef<'c, 'a>, at: &Builder<'c, 'a>) -> Result<(), Error> {
        let i64 = Type::from(IntegerType::new(at.context, 64));
        let f64 = Type::float64(at.context);
        let mut known = Copier::new();
        let mut divisors = HashMap::new();
        let mut in_range = None;
        let one = at.constant(Scalar::Real(1.0), f64)?;
        for divisor in &self.divisors {
            let outside = self.outside(*divisor, &mut known, at)?;
            let value = as_i64(outside, at);
            let above_min = at.cmpi(Integers::SignedAtLeast, value, at.int(2, i64));
            let max = at.int(MAX_DIVISOR, i64);
            let below_max = at.cmpi(Integers::SignedAtLeast, max, value);
            for condition in [above_min, below_max] {
                in_range = Some(match in_range {
                    None => condition,
                    Some(all) => at.andi(all, condition),
                });
            }
            let real = at.value(ops::arith::SITOFP, &[value], &[], f64)?;
            let reciprocal = at.divf(one, real);
            divisors.insert(ValueKey::of(*divisor), Divisor { value, reciprocal });
        }

        let (fast, then, _) = at.region(&[]);
        let mut copier = Copier::new();
        copier.copy(op, &then, &mut |copier, inner, to| {
            let divisor = ir::operand_at(inner, 1).filter(|_| divides(inner));
            let divisor = divisor.and_then(|divisor| divisors.get(&ValueKey::of(divisor)));
            let Some(divisor) = divisor else {
                return Ok(false);
            };
            let quotient = divisor.apply(inner, copier.get(inner.operand(0)?), to)?;
            copier.set(inner.result(0)?, quotient);
            Ok(true)
        })?;
        then.create(ops::scf::YIELD, &[], &[], &[], Vec::new())?;
        let (slow, otherwise, _) = at.region(&[]);
        let general = Copier::new().rebuild(op, &otherwise, &mut |_, _, _| Ok(false))?;
        ir::set_attribute(general, GENERAL, attributes::unit(at.context));
        otherwise.create(ops::scf::YIELD, &[], &[], &[], Vec::new())?;
        let in_range = in_range.ok_or(Error::OperationBuild)?;
        at.create(ops::scf::IF, &[in_range], &[], &[], vec![fast, slow])?;
        Ok(())
    }
}

/// Maximum depth of the operations that compute a divisor.
const MAX_DEPTH: usize = 8;

impl<'c: 'a, 'a> Divisor<'c, 'a> {
    /// Computes the result of a division of `x`.
    fn apply(
        &self,
        division: OperationRef<'c, 'a>,
        x: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let name = ir::name(division);
        let classes = [Class::I64, Class::I64, Class::F64];
        let expansion =
            Expansion::record(classes, |[x, divisor, reciprocal]| divided(&name, x, divisor, reciprocal));
        let kind = division.result(0)?.r#type();
        let operands = [as_i64(x, at), self.value, self.reciprocal];
        let result = expansion.emit(&mut Steps::new(*at, self.value.r#type()), &operands)?;
        if kind.is_index() { at.value(ops::arith::INDEX_CAST, &[result], &[], kind) } else { Ok(result) }
    }
}

/// Computes the quotient or the remainder of a division by the reciprocal of the divisor.
fn divided<'b>(name: &str, x: Number<'b>, divisor: Number<'b>, reciprocal: Number<'b>) -> Number<'b> {
    let approximate = |x: Number<'b>| {
        let quotient = (x.to(Class::F64) * reciprocal).to(Class::I64);
        (quotient, x - quotient * divisor)
    };
    let (first, remainder) = approximate(x);
    let (second, remainder) = approximate(remainder);
    let quotient = first + second;
    let is_below = remainder.less(0);
    let quotient = is_below.select(quotient - 1, quotient);
    let remainder = is_below.select(remainder + divisor, remainder);
    let is_above = remainder.compare(ScalarOp::Ge, divisor);
    let quotient = is_above.select(quotient + 1, quotient);
    let remainder = is_above.select(remainder - divisor, remainder);
    // Rounding toward zero increments the quotient of a negative number with a nonzero remainder.
    let is_next = || x.less(0).and(remainder.constant(0).less(remainder));
    match name {
        ops::arith::FLOORDIVSI => quotient,
        ops::arith::DIVSI => is_next().select(quotient + 1, quotient),
        _ => is_next().select(remainder - divisor, remainder),
    }
}

fn as_i64<'c: 'a, 'a>(value: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Value<'c, 'a> {
    let i64 = Type::from(IntegerType::new(at.context, 64));
    if value.r#type().is_index() { at.index_cast(value, i64) } else { value }
}
