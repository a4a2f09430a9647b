// SPDX-License-Identifier: Apache-2.0
//! Writes the code of a thread as text: index arithmetic with constants folded, elements of arrays, the payload of a reduction.

use super::super::body::{Body, Operand, Step};
use super::super::kernel::properties;
use super::super::nest::Nest;
use super::super::signature::Signature;
use super::outline::MOST_BLOCKS;
use crate::ir::ops;
use crate::ir::splice::Lines;
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
const SHARED: &str = "#gpu.address_space<workgroup>";

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

/// The code of a reduction's thread.
pub(super) struct Code<'r> {
    pub(super) lines: Lines,
    pub(super) nest: &'r Nest,
    pub(super) body: &'r Body,
    pub(super) signature: &'r Signature,
    /// The type of index arithmetic: 32 bits where all addresses fit.
    pub(super) kind: &'static str,
    /// Names and types of the arrays that the threads of a block share.
    shared: Vec<(String, String)>,
    /// Steps of the payload that this region computed already, by their operands.
    known: HashMap<(usize, Vec<String>), String>,
}

impl<'r> Code<'r> {
    pub(super) fn new(nest: &'r Nest, body: &'r Body, signature: &'r Signature) -> Self {
        let most = i64::from(i32::MAX) / 2;
        let spans = (0..nest.operands.len()).map(|n| nest.span(n));
        let offsets = nest.operands.iter().map(|own| own.offset.saturating_abs());
        // Tiles may exceed their loops, and numbers of blocks their product.
        let outputs = nest.volume() / nest.reduced().max(1);
        let mut sizes = spans.chain(offsets).chain([outputs, nest.reduced()]);
        let fits = sizes.all(|size| size < most);
        Code {
            lines: Lines::default(),
            nest,
            body,
            signature,
            kind: if fits { "i32" } else { "i64" },
            shared: Vec::new(),
            known: HashMap::new(),
        }
    }

    /// The code of blocks of threads: `gpu.launch`. Block b of B computes tiles b, b + B, b + 2B, …, each as the lines say for `%block`.
    pub(super) fn launch(&self, tiles: i64, threads: i64) -> String {
        let shared: Vec<String> = self
            .shared
            .iter()
            .map(|(a, b)| format!("{a} : {b}"))
            .collect();
        format!(
            "%none = arith.constant 0 : index\n%tiles = arith.constant {tiles} : index\n%one = arith.constant 1 : index\n\
             %blocks = arith.constant {} : index\n%threads = arith.constant {threads} : index\n\
             gpu.launch blocks(%bx, %by, %bz) in (%gx = %blocks, %gy = %one, %gz = %one) \
             threads(%thread, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) workgroup({}) {{\n\
             scf.for %block = %bx to %tiles step %gx {{\n{}}}\ngpu.terminator\n}}",
            tiles.clamp(1, MOST_BLOCKS),
            shared.join(", "),
            self.lines.text()
        )
    }

    /// An array of this shape, as MLIR writes it, that the threads of a block share; returns its type.
    pub(super) fn share(&mut self, name: &str, shape: &str, element: &str) -> String {
        let kind = format!("memref<{shape}x{element}, {SHARED}>");
        self.shared.push((name.to_owned(), kind.clone()));
        kind
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

    pub(super) fn times(&mut self, a: &Number, factor: i64) -> Number {
        match (a, factor) {
            (Number::Known(a), _) => Number::Known(a * factor),
            (_, 0) => Number::Known(0),
            (_, 1) => a.clone(),
            _ => self.binary(ops::arith::MULI, a, &Number::Known(factor)),
        }
    }

    /// The quotient and the remainder of a number that is not negative.
    pub(super) fn split(&mut self, a: &Number, by: i64) -> (Number, Number) {
        match a {
            _ if by <= 1 => (a.clone(), Number::Known(0)),
            Number::Known(a) => (Number::Known(a / by), Number::Known(a % by)),
            Number::Value(_) => {
                let by = Number::Known(by);
                let quotient = self.binary(ops::arith::DIVUI, a, &by);
                (quotient, self.binary(ops::arith::REMUI, a, &by))
            }
        }
    }

    /// A number, at most the last iteration of this many.
    pub(super) fn clamped(&mut self, a: &Number, count: i64) -> Number {
        match a {
            Number::Known(a) => Number::Known(*a.min(&(count - 1))),
            Number::Value(_) => self.binary(ops::arith::MINUI, a, &Number::Known(count - 1)),
        }
    }

    /// Whether a number is less than a count, as a bool.
    pub(super) fn is_below(&mut self, a: &Number, count: i64) -> String {
        let (a, count) = (self.name(a), self.name(&Number::Known(count)));
        let kind = self.kind;
        self.lines
            .value(format!("arith.cmpi ult, {a}, {count} : {kind}"))
    }

    /// A number as an index.
    pub(super) fn index(&mut self, a: &Number) -> String {
        match a {
            Number::Known(value) => self.lines.value(format!("arith.constant {value} : index")),
            Number::Value(name) => {
                let kind = self.kind;
                self.lines
                    .value(format!("arith.index_cast {name} : {kind} to index"))
            }
        }
    }

    /// An index as a number.
    pub(super) fn number(&mut self, index: &str) -> Number {
        let kind = self.kind;
        let value = self
            .lines
            .value(format!("arith.index_cast {index} : index to {kind}"));
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
            let extent = self.nest.loops.get(*l).map_or(1, |own| own.extent);
            if position == 0 {
                found.push((*l, rest.clone()));
            } else {
                let (quotient, own) = self.split(&rest, extent);
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
            let own = self.nest.operands.get(operand);
            let stride = own.and_then(|own| own.strides.get(*l)).copied();
            let part = self.times(iteration, stride.unwrap_or(0));
            sum = self.add(&sum, &part);
        }
        sum
    }

    /// The address of an operand's first element.
    pub(super) fn offset(&self, operand: usize) -> Number {
        Number::Known(self.nest.operands.get(operand).map_or(0, |own| own.offset))
    }

    /// The number of iterations of some loops.
    pub(super) fn count(&self, loops: &[usize]) -> i64 {
        let extents = loops.iter().filter_map(|l| self.nest.loops.get(*l));
        extents.fold(1, |all, own| all.saturating_mul(own.extent))
    }

    /// Defines the flat view of each array, `%l0`, `%l1`, ….
    pub(super) fn views(&mut self) {
        for (position, kind) in self.signature.arrays.iter().enumerate() {
            let view = self
                .signature
                .view(position, &format!("%{position}"), kind, "");
            self.lines.line(format!("%l{position} = {view}"));
        }
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
        self.lines
            .value(format!("memref.load %l{operand}[{address}] : {array}"))
    }

    /// Writes an element of an operand.
    pub(super) fn store(&mut self, value: &str, operand: usize, address: &Number) {
        let address = self.index(address);
        let array = self.signature.flat(operand);
        self.lines.line(format!(
            "memref.store {value}, %l{operand}[{address}] : {array}"
        ));
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
            Some(Step::Constant { attribute, .. }) => {
                (Vec::new(), format!("arith.constant {attribute}"))
            }
            Some(Step::Index { dimension }) => match point.indices.get(dimension) {
                Some(known) => return known.clone(),
                // A loop of one iteration.
                None => (Vec::new(), "arith.constant 0 : index".to_owned()),
            },
            Some(Step::Apply {
                name,
                attributes,
                operands,
                operand_elements,
                element,
            }) => {
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
