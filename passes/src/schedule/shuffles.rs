// SPDX-License-Identifier: Apache-2.0
//! `skript-shuffle-reads`: reads of elements whose positions along a row are quotients of the index become shuffles of vectors.
//!
//! A row of a resized image reads `x[(82 * j + 40) floordiv 194]`: LLVM computes each position and loads each element by itself. The
//! positions of all elements of a vector are known, and lie close together: one or two vectors of the row have them, from
//! which a shuffle selects. The blocks of a row follow one another in the code; where their positions repeat at a distance, they are a
//! loop. The last block of a row may overlap the one before.
//!
//! Requires: buffers of static extents. Guarantees: each element is computed by the same operations as before.

use super::vectors::{in_vectors, is_vectorizable, widest};
use crate::ir::memref::{self, root_of};
use crate::ir::walk::named;
use crate::ir::{self, Builder, ValueKey, attributes, linalg, maps, ops, scf, vector};
use crate::structure::Affine;
use melior::Error;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{ShapedTypeLike, Type, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassOption};
use std::collections::HashMap;

/// The pass `skript-shuffle-reads`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-shuffle-reads",
    summary: "read elements at quotients of indices by shuffles of vectors",
    dependent_dialects: &[Dialect::Affine, Dialect::Arith, Dialect::MemRef, Dialect::Scf, Dialect::Vector],
    options: &[PassOption { name: "vector-bits", summary: "bits of a vector register", default: "512" }],
    run: |root, options, rewriter| {
        let bits: i64 = options.get("vector-bits")?;
        for op in named(root, ops::linalg::GENERIC) {
            if let Some(map) = Map::of(op, bits) {
                map.emit(&Builder::before(rewriter.context(), op)?)?;
                ir::erase(op);
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// The blocks of a row that the code has at most.
const MOST_BLOCKS: usize = 128;

/// Elements of the shortest vector.
const SHORTEST: i64 = 4;

/// An elementwise operation with one output, whose rows lie along the innermost loop.
struct Map<'c, 'a> {
    /// The operations of the payload, the last one yields the result.
    payload: Vec<OperationRef<'c, 'a>>,
    elements: Vec<Value<'c, 'a>>,
    extents: Vec<i64>,
    /// By operand, the output last.
    operands: Vec<Operand<'c, 'a>>,
    lanes: i64,
    order: Order,
}

/// An array, and which of its elements a row reads or writes.
struct Operand<'c, 'a> {
    array: Value<'c, 'a>,
    /// The subscripts of the dimensions but the one along rows, which is the last.
    rows: Vec<Affine>,
    along: Along,
}

/// The subscripts of the last dimension, along a row.
enum Along {
    /// The same for all elements.
    Same(Affine),
    /// One after another from a position on.
    InOrder(i64),
    /// By block, the vectors that have the elements.
    Shuffled { blocks: Vec<Windows>, lanes: i64 },
}

/// Two vectors of a row, and the number of each lane's element in both.
#[derive(Clone, Debug, PartialEq)]
struct Windows {
    starts: [i64; 2],
    mask: Vec<i64>,
}

impl Windows {
    /// The windows of `lanes` elements that have those at some positions of `extent`; `None` if two do not.
    fn of(positions: &[i64], extent: i64, lanes: i64) -> Option<Self> {
        let last = extent - lanes;
        let from = |start: i64| move |p: &&i64| !(start..start + lanes).contains(*p);
        let first = (*positions.iter().min()?).min(last);
        let second = positions.iter().filter(from(first)).min();
        let second = second.map_or(first, |start| (*start).min(last));
        let starts = [first, second];
        let lane = |p: &i64| {
            let mut own = starts.iter().zip([0, lanes]);
            own.find_map(|(start, number)| (*start..start + lanes).contains(p).then_some(number + p - start))
        };
        let mask = positions.iter().map(lane).collect::<Option<_>>()?;
        (first >= 0).then_some(Windows { starts, mask })
    }

    /// How much farther along the row another block of the same mask reads.
    fn distance(&self, other: &Windows) -> Option<i64> {
        let [first, second] = [0, 1].map(|n| {
            let own = self.starts.get(n).copied().unwrap_or(0);
            other.starts.get(n).copied().unwrap_or(0) - own
        });
        (self.mask == other.mask && first == second).then_some(first)
    }
}

/// How the blocks of a row follow one another: `count` times `blocks` of them in a loop, then the others.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Order {
    blocks: usize,
    count: usize,
}

impl Order {
    /// The order with the fewest blocks in the code; `rows` has the blocks of each shuffled operand.
    fn of(rows: &[&[Windows]], whole: usize) -> Option<Self> {
        let candidates = (1..=whole.min(MOST_BLOCKS)).map(|blocks| {
            let repeats = |count: &usize| {
                rows.iter().all(|own| {
                    let group = |number: usize| own.get(number * blocks..(number + 1) * blocks);
                    let both = group(0).zip(group(1)).zip(group(count - 1).zip(group(*count)));
                    let distance = |from: &[Windows], to: &[Windows]| {
                        let mut all = from.iter().zip(to).map(|(one, other)| one.distance(other));
                        let first = all.next().flatten()?;
                        all.all(|own| own == Some(first)).then_some(first)
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
        let code = |own: &Order| whole - (own.count - 1) * own.blocks;
        let least = candidates.min_by_key(code)?;
        (code(&least) * rows.len() <= MOST_BLOCKS).then_some(least)
    }
}

impl<'c: 'a, 'a> Map<'c, 'a> {
    fn of(op: OperationRef<'c, 'a>, bits: i64) -> Option<Self> {
        let generic = linalg::Generic::cast(op)?;
        let reductions = generic.reductions();
        let innermost = reductions.len().checked_sub(1)?;
        let body = generic.body()?;
        let (payload, elements) = (ir::operations(body), ir::arguments(body));
        let (last, computed) = payload.split_last()?;
        let is_map = !reductions.contains(&true) && op.result_count() == 0;
        let is_written = ir::users(*elements.last()?).is_empty();
        if !is_map || !is_written || last.operand_count() != 1 {
            return None;
        }
        if !computed.iter().all(|own| is_vectorizable(*own)) {
            return None;
        }

        let indexing = generic.indexing_maps();
        let arrays: Vec<Value> = op.operands().collect();
        let (output, inputs) = arrays.split_last()?;
        let apart = |input: &Value| root_of(*input) != root_of(*output);
        if !inputs.iter().all(apart) {
            return None;
        }
        let shape = memref::extents(output.r#type());
        let mut extents = vec![-1; reductions.len()];
        for (form, extent) in maps::forms(*indexing.last()?)?.iter().zip(&shape) {
            if let Some(own) = form.as_index() {
                *extents.get_mut(own)? = *extent;
            }
        }
        if !extents.iter().all(|extent| *extent > 0) {
            return None;
        }

        let length = *extents.get(innermost)?;
        let lanes = bits / (8 * widest(&elements, computed)?);
        let lanes = lanes.min(1 << length.checked_ilog2()?);
        if lanes < SHORTEST {
            return None;
        }
        let starts = starts(length, lanes);
        let operands = arrays.iter().zip(&indexing).map(|(array, map)| {
            let forms = maps::divided_forms(*map, &extents)?;
            Operand::of(*array, forms, &extents, &starts, lanes)
        });
        let operands: Vec<Operand> = operands.collect::<Option<_>>()?;
        if !matches!(operands.last()?.along, Along::InOrder(0)) {
            return None;
        }
        let shuffled = operands.iter().filter_map(|own| match &own.along {
            Along::Shuffled { blocks, .. } => Some(blocks.as_slice()),
            _ => None,
        });
        let shuffled: Vec<&[Windows]> = shuffled.collect();
        let whole = usize::try_from(length / lanes).ok()?;
        let order = Order::of(&shuffled, whole).filter(|_| !shuffled.is_empty())?;
        Some(Map { payload, elements, extents, operands, lanes, order })
    }

    fn emit(&self, at: &Builder<'c, 'a>) -> Result<(), Error> {
        let (length, outer) = self.extents.split_last().ok_or(Error::OperationBuild)?;
        if outer.is_empty() {
            return self.row(&[], *length, at);
        }
        scf::parallel(at, outer, *length, |body, position| self.row(position, *length, body))
    }

    /// The blocks of the row at a position of the other loops.
    fn row(&self, position: &[Value<'c, 'a>], length: i64, at: &Builder<'c, 'a>) -> Result<(), Error> {
        let rows = self.operands.iter().map(|own| own.row(position, self.lanes, at));
        let rows: Vec<Row> = rows.collect::<Result<_, _>>()?;
        let starts = starts(length, self.lanes);
        let Order { blocks, count } = self.order;
        let number = |value: usize| i64::try_from(value).map_err(|_| Error::OperationBuild);
        let mut known = HashMap::new();
        let mut next = 0;
        if count > 1 {
            let bounds = [at.index(0)?, at.index(number(count)?)?];
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

    /// Computes one block, or that of each group of a loop.
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
            let first_place = at.index(first)?;
            let Some((group, _)) = group.filter(|_| second != first) else {
                return Ok(first_place);
            };
            let index = Type::index(at.context);
            let step = at.index(second - first)?;
            let along = at.value(ops::arith::MULI, &[group, step], &[], index)?;
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
                    let (own, next) =
                        blocks.get(number).zip(blocks.get(next)).ok_or(Error::OperationBuild)?;
                    let kind = vector::of(&[*lanes], element);
                    let load = |from: i64, to: i64| {
                        at.value(ops::vector::LOAD, &row.at(place(from, to)?), &[], kind)
                    };
                    let [first, second] = own.starts;
                    let a = load(first, next.starts[0])?;
                    let b = if first == second { a } else { load(second, next.starts[1])? };
                    let mask = ("mask", attributes::i64s(at.context, &own.mask));
                    let kind = vector::of(&[self.lanes], element);
                    at.value(ops::vector::SHUFFLE, &[a, b], &[mask], kind)?
                }
                (Along::Same(_), None) => return Err(Error::OperationBuild),
            });
        }
        vectors.pop();
        let result = in_vectors(&self.payload, &self.elements, self.lanes, at, known, &vectors)?;
        let output = rows.last().ok_or(Error::OperationBuild)?;
        let mut operands = output.at(place(start, far)?);
        operands.insert(0, result);
        at.create(ops::vector::STORE, &operands, &[], &[], Vec::new())?;
        Ok(())
    }
}

/// The first element of each block of a row.
fn starts(length: i64, lanes: i64) -> Vec<i64> {
    let blocks = (length + lanes - 1) / lanes;
    (0..blocks).map(|n| (n * lanes).min(length - lanes)).collect()
}

impl<'c: 'a, 'a> Operand<'c, 'a> {
    fn of(
        array: Value<'c, 'a>,
        mut forms: Vec<Affine>,
        extents: &[i64],
        starts: &[i64],
        lanes: i64,
    ) -> Option<Self> {
        let innermost = extents.len() - 1;
        let memref = MemRefType::try_from(array.r#type()).ok()?;
        let last = forms.pop()?;
        let (strides, _) = memref.strides_and_offset();
        let extent = *memref::extents(array.r#type()).last()?;
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
                // LLVM has shuffles for constant steps.
                Some(_) => return None,
                None => {
                    let window = lanes.min(extent);
                    let blocks = starts.iter().map(|start| {
                        let positions = (*start..start + lanes).map(at);
                        let positions: Vec<i64> = positions.collect::<Option<_>>()?;
                        Windows::of(&positions, extent, window)
                    });
                    Along::Shuffled { blocks: blocks.collect::<Option<_>>()?, lanes: window }
                }
            }
        } else {
            Along::Same(last)
        };
        Some(Operand { array, rows: forms, along })
    }

    /// The row at a position of the outer loops.
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
    /// The array, and its subscripts but the last.
    operands: Vec<Value<'c, 'a>>,
    /// The vector of an element that is the same for the row.
    same: Option<Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Row<'c, 'a> {
    /// The array and the subscripts of an element.
    fn at(&self, place: Value<'c, 'a>) -> Vec<Value<'c, 'a>> {
        let mut operands = self.operands.clone();
        operands.push(place);
        operands
    }
}
