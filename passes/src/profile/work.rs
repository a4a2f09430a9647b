// SPDX-License-Identifier: Apache-2.0
//! Numbers of operations and bytes of a step: constants, and extents that code reads when it runs.

use crate::extents::size::element_bytes;
use crate::ir::arith::Constant;
use crate::ir::linalg::Generic;
use crate::ir::outline::captured;
use crate::ir::{self, Builder, ValueKey, maps, ops, types};
use melior::Error;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::{DimSize, MemRefType};
use melior::ir::{ShapedTypeLike, Type, Value, ValueLike};
use skript_semantics::ScalarKind;
use std::collections::HashSet;

/// A product of a constant and values.
#[derive(Clone)]
struct Product<'c, 'a> {
    factor: i64,
    values: Vec<Extent<'c, 'a>>,
}

/// A number that is known before a step runs.
#[derive(Clone)]
enum Extent<'c, 'a> {
    Value(Value<'c, 'a>),
    Of(Value<'c, 'a>, usize),
}

/// A sum of products.
#[derive(Clone, Default)]
pub(super) struct Count<'c, 'a>(Vec<Product<'c, 'a>>);

impl<'c: 'a, 'a> Count<'c, 'a> {
    fn constant(factor: i64) -> Self {
        Count(vec![Product { factor, values: Vec::new() }])
    }

    fn add(&mut self, other: Count<'c, 'a>) {
        self.0.extend(other.0.into_iter().filter(|p| p.factor != 0));
    }

    fn times(mut self, other: &Product<'c, 'a>) -> Self {
        for product in &mut self.0 {
            product.factor = product.factor.saturating_mul(other.factor);
            product.values.extend(other.values.iter().cloned());
        }
        self
    }

    /// The sum with all values as 1.
    pub(super) fn weight(&self) -> i64 {
        let factors = self.0.iter().map(|product| product.factor);
        factors.fold(0, i64::saturating_add)
    }

    /// Computes the number, as an index.
    ///
    /// # Errors
    /// The builder's error.
    pub(super) fn value(&self, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
        let index = Type::index(at.context);
        let constants = self.0.iter().filter(|p| p.values.is_empty());
        let constants = constants.map(|p| p.factor).fold(0, i64::saturating_add);
        let mut sum = at.index(constants)?;
        for product in self.0.iter().filter(|p| !p.values.is_empty()) {
            let mut value = at.index(product.factor)?;
            for factor in &product.values {
                let factor = match factor {
                    Extent::Value(factor) => *factor,
                    Extent::Of(array, dimension) => extent(*array, *dimension, at)?,
                };
                value = at.value(ops::arith::MULI, &[value, factor], &[], index)?;
            }
            sum = at.value(ops::arith::ADDI, &[sum, value], &[], index)?;
        }
        Ok(sum)
    }
}

/// A dynamic extent. That of an allocation is its operand: reading it from the array would be one more use of that.
fn extent<'c: 'a, 'a>(
    array: Value<'c, 'a>,
    dimension: usize,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, Error> {
    if let Some((maker, _)) = ir::definition(array)
        && ir::name(maker) == ops::memref::ALLOC
        && let Ok(r#type) = MemRefType::try_from(array.r#type())
    {
        let is_dynamic = |d: &usize| matches!(r#type.dim_size(*d), Ok(DimSize::Dynamic));
        return maker.operand((0..dimension).filter(is_dynamic).count());
    }
    let dimension = at.index(i64::try_from(dimension).unwrap_or(i64::MAX))?;
    let index = Type::index(at.context);
    at.value(ops::memref::DIM, &[array, dimension], &[], index)
}

/// The bytes of all elements of an array; `None` if its elements have no size.
pub(super) fn bytes<'c: 'a, 'a>(array: Value<'c, 'a>) -> Option<Count<'c, 'a>> {
    let r#type = MemRefType::try_from(array.r#type()).ok()?;
    let element = element_bytes(&r#type.element().to_string())?;
    let mut product = Product { factor: i64::try_from(element).ok()?, values: Vec::new() };
    for dimension in 0..r#type.rank() {
        match r#type.dim_size(dimension).ok()? {
            DimSize::Static(n) => {
                let n = i64::try_from(n).unwrap_or(i64::MAX);
                product.factor = product.factor.saturating_mul(n);
            }
            DimSize::Dynamic => product.values.push(Extent::Of(array, dimension)),
        }
    }
    Some(Count(vec![product]))
}

/// The sum of the bytes of distinct arrays.
pub(super) fn bytes_of<'c: 'a, 'a>(arrays: &[Value<'c, 'a>]) -> Count<'c, 'a> {
    let mut seen = HashSet::new();
    let mut sum = Count::default();
    for array in arrays {
        if seen.insert(ValueKey::of(*array)) {
            sum.add(bytes(*array).unwrap_or_default());
        }
    }
    sum
}

/// The operations on reals of a step; `None` if their number is not known before it runs.
pub(super) fn flops<'c: 'a, 'a>(step: OperationRef<'c, 'a>) -> Option<Count<'c, 'a>> {
    let outside = captured(step).into_iter().map(ValueKey::of).collect();
    of(step, &outside)
}

fn of<'c: 'a, 'a>(op: OperationRef<'c, 'a>, outside: &HashSet<ValueKey>) -> Option<Count<'c, 'a>> {
    let name = ir::name(op);
    match name.as_str() {
        ops::linalg::GENERIC => {
            let points = points(Generic::cast(op)?)?;
            let each = ir::nested(op).into_iter().filter(|op| is_counted(*op));
            let each: i64 = each.map(operations).sum();
            Some(Count::constant(each).times(&points))
        }
        ops::linalg::FILL | ops::linalg::BROADCAST | ops::linalg::TRANSPOSE => Some(Count::default()),
        ops::memref::COPY => Some(Count::default()),
        ops::func::CALL | ops::skript::INTRINSIC => None,
        _ if name.starts_with("linalg.") => None,
        _ if op.region_count() == 0 => {
            Some(if is_counted(op) { Count::constant(operations(op)) } else { Count::default() })
        }
        _ => {
            let mut sum = Count::default();
            for block in ir::blocks(op) {
                for inner in ir::operations(block) {
                    sum.add(of(inner, outside)?);
                }
            }
            if sum.0.is_empty() { Some(sum) } else { Some(sum.times(&trips(op, outside)?)) }
        }
    }
}

/// The points of the loops of a `linalg.generic`.
fn points<'c: 'a, 'a>(generic: Generic<'c, 'a>) -> Option<Product<'c, 'a>> {
    let mut extents = vec![None; generic.reductions().len()];
    let op = generic.op();
    let arrays = op.operands();
    for (array, map) in arrays.zip(generic.indexing_maps()) {
        let Ok(r#type) = MemRefType::try_from(array.r#type()) else {
            continue;
        };
        for (dimension, index) in maps::indices(map).into_iter().enumerate() {
            let Some(known) = index.and_then(|index| extents.get_mut(index)) else {
                continue;
            };
            match (r#type.dim_size(dimension).ok()?, &known) {
                (DimSize::Static(n), _) => *known = Some(Ok(i64::try_from(n).ok()?)),
                (DimSize::Dynamic, None) => *known = Some(Err(Extent::Of(array, dimension))),
                (DimSize::Dynamic, Some(_)) => {}
            }
        }
    }
    let mut points = Product { factor: 1, values: Vec::new() };
    for extent in extents {
        match extent? {
            Ok(n) => points.factor = points.factor.saturating_mul(n),
            Err(extent) => points.values.push(extent),
        }
    }
    Some(points)
}

/// How often the body of a loop runs; `None` if that is not known before the step.
fn trips<'c: 'a, 'a>(op: OperationRef<'c, 'a>, outside: &HashSet<ValueKey>) -> Option<Product<'c, 'a>> {
    let operands: Vec<Value> = op.operands().collect();
    let dimensions = match ir::name(op).as_str() {
        ops::scf::FOR => 1,
        ops::scf::PARALLEL => ir::first_block(op)?.argument_count(),
        _ => return None,
    };
    let mut product = Product { factor: 1, values: Vec::new() };
    for dimension in 0..dimensions {
        let bound = |kind: usize| operands.get(kind * dimensions + dimension).copied();
        let (lower, upper, step) = (bound(0)?, bound(1)?, bound(2)?);
        let constant = |value| Constant::of(value)?.integer();
        let (first, step) = (constant(lower)?, constant(step)?);
        match constant(upper) {
            Some(end) => {
                let length = end.saturating_sub(first).max(0);
                let trips = length.checked_add(step - 1)?.checked_div(step)?;
                product.factor = product.factor.saturating_mul(trips);
            }
            None if first == 0 && step == 1 && outside.contains(&ValueKey::of(upper)) => {
                product.values.push(Extent::Value(upper));
            }
            None => return None,
        }
    }
    Some(product)
}

/// Whether an operation is one on reals, as costs of models count them: arithmetic and functions, but no conversions and
/// selections.
pub(super) fn is_counted(op: OperationRef) -> bool {
    let name = ir::name(op);
    let is_real = op.results().any(|result| {
        let r#type = result.r#type();
        types::kind_of(r#type) == Some(ScalarKind::Real) || types::complex_part(r#type).is_some()
    });
    let moves = [
        ops::arith::BITCAST,
        ops::arith::CONSTANT,
        ops::arith::EXTF,
        ops::arith::SELECT,
        ops::arith::SITOFP,
        ops::arith::TRUNCF,
        ops::arith::UITOFP,
    ];
    let computes = ["arith.", "math.", "complex."].iter().any(|prefix| name.starts_with(prefix));
    is_real && computes && !moves.contains(&name.as_str())
}

fn operations(op: OperationRef) -> i64 {
    match ir::name(op).as_str() {
        ops::math::FMA => 2,
        _ => 1,
    }
}
