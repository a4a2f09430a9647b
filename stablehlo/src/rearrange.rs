// SPDX-License-Identifier: Apache-2.0
//! Dimensions that are read at constant positions: concatenated slices, reversals and repetitions.

use super::tensors::Tensors;
use melior::Error;
use melior::ir::Value;
use skript_dialect::melior;

/// The maximum number of pieces; beyond it a gather is smaller.
pub(crate) const MOST: usize = 8;

/// How a sequence of positions is built.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Row {
    /// `first, first + step, …`
    Run { first: i64, step: i64, count: i64 },
    /// Concatenated sequences.
    Pieces(Vec<Row>),
    /// A sequence, repeated as a whole.
    Tiled(Box<Row>, i64),
    /// A sequence with each position repeated.
    Stretched(Box<Row>, i64),
}

impl Row {
    /// The construction of positions; `None` if it takes too many pieces.
    fn of(positions: &[i64]) -> Option<Row> {
        let runs = runs(positions);
        if let [run] = runs.as_slice() {
            return Some(run.clone());
        }
        let count = positions.len();
        let divides = |part: &usize| count.is_multiple_of(*part);
        let stretched = |by: usize| positions.chunks(by).all(|c| c.iter().all(|p| Some(p) == c.first()));
        if let Some(by) = (2..count).rev().filter(divides).find(|by| stretched(*by)) {
            let row: Vec<i64> = positions.iter().copied().step_by(by).collect();
            return Some(Row::Stretched(Box::new(Row::of(&row)?), by as i64));
        }
        let tiled = |of: usize| positions.chunks(of).all(|c| Some(c) == positions.get(..of));
        if let Some(of) = (2..count).filter(divides).find(|of| tiled(*of)) {
            let row = Row::of(positions.get(..of)?)?;
            return Some(Row::Tiled(Box::new(row), (count / of) as i64));
        }
        (runs.len() <= MOST).then_some(Row::Pieces(runs))
    }

    fn read<'c: 'a, 'a>(
        &self,
        tensor: Value<'c, 'a>,
        dimension: usize,
        at: &Tensors<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        match self {
            Row::Run { first, step: 0, count } => {
                let one = cut(tensor, dimension, *first, *first + 1, 1, at)?;
                repeat(one, dimension, *count, true, at)
            }
            Row::Run { first, step, count } if *step > 0 => {
                cut(tensor, dimension, *first, first + step * (count - 1) + 1, *step, at)
            }
            Row::Run { first, step, count } => {
                let least = first + step * (count - 1);
                let row = cut(tensor, dimension, least, *first + 1, -step, at)?;
                at.reverse(row, &[dimension as i64])
            }
            Row::Pieces(rows) => {
                let rows = rows.iter().map(|row| row.read(tensor, dimension, at));
                at.concatenate(&rows.collect::<Result<Vec<_>, _>>()?, dimension)
            }
            Row::Tiled(row, times) => repeat(row.read(tensor, dimension, at)?, dimension, *times, false, at),
            Row::Stretched(row, times) => {
                repeat(row.read(tensor, dimension, at)?, dimension, *times, true, at)
            }
        }
    }
}

/// Runs found greedily from the left; a run of one position has step 1.
fn runs(positions: &[i64]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for position in positions {
        if let Some(Row::Run { first, step, count }) = rows.last_mut() {
            if *count == 1 {
                (*step, *count) = (position - *first, 2);
                continue;
            }
            if *position == *first + *step * *count {
                *count += 1;
                continue;
            }
        }
        rows.push(Row::Run { first: *position, step: 1, count: 1 });
    }
    rows
}

/// Every `step`-th position of one dimension.
fn cut<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    dimension: usize,
    start: i64,
    limit: i64,
    step: i64,
    at: &Tensors<'c, 'a>,
) -> Result<Value<'c, 'a>, Error> {
    let mut limits = at.extents(tensor)?;
    let (mut starts, mut strides) = (vec![0; limits.len()], vec![1; limits.len()]);
    for (list, value) in [(&mut starts, start), (&mut limits, limit), (&mut strides, step)] {
        *list.get_mut(dimension).ok_or(Error::OperationBuild)? = value;
    }
    at.slice(tensor, &starts, &limits, &strides)
}

/// Repeats a dimension: each position, or all of them one after the other.
fn repeat<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    dimension: usize,
    times: i64,
    each: bool,
    at: &Tensors<'c, 'a>,
) -> Result<Value<'c, 'a>, Error> {
    let mut extents = at.extents(tensor)?;
    let new = if each { dimension + 1 } else { dimension };
    let kept: Vec<i64> = (0..=extents.len()).filter(|d| *d != new).map(|d| d as i64).collect();
    let mut spread = extents.clone();
    spread.insert(new, times);
    let spread = at.broadcast(tensor, &kept, &spread)?;
    if let Some(extent) = extents.get_mut(dimension) {
        *extent *= times;
    }
    at.reshape(spread, &extents)
}

/// The tensor with one dimension read at these positions, clamped to its bounds. `None` if it takes too many pieces.
pub(crate) fn rearranged<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    dimension: usize,
    positions: &[i64],
    at: &Tensors<'c, 'a>,
) -> Result<Option<Value<'c, 'a>>, Error> {
    let last = at.extents(tensor)?.get(dimension).copied().unwrap_or(1) - 1;
    let inside: Vec<i64> = positions.iter().map(|p| (*p).min(last).max(0)).collect();
    Row::of(&inside).map(|row| row.read(tensor, dimension, at)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(first: i64, step: i64, count: i64) -> Row {
        Row::Run { first, step, count }
    }

    #[test]
    fn mirrored_borders_are_three_pieces() {
        let pieces = Row::Pieces(vec![run(2, -1, 3), run(1, 1, 3), run(2, -1, 2)]);
        assert_eq!(Row::of(&[2, 1, 0, 1, 2, 3, 2, 1]), Some(pieces));
    }

    #[test]
    fn repetitions_are_found() {
        let row = Box::new(run(0, 1, 3));
        assert_eq!(Row::of(&[0, 1, 2, 0, 1, 2]), Some(Row::Tiled(row.clone(), 2)));
        assert_eq!(Row::of(&[0, 0, 1, 1, 2, 2]), Some(Row::Stretched(row, 2)));
        assert_eq!(Row::of(&[4, 4, 4]), Some(run(4, 0, 3)));
    }

    #[test]
    fn what_is_too_many_pieces_is_gathered() {
        let positions: Vec<i64> = (0..40).map(|i| i * i % 37).collect();
        assert_eq!(Row::of(&positions), None);
    }
}
