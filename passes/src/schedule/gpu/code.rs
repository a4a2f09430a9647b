// SPDX-License-Identifier: Apache-2.0
//! The code of a thread: addresses and elements of arrays, and the payload of a reduction.

use super::super::body::{Body, Operand, Step};
use super::super::nest::{Address, LoopKind, Nest};
use super::super::signature::{AT_RUN_TIME, Signature};
use super::launch::{Launch, blocks};
use super::outline::MAX_BLOCKS;
use crate::ir::numbers::{Number, Numbers};
use crate::ir::{self, Builder, ValueKey, attributes, memref, ops, types};
use crate::schedule::contraction::product;
use crate::schedule::counts::as_i64;
use crate::schedule::targets::gpus::{DirectCopy, Language};
use melior::ir::block::BlockLike;
use melior::ir::{Attribute, BlockRef, Region, Type, Value, ValueLike};
use std::collections::HashMap;

/// An array in the shared memory of a block.
pub(super) struct Shared<'c, 'a> {
    name: Name,
    pub(super) array: Value<'c, 'a>,
    pub(super) element: Type<'c>,
    extents: Vec<i64>,
    /// The offset of the first element, if several shared arrays are parts of one array.
    pub(super) first: i64,
}

/// The content of a shared array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// A copy of elements of an input.
    Copy(usize),
    /// The result of each thread.
    Results,
    /// Factors of products, by side, if a warp simulates a matrix unit.
    Factors(usize),
}

impl<'c: 'a, 'a> Shared<'c, 'a> {
    /// The array as a view of the array that it is a part of.
    pub(super) fn view(&self, of: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Value<'c, 'a> {
        let strides = strides(&self.extents);
        let offset = (self.first, None);
        at.reinterpret_cast(of, offset, &self.extents, &strides, self.array.r#type())
    }

    /// The end of the array, where the next part may begin.
    pub(super) fn end(&self) -> i64 {
        let count: i64 = self.extents.iter().product();
        self.first + (count + 15) / 16 * 16
    }
}

/// The strides of a contiguous array.
fn strides(extents: &[i64]) -> Vec<i64> {
    let mut stride = 1;
    let mut strides: Vec<i64> = Vec::new();
    for extent in extents.iter().rev() {
        strides.push(stride);
        stride *= extent;
    }
    strides.reverse();
    strides
}

/// The values that the payload reads at one point.
#[derive(Default)]
pub(super) struct Point<'c, 'a> {
    /// Elements of the operands, by position.
    pub(super) inputs: HashMap<usize, Value<'c, 'a>>,
    /// Values of the original operation's dimensions, as indices.
    pub(super) indices: HashMap<usize, Value<'c, 'a>>,
    /// The result of the reduction, for the epilogue.
    pub(super) reduced: Option<Value<'c, 'a>>,
}

/// The array and the dimension that define the dynamic extent of a loop.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Dynamic<'c, 'a> {
    pub(super) array: Value<'c, 'a>,
    pub(super) dimension: usize,
    /// The upper bound of the extent, if there is one.
    pub(super) most: Option<i64>,
}

/// The dynamic extents of a nest, by loop.
pub(super) type Extents<'c, 'a> = HashMap<usize, Dynamic<'c, 'a>>;

/// Properties of a kernel's arrays that are known on the host.
#[derive(Clone, Debug, Default)]
pub(super) struct Caller<'c, 'a> {
    /// The arrays, then captured scalars.
    pub(super) arguments: Vec<Value<'c, 'a>>,
    pub(super) extents: Extents<'c, 'a>,
    /// Whether the address of each operand's buffer is a multiple of [`VECTOR`].
    pub(super) aligned: Vec<bool>,
    /// Elements of a thread's widest access.
    pub(super) lanes: i64,
    /// Element types with vector accesses.
    pub(super) vectors: &'static [&'static str],
    /// How threads copy into shared memory without registers.
    pub(super) copies: Option<DirectCopy>,
    /// Unrolled products of a loop in kernels with other operations ([`Gpu::unrolled`]).
    pub(super) unrolled: u32,
    /// A divisor of each operand's dynamic offset.
    pub(super) placed: Vec<i64>,
}

/// Bytes of a thread's widest access.
pub(super) const VECTOR: i64 = 16;

/// The expected extent of each loop, by which a mapping is selected: the upper bound of a dynamic extent, or an estimate.
pub(super) fn expected(nest: &Nest, extents: &Extents) -> Vec<i64> {
    let loops = nest.loops.iter().enumerate();
    let most = |l: usize| extents.get(&l).and_then(|own| own.most);
    loops.map(|(l, own)| most(l).unwrap_or(own.extent)).collect()
}

/// Where the thread's code is.
enum Place<'c, 'a> {
    /// On the host, before the launch.
    Host,
    Launch(Launch<'c, 'a>),
    /// In a block with other code: the block computes all tiles, one after the other.
    Inside {
        tiles: Region<'c>,
        tile: Value<'c, 'a>,
    },
}

/// The code of a reduction's thread.
pub(super) struct Code<'r, 'c, 'a> {
    /// Index arithmetic at the end of the code: 32-bit where all addresses fit.
    pub(super) numbers: Numbers<'c, 'a>,
    pub(super) nest: &'r Nest,
    pub(super) body: &'r Body<'c>,
    signature: &'r Signature<'c>,
    host: Builder<'c, 'a>,
    place: Place<'c, 'a>,
    /// The block that contains the host's code, if threads run it. Its arguments are the thread number and shared arrays.
    inside: Option<BlockRef<'c, 'a>>,
    /// The extent of each loop.
    extents: Vec<Number<'c, 'a>>,
    caller: &'r Caller<'c, 'a>,
    /// The stride of each operand along each loop.
    strides: Vec<Vec<Number<'c, 'a>>>,
    /// The operands as flat arrays.
    views: Vec<Value<'c, 'a>>,
    /// Minimum resident blocks per SM (`.minnctapersm`); 0 lets ptxas decide.
    pub(super) resident: u32,
    /// The arrays that the threads of a block share.
    shared: Vec<Shared<'c, 'a>>,
    /// Steps of the payload that are already computed in this region, by number and operands.
    known: HashMap<(usize, Vec<ValueKey>), Value<'c, 'a>>,
}

impl<'r, 'c: 'a, 'a> Code<'r, 'c, 'a> {
    /// Begins on the host, until [`Code::begin`].
    pub(super) fn new(
        host: Builder<'c, 'a>,
        nest: &'r Nest,
        body: &'r Body<'c>,
        signature: &'r Signature<'c>,
        caller: &'r Caller<'c, 'a>,
    ) -> Self {
        let bits = if fits(nest, &caller.extents) { 32 } else { 64 };
        let numbers = Numbers { at: host, kind: types::int(host.context, bits) };
        let extents = nest.loops.iter().enumerate().map(|(l, own)| match caller.extents.get(&l) {
            None => Number::Known(own.extent),
            Some(own) => numbers.number(host.dim(own.array, own.dimension)),
        });
        let extents: Vec<Number> = extents.collect();
        let strides_of = |operand: &Address| {
            let stride = |l: usize| match operand.factors(l).as_slice() {
                [] => Number::Known(operand.strides[l]),
                own => all(&numbers, Number::Known(operand.factor(l)), &extents, own),
            };
            (0..nest.loops.len()).map(stride).collect()
        };
        let strides = nest.operands.iter().map(strides_of).collect();
        Code {
            numbers,
            nest,
            body,
            signature,
            host,
            place: Place::Host,
            inside: None,
            extents,
            caller,
            strides,
            views: Vec::new(),
            resident: 0,
            shared: Vec::new(),
            known: HashMap::new(),
        }
    }

    /// Lets the threads of a block run this code: it is at the end of a block with one argument, the thread number.
    /// Shared arrays become further arguments: parts of one array for each element type.
    pub(super) fn share_inside(&mut self) {
        self.inside = Some(self.host.block);
    }

    /// Begins the threads' code, which computes one tile.
    pub(super) fn begin(&mut self) {
        if self.inside.is_some() {
            let (tiles, at, tile) = self.host.region(&[self.host.index_type()]);
            self.numbers.at = at;
            self.place = Place::Inside { tiles, tile: tile[0] };
        } else {
            let launch = Launch::new(&self.host);
            self.numbers.at = launch.at;
            self.place = Place::Launch(launch);
        }
        self.views = self.flat_arrays();
    }

    /// Continues in another region, where values of the previous region are not available.
    pub(super) fn enter(&mut self, at: Builder<'c, 'a>) {
        self.numbers.at = at;
        self.known.clear();
    }

    /// A builder at the end of the code.
    pub(super) fn builder(&self) -> Builder<'c, 'a> {
        self.numbers.at
    }

    /// Completes the code, with `threads` threads per block; returns the shared arrays if the launch belongs to other code.
    pub(super) fn end(self, tiles: Number<'c, 'a>, threads: i64) -> Vec<Shared<'c, 'a>> {
        let host = self.host;
        let numbers = Numbers { at: host, ..self.numbers };
        let all = numbers.index(tiles);
        match self.place {
            Place::Host => unreachable!("internal compiler error: a kernel without threads"),
            Place::Launch(launch) => {
                let [blocks, one] = match tiles {
                    Number::Known(tiles) => [host.idx(tiles.clamp(1, MAX_BLOCKS)), host.idx(1)],
                    Number::Value(_) => blocks(&host, all),
                };
                launch.end([all, blocks, one, host.idx(threads)], self.resident);
            }
            Place::Inside { tiles, .. } => {
                self.numbers.at.op(ops::scf::YIELD, &[], &[], &[], Vec::new());
                host.op(ops::scf::FOR, &[host.idx(0), all, host.idx(1)], &[], &[], vec![tiles]);
            }
        }
        self.shared
    }

    /// How threads copy elements of operands into shared memory without registers, if the operands are in device memory.
    pub(super) fn direct_copies(&self) -> Option<DirectCopy> {
        self.caller.copies.filter(|_| self.inside.is_none())
    }

    /// The loop annotation of a loop over the products of a copy, if it has one.
    pub(super) fn unrolling(&self, count: Number) -> Option<Attribute<'c>> {
        let count = match (self.caller.unrolled, count) {
            (0, _) => return None,
            (own, _) if self.inside.is_some() => Some(own),
            (_, Number::Known(_)) => None,
            (_, Number::Value(_)) => return None,
        };
        Some(attributes::unrolled(self.host.context, count))
    }

    /// An array with these extents in shared memory, one for each name.
    pub(super) fn share(&mut self, name: Name, extents: &[i64], element: Type<'c>) -> Value<'c, 'a> {
        if let Some(known) = self.shared.iter().find(|own| own.name == name) {
            return known.array;
        }
        let (first, array) = match (&self.place, self.inside) {
            (Place::Launch(launch), _) => (0, launch.share(memref::shared(extents, element))),
            (_, Some(block)) => {
                let others = self.shared.iter().filter(|own| own.element == element);
                let first = others.map(Shared::end).max().unwrap_or(0);
                let context = self.host.context;
                let space = Some(attributes::workgroup(context));
                let kind = memref::strided(context, extents, element, (first, &strides(extents)), space);
                (first, block.add_argument(kind, self.host.location))
            }
            (_, None) => unreachable!("internal compiler error: an array of threads before they begin"),
        };
        self.shared.push(Shared { name, array, element, extents: extents.to_vec(), first });
        array
    }

    /// The offset of a shared array in the array that it is a part of.
    pub(super) fn first_shared(&self, name: Name) -> i64 {
        let shared = self.shared.iter().find(|shared| shared.name == name);
        shared.map_or(0, |shared| shared.first)
    }

    /// The number of the tile, and the number of the thread in its block.
    pub(super) fn tile_and_thread(&self) -> [Value<'c, 'a>; 2] {
        match (&self.place, self.inside) {
            (Place::Launch(launch), _) => [launch.tile, launch.thread],
            (Place::Inside { tile, .. }, Some(block)) => [*tile, ir::arguments(block)[0]],
            _ => unreachable!("internal compiler error: a thread before threads begin"),
        }
    }

    /// The iteration of each loop for a linear number; the last loop varies fastest.
    pub(super) fn iterations(&self, number: Number<'c, 'a>, loops: &[usize]) -> Vec<(usize, Number<'c, 'a>)> {
        let mut rest = number;
        let mut iterations = Vec::new();
        for (position, l) in loops.iter().enumerate().rev() {
            if position == 0 {
                iterations.push((*l, rest));
            } else {
                let extent = self.extents.get(*l).copied().unwrap_or(Number::Known(1));
                let (quotient, own) = self.numbers.split(rest, extent);
                iterations.push((*l, own));
                rest = quotient;
            }
        }
        iterations.reverse();
        iterations
    }

    /// Adds the contribution of iterations to an operand's address.
    pub(super) fn address(
        &self,
        operand: usize,
        first: Number<'c, 'a>,
        iterations: &[(usize, Number<'c, 'a>)],
    ) -> Number<'c, 'a> {
        let stride = |l: usize| self.strides.get(operand).and_then(|own| own.get(l)).copied();
        iterations.iter().fold(first, |sum, (l, iteration)| {
            let part = self.numbers.multiply(*iteration, stride(*l).unwrap_or(Number::Known(0)));
            self.numbers.add(sum, part)
        })
    }

    /// The address of an operand's first element.
    pub(super) fn offset(&self, operand: usize) -> Number<'c, 'a> {
        Number::Known(self.nest.operands.get(operand).map_or(0, |own| own.offset))
    }

    /// The number of iterations of some loops.
    pub(super) fn count(&self, loops: &[usize]) -> Number<'c, 'a> {
        all(&self.numbers, Number::Known(1), &self.extents, loops)
    }

    /// The operands as flat arrays.
    fn flat_arrays(&self) -> Vec<Value<'c, 'a>> {
        let at = self.builder();
        let arrays = self.caller.arguments.iter().zip(&self.signature.windows).enumerate();
        let views = arrays.map(|(position, (array, (offset, _)))| {
            let offset = (*offset == AT_RUN_TIME).then(|| at.offset_of(*array));
            self.signature.view(position, *array, offset, &at)
        });
        views.collect()
    }

    /// The element type of an operand.
    pub(super) fn element(&self, operand: usize) -> Type<'c> {
        self.signature.elements[operand]
    }

    /// The flat array of an operand.
    pub(super) fn view(&self, operand: usize) -> Value<'c, 'a> {
        self.views[operand]
    }

    /// An element of an operand.
    pub(super) fn load(&self, operand: usize, address: Number<'c, 'a>) -> Value<'c, 'a> {
        let address = self.numbers.index(address);
        self.builder().load(self.view(operand), &[address])
    }

    /// Writes an element of an operand.
    pub(super) fn store(&self, value: Value<'c, 'a>, operand: usize, address: Number<'c, 'a>) {
        let address = self.numbers.index(address);
        self.builder().store(value, self.view(operand), &[address]);
    }

    /// The number of consecutive elements of an operand along a loop, at most `most`, that a thread accesses at once: a
    /// power of two. Groups of that many iterations of the loop are aligned to their size.
    pub(super) fn width(&self, operand: usize, along: Option<usize>, most: i64) -> i64 {
        let width = along.and_then(|l| {
            let address = self.nest.operands.get(operand)?;
            let bytes = crate::extents::size::element_bytes(self.element(operand))?;
            let extent = self.nest.loops.get(l).filter(|l| l.source.is_none())?;
            let is_fixed = address.extents.get(l).is_some_and(Vec::is_empty);
            let is_next = is_fixed && address.strides.get(l) == Some(&1);
            let is_aligned = self.caller.aligned.get(operand) == Some(&true);
            let is_known = self.caller.vectors.contains(&self.element(operand).to_string().as_str());
            if !is_next || !is_aligned || !is_known {
                return None;
            }
            let others = (0..self.nest.loops.len()).filter(|other| *other != l);
            let strides = others.map(|other| address.factor(other));
            let offset = match self.signature.windows.get(operand)?.0 {
                AT_RUN_TIME => *self.caller.placed.get(operand)?,
                offset => offset,
            };
            let all = strides.chain([extent.extent, address.offset, offset]);
            let mut width = most.min(self.caller.lanes).min(VECTOR / as_i64(bytes));
            for number in all {
                while width > 1 && number % width != 0 {
                    width /= 2;
                }
            }
            Some(width)
        });
        width.map_or(1, |width| width.max(1))
    }

    /// Consecutive elements of an operand: one element, or a vector.
    pub(super) fn load_vector(&self, operand: usize, address: Number<'c, 'a>, width: i64) -> Value<'c, 'a> {
        let address = self.numbers.index(address);
        load(&self.builder(), self.view(operand), &[address], self.element(operand), width)
    }

    /// Writes consecutive elements of an operand.
    pub(super) fn store_vector(&self, values: &[Value<'c, 'a>], operand: usize, address: Number<'c, 'a>) {
        let address = self.numbers.index(address);
        store(&self.builder(), values, self.view(operand), &[address]);
    }

    /// Adds the elements that the prologue or epilogue of a result reads to its point.
    pub(super) fn ends(
        &self,
        point: &mut Point<'c, 'a>,
        is_read: impl Fn(&Body<'c>, usize) -> bool,
        iterations: &[(usize, Number<'c, 'a>)],
    ) {
        for operand in self.nest.output..self.nest.operands.len() {
            if is_read(self.body, operand) {
                let address = self.address(operand, self.offset(operand), iterations);
                point.inputs.insert(operand, self.load(operand, address));
            }
        }
    }

    /// The combination of two values.
    pub(super) fn combine(&self, a: Value<'c, 'a>, b: Value<'c, 'a>) -> Value<'c, 'a> {
        self.body.combine.operator.apply(&self.builder(), &[a, b], self.body.accumulator)
    }

    /// A value of the payload at a point. Values that are equal at all points are computed once.
    pub(super) fn payload(&mut self, operand: &Operand, point: &Point<'c, 'a>) -> Value<'c, 'a> {
        let number = match operand {
            Operand::Input(position) => return point.inputs[position],
            Operand::Capture(position) => {
                return self.caller.arguments[self.signature.arrays.len() + position];
            }
            Operand::Reduced => {
                return point.reduced.unwrap_or_else(|| {
                    unreachable!("internal compiler error: a result before the reduction")
                });
            }
            Operand::Step(number) => *number,
        };
        let step = &self.body.steps[number];
        if let Step::Index { dimension } = step
            && let Some(known) = point.indices.get(dimension)
        {
            return *known;
        }
        let operands: Vec<Value> = match step {
            Step::Apply { operands, .. } => operands.iter().map(|own| self.payload(own, point)).collect(),
            Step::Constant(_) | Step::Index { .. } => Vec::new(),
        };
        let key = (number, operands.iter().map(|own| ValueKey::of(*own)).collect());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let at = self.builder();
        let value = match step {
            Step::Constant(value) => at.literal(*value),
            // The loop has one iteration.
            Step::Index { .. } => at.idx(0),
            Step::Apply { operator, element, .. } => operator.apply(&at, &operands, *element),
        };
        self.known.insert(key, value);
        value
    }
}

/// A number times the extents of some loops.
fn all<'c: 'a, 'a>(
    numbers: &Numbers<'c, 'a>,
    first: Number<'c, 'a>,
    extents: &[Number<'c, 'a>],
    loops: &[usize],
) -> Number<'c, 'a> {
    let factors = loops.iter().filter_map(|l| extents.get(*l));
    factors.fold(first, |all, extent| numbers.multiply(all, *extent))
}

/// The number of elements of a thread's widest access, and the element types with such accesses.
pub(super) fn vectors(language: Language) -> (i64, &'static [&'static str]) {
    match language {
        // SPIR-V has at most 4 elements per vector, and no bf16.
        Language::SpirV => (4, &["f16", "f32", "f64", "i32", "i64"]),
        Language::Ptx | Language::Amdgcn => (8, &["bf16", "f16", "f32", "f64", "i32", "i64"]),
    }
}

/// The type of `width` elements.
pub(super) fn vector(element: Type<'_>, width: i64) -> Type<'_> {
    if width == 1 { element } else { ir::vector::of(&[width], element) }
}

/// The bytes of `width` elements.
pub(super) fn bytes(element: Type, width: i64) -> i64 {
    let bytes = crate::extents::size::element_bytes(element);
    let bytes = bytes.unwrap_or_else(|| unreachable!("internal compiler error: no bytes of {element}"));
    as_i64(bytes).saturating_mul(width)
}

/// Consecutive elements of an array at a multiple of their size: one element, or a vector.
pub(super) fn load<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    array: Value<'c, 'a>,
    place: &[Value<'c, 'a>],
    element: Type<'c>,
    width: i64,
) -> Value<'c, 'a> {
    match width {
        1 => at.load(array, place),
        width => at.load_vector(array, place, vector(element, width), Some(bytes(element, width))),
    }
}

/// Writes consecutive elements of an array at a multiple of their size.
pub(super) fn store<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    values: &[Value<'c, 'a>],
    array: Value<'c, 'a>,
    place: &[Value<'c, 'a>],
) {
    if let [value] = values {
        return at.store(*value, array, place);
    }
    let width = as_i64(values.len());
    let element = values[0].r#type();
    let all = at.vector_of_elements(values, vector(element, width));
    at.store_vector(all, array, place, Some(bytes(element, width)));
}

/// The elements of a vector; for width 1, the value itself.
pub(super) fn lanes<'c: 'a, 'a>(at: &Builder<'c, 'a>, all: Value<'c, 'a>, width: i64) -> Vec<Value<'c, 'a>> {
    if width == 1 { vec![all] } else { (0..width).map(|n| at.extract(all, n)).collect() }
}

/// Whether all addresses and iteration counts fit into 32 bits.
fn fits(nest: &Nest, extents: &Extents) -> bool {
    let most = i64::from(i32::MAX) / 2;
    let largest: Option<Vec<i64>> = nest
        .loops
        .iter()
        .enumerate()
        .map(|(l, own)| match extents.get(&l) {
            Some(own) => own.most,
            None => Some(own.extent),
        })
        .collect();
    let Some(largest) = largest else {
        return false;
    };
    let span = |own: &Address| {
        let strides =
            (0..largest.len()).map(|l| own.factor(l).saturating_mul(product(&largest, &own.factors(l))));
        strides
            .zip(&largest)
            .fold(1_i64, |all, (stride, extent)| all.saturating_add(stride.saturating_mul(extent - 1)))
    };
    let of = |kind| {
        let loops: Vec<usize> = nest.loops_of_kind(kind).collect();
        product(&largest, &loops)
    };
    let spans = nest.operands.iter().map(span);
    let offsets = nest.operands.iter().map(|own| own.offset.saturating_abs());
    // Tiles may exceed their loops, and block counts their product.
    let counts = [of(LoopKind::Parallel), of(LoopKind::Reduction)];
    let mut sizes = spans.chain(offsets).chain(counts);
    sizes.all(|size| size < most)
}
