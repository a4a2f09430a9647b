// SPDX-License-Identifier: Apache-2.0
//! `skript-shuffle-reads`: reads elements at quotients of the index by vector loads and shuffles.
//!
//! A row of a resized image reads `x[(82 * j + 40) floordiv 194]`: LLVM would compute each position and load each element separately.
//! But the positions of all elements of a vector are constants that are close together: one or two vectors of the row contain them, and
//! a shuffle selects the elements. The blocks of a row are unrolled; if the positions repeat at a distance, the blocks become a loop. The
//! last block of a row may overlap the previous block.
//!
//! Requires: buffers with static extents. Guarantees: each element is computed by the same operations as before.

use super::vectors::{in_vectors, is_vectorizable, widest};
use crate::ir::generic::{LoopNest, Operand};
use crate::ir::memref::root_of;
use crate::ir::walk::named;
use crate::ir::{self, Builder, ValueKey, attributes, maps, ops, scf, vector};
use crate::structure::Affine;
use melior::Error;
use melior::ir::operation::OperationRef;
use melior::ir::r#type::MemRefType;
use melior::ir::{ShapedTypeLike, Type, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassOption};
use std::collections::HashMap;

/// The pass `skript-shuffle-reads`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-shuffle-reads",
    summary: "read elements at quotients of indices by vector loads and shuffles",
    dependent_dialects: &[Dialect::Affine, Dialect::Arith, Dialect::MemRef, Dialect::Scf, Dialect::Vector],
    options: &[PassOption { name: "vector-bits", summary: "bits of a vector register", default: "512" }],
    run: |root, options, rewriter| {
        let bits: i64 = options.get("vector-bits")?;
        for op in named(root, ops::linalg::GENERIC) {
            if let Some(map) = Map::new(op, bits) {
                map.emit(&Builder::before(rewriter.context(), op)?)?;
                ir::erase(op);
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Maximum number of unrolled blocks of a row.
const MAX_BLOCKS: usize = 128;

/// Minimum number of lanes.
const MIN_LANES: i64 = 4;

/// An elementwise operation with one output, whose rows are along the innermost loop.
struct Map<'c, 'a> {
    nest: LoopNest<'c, 'a>,
    /// The accesses of each operand, the output last.
    operands: Vec<Reads<'c, 'a>>,
    lanes: i64,
    order: Order,
}

/// An array, and the elements that a row reads or writes.
struct Reads<'c, 'a> {
    array: Value<'c, 'a>,
    /// The subscripts of all dimensions except the last one, which is along rows.
    rows: Vec<Affine>,
    along: Along,
}

/// The subscripts of the last dimension, along a row.
enum Along {
    /// The same subscript for all elements.
    Same(Affine),
    /// Consecutive subscripts from a position on.
    InOrder(i64),
    /// For each block, the vectors that contain the elements.
    Shuffled { blocks: Vec<Windows>, lanes: i64 },
}

/// Two vectors of a row, and for each lane the number of its element in the concatenation of both.
#[derive(Clone, Debug, PartialEq)]
struct Windows {
    starts: [i64; 2],
    mask: Vec<i64>,
}

impl Windows {
    /// Returns two windows of `lanes` elements that contain the elements at the positions; `None` if two windows are not enough.
    fn new(positions: &[i64], extent: i64, lanes: i64) -> Option<Self> {
        let last = extent - lanes;
        let from = |start: i64| move |p: &&i64| !(start..start + lanes).contains(*p);
        let first = (*positions.iter().min()?).min(last);
        let second = positions.iter().filter(from(first)).min().map_or(first, |start| (*start).min(last));
        let starts = [first, second];
        let lane = |p: &i64| {
            let mut windows = starts.iter().zip([0, lanes]);
            windows
                .find_map(|(start, number)| (*start..start + lanes).contains(p).then_some(number + p - start))
        };
        let mask = positions.iter().map(lane).collect::<Option<_>>()?;
        (first >= 0).then_some(Windows { starts, mask })
    }

    /// Returns the distance along the row between the reads of two blocks; `None` if the blocks differ in more than the distance.
    fn distance(&self, other: &Windows) -> Option<i64> {
        let ([first, second], [other_first, other_second]) = (self.starts, other.starts);
        let distance = other_first - first;
        (self.mask == other.mask && other_second - second == distance).then_some(distance)
    }
}

/// The order of the blocks of a row: a loop of `count` iterations with `blocks` blocks each, then the other blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Order {
    blocks: usize,
    count: usize,
}

impl Order {
    /// Selects the order with the minimum number of blocks in the code; `rows` has the blocks of each shuffled operand.
    fn new(rows: &[&[Windows]], whole: usize) -> Option<Self> {
        let candidates = (1..=whole.min(MAX_BLOCKS)).map(|blocks| {
            let repeats = |count: &usize| {
                rows.iter().all(|row| {
                    let group = |number: usize| row.get(number * blocks..(number + 1) * blocks);
                    let both = group(0).zip(group(1)).zip(group(count - 1).zip(group(*count)));
                    let distance = |from: &[Windows], to: &[Windows]| {
                        let mut all = from.iter().zip(to).map(|(one, other)| one.distance(other));
                        let first = all.next().flatten()?;
                        all.all(|distance| distance == Some(first)).then_some(first)
                    };
                    both.is_some_and(|((a, b), (c, d))| {
                        let step = distance(a, b);
                        step.is_some() && step == distance(c, d)
                    })
                })
            };
            let more = (1..whole / blocks).take_while(repeats).count();
            Order { blocks, count: 1 + more }
        });
        let code = |order: &Order| whole - (order.count - 1) * order.blocks;
        let best = candidates.min_by_key(code)?;
        (code(&best) * rows.len() <= MAX_BLOCKS).then_some(best)
    }
}

impl<'c: 'a, 'a> Map<'c, 'a> {
    fn new(op: OperationRef<'c, 'a>, bits: i64) -> Option<Self> {
        let nest = LoopNest::read_divided(op).filter(|nest| nest.is_on_arrays() && !nest.reduces())?;
        let output = nest.output().filter(|output| !output.is_read())?;
        let is_distinct = |input: &Operand| root_of(input.value) != root_of(output.value);
        let is_supported = nest.payload.iter().all(|op| is_vectorizable(*op));
        if !is_supported || !nest.inputs().iter().all(is_distinct) || nest.extents.contains(&0) {
            return None;
        }

        let length = *nest.extents.last()?;
        let lanes = bits / (8 * widest(&nest)?);
        let lanes = lanes.min(1 << length.checked_ilog2()?);
        if lanes < MIN_LANES {
            return None;
        }
        let starts = starts(length, lanes);
        let operands =
            nest.operands.iter().map(|operand| Reads::new(operand, nest.extents.len(), &starts, lanes));
        let operands: Vec<Reads> = operands.collect::<Option<_>>()?;
        if !matches!(operands.last()?.along, Along::InOrder(0)) {
            return None;
        }
        let shuffled = operands.iter().filter_map(|operand| match &operand.along {
            Along::Shuffled { blocks, .. } => Some(blocks.as_slice()),
            _ => None,
        });
        let shuffled: Vec<&[Windows]> = shuffled.collect();
        let whole = usize::try_from(length / lanes).ok()?;
        let order = Order::new(&shuffled, whole).filter(|_| !shuffled.is_empty())?;
        Some(Map { nest, operands, lanes, order })
    }

    fn emit(&self, at: &Builder<'c, 'a>) -> Result<(), Error> {
        let (length, outer) = self.nest.extents.split_last().ok_or(Error::OperationBuild)?;
        if outer.is_empty() {
            return self.row(&[], *length, at);
        }
        scf::parallel(at, outer, *length, |body, position| self.row(position, *length, body))
    }

    /// Emits the blocks of the row at a position of the outer loops.
    fn row(&self, position: &[Value<'c, 'a>], length: i64, at: &Builder<'c, 'a>) -> Result<(), Error> {
        let rows = self.operands.iter().map(|operand| operand.row(position, self.lanes, at));
        let rows: Vec<Row> = rows.collect::<Result<_, _>>()?;
        let starts = starts(length, self.lanes);
        let Order { blocks, count } = self.order;
        let number = |value: usize| i64::try_from(value).map_err(|_| Error::OperationBuild);
        let mut known = HashMap::new();
        let mut next = 0;
        if count > 1 {
            let bounds = [at.idx(0), at.idx(number(count)?)];
            scf::counted(at, bounds, 1, |body, group| {
                let mut known = HashMap::new();
                for (block, start) in starts.iter().enumerate().take(blocks) {
                    let group = Some((group, blocks));
                    self.block((block, *start), group, &rows, &mut known, body)?;
                }
                Ok(())
            })?;
            next = blocks * count;
        }
        for (block, start) in starts.iter().enumerate().skip(next) {
            self.block((block, *start), None, &rows, &mut known, at)?;
        }
        Ok(())
    }

    /// Emits one block, or, in a loop, the corresponding block of each group.
    fn block(
        &self,
        (number, start): (usize, i64),
        group: Option<(Value<'c, 'a>, usize)>,
        rows: &[Row<'c, 'a>],
        known: &mut HashMap<ValueKey, Value<'c, 'a>>,
        at: &Builder<'c, 'a>,
    ) -> Result<(), Error> {
        let next = group.map_or(number, |(_, blocks)| number + blocks);
        let place = |first: i64, second: i64| {
            let first_place = at.idx(first);
            let Some((group, _)) = group.filter(|_| second != first) else {
                return Ok(first_place);
            };
            let index = Type::index(at.context);
            let step = at.idx(second - first);
            let along = at.muli(group, step);
            at.value(ops::arith::ADDI, &[along, first_place], &[], index)
        };
        let far = match group {
            Some((_, blocks)) => {
                start + self.lanes * i64::try_from(blocks).map_err(|_| Error::OperationBuild)?
            }
            None => start,
        };
        let mut vectors = Vec::new();
        for (operand, row) in self.operands.iter().zip(rows) {
            let element = MemRefType::try_from(operand.array.r#type())?.element();
            vectors.push(match (&operand.along, row.same) {
                (_, Some(vector)) => vector,
                (Along::InOrder(offset), _) => {
                    let kind = vector::of(&[self.lanes], element);
                    let place = place(start + offset, far + offset)?;
                    at.value(ops::vector::LOAD, &row.at(place), &[], kind)?
                }
                (Along::Shuffled { blocks, lanes }, _) => {
                    let (windows, next) =
                        blocks.get(number).zip(blocks.get(next)).ok_or(Error::OperationBuild)?;
                    let kind = vector::of(&[*lanes], element);
                    let load = |from: i64, to: i64| {
                        at.value(ops::vector::LOAD, &row.at(place(from, to)?), &[], kind)
                    };
                    let [first, second] = windows.starts;
                    let a = load(first, next.starts[0])?;
                    let b = if first == second { a } else { load(second, next.starts[1])? };
                    let mask = ("mask", attributes::i64s(at.context, &windows.mask));
                    let kind = vector::of(&[self.lanes], element);
                    at.value(ops::vector::SHUFFLE, &[a, b], &[mask], kind)?
                }
                (Along::Same(_), None) => return Err(Error::OperationBuild),
            });
        }
        vectors.pop();
        let result = in_vectors(&self.nest, self.lanes, at, known, &vectors)?;
        let output = rows.last().ok_or(Error::OperationBuild)?;
        let mut operands = output.at(place(start, far)?);
        operands.insert(0, result);
        at.create(ops::vector::STORE, &operands, &[], &[], Vec::new())?;
        Ok(())
    }
}

/// Returns the first element of each block of a row.
fn starts(length: i64, lanes: i64) -> Vec<i64> {
    let blocks = (length + lanes - 1) / lanes;
    (0..blocks).map(|n| (n * lanes).min(length - lanes)).collect()
}

impl<'c: 'a, 'a> Reads<'c, 'a> {
    fn new(operand: &Operand<'c, 'a>, loops: usize, starts: &[i64], lanes: i64) -> Option<Self> {
        let innermost = loops - 1;
        let (strides, _) = operand.array()?.strides_and_offset();
        let mut forms = operand.forms.clone();
        let last = forms.pop()?;
        let extent = *operand.shape.last()?;
        let varies = |form: &Affine| form.indices().contains(&innermost);
        if extent <= 0 || forms.iter().any(varies) {
            return None;
        }
        let along = if varies(&last) {
            let is_contiguous = strides.last() == Some(&1);
            if !is_contiguous || last.indices() != [innermost] {
                return None;
            }
            let at = |j: i64| {
                let mut point = vec![0; innermost];
                point.push(j);
                last.evaluate(&point).filter(|p| (0..extent).contains(p))
            };
            match last.as_linear().as_deref() {
                Some([(_, 1)]) => Along::InOrder(last.offset()),
                // LLVM generates shuffles for constant strides.
                Some(_) => return None,
                None => {
                    let window = lanes.min(extent);
                    let blocks = starts.iter().map(|start| {
                        let positions: Vec<i64> = (*start..start + lanes).map(at).collect::<Option<_>>()?;
                        Windows::new(&positions, extent, window)
                    });
                    Along::Shuffled { blocks: blocks.collect::<Option<_>>()?, lanes: window }
                }
            }
        } else {
            Along::Same(last)
        };
        Some(Reads { array: operand.value, rows: forms, along })
    }

    /// Computes the row at a position of the outer loops.
    fn row(
        &self,
        position: &[Value<'c, 'a>],
        lanes: i64,
        at: &Builder<'c, 'a>,
    ) -> Result<Row<'c, 'a>, Error> {
        let index = Type::index(at.context);
        let subscript = |form: &Affine| {
            let map = maps::map(at.context, position.len(), std::slice::from_ref(form));
            let map = map.ok_or(Error::OperationBuild)?;
            at.value(ops::affine::APPLY, position, &[("map", map)], index)
        };
        let mut operands = vec![self.array];
        for form in &self.rows {
            operands.push(subscript(form)?);
        }
        let mut row = Row { operands, same: None };
        if let Along::Same(form) = &self.along {
            let element = MemRefType::try_from(self.array.r#type())?.element();
            let operands = row.at(subscript(form)?);
            let one = at.value(ops::memref::LOAD, &operands, &[], element)?;
            let kind = vector::of(&[lanes], element);
            row.same = Some(at.value(ops::vector::BROADCAST, &[one], &[], kind)?);
        }
        Ok(row)
    }
}

/// A row of an array.
struct Row<'c, 'a> {
    /// The array, and its subscripts except the last one.
    operands: Vec<Value<'c, 'a>>,
    /// The broadcast element, if all points of the row read the same element.
    same: Option<Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Row<'c, 'a> {
    /// Returns the array and the subscripts of an element.
    fn at(&self, place: Value<'c, 'a>) -> Vec<Value<'c, 'a>> {
        let mut operands = self.operands.clone();
        operands.push(place);
        operands
    }
}
