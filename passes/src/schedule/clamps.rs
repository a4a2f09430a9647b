// SPDX-License-Identifier: Apache-2.0
//! `skript-split-clamps`: splits elementwise operations where a clamped subscript meets its bounds.
//!
//! A stencil reads `x[i, min(j + 1, n - 1)]`: the neighbour, and at the end of a row the last element again. LLVM gathers such elements one by one.
//! Between the ends of the rows the subscript is `j + 1`, and the elements are next to each other. The operation becomes one for the columns
//! where all clamps, comparisons and remainders of subscripts are decided, and one for the columns on each side.
//!
//! The sides are whole vectors, so that the columns between them leave no elements over.
//!
//! Requires: `linalg.generic` on static arrays. Guarantees: each element is computed by the same operations as before, but for selections that
//! are decided; the columns at the sides are at most half.

use super::phases::extents;
use crate::ir::arith::{CompareIntegers, Constant};
use crate::ir::copy::{Copier, with_attributes};
use crate::ir::walk::named;
use crate::ir::{self, Builder, ValueKey, linalg, maps, memref, ops, types};
use melior::Context;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError};
use skript_symbolic::Affine;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// The pass `skript-split-clamps`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-split-clamps",
    summary: "split elementwise operations where clamped subscripts meet their bounds",
    dependent_dialects: &[Dialect::Arith, Dialect::Linalg, Dialect::MemRef],
    run: |root, _, rewriter| {
        for op in named(root, ops::linalg::GENERIC) {
            if let Some(split) = Split::of(op) {
                split.apply(rewriter.context())?;
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// The columns on one side are a multiple of this, the elements of a vector.
const ALIGNMENT: i64 = 16;

/// The fewest columns of an operation that is split.
const FEWEST: i64 = 4 * ALIGNMENT;

/// The most columns where subscripts may change that are looked at on one side.
const MOST_CUTS: usize = 8;

/// What is known of an integer in some columns.
#[derive(Clone, Copy)]
struct Fact {
    low: i64,
    high: i64,
    /// `factor · column + offset`
    form: Option<(i64, i64)>,
}

impl Fact {
    fn constant(value: i64) -> Self {
        Fact { low: value, high: value, form: Some((0, value)) }
    }

    fn between(low: i64, high: i64) -> Self {
        Fact { low, high, form: None }
    }

    fn plus(self, other: Fact) -> Option<Fact> {
        let form = self.form.zip(other.form);
        Some(Fact {
            low: self.low.checked_add(other.low)?,
            high: self.high.checked_add(other.high)?,
            form: form.and_then(|(a, b)| Some((a.0.checked_add(b.0)?, a.1.checked_add(b.1)?))),
        })
    }

    fn negated(self) -> Option<Fact> {
        Some(Fact {
            low: self.high.checked_neg()?,
            high: self.low.checked_neg()?,
            form: self.form.map(|(factor, offset)| (-factor, -offset)),
        })
    }

    /// The number, if it is one and more than zero.
    fn divisor(self) -> Option<i64> {
        (self.low == self.high && self.low > 0).then_some(self.low)
    }

    /// Whether it is the column, but for an offset.
    fn is_contiguous(self) -> bool {
        self.form.is_some_and(|(factor, _)| factor == 1)
    }
}

/// What an operation is in some columns.
enum Decided<'c, 'a> {
    /// An operand.
    Value(Value<'c, 'a>),
    /// An operand less a number.
    Less(Value<'c, 'a>, i64),
    /// A truth value.
    Flag(bool),
}

/// What is known of the integers of a payload.
struct Facts<'s> {
    extents: &'s [i64],
    columns: Range<i64>,
    known: HashMap<ValueKey, Fact>,
}

impl<'s> Facts<'s> {
    fn of<'c: 'a, 'a>(payload: &[OperationRef<'c, 'a>], extents: &'s [i64], columns: Range<i64>) -> Self {
        let mut facts = Facts { extents, columns, known: HashMap::new() };
        for op in payload {
            if let Some(fact) = facts.compute(*op)
                && let Ok(result) = op.result(0)
            {
                facts.known.insert(ValueKey::of(result), fact);
            }
        }
        facts
    }

    fn get(&self, value: Value) -> Option<Fact> {
        let constant = || Constant::of(value)?.integer().map(Fact::constant);
        let known = self.known.get(&ValueKey::of(value)).copied();
        known.or_else(constant)
    }

    fn operand(&self, op: OperationRef, number: usize) -> Option<Fact> {
        self.get(ir::operand_at(op, number)?)
    }

    fn compute<'c: 'a, 'a>(&self, op: OperationRef<'c, 'a>) -> Option<Fact> {
        if let Some(index) = linalg::index_of(op) {
            let is_column = index + 1 == self.extents.len();
            return Some(if is_column {
                Fact { form: Some((1, 0)), ..Fact::between(self.columns.start, self.columns.end - 1) }
            } else {
                Fact::between(0, self.extents.get(index)? - 1)
            });
        }
        match self.decided(op) {
            Some(Decided::Value(value)) => return self.get(value),
            Some(Decided::Less(value, less)) => {
                return self.get(value)?.plus(Fact::constant(less.checked_neg()?));
            }
            Some(Decided::Flag(flag)) => return Some(Fact::constant(i64::from(flag))),
            None => {}
        }
        let (first, second) = (self.operand(op, 0), self.operand(op, 1));
        match ir::name(op).as_str() {
            ops::arith::INDEX_CAST => first,
            ops::arith::ADDI if is_wide(op) => first?.plus(second?),
            ops::arith::SUBI if is_wide(op) => first?.plus(second?.negated()?),
            ops::arith::MAXSI => {
                let (a, b) = (first?, second?);
                Some(Fact::between(a.low.max(b.low), a.high.max(b.high)))
            }
            ops::arith::MINSI => {
                let (a, b) = (first?, second?);
                Some(Fact::between(a.low.min(b.low), a.high.min(b.high)))
            }
            ops::arith::SELECT => {
                let (a, b) = (second?, self.operand(op, 2)?);
                Some(Fact::between(a.low.min(b.low), a.high.max(b.high)))
            }
            _ => None,
        }
    }

    /// What an operation is in all of the columns, if that is an operand or a constant.
    fn decided<'c: 'a, 'a>(&self, op: OperationRef<'c, 'a>) -> Option<Decided<'c, 'a>> {
        let operand = |number| ir::operand_at(op, number).map(Decided::Value);
        let (first, second) = (self.operand(op, 0)?, self.operand(op, 1));
        match ir::name(op).as_str() {
            ops::arith::MAXSI if first.low >= second?.high => operand(0),
            ops::arith::MAXSI if second?.low >= first.high => operand(1),
            ops::arith::MINSI if first.high <= second?.low => operand(0),
            ops::arith::MINSI if second?.high <= first.low => operand(1),
            ops::arith::REMSI => {
                let divisor = second.and_then(Fact::divisor)?;
                let quotient = first.low / divisor;
                let is_same = first.low >= 0 && first.high / divisor == quotient;
                let value = ir::operand_at(op, 0).filter(|_| is_same)?;
                Some(Decided::Less(value, quotient.checked_mul(divisor)?))
            }
            ops::arith::CMPI => {
                let predicate = CompareIntegers::cast(op)?.predicate()?;
                compared(predicate, first, second?).map(Decided::Flag)
            }
            ops::arith::SELECT => match (first.low, first.high) {
                (0, 0) => operand(2),
                (1, 1) => operand(1),
                _ => None,
            },
            _ => None,
        }
    }

    /// The columns where an operation may be decided otherwise.
    fn cuts(&self, op: OperationRef) -> Vec<i64> {
        let (Some(a), Some(b)) = (self.operand(op, 0), self.operand(op, 1)) else {
            return Vec::new();
        };
        let (Some((factor, offset)), Some((other_factor, other_offset))) = (a.form, b.form) else {
            return Vec::new();
        };
        let roots = match ir::name(op).as_str() {
            ops::arith::MAXSI | ops::arith::MINSI | ops::arith::CMPI => {
                vec![(factor.checked_sub(other_factor), other_offset.checked_sub(offset))]
            }
            // Where the dividend is a multiple of the divisor.
            ops::arith::REMSI => {
                let divisor = b.divisor().unwrap_or(i64::MAX);
                let multiples = (0..=a.high / divisor).take(MOST_CUTS);
                let rests = multiples.map(|n| (n * divisor).checked_sub(offset));
                rests.map(|rest| (Some(factor), rest)).collect()
            }
            _ => Vec::new(),
        };
        let known = roots.into_iter().filter_map(|(factor, rest)| {
            let column = rest?.checked_div_euclid(factor?)?;
            Some([column, column.checked_add(1)?])
        });
        known.flatten().collect()
    }
}

/// Whether an operation computes in 64 bits, where the sums that [`Fact`] has do not wrap.
fn is_wide(op: OperationRef) -> bool {
    let result = op.result(0).map(|result| result.r#type().to_string());
    result.is_ok_and(|r#type| ["index", "i64"].contains(&r#type.as_str()))
}

/// Whether a comparison by a predicate of `arith.cmpi` holds for all numbers, or for none.
fn compared(predicate: i64, a: Fact, b: Fact) -> Option<bool> {
    let less = (a.high < b.low, a.low >= b.high);
    let at_most = (a.high <= b.low, a.low > b.high);
    let equal = (a.low == a.high && b.low == b.high && a.low == b.low, a.high < b.low || b.high < a.low);
    let (always, never) = match predicate {
        0 => equal,
        1 => (equal.1, equal.0),
        2 => less,
        3 => at_most,
        4 => (at_most.1, at_most.0),
        5 => (less.1, less.0),
        // Of numbers that are not negative.
        6 if a.low >= 0 && b.low >= 0 => less,
        7 if a.low >= 0 && b.low >= 0 => at_most,
        8 if a.low >= 0 && b.low >= 0 => (at_most.1, at_most.0),
        9 if a.low >= 0 && b.low >= 0 => (less.1, less.0),
        _ => return None,
    };
    match (always, never) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

/// An operation, and the columns between its sides.
struct Split<'c, 'a> {
    op: OperationRef<'c, 'a>,
    payload: Vec<OperationRef<'c, 'a>>,
    extents: Vec<i64>,
    columns: Range<i64>,
}

impl<'c: 'a, 'a> Split<'c, 'a> {
    /// `None` for an operation that is not split.
    fn of(op: OperationRef<'c, 'a>) -> Option<Self> {
        let generic = linalg::Generic::cast(op)?;
        let reductions = generic.reductions();
        if reductions.contains(&true) || op.result_count() != 0 {
            return None;
        }
        let payload = ir::operations(generic.body()?);
        let loads = payload.iter().filter(|op| ir::name(**op) == ops::memref::LOAD);
        // The subscripts along rows.
        let subscripts = loads.filter_map(|op| {
            let last = op.operand_count().checked_sub(1).filter(|n| *n > 0)?;
            ir::operand_at(*op, last)
        });
        let subscripts: Vec<Value> = subscripts.collect();
        if subscripts.is_empty() {
            return None;
        }
        let operands: Vec<Value> = op.operands().collect();
        let extents = extents(generic, &operands, reductions.len())?;
        let count = *extents.last()?;
        let innermost = extents.len().checked_sub(1)?;
        // The columns of an operand are a part of it, or all of it serves all columns.
        let has_parts = |map| {
            let forms = maps::divided_forms(map, &extents)?;
            let is_part =
                |form: &Affine| form.as_index() == Some(innermost) || !form.indices().contains(&innermost);
            forms.iter().all(is_part).then_some(())
        };
        for map in generic.indexing_maps() {
            has_parts(map)?;
        }
        if count < FEWEST {
            return None;
        }
        let contiguous = |facts: &Facts| {
            let found = subscripts.iter().filter_map(|value| facts.get(*value));
            found.filter(|fact| fact.is_contiguous()).count()
        };
        let whole = Facts::of(&payload, &extents, 0..count);
        let cuts: BTreeSet<i64> = payload.iter().flat_map(|op| whole.cuts(*op)).collect();
        let most = count / 4;
        let sides = |columns: BTreeSet<i64>| -> Vec<i64> {
            let vectors = |columns: i64| (columns + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
            let sides: BTreeSet<i64> = columns.into_iter().map(vectors).collect();
            let sides = sides.into_iter().filter(|side| (1..=most).contains(side));
            std::iter::once(0).chain(sides).take(MOST_CUTS).collect()
        };
        let lows = sides(cuts.range(1..=most).copied().collect());
        let highs = cuts.range(count - most..count).map(|cut| count - cut);
        let highs: Vec<i64> = sides(highs.collect()).iter().map(|side| count - side).collect();
        let choices = lows.iter().flat_map(|low| highs.iter().map(|high| *low..*high));
        let measured = choices.map(|columns| {
            let facts = Facts::of(&payload, &extents, columns.clone());
            (contiguous(&facts), Reverse(columns.start + count - columns.end), columns)
        });
        let best = measured.max_by_key(|(found, sides, _)| (*found, *sides));
        let (found, _, columns) = best?;
        (found > contiguous(&whole)).then_some(Split { op, payload, extents, columns })
    }

    /// Replaces the operation by one for the columns, and one for each side.
    fn apply(&self, context: &'c Context) -> Result<(), PassError> {
        let at = Builder::before(context, self.op)?;
        let count = self.extents.last().copied().unwrap_or_default();
        let Range { start, end } = self.columns;
        for columns in [0..start, start..end, end..count] {
            if !columns.is_empty() {
                self.part(columns, &at)?;
            }
        }
        ir::erase(self.op);
        Ok(())
    }

    fn part(&self, columns: Range<i64>, at: &Builder<'c, 'a>) -> Result<(), PassError> {
        let generic = linalg::Generic::cast(self.op).ok_or("an operation of another kind")?;
        let mut operands = Vec::new();
        for (operand, map) in self.op.operands().zip(generic.indexing_maps()) {
            operands.push(self.view(operand, &maps::indices(map), &columns, at)?);
        }
        let body = generic.body().ok_or("an operation without a payload")?;
        let types: Vec<Type> = ir::arguments(body).iter().map(|a| a.r#type()).collect();
        let (region, inside, arguments) = at.region(&types);
        let mut copier = Copier::new();
        for (old, new) in ir::arguments(body).into_iter().zip(arguments) {
            copier.set(old, new);
        }
        let facts = Facts::of(&self.payload, &self.extents, columns.clone());
        let innermost = self.extents.len().checked_sub(1);
        for op in &self.payload {
            copier.copy(*op, &inside, &mut |copier, op, to| {
                if linalg::index_of(op).is_some_and(|index| Some(index) == innermost) {
                    let own: Value = ir::copy::with_operands(op, &[], to)?.result(0)?.into();
                    let column = match columns.start {
                        0 => own,
                        start => {
                            let first = to.index(start)?;
                            to.value(ops::arith::ADDI, &[own, first], &[], own.r#type())?
                        }
                    };
                    copier.set(op.result(0)?, column);
                    return Ok(true);
                }
                let value = match facts.decided(op) {
                    None => return Ok(false),
                    Some(Decided::Value(value)) => copier.get(value),
                    Some(Decided::Less(value, 0)) => copier.get(value),
                    Some(Decided::Less(value, less)) => {
                        let value = copier.get(value);
                        let less = IntegerAttribute::new(value.r#type(), less).into();
                        let constant = [("value", less)];
                        let less = to.value(ops::arith::CONSTANT, &[], &constant, value.r#type())?;
                        to.value(ops::arith::SUBI, &[value, less], &[], value.r#type())?
                    }
                    Some(Decided::Flag(flag)) => {
                        let r#type = types::flag(to.context);
                        let flag = IntegerAttribute::new(r#type, i64::from(flag)).into();
                        to.value(ops::arith::CONSTANT, &[], &[("value", flag)], r#type)?
                    }
                };
                copier.set(op.result(0)?, value);
                Ok(true)
            })?;
        }
        with_attributes(self.op, &operands, &[], vec![region], &[], at)?;
        Ok(())
    }

    /// The columns of an operand.
    fn view(
        &self,
        operand: Value<'c, 'a>,
        loops: &[Option<usize>],
        columns: &Range<i64>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let innermost = self.extents.len().checked_sub(1);
        let extents = memref::extents(operand.r#type());
        let is_column: Vec<bool> = loops.iter().map(|l| l.is_some() && *l == innermost).collect();
        if !is_column.contains(&true) {
            return Ok(operand);
        }
        let pick = |of_columns: i64, other: &dyn Fn(i64) -> i64| -> Vec<i64> {
            let dimensions = extents.iter().zip(&is_column);
            let values =
                dimensions.map(|(extent, is_column)| if *is_column { of_columns } else { other(*extent) });
            values.collect()
        };
        let offsets = pick(columns.start, &|_| 0);
        let sizes = pick(columns.end - columns.start, &|extent| extent);
        let steps = vec![1; extents.len()];
        Ok(memref::subview(at, operand, &offsets, &sizes, &steps)?)
    }
}
