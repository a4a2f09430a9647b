// SPDX-License-Identifier: Apache-2.0
//! Writes the code of a thread as text: index arithmetic with constants folded, elements of arrays, the payload of a reduction.

use super::super::body::{Body, Operand, Step};
use super::super::nest::{Address, LoopKind, Nest};
use super::super::signature::{AT_RUN_TIME, Signature};
use super::super::writer::properties;
use super::outline::MOST_BLOCKS;
use crate::ir::attribute_names::RESIDENT;
use crate::ir::ops;
use crate::ir::splice::Lines;
use crate::schedule::targets::gpus::{DirectCopy, Language};
use std::collections::HashMap;

/// An integer of the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Number {
    /// A constant.
    Known(i64),
    /// A value, by its name.
    Value(String),
}

/// The memory space of arrays that the threads of a block share.
pub(super) const SHARED: &str = "#gpu.address_space<workgroup>";

/// An array that the threads of a block share.
pub(super) struct Shared {
    name: String,
    kind: String,
    pub(super) element: String,
    extents: Vec<i64>,
    /// The first element, in an array that others are parts of as well.
    first: i64,
}

impl Shared {
    /// The line that defines it as a part of an array of a type.
    pub(super) fn view(&self, array: &str, kind: &str) -> String {
        let list = |numbers: &[i64]| {
            let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
            numbers.join(", ")
        };
        format!(
            "{} = memref.reinterpret_cast {array} to offset: [{}], sizes: [{}], strides: [{}] : {kind} to {}\n",
            self.name,
            self.first,
            list(&self.extents),
            list(&strides(&self.extents)),
            self.kind
        )
    }

    /// The element after the last one, where others may begin.
    pub(super) fn end(&self) -> i64 {
        let count: i64 = self.extents.iter().product();
        self.first + (count + 15) / 16 * 16
    }
}

/// The strides of an array without gaps.
fn strides(extents: &[i64]) -> Vec<i64> {
    let mut stride = 1;
    let mut found: Vec<i64> = Vec::new();
    for extent in extents.iter().rev() {
        found.push(stride);
        stride *= extent;
    }
    found.reverse();
    found
}

/// The values that the payload reads at one point.
#[derive(Default)]
pub(super) struct Point {
    /// Elements of the operands, by position.
    pub(super) inputs: HashMap<usize, String>,
    /// Values of the original operation's dimensions, as indices.
    pub(super) indices: HashMap<usize, String>,
    /// The result of the reduction, for what follows it.
    pub(super) reduced: String,
}

/// The array and its dimension that have the dynamic extent of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dynamic {
    /// The array, as a value of the code, with its type.
    pub(super) array: String,
    pub(super) kind: String,
    pub(super) dimension: usize,
    /// The upper bound of the extent, if there is one.
    pub(super) most: Option<i64>,
}

/// The dynamic extents of a nest, by loop.
pub(super) type Extents = HashMap<usize, Dynamic>;

/// What the host knows of a kernel's arrays.
#[derive(Clone, Debug, Default)]
pub(super) struct Caller {
    pub(super) extents: Extents,
    /// Whether the address of the buffer that each operand is a part of is a multiple of [`VECTOR`].
    pub(super) aligned: Vec<bool>,
    /// Elements of the longest access of a thread.
    pub(super) lanes: i64,
    /// Types of elements that are accessed several at a time.
    pub(super) vectors: &'static [&'static str],
    /// How threads copy into the memory of a block without registers.
    pub(super) copies: Option<DirectCopy>,
    /// Products that a loop adds in an iteration beside other operations ([`Gpu::unrolled`]).
    pub(super) unrolled: u32,
    /// The dimensions of each operand, and a number that its dynamic offset is a multiple of.
    pub(super) placed: Vec<(usize, i64)>,
}

/// Bytes of the longest access of a thread.
pub(super) const VECTOR: u64 = 16;

/// The extent of each loop that a mapping is selected for: of a dynamic one its upper bound, or an estimate.
pub(super) fn expected(nest: &Nest, extents: &Extents) -> Vec<i64> {
    let loops = nest.loops.iter().enumerate();
    let most = |l: usize| extents.get(&l).and_then(|own| own.most);
    loops.map(|(l, own)| most(l).unwrap_or(own.extent)).collect()
}

/// The product of the extents of some loops.
pub(super) fn product(extents: &[i64], loops: &[usize]) -> i64 {
    let own = loops.iter().filter_map(|l| extents.get(*l));
    own.fold(1, |all, extent| all.saturating_mul(*extent))
}

/// The code of a reduction's thread.
pub(super) struct Code<'r> {
    pub(super) lines: Lines,
    pub(super) nest: &'r Nest,
    pub(super) body: &'r Body,
    pub(super) signature: &'r Signature,
    /// The type of index arithmetic: 32 bits where all addresses fit.
    pub(super) kind: &'static str,
    /// The lines of the host, before the launch.
    host: String,
    /// The extent of each loop.
    extents: Vec<Number>,
    caller: &'r Caller,
    /// The stride of each operand along each loop.
    strides: Vec<Vec<Number>>,
    /// Blocks that a processor of NVIDIA's has registers for, at least; 0 where that is left to the assembler.
    pub(super) resident: u32,
    /// The arrays that the threads of a block share.
    shared: Vec<Shared>,
    /// Whether these are parts of one array for each type of elements, which the caller has.
    is_inside: bool,
    /// Steps of the payload that this region computed already, by their operands.
    known: HashMap<(usize, Vec<String>), String>,
}

impl<'r> Code<'r> {
    /// The lines until [`Code::begin`] are those of the host.
    pub(super) fn new(nest: &'r Nest, body: &'r Body, signature: &'r Signature, caller: &'r Caller) -> Self {
        let extents = &caller.extents;
        let mut code = Code {
            lines: Lines::default(),
            nest,
            body,
            signature,
            kind: if fits(nest, extents) { "i32" } else { "i64" },
            host: String::new(),
            extents: Vec::new(),
            caller,
            strides: Vec::new(),
            resident: 0,
            shared: Vec::new(),
            is_inside: false,
            known: HashMap::new(),
        };
        for (l, own) in nest.loops.iter().enumerate() {
            let extent = match extents.get(&l) {
                None => Number::Known(own.extent),
                Some(own) => {
                    let dimension = format!("arith.constant {} : index", own.dimension);
                    let dimension = code.lines.value(dimension);
                    let (array, kind) = (&own.array, &own.kind);
                    let extent = format!("memref.dim {array}, {dimension} : {kind}");
                    let extent = code.lines.value(extent);
                    code.number(&extent)
                }
            };
            code.extents.push(extent);
        }
        for operand in &nest.operands {
            let loops = 0..nest.loops.len();
            let strides = loops.map(|l| {
                let extents = operand.extents.get(l).map_or(&[][..], Vec::as_slice);
                if extents.is_empty() {
                    return Number::Known(operand.strides.get(l).copied().unwrap_or(0));
                }
                code.product(Number::Known(operand.factor(l)), extents)
            });
            let strides = strides.collect();
            code.strides.push(strides);
        }
        code
    }

    /// Begins the lines of the threads.
    pub(super) fn begin(&mut self) {
        self.host = self.lines.take();
        self.known.clear();
    }

    /// A number times the extents of some loops.
    fn product(&mut self, first: Number, loops: &[usize]) -> Number {
        let mut all = first;
        for l in loops {
            let extent = self.extents.get(*l).cloned().unwrap_or(Number::Known(1));
            all = self.multiply(&all, &extent);
        }
        all
    }

    /// The code of blocks of threads: `gpu.launch`. Block b of B computes tiles b, b + B, b + 2B, …, each as the lines say for `%block`.
    /// `tiles` is a number of the host.
    pub(super) fn launch(mut self, tiles: &Number, threads: i64) -> String {
        let shared: Vec<String> =
            self.shared.iter().map(|own| format!("{} : {}", own.name, own.kind)).collect();
        let body = self.lines.take();
        let tiles = match tiles {
            Number::Known(tiles) => format!(
                "%tiles = arith.constant {tiles} : index\n%blocks = arith.constant {} : index",
                tiles.clamp(&1, &MOST_BLOCKS)
            ),
            Number::Value(tiles) => format!(
                "%tiles = arith.index_cast {tiles} : {} to index\n\
                 %most = arith.constant {MOST_BLOCKS} : index\n\
                 %few = arith.minui %tiles, %most : index\n%blocks = arith.maxui %few, %one : index",
                self.kind
            ),
        };
        let resident = match self.resident {
            0 => String::new(),
            count => format!(" {{{RESIDENT} = {count} : i32}}"),
        };
        format!(
            "{}%none = arith.constant 0 : index\n%one = arith.constant 1 : index\n{tiles}\n\
             %threads = arith.constant {threads} : index\n\
             gpu.launch blocks(%bx, %by, %bz) in (%gx = %blocks, %gy = %one, %gz = %one) \
             threads(%thread, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) workgroup({}) {{\n\
             scf.for %block = %bx to %tiles step %gx {{\n{body}}}\ngpu.terminator\n}}{resident}",
            self.host,
            shared.join(", "),
        )
    }

    /// The code of a block that does more than that: all tiles, one after the other. `thread` is the number of the thread. The shared
    /// arrays are views that the caller defines ([`Shared::view`]).
    pub(super) fn inside(mut self, tiles: &Number, thread: &str) -> (String, Vec<Shared>) {
        let body = self.lines.take();
        let count = match tiles {
            Number::Known(tiles) => format!("arith.constant {tiles} : index"),
            Number::Value(tiles) => {
                format!("arith.index_cast {tiles} : {} to index", self.kind)
            }
        };
        let text = format!(
            "{}%none = arith.constant 0 : index\n%one = arith.constant 1 : index\n%tiles = {count}\n\
             %thread = arith.addi {thread}, %none : index\n\
             scf.for %block = %none to %tiles step %one {{\n{body}}}",
            self.host
        );
        (text, self.shared)
    }

    /// How threads copy elements of operands into the memory of a block without registers: where operands are in that of the device.
    pub(super) fn direct_copies(&self) -> Option<DirectCopy> {
        self.caller.copies.filter(|_| !self.is_inside)
    }

    /// The number of dynamic extents, each with an array of its own.
    pub(super) fn dynamic_extents(&self) -> usize {
        self.caller.extents.len()
    }

    /// The attributes of a loop over so many products of a copy, as text.
    pub(super) fn unrolling(&self, count: &Number) -> String {
        let unroll = match (self.caller.unrolled, count) {
            (0, _) => return String::new(),
            (own, _) if self.is_inside => format!("count = {own} : i32"),
            (_, Number::Known(_)) => "full = true".to_owned(),
            (_, Number::Value(_)) => return String::new(),
        };
        format!(" {{loop_annotation = #llvm.loop_annotation<unroll = <disable = false, {unroll}>>}}")
    }

    /// Lets shared arrays be parts of one for each type of elements, for [`Code::inside`].
    pub(super) fn share_inside(&mut self) {
        self.is_inside = true;
    }

    /// An array of this shape, as MLIR writes it, that the threads of a block share, one for each name; returns its type.
    pub(super) fn share(&mut self, name: &str, shape: &str, element: &str) -> String {
        if let Some(known) = self.shared.iter().find(|own| own.name == name) {
            return known.kind.clone();
        }
        let extents: Vec<i64> = shape.split('x').filter_map(|n| n.parse().ok()).collect();
        let others = self.shared.iter().filter(|own| own.element == element);
        let first = if self.is_inside {
            others.map(Shared::end).max().unwrap_or(0)
        } else {
            // An array of its own.
            0
        };
        let kind = if self.is_inside {
            let strides: Vec<String> = strides(&extents).iter().map(i64::to_string).collect();
            let strides = strides.join(", ");
            format!("memref<{shape}x{element}, strided<[{strides}], offset: {first}>, {SHARED}>")
        } else {
            format!("memref<{shape}x{element}, {SHARED}>")
        };
        self.shared.push(Shared {
            name: name.to_owned(),
            kind: kind.clone(),
            element: element.to_owned(),
            extents,
            first,
        });
        kind
    }

    /// The first element of a shared array in the array that it is a part of.
    pub(super) fn first_shared(&self, name: &str) -> i64 {
        let own = self.shared.iter().find(|own| own.name == name);
        own.map_or(0, |own| own.first)
    }

    /// Begins another region: values of the last one are not available.
    pub(super) fn enter(&mut self) {
        self.known.clear();
    }

    /// The name of a value.
    pub(super) fn name(&mut self, number: &Number) -> String {
        match number {
            Number::Known(value) => {
                let kind = self.kind;
                self.lines.value(format!("arith.constant {value} : {kind}"))
            }
            Number::Value(name) => name.clone(),
        }
    }

    fn binary(&mut self, op: &str, a: &Number, b: &Number) -> Number {
        let (a, b) = (self.name(a), self.name(b));
        let kind = self.kind;
        Number::Value(self.lines.value(format!("{op} {a}, {b} : {kind}")))
    }

    pub(super) fn add(&mut self, a: &Number, b: &Number) -> Number {
        match (a, b) {
            (Number::Known(a), Number::Known(b)) => Number::Known(a + b),
            (Number::Known(0), other) | (other, Number::Known(0)) => other.clone(),
            _ => self.binary(ops::arith::ADDI, a, b),
        }
    }

    /// The difference of two numbers.
    pub(super) fn subtract(&mut self, a: &Number, b: &Number) -> Number {
        match (a, b) {
            (Number::Known(a), Number::Known(b)) => Number::Known(a - b),
            (_, Number::Known(0)) => a.clone(),
            _ => self.binary(ops::arith::SUBI, a, b),
        }
    }

    pub(super) fn times(&mut self, a: &Number, factor: i64) -> Number {
        self.multiply(a, &Number::Known(factor))
    }

    /// The product of two numbers.
    pub(super) fn multiply(&mut self, a: &Number, b: &Number) -> Number {
        match (a, b) {
            (Number::Known(a), Number::Known(b)) => Number::Known(a.saturating_mul(*b)),
            (Number::Known(0), _) | (_, Number::Known(0)) => Number::Known(0),
            (Number::Known(1), other) | (other, Number::Known(1)) => other.clone(),
            _ => self.binary(ops::arith::MULI, a, b),
        }
    }

    /// The quotient and the remainder of a number that is not negative.
    pub(super) fn split(&mut self, a: &Number, by: &Number) -> (Number, Number) {
        match (a, by) {
            (_, Number::Known(..=1)) => (a.clone(), Number::Known(0)),
            (Number::Known(a), Number::Known(by)) => (Number::Known(a / by), Number::Known(a % by)),
            _ => {
                let quotient = self.binary(ops::arith::DIVUI, a, by);
                (quotient, self.binary(ops::arith::REMUI, a, by))
            }
        }
    }

    /// The number of parts of a size that cover so many elements.
    pub(super) fn parts(&mut self, count: &Number, size: i64) -> Number {
        let more = self.add(count, &Number::Known(size - 1));
        self.split(&more, &Number::Known(size)).0
    }

    /// A number, at most `most`.
    pub(super) fn at_most(&mut self, a: &Number, most: &Number) -> Number {
        match (a, most) {
            (Number::Known(a), Number::Known(most)) => Number::Known(*a.min(most)),
            _ => self.binary(ops::arith::MINUI, a, most),
        }
    }

    /// Whether a number is less than a count, as a bool.
    pub(super) fn is_below(&mut self, a: &Number, count: &Number) -> String {
        let (a, count) = (self.name(a), self.name(count));
        let kind = self.kind;
        self.lines.value(format!("arith.cmpi ult, {a}, {count} : {kind}"))
    }

    /// A number as an index.
    pub(super) fn index(&mut self, a: &Number) -> String {
        match a {
            Number::Known(value) => self.lines.value(format!("arith.constant {value} : index")),
            Number::Value(name) => {
                let kind = self.kind;
                self.lines.value(format!("arith.index_cast {name} : {kind} to index"))
            }
        }
    }

    /// An index as a number.
    pub(super) fn number(&mut self, index: &str) -> Number {
        let kind = self.kind;
        let value = self.lines.value(format!("arith.index_cast {index} : index to {kind}"));
        Number::Value(value)
    }

    /// The number of the thread in its block.
    pub(super) fn thread(&mut self) -> Number {
        self.number("%thread")
    }

    /// The iteration of each of some loops, the last one fastest.
    pub(super) fn iterations(&mut self, number: &Number, loops: &[usize]) -> Vec<(usize, Number)> {
        let mut rest = number.clone();
        let mut found = Vec::new();
        for (position, l) in loops.iter().enumerate().rev() {
            let extent = self.extents.get(*l).cloned().unwrap_or(Number::Known(1));
            if position == 0 {
                found.push((*l, rest.clone()));
            } else {
                let (quotient, own) = self.split(&rest, &extent);
                found.push((*l, own));
                rest = quotient;
            }
        }
        found.reverse();
        found
    }

    /// Adds the part of an operand's address that follows from iterations.
    pub(super) fn address(
        &mut self,
        operand: usize,
        first: &Number,
        iterations: &[(usize, Number)],
    ) -> Number {
        let mut sum = first.clone();
        for (l, iteration) in iterations {
            let own = self.strides.get(operand).and_then(|own| own.get(*l));
            let stride = own.cloned().unwrap_or(Number::Known(0));
            let part = self.multiply(iteration, &stride);
            sum = self.add(&sum, &part);
        }
        sum
    }

    /// The address of an operand's first element.
    pub(super) fn offset(&self, operand: usize) -> Number {
        Number::Known(self.nest.operands.get(operand).map_or(0, |own| own.offset))
    }

    /// The number of iterations of some loops.
    pub(super) fn count(&mut self, loops: &[usize]) -> Number {
        self.product(Number::Known(1), loops)
    }

    /// Defines the flat view of each array, `%l0`, `%l1`, ….
    pub(super) fn views(&mut self) {
        for (position, kind) in self.signature.arrays.iter().enumerate() {
            let window = self.signature.windows.get(position);
            let offset = if window.is_some_and(|(offset, _)| *offset == AT_RUN_TIME) {
                self.dynamic_offset(position, kind)
            } else {
                String::new()
            };
            let view = self.signature.view(position, &format!("%{position}"), kind, &offset);
            self.lines.line(format!("%l{position} = {view}"));
        }
    }

    /// The offset of an array, as an index.
    fn dynamic_offset(&mut self, position: usize, kind: &str) -> String {
        let rank = self.caller.placed.get(position).map_or(0, |own| own.0);
        let (base, offset) = (self.lines.name(), self.lines.name());
        let names = match rank {
            0 => String::new(),
            _ => format!(", {}:{rank}, {}:{rank}", self.lines.name(), self.lines.name()),
        };
        let indices = vec!["index"; 1 + 2 * rank].join(", ");
        let element = self.element(position);
        self.lines.line(format!(
            "{base}, {offset}{names} = memref.extract_strided_metadata %{position} : {kind} -> memref<{element}>, {indices}"
        ));
        offset
    }

    /// The element type of an operand.
    pub(super) fn element(&self, operand: usize) -> &'r str {
        let element = self.signature.elements.get(operand);
        element.map_or("", String::as_str)
    }

    /// An element of an operand.
    pub(super) fn load(&mut self, operand: usize, address: &Number) -> String {
        let address = self.index(address);
        let array = self.signature.flat(operand);
        self.lines.value(format!("memref.load %l{operand}[{address}] : {array}"))
    }

    /// Writes an element of an operand.
    pub(super) fn store(&mut self, value: &str, operand: usize, address: &Number) {
        let address = self.index(address);
        let array = self.signature.flat(operand);
        self.lines.line(format!("memref.store {value}, %l{operand}[{address}] : {array}"));
    }

    /// The number of consecutive elements of an operand along a loop, at most `most`, that a thread accesses at once: a power of two.
    /// Groups of so many iterations of the loop have such elements, at addresses that are multiples of their size.
    pub(super) fn width(&self, operand: usize, along: Option<usize>, most: i64) -> i64 {
        let found = along.and_then(|l| {
            let own = self.nest.operands.get(operand)?;
            let bytes = crate::extents::size::element_bytes(self.element(operand))?;
            let extent = self.nest.loops.get(l).filter(|own| own.source.is_none())?;
            let is_fixed = own.extents.get(l).is_some_and(Vec::is_empty);
            let is_next = is_fixed && own.strides.get(l) == Some(&1);
            let is_aligned = self.caller.aligned.get(operand).copied().unwrap_or(false);
            let is_known = self.caller.vectors.contains(&self.element(operand));
            if !is_next || !is_aligned || !is_known {
                return None;
            }
            let strides = (0..self.nest.loops.len()).filter(|other| *other != l);
            let strides = strides.map(|other| own.factor(other));
            let offset = match self.signature.windows.get(operand)?.0 {
                AT_RUN_TIME => self.caller.placed.get(operand).map_or(1, |own| own.1),
                offset => offset,
            };
            let all = strides.chain([extent.extent, own.offset, offset]);
            let mut width = most.min(self.caller.lanes).min(i64::try_from(VECTOR / bytes).ok()?);
            for number in all {
                while width > 1 && number % width != 0 {
                    width /= 2;
                }
            }
            Some(width)
        });
        found.unwrap_or(1).max(1)
    }

    /// Consecutive elements of an operand, and their type: one element, or a vector.
    pub(super) fn load_vector(&mut self, operand: usize, address: &Number, width: i64) -> String {
        if width == 1 {
            return self.load(operand, address);
        }
        let address = self.index(address);
        let array = self.signature.flat(operand);
        let kind = vector(self.element(operand), width);
        let alignment = alignment(self.element(operand), width);
        self.lines.value(format!("vector.load %l{operand}[{address}] {alignment} : {array}, {kind}"))
    }

    /// Writes consecutive elements of an operand.
    pub(super) fn store_vector(&mut self, values: &[String], operand: usize, address: &Number) {
        if let [value] = values {
            return self.store(value, operand, address);
        }
        let width = i64::try_from(values.len()).unwrap_or(1);
        let address = self.index(address);
        let array = self.signature.flat(operand);
        let kind = vector(self.element(operand), width);
        let alignment = alignment(self.element(operand), width);
        let all = format!("vector.from_elements {} : {kind}", values.join(", "));
        let all = self.lines.value(all);
        self.lines.line(format!("vector.store {all}, %l{operand}[{address}] {alignment} : {array}, {kind}"));
    }

    /// The elements of a vector.
    pub(super) fn lanes(&mut self, all: &str, element: &str, width: i64) -> Vec<String> {
        if width == 1 {
            return vec![all.to_owned()];
        }
        let kind = vector(element, width);
        let lane = |n| self.lines.value(format!("vector.extract {all}[{n}] : {element} from {kind}"));
        (0..width).map(lane).collect()
    }

    /// Adds the elements that the start or the end of a result reads to its point.
    pub(super) fn ends(
        &mut self,
        point: &mut Point,
        is_read: impl Fn(&Body, usize) -> bool,
        iterations: &[(usize, Number)],
    ) {
        for operand in self.nest.output..self.nest.operands.len() {
            if is_read(self.body, operand) {
                let offset = self.offset(operand);
                let address = self.address(operand, &offset, iterations);
                let element = self.load(operand, &address);
                point.inputs.insert(operand, element);
            }
        }
    }

    /// The combination of two values.
    pub(super) fn combine(&mut self, a: &str, b: &str) -> String {
        let combine = &self.body.combine;
        let kind = &self.body.accumulator;
        self.lines.value(format!(
            "\"{}\"({a}, {b}) {} : ({kind}, {kind}) -> {kind}",
            combine.name,
            properties(&combine.attributes)
        ))
    }

    /// A value of the payload at a point. Values that do not differ between points are computed once.
    pub(super) fn payload(&mut self, operand: &Operand, point: &Point) -> String {
        let number = match operand {
            Operand::Input(position) => {
                return point.inputs.get(position).cloned().unwrap_or_default();
            }
            Operand::Capture(position) => {
                return format!("%{}", self.signature.arrays.len() + position);
            }
            Operand::Reduced => return point.reduced.clone(),
            Operand::Step(number) => *number,
        };
        let body = self.body;
        let (operands, text) = match body.steps.get(number) {
            Some(Step::Constant { attribute, .. }) => (Vec::new(), format!("arith.constant {attribute}")),
            Some(Step::Index { dimension }) => match point.indices.get(dimension) {
                Some(known) => return known.clone(),
                // A loop of one iteration.
                None => (Vec::new(), "arith.constant 0 : index".to_owned()),
            },
            Some(Step::Apply { name, attributes, operands, operand_elements, element }) => {
                let names: Vec<String> = operands.iter().map(|o| self.payload(o, point)).collect();
                let text = format!(
                    "\"{name}\"({}) {} : ({}) -> {element}",
                    names.join(", "),
                    properties(attributes),
                    operand_elements.join(", ")
                );
                (names, text)
            }
            None => return String::new(),
        };
        let key = (number, operands);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let name = self.lines.value(text);
        self.known.insert(key, name.clone());
        name
    }
}

/// The most elements that a thread accesses at once, and their types.
pub(super) fn vectors(language: Language) -> (i64, &'static [&'static str]) {
    match language {
        // SPIR-V has no longer vectors, and none of bf16.
        Language::SpirV => (4, &["f16", "f32", "f64", "i32", "i64"]),
        Language::Ptx | Language::Amdgcn => (8, &["bf16", "f16", "f32", "f64", "i32", "i64"]),
    }
}

/// The type of so many elements.
pub(super) fn vector(element: &str, width: i64) -> String {
    match width {
        1 => element.to_owned(),
        width => format!("vector<{width}x{element}>"),
    }
}

/// The attribute of an access whose address is a multiple of its size.
pub(super) fn alignment(element: &str, width: i64) -> String {
    let bytes = crate::extents::size::element_bytes(element).unwrap_or(1);
    let bytes = bytes.saturating_mul(width.unsigned_abs());
    format!("{{alignment = {bytes} : i64}}")
}

/// Whether all addresses and numbers of iterations fit into 32 bits.
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
        let strides = own.extents.iter().enumerate().map(|(l, extents)| {
            let factor = own.factor(l);
            factor.saturating_mul(product(&largest, extents))
        });
        strides
            .zip(&largest)
            .fold(1_i64, |all, (stride, extent)| all.saturating_add(stride.saturating_mul(extent - 1)))
    };
    let of = |kind| {
        let own = nest.loops.iter().enumerate().filter(|(_, own)| own.kind == kind);
        product(&largest, &own.map(|(l, _)| l).collect::<Vec<_>>())
    };
    let spans = nest.operands.iter().map(span);
    let offsets = nest.operands.iter().map(|own| own.offset.saturating_abs());
    // Tiles may exceed their loops, and numbers of blocks their product.
    let counts = [of(LoopKind::Parallel), of(LoopKind::Reduction)];
    let mut sizes = spans.chain(offsets).chain(counts);
    sizes.all(|size| size < most)
}
