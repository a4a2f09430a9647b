// SPDX-License-Identifier: Apache-2.0
//! Emits the kernels of a product whose operand is unpacked: one that multiplies, and one that stores a part of the operand.

use super::dots::{Dots, Multiplied};
use super::lines::Line;
use super::sources::Sources;
use super::tables::{Table, Tables};
use super::values::{Failure, GROUP, Levels, Values};
use crate::ir::attribute_names::{NOALIAS, STEPS, UNPACKS};
use crate::ir::func::Definition;
use crate::ir::memref::{self, root_of};
use crate::ir::operator::Operator;
use crate::ir::{self, Builder, ValueKey, attributes, ops, types, vector};
use crate::schedule::kernel::KERNEL;
use melior::ir::{Location, Operation, Type, TypeLike, Value, ValueLike};

/// A product `y[i, j] += x[i, k] · w[j, k]` with an unpacked operand `w`.
#[derive(Clone)]
pub(super) struct Shape<'c, 'a> {
    /// The buffer of the unpacked operand, and the offset and the strides of its rows and of its depth.
    pub(super) unpacked: Value<'c, 'a>,
    pub(super) offset: i64,
    pub(super) strides: [i64; 2],
    /// The slices of the buffer that select the operand: the stride and the number of each.
    pub(super) slices: Vec<[i64; 2]>,
    /// The numbers of rows of the unpacked operand, and of products in a sum.
    pub(super) rows: i64,
    pub(super) depth: i64,
    /// The part of the depth that is computed in one step of the loop: all its digits are known.
    pub(super) block: i64,
    /// The rows of the unpacked operand in a step.
    pub(super) tile: i64,
    pub(super) lanes: usize,
    pub(super) permutes: bool,
    /// How bytes of the other operand are multiplied; `None` if it has reals.
    pub(super) dots: Option<Dots<'c>>,
}

/// An array of the product: its parameter type, the offset, which is an argument if it is dynamic, and the strides of both loops.
#[derive(Clone)]
pub(super) struct Matrix<'c> {
    pub(super) kind: Type<'c>,
    pub(super) offset: i64,
    pub(super) strides: [i64; 2],
}

/// The operations that add a product to a sum.
pub(super) struct Sum<'c> {
    pub(super) product: Operator<'c>,
    pub(super) sum: Operator<'c>,
}

/// The number of elements of an array with a dynamic extent, as its view has it.
const LARGEST: i64 = 1 << 40;

/// The maximum number of rows of the other operand in a register tile.
const ROWS: i64 = 4;

/// The minimum number of lanes of a vector that an instruction permutes.
const MIN_PERMUTED: usize = 8;

/// The kernel's function. Its arguments are the arrays of the sources, tables, the numbers of slices, then those of the kernel.
struct Function<'c, 'a> {
    definition: Definition<'c, 'a>,
    views: Vec<(ValueKey, Value<'c, 'a>)>,
    tables: Vec<Value<'c, 'a>>,
    slices: Vec<Value<'c, 'a>>,
    others: Vec<Value<'c, 'a>>,
    /// The array of the scales of a tile.
    scales: Option<Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Function<'c, 'a> {
    fn new(
        sources: &Sources<'c, 'a>,
        tables: &Tables<'c, 'a>,
        others: &[Type<'c>],
        shape: &Shape<'c, 'a>,
        location: Location<'c>,
    ) -> Self {
        let context = types::context_of(others[0]);
        let count = tables.scales.of_block * shape.blocks();
        let arrays = sources.arrays.iter().map(|array| array.r#type());
        let slices = shape.slices.iter().map(|_| Type::index(context));
        let types = arrays.chain(tables.list.iter().map(|table| table.kind())).chain(slices);
        let types = types.chain(others.iter().copied());
        let arguments: Vec<(Type, &[&str])> =
            types.map(|kind| (kind, if kind.is_mem_ref() { &[NOALIAS][..] } else { &[][..] })).collect();
        let definition = Definition::new(context, location, &arguments);
        let (arrays, rest) = definition.arguments.split_at(sources.arrays.len());
        let (tables, rest) = rest.split_at(tables.list.len());
        let (slices, others) = rest.split_at(shape.slices.len());
        let views = sources.arrays.iter().zip(arrays).map(|(array, argument)| {
            let count = memref::extents(array.r#type()).iter().product();
            (root_of(*array), flat(&definition.at, *argument, (0, None), count))
        });
        let (views, tables) = (views.collect(), tables.to_vec());
        let (slices, others) = (slices.to_vec(), others.to_vec());
        let scales =
            (count > 0).then(|| definition.at.alloca(types::memref(&[count], Type::float32(context))));
        Function { definition, views, tables, slices, others, scales }
    }

    fn finish(self, context: &'c melior::Context, more: &[&str]) -> Operation<'c> {
        let unit = attributes::unit(context);
        let attributes = [&[STEPS], more].concat().into_iter().map(|name| (name, unit));
        self.definition.finish(KERNEL, &[], &attributes.collect::<Vec<_>>())
    }
}

/// A view of an array as a line of `count` elements, from a static or dynamic offset on.
fn flat<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    array: Value<'c, 'a>,
    offset: (i64, Option<Value<'c, 'a>>),
    count: i64,
) -> Value<'c, 'a> {
    let element = types::element_or_self(array.r#type());
    let kind = memref::strided(at.context, &[count], element, (offset.0, &[1]), None);
    at.reinterpret_cast(array, offset, &[count], &[1], kind)
}

impl<'c: 'a, 'a> Shape<'c, 'a> {
    /// The kernel `(sources…, tables…, slices…, x…, y, offset of x, offset of y, rows of x, first step, end)`, whose steps are tiles of
    /// rows. Static offsets are ignored.
    pub(super) fn product(
        &self,
        sources: &Sources<'c, 'a>,
        tables: &mut Tables<'c, 'a>,
        [x, y]: [&Matrix<'c>; 2],
        sum: &Sum<'c>,
        location: Location<'c>,
    ) -> Result<Operation<'c>, Failure> {
        let context = types::context_of(x.kind);
        let index = Type::index(context);
        let mut kinds = self.dots.map_or(vec![x.kind], |dots| dots.types.to_vec());
        let inputs = kinds.len();
        kinds.extend([y.kind, index, index, index, index, index]);
        let function = Function::new(sources, tables, &kinds, self, location);
        let at = function.definition.at;
        let (arrays, rest) = function.others.split_at(inputs);
        let &[y_array, x_offset, y_offset, count, from, to] = rest else {
            return Err(Failure::Unsupported);
        };
        let view = |array, matrix: &Matrix, offset, group: i64| {
            let is_dynamic = matrix.offset == types::DYNAMIC;
            let offset =
                is_dynamic.then(|| if group == 1 { offset } else { at.divui(offset, at.idx(group)) });
            let first = if is_dynamic { matrix.offset } else { matrix.offset / group };
            flat(&at, array, (first, offset), LARGEST)
        };
        // The first array has an element for each of x; those of scales have one for each group.
        let groups = [1, ir::signed(GROUP), ir::signed(GROUP)];
        let x_views = arrays.iter().zip(groups).map(|(array, group)| view(*array, x, x_offset, group));
        let x_views: Vec<Value> = x_views.collect();
        let y_view = view(y_array, y, y_offset, 1);
        let mut failure = None;
        at.each([from, to, at.idx(1)], |at, step| {
            failure = self.scales(at, sources, tables, &function, step).err();
            let whole = at.muli(at.divui(count, at.idx(ROWS)), at.idx(ROWS));
            for (bounds, rows) in [([at.idx(0), whole, at.idx(ROWS)], ROWS), ([whole, count, at.idx(1)], 1)] {
                at.each(bounds, |at, first| {
                    let x_views = &x_views;
                    let tile = Tile { shape: self, x, y, x_views, y_view, sum, first, step, rows };
                    if let Err(error) = tile.emit(at, sources, tables, &function) {
                        failure = Some(error);
                    }
                });
            }
        });
        match failure {
            Some(failure) => Err(failure),
            None => Ok(function.finish(context, &[])),
        }
    }

    /// The kernel `(sources…, tables…, slices…, part, first tile, first step, end)` that stores the rows of tiles, the first tile first.
    pub(super) fn unpacking(
        &self,
        sources: &Sources<'c, 'a>,
        tables: &mut Tables<'c, 'a>,
        part: Type<'c>,
        location: Location<'c>,
    ) -> Result<Operation<'c>, Failure> {
        let context = types::context_of(part);
        let index = Type::index(context);
        let function = Function::new(sources, tables, &[part, index, index, index], self, location);
        let at = function.definition.at;
        let [array, first, from, to] = function.others[..] else {
            return Err(Failure::Unsupported);
        };
        let view = flat(&at, array, (0, None), memref::extents(part).iter().product());
        let mut failure = None;
        at.each([from, to, at.idx(1)], |at, step| {
            let tile = at.addi(first, step);
            failure = self.scales(at, sources, tables, &function, tile).err();
            at.each([at.idx(0), at.idx(self.blocks()), at.idx(1)], |at, block| {
                let mut values = self.values(at, sources, tables, &function, [tile, block]);
                let row = at.muli(step, at.idx(self.tile * self.depth));
                let start = at.addi(row, at.muli(block, at.idx(self.block)));
                for (row, first) in self.vectors() {
                    match self
                        .line(row, first)
                        .ok_or(Failure::Unsupported)
                        .and_then(|line| values.vector_at(self.unpacked, row, &line))
                    {
                        Ok(vector) => {
                            let address = at.addi(start, at.idx(row * self.depth + first));
                            at.store_vector(vector, view, &[address], None);
                        }
                        Err(error) => failure = Some(error),
                    }
                }
            });
        });
        match failure {
            Some(failure) => Err(failure),
            None => Ok(function.finish(context, &[UNPACKS])),
        }
    }

    /// The rows of a tile and the first elements of the vectors of a block, row by row in each vector.
    fn vectors(&self) -> Vec<(i64, i64)> {
        let elements = ir::signed(self.elements());
        let vectors = (0..self.block / elements).map(|vector| vector * elements);
        vectors.flat_map(|first| (0..self.tile).map(move |row| (row, first))).collect()
    }

    /// The position of a vector in the unpacked operand, by the numbers of the slices, of the tile and of the block.
    fn line(&self, row: i64, first: i64) -> Option<Line> {
        let [of_row, of_depth] = self.strides;
        let start =
            row.checked_mul(of_row)?.checked_add(first.checked_mul(of_depth)?)?.checked_add(self.offset)?;
        let within = [of_row.checked_mul(self.tile)?, of_depth.checked_mul(self.block)?];
        Some(Line {
            factors: self.slices.iter().map(|[stride, _]| *stride).chain(within).collect(),
            lanes: (0..ir::signed(self.elements())).map(|lane| start + lane * of_depth).collect(),
        })
    }

    /// Emits code until it reads no other tables and scales than those that it was emitted for; `None` if an operation is not supported.
    pub(super) fn settled<T>(
        &self,
        mut emit: impl FnMut(&mut Tables<'c, 'a>) -> Result<T, Failure>,
    ) -> Option<(Vec<Table<'c, 'a>>, T)> {
        let mut tables = Tables::default();
        loop {
            let before = tables.list.len();
            match emit(&mut tables) {
                Err(Failure::Unsupported) => return None,
                // The last code reads values that it does not compute if there are new scales.
                Ok(code)
                    if before == tables.list.len() && !tables.scales.settle(self.lanes, self.blocks()) =>
                {
                    return Some((tables.list, code));
                }
                _ => {}
            }
        }
    }

    /// The number of elements that a vector has.
    fn elements(&self) -> usize {
        self.dots.map_or(self.lanes, |dots| dots.elements())
    }

    /// The parts of the depth.
    pub(super) fn blocks(&self) -> i64 {
        self.depth / self.block
    }

    fn values<'s>(
        &self,
        at: Builder<'c, 'a>,
        sources: &'s Sources<'c, 'a>,
        tables: &'s mut Tables<'c, 'a>,
        function: &'s Function<'c, 'a>,
        variables: [Value<'c, 'a>; 2],
    ) -> Values<'s, 'c, 'a> {
        self.values_of(self.lanes, at, sources, tables, function, variables).with_scales(function.scales)
    }

    /// Values for another number of lanes.
    fn values_of<'s>(
        &self,
        lanes: usize,
        at: Builder<'c, 'a>,
        sources: &'s Sources<'c, 'a>,
        tables: &'s mut Tables<'c, 'a>,
        function: &'s Function<'c, 'a>,
        variables: [Value<'c, 'a>; 2],
    ) -> Values<'s, 'c, 'a> {
        let views = function.views.iter().copied().collect();
        let permutes = self.permutes && lanes >= MIN_PERMUTED;
        let slices = self.slices.iter().map(|[_, count]| *count);
        let extents = slices.chain([self.rows / self.tile, self.blocks()]).collect();
        let variables = [&function.slices[..], &variables].concat();
        let tables = (tables, function.tables.as_slice());
        Values::new(at, (lanes, permutes), (sources, views), tables, (variables, extents))
    }

    /// Computes the scales of all blocks of a tile.
    fn scales(
        &self,
        at: Builder<'c, 'a>,
        sources: &Sources<'c, 'a>,
        tables: &mut Tables<'c, 'a>,
        function: &Function<'c, 'a>,
        tile: Value<'c, 'a>,
    ) -> Result<(), Failure> {
        let Some(array) = function.scales else {
            return Ok(());
        };
        let of_block = tables.scales.of_block;
        let groups =
            tables.scales.computed().map(|(n, group)| (n, group.place, group.lanes, group.vectors()));
        let groups: Vec<_> = groups.collect();
        let mut result = Ok(());
        at.each([at.idx(0), at.idx(self.blocks()), at.idx(1)], |at, block| {
            let start = at.muli(block, at.idx(of_block));
            for (number, place, lanes, vectors) in groups {
                for (first, loops) in vectors {
                    let mut values = self.values_of(lanes, at, sources, tables, function, [tile, block]);
                    match values.vector_of(&place, loops) {
                        Ok(vector) => at.store_vector(vector, array, &[at.addi(start, at.idx(first))], None),
                        Err(Failure::Unsupported) => {
                            tables.scales.refuse(number);
                            result = Err(Failure::Incomplete);
                        }
                        Err(failure) => result = Err(failure),
                    }
                }
            }
        });
        result
    }
}

/// A register tile: rows of the other operand by a step.
struct Tile<'t, 'c, 'a> {
    shape: &'t Shape<'c, 'a>,
    x: &'t Matrix<'c>,
    y: &'t Matrix<'c>,
    /// The reals, or the bytes and their scales.
    x_views: &'t [Value<'c, 'a>],
    y_view: Value<'c, 'a>,
    sum: &'t Sum<'c>,
    first: Value<'c, 'a>,
    step: Value<'c, 'a>,
    rows: i64,
}

impl<'c: 'a, 'a> Tile<'_, 'c, 'a> {
    fn emit(
        &self,
        at: Builder<'c, 'a>,
        sources: &Sources<'c, 'a>,
        tables: &mut Tables<'c, 'a>,
        function: &Function<'c, 'a>,
    ) -> Result<(), Failure> {
        let shape = self.shape;
        let element = types::element_or_self(self.x.kind);
        let kind = vector::of(&[ir::signed(shape.lanes)], element);
        let zero = at.zero(kind);
        let zeros: Vec<Value> = (0..shape.tile * self.rows).map(|_| zero).collect();
        let start = at.muli(self.first, at.idx(self.x.strides[0]));
        let mut failure = None;
        let blocks = [at.idx(0), at.idx(shape.blocks()), at.idx(1)];
        let sums = at.for_(blocks, &zeros, |at, block, sums| {
            let mut sums = sums.to_vec();
            let start = at.addi(start, at.muli(block, at.idx(shape.block)));
            let variables = [self.step, block];
            let done = match &shape.dots {
                None => {
                    let mut values = shape.values(at, sources, tables, function, variables);
                    self.add_reals(at, start, &mut values, &mut sums)
                }
                Some(dots) => {
                    let mut none = Tables::default();
                    let bytes = shape.values_of(dots.elements(), at, sources, &mut none, function, variables);
                    let reals = shape.values(at, sources, tables, function, variables);
                    self.add_dots(at, start, dots, [bytes.in_bytes(), reals], &mut sums)
                }
            };
            failure = done.err();
            sums
        });
        if let Some(failure) = failure {
            return Err(failure);
        }
        self.store(at, &at.results(sums), element);
        Ok(())
    }

    /// Adds the products of a block with reals.
    fn add_reals(
        &self,
        at: Builder<'c, 'a>,
        start: Value<'c, 'a>,
        values: &mut Values<'_, 'c, 'a>,
        sums: &mut [Value<'c, 'a>],
    ) -> Result<(), Failure> {
        let kind = vector::of(&[ir::signed(self.shape.lanes)], types::element_or_self(self.x.kind));
        let mut xs: Vec<Value> = Vec::new();
        for (row, first) in self.shape.vectors() {
            if row == 0 {
                let load = |address| at.load_vector(self.x_views[0], &[address], kind, None);
                xs = self.addresses(at, start, first).map(load).collect();
            }
            let line = self.shape.line(row, first).ok_or(Failure::Unsupported)?;
            let unpacked = values.vector_at(self.shape.unpacked, row, &line)?;
            for (sum, x) in self.of_row(row, sums).zip(&xs) {
                let product = self.sum.product.apply(&at, &[*x, unpacked], kind);
                *sum = self.sum.sum.apply(&at, &[*sum, product], kind);
            }
        }
        Ok(())
    }

    /// Adds the products of a block with bytes.
    fn add_dots(
        &self,
        at: Builder<'c, 'a>,
        start: Value<'c, 'a>,
        dots: &Dots<'c>,
        [mut bytes, mut reals]: [Values<'_, 'c, 'a>; 2],
        sums: &mut [Value<'c, 'a>],
    ) -> Result<(), Failure> {
        let mut xs: Vec<Multiplied> = Vec::new();
        for (row, first) in self.shape.vectors() {
            if row == 0 {
                let load = |address| dots.load(at, self.x_views, address);
                xs = self.addresses(at, start, first).map(load).collect();
            }
            let line = self.shape.line(row, first).ok_or(Failure::Unsupported)?;
            let mut levels = Levels { bytes: &mut bytes, reals: &mut reals };
            let levels = levels.scaled_at(self.shape.unpacked, row, &line)?;
            let unpacked = dots.unpacked(at, levels)?;
            for (sum, x) in self.of_row(row, sums).zip(&xs) {
                *sum = dots.added(at, self.sum, *sum, &unpacked, x)?;
            }
        }
        Ok(())
    }

    /// The flat positions of the rows of the other operand, from an element of a block on.
    fn addresses(
        &self,
        at: Builder<'c, 'a>,
        start: Value<'c, 'a>,
        first: i64,
    ) -> impl Iterator<Item = Value<'c, 'a>> {
        let stride = self.x.strides[0];
        (0..self.rows).map(move |n| at.addi(start, at.idx(n * stride + first)))
    }

    /// The sums of a row of the tile.
    fn of_row<'s>(
        &self,
        row: i64,
        sums: &'s mut [Value<'c, 'a>],
    ) -> impl Iterator<Item = &'s mut Value<'c, 'a>> {
        let rows = self.rows;
        sums.iter_mut().enumerate().filter(move |(n, _)| ir::signed(*n) / rows == row).map(|(_, sum)| sum)
    }

    /// Adds the lanes of all sums to the result.
    fn store(&self, at: Builder<'c, 'a>, sums: &[Value<'c, 'a>], element: Type<'c>) {
        for (n, sum) in sums.iter().enumerate() {
            let (row, other) = (ir::signed(n) / self.rows, ir::signed(n) % self.rows);
            let attributes = [
                ("kind", attributes::combining(at.context, "add")),
                ("fastmath", attributes::fast(at.context, "reassoc")),
            ];
            let sum = at.make(ops::vector::REDUCTION, &[*sum], &attributes, element);
            let j = at.addi(at.muli(self.step, at.idx(self.shape.tile)), at.idx(row));
            let i = at.addi(self.first, at.idx(other));
            let [of_i, of_j] = self.y.strides;
            let place = at.addi(at.muli(i, at.idx(of_i)), at.muli(j, at.idx(of_j)));
            let before = at.load(self.y_view, &[place]);
            let sum = self.sum.sum.apply(&at, &[sum, before], element);
            at.store(sum, self.y_view, &[place]);
        }
    }
}
