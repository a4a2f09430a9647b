// SPDX-License-Identifier: Apache-2.0
//! Converts sorts to a stable bottom-up merge sort of positions, for each line along the dimension.
use super::nest::nest;
use super::operation::{SourceOp, Values};
use super::payload;
use crate::import::element::{Element, converted};
use crate::tensors::Tensors;
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::PassError;
use skript_dialect::melior;
use skript_passes::ir::bufferization::allocated;
use skript_passes::ir::builder::arith::Integers;
use skript_passes::ir::generic::map;
use skript_passes::ir::scf::{choose, fold_all};
use skript_passes::ir::{Builder, types};

/// Minimum number of positions that are sorted at once when a few are selected.
const MIN_CANDIDATES: i64 = 32;

/// Number of elements that are tested for candidates with one branch.
const TESTED: i64 = 16;

type Computed<'c, 'a> = Result<Value<'c, 'a>, PassError>;

/// Emits an `i1` that is true if the right of two positions along the line sorts before the left one. The arguments are the right
/// position and the left position.
type Precedes<'p, 'c, 'a> = dyn Fn(&Builder<'c, 'a>, Value<'c, 'a>, Value<'c, 'a>) -> Computed<'c, 'a> + 'p;

pub(super) fn sort<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let extents = &source.result()?.extents;
    let rank = extents.len() as i64;
    let dimension = source.i64("dimension").unwrap_or(-1);
    let dimension = if dimension < 0 { dimension + rank } else { dimension };
    let dimension = usize::try_from(dimension).map_err(|e| e.to_string())?;
    let (count, at, inputs) = (extents[dimension], &source.at, &source.values);
    let start = ascending(at, count)?;
    let mut others = extents.clone();
    others[dimension] = 1;
    // Not `tensor.empty`, because bufferization may replace it by a loop-carried value while the input is still read.
    let outputs: Vec<Value> = inputs.iter().map(|input| allocated(at, input.r#type())).collect();
    nest(at, &others, &outputs, &mut |at, indices, outputs| {
        let position = |along: Value<'c, 'a>| {
            let mut position = indices.to_vec();
            position[dimension] = along;
            position
        };
        let order = merged(at, start, count, &|at, right, left| {
            let (right, left) = (position(right), position(left));
            let right: Vec<Value> = inputs.iter().map(|input| at.element(*input, &right)).collect();
            let left = inputs.iter().map(|input| at.element(*input, &left)).collect::<Vec<_>>();
            let pairs: Vec<Value> = right.into_iter().zip(left).flat_map(<[_; 2]>::from).collect();
            first(payload::apply(source, 0, &pairs, at)?)
        })?;
        nest(at, &[count], outputs, &mut |at, k, outputs| {
            let (from, to) = (position(at.element(order, k)), position(k[0]));
            let written = inputs.iter().zip(outputs);
            let write = |(input, output): (&Value<'c, 'a>, &Value<'c, 'a>)| {
                at.with_element(*output, &to, at.element(*input, &from))
            };
            Ok(written.map(write).collect())
        })
    })
}

fn first<'c, 'a>(values: Vec<Value<'c, 'a>>) -> Computed<'c, 'a> {
    values.into_iter().next().ok_or_else(|| "has no value".into())
}

/// Converts `top_k`: the `k` largest elements along the last dimension, and their positions; equal elements keep their
/// order.
pub(crate) fn top_k<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let (input, result, at) = (source.operand(0)?, source.result()?, &source.at);
    let (Some((count, others)), Some(kept)) = (input.extents.split_last(), result.extents.last()) else {
        return Err("has no dimension".into());
    };
    let kind = if matches!(input.element, Element::Float(_)) { "TOTALORDER" } else { "NOTYPE" };
    let tensor = source.value(0)?;
    let results = source.results.iter().map(|result| allocated(at, result.r#type(at.context)));
    let results: Vec<Value> = results.collect();
    nest(at, others, &results, &mut |at, indices, outputs| {
        let position = |along: Value<'c, 'a>| [indices, &[along]].concat();
        let row = Row {
            count: *count,
            kept: *kept,
            at: &|at, k| at.element(tensor, &position(k)),
            precedes: &|at, right, left| Tensors { at: *at }.compare("GT", kind, right, left),
        };
        let order = row.selected(at)?;
        nest(at, &[*kept], outputs, &mut |at, k, outputs| {
            let [values, numbers] = *outputs else {
                return Err("lacks its second result".into());
            };
            let from = at.element(order, k);
            let value = (row.at)(at, from);
            let number = at.index_cast(from, types::word(at.context));
            let number = converted(number, types::element_or_self(numbers.r#type()), at);
            let written = [(values, value), (numbers, number)];
            Ok(written.map(|(output, value)| at.with_element(output, &position(k[0]), value)).to_vec())
        })
    })
}

/// A line of elements, of which the first ones in sorted order are selected.
struct Row<'r, 'c, 'a> {
    count: i64,
    kept: i64,
    /// Emits the element at a position.
    at: &'r dyn Fn(&Builder<'c, 'a>, Value<'c, 'a>) -> Value<'c, 'a>,
    /// Emits an `i1` that is true if the right of two elements sorts before the left one.
    precedes: &'r dyn Fn(&Builder<'c, 'a>, Value<'c, 'a>, Value<'c, 'a>) -> Value<'c, 'a>,
}

/// The positions of candidates, their number, and the last element among the first ones in sorted order.
struct Candidates<'c, 'a> {
    positions: Value<'c, 'a>,
    used: Value<'c, 'a>,
    limit: Value<'c, 'a>,
}

impl<'c: 'a, 'a> Candidates<'c, 'a> {
    fn from_values(values: &[Value<'c, 'a>]) -> Result<Self, PassError> {
        match *values {
            [positions, used, limit] => Ok(Candidates { positions, used, limit }),
            _ => Err("lost its candidates".into()),
        }
    }

    fn values(&self) -> [Value<'c, 'a>; 3] {
        [self.positions, self.used, self.limit]
    }

    fn types(&self) -> [Type<'c>; 3] {
        self.values().map(|value| value.r#type())
    }
}

impl<'c: 'a, 'a> Row<'_, 'c, 'a> {
    /// Emits a tensor of positions whose first `kept` positions are in sorted order.
    ///
    /// Candidates are collected in a buffer of at least twice as many positions as are kept. If it is full, it is sorted, and the
    /// first ones remain. A later position is a candidate if its element precedes the last of these.
    fn selected(&self, at: &Builder<'c, 'a>) -> Computed<'c, 'a> {
        let size = (2 * self.kept).max(MIN_CANDIDATES);
        // A short line is sorted as a whole.
        let size = if 2 * size > self.count { self.count } else { size + (self.count - size) % TESTED };
        let positions = ascending(at, size)?;
        if size == self.count {
            return self.sorted(at, positions, size);
        }
        let [zero, step, tested] = [0, 1, TESTED].map(|n| at.idx(n));
        let [end, full] = [self.count, size].map(|n| at.idx(n));
        let constants = [full, at.idx(self.kept), at.idx(self.kept - 1), step];
        let start = Candidates { positions, used: full, limit: (self.at)(at, zero) };
        let candidates = fold_all(at, [full, end, tested], &start.values(), |at, position, values| {
            let candidates = Candidates::from_values(values)?;
            let mut any = self.is_candidate(at, position, &candidates);
            for n in 1..TESTED {
                let next = at.addi(position, at.idx(n));
                any = at.ori(any, self.is_candidate(at, next, &candidates));
            }
            let needed = at.ori(any, at.cmpi(Integers::Equal, candidates.used, full));
            choose(at, needed, &candidates.types(), |at, is_needed| {
                if !is_needed {
                    return Ok(values.to_vec());
                }
                let end = at.addi(position, tested);
                fold_all(at, [position, end, step], values, |at, position, values| {
                    self.added(at, position, &Candidates::from_values(values)?, constants)
                })
            })
        })?;
        // Positions that remain from an earlier sort follow the kept ones in this sort, too.
        self.sorted(at, first(candidates)?, size)
    }

    fn is_candidate(
        &self,
        at: &Builder<'c, 'a>,
        position: Value<'c, 'a>,
        candidates: &Candidates<'c, 'a>,
    ) -> Value<'c, 'a> {
        (self.precedes)(at, (self.at)(at, position), candidates.limit)
    }

    /// Adds a position, if it is a candidate. Before that, a full buffer is sorted.
    fn added(
        &self,
        at: &Builder<'c, 'a>,
        position: Value<'c, 'a>,
        candidates: &Candidates<'c, 'a>,
        [full, kept, last, one]: [Value<'c, 'a>; 4],
    ) -> Values<'c, 'a> {
        let is_candidate = self.is_candidate(at, position, candidates);
        let is_full = at.cmpi(Integers::Equal, candidates.used, full);
        choose(at, at.ori(is_candidate, is_full), &candidates.types(), |at, is_needed| {
            if !is_needed {
                return Ok(candidates.values().to_vec());
            }
            let reduced = choose(at, is_full, &candidates.types(), |at, is_full| {
                if !is_full {
                    return Ok::<_, PassError>(candidates.values().to_vec());
                }
                let size = types::shape(candidates.positions.r#type()).iter().product();
                let sorted = self.sorted(at, candidates.positions, size)?;
                Ok(vec![sorted, kept, (self.at)(at, at.element(sorted, &[last]))])
            })?;
            let candidates = Candidates::from_values(&reduced)?;
            let positions = at.with_element(candidates.positions, &[candidates.used], position);
            Ok(vec![positions, at.addi(candidates.used, one), candidates.limit])
        })
    }

    /// Emits sorted positions.
    fn sorted(&self, at: &Builder<'c, 'a>, positions: Value<'c, 'a>, count: i64) -> Computed<'c, 'a> {
        merged(at, positions, count, &|at, right, left| {
            let (right, left) = ((self.at)(at, right), (self.at)(at, left));
            Ok((self.precedes)(at, right, left))
        })
    }
}

/// Emits the positions 0, 1, …
fn ascending<'c: 'a, 'a>(at: &Builder<'c, 'a>, count: i64) -> Computed<'c, 'a> {
    map(at, &[], types::tensor(&[count], at.index_type()), &[], |body, _| Ok(body.loop_index(0)?))
}

/// Emits the sorted positions by merging runs of 1, 2, 4, … positions.
fn merged<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    start: Value<'c, 'a>,
    count: i64,
    precedes: &Precedes<'_, 'c, 'a>,
) -> Computed<'c, 'a> {
    let passes = i64::from(count.max(1).unsigned_abs().next_power_of_two().trailing_zeros());
    let [zero, step, end, last] = [0, 1, count, count - 1].map(|n| at.idx(n));
    let inits = [start, at.empty(start.r#type())];
    let merged = nest(at, &[passes], &inits, &mut |at, pass, values| {
        let (source, target) = (values[0], values[1]);
        let width = at.shli(step, pass[0]);
        let both = at.addi(width, width);
        let runs = fold_all(at, [zero, end, both], &[target], |at, low, target| {
            let [middle, high] = [width, both].map(|length| at.minui(at.addi(low, length), end));
            let run = Run { source, last, step, middle, high };
            let merged = fold_all(at, [low, high, step], &[low, middle, target[0]], |at, k, values| {
                run.next(at, k, values, precedes)
            })?;
            Ok::<_, PassError>(vec![merged[2]])
        })?;
        // The sorted positions are the source of the next pass.
        let copied = nest(at, &[count], &[source], &mut |at, k, source| {
            Ok(vec![at.with_element(source[0], k, at.element(runs[0], k))])
        })?;
        Ok(vec![copied[0], runs[0]])
    })?;
    Ok(merged[0])
}

/// Two runs of positions that are merged: up to `middle`, and from there up to `high`.
struct Run<'c, 'a> {
    source: Value<'c, 'a>,
    /// The last position of the line.
    last: Value<'c, 'a>,
    /// One.
    step: Value<'c, 'a>,
    middle: Value<'c, 'a>,
    high: Value<'c, 'a>,
}

impl<'c: 'a, 'a> Run<'c, 'a> {
    /// Writes the position at `k`; `values` are the next positions in both runs, and the merged positions.
    fn next(
        &self,
        at: &Builder<'c, 'a>,
        k: Value<'c, 'a>,
        values: &[Value<'c, 'a>],
        precedes: &Precedes<'_, 'c, 'a>,
    ) -> Values<'c, 'a> {
        let [i, j, target] = [values[0], values[1], values[2]];
        let [left, right] = [i, j].map(|n| at.element(self.source, &[at.minui(n, self.last)]));
        let first = precedes(at, right, left)?;
        let is_done = at.cmpi(Integers::AtLeast, i, self.middle);
        let is_present = at.cmpi(Integers::Less, j, self.high);
        let take = at.andi(is_present, at.ori(is_done, first));
        let target = at.with_element(target, &[k], at.select(take, right, left));
        let [next_i, next_j] = [i, j].map(|n| at.addi(n, self.step));
        Ok(vec![at.select(take, i, next_i), at.select(take, next_j, j), target])
    }
}
