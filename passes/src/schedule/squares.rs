// SPDX-License-Identifier: Apache-2.0
//! Square blocks that are transposed in registers.
//!
//! A block of as many vectors as they have lanes is transposed by exchanging ever smaller parts of pairs of vectors (J. O. Eklundh,
//! *A Fast Computer Method for Matrix Transposing*, 1972).

use crate::ir::{Builder, ValueKey, attributes, memref, ops, scf, vector};
use melior::Error;
use melior::ir::r#type::MemRefType;
use melior::ir::{ShapedTypeLike, Type, Value, ValueLike};
use std::collections::HashMap;

/// Transposes as many vectors as they have lanes. `shuffle` makes a vector of lanes of two: those of the second are numbered after those
/// of the first.
pub(super) fn transposed<V: Clone>(vectors: &mut [V], shuffle: &mut impl FnMut(&V, &V, &[usize]) -> V) {
    let lanes = vectors.len();
    let mut size = lanes / 2;
    while size > 0 {
        // The second part of one vector and the first of the other.
        let is_first = |lane: usize| lane & size == 0;
        let pattern = |of: &dyn Fn(usize) -> usize| (0..lanes).map(of).collect::<Vec<_>>();
        let upper = pattern(&|lane| if is_first(lane) { lane } else { lanes + lane - size });
        let lower = pattern(&|lane| if is_first(lane) { lane + size } else { lanes + lane });
        for first in (0..lanes).filter(|n| is_first(*n)) {
            let pair = vectors.get(first).cloned().zip(vectors.get(first + size).cloned());
            let Some((a, b)) = pair else {
                continue;
            };
            for (position, pattern) in [(first, &upper), (first + size, &lower)] {
                if let Some(own) = vectors.get_mut(position) {
                    *own = shuffle(&a, &b, pattern);
                }
            }
        }
        size /= 2;
    }
}

/// A loop around blocks: its iterations, and those of a block. The last block may overlap the one before.
pub(super) struct Loop {
    pub(super) extent: i64,
    pub(super) step: i64,
}

impl Loop {
    fn blocks(&self) -> i64 {
        (self.extent + self.step - 1) / self.step
    }

    /// The first iteration of a block.
    fn start<'c: 'a, 'a>(&self, block: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
        let index = Type::index(at.context);
        let binary = |name, a, b| at.value(name, &[a, b], &[], index);
        if self.step == 1 {
            return Ok(block);
        }
        let start = binary(ops::arith::MULI, block, at.index(self.step)?)?;
        match self.extent % self.step {
            0 => Ok(start),
            _ => binary(ops::arith::MINSI, start, at.index(self.extent - self.step)?),
        }
    }
}

/// An array of a copy: where its first element is, and the strides of loops.
pub(super) struct Side<'c, 'a> {
    pub(super) array: Value<'c, 'a>,
    pub(super) offset: i64,
    /// By loop.
    pub(super) strides: Vec<i64>,
    /// The distance from one vector of a block to the next.
    pub(super) vectors: i64,
    /// Whether the elements of a vector are consecutive; otherwise all of them are one.
    pub(super) is_vector: bool,
}

impl<'c: 'a, 'a> Side<'c, 'a> {
    /// The array as one of consecutive elements, as far as the loops reach.
    fn flat(&self, loops: &[Loop], at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
        let last = loops.iter().zip(&self.strides);
        let last: i64 = last.map(|(own, stride)| (own.extent - 1) * stride).sum();
        memref::reinterpret(at, self.array, self.offset, &[last + 1], &[1])
    }

    /// The position of each vector of a block.
    fn positions(
        &self,
        starts: &[Value<'c, 'a>],
        lanes: i64,
        at: &Builder<'c, 'a>,
    ) -> Result<Vec<Value<'c, 'a>>, Error> {
        let index = Type::index(at.context);
        let binary = |name, a, b| at.value(name, &[a, b], &[], index);
        let mut first = at.index(0)?;
        let along = starts.iter().zip(&self.strides);
        for (start, stride) in along.filter(|(_, stride)| **stride != 0) {
            let along = binary(ops::arith::MULI, *start, at.index(*stride)?)?;
            first = binary(ops::arith::ADDI, first, along)?;
        }
        (0..lanes).map(|n| binary(ops::arith::ADDI, first, at.index(n * self.vectors)?)).collect()
    }

    /// The vector of elements at a position.
    fn load(
        &self,
        flat: Value<'c, 'a>,
        position: Value<'c, 'a>,
        lanes: i64,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let element = MemRefType::try_from(self.array.r#type())?.element();
        let kind = vector::of(&[lanes], element);
        if self.is_vector {
            return at.value(ops::vector::LOAD, &[flat, position], &[], kind);
        }
        let one = at.value(ops::memref::LOAD, &[flat, position], &[], element)?;
        at.value(ops::vector::BROADCAST, &[one], &[], kind)
    }
}

/// Vectors of what is the same for all elements, by the scalar.
type Known<'c, 'a> = HashMap<ValueKey, Value<'c, 'a>>;

/// Adds the operations that compute a vector of results from vectors of elements.
type Payload<'p, 'c, 'a> =
    dyn Fn(&Builder<'c, 'a>, &mut Known<'c, 'a>, &[Value<'c, 'a>]) -> Result<Value<'c, 'a>, Error> + 'p;

/// Computes a payload on blocks of `lanes` × `lanes` elements of arrays and writes the results to another one, each block transposed.
///
/// # Errors
/// The builder's error.
pub(super) fn copy<'c: 'a, 'a>(
    from: &[Side<'c, 'a>],
    to: &Side<'c, 'a>,
    loops: &[Loop],
    lanes: i64,
    at: &Builder<'c, 'a>,
    payload: &Payload<'_, 'c, 'a>,
) -> Result<(), Error> {
    let element = MemRefType::try_from(to.array.r#type())?.element();
    let kind = vector::of(&[lanes], element);
    let sources = from.iter().map(|side| side.flat(loops, at));
    let sources: Vec<Value> = sources.collect::<Result<_, _>>()?;
    let target = to.flat(loops, at)?;
    let counts: Vec<i64> = loops.iter().map(Loop::blocks).collect();
    scf::parallel(at, &counts, lanes * lanes, |body, block| {
        let starts = loops.iter().zip(block);
        let starts: Vec<Value> =
            starts.map(|(own, block)| own.start(*block, body)).collect::<Result<_, _>>()?;
        let mut inputs: Vec<Vec<Value>> = vec![Vec::new(); lanes.unsigned_abs() as usize];
        for (side, source) in from.iter().zip(&sources) {
            let positions = side.positions(&starts, lanes, body)?;
            for (own, position) in inputs.iter_mut().zip(positions) {
                own.push(side.load(*source, position, lanes, body)?);
            }
        }
        let mut known = HashMap::new();
        let results = inputs.iter().map(|own| payload(body, &mut known, own));
        let mut vectors: Vec<Value> = results.collect::<Result<_, _>>()?;
        let mut failure = None;
        transposed(&mut vectors, &mut |a, b, pattern| {
            let pattern: Vec<i64> = pattern.iter().map(|n| *n as i64).collect();
            let mask = ("mask", attributes::i64s(body.context, &pattern));
            let made = body.value(ops::vector::SHUFFLE, &[*a, *b], &[mask], kind);
            made.unwrap_or_else(|error| {
                failure = Some(error);
                *a
            })
        });
        if let Some(error) = failure {
            return Err(error);
        }
        for (vector, position) in vectors.into_iter().zip(to.positions(&starts, lanes, body)?) {
            body.create(ops::vector::STORE, &[vector, target, position], &[], &[], Vec::new())?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchanges_transpose() {
        for lanes in [1, 2, 4, 8, 16] {
            let row = |row: usize| (0..lanes).map(|column| row * lanes + column).collect();
            let mut rows: Vec<Vec<usize>> = (0..lanes).map(row).collect();
            transposed(&mut rows, &mut |a, b, pattern| {
                let both = [a.as_slice(), b].concat();
                pattern.iter().map(|n| both[*n]).collect()
            });
            let is_transposed =
                |(r, row): (usize, &Vec<usize>)| row.iter().enumerate().all(|(c, own)| *own == c * lanes + r);
            assert!(rows.iter().enumerate().all(is_transposed), "{rows:?}");
        }
    }
}
