// SPDX-License-Identifier: Apache-2.0
//! Exports reads at constant positions along a dimension as concatenated slices, reversals and repetitions.
use super::tensors::Tensors;
use melior::ir::Value;
use skript_dialect::melior;

/// Maximum number of pieces; a gather is smaller than more pieces.
pub(crate) const MAX_PIECES: usize = 8;
/// The construction of a sequence of positions.
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
    /// Finds a construction of the positions; `None` if it would have too many pieces.
    fn new(positions: &[i64]) -> Option<Row> {
        let runs = runs(positions);
        if let [run] = runs.as_slice() {
            return Some(run.clone());
        }
        let count = positions.len();
        let divides = |part: &usize| count.is_multiple_of(*part);
        let stretched = |by: usize| positions.chunks(by).all(|c| c.iter().all(|p| Some(p) == c.first()));
        if let Some(by) = (2..count).rev().filter(divides).find(|by| stretched(*by)) {
            let row: Vec<i64> = positions.iter().copied().step_by(by).collect();
            return Some(Row::Stretched(Box::new(Row::new(&row)?), by as i64));
        }
        let tiled = |size: usize| positions.chunks(size).all(|c| Some(c) == positions.get(..size));
        if let Some(size) = (2..count).filter(divides).find(|size| tiled(*size)) {
            let row = Row::new(positions.get(..size)?)?;
            return Some(Row::Tiled(Box::new(row), (count / size) as i64));
        }
        (runs.len() <= MAX_PIECES).then_some(Row::Pieces(runs))
    }

    fn read<'c: 'a, 'a>(
        &self,
        tensor: Value<'c, 'a>,
        dimension: usize,
        at: &Tensors<'c, 'a>,
    ) -> Value<'c, 'a> {
        match self {
            Row::Run { first, step: 0, count } => {
                let one = cut(tensor, dimension, *first, *first + 1, 1, at);
                repeat(one, dimension, *count, true, at)
            }
            Row::Run { first, step, count } if *step > 0 => {
                cut(tensor, dimension, *first, first + step * (count - 1) + 1, *step, at)
            }
            Row::Run { first, step, count } => {
                let last = first + step * (count - 1);
                let row = cut(tensor, dimension, last, *first + 1, -step, at);
                at.reverse(row, &[dimension as i64])
            }
            Row::Pieces(rows) => {
                let rows: Vec<_> = rows.iter().map(|row| row.read(tensor, dimension, at)).collect();
                at.concatenate(&rows, dimension)
            }
            Row::Tiled(row, times) => repeat(row.read(tensor, dimension, at), dimension, *times, false, at),
            Row::Stretched(row, times) => {
                repeat(row.read(tensor, dimension, at), dimension, *times, true, at)
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

/// Slices every `step`-th position of one dimension.
fn cut<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    dimension: usize,
    start: i64,
    limit: i64,
    step: i64,
    at: &Tensors<'c, 'a>,
) -> Value<'c, 'a> {
    let mut limits = at.extents(tensor);
    let (mut starts, mut strides) = (vec![0; limits.len()], vec![1; limits.len()]);
    for (list, value) in [(&mut starts, start), (&mut limits, limit), (&mut strides, step)] {
        list[dimension] = value;
    }
    at.slice(tensor, &starts, &limits, &strides)
}

/// Repeats each position of a dimension, or the complete dimension.
fn repeat<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    dimension: usize,
    times: i64,
    each: bool,
    at: &Tensors<'c, 'a>,
) -> Value<'c, 'a> {
    let mut extents = at.extents(tensor);
    let new = if each { dimension + 1 } else { dimension };
    let kept: Vec<i64> = (0..=extents.len()).filter(|d| *d != new).map(|d| d as i64).collect();
    let mut spread = extents.clone();
    spread.insert(new, times);
    let spread = at.broadcast(tensor, &kept, &spread);
    if let Some(extent) = extents.get_mut(dimension) {
        *extent *= times;
    }
    at.reshape(spread, &extents)
}

/// Reads one dimension of a tensor at these positions, clamped to its bounds. `None` if it would have too many pieces.
pub(crate) fn rearranged<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    dimension: usize,
    positions: &[i64],
    at: &Tensors<'c, 'a>,
) -> Option<Value<'c, 'a>> {
    let last = at.extents(tensor)[dimension] - 1;
    let inside: Vec<i64> = positions.iter().map(|p| (*p).min(last).max(0)).collect();
    Some(Row::new(&inside)?.read(tensor, dimension, at))
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
        assert_eq!(Row::new(&[2, 1, 0, 1, 2, 3, 2, 1]), Some(pieces));
    }

    #[test]
    fn repetitions_are_recognized() {
        let row = Box::new(run(0, 1, 3));
        assert_eq!(Row::new(&[0, 1, 2, 0, 1, 2]), Some(Row::Tiled(row.clone(), 2)));
        assert_eq!(Row::new(&[0, 0, 1, 1, 2, 2]), Some(Row::Stretched(row, 2)));
        assert_eq!(Row::new(&[4, 4, 4]), Some(run(4, 0, 3)));
    }

    #[test]
    fn many_pieces_are_gathered() {
        let positions: Vec<i64> = (0..40).map(|i| i * i % 37).collect();
        assert_eq!(Row::new(&positions), None);
    }
}
