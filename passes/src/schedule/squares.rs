// SPDX-License-Identifier: Apache-2.0
//! Transposes square blocks in registers.
//!
//! A block has as many vectors as a vector has lanes. It is transposed by exchanging halves of pairs of vectors, then quarters, and so
//! on (J. O. Eklundh, *A Fast Computer Method for Matrix Transposing*, 1972).

use crate::ir::{Builder, ValueKey, attributes, memref, ops, scf, vector};
use melior::Error;
use melior::ir::r#type::MemRefType;
use melior::ir::{ShapedTypeLike, Value, ValueLike};
use std::collections::HashMap;

/// Transposes a square block of vectors. `shuffle` selects lanes of two vectors; the lanes of the second vector are numbered after the
/// lanes of the first.
pub(super) fn transposed<V: Clone>(vectors: &mut [V], shuffle: &mut impl FnMut(&V, &V, &[usize]) -> V) {
    let lanes = vectors.len();
    let mut size = lanes / 2;
    while size > 0 {
        // Exchanges the second part of one vector and the first part of the other.
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
                if let Some(vector) = vectors.get_mut(position) {
                    *vector = shuffle(&a, &b, pattern);
                }
            }
        }
        size /= 2;
    }
}

/// A loop over blocks. The last block may overlap the previous block.
pub(super) struct Loop {
    /// The number of elements along the loop.
    pub(super) extent: i64,
    /// The number of elements of a block along the loop.
    pub(super) step: i64,
}

impl Loop {
    fn blocks(&self) -> i64 {
        (self.extent + self.step - 1) / self.step
    }

    /// Computes the first element of a block.
    fn start<'c: 'a, 'a>(&self, block: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Value<'c, 'a> {
        if self.step == 1 {
            return block;
        }
        let start = at.muli(block, at.idx(self.step));
        match self.extent % self.step {
            0 => start,
            _ => at.minsi(start, at.idx(self.extent - self.step)),
        }
    }
}

/// The source or the destination of a copy.
pub(super) struct Side<'c, 'a> {
    pub(super) array: Value<'c, 'a>,
    /// The offset of the first element.
    pub(super) offset: i64,
    /// The stride along each loop.
    pub(super) strides: Vec<i64>,
    /// The distance from one vector of a block to the next.
    pub(super) vectors: i64,
    /// Whether the elements of a vector are contiguous; otherwise a vector is the broadcast of one element.
    pub(super) is_vector: bool,
}

impl<'c: 'a, 'a> Side<'c, 'a> {
    /// Views the elements that the loops access as a one-dimensional array.
    fn flat(&self, loops: &[Loop], at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
        let last: i64 =
            loops.iter().zip(&self.strides).map(|(r#loop, stride)| (r#loop.extent - 1) * stride).sum();
        memref::reinterpret(at, self.array, self.offset, &[last + 1], &[1])
    }

    /// Computes the position of each vector of a block.
    fn positions(&self, starts: &[Value<'c, 'a>], lanes: i64, at: &Builder<'c, 'a>) -> Vec<Value<'c, 'a>> {
        let mut first = at.idx(0);
        let along = starts.iter().zip(&self.strides);
        for (start, stride) in along.filter(|(_, stride)| **stride != 0) {
            let along = at.muli(*start, at.idx(*stride));
            first = at.addi(first, along);
        }
        (0..lanes).map(|n| at.addi(first, at.idx(n * self.vectors))).collect()
    }

    /// Loads the vector at a position.
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

/// Splat vectors of loop-invariant scalars.
type Known<'c, 'a> = HashMap<ValueKey, Value<'c, 'a>>;

/// Emits the operations that compute a vector of results from vectors of elements.
type Payload<'p, 'c, 'a> =
    dyn Fn(&Builder<'c, 'a>, &mut Known<'c, 'a>, &[Value<'c, 'a>]) -> Result<Value<'c, 'a>, Error> + 'p;

/// Computes a payload on blocks of `lanes` × `lanes` elements of arrays, and writes the results to another array, each block transposed.
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
    let sources: Vec<Value> = from.iter().map(|side| side.flat(loops, at)).collect::<Result<_, _>>()?;
    let target = to.flat(loops, at)?;
    let counts: Vec<i64> = loops.iter().map(Loop::blocks).collect();
    scf::parallel(at, &counts, lanes * lanes, |body, block| {
        let starts = loops.iter().zip(block);
        let starts: Vec<Value> = starts.map(|(r#loop, block)| r#loop.start(*block, body)).collect();
        let mut inputs: Vec<Vec<Value>> = vec![Vec::new(); lanes.unsigned_abs() as usize];
        for (side, source) in from.iter().zip(&sources) {
            let positions = side.positions(&starts, lanes, body);
            for (vectors, position) in inputs.iter_mut().zip(positions) {
                vectors.push(side.load(*source, position, lanes, body)?);
            }
        }
        let mut known = HashMap::new();
        let results = inputs.iter().map(|vectors| payload(body, &mut known, vectors));
        let mut vectors: Vec<Value> = results.collect::<Result<_, _>>()?;
        let mut failure = None;
        transposed(&mut vectors, &mut |a, b, pattern| {
            let pattern: Vec<i64> = pattern.iter().map(|n| *n as i64).collect();
            let mask = ("mask", attributes::i64s(body.context, &pattern));
            let shuffled = body.value(ops::vector::SHUFFLE, &[*a, *b], &[mask], kind);
            shuffled.unwrap_or_else(|error| {
                failure = Some(error);
                *a
            })
        });
        if let Some(error) = failure {
            return Err(error);
        }
        for (vector, position) in vectors.into_iter().zip(to.positions(&starts, lanes, body)) {
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
            let is_transposed = |(r, row): (usize, &Vec<usize>)| {
                row.iter().enumerate().all(|(c, element)| *element == c * lanes + r)
            };
            assert!(rows.iter().enumerate().all(is_transposed), "{rows:?}");
        }
    }
}
