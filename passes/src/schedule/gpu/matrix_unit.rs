// SPDX-License-Identifier: Apache-2.0
//! Products of a tile by matrix units, such as tensor cores.
//!
//! A warp of 32 threads multiplies 16 rows by 8 columns, with 32 bytes of products for each, and adds the result to f32
//! sums. Thread g · 4 + t of a warp has elements of rows g and g + 8, of column g, and of columns 2t and 2t + 1 of the
//! result, in 32-bit registers (PTX ISA, `mma.m16n8k16` and `mma.m16n8k8`). In shared memory, consecutive products of a
//! row or of a column are contiguous, so that a register is one access. Lines are padded by 16 bytes, so that the
//! threads of a warp access different banks. The tensor-core instruction `ldmatrix` loads several registers of all
//! threads: each thread provides the address of 16 bytes of a line, which four threads receive.
//!
//! Products after the last one are negative zeros, which do not change a sum. For tf32, f32 elements are rounded before
//! they are written to shared memory, or when they are read if they are copied without registers
//! ([`super::direct_copies`]).

use super::super::body::{Body, Operand, Step};
use super::super::targets::gpus::{MatrixTile, MatrixUnitKind, Precision};
use super::code::{self, Name, vector};
use super::tiles::{Copied, TileWriter};
use crate::ir::builder::arith::Reals;
use crate::ir::numbers::Number;
use crate::ir::{ops, types};
use crate::schedule::contraction::{BUFFERS, Contraction};
use crate::schedule::counts::{as_i64, as_usize};
use melior::Context;
use melior::dialect::llvm::r#type::r#struct;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::{Type, TypeLike, Value, ValueLike};
use skript_semantics::RealType;

/// The element format of a matrix unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    F16,
    Bf16,
    Tf32,
}

impl Format {
    /// The format for the inputs of a contraction; `None` if it is not a sum of products, or if a matrix unit may not
    /// compute it.
    pub(super) fn for_contraction(
        contraction: &Contraction,
        body: &Body,
        elements: &[Type],
        precision: Precision,
    ) -> Option<Format> {
        let combine = &body.combine;
        let is_sum = combine.operator.name == ops::arith::ADDF && combine.operator.is_fast("reassoc");
        let [rows, columns] = contraction.sides.each_ref();
        let ([row], [column]) = (rows.inputs.as_slice(), columns.inputs.as_slice()) else {
            return None;
        };
        let factors = factors(body)?;
        let is_product = factors == [*row, *column] || factors == [*column, *row];
        if !is_sum || !is_product || !body.accumulator.is_f32() {
            return None;
        }
        let [one, other] = [elements.get(*row)?, elements.get(*column)?];
        match (types::reals(*one)?, precision) {
            _ if one != other => None,
            (_, Precision::F32) => None,
            (RealType::F16, _) | (RealType::F32, Precision::F16) => Some(Format::F16),
            (RealType::BF16, _) | (RealType::F32, Precision::Bf16) => Some(Format::Bf16),
            (RealType::F32, Precision::Tf32) => Some(Format::Tf32),
            _ => None,
        }
    }

    /// Bytes of an element.
    pub(super) fn bytes(self) -> i64 {
        if self == Format::Tf32 { 4 } else { 2 }
    }

    /// The type of an element in shared memory.
    pub(super) fn element(self, context: &Context) -> Type<'_> {
        match self {
            Format::F16 => Type::float16(context),
            Format::Bf16 => types::int(context, 16),
            Format::Tf32 => types::int(context, 32),
        }
    }

    /// Whether elements of a type are copied bit by bit; f32 elements are rounded when they are read.
    pub(super) fn keeps(self, element: Type) -> bool {
        match self {
            Format::F16 => element.is_f16(),
            Format::Bf16 => element.is_bf16(),
            Format::Tf32 => element.is_f32(),
        }
    }

    /// Products per multiplication.
    fn depth(self) -> i64 {
        32 / self.bytes()
    }

    /// Elements of a register.
    fn packed(self) -> i64 {
        4 / self.bytes()
    }
}

/// The inputs whose f32 product is the value of a payload.
fn factors(body: &Body) -> Option<[usize; 2]> {
    match applied(body, &body.value)? {
        (ops::arith::MULF, [one, other]) => Some([factor(body, one)?, factor(body, other)?]),
        _ => None,
    }
}

/// The name and the operands of a step.
fn applied<'b>(body: &'b Body<'_>, operand: &Operand) -> Option<(&'b str, &'b [Operand])> {
    let Operand::Step(number) = operand else {
        return None;
    };
    match body.steps.get(*number)? {
        Step::Apply { operator, operands, .. } => Some((operator.name.as_str(), operands.as_slice())),
        _ => None,
    }
}

/// The input that an f32 value equals or is extended from. A bf16 input may also be shifted to the upper half.
fn factor(body: &Body, operand: &Operand) -> Option<usize> {
    if let Operand::Input(number) = operand {
        return Some(*number);
    }
    let is_half = |operand: &Operand| match operand {
        Operand::Step(number) => matches!(
            body.steps.get(*number),
            Some(Step::Constant(value)) if IntegerAttribute::try_from(*value).is_ok_and(|own| own.value() == 16)
        ),
        _ => false,
    };
    match applied(body, operand)? {
        (ops::arith::EXTF, [Operand::Input(number)]) => Some(*number),
        (ops::arith::BITCAST, [shifted]) => {
            let (ops::arith::SHLI, [bits, half]) = applied(body, shifted)? else {
                return None;
            };
            let (ops::arith::EXTUI, [bits]) = applied(body, bits)? else {
                return None;
            };
            match applied(body, bits)? {
                (ops::arith::BITCAST, [Operand::Input(number)]) if is_half(half) => Some(*number),
                _ => None,
            }
        }
        _ => None,
    }
}

/// A matrix unit, and the position of the thread in the block.
pub(super) struct Unit<'c, 'a> {
    pub(super) kind: MatrixUnitKind,
    pub(super) format: Format,
    /// Products per step.
    pub(super) step: i64,
    /// Rows and columns per warp.
    pub(super) warp: [i64; 2],
    /// The number of the warp, and the thread's numbers g and t.
    thread: [Number<'c, 'a>; 3],
    /// The first row, column and product of the thread's registers, as indices.
    lines: Option<[Value<'c, 'a>; 3]>,
    /// The address of the line that the thread provides to `ldmatrix`, in elements of a buffer, by side.
    addresses: Option<[Value<'c, 'a>; 2]>,
}

impl<'c, 'a> Unit<'c, 'a> {
    /// A unit for inputs with elements of `bytes` bytes.
    pub(super) fn new(kind: MatrixUnitKind, format: Format, tile: &MatrixTile, bytes: u64) -> Unit<'c, 'a> {
        Unit {
            kind,
            format,
            step: i64::from(tile.depth) / as_i64(bytes),
            warp: tile.warp.map(i64::from),
            thread: [const { Number::Known(0) }; 3],
            lines: None,
            addresses: None,
        }
    }

    /// The rows and columns of a thread's results, relative to the first ones.
    pub(super) fn shifts(&self) -> [Vec<i64>; 2] {
        let [rows, columns] = self.warp;
        let pairs = |count: i64, each: i64, apart: i64| {
            let all = (0..count / each).flat_map(|n| [n * each, n * each + apart]);
            all.collect()
        };
        [pairs(rows, 16, 8), pairs(columns, 8, 1)]
    }

    /// Bytes of shared memory for a tile's buffers, and for the simulation.
    pub(super) fn bytes(&self, tile: &MatrixTile) -> u64 {
        let lines = i64::from(tile.sizes[0] + tile.sizes[1]);
        let copies = lines * (self.step + self.padding()) * self.format.bytes();
        let simulated = match self.kind {
            MatrixUnitKind::Mma => 0,
            MatrixUnitKind::Simulated => tile.threads() / 32 * 24 * self.format.depth() * 4,
        };
        (BUFFERS * copies).unsigned_abs() + simulated.unsigned_abs()
    }

    /// Padding elements between lines in shared memory.
    pub(super) fn padding(&self) -> i64 {
        16 / self.format.bytes()
    }
}

/// The line (row or column) and the product of each register of an operand, relative to the thread's first ones. An
/// operand has 16 rows or 8 columns.
fn registers(format: Format, side: usize) -> Vec<[i64; 2]> {
    let far = format.depth() / 2;
    match side {
        0 => vec![[0, 0], [8, 0], [0, far], [8, far]],
        _ => vec![[0, 0], [0, far]],
    }
}

impl<'c: 'a, 'a> TileWriter<'_, 'c, 'a> {
    /// Computes the numbers of the warp and the thread; returns the thread's first row and column of the result.
    pub(super) fn place_in_warp(&mut self, unit: &mut Unit<'c, 'a>) -> [Number<'c, 'a>; 2] {
        let n = self.n();
        let (warp, lane) = n.split(self.thread, 32);
        let (group, own) = n.split(lane, 4);
        let [_, columns] = self.sizes;
        let (row, column) = n.split(warp, columns / unit.warp[1].max(1));
        let first_row = n.multiply(row, unit.warp[0]);
        let first_column = n.multiply(column, unit.warp[1]);
        let row = n.add(first_row, group);
        let line = n.add(first_column, group);
        let [first, second] = [row, line].map(|number| n.index(number));
        unit.lines = Some([first, second, n.index(n.multiply(own, unit.format.packed()))]);
        unit.thread = [warp, group, own];
        if unit.kind == MatrixUnitKind::Mma {
            let eighth = n.split(lane, 8);
            let firsts = [first_row, first_column];
            unit.addresses = Some([0, 1].map(|side| self.line_address(unit, side, firsts[side], eighth)));
        }
        [row, n.add(first_column, n.multiply(own, 2))]
    }

    /// The address of the line that the thread provides to `ldmatrix`, in elements of a buffer. Its number is given as
    /// a group of eight threads and the position in that group.
    fn line_address(
        &self,
        unit: &Unit<'c, 'a>,
        side: usize,
        first: Number<'c, 'a>,
        (number, own): (Number<'c, 'a>, Number<'c, 'a>),
    ) -> Value<'c, 'a> {
        let n = self.n();
        let count = as_i64(registers(unit.format, side).len());
        let (_, number) = n.split(number, count);
        // Registers n and n + 2 of the left side have the same lines; all registers of the right side have the same lines.
        let (far, low) = match side {
            0 => n.split(number, 2),
            _ => (number, Number::Known(0)),
        };
        let line = n.add(first, n.add(n.multiply(low, 8), own));
        let lines = n.multiply(line, self.step + unit.padding());
        n.index(n.add(lines, n.multiply(far, unit.format.depth() / 2)))
    }

    /// Loads the registers of an operand by `ldmatrix`. `shifts` are its first line and product, relative to the warp's
    /// first ones.
    fn load_matrix(
        &self,
        unit: &Unit<'c, 'a>,
        side: usize,
        buffer: Value<'c, 'a>,
        [line, product]: [i64; 2],
    ) -> Vec<Value<'c, 'a>> {
        let input = self.contraction.sides[side].inputs[0];
        let lines = self.step + unit.padding();
        let first = self.code.first_shared(Name::Copy(input));
        let addresses = unit.addresses;
        let addresses =
            addresses.unwrap_or_else(|| unreachable!("internal compiler error: a unit without a warp"));
        let at = self.code.builder();
        let base = at.aligned_pointer(self.shared[&input]);
        let numbers = [self.sizes[side] * lines, first + line * lines + product, unit.format.bytes()];
        let [size, shift, bytes] = numbers.map(|number| at.idx(number));
        let copy = at.muli(buffer, size);
        let place = at.addi(at.addi(addresses[side], shift), copy);
        let place = at.pointer(base, at.muli(place, bytes), 3);
        let count = registers(unit.format, side).len();
        let word = types::int(at.context, 32);
        let number = as_i64(count);
        let all = at.load_matrices(place, number, r#struct(at.context, &vec![word; count], false));
        let registers = (0..number).map(|n| {
            let word = at.field(all, n, word);
            match unit.format {
                Format::F16 => at.bits_as(word, vector(Type::float16(at.context), 2)),
                Format::Bf16 | Format::Tf32 => word,
            }
        });
        registers.collect()
    }

    /// Copies elements into shared memory in the unit's format. `rest` is the number of remaining products, if the step
    /// has more.
    pub(super) fn fill_matrix(
        &self,
        unit: &Unit<'c, 'a>,
        copied: &Copied<'c, 'a>,
        (all, buffer): (Value<'c, 'a>, Value<'c, 'a>),
        rest: Option<Number<'c, 'a>>,
    ) {
        let n = self.n();
        let mut values = Vec::new();
        for (shift, value) in (0_i64..).zip(code::lanes(&n.at, all, copied.width)) {
            let mut value = if copied.is_direct && unit.format == Format::Tf32 {
                n.at.bitcast(value, types::int(n.at.context, 32))
            } else {
                self.rounded(unit, value)
            };
            if let Some(rest) = rest {
                let shift = if copied.is_along_depth { shift } else { 0 };
                let is_one = n.is_below(n.add(copied.product, shift), rest);
                let kind = unit.format.element(n.at.context);
                // Zeros on the left times negative zeros on the right are negative zeros.
                let none = match (unit.format, copied.side) {
                    (Format::F16, 0) => n.at.real(0.0, kind),
                    (Format::F16, _) => n.at.real(-0.0, kind),
                    (_, 0) => n.at.int(0, kind),
                    (Format::Bf16, _) => n.at.int(i16::MIN.into(), kind),
                    (Format::Tf32, _) => n.at.int(i32::MIN.into(), kind),
                };
                value = n.at.select(is_one, value, none);
            }
            values.push(value);
        }
        let array = self.shared[&copied.input];
        if copied.is_along_depth && copied.width > 1 {
            let place = [buffer, n.index(copied.line), n.index(copied.product)];
            return code::store(&n.at, &values, array, &place);
        }
        for (shift, value) in (0_i64..).zip(values) {
            let line = n.index(n.add(copied.line, shift));
            n.at.store(value, array, &[buffer, line, n.index(copied.product)]);
        }
    }

    /// Converts an element to the unit's format.
    fn rounded(&self, unit: &Unit<'c, 'a>, value: Value<'c, 'a>) -> Value<'c, 'a> {
        let at = self.code.builder();
        let narrowed = |kind: Type<'c>| {
            if value.r#type() == kind { value } else { at.convert(ops::arith::TRUNCF, value, kind) }
        };
        match (unit.format, unit.kind) {
            (Format::Tf32, MatrixUnitKind::Mma) => at.round_to_tf32(value),
            (Format::Tf32, MatrixUnitKind::Simulated) => {
                // Rounds to nearest, ties away from zero. NaN is unchanged.
                let word = types::int(at.context, 32);
                let bits = at.bitcast(value, word);
                let (half, mask) = (at.int(4096, word), at.int(-8192, word));
                let sum = at.andi(at.addi(bits, half), mask);
                at.select(at.cmpf(Reals::Unordered, value, value), bits, sum)
            }
            (Format::F16, _) => narrowed(Type::float16(at.context)),
            (Format::Bf16, _) => at.bitcast(narrowed(Type::bfloat16(at.context)), types::int(at.context, 16)),
        }
    }

    /// Adds the products of a step to the sums.
    pub(super) fn multiply(
        &mut self,
        unit: &Unit<'c, 'a>,
        buffer: Value<'c, 'a>,
        sums: &[Value<'c, 'a>],
    ) -> Vec<Value<'c, 'a>> {
        let mut sums = sums.to_vec();
        let [rows, columns] = unit.warp;
        let [down, across] = [rows / 16, columns / 8];
        let depth = unit.format.depth();
        for first in (0..self.step / depth).map(|n| n * depth) {
            let operand = |side: usize, line: i64| -> Vec<Value<'c, 'a>> {
                let values = match unit.kind {
                    MatrixUnitKind::Mma => self.load_matrix(unit, side, buffer, [line, first]),
                    MatrixUnitKind::Simulated => {
                        let all = registers(unit.format, side).into_iter();
                        all.map(|[shift, product]| {
                            self.register(unit, side, buffer, [line + shift, first + product])
                        })
                        .collect()
                    }
                };
                // Elements that were copied without registers are not rounded yet.
                if unit.format != Format::Tf32 || !self.is_side_direct(side) {
                    return values;
                }
                let at = self.code.builder();
                let real = Type::float32(at.context);
                values.into_iter().map(|word| self.rounded(unit, at.bitcast(word, real))).collect()
            };
            let left: Vec<Vec<Value>> = (0..down).map(|n| operand(0, n * 16)).collect();
            let right: Vec<Vec<Value>> = (0..across).map(|n| operand(1, n * 8)).collect();
            for (n, a) in left.iter().enumerate() {
                for (m, b) in right.iter().enumerate() {
                    let width = right.len() * 2;
                    let first = n * 2 * width + m * 2;
                    let places = [first, first + 1, first + width, first + width + 1];
                    let accumulators = places.map(|place| sums[place]);
                    let made = match unit.kind {
                        MatrixUnitKind::Mma => self.mma(unit.format, a, b, accumulators),
                        MatrixUnitKind::Simulated => self.simulated(unit, a, b, accumulators),
                    };
                    for (place, value) in places.into_iter().zip(made) {
                        sums[place] = value;
                    }
                }
            }
        }
        sums
    }

    /// Loads a register: consecutive products of a line, both relative to the thread's first ones.
    fn register(
        &self,
        unit: &Unit<'c, 'a>,
        side: usize,
        buffer: Value<'c, 'a>,
        shifts: [i64; 2],
    ) -> Value<'c, 'a> {
        let at = self.code.builder();
        let array = self.shared[&self.contraction.sides[side].inputs[0]];
        let lines = unit.lines;
        let lines = lines.unwrap_or_else(|| unreachable!("internal compiler error: a unit without a warp"));
        let [line, product] = [(lines[side], shifts[0]), (lines[2], shifts[1])]
            .map(|(first, shift)| at.addi(first, at.idx(shift)));
        let element = unit.format.element(at.context);
        code::load(&at, array, &[buffer, line, product], element, unit.format.packed())
    }

    /// Emits a tensor-core multiplication.
    fn mma(
        &self,
        format: Format,
        a: &[Value<'c, 'a>],
        b: &[Value<'c, 'a>],
        c: [Value<'c, 'a>; 4],
    ) -> Vec<Value<'c, 'a>> {
        let at = self.code.builder();
        let factors = match format {
            Format::F16 => "f16",
            Format::Bf16 => "bf16",
            Format::Tf32 => "tf32",
        };
        let real = Type::float32(at.context);
        let result = r#struct(at.context, &[real; 4], false);
        let made = at.multiply_matrices([a, b, &c], format.depth(), factors, result);
        (0..4).map(|n| at.field(made, n, real)).collect()
    }

    /// Widens an element of a register to f32.
    fn widened(&self, format: Format, value: Value<'c, 'a>) -> Value<'c, 'a> {
        let at = self.code.builder();
        let real = Type::float32(at.context);
        let bits = match format {
            Format::F16 => return at.convert(ops::arith::EXTF, value, real),
            Format::Bf16 => {
                let word = types::int(at.context, 32);
                let half = at.int(16, word);
                at.shli(at.convert(ops::arith::EXTUI, value, word), half)
            }
            Format::Tf32 => value,
        };
        at.bitcast(bits, real)
    }

    /// Simulates the multiplication: the threads of the warp store the elements of their registers to the positions
    /// that the instruction defines.
    fn simulated(
        &mut self,
        unit: &Unit<'c, 'a>,
        a: &[Value<'c, 'a>],
        b: &[Value<'c, 'a>],
        c: [Value<'c, 'a>; 4],
    ) -> Vec<Value<'c, 'a>> {
        let (format, depth) = (unit.format, unit.format.depth());
        let n = self.n();
        let [warp, group, own] = unit.thread;
        let warp = n.index(warp);
        let real = Type::float32(n.at.context);
        let arrays = [16, 8].map(|lines| [self.threads / 32, lines, depth]);
        let arrays = [0, 1].map(|side| self.code.share(Name::Factors(side), &arrays[side], real));
        for (side, registers) in [a, b].into_iter().enumerate() {
            let packed = as_usize(format.packed());
            for (number, register) in registers.iter().enumerate() {
                for (lane, value) in code::lanes(&n.at, *register, format.packed()).into_iter().enumerate() {
                    let value = self.widened(format, value);
                    let [is_low, is_far, next] = instruction(side, number * packed + lane, packed);
                    let line = n.add(group, is_low * 8);
                    let product = n.add(n.multiply(own, format.packed()), is_far * depth / 2 + next);
                    let place = [warp, n.index(line), n.index(product)];
                    n.at.store(value, arrays[side], &place);
                }
            }
        }
        n.at.barrier();
        let bounds = [0, depth, 1].map(|number| n.at.idx(number));
        let made = self.carrying(bounds, &c, None, |writer, product, sums| {
            let n = writer.n();
            let sums = (0_i64..).zip(sums).map(|(number, sum)| {
                let row = n.add(group, number / 2 * 8);
                let column = n.add(n.multiply(own, 2), number % 2);
                let lines = [n.index(row), n.index(column)];
                let factors = [0, 1].map(|side| n.at.load(arrays[side], &[warp, lines[side], product]));
                n.at.addf(*sum, n.at.mulf(factors[0], factors[1]))
            });
            sums.collect()
        });
        n.at.barrier();
        made
    }
}

/// The position of element `n` of a thread's registers of the left matrix (side 0) or the right matrix, from the PTX
/// ISA: whether its row is g + 8, whether its product is in the second half, and its position in the register.
fn instruction(side: usize, n: usize, packed: usize) -> [i64; 3] {
    let flags = |is_low: bool, is_far: bool, next: usize| {
        [i64::from(is_low), i64::from(is_far), i64::from(next == 1)]
    };
    match (side, packed) {
        // a0 to a7: rows g for a0, a1, a4, a5; products 2t and 2t + 1, plus 8 from a4 on.
        (0, 2) => flags(!(n < 2 || (4..6).contains(&n)), n >= 4, n & 1),
        // a0 to a3: rows g for a0 and a2; products t, plus 4 from a2 on.
        (0, _) => flags(n == 1 || n == 3, n >= 2, 0),
        // b0 to b3: products 2t and 2t + 1, plus 8 from b2 on.
        (_, 2) => flags(false, n >= 2, n & 1),
        // b0 and b1: products t and t + 4.
        _ => flags(false, n >= 1, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMATS: [Format; 3] = [Format::F16, Format::Bf16, Format::Tf32];

    /// Every element of the registers of all threads, with its line and product, by side.
    fn held(format: Format, side: usize) -> Vec<[i64; 2]> {
        let mut elements = Vec::new();
        for lane in 0..32 {
            let (group, own) = (lane / 4, lane % 4);
            for [line, product] in registers(format, side) {
                for next in 0..format.packed() {
                    elements.push([group + line, own * format.packed() + product + next]);
                }
            }
        }
        elements
    }

    #[test]
    fn registers_of_a_warp_hold_each_element_once() {
        for format in FORMATS {
            for (side, lines) in [(0, 16), (1, 8)] {
                let mut elements = held(format, side);
                elements.sort_unstable();
                let all = (0..lines).flat_map(|l| (0..format.depth()).map(move |k| [l, k]));
                assert_eq!(elements, all.collect::<Vec<_>>(), "{format:?}, side {side}");
            }
        }
    }

    #[test]
    fn registers_are_those_of_the_instruction() {
        for format in FORMATS {
            let packed = as_usize(format.packed());
            for side in 0..2 {
                let count = registers(format, side).len() * packed;
                let mut expected = Vec::new();
                for lane in 0..32 {
                    for n in 0..count {
                        let [is_low, is_far, next] = instruction(side, n, packed);
                        let product = lane % 4 * format.packed() + next;
                        let far = is_far * format.depth() / 2;
                        expected.push([lane / 4 + is_low * 8, product + far]);
                    }
                }
                assert_eq!(held(format, side), expected, "{format:?}, side {side}");
            }
        }
    }

    /// The line and the product whose address thread `lane` provides: [`TileWriter::line_address`] on numbers.
    fn addressed(format: Format, side: usize, lane: i64) -> [i64; 2] {
        let count = as_i64(registers(format, side).len());
        let number = lane / 8 % count;
        let (far, low) = match side {
            0 => (number / 2, number % 2),
            _ => (number, 0),
        };
        [low * 8 + lane % 8, far * format.depth() / 2]
    }

    #[test]
    fn lines_that_threads_address_hold_their_registers() {
        for format in FORMATS {
            for side in 0..2 {
                for (n, [line, product]) in (0..).zip(registers(format, side)) {
                    for lane in 0..32 {
                        // Four threads receive the 16 bytes of a line.
                        let [row, first] = addressed(format, side, n * 8 + lane / 4);
                        let expected = [line + lane / 4, product + lane % 4 * format.packed()];
                        assert_eq!([row, first + lane % 4 * format.packed()], expected);
                    }
                }
            }
        }
    }

    #[test]
    fn threads_have_every_result_of_a_warp_once() {
        let tile = MatrixTile { sizes: [64, 64], depth: 64, warp: [32, 16], resident: 0 };
        let unit = Unit::new(MatrixUnitKind::Mma, Format::F16, &tile, 2);
        let [rows, columns] = unit.shifts();
        let mut elements = Vec::new();
        for lane in 0..32 {
            for row in &rows {
                for column in &columns {
                    elements.push([lane / 4 + row, lane % 4 * 2 + column]);
                }
            }
        }
        elements.sort_unstable();
        let all = (0..32).flat_map(|row| (0..16).map(move |column| [row, column]));
        assert_eq!(elements, all.collect::<Vec<_>>());
    }
}
