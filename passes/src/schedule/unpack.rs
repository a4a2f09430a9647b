// SPDX-License-Identifier: Apache-2.0
//! `skript-unpack-products`: multiplies by an operand that maps compute from fewer bytes, without writing this operand.
//!
//! Low-bit weights are blocks of bytes; formulas convert them to reals: quotients and remainders of bytes, bits of them, positions in a
//! table, and a scale for each block. In a product with such a matrix, the reduced index has digits, the block and the positions in it. The
//! kernel has a loop over blocks. In a block, all positions are known, so that a vector of bytes is loaded, and each lane computes its real
//! by shifts and masks of 32-bit integers, or by a permutation of a table in a register; what one or two bytes determine, such as a 16-bit
//! scale, is read from a table that the formula computes once. Reals that all lanes share are computed before the loop, the lanes of a
//! vector being positions at which they are read. The kernel of a few rows multiplies at once. For more rows, parts of the matrix are written to a small buffer.
//!
//! Requires: buffers. Guarantees: each element of the operand is computed by the operations of its formula; sums are reassociated.

mod kernel;
mod lines;
mod scales;
mod sources;
mod tables;
mod text;
mod values;

use self::kernel::{Matrix, Shape, Sum};
use self::sources::Sources;
use self::tables::{Table, Tables};
use self::text::Text;
use self::values::Failure;
use super::caller::passed_as;
use super::signature::pointer_type;
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
    ],
    run: |root, options, _| {
        let bits: i64 = options.get("vector-bits")?;
        let lanes = match bits {
            512.. => 16,
            256.. => 8,
            _ => 4,
        };
        let target = Target { lanes, permutes: options.get("permutes")? };
        Ok(unpack_products(root, target)?)
    },
};

#[derive(Clone, Copy)]
struct Target {
    lanes: usize,
    permutes: bool,
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
    };
    for op in named(module, ops::linalg::GENERIC) {
        let is_outside = ir::walk::parent(op).is_some_and(|parent| ir::key(parent) == ir::key(entry));
        if let Some(product) = Product::new(op).filter(|_| is_outside) {
            product.replace(target, &mut state)?;
        }
    }
    state.functions.append(module);
    Ok(())
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
}

/// The kernels of a product, by name, and the keys of the tables that they read.
struct Added {
    tables: Vec<String>,
    few: Option<String>,
    many: Option<String>,
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

    /// Replaces the product if one of its inputs is unpacked.
    fn replace(self, target: Target, state: &mut State<'c, 'a>) -> Result<(), Error> {
        for input in [1, 0] {
            let array = self.nest.operands[input].value;
            let sources = Sources::new(array, self.nest.op, &mut state.effects);
            if let Some(sources) = sources.filter(|sources| sources.are_packed(array))
                && let Some(unpacked) = Unpacked::new(&self, input, target)
                && let Some(added) = unpacked.added(&sources, state)?
            {
                unpacked.emit(&sources, &added, state)?;
                ir::erase(self.nest.op);
                sources.erase_unread(&mut state.effects);
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
    x: Matrix<'c>,
    y: Matrix<'c>,
    /// The rows of the unpacked operand that are written to a buffer at once.
    part: i64,
}

/// The functions for a few rows, and for many rows with a part of the operand.
struct Kernels<'c, 'a> {
    tables: Vec<Table<'c, 'a>>,
    few: Operation<'c>,
    many: Operation<'c>,
}

impl<'p, 'c: 'a, 'a> Unpacked<'p, 'c, 'a> {
    fn new(product: &'p Product<'c, 'a>, input: usize, target: Target) -> Option<Self> {
        let nest = &product.nest;
        let (other, output) = (1 - input, nest.output()?);
        let (rows, columns) = (product.rows[other], product.rows[input]?);
        let (count, depth) = (nest.extent(columns)?, nest.extent(product.depth)?);
        let loops = nest.reductions.len();
        let operand = &nest.operands[input];
        let (offset, strides) = sources::layout(operand.value).and_then(|_| operand.strides(loops))?;
        let shape = memref::extents(memref::root(operand.value).r#type());
        let x = matrix(&nest.operands[other], [rows, Some(product.depth)], loops)?;
        let y = matrix(output, [rows, Some(columns)], loops)?;
        let overlaps = nest.inputs().iter().any(|input| may_overlap(input.value, output.value));
        let most = MAX_PART / depth.checked_mul(4)?.max(1);
        let part = (1..=most.min(count)).rev().find(|part| count % part == 0)?;
        let tile = [4, 2, 1].into_iter().find(|tile| part % tile == 0)?;
        let shape = Shape {
            unpacked: operand.value,
            offset,
            strides: [*strides.get(columns)?, *strides.get(product.depth)?],
            rows: count,
            depth,
            block: block(&shape, depth, ir::signed(target.lanes))?,
            tile,
            lanes: target.lanes,
            permutes: target.permutes,
        };
        let is_read_in_order = x.strides[1] == 1 && !overlaps;
        is_read_in_order.then_some(Unpacked { product, other, rows, columns, shape, x, y, part })
    }

    /// The functions; `None` if an operation of the formula is not supported.
    fn kernels(&self, sources: &Sources<'c, 'a>) -> Option<Kernels<'c, 'a>> {
        let mut tables = Tables::default();
        let location = self.product.nest.op.location();
        loop {
            let before = tables.list.len();
            let few =
                self.shape.product(sources, &mut tables, [&self.x, &self.y], &self.product.sum, location);
            let many = self.shape.unpacking(sources, &mut tables, self.part_type(), location);
            match (few, many) {
                (Err(Failure::Unsupported), _) | (_, Err(Failure::Unsupported)) => return None,
                // The last kernels read values that they do not compute if there are new scales.
                (Ok(few), Ok(many))
                    if before == tables.list.len()
                        && !tables.scales.settle(self.shape.lanes, self.shape.blocks()) =>
                {
                    return Some(Kernels { tables: tables.list, few, many });
                }
                _ => {}
            }
        }
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
        let numbers = [shape.offset, shape.rows, shape.depth, shape.block, shape.tile, self.part];
        let rows = self.known_rows();
        Some(format!("{}\n{operators:?} {matrices:?} {numbers:?} {:?} {rows:?}", text.text, shape.strides))
    }

    /// The kernels in the module, which are added unless an equal product has them.
    fn added(
        &self,
        sources: &Sources<'c, 'a>,
        state: &mut State<'c, 'a>,
    ) -> Result<Option<Rc<Added>>, Error> {
        let text = self.text(sources);
        if let Some(added) = text.as_ref().and_then(|text| state.kernels.get(text)) {
            added.few.iter().chain(&added.many).for_each(|name| state.functions.count(name));
            return Ok(Some(added.clone()));
        }
        let Some(Kernels { tables, few, many }) = self.kernels(sources) else {
            return Ok(None);
        };
        let at = Builder::at(self.product.nest.op);
        for table in &tables {
            if !state.tables.contains_key(&table.key) {
                state.tables.insert(table.key.clone(), table.emit(&at)?);
            }
        }
        let is_few = self.known_rows().map(|rows| rows <= MAX_ROWS);
        let many = (is_few != Some(true)).then(|| state.functions.add("unpack", many));
        let few = (is_few != Some(false)).then(|| state.functions.add("product", few));
        let tables = tables.into_iter().map(|table| table.key).collect();
        let added = Rc::new(Added { tables, few, many });
        text.map(|text| state.kernels.insert(text, added.clone()));
        Ok(Some(added))
    }

    /// Calls the kernel of a few rows, or computes the product in parts, depending on the number of rows.
    fn emit(&self, sources: &Sources<'c, 'a>, added: &Added, state: &mut State<'c, 'a>) -> Result<(), Error> {
        let at = Builder::at(self.product.nest.op);
        let mut arguments = sources.arrays.clone();
        arguments.extend(added.tables.iter().map(|key| state.tables[key]));
        let rows = match self.rows {
            Some(l) => self.product.nest.place(l).map(|(array, dimension)| at.dim(array, dimension)),
            None => Some(at.idx(1)),
        };
        let Some(rows) = rows else {
            return Err(Error::OperationBuild);
        };
        if let Some(name) = &added.few {
            state.effects.declare(name, [arguments.len() + 1]);
        }
        let few = |at: &Builder<'c, 'a>, name: &str| {
            let x = passed_as(at, self.array(self.other), self.x.kind);
            let y = passed_as(at, self.array(2), self.y.kind);
            let steps = at.idx(self.shape.rows / self.shape.tile);
            at.call(name, &[&arguments[..], &[x, y, rows, at.idx(0), steps]].concat());
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

/// The array of an operand with two loops, of which the first may be absent; `None` unless its strides are static.
fn matrix<'c: 'a, 'a>(
    operand: &Operand<'c, 'a>,
    loops: [Option<usize>; 2],
    count: usize,
) -> Option<Matrix<'c>> {
    let (offset, strides) = operand.strides(count)?;
    let stride = |l: Option<usize>| l.map_or(Some(0), |l| strides.get(l).copied());
    let first = operand.array()?.strides_and_offset().1;
    let strides = [stride(loops[0])?, stride(loops[1])?];
    let kind = pointer_type(types::element_or_self(operand.value.r#type()), first);
    (offset == first && types::element_or_self(operand.value.r#type()).is_f32()).then_some(Matrix {
        kind,
        offset: first,
        strides,
    })
}

/// The largest number of elements of the last dimensions that is a multiple of the lanes and divides the depth.
fn block(shape: &[i64], depth: i64, lanes: i64) -> Option<i64> {
    let products = shape.iter().rev().scan(1_i64, |all, extent| {
        *all = all.checked_mul(*extent).filter(|all| *all <= MAX_BLOCK)?;
        Some(*all)
    });
    products.filter(|all| *all % lanes == 0 && depth % *all == 0).last()
}
