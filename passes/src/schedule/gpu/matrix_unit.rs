// SPDX-License-Identifier: Apache-2.0
//! Products of a tile by units that multiply small matrices, such as tensor cores.
//!
//! A warp of 32 threads multiplies 16 rows by 8 columns, of 32 bytes of products each, and adds the result to sums in f32. Thread g · 4 + t
//! of a warp holds elements of rows g and g + 8, of column g, and of columns 2t and 2t + 1 of the result, in registers of 32 bits
//! (PTX ISA, `mma.m16n8k16` and `mma.m16n8k8`). In shared memory consecutive products of a row, or of a column, are consecutive, so that a
//! register is one access; lines are apart by 16 bytes, so that the threads of a warp access other banks. Tensor cores have an instruction
//! for several registers of all threads, `ldmatrix`: each thread gives the address of 16 bytes of a line, which four threads get.
//!
//! Products after the last one are negative zeros: they change no sum. Elements of f32 for tf32 are rounded before they are written there, or, where
//! they are copied without registers ([`super::direct_copies`]), when they are read.

use super::super::body::{Body, Operand, Step};
use super::super::targets::gpus::{MatrixTile, MatrixUnitKind, Precision};
use super::code::{Number, alignment, vector};
use super::contraction::Contraction;
use super::tiles::{BUFFERS, Copied, TileWriter};
use crate::ir::ops;

/// The elements that a unit multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    F16,
    Bf16,
    Tf32,
}

impl Format {
    /// The format for the inputs of a contraction; `None` if it is no sum of products, or if it may not be computed by a unit.
    pub(super) fn of(
        contraction: &Contraction,
        body: &Body,
        elements: &[String],
        precision: Precision,
    ) -> Option<Format> {
        let combine = &body.combine;
        let is_sum = combine.name == ops::arith::ADDF && combine.attributes.contains("reassoc");
        let [rows, columns] = contraction.sides.each_ref();
        let ([row], [column]) = (rows.inputs.as_slice(), columns.inputs.as_slice()) else {
            return None;
        };
        let factors = factors(body)?;
        let is_product = factors == [*row, *column] || factors == [*column, *row];
        if !is_sum || !is_product || body.accumulator != "f32" {
            return None;
        }
        let [one, other] = [elements.get(*row)?, elements.get(*column)?];
        match (one.as_str(), precision) {
            _ if one != other => None,
            (_, Precision::F32) => None,
            ("f16", _) | ("f32", Precision::F16) => Some(Format::F16),
            ("bf16", _) | ("f32", Precision::Bf16) => Some(Format::Bf16),
            ("f32", Precision::Tf32) => Some(Format::Tf32),
            _ => None,
        }
    }

    /// Bytes of an element.
    pub(super) fn bytes(self) -> i64 {
        if self == Format::Tf32 { 4 } else { 2 }
    }

    /// The type of an element in shared memory.
    pub(super) fn element(self) -> &'static str {
        match self {
            Format::F16 => "f16",
            Format::Bf16 => "i16",
            Format::Tf32 => "i32",
        }
    }

    /// Whether a copy of elements of a type has their bits; those of f32 are rounded when they are read.
    pub(super) fn keeps(self, element: &str) -> bool {
        matches!((self, element), (Format::F16, "f16") | (Format::Bf16, "bf16") | (Format::Tf32, "f32"))
    }

    /// Products of one multiplication.
    fn depth(self) -> i64 {
        32 / self.bytes()
    }

    /// Elements of a register.
    fn packed(self) -> i64 {
        4 / self.bytes()
    }
}

/// The inputs whose product, in f32, is the value of a payload.
fn factors(body: &Body) -> Option<[usize; 2]> {
    match applied(body, &body.value)? {
        (ops::arith::MULF, [one, other]) => Some([factor(body, one)?, factor(body, other)?]),
        _ => None,
    }
}

/// The name and the operands of a step.
fn applied<'b>(body: &'b Body, operand: &Operand) -> Option<(&'b str, &'b [Operand])> {
    let Operand::Step(number) = operand else {
        return None;
    };
    match body.steps.get(*number)? {
        Step::Apply { name, operands, .. } => Some((name.as_str(), operands.as_slice())),
        _ => None,
    }
}

/// The input that a value in f32 is, or is extended from: one in bf16 is the upper half.
fn factor(body: &Body, operand: &Operand) -> Option<usize> {
    if let Operand::Input(number) = operand {
        return Some(*number);
    }
    let is_half = |operand: &Operand| match operand {
        Operand::Step(number) => matches!(
            body.steps.get(*number),
            Some(Step::Constant { attribute, .. }) if attribute == "16 : i32"
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

/// A unit, and the thread's part of a warp.
pub(super) struct Unit {
    pub(super) kind: MatrixUnitKind,
    pub(super) format: Format,
    /// Products of a step.
    pub(super) step: i64,
    /// Rows and columns of a warp.
    pub(super) warp: [i64; 2],
    /// The number of the warp, and the numbers g and t of the thread.
    pub(super) thread: [Number; 3],
    /// The first row and the first column that the thread's registers have, and the first product, as indices.
    lines: [String; 2],
    product: String,
    /// The address of the line whose bytes `ldmatrix` gets of the thread, in elements of a copy, by side.
    addresses: [String; 2],
}

impl Unit {
    /// A unit for inputs whose elements have so many bytes.
    pub(super) fn new(kind: MatrixUnitKind, format: Format, tile: &MatrixTile, bytes: u64) -> Unit {
        Unit {
            kind,
            format,
            step: i64::from(tile.depth) / i64::try_from(bytes).unwrap_or(1).max(1),
            warp: tile.warp.map(i64::from),
            thread: [const { Number::Known(0) }; 3],
            lines: [String::new(), String::new()],
            product: String::new(),
            addresses: [String::new(), String::new()],
        }
    }

    /// The rows, and the columns, of a thread's results, from its first ones on.
    pub(super) fn shifts(&self) -> [Vec<i64>; 2] {
        let [rows, columns] = self.warp;
        let pairs = |count: i64, each: i64, apart: i64| {
            let all = (0..count / each).flat_map(|n| [n * each, n * each + apart]);
            all.collect()
        };
        [pairs(rows, 16, 8), pairs(columns, 8, 1)]
    }

    /// Bytes of shared memory of a tile's copies, and of what a simulation needs.
    pub(super) fn bytes(&self, tile: &MatrixTile) -> u64 {
        let lines = i64::from(tile.sizes[0] + tile.sizes[1]);
        let copies = lines * (self.step + self.padding()) * self.format.bytes();
        let simulated = match self.kind {
            MatrixUnitKind::Mma => 0,
            MatrixUnitKind::Simulated => tile.threads() / 32 * 24 * self.format.depth() * 4,
        };
        BUFFERS * copies.unsigned_abs() + simulated.unsigned_abs()
    }

    /// Elements between the lines of shared memory.
    pub(super) fn padding(&self) -> i64 {
        16 / self.format.bytes()
    }
}

/// The row or column, from the first of a thread on, and the product, from its first one on, of each register of an operand: 16 rows, or 8 columns.
fn registers(format: Format, side: usize) -> Vec<[i64; 2]> {
    let far = format.depth() / 2;
    match side {
        0 => vec![[0, 0], [8, 0], [0, far], [8, far]],
        _ => vec![[0, 0], [0, far]],
    }
}

/// Values of a list at positions.
fn at<const N: usize>(list: &[String], positions: [usize; N]) -> [String; N] {
    positions.map(|n| list.get(n).cloned().unwrap_or_default())
}

impl TileWriter<'_> {
    /// Numbers the warp and the thread; returns the thread's first row and column of the result.
    pub(super) fn place_in_warp(&mut self, unit: &mut Unit) -> [Number; 2] {
        let thread = self.thread.clone();
        let (warp, lane) = self.code.split(&thread, &Number::Known(32));
        let (group, own) = self.code.split(&lane, &Number::Known(4));
        let [_, columns] = self.sizes;
        let across = Number::Known(columns / unit.warp[1].max(1));
        let (row, column) = self.code.split(&warp, &across);
        let first_row = self.code.times(&row, unit.warp[0]);
        let first_column = self.code.times(&column, unit.warp[1]);
        let row = self.code.add(&first_row, &group);
        let line = self.code.add(&first_column, &group);
        unit.lines = [self.code.index(&row), self.code.index(&line)];
        let product = self.code.times(&own, unit.format.packed());
        unit.product = self.code.index(&product);
        unit.thread = [warp, group.clone(), own.clone()];
        if unit.kind == MatrixUnitKind::Mma {
            let eighth = self.code.split(&lane, &Number::Known(8));
            unit.addresses = [
                self.line_address(unit, 0, &first_row, &eighth),
                self.line_address(unit, 1, &first_column, &eighth),
            ];
        }
        let shift = self.code.times(&own, 2);
        [row, self.code.add(&first_column, &shift)]
    }

    /// The address of the line that the thread gives to `ldmatrix`, in elements of a copy. The thread is the second number of the first
    /// one's group of eight.
    fn line_address(
        &mut self,
        unit: &Unit,
        side: usize,
        first: &Number,
        (number, own): &(Number, Number),
    ) -> String {
        let count = i64::try_from(registers(unit.format, side).len()).unwrap_or(1);
        let (_, number) = self.code.split(number, &Number::Known(count));
        // Registers n and n + 2 of the left side have the same lines, those of the right side are of one line.
        let (far, low) = match side {
            0 => self.code.split(&number, &Number::Known(2)),
            _ => (number, Number::Known(0)),
        };
        let line = self.code.times(&low, 8);
        let line = self.code.add(&line, own);
        let line = self.code.add(first, &line);
        let lines = self.code.times(&line, self.step + unit.padding());
        let product = self.code.times(&far, unit.format.depth() / 2);
        let address = self.code.add(&lines, &product);
        self.code.index(&address)
    }

    /// The registers of an operand by `ldmatrix`: those whose first line and first product are given, from the first ones of a warp on.
    fn load_matrix(
        &mut self,
        unit: &Unit,
        side: usize,
        buffer: &str,
        [line, product]: [i64; 2],
    ) -> Vec<String> {
        let input = self.contraction.sides.get(side);
        let input = input.and_then(|side| side.inputs.first()).copied();
        let input = input.unwrap_or(0);
        let name = format!("%s{input}");
        let first = self.code.first_shared(&name);
        let kind = self.shared.get(&input).cloned().unwrap_or_default();
        let lines = self.step + unit.padding();
        let size = self.sizes.get(side).copied().unwrap_or(1) * lines;
        let shift = first + line * lines + product;
        let own = unit.addresses.get(side).cloned().unwrap_or_default();
        let (format, code) = (unit.format, &mut self.code.lines);
        let base = code.value(format!("memref.extract_aligned_pointer_as_index {name} : {kind} -> index"));
        let size = code.value(format!("arith.constant {size} : index"));
        let shift = code.value(format!("arith.constant {shift} : index"));
        let bytes = code.value(format!("arith.constant {} : index", format.bytes()));
        let copy = code.value(format!("arith.muli {buffer}, {size} : index"));
        let place = code.value(format!("arith.addi {own}, {shift} : index"));
        let place = code.value(format!("arith.addi {place}, {copy} : index"));
        let place = code.value(format!("arith.muli {place}, {bytes} : index"));
        let place = code.value(format!("arith.addi {base}, {place} : index"));
        let place = code.value(format!("arith.index_cast {place} : index to i64"));
        let place = code.value(format!("llvm.inttoptr {place} : i64 to !llvm.ptr<3>"));
        let count = registers(format, side).len();
        let words = vec!["i32"; count].join(", ");
        let result = format!("!llvm.struct<({words})>");
        let all = code.value(format!(
            "nvvm.ldmatrix {place} {{num = {count} : i32, layout = #nvvm.mma_layout<row>, \
             shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>}} \
             : (!llvm.ptr<3>) -> {result}"
        ));
        let mut found = Vec::new();
        for n in 0..count {
            let word = code.value(format!("llvm.extractvalue {all}[{n}] : {result}"));
            found.push(match format {
                Format::F16 => code.value(format!("llvm.bitcast {word} : i32 to vector<2xf16>")),
                Format::Bf16 | Format::Tf32 => word,
            });
        }
        found
    }

    /// Copies elements into shared memory, as the unit multiplies them. `rest` are the products that there are, if the step has more.
    pub(super) fn fill_matrix(
        &mut self,
        unit: &Unit,
        copied: &Copied,
        (all, buffer): (&str, &str),
        rest: Option<&Number>,
    ) {
        let element = self.code.element(copied.input);
        let lanes = self.code.lanes(all, element, copied.width);
        let mut values = Vec::new();
        for (shift, value) in (0..).zip(lanes) {
            let mut value = if copied.is_direct && unit.format == Format::Tf32 {
                let bits = format!("arith.bitcast {value} : f32 to i32");
                self.code.lines.value(bits)
            } else {
                self.rounded(unit, &value, element)
            };
            if let Some(rest) = rest {
                let shift = if copied.is_along_depth { shift } else { 0 };
                let product = self.code.add(&copied.product, &Number::Known(shift));
                let is_one = self.code.is_below(&product, rest);
                let kind = unit.format.element();
                // Zeros of the left side, negative ones of the right side.
                let none = match (unit.format, copied.side) {
                    (Format::F16, 0) => "0.0",
                    (Format::F16, _) => "-0.0",
                    (_, 0) => "0",
                    (Format::Bf16, _) => "-32768",
                    (Format::Tf32, _) => "-2147483648",
                };
                let none = self.code.lines.value(format!("arith.constant {none} : {kind}"));
                let select = format!("arith.select {is_one}, {value}, {none} : {kind}");
                value = self.code.lines.value(select);
            }
            values.push(value);
        }
        let kind = self.shared.get(&copied.input).cloned().unwrap_or_default();
        let (input, own) = (copied.input, unit.format.element());
        if copied.is_along_depth && copied.width > 1 {
            let line = self.code.index(&copied.line);
            let product = self.code.index(&copied.product);
            let alignment = alignment(own, copied.width);
            let own = vector(own, copied.width);
            let all = format!("vector.from_elements {} : {own}", values.join(", "));
            let all = self.code.lines.value(all);
            self.code.lines.line(format!(
                "vector.store {all}, %s{input}[{buffer}, {line}, {product}] {alignment} : {kind}, {own}"
            ));
            return;
        }
        for (shift, value) in (0..).zip(values) {
            let line = self.code.add(&copied.line, &Number::Known(shift));
            let line = self.code.index(&line);
            let product = self.code.index(&copied.product);
            self.code
                .lines
                .line(format!("memref.store {value}, %s{input}[{buffer}, {line}, {product}] : {kind}"));
        }
    }

    /// An element as the unit multiplies it.
    fn rounded(&mut self, unit: &Unit, value: &str, element: &str) -> String {
        let lines = &mut self.code.lines;
        match (unit.format, unit.kind) {
            (Format::Tf32, MatrixUnitKind::Mma) => {
                lines.value(format!("nvvm.convert.float.to.tf32 {value} {{rnd = #nvvm.fp_rnd_mode<rna>}}"))
            }
            (Format::Tf32, MatrixUnitKind::Simulated) => {
                // To the nearest, ties away from zero; a NaN as it is.
                let bits = lines.value(format!("arith.bitcast {value} : f32 to i32"));
                let half = lines.value("arith.constant 4096 : i32");
                let mask = lines.value("arith.constant -8192 : i32");
                let sum = lines.value(format!("arith.addi {bits}, {half} : i32"));
                let sum = lines.value(format!("arith.andi {sum}, {mask} : i32"));
                let is_nan = lines.value(format!("arith.cmpf uno, {value}, {value} : f32"));
                lines.value(format!("arith.select {is_nan}, {bits}, {sum} : i32"))
            }
            (Format::F16, _) if element == "f16" => value.to_owned(),
            (Format::F16, _) => lines.value(format!("arith.truncf {value} : f32 to f16")),
            (Format::Bf16, _) => {
                let half = match element {
                    "bf16" => value.to_owned(),
                    _ => lines.value(format!("arith.truncf {value} : f32 to bf16")),
                };
                lines.value(format!("arith.bitcast {half} : bf16 to i16"))
            }
        }
    }

    /// Adds the products of a step to the sums.
    pub(super) fn multiply(&mut self, unit: &Unit, buffer: &str, sums: &[String]) -> Vec<String> {
        let mut sums = sums.to_vec();
        let [rows, columns] = unit.warp;
        let [down, across] = [rows / 16, columns / 8];
        let depth = unit.format.depth();
        for first in (0..self.step / depth).map(|n| n * depth) {
            let operand = |writer: &mut Self, side: usize, line: i64| -> Vec<String> {
                let found = match unit.kind {
                    MatrixUnitKind::Mma => writer.load_matrix(unit, side, buffer, [line, first]),
                    MatrixUnitKind::Simulated => {
                        let all = registers(unit.format, side).into_iter();
                        all.map(|[shift, product]| {
                            writer.register(unit, side, buffer, [line + shift, first + product])
                        })
                        .collect()
                    }
                };
                // What was copied without registers was not rounded.
                let rounds = unit.format == Format::Tf32 && writer.is_side_direct(side);
                let round = |word: String| {
                    if rounds {
                        let value = format!("arith.bitcast {word} : i32 to f32");
                        let value = writer.code.lines.value(value);
                        writer.rounded(unit, &value, "f32")
                    } else {
                        word
                    }
                };
                found.into_iter().map(round).collect()
            };
            let left: Vec<Vec<String>> = (0..down).map(|n| operand(self, 0, n * 16)).collect();
            let right: Vec<Vec<String>> = (0..across).map(|n| operand(self, 1, n * 8)).collect();
            for (n, a) in left.iter().enumerate() {
                for (m, b) in right.iter().enumerate() {
                    let width = right.len() * 2;
                    let first = n * 2 * width + m * 2;
                    let places = [first, first + 1, first + width, first + width + 1];
                    let made = match unit.kind {
                        MatrixUnitKind::Mma => self.mma(unit.format, a, b, at(&sums, places)),
                        MatrixUnitKind::Simulated => self.simulated(unit, a, b, at(&sums, places)),
                    };
                    for (place, value) in places.into_iter().zip(made) {
                        if let Some(sum) = sums.get_mut(place) {
                            *sum = value;
                        }
                    }
                }
            }
        }
        sums
    }

    /// A register of the thread: the elements of a row or column, from the thread's first one on, and of consecutive products.
    fn register(&mut self, unit: &Unit, side: usize, buffer: &str, shifts: [i64; 2]) -> String {
        let input = self.contraction.sides.get(side);
        let input = input.and_then(|side| side.inputs.first()).copied();
        let input = input.unwrap_or(0);
        let kind = self.shared.get(&input).cloned().unwrap_or_default();
        let line = unit.lines.get(side).cloned().unwrap_or_default();
        let [line, product] = [(line, shifts[0]), (unit.product.clone(), shifts[1])].map(|(first, shift)| {
            let shift = self.code.lines.value(format!("arith.constant {shift} : index"));
            let sum = format!("arith.addi {first}, {shift} : index");
            self.code.lines.value(sum)
        });
        let place = format!("%s{input}[{buffer}, {line}, {product}]");
        let element = unit.format.element();
        self.code.lines.value(match unit.format.packed() {
            1 => format!("memref.load {place} : {kind}"),
            packed => format!(
                "vector.load {place} {} : {kind}, {}",
                alignment(element, packed),
                vector(element, packed)
            ),
        })
    }

    /// A product by a tensor core.
    fn mma(&mut self, format: Format, a: &[String], b: &[String], c: [String; 4]) -> [String; 4] {
        let lines = &mut self.code.lines;
        let types = |name: &str| {
            format!(
                "multiplicandAPtxType = #nvvm.mma_type<{name}>, multiplicandBPtxType = #nvvm.mma_type<{name}>, "
            )
        };
        let (types, register) = match format {
            Format::F16 => (String::new(), "vector<2xf16>"),
            Format::Bf16 => (types("bf16"), "i32"),
            Format::Tf32 => (types("tf32"), "i32"),
        };
        let result = "!llvm.struct<(f32, f32, f32, f32)>";
        let made = lines.value(format!(
            "nvvm.mma.sync A[{}] B[{}] C[{}] {{layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, {types}\
             shape = #nvvm.shape<m = 16, n = 8, k = {}>}} : ({register}, {register}, f32) -> {result}",
            a.join(", "),
            b.join(", "),
            c.join(", "),
            format.depth()
        ));
        [0, 1, 2, 3].map(|n| lines.value(format!("llvm.extractvalue {made}[{n}] : {result}")))
    }

    /// An element of a register as f32.
    fn widened(&mut self, format: Format, value: &str) -> String {
        let lines = &mut self.code.lines;
        let bits = match format {
            Format::F16 => return lines.value(format!("arith.extf {value} : f16 to f32")),
            Format::Bf16 => {
                let half = lines.value("arith.constant 16 : i32");
                let bits = lines.value(format!("arith.extui {value} : i16 to i32"));
                lines.value(format!("arith.shli {bits}, {half} : i32"))
            }
            Format::Tf32 => value.to_owned(),
        };
        lines.value(format!("arith.bitcast {bits} : i32 to f32"))
    }

    /// The same product by the threads of the warp: they put the elements of their registers where the instruction has them.
    fn simulated(&mut self, unit: &Unit, a: &[String], b: &[String], c: [String; 4]) -> [String; 4] {
        let (format, depth) = (unit.format, unit.format.depth());
        let [warp, group, own] = unit.thread.clone();
        let warp = self.code.index(&warp);
        let mut kinds = [String::new(), String::new()];
        for (side, kind) in kinds.iter_mut().enumerate() {
            let lines = if side == 0 { 16 } else { 8 };
            let shape = format!("{}x{lines}x{depth}", self.threads / 32);
            *kind = self.code.share(&format!("%unit{side}"), &shape, "f32");
        }
        for (side, registers) in [a, b].into_iter().enumerate() {
            let packed = usize::try_from(format.packed()).unwrap_or(1);
            for (n, register) in registers.iter().enumerate() {
                let values = match format {
                    Format::Tf32 => vec![register.clone()],
                    _ => self.code.lanes(register, format.element(), format.packed()),
                };
                for (lane, value) in values.iter().enumerate() {
                    let value = self.widened(format, value);
                    let [is_low, is_far, next] = instruction(side, n * packed + lane, packed);
                    let line = self.code.add(&group, &Number::Known(is_low * 8));
                    let product = self.code.times(&own, format.packed());
                    let shift = Number::Known(is_far * depth / 2 + next);
                    let product = self.code.add(&product, &shift);
                    let (line, product) = (self.code.index(&line), self.code.index(&product));
                    let kind = kinds.get(side).cloned().unwrap_or_default();
                    self.code.lines.line(format!(
                        "memref.store {value}, %unit{side}[{warp}, {line}, {product}] : {kind}"
                    ));
                }
            }
        }
        self.code.lines.line(ops::gpu::BARRIER);
        let bounds = [0, depth, 1].map(|n| self.code.index(&Number::Known(n)));
        let bounds = bounds.each_ref().map(String::as_str);
        let types = vec!["f32".to_owned(); c.len()];
        let made = self.carrying(bounds, "index", (&c, &types), "", |writer, product, sums| {
            let mut found = Vec::new();
            for (n, sum) in (0..).zip(sums) {
                let row = writer.code.add(&group, &Number::Known(n / 2 * 8));
                let column = writer.code.times(&own, 2);
                let column = writer.code.add(&column, &Number::Known(n % 2));
                let lines = [writer.code.index(&row), writer.code.index(&column)];
                let mut factors = Vec::new();
                for (side, (line, kind)) in lines.iter().zip(&kinds).enumerate() {
                    let load = format!("memref.load %unit{side}[{warp}, {line}, {product}] : {kind}");
                    factors.push(writer.code.lines.value(load));
                }
                let product = format!("arith.mulf {} : f32", factors.join(", "));
                let product = writer.code.lines.value(product);
                let sum = format!("arith.addf {sum}, {product} : f32");
                found.push(writer.code.lines.value(sum));
            }
            found
        });
        self.code.lines.line(ops::gpu::BARRIER);
        at(&made, [0, 1, 2, 3])
    }
}

/// What PTX ISA says of element `n` of a thread's registers of the left (side 0) or the right matrix: whether its row is g + 8, whether
/// its product is of the second half, and its position in the register.
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
        let mut found = Vec::new();
        for lane in 0..32 {
            let (group, own) = (lane / 4, lane % 4);
            for [line, product] in registers(format, side) {
                for next in 0..format.packed() {
                    found.push([group + line, own * format.packed() + product + next]);
                }
            }
        }
        found
    }

    #[test]
    fn registers_of_a_warp_hold_each_element_once() {
        for format in FORMATS {
            for (side, lines) in [(0, 16), (1, 8)] {
                let mut found = held(format, side);
                found.sort_unstable();
                let all = (0..lines).flat_map(|l| (0..format.depth()).map(move |k| [l, k]));
                assert_eq!(found, all.collect::<Vec<_>>(), "{format:?}, side {side}");
            }
        }
    }

    #[test]
    fn registers_are_those_of_the_instruction() {
        for format in FORMATS {
            let packed = usize::try_from(format.packed()).unwrap_or(1);
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

    /// The line and the product that thread `lane` gives the address of: [`TileWriter::line_address`] with numbers.
    fn addressed(format: Format, side: usize, lane: i64) -> [i64; 2] {
        let count = i64::try_from(registers(format, side).len()).unwrap_or(1);
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
                        // Four threads get the 16 bytes of a line.
                        let [row, first] = addressed(format, side, n * 8 + lane / 4);
                        let own = [line + lane / 4, product + lane % 4 * format.packed()];
                        assert_eq!([row, first + lane % 4 * format.packed()], own);
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
        let mut found = Vec::new();
        for lane in 0..32 {
            for row in &rows {
                for column in &columns {
                    found.push([lane / 4 + row, lane % 4 * 2 + column]);
                }
            }
        }
        found.sort_unstable();
        let all = (0..32).flat_map(|row| (0..16).map(move |column| [row, column]));
        assert_eq!(found, all.collect::<Vec<_>>());
    }
}
