// SPDX-License-Identifier: Apache-2.0
//! Computes the numbers of operations and bytes of a step from constants, and from extents at run time.

use crate::extents::size::element_bytes;
use crate::ir::linalg::Generic;
use crate::ir::memref::dynamic_extent;
use crate::ir::outline::captured;
use crate::ir::scf::Bounds;
use crate::ir::{self, Builder, ValueKey, maps, ops, types};
use melior::Error;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{ShapedTypeLike, Value, ValueLike};
use skript_semantics::ScalarKind;
use std::collections::HashSet;

/// A product of a constant and values.
#[derive(Clone)]
struct Product<'c, 'a> {
    factor: i64,
    values: Vec<Extent<'c, 'a>>,
}

/// A number that is known before a step is executed.
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

    /// The sum where all values are 1.
    pub(super) fn weight(&self) -> i64 {
        self.0.iter().map(|product| product.factor).fold(0, i64::saturating_add)
    }

    /// Emits the computation of the number, as an index.
    pub(super) fn value(&self, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
        let constants = self.0.iter().filter(|p| p.values.is_empty()).map(|p| p.factor);
        let mut sum = at.idx(constants.fold(0, i64::saturating_add));
        for product in self.0.iter().filter(|p| !p.values.is_empty()) {
            let mut value = at.idx(product.factor);
            for factor in &product.values {
                let factor = match factor {
                    Extent::Value(factor) => *factor,
                    Extent::Of(array, dimension) => dynamic_extent(at, *array, *dimension)?,
                };
                value = at.muli(value, factor);
            }
            sum = at.addi(sum, value);
        }
        Ok(sum)
    }
}

/// The bytes of all elements of an array; `None` if its elements have no size.
pub(super) fn bytes<'c: 'a, 'a>(array: Value<'c, 'a>) -> Option<Count<'c, 'a>> {
    let r#type = MemRefType::try_from(array.r#type()).ok()?;
    let element = element_bytes(r#type.element())?;
    let mut product = Product { factor: i64::try_from(element).ok()?, values: Vec::new() };
    for (dimension, extent) in types::shape(array.r#type()).into_iter().enumerate() {
        match extent {
            types::DYNAMIC => product.values.push(Extent::Of(array, dimension)),
            extent => product.factor = product.factor.saturating_mul(extent),
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

/// The number of operations on reals of a step. `None` if it is unknown before the step is executed.
pub(super) fn flops<'c: 'a, 'a>(step: OperationRef<'c, 'a>) -> Option<Count<'c, 'a>> {
    let outside = captured(step).into_iter().map(ValueKey::of).collect();
    count(step, &outside)
}

fn count<'c: 'a, 'a>(op: OperationRef<'c, 'a>, outside: &HashSet<ValueKey>) -> Option<Count<'c, 'a>> {
    let name = ir::name(op);
    match name.as_str() {
        ops::linalg::GENERIC => {
            let points = points(Generic::cast(op)?)?;
            let each: i64 = ir::nested(op).into_iter().filter(|op| is_counted(*op)).map(operations).sum();
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
                    sum.add(count(inner, outside)?);
                }
            }
            if sum.0.is_empty() { Some(sum) } else { Some(sum.times(&trips(op, outside)?)) }
        }
    }
}

/// The number of points in the loops of a `linalg.generic`.
fn points<'c: 'a, 'a>(generic: Generic<'c, 'a>) -> Option<Product<'c, 'a>> {
    let mut extents = vec![None; generic.reductions().len()];
    let op = generic.op();
    for (array, map) in op.operands().zip(generic.indexing_maps()) {
        let loops = maps::indices(map).into_iter().zip(types::shape(array.r#type()));
        for (dimension, (index, extent)) in loops.enumerate() {
            let Some(known) = index.and_then(|index| extents.get_mut(index)) else {
                continue;
            };
            if extent >= 0 {
                *known = Some(Ok(extent));
            } else if known.is_none() {
                *known = Some(Err(Extent::Of(array, dimension)));
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

/// The number of iterations of a loop. `None` if it is unknown before the step.
fn trips<'c: 'a, 'a>(op: OperationRef<'c, 'a>, outside: &HashSet<ValueKey>) -> Option<Product<'c, 'a>> {
    let bounds = Bounds::all(op);
    if bounds.is_empty() {
        return None;
    }
    let mut product = Product { factor: 1, values: Vec::new() };
    for dimension in bounds {
        match dimension.iterations() {
            Some(trips) => product.factor = product.factor.saturating_mul(trips),
            None if dimension.are_numbers() && outside.contains(&ValueKey::of(dimension.upper)) => {
                product.values.push(Extent::Value(dimension.upper));
            }
            None => return None,
        }
    }
    Some(product)
}

/// Whether an operation counts as an operation on reals, like in published costs of models: arithmetic and functions, but not
/// conversions and selections.
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
