// SPDX-License-Identifier: Apache-2.0
//! `skript-unpack-products`: multiplies by an operand that maps compute from fewer bytes, without writing this operand.
//!
//! Low-bit weights are blocks of bytes; formulas convert them to reals: quotients and remainders of bytes, bits of them, positions in a
//! table, and a scale for each block. In a product with such a matrix, the reduced index has digits, the block and the positions in it. The
//! kernel has a loop over blocks. In a block, all positions are known, so that a vector of bytes is loaded, and each lane computes its real
//! by shifts and masks of 32-bit integers, or by a permutation of a table in a register; what one or two bytes determine, such as a 16-bit
//! scale, is read from a table that the formula computes once. Reals that all lanes share are computed before the loop, the lanes of a
//! vector being positions at which they are read. The kernel of a few rows multiplies at once. For more rows, parts of the matrix are written to a small buffer.
//! In a loop over matrices that data selects, such as those of experts, the kernel receives the number of the matrix and reads only this one.
//!
//! If a map rounds the other operand to bytes with a scale for each block, the kernel of a few rows sums products of bytes as integers, if
//! the unpacked operand has bytes with scales too.
//!
//! Requires: buffers. Guarantees: each element of the operand is computed by the operations of its formula; sums are reassociated, and
//! scales that the terms of a sum of bytes share multiply the sum.

mod dots;
mod kernel;
mod lines;
mod rounded;
mod scales;
mod sources;
mod tables;
mod text;
mod values;

use self::dots::Dots;
use self::kernel::{Matrix, Shape, Sum};
use self::rounded::{Arrays, Rounded};
use self::sources::Sources;
use self::tables::{Table, Tables};
use self::text::Text;
use self::values::Failure;
use super::caller::{has_offset, offset, passed_as};
use super::dot::Instruction;
use super::signature::pointer_type;
use super::target::{BYTE_PRODUCTS, byte_products};
use super::vectorize::Functions;
use crate::ir::builder::arith::Integers;
use crate::ir::copy::Copier;
use crate::ir::effects::Effects;
use crate::ir::generic::{self, Access, LoopNest, Operand};
use crate::ir::memref::{self, Extent, may_overlap};
use crate::ir::operator::Operator;
use crate::ir::walk::named;
use crate::ir::{self, Builder, func, ops, types};
use melior::Error;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Operation, Type, TypeLike, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassOption};
use std::collections::HashMap;
use std::rc::Rc;

/// The pass `skript-unpack-products`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-unpack-products",
    summary: "multiply by operands that formulas unpack from bytes, without writing these operands",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[
        Dialect::Arith,
        Dialect::Func,
        Dialect::Linalg,
        Dialect::Llvm,
        Dialect::MemRef,
        Dialect::Scf,
        Dialect::Vector,
    ],
    options: &[
        PassOption { name: "vector-bits", summary: "bits of a vector register", default: "512" },
        PassOption {
            name: "permutes",
            summary: "whether x86 instructions permute the lanes of such a vector",
            default: "false",
        },
        BYTE_PRODUCTS,
    ],
    run: |root, options, _| {
        let bits: i64 = options.get("vector-bits")?;
        let lanes = match bits {
            512.. => 16,
            256.. => 8,
            _ => 4,
        };
        let target =
            Target { lanes, permutes: options.get("permutes")?, instruction: byte_products(options)? };
        Ok(unpack_products(root, target)?)
    },
};

#[derive(Clone, Copy)]
struct Target {
    lanes: usize,
    permutes: bool,
    /// The instruction for sums of products of bytes.
    instruction: Instruction,
}

/// The maximum number of rows that the kernel of a few rows multiplies.
const MAX_ROWS: i64 = 8;

/// The maximum number of elements of a block.
const MAX_BLOCK: i64 = 256;

/// The maximum number of bytes of the buffer for a part of the operand.
const MAX_PART: i64 = 8 << 20;

fn unpack_products(module: OperationRef<'_, '_>, target: Target) -> Result<(), Error> {
    let Ok(entry) = ir::entry(module) else {
        return Ok(());
    };
    let mut state = State {
        functions: Functions::new(module),
        effects: Effects::new(func::functions(module)),
        tables: HashMap::new(),
        kernels: HashMap::new(),
        rounded: HashMap::new(),
    };
    for op in named(module, ops::linalg::GENERIC) {
        let outermost = outermost(op, entry);
        if let Some((product, outermost)) = Product::new(op).zip(outermost) {
            product.replace(outermost, target, &mut state)?;
        }
    }
    state.functions.append(module);
    Ok(())
}

/// The operation of the entry that an operation is, or the loop of the entry that contains it; `None` for other regions.
fn outermost<'c: 'a, 'a>(op: OperationRef<'c, 'a>, entry: OperationRef) -> Option<OperationRef<'c, 'a>> {
    let parent = ir::walk::parent(op)?;
    if ir::key(parent) == ir::key(entry) {
        return Some(op);
    }
    outermost(parent, entry).filter(|_| ir::name(parent) == ops::scf::FOR)
}

/// A sum of products of two matrices.
struct Product<'c, 'a> {
    nest: LoopNest<'c, 'a>,
    sum: Sum<'c>,
    /// The loop over the rows of each input, and the reduction.
    rows: [Option<usize>; 2],
    depth: usize,
}

/// The functions and tables that the pass has added to the module.
struct State<'c, 'a> {
    functions: Functions<'c>,
    effects: Effects<'c, 'a>,
    /// Tables by their keys.
    tables: HashMap<String, Value<'c, 'a>>,
    /// Kernels by the text of their products: equal layers share them without another emission.
    kernels: HashMap<String, Rc<Added>>,
    /// The arrays of rounded operands, by the key of the map that rounds.
    rounded: HashMap<usize, Arrays<'c, 'a>>,
}

/// The kernels of a product, by name, and the keys of the tables that they read.
struct Added {
    tables: Vec<String>,
    few: Option<String>,
    many: Option<String>,
    /// Whether the other operand is passed as bytes.
    in_bytes: bool,
}

impl<'c: 'a, 'a> State<'c, 'a> {
    /// The arrays of a rounded operand, which are computed once.
    fn rounded_arrays(&mut self, rounded: &Rounded<'c, 'a>) -> Result<Arrays<'c, 'a>, Error> {
        if let Some(arrays) = self.rounded.get(&rounded.key()) {
            return Ok(*arrays);
        }
        let arrays = rounded.emit()?;
        self.rounded.insert(rounded.key(), arrays);
        Ok(arrays)
    }
}

impl<'c: 'a, 'a> Product<'c, 'a> {
    fn new(op: OperationRef<'c, 'a>) -> Option<Self> {
        let nest = LoopNest::read(op).filter(|nest| nest.is_on_arrays() && nest.inputs == 2)?;
        let accumulation = nest.accumulation()?;
        let (product, _) = ir::definition(accumulation.value)?;
        let [left, right] = [0, 1].map(|n| ir::operand_at(product, n));
        let elements = [nest.operands[0].element, nest.operands[1].element];
        let is_product = (left, right) == (Some(elements[0]), Some(elements[1]))
            || (left, right) == (Some(elements[1]), Some(elements[0]));
        let sum = Sum { product: Operator::from_op(product), sum: Operator::from_op(accumulation.op) };
        let is_sum = sum.product.name == ops::arith::MULF
            && sum.sum.name == ops::arith::ADDF
            && sum.sum.is_fast("reassoc")
            && nest.payload.len() == 2
            && nest.output()?.element.r#type().is_f32();
        let reductions: Vec<usize> = nest.loops(true).collect();
        let [depth] = reductions[..] else {
            return None;
        };
        if !is_sum || !is_product {
            return None;
        }
        let loops_alone =
            |n: usize| nest.loops(false).filter(|l| nest.operands[n].varies(*l)).collect::<Vec<_>>();
        let rows = match [loops_alone(0).as_slice(), loops_alone(1).as_slice()] {
            [[], [j]] => [None, Some(*j)],
            [[i], []] => [Some(*i), None],
            [[i], [j]] if i != j => [Some(*i), Some(*j)],
            _ => return None,
        };
        (rows.iter().flatten().count() + 1 == nest.reductions.len()).then_some(Product {
            nest,
            sum,
            rows,
            depth,
        })
    }

    /// Replaces the product if one of its inputs is unpacked. `outermost` is the operation of the entry that contains it.
    fn replace(
        self,
        outermost: OperationRef<'c, 'a>,
        target: Target,
        state: &mut State<'c, 'a>,
    ) -> Result<(), Error> {
        for input in [1, 0] {
            let array = self.nest.operands[input].value;
            let sources = Sources::new(array, outermost, &mut state.effects);
            if let Some(sources) = sources.filter(|sources| sources.are_packed(array))
                && let Some(unpacked) = Unpacked::new(&self, input, (target, outermost), state)
                && let Some(added) = unpacked.added(&sources, outermost, state)?
            {
                unpacked.emit(&sources, &added, state)?;
                ir::erase(self.nest.op);
                sources.erase_unread(&mut state.effects);
                if let Some(rounded) = unpacked.rounded {
                    rounded.erase_if_unread(&mut state.effects);
                }
                return Ok(());
            }
        }
        Ok(())
    }
}

/// A product with an unpacked operand.
struct Unpacked<'p, 'c, 'a> {
    product: &'p Product<'c, 'a>,
    /// The number of the other input.
    other: usize,
    /// The loop over the rows of the other input.
    rows: Option<usize>,
    /// The loop over the rows of the unpacked one.
    columns: usize,
    shape: Shape<'c, 'a>,
    /// The numbers of the slices of the shape.
    numbers: Vec<Value<'c, 'a>>,
    x: Matrix<'c>,
    y: Matrix<'c>,
    /// The rows of the unpacked operand that are written to a buffer at once.
    part: i64,
    /// The map that rounds the other operand to bytes, and how they are multiplied.
    rounded: Option<Rounded<'c, 'a>>,
    instruction: Instruction,
}

/// The functions for a few rows, and for many rows with a part of the operand.
struct Kernels<'c, 'a> {
    tables: Vec<Table<'c, 'a>>,
    few: Operation<'c>,
    /// `None` if the number of rows is small.
    many: Option<Operation<'c>>,
    in_bytes: bool,
}

impl<'p, 'c: 'a, 'a> Unpacked<'p, 'c, 'a> {
    fn new(
        product: &'p Product<'c, 'a>,
        input: usize,
        (target, outermost): (Target, OperationRef<'c, 'a>),
        state: &mut State<'c, 'a>,
    ) -> Option<Self> {
        let nest = &product.nest;
        let (other, output) = (1 - input, nest.output()?);
        let (rows, columns) = (product.rows[other], product.rows[input]?);
        let (count, depth) = (nest.extent(columns)?, nest.extent(product.depth)?);
        let loops = nest.reductions.len();
        let operand = &nest.operands[input];
        let (offset, slices) = sources::slices(operand.value)?;
        let (first, strides) = operand.strides_within(loops)?;
        let shape = memref::extents(memref::root(operand.value).r#type());
        let x = matrix(&nest.operands[other], [rows, Some(product.depth)], loops)?;
        let y = matrix(output, [rows, Some(columns)], loops)?;
        let overlaps = nest.inputs().iter().any(|input| may_overlap(input.value, output.value));
        let most = MAX_PART / depth.checked_mul(4)?.max(1);
        let part = (1..=most.min(count)).rev().find(|part| count % part == 0)?;
        let tile = [4, 2, 1].into_iter().find(|tile| part % tile == 0)?;
        let shape = Shape {
            unpacked: operand.value,
            offset: offset + first,
            slices: slices.iter().map(|slice| [slice.stride, slice.count]).collect(),
            strides: [*strides.get(columns)?, *strides.get(product.depth)?],
            rows: count,
            depth,
            block: block(&shape, depth, ir::signed(target.lanes))?,
            tile,
            lanes: target.lanes,
            permutes: target.permutes,
            dots: None,
        };
        if x.strides[1] != 1 || overlaps {
            return None;
        }
        let factor = nest.operands[other].value;
        let map = sources::map_of(memref::root(factor), outermost, &mut state.effects);
        let rounded = map.and_then(Rounded::new);
        let instruction = target.instruction;
        let numbers = slices.into_iter().map(|slice| slice.number).collect();
        Some(Unpacked { product, other, rows, columns, shape, numbers, x, y, part, rounded, instruction })
    }

    /// The functions for bytes of the other operand, if a map rounds it.
    fn kernels_of_bytes(&self, sources: &Sources<'c, 'a>) -> Option<Kernels<'c, 'a>> {
        let rounded = self.rounded.as_ref()?;
        let lanes = self.shape.lanes.min(8);
        let dots = Dots { instruction: self.instruction, lanes, types: rounded.types() };
        let elements = ir::signed(dots.elements());
        let block = [self.shape.block, elements].into_iter().find(|block| block % elements == 0);
        let block = block.filter(|block| self.shape.depth % block == 0)?;
        let group = ir::signed(values::GROUP);
        let (offset, slices) = sources::slices(self.array(self.other))?;
        let distances = slices.iter().map(|slice| slice.stride).chain([offset, self.x.strides[0]]);
        let is_aligned = distances.into_iter().all(|distance| distance % group == 0);
        let is_few = self.known_rows().is_some_and(|rows| rows <= MAX_ROWS);
        if !is_aligned || !is_few {
            return None;
        }
        let shape = Shape { lanes, block, dots: Some(dots), ..self.shape.clone() };
        let product = |tables: &mut Tables<'c, 'a>| {
            let location = self.product.nest.op.location();
            shape.product(sources, tables, [&self.x, &self.y], &self.product.sum, location)
        };
        let (tables, few) = shape.settled(product)?;
        Some(Kernels { tables, few, many: None, in_bytes: true })
    }

    /// The functions; `None` if an operation of the formula is not supported.
    fn kernels(&self, sources: &Sources<'c, 'a>) -> Option<Kernels<'c, 'a>> {
        let location = self.product.nest.op.location();
        let both = |tables: &mut Tables<'c, 'a>| {
            let (x, y) = (&self.x, &self.y);
            let few = self.shape.product(sources, tables, [x, y], &self.product.sum, location);
            let many = self.shape.unpacking(sources, tables, self.part_type(), location);
            match (few, many) {
                (Err(Failure::Unsupported), _) | (_, Err(Failure::Unsupported)) => Err(Failure::Unsupported),
                (few, many) => Ok((few?, many?)),
            }
        };
        let (tables, (few, many)) = self.shape.settled(both)?;
        Some(Kernels { tables, few, many: Some(many), in_bytes: false })
    }

    fn part_type(&self) -> Type<'c> {
        types::memref(&[self.part, self.shape.depth], types::element_or_self(self.x.kind))
    }

    /// The number of rows of the other operand, if it is static.
    fn known_rows(&self) -> Option<i64> {
        self.rows.map_or(Some(1), |l| self.product.nest.extent(l))
    }

    /// Everything that determines the kernels and which of them are called.
    fn text(&self, sources: &Sources<'c, 'a>) -> Option<String> {
        let mut text = Text::default();
        text.sources(self.shape.unpacked, sources)?;
        let Unpacked { shape, x, y, product, .. } = self;
        let Sum { product, sum } = &product.sum;
        let operators = [product, sum].map(|operator| {
            let attributes = operator.attributes.iter().map(|(name, value)| format!(" {name}={value}"));
            operator.name.clone() + &attributes.collect::<String>()
        });
        let matrices = [x, y].map(|own| format!("{} {} {:?}", own.kind, own.offset, own.strides));
        let rounded = self.rounded.as_ref().map(Rounded::types);
        let numbers = [shape.offset, shape.rows, shape.depth, shape.block, shape.tile, self.part];
        let rows = self.known_rows();
        let (strides, slices) = (shape.strides, &shape.slices);
        Some(format!(
            "{}\n{operators:?} {matrices:?} {numbers:?} {strides:?} {slices:?} {rows:?} {rounded:?}",
            text.text
        ))
    }

    /// The kernels in the module, which are added unless an equal product has them.
    fn added(
        &self,
        sources: &Sources<'c, 'a>,
        outermost: OperationRef<'c, 'a>,
        state: &mut State<'c, 'a>,
    ) -> Result<Option<Rc<Added>>, Error> {
        let text = self.text(sources);
        if let Some(added) = text.as_ref().and_then(|text| state.kernels.get(text)) {
            added.few.iter().chain(&added.many).for_each(|name| state.functions.count(name));
            return Ok(Some(added.clone()));
        }
        let kernels = self.kernels_of_bytes(sources).or_else(|| self.kernels(sources));
        let Some(Kernels { tables, few, many, in_bytes }) = kernels else {
            return Ok(None);
        };
        let at = Builder::at(outermost);
        for table in &tables {
            if !state.tables.contains_key(&table.key) {
                state.tables.insert(table.key.clone(), table.emit(&at)?);
            }
        }
        let is_few = self.known_rows().map(|rows| rows <= MAX_ROWS);
        let many = many.filter(|_| is_few != Some(true)).map(|many| state.functions.add("unpack", many));
        let few = (is_few != Some(false)).then(|| state.functions.add("product", few));
        let tables = tables.into_iter().map(|table| table.key).collect();
        let added = Rc::new(Added { tables, few, many, in_bytes });
        text.map(|text| state.kernels.insert(text, added.clone()));
        Ok(Some(added))
    }

    /// Calls the kernel of a few rows, or computes the product in parts, depending on the number of rows.
    fn emit(&self, sources: &Sources<'c, 'a>, added: &Added, state: &mut State<'c, 'a>) -> Result<(), Error> {
        let at = Builder::at(self.product.nest.op);
        let mut arguments = sources.arrays.clone();
        arguments.extend(added.tables.iter().map(|key| state.tables[key]));
        arguments.extend(&self.numbers);
        let rows = match self.rows {
            Some(l) => self.product.nest.place(l).map(|(array, dimension)| at.dim(array, dimension)),
            None => Some(at.idx(1)),
        };
        let Some(rows) = rows else {
            return Err(Error::OperationBuild);
        };
        let bytes = match &self.rounded {
            Some(rounded) if added.in_bytes => Some(state.rounded_arrays(rounded)?),
            _ => None,
        };
        if let Some(name) = &added.few {
            let inputs = if added.in_bytes { 3 } else { 1 };
            state.effects.declare(name, [arguments.len() + inputs]);
        }
        let few = |at: &Builder<'c, 'a>, name: &str| {
            let x = match bytes {
                Some(Arrays { bytes, scales, sums }) => vec![bytes, scales, sums],
                None => vec![passed_as(at, self.array(self.other), self.x.kind)],
            };
            let y = passed_as(at, self.array(2), self.y.kind);
            let [of_x, of_y] = [self.other, 2].map(|operand| offset(at, self.array(operand)));
            let steps = at.idx(self.shape.rows / self.shape.tile);
            at.call(name, &[&arguments[..], &x, &[y, of_x, of_y, rows, at.idx(0), steps]].concat());
        };
        match (&added.few, &added.many) {
            (Some(name), None) => few(&at, name),
            (None, Some(name)) => self.in_parts(&at, name, at.alloc(self.part_type(), &[]), &arguments)?,
            (Some(few_rows), Some(many_rows)) => {
                let part = at.alloc(self.part_type(), &[]);
                let condition = at.cmpi(Integers::SignedAtMost, rows, at.idx(MAX_ROWS));
                let mut result = Ok(());
                at.if_else(condition, &[], |at, holds| {
                    if holds {
                        few(&at, few_rows);
                    } else {
                        result = self.in_parts(&at, many_rows, part, &arguments);
                    }
                    Vec::new()
                });
                result?;
            }
            (None, None) => return Err(Error::OperationBuild),
        }
        state.effects.forget_buffers();
        Ok(())
    }

    fn array(&self, operand: usize) -> Value<'c, 'a> {
        self.product.nest.operands[operand].value
    }

    /// A loop that unpacks some rows, then multiplies by them.
    fn in_parts(
        &self,
        at: &Builder<'c, 'a>,
        name: &str,
        part: Value<'c, 'a>,
        arguments: &[Value<'c, 'a>],
    ) -> Result<(), Error> {
        let tiles = self.part / self.shape.tile;
        let mut result = Ok(());
        at.each([at.idx(0), at.idx(self.shape.rows), at.idx(self.part)], |at, first| {
            let tile = at.divui(first, at.idx(self.shape.tile));
            at.call(name, &[arguments, &[part, tile, at.idx(0), at.idx(tiles)]].concat());
            result = self.multiply(&at, part, first);
        });
        result
    }

    /// The product with some rows of the unpacked operand, from `first` on.
    fn multiply(&self, at: &Builder<'c, 'a>, part: Value<'c, 'a>, first: Value<'c, 'a>) -> Result<(), Error> {
        let nest = &self.product.nest;
        let output = &nest.operands[2];
        let column = output.dimension(self.columns).ok_or(Error::OperationBuild)?;
        let rank = output.shape.len();
        let firsts: Vec<Option<Value>> = (0..rank).map(|d| (d == column).then_some(first)).collect();
        let sizes = (0..rank).map(|d| match output.shape[d] {
            _ if d == column => Extent::Known(self.part),
            extent if extent >= 0 => Extent::Known(extent),
            _ => Extent::Value(at.dim(output.value, d)),
        });
        let columns = memref::block(at, output.value, &firsts, &sizes.collect::<Vec<_>>())?;
        let loops = [self.columns, self.product.depth].map(skript_symbolic::Affine::index);
        let unpacked = Access(part, loops.to_vec());
        let mut operands = vec![nest.operands[0].access(), nest.operands[1].access()];
        operands[1 - self.other] = unpacked;
        operands.push(Access(columns, output.forms.clone()));
        generic::rebuild(at, nest, &operands, &nest.reductions, |body, elements| {
            nest.copy_payload(Copier::new(), elements, body, &mut |_, _, _| Ok(false))
        })?;
        Ok(())
    }
}

/// The array of an operand with two loops, of which the first may be absent; `None` unless its strides are static and its offset can be
/// computed.
fn matrix<'c: 'a, 'a>(
    operand: &Operand<'c, 'a>,
    loops: [Option<usize>; 2],
    count: usize,
) -> Option<Matrix<'c>> {
    let (first, strides) = operand.strides_within(count)?;
    let stride = |l: Option<usize>| l.map_or(Some(0), |l| strides.get(l).copied());
    let offset = operand.array()?.strides_and_offset().1;
    let strides = [stride(loops[0])?, stride(loops[1])?];
    let element = types::element_or_self(operand.value.r#type());
    let kind = pointer_type(element, offset.max(0));
    (first == 0 && element.is_f32() && has_offset(operand.value)).then_some(Matrix { kind, offset, strides })
}

/// The largest number of elements of the last dimensions that is a multiple of the lanes and divides the depth.
fn block(shape: &[i64], depth: i64, lanes: i64) -> Option<i64> {
    let products = shape.iter().rev().scan(1_i64, |all, extent| {
        *all = all.checked_mul(*extent).filter(|all| *all <= MAX_BLOCK)?;
        Some(*all)
    });
    products.filter(|all| *all % lanes == 0 && depth % *all == 0).last()
}
