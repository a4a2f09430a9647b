// SPDX-License-Identifier: Apache-2.0
//! Conversions of f16 and bf16 as functions of integers, in the text of LLVM's dialect.
//!
//! Roundings are to nearest, ties to even. NaN stays NaN: it becomes quiet, and the upper bits of its payload stay. The additions
//! and subtractions of f32 have neither subnormal operands that count nor subnormal results, so that processors which take
//! subnormal numbers of f32 for zeros compute the same.

use super::types::Narrow;
use crate::ir::vector::element_or_self;
use melior::ir::Type;
use skript_dialect::PassError;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

/// A narrow type and a wider one, between which numbers are converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Conversion {
    narrow: Narrow,
    is_double: bool,
}

impl Conversion {
    /// Those that the option of the pass may name.
    const NAMED: [(&'static str, Conversion); 2] =
        [("f16-f32", Conversion::of(Narrow::Half, false)), ("f16-f64", Conversion::of(Narrow::Half, true))];

    const fn of(narrow: Narrow, is_double: bool) -> Conversion {
        Conversion { narrow, is_double }
    }

    pub(super) fn named(name: &str) -> Option<Conversion> {
        let found = Conversion::NAMED.iter().find(|(known, _)| *known == name);
        found.map(|(_, conversion)| *conversion)
    }

    pub(super) fn names() -> String {
        Conversion::NAMED.map(|(name, _)| name).join(", ")
    }

    /// Between a narrow type, or vectors of it, and f32 or f64.
    pub(super) fn between(narrow: Type, wide: Type) -> Result<Conversion, PassError> {
        let is_double = match element_or_self(wide).to_string().as_str() {
            "f32" => false,
            "f64" => true,
            other => {
                let message =
                    format!("no conversion between {narrow} and {other} is known: convert by way of f64");
                return Err(PassError::from(message));
            }
        };
        let narrow = Narrow::of(narrow);
        let narrow = narrow.ok_or("a conversion between types that are not narrow")?;
        Ok(Conversion::of(narrow, is_double))
    }
}

/// The functions that a module calls, by their symbols.
#[derive(Default)]
pub(super) struct Functions {
    texts: BTreeMap<String, String>,
}

impl Functions {
    /// The function from the bits of a narrow type to f32.
    pub(super) fn widening(&mut self, narrow: Type) -> Result<String, PassError> {
        let (kind, shape) = parts(narrow)?;
        let name = format!("f32_of_{}", kind.name());
        Ok(self.function(&name, &shape, "i16", "f32", |code| match kind {
            Narrow::Half => widened_half(code),
            Narrow::Brain => widened_brain(code),
        }))
    }

    /// The function from f32 to the bits of a narrow type.
    pub(super) fn narrowing(&mut self, narrow: Type) -> Result<String, PassError> {
        let (kind, shape) = parts(narrow)?;
        let name = format!("{}_of_f32", kind.name());
        Ok(self.function(&name, &shape, "f32", "i16", |code| match kind {
            Narrow::Half => rounded_to_half(code),
            Narrow::Brain => rounded_to_brain(code),
        }))
    }

    /// The function from f64 to f32, as many as `narrow` has elements, that rounds to odd: what is rounded to a narrow type then is
    /// rounded as if once.
    pub(super) fn rounding_to_odd(&mut self, narrow: Type) -> Result<String, PassError> {
        let (_, shape) = parts(narrow)?;
        Ok(self.function("odd_f32_of_f64", &shape, "f64", "f32", rounded_to_odd))
    }

    fn function(
        &mut self,
        name: &str,
        shape: &Shape,
        from: &str,
        to: &str,
        body: impl Fn(&mut Code) -> String,
    ) -> String {
        let symbol = match shape.lanes.as_str() {
            "" => format!("skript.{name}"),
            lanes => format!("skript.{name}.{}", lanes.replace('[', "x").replace(']', "")),
        };
        if self.texts.contains_key(&symbol) {
            return symbol;
        }
        let mut code = Code { shape, lines: String::new(), count: 0 };
        let result = body(&mut code);
        let (from, to) = (shape.of(from), shape.of(to));
        let text = format!(
            "llvm.func internal @{symbol}(%x: {from}) -> {to} attributes {{passthrough = [\"alwaysinline\"]}} {{\n{}  \
             llvm.return {result} : {to}\n}}\n",
            code.lines
        );
        self.texts.insert(symbol.clone(), text);
        symbol
    }

    /// The functions that a module with these symbols lacks.
    pub(super) fn text(&self, present: &HashSet<String>) -> String {
        self.texts
            .iter()
            .filter(|(symbol, _)| !present.contains(*symbol))
            .map(|(_, text)| text.as_str())
            .collect()
    }
}

fn parts(narrow: Type) -> Result<(Narrow, Shape), PassError> {
    let kind = Narrow::of(narrow).ok_or("a conversion of a type that is not narrow")?;
    let text = narrow.to_string();
    let lanes = text.strip_prefix("vector<");
    let lanes = lanes.and_then(|vector| Some(vector.rsplit_once('x')?.0));
    let lanes = lanes.unwrap_or_default().to_owned();
    Ok((kind, Shape { lanes }))
}

/// The number of elements of a vector, as in the text of its type; empty for a scalar.
struct Shape {
    lanes: String,
}

impl Shape {
    fn of(&self, element: &str) -> String {
        match self.lanes.as_str() {
            "" => element.to_owned(),
            lanes => format!("vector<{lanes}x{element}>"),
        }
    }
}

/// The lines of a function under construction; its argument is `%x`.
struct Code<'s> {
    shape: &'s Shape,
    lines: String,
    count: usize,
}

impl Code<'_> {
    fn value(&mut self, text: &str) -> String {
        self.count += 1;
        let name = format!("%v{}", self.count);
        let _ = writeln!(self.lines, "  {name} = {text}");
        name
    }

    fn constant(&mut self, value: &str, element: &str) -> String {
        let r#type = self.shape.of(element);
        if self.shape.lanes.is_empty() {
            self.value(&format!("llvm.mlir.constant({value} : {type}) : {type}"))
        } else {
            self.value(&format!("llvm.mlir.constant(dense<{value}> : {type}) : {type}"))
        }
    }

    fn word(&mut self, value: u32) -> String {
        self.constant(&value.cast_signed().to_string(), "i32")
    }

    /// An operation on i32 and a constant.
    fn with(&mut self, name: &str, value: &str, constant: u32) -> String {
        let constant = self.word(constant);
        self.words(name, value, &constant)
    }

    /// An operation on two i32.
    fn words(&mut self, name: &str, left: &str, right: &str) -> String {
        let r#type = self.shape.of("i32");
        self.value(&format!("llvm.{name} {left}, {right} : {type}"))
    }

    /// An operation on two f32.
    fn singles(&mut self, name: &str, left: &str, right: &str) -> String {
        let r#type = self.shape.of("f32");
        self.value(&format!("llvm.{name} {left}, {right} : {type}"))
    }

    /// Whether an i32 without a sign compares so with a constant.
    fn is(&mut self, predicate: &str, value: &str, constant: u32) -> String {
        let (constant, r#type) = (self.word(constant), self.shape.of("i32"));
        self.value(&format!("llvm.icmp \"{predicate}\" {value}, {constant} : {type}"))
    }

    fn select(&mut self, flag: &str, yes: &str, no: &str) -> String {
        let (flags, words) = (self.shape.of("i1"), self.shape.of("i32"));
        self.value(&format!("llvm.select {flag}, {yes}, {no} : {flags}, {words}"))
    }

    fn convert(&mut self, name: &str, value: &str, from: &str, to: &str) -> String {
        let (from, to) = (self.shape.of(from), self.shape.of(to));
        self.value(&format!("llvm.{name} {value} : {from} to {to}"))
    }
}

fn widened_brain(code: &mut Code) -> String {
    let word = code.convert("zext", "%x", "i16", "i32");
    let bits = code.with("shl", &word, 16);
    code.convert("bitcast", &bits, "i32", "f32")
}

/// As `docs/numerics.md` has it: half of the last bit that is left is added, unless it is NaN.
fn rounded_to_brain(code: &mut Code) -> String {
    let bits = code.convert("bitcast", "%x", "f32", "i32");
    let upper = code.with("lshr", &bits, 16);
    let odd = code.with("and", &upper, 1);
    let nudge = code.with("add", &odd, 0x7fff);
    let sum = code.words("add", &bits, &nudge);
    let rounded = code.with("lshr", &sum, 16);
    let quiet = code.with("or", &upper, 0x40);
    let magnitude = code.with("and", &bits, 0x7fff_ffff);
    let is_nan = code.is("ugt", &magnitude, 0x7f80_0000);
    let kept = code.select(&is_nan, &quiet, &rounded);
    code.convert("trunc", &kept, "i32", "i16")
}

/// The digits are moved and the exponent is biased anew; that of a subnormal number begins as 2⁻¹⁴ · 1.digits, of which f32
/// subtracts 2⁻¹⁴ exactly.
fn widened_half(code: &mut Code) -> String {
    let word = code.convert("zext", "%x", "i16", "i32");
    let sign = code.with("and", &word, 0x8000);
    let sign = code.with("shl", &sign, 16);
    let magnitude = code.with("and", &word, 0x7fff);
    let moved = code.with("shl", &magnitude, 13);
    let normal = code.with("add", &moved, (127 - 15) << 23);
    let above = code.with("add", &moved, LEAST_NORMAL);
    let above = code.convert("bitcast", &above, "i32", "f32");
    let least = code.word(LEAST_NORMAL);
    let least = code.convert("bitcast", &least, "i32", "f32");
    let exact = code.singles("fsub", &above, &least);
    let subnormal = code.convert("bitcast", &exact, "f32", "i32");
    let infinite = code.with("add", &moved, 2 * ((127 - 15) << 23));
    let quiet = code.with("or", &infinite, 1 << 22);
    let is_nan = code.is("ugt", &magnitude, 0x7c00);
    let special = code.select(&is_nan, &quiet, &infinite);
    let is_subnormal = code.is("ult", &magnitude, 0x400);
    let finite = code.select(&is_subnormal, &subnormal, &normal);
    let is_special = code.is("uge", &magnitude, 0x7c00);
    let result = code.select(&is_special, &special, &finite);
    let bits = code.words("or", &result, &sign);
    code.convert("bitcast", &bits, "i32", "f32")
}

/// The bits of 2⁻¹⁴ in f32, the least number that is normal in f16.
const LEAST_NORMAL: u32 = (127 - 14) << 23;

/// Of a number that is subnormal in f16, f32 rounds the sum with 0.5, whose last digit is that of subnormal numbers of f16.
fn rounded_to_half(code: &mut Code) -> String {
    let bits = code.convert("bitcast", "%x", "f32", "i32");
    let sign = code.with("lshr", &bits, 16);
    let sign = code.with("and", &sign, 0x8000);
    let magnitude = code.with("and", &bits, 0x7fff_ffff);
    let upper = code.with("lshr", &magnitude, 13);
    let odd = code.with("and", &upper, 1);
    let nudged = code.words("add", &magnitude, &odd);
    // The exponent is biased anew, and half of the last digit that is left is added, less one.
    let biased = code.with("add", &nudged, ((127_u32 - 15) << 23).wrapping_neg().wrapping_add(0xfff));
    let normal = code.with("lshr", &biased, 13);
    let half = 126_u32 << 23;
    let own = code.convert("bitcast", &magnitude, "i32", "f32");
    let addend = code.word(half);
    let addend = code.convert("bitcast", &addend, "i32", "f32");
    let sum = code.singles("fadd", &own, &addend);
    let sum = code.convert("bitcast", &sum, "f32", "i32");
    let subnormal = code.with("sub", &sum, half);
    let payload = code.with("and", &upper, 0x3ff);
    let quiet = code.with("or", &payload, 0x7e00);
    let infinite = code.word(0x7c00);
    let is_nan = code.is("ugt", &magnitude, 0x7f80_0000);
    let special = code.select(&is_nan, &quiet, &infinite);
    let is_subnormal = code.is("ult", &magnitude, LEAST_NORMAL);
    let finite = code.select(&is_subnormal, &subnormal, &normal);
    // From 2¹⁶ on.
    let is_special = code.is("uge", &magnitude, (127 + 16) << 23);
    let result = code.select(&is_special, &special, &finite);
    let signed = code.words("or", &result, &sign);
    code.convert("trunc", &signed, "i32", "i16")
}

/// An inexact value gets an odd last digit: if the nearest f32 is even, the neighbour in the direction of the exact value is used.
/// The bits of absolute values are ordered as integers.
fn rounded_to_odd(code: &mut Code) -> String {
    let doubles = code.shape.of("f64");
    let near = code.convert("fptrunc", "%x", "f64", "f32");
    let back = code.convert("fpext", &near, "f32", "f64");
    let bits = code.convert("bitcast", &near, "f32", "i32");
    let magnitudes =
        ["%x", &back].map(|value| code.value(&format!("llvm.intr.fabs({value}) : ({doubles}) -> {doubles}")));
    let outward = code.value(&format!("llvm.fcmp \"ogt\" {}, {} : {doubles}", magnitudes[0], magnitudes[1]));
    let (up, down) = (code.word(1), code.word(u32::MAX));
    let step = code.select(&outward, &up, &down);
    let moved = code.words("add", &bits, &step);
    let odd = code.convert("trunc", &bits, "i32", "i1");
    let moved = code.select(&odd, &bits, &moved);
    let inexact = code.value(&format!("llvm.fcmp \"one\" %x, {back} : {doubles}"));
    let kept = code.select(&inexact, &moved, &bits);
    code.convert("bitcast", &kept, "i32", "f32")
}
