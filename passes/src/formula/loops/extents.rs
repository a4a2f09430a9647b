// SPDX-License-Identifier: Apache-2.0
//! Dynamic extents as dimensions of affine maps, beside the indices of the loops.

use super::dialect::is_dimension;
use crate::ir;
use crate::ir::ValueKey;
use crate::ir::arith::Constant;
use crate::ir::builder::operations;
use crate::ir::copy::operation_name;
use crate::ir::ops;
use crate::structure::{Affine, Extent, Reading};

use melior::ir::operation::{OperationLike, OperationResult};
use melior::ir::r#type::IntegerType;
use melior::ir::{OperationRef, TypeLike, Value, ValueLike};
use skript_symbolic::Interval;
use std::collections::HashMap;

/// Maximum number of ops that the search for an interval follows.
const DEPTH: usize = 16;

/// The values of an extent.
const EXTENT: Interval = Interval { low: 0, high: Extent::LARGEST };

/// A formula whose subscripts use extents from outside of it.
pub(crate) struct Extents<'c, 'a> {
    /// The formula with a dimension, after the indices, for each such extent.
    pub reading: Reading<'c, 'a>,
    /// The positions of these dimensions, and their values.
    pub values: Vec<(usize, Value<'c, 'a>)>,
}

impl<'c: 'a, 'a> Extents<'c, 'a> {
    pub(super) fn none(reading: &Reading<'c, 'a>) -> Self {
        Extents { reading: reading.clone(), values: Vec::new() }
    }

    /// With those that affine accepts as dimensions. Only values of a known interval: their sums do not wrap, as affine
    /// arithmetic requires.
    pub(super) fn of(reading: &Reading<'c, 'a>) -> Self {
        let mut extents = reading.nest.extents.clone();
        let mut values: Vec<(usize, Value)> = Vec::new();
        let mut forms = HashMap::new();
        for (value, term) in &reading.outside {
            let index = without_casts(*value);
            let is_same = |other: &Value| ValueKey::of(*other) == ValueKey::of(index);
            // The bound of a loop is an extent, whatever computes it.
            let highest = if reading.bounds.iter().flatten().any(is_same) {
                Some(EXTENT)
            } else {
                interval(index, DEPTH)
            };
            let highest = highest.filter(|own| own.low >= 0 && own.high < i64::MAX);
            let Some(Interval { high: highest, .. }) = highest else {
                continue;
            };
            if !index.r#type().is_index() || !is_dimension(index) {
                continue;
            }
            let known = |(_, own): &&(usize, Value)| is_same(own);
            let position = match values.iter().find(known) {
                Some((position, _)) => *position,
                None => {
                    // It may be its largest value, where an index ends before its extent; and none that is 1 alone is always 0.
                    extents.push(Extent::Static(highest.max(1) + 1));
                    values.push((extents.len() - 1, index));
                    extents.len() - 1
                }
            };
            forms.insert(*term, Affine::index(position));
        }
        let is_plain = !forms.is_empty() && !narrows(reading);
        match is_plain.then(|| reading.substituted(&extents, &forms)).flatten() {
            Some(reading) => Extents { reading, values },
            None => Extents::none(reading),
        }
    }
}

/// Whether some integer of the formula has less than 64 bits: a form that wraps is not a sum of extents.
fn narrows(reading: &Reading) -> bool {
    let is_narrow = |op: &OperationRef| {
        op.results().any(|result| {
            let integer = IntegerType::try_from(result.r#type());
            integer.is_ok_and(|integer| (2..64).contains(&integer.width()))
        })
    };
    let mut all = reading.blocks().flat_map(operations);
    all.any(|op| is_narrow(&op))
}

fn without_casts<'c: 'a, 'a>(value: Value<'c, 'a>) -> Value<'c, 'a> {
    let mut value = value;
    while let Ok(result) = OperationResult::try_from(value)
        && let Some(operand) = same(result.owner())
    {
        value = operand;
    }
    value
}

/// The operand of a cast that keeps 64 bits.
fn same<'c: 'a, 'a>(cast: OperationRef<'c, 'a>) -> Option<Value<'c, 'a>> {
    let is_wide = |value: Value| {
        let r#type = value.r#type();
        r#type.is_index() || IntegerType::try_from(r#type).is_ok_and(|own| own.width() == 64)
    };
    let (from, to) = (ir::operand(cast).ok()?, ir::result(cast).ok()?);
    let is_cast = operation_name(cast) == ops::arith::INDEX_CAST;
    (is_cast && is_wide(from) && is_wide(to)).then_some(from)
}

/// The interval of an index: an extent, or computed from extents.
fn interval(value: Value, depth: usize) -> Option<Interval> {
    let depth = depth.checked_sub(1)?;
    let result = OperationResult::try_from(value).ok()?;
    let op = result.owner();
    let of = |operand: usize| interval(op.operand(operand).ok()?, depth);
    match operation_name(op).as_str() {
        ops::tensor::DIM | ops::memref::DIM => Some(EXTENT),
        ops::arith::CONSTANT => Some(Interval::point(Constant::cast(op)?.integer()?)),
        ops::arith::INDEX_CAST => interval(same(op)?, depth),
        ops::arith::MINSI | ops::skript::MIN => Some(of(0)?.min(of(1)?)),
        ops::arith::MAXSI | ops::skript::MAX => Some(of(0)?.max(of(1)?)),
        ops::arith::ADDI | ops::skript::ADD => of(0)?.plus(of(1)?),
        ops::arith::SUBI | ops::skript::SUB => of(0)?.minus(of(1)?),
        ops::arith::MULI | ops::skript::MUL => of(0)?.times(of(1)?),
        ops::arith::FLOORDIVSI | ops::skript::DIV => {
            let (dividend, divisor) = (of(0)?, of(1)?);
            let is_constant = divisor.low == divisor.high;
            dividend.floor_div(divisor.low).filter(|_| is_constant)
        }
        _ => None,
    }
}
