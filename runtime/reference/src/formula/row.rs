// SPDX-License-Identifier: Apache-2.0
//! A specialized innermost loop for real sums of elements or of products of two elements, which dominate the time of large
//! models: the conditions become an interval of the index, the addresses become strides. It performs the same operations as
//! the general loop of [`Plan`](super::plan::Plan), in the same order.

use super::expr::{Address, Bool, Int, Point, Real, Relation, Source, Storage};
use super::output::Elements;
use skript_semantics::real;

/// A sum in the form that this loop computes.
pub(super) struct Row<'p> {
    conditions: &'p [Bool],
    address: &'p Address,
    output: usize,
    first: (usize, &'p Address),
    second: Option<(usize, &'p Address)>,
}

/// A row-major position and its increment from one index to the next.
#[derive(Clone, Copy)]
struct Walk {
    start: i64,
    stride: i64,
}

impl<'p> Row<'p> {
    /// The row loop of a formula; `None` unless value, target and conditions have the required form.
    pub(super) fn new(
        conditions: &'p [Bool],
        output: usize,
        address: &'p Address,
        value: &'p Real,
    ) -> Option<Row<'p>> {
        let (first, second) = match value {
            Real::Mul(ab) => (element(&ab.0)?, Some(element(&ab.1)?)),
            single => (element(single)?, None),
        };
        let simple = |c: &Bool| matches!(c, Bool::Ints(relation, ab) if bound(*relation).is_some() && linear(&ab.0) && linear(&ab.1));
        (address.dynamic.is_empty() && conditions.iter().all(simple)).then_some(Row {
            conditions,
            address,
            output,
            first,
            second,
        })
    }

    /// Adds the row to the output; returns false, without any effect, if an element may be out of bounds. `moves` has
    /// the increments of the registers in a step of the index; the registers are at index 0.
    pub(super) fn run(&self, point: &mut Point<'_>, moves: &[(usize, i64)], extent: i64) -> bool {
        let registers = std::mem::take(&mut point.registers);
        let at = |register: usize| {
            let Some(start) = registers.get(register) else {
                unreachable!("each affine form has a register")
            };
            Walk { start: *start, stride: moves.iter().find(|m| m.0 == register).map_or(0, |m| m.1) }
        };
        let done = self.interval(&at, extent).and_then(|(low, high)| {
            if low >= high {
                return Some(());
            }
            let walk = |address: &Address| address.walk(&at, low, high);
            let target = walk(self.address)?;
            let first = (source(point, self.first.0)?, walk(self.first.1)?);
            let second = match self.second {
                Some((element_position, address)) => Some((source(point, element_position)?, walk(address)?)),
                None => None,
            };
            let Some((_, _, Elements::Real(sums))) = point.written.get_mut(self.output) else {
                return None;
            };
            for i in low..high {
                let a = f64::from(first.1.element(first.0, i));
                let x = match second {
                    Some((elements, walk)) => real::narrow(a * f64::from(walk.element(elements, i))),
                    None => a,
                };
                let position = usize::try_from(target.start.wrapping_add(target.stride.wrapping_mul(i)));
                if let Some(sum) = position.ok().and_then(|p| sums.get_mut(p)) {
                    *sum += x;
                }
            }
            Some(())
        });
        point.registers = registers;
        done.is_some()
    }

    /// The indices at which all conditions hold.
    fn interval(&self, at: &dyn Fn(usize) -> Walk, extent: i64) -> Option<(i64, i64)> {
        let (mut low, mut high) = (0, extent);
        for condition in self.conditions {
            let Bool::Ints(relation, ab) = condition else {
                return None;
            };
            let (a, b) = (value(&ab.0, at)?, value(&ab.1, at)?);
            // A side that exceeds i64 wraps around: then the condition does not describe an interval.
            a.position(extent)?;
            b.position(extent)?;
            // The condition as start + stride · i ≥ 0.
            let (sign, shift) = bound(*relation)?;
            let start = b.start.checked_sub(a.start)?.checked_mul(sign)?;
            let start = start.checked_sub(shift)?;
            let stride = b.stride.checked_sub(a.stride)?.checked_mul(sign)?;
            match stride {
                0 if start < 0 => return Some((0, 0)),
                0 => {}
                s if s > 0 => low = low.max(skript_semantics::integer::ceil_div(start.checked_neg()?, s)),
                s => high = high.min(skript_semantics::integer::div(start, s.checked_neg()?).checked_add(1)?),
            }
        }
        Some((low, high))
    }
}

/// `a relation b` in the form `sign · (b − a) − shift ≥ 0`.
fn bound(relation: Relation) -> Option<(i64, i64)> {
    match relation {
        Relation::Lt => Some((1, 1)),
        Relation::Le => Some((1, 0)),
        Relation::Gt => Some((-1, 1)),
        Relation::Ge => Some((-1, 0)),
        Relation::Eq | Relation::Ne => None,
    }
}

fn linear(e: &Int) -> bool {
    matches!(e, Int::Constant(_) | Int::Register(_))
}

fn value(e: &Int, at: &dyn Fn(usize) -> Walk) -> Option<Walk> {
    match e {
        Int::Constant(c) => Some(Walk { start: *c, stride: 0 }),
        Int::Register(r) => Some(at(*r)),
        _ => None,
    }
}

/// An element of a tensor that is only read, at affine subscripts.
fn element(e: &Real) -> Option<(usize, &Address)> {
    match e {
        Real::Load(Storage::Source(n), address) if address.dynamic.is_empty() => Some((*n, address)),
        _ => None,
    }
}

fn source<'a>(point: &Point<'a>, position: usize) -> Option<&'a [f32]> {
    match point.sources.get(position)? {
        Source::Real(elements) => Some(elements.as_ref()),
        _ => None,
    }
}

impl Address {
    /// The position of the row; `None` if a subscript is out of bounds in `low..high`. As it is linear, its minimum and
    /// maximum are at the ends of the range.
    fn walk(&self, at: &dyn Fn(usize) -> Walk, low: i64, high: i64) -> Option<Walk> {
        for &(register, extent) in &self.checks {
            let walk = at(register);
            for i in [low, high - 1] {
                let value = walk.position(i)?;
                if value < 0 || value >= extent {
                    return None;
                }
            }
        }
        Some(at(self.base))
    }
}

impl Walk {
    /// The value at an index; `None` if it exceeds i64.
    fn position(self, index: i64) -> Option<i64> {
        self.start.checked_add(self.stride.checked_mul(index)?)
    }

    fn element(self, elements: &[f32], i: i64) -> f32 {
        let position = usize::try_from(self.start.wrapping_add(self.stride.wrapping_mul(i)));
        position.ok().and_then(|p| elements.get(p).copied()).unwrap_or(0.0)
    }
}
