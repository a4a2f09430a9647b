// SPDX-License-Identifier: Apache-2.0
//! `skript-divide-by-invariants`: divisions of integers by what stays the same for all elements become multiplications.
//!
//! Of a constant divisor LLVM knows the factor. Of one that is known at run time only, as a dynamic extent or a scalar input is, each
//! element takes an instruction of 10 to 40 cycles, which no vector has. The reciprocal of the divisor is computed once, as a f64. The
//! quotient of an element, computed by it, is off by less than 2¹¹; that of what is left is off by at most 1, which the sign of the
//! rest shows. An operation with such divisions gets a second form, which is taken where all divisors are between 2 and 2³¹.
//!
//! Requires: buffers. Guarantees: the same integers as before.

use crate::ir::arith::Constant;
use crate::ir::attribute_names::GENERAL;
use crate::ir::linalg::Generic;
use crate::ir::memref::root_of;
use crate::ir::walk::{named, nested};
use crate::ir::{self, Builder, Copier, ValueKey, attributes, maps, ops, types};
use melior::Error;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::{IntegerType, MemRefType};
use melior::ir::{ShapedTypeLike, Type, TypeLike, Value, ValueLike};
use skript_dialect::{Dialect, Pass, op};
use skript_semantics::Scalar;
use std::collections::HashMap;

/// The pass `skript-divide-by-invariants`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-divide-by-invariants",
    summary: "divide integers by divisors that stay the same without divisions",
    dependent_dialects: &[Dialect::Arith, Dialect::MemRef, Dialect::Scf],
    run: |root, _, rewriter| {
        for op in named(root, ops::linalg::GENERIC) {
            let divisions = Divisions::of(op).filter(|_| is_long(op));
            if let Some(divisions) = divisions {
                divisions.emit(op, &Builder::before(rewriter.context(), op)?)?;
                ir::erase(op);
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Elements of the smallest operation that gets a second form.
const FEWEST: i64 = 256;

/// The greatest divisor: the rest of the first quotient, less than 2¹¹ times it, is exact as a f64.
const GREATEST: i64 = 1 << 31;

/// `slt` and `sge` of `arith.cmpi`.
const LESS: i64 = 2;
const AT_LEAST: i64 = maps::SIGNED_AT_LEAST;

/// The divisions of an operation by what stays the same.
struct Divisions<'c, 'a> {
    /// The arguments of the payload that are one element for all loops, with the arrays of it.
    scalars: HashMap<ValueKey, Value<'c, 'a>>,
    /// What the payload computes.
    payload: Vec<OperationRef<'c, 'a>>,
    divisors: Vec<Value<'c, 'a>>,
}

/// A divisor before the operation: as an integer, and its reciprocal.
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
            FEWEST
        } else {
            extents.iter().fold(1_i64, |all, e| all.saturating_mul(*e))
        }
    });
    elements.max().is_some_and(|most| most >= FEWEST)
}

/// Whether an operation divides indices or integers of 64 bits, rounding down or to zero.
fn divides(op: OperationRef) -> bool {
    let names = [ops::arith::FLOORDIVSI, ops::arith::DIVSI, ops::arith::REMSI];
    let is_wide = |r#type: Type| r#type.is_index() || r#type.to_string() == "i64";
    names.iter().any(|name| op::is(&op, name)) && op.results().any(|result| is_wide(result.r#type()))
}

impl<'c: 'a, 'a> Divisions<'c, 'a> {
    /// `None` for an operation without such divisions.
    fn of(op: OperationRef<'c, 'a>) -> Option<Self> {
        let is_general = op.attribute(GENERAL).is_ok() || op.result_count() > 0;
        let generic = Generic::cast(op).filter(|_| !is_general)?;
        let payload = nested(op);
        if !payload.iter().any(|own| divides(*own)) {
            return None;
        }
        let body = generic.body()?;
        let outputs = ir::operations(body).last()?.operand_count();
        let inputs = op.operand_count().checked_sub(outputs)?;
        let arrays: Vec<Value> = op.operands().collect();
        let (inputs, outputs) = arrays.split_at_checked(inputs)?;
        let elements = ir::arguments(body);
        let scalars = inputs.iter().zip(elements).filter(|(array, _)| {
            let is_one = MemRefType::try_from(array.r#type()).is_ok_and(|own| own.rank() == 0);
            let is_written = outputs.iter().any(|own| root_of(*own) == root_of(**array));
            is_one && !is_written
        });
        let mut own = Divisions {
            scalars: scalars.map(|(array, element)| (ValueKey::of(element), *array)).collect(),
            payload,
            divisors: Vec::new(),
        };
        for division in own.payload.iter().filter(|op| divides(**op)) {
            let (x, divisor) = (division.operand(0).ok()?, division.operand(1).ok()?);
            let is_known = own.divisors.iter().any(|d| ValueKey::of(*d) == ValueKey::of(divisor));
            // LLVM divides by constants, and computes what stays the same before the loops.
            let is_variable = Constant::of(divisor).is_none() && !own.stays(x, DEEPEST);
            if is_variable && !is_known && own.stays(divisor, DEEPEST) {
                own.divisors.push(divisor);
            }
        }
        (!own.divisors.is_empty()).then_some(own)
    }

    /// Whether a value can be computed before the operation.
    fn stays(&self, value: Value<'c, 'a>, depth: usize) -> bool {
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
                    // A division by zero is not moved to where it may be reached.
                    && !divides(maker)
                    && depth > 0
                    && operands.all(|operand| self.stays(operand, depth - 1))
            }
            None => !self.is_argument(value),
        }
    }

    /// Whether a value is an argument of a block of the operation.
    fn is_argument(&self, value: Value<'c, 'a>) -> bool {
        let blocks = self.payload.iter().filter_map(|own| own.block());
        let mut arguments = blocks.flat_map(ir::arguments);
        arguments.any(|own| ValueKey::of(own) == ValueKey::of(value))
    }

    /// Computes a value that stays before the operation.
    fn outside(
        &self,
        value: Value<'c, 'a>,
        known: &mut Copier<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let found = known.get(value);
        if ValueKey::of(found) != ValueKey::of(value) {
            return Ok(found);
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

    /// Adds both forms of the operation.
    fn emit(&self, op: OperationRef<'c, 'a>, at: &Builder<'c, 'a>) -> Result<(), Error> {
        let i64 = Type::from(IntegerType::new(at.context, 64));
        let f64 = Type::float64(at.context);
        let mut known = Copier::new();
        let mut divisors = HashMap::new();
        let mut suit = None;
        let one = at.constant(Scalar::Real(1.0), f64)?;
        for divisor in &self.divisors {
            let outside = self.outside(*divisor, &mut known, at)?;
            let value = as_i64(outside, at)?;
            let least = at.compare(AT_LEAST, value, at.constant(Scalar::Int(2), i64)?)?;
            let most = at.constant(Scalar::Int(GREATEST), i64)?;
            let most = at.compare(AT_LEAST, most, value)?;
            let flag = types::flag(at.context);
            for condition in [least, most] {
                suit = Some(match suit {
                    None => condition,
                    Some(all) => at.value(ops::arith::ANDI, &[all, condition], &[], flag)?,
                });
            }
            let real = at.value(ops::arith::SITOFP, &[value], &[], f64)?;
            let reciprocal = at.value(ops::arith::DIVF, &[one, real], &[], f64)?;
            divisors.insert(ValueKey::of(*divisor), Divisor { value, reciprocal });
        }

        let (fast, then, _) = at.region(&[]);
        let mut copier = Copier::new();
        copier.copy(op, &then, &mut |copier, own, to| {
            let divisor = own.operand(1).ok().filter(|_| divides(own));
            let divisor = divisor.and_then(|divisor| divisors.get(&ValueKey::of(divisor)));
            let Some(divisor) = divisor else {
                return Ok(false);
            };
            let quotient = divisor.apply(own, copier.get(own.operand(0)?), to)?;
            copier.set(own.result(0)?, quotient);
            Ok(true)
        })?;
        then.create(ops::scf::YIELD, &[], &[], &[], Vec::new())?;
        let (slow, otherwise, _) = at.region(&[]);
        let general = Copier::new().rebuild(op, &otherwise, &mut |_, _, _| Ok(false))?;
        ir::set_attribute(general, GENERAL, attributes::unit(at.context));
        otherwise.create(ops::scf::YIELD, &[], &[], &[], Vec::new())?;
        let suit = suit.ok_or(Error::OperationBuild)?;
        at.create(ops::scf::IF, &[suit], &[], &[], vec![fast, slow])?;
        Ok(())
    }
}

/// The longest chain of operations that make a divisor.
const DEEPEST: usize = 8;

impl<'c: 'a, 'a> Divisor<'c, 'a> {
    /// The result of a division of `x`.
    fn apply(
        &self,
        division: OperationRef<'c, 'a>,
        x: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let i64 = Type::from(IntegerType::new(at.context, 64));
        let f64 = Type::float64(at.context);
        let whole = |name, a, b| at.value(name, &[a, b], &[], i64);
        let choose = |flag, a, b| at.value(ops::arith::SELECT, &[flag, a, b], &[], i64);
        let number = |value: i64| at.constant(Scalar::Int(value), i64);
        let x = as_i64(x, at)?;
        let approximate = |x| {
            let real = at.value(ops::arith::SITOFP, &[x], &[], f64)?;
            let product = at.value(ops::arith::MULF, &[real, self.reciprocal], &[], f64)?;
            let quotient = at.value(ops::arith::FPTOSI, &[product], &[], i64)?;
            let multiple = whole(ops::arith::MULI, quotient, self.value)?;
            Ok::<_, Error>((quotient, whole(ops::arith::SUBI, x, multiple)?))
        };
        let (first, rest) = approximate(x)?;
        let (second, rest) = approximate(rest)?;
        let mut quotient = whole(ops::arith::ADDI, first, second)?;
        let (zero, one) = (number(0)?, number(1)?);
        let below = at.compare(LESS, rest, zero)?;
        let less = whole(ops::arith::SUBI, quotient, one)?;
        quotient = choose(below, less, quotient)?;
        let more = whole(ops::arith::ADDI, rest, self.value)?;
        let mut rest = choose(below, more, rest)?;
        let above = at.compare(AT_LEAST, rest, self.value)?;
        let more = whole(ops::arith::ADDI, quotient, one)?;
        quotient = choose(above, more, quotient)?;
        let less = whole(ops::arith::SUBI, rest, self.value)?;
        rest = choose(above, less, rest)?;

        // Rounded to zero, a negative number with a rest has the next quotient.
        let result = if op::is(&division, ops::arith::FLOORDIVSI) {
            quotient
        } else {
            let is_negative = at.compare(LESS, x, zero)?;
            let has_rest = at.compare(LESS, zero, rest)?;
            let flag = types::flag(at.context);
            let is_next = at.value(ops::arith::ANDI, &[is_negative, has_rest], &[], flag)?;
            if op::is(&division, ops::arith::DIVSI) {
                let next = whole(ops::arith::ADDI, quotient, one)?;
                choose(is_next, next, quotient)?
            } else {
                let next = whole(ops::arith::SUBI, rest, self.value)?;
                choose(is_next, next, rest)?
            }
        };
        let kind = division.result(0)?.r#type();
        if kind.is_index() { at.value(ops::arith::INDEX_CAST, &[result], &[], kind) } else { Ok(result) }
    }
}

fn as_i64<'c: 'a, 'a>(value: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
    let i64 = Type::from(IntegerType::new(at.context, 64));
    if value.r#type().is_index() { at.value(ops::arith::INDEX_CAST, &[value], &[], i64) } else { Ok(value) }
}
