// SPDX-License-Identifier: Apache-2.0
//! Square blocks that are transposed in registers.
//!
//! A block of as many vectors as they have lanes is transposed by exchanging ever smaller parts of pairs of vectors (J. O. Eklundh,
//! *A Fast Computer Method for Matrix Transposing*, 1972).

use crate::ir::{Builder, attributes, memref, ops, scf, vector};
use melior::Error;
use melior::ir::r#type::MemRefType;
use melior::ir::{ShapedTypeLike, Type, Value, ValueLike};

/// Transposes as many vectors as they have lanes. `shuffle` makes a vector of lanes of two: those of the second are numbered after those
/// of the first.
pub(super) fn transposed<V: Clone>(
    vectors: &mut [V],
    shuffle: &mut impl FnMut(&V, &V, &[usize]) -> V,
) {
    let lanes = vectors.len();
    let mut size = lanes / 2;
    while size > 0 {
        // The second part of one vector and the first of the other.
        let is_first = |lane: usize| lane & size == 0;
        let pattern = |of: &dyn Fn(usize) -> usize| (0..lanes).map(of).collect::<Vec<_>>();
        let upper = pattern(&|lane| match is_first(lane) {
            true => lane,
            false => lanes + lane - size,
        });
        let lower = pattern(&|lane| match is_first(lane) {
            true => lane + size,
            false => lanes + lane,
        });
        for first in (0..lanes).filter(|n| is_first(*n)) {
            let pair = vectors
                .get(first)
                .cloned()
                .zip(vectors.get(first + size).cloned());
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

/// An array of a copy: where its first element is, and the strides of loops.
pub(super) struct Side<'c, 'a> {
    pub(super) array: Value<'c, 'a>,
    pub(super) offset: i64,
    /// By loop of blocks: the distance from one block to the next.
    pub(super) blocks: Vec<i64>,
    /// The distance from one vector of a block to the next.
    pub(super) vectors: i64,
}

impl<'c: 'a, 'a> Side<'c, 'a> {
    /// The array as one of consecutive elements, as far as `counts` blocks reach.
    fn flat(
        &self,
        counts: &[i64],
        lanes: i64,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let blocks = counts.iter().zip(&self.blocks);
        let blocks: i64 = blocks.map(|(count, stride)| (count - 1) * stride).sum();
        let span = blocks + (lanes - 1) * self.vectors + lanes;
        memref::reinterpret(at, self.array, self.offset, &[span], &[1])
    }

    /// The position of each vector of a block.
    fn positions(
        &self,
        block: &[Value<'c, 'a>],
        lanes: i64,
        at: &Builder<'c, 'a>,
    ) -> Result<Vec<Value<'c, 'a>>, Error> {
        let index = Type::index(at.context);
        let binary = |name, a, b| at.value(name, &[a, b], &[], index);
        let mut first = at.index(0)?;
        for (position, stride) in block.iter().zip(&self.blocks) {
            let along = binary(ops::arith::MULI, *position, at.index(*stride)?)?;
            first = binary(ops::arith::ADDI, first, along)?;
        }
        (0..lanes)
            .map(|n| binary(ops::arith::ADDI, first, at.index(n * self.vectors)?))
            .collect()
    }
}

/// Copies `counts` blocks of `lanes` × `lanes` elements from one array to another, each transposed.
///
/// # Errors
/// The builder's error.
pub(super) fn copy<'c: 'a, 'a>(
    [from, to]: [&Side<'c, 'a>; 2],
    counts: &[i64],
    lanes: i64,
    at: &Builder<'c, 'a>,
) -> Result<(), Error> {
    let element = MemRefType::try_from(to.array.r#type())?.element();
    let kind = vector::of(&[lanes], element);
    let [source, target] = [from.flat(counts, lanes, at)?, to.flat(counts, lanes, at)?];
    scf::parallel(at, counts, lanes * lanes, |body, block| {
        let mut vectors = Vec::new();
        for position in from.positions(block, lanes, body)? {
            vectors.push(body.value(ops::vector::LOAD, &[source, position], &[], kind)?);
        }
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
        for (vector, position) in vectors.into_iter().zip(to.positions(block, lanes, body)?) {
            body.create(
                ops::vector::STORE,
                &[vector, target, position],
                &[],
                &[],
                Vec::new(),
            )?;
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
                row.iter().enumerate().all(|(c, own)| *own == c * lanes + r)
            };
            assert!(rows.iter().enumerate().all(is_transposed), "{rows:?}");
        }
    }
}
