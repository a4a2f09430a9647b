// SPDX-License-Identifier: Apache-2.0
//! `skript-split-clamps`: splits elementwise operations at the columns where a clamped subscript reaches its bounds.
//!
//! A stencil reads `x[i, min(j + 1, n - 1)]`: the neighbour, or the last element of the row at its end. LLVM loads such elements one by one.
//! Except at the ends of the rows, the subscript is `j + 1`, and the elements are contiguous. The operation is split into one for the inner
//! columns, where the results of clamps, comparisons and remainders of subscripts are known, and one for the columns on each side.
//!
//! The number of columns on a side is a multiple of the vector length, so that the inner columns need no remainder loop.
//!
//! Requires: `linalg.generic` on static arrays. Guarantees: each element is computed by the same operations as before, except for clamps,
//! comparisons and remainders with known results; at most half of the columns are on the sides.

use crate::ir::arith::CompareIntegers;
use crate::ir::generic::{Access, LoopNest, Operand, rebuild};
use crate::ir::linalg::index_of;
use crate::ir::walk::named;
use crate::ir::{self, Builder, Copier, ValueKey, memref, ops, types};
use melior::Context;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError};
use skript_symbolic::{Affine, Interval};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// The pass `skript-split-clamps`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-split-clamps",
    summary: "split elementwise operations where clamped subscripts reach their bounds",
    dependent_dialects: &[Dialect::Arith, Dialect::Linalg, Dialect::MemRef],
    run: |root, _, rewriter| {
        for op in named(root, ops::linalg::GENERIC) {
            if let Some(split) = Split::new(op) {
                split.apply(rewriter.context())?;
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// The number of columns on one side is a multiple of this number, the elements of a vector.
const ALIGNMENT: i64 = 16;

/// The minimum number of columns of an operation that is split.
const MIN_COLUMNS: i64 = 4 * ALIGNMENT;

/// The maximum number of split positions that are tried on one side.
const MAX_CUTS: usize = 8;

/// Known properties of an integer in some columns.
#[derive(Clone, Copy)]
struct Fact {
    range: Interval,
    /// `factor · column + offset`
    form: Option<(i64, i64)>,
}

impl Fact {
    fn constant(value: i64) -> Self {
        Fact { range: Interval::point(value), form: Some((0, value)) }
    }

    fn within(range: Interval) -> Self {
        Fact { range, form: None }
    }

    fn plus(self, other: Fact) -> Option<Fact> {
        let form = self.form.zip(other.form);
        let form = form.and_then(|(a, b)| Some((a.0.checked_add(b.0)?, a.1.checked_add(b.1)?)));
        Some(Fact { range: self.range.plus(other.range)?, form })
    }

    fn negated(self) -> Option<Fact> {
        let form = self.form.map(|(factor, offset)| (-factor, -offset));
        Some(Fact { range: Interval::point(0).minus(self.range)?, form })
    }

    /// The value, if it is a positive constant.
    fn divisor(self) -> Option<i64> {
        (self.range.low == self.range.high && self.range.low > 0).then_some(self.range.low)
    }

    /// Whether it is the column plus a constant.
    fn is_contiguous(self) -> bool {
        self.form.is_some_and(|(factor, _)| factor == 1)
    }
}

/// The simpler form of an operation in some columns.
enum Decided<'c, 'a> {
    /// An operand.
    Value(Value<'c, 'a>),
    /// An operand minus a number.
    Less(Value<'c, 'a>, i64),
    /// A truth value.
    Flag(bool),
}

/// Known properties of the integers of a payload.
struct Facts<'s> {
    extents: &'s [i64],
    columns: Range<i64>,
    known: HashMap<ValueKey, Fact>,
}

impl<'s> Facts<'s> {
    fn new(nest: &'s LoopNest, columns: Range<i64>) -> Self {
        let mut facts = Facts { extents: &nest.extents, columns, known: HashMap::new() };
        for op in &nest.payload {
            if let Some(fact) = facts.compute(*op)
                && let Ok(result) = op.result(0)
            {
                facts.known.insert(ValueKey::of(result), fact);
            }
        }
        facts
    }

    fn get(&self, value: Value) -> Option<Fact> {
        let constant = || ir::integer(value).map(Fact::constant);
        self.known.get(&ValueKey::of(value)).copied().or_else(constant)
    }

    fn operand(&self, op: OperationRef, number: usize) -> Option<Fact> {
        self.get(ir::operand_at(op, number)?)
    }

    fn compute<'c: 'a, 'a>(&self, op: OperationRef<'c, 'a>) -> Option<Fact> {
        if let Some(index) = index_of(op) {
            let is_column = index + 1 == self.extents.len();
            return Some(if is_column {
                let range = Interval { low: self.columns.start, high: self.columns.end - 1 };
                Fact { range, form: Some((1, 0)) }
            } else {
                Fact::within(Interval { low: 0, high: self.extents.get(index)? - 1 })
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
            ops::arith::MAXSI => Some(Fact::within(first?.range.max(second?.range))),
            ops::arith::MINSI => Some(Fact::within(first?.range.min(second?.range))),
            ops::arith::SELECT => Some(Fact::within(second?.range.hull(self.operand(op, 2)?.range))),
            _ => None,
        }
    }

    /// The simpler form that an operation has in all columns, if there is one.
    fn decided<'c: 'a, 'a>(&self, op: OperationRef<'c, 'a>) -> Option<Decided<'c, 'a>> {
        let operand = |number| ir::operand_at(op, number).map(Decided::Value);
        let (first, second) = (self.operand(op, 0)?.range, self.operand(op, 1));
        let other = second.map(|fact| fact.range);
        match ir::name(op).as_str() {
            ops::arith::MAXSI if first.low >= other?.high => operand(0),
            ops::arith::MAXSI if other?.low >= first.high => operand(1),
            ops::arith::MINSI if first.high <= other?.low => operand(0),
            ops::arith::MINSI if other?.high <= first.low => operand(1),
            ops::arith::REMSI => {
                let divisor = second.and_then(Fact::divisor)?;
                let quotient = first.low / divisor;
                let is_same = first.low >= 0 && first.high / divisor == quotient;
                let value = ir::operand_at(op, 0).filter(|_| is_same)?;
                Some(Decided::Less(value, quotient.checked_mul(divisor)?))
            }
            ops::arith::CMPI => {
                let predicate = CompareIntegers::cast(op)?.predicate()?;
                compared(predicate, first, other?).map(Decided::Flag)
            }
            ops::arith::SELECT => match (first.low, first.high) {
                (0, 0) => operand(2),
                (1, 1) => operand(1),
                _ => None,
            },
            _ => None,
        }
    }

    /// The columns where the simpler form of an operation may change.
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
                let multiples = (0..=a.range.high / divisor).take(MAX_CUTS);
                let constants = multiples.map(|n| (n * divisor).checked_sub(offset));
                constants.map(|constant| (Some(factor), constant)).collect()
            }
            _ => Vec::new(),
        };
        let known = roots.into_iter().filter_map(|(factor, constant)| {
            let column = constant?.checked_div_euclid(factor?)?;
            Some([column, column.checked_add(1)?])
        });
        known.flatten().collect()
    }
}

/// Whether an operation computes with 64-bit integers, whose sums do not overflow in the ranges of [`Fact`].
fn is_wide(op: OperationRef) -> bool {
    let result = op.result(0).map(|result| result.r#type().to_string());
    result.is_ok_and(|r#type| ["index", "i64"].contains(&r#type.as_str()))
}

/// The result of a comparison by a predicate of `arith.cmpi`, if it is the same for all numbers of the ranges.
fn compared(predicate: i64, a: Interval, b: Interval) -> Option<bool> {
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
        // Unsigned comparisons of non-negative numbers.
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
    nest: LoopNest<'c, 'a>,
    columns: Range<i64>,
}

impl<'c: 'a, 'a> Split<'c, 'a> {
    /// `None` for an operation that is not split.
    fn new(op: OperationRef<'c, 'a>) -> Option<Self> {
        let nest = LoopNest::read_divided(op).filter(|nest| !nest.reduces())?;
        let loads = nest.payload.iter().filter(|op| ir::name(**op) == ops::memref::LOAD);
        // The subscripts along rows.
        let subscripts = loads.filter_map(|op| {
            let last = op.operand_count().checked_sub(1).filter(|n| *n > 0)?;
            ir::operand_at(*op, last)
        });
        let subscripts: Vec<Value> = subscripts.collect();
        let count = *nest.extents.last()?;
        let innermost = nest.extents.len() - 1;
        // An operand is indexed by the column, or does not depend on it.
        let is_part =
            |form: &Affine| form.as_index() == Some(innermost) || !form.indices().contains(&innermost);
        let has_parts =
            |operand: &Operand| operand.static_array().is_some() && operand.forms.iter().all(is_part);
        if subscripts.is_empty() || count < MIN_COLUMNS || !nest.operands.iter().all(has_parts) {
            return None;
        }
        let contiguous = |facts: &Facts| {
            let known = subscripts.iter().filter_map(|value| facts.get(*value));
            known.filter(|fact| fact.is_contiguous()).count()
        };
        let whole = Facts::new(&nest, 0..count);
        let cuts: BTreeSet<i64> = nest.payload.iter().flat_map(|op| whole.cuts(*op)).collect();
        let max_side = count / 4;
        let sides = |columns: BTreeSet<i64>| -> Vec<i64> {
            let vectors = |columns: i64| (columns + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
            let mut sides: BTreeSet<i64> = columns.into_iter().map(vectors).collect();
            sides.retain(|side| (1..=max_side).contains(side));
            std::iter::once(0).chain(sides).take(MAX_CUTS).collect()
        };
        let lows = sides(cuts.range(1..=max_side).copied().collect());
        let highs = cuts.range(count - max_side..count).map(|cut| count - cut);
        let highs: Vec<i64> = sides(highs.collect()).iter().map(|side| count - side).collect();
        let choices = lows.iter().flat_map(|low| highs.iter().map(|high| *low..*high));
        let measured = choices.map(|columns| {
            let facts = Facts::new(&nest, columns.clone());
            (contiguous(&facts), Reverse(columns.start + count - columns.end), columns)
        });
        let best = measured.max_by_key(|(loads, sides, _)| (*loads, *sides));
        let (loads, _, columns) = best?;
        (loads > contiguous(&whole)).then_some(Split { columns, nest })
    }

    /// Replaces the operation by one for the inner columns, and one for each side.
    fn apply(&self, context: &'c Context) -> Result<(), PassError> {
        let at = Builder::before(context, self.nest.op)?;
        let count = *self.nest.extents.last().ok_or("a clamp without loops")?;
        let Range { start, end } = self.columns;
        for columns in [0..start, start..end, end..count] {
            if !columns.is_empty() {
                self.part(columns, &at)?;
            }
        }
        ir::erase(self.nest.op);
        Ok(())
    }

    fn part(&self, columns: Range<i64>, at: &Builder<'c, 'a>) -> Result<(), PassError> {
        let operands = self.nest.operands.iter();
        let views =
            operands.map(|operand| Ok(Access(self.view(operand, &columns, at)?, operand.forms.clone())));
        let views: Vec<Access> = views.collect::<Result<_, PassError>>()?;
        let facts = Facts::new(&self.nest, columns.clone());
        let innermost = self.nest.extents.len().checked_sub(1);
        rebuild(at, &self.nest, &views, &self.nest.reductions, |inside, elements| {
            self.nest.copy_payload(Copier::new(), elements, inside, &mut |copier, op, to| {
                if index_of(op).is_some_and(|index| Some(index) == innermost) {
                    let index: Value = ir::copy::with_operands(op, &[], to)?.result(0)?.into();
                    let column = match columns.start {
                        0 => index,
                        start => {
                            let first = to.idx(start);
                            to.addi(index, first)
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
                        to.subi(value, less)
                    }
                    Some(Decided::Flag(flag)) => {
                        let r#type = types::flag(to.context);
                        let flag = IntegerAttribute::new(r#type, i64::from(flag)).into();
                        to.value(ops::arith::CONSTANT, &[], &[("value", flag)], r#type)?
                    }
                };
                copier.set(op.result(0)?, value);
                Ok(true)
            })
        })?;
        Ok(())
    }

    /// A view of the columns of an operand.
    fn view(
        &self,
        operand: &Operand<'c, 'a>,
        columns: &Range<i64>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let innermost = self.nest.extents.len().checked_sub(1);
        let is_column = |form: &Affine| form.as_index().is_some() && form.as_index() == innermost;
        if !operand.forms.iter().any(is_column) {
            return Ok(operand.value);
        }
        let pick = |of_columns: i64, other: &dyn Fn(i64) -> i64| -> Vec<i64> {
            let dimensions = operand.shape.iter().zip(&operand.forms);
            let values =
                dimensions.map(|(extent, form)| if is_column(form) { of_columns } else { other(*extent) });
            values.collect()
        };
        let offsets = pick(columns.start, &|_| 0);
        let sizes = pick(columns.end - columns.start, &|extent| extent);
        Ok(memref::subview(at, operand.value, &offsets, &sizes, &vec![1; sizes.len()])?)
    }
}
