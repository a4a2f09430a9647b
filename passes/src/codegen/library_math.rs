// SPDX-License-Identifier: Apache-2.0
//! `skript-expand-library-math`: rounding, remainders, maxima and minima as arithmetic, for processors and systems without a function for them.
//!
//! LLVM compiles an operation that a processor lacks to a call of the C library. Where there is none, the operations of the option
//! become arithmetic with the same results: NaN, infinities, zeros with signs and subnormal numbers are those of IEEE 754.
//!
//! Requires: for remainders, a place where `scf` is lowered later. Guarantees: none of these operations on f32 or f64 is left.

use crate::ir::splice::{Lines, splice};
use crate::ir::{self, ops};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError, PassOption};

/// The pass `skript-expand-library-math`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-expand-library-math",
    summary: "expand rounding, remainders and extremes, which would be calls of the C library, into arithmetic",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Math, Dialect::Scf],
    options: &[PassOption {
        name: "operations",
        summary: "operations to expand, of ceil, floor, maximumf, minimumf, remf, round, roundeven, trunc, separated by commas",
        default: "ceil,floor,remf,round,roundeven,trunc",
    }],
    run: |root, options, _| {
        let operations: String = options.get("operations")?;
        let names: Vec<&str> = operations.split(',').filter(|n| !n.is_empty()).collect();
        if let Some(unknown) = names.iter().find(|n| !NAMES.iter().any(|(k, _)| k == *n)) {
            return Err(PassError::at(root, format!("`{unknown}` cannot be expanded")));
        }
        let wanted: Vec<&str> =
            NAMES.iter().filter(|(name, _)| names.contains(name)).map(|(_, operation)| *operation).collect();
        for op in ir::nested(root) {
            if wanted.contains(&ir::name(op).as_str()) {
                expand(op)?;
            }
        }
        Ok(())
    },
};

/// Names in the option, and the operations.
const NAMES: [(&str, &str); 8] = [
    ("ceil", ops::math::CEIL),
    ("floor", ops::math::FLOOR),
    ("maximumf", ops::arith::MAXIMUMF),
    ("minimumf", ops::arith::MINIMUMF),
    ("remf", ops::arith::REMF),
    ("round", ops::math::ROUND),
    ("roundeven", ops::math::ROUNDEVEN),
    ("trunc", ops::math::TRUNC),
];

/// Replaces an operation by arithmetic; those on other types stay.
fn expand(op: OperationRef) -> Result<(), PassError> {
    let r#type = op.result(0)?.r#type().to_string();
    let name = ir::name(op);
    let text = match (Real::of(&r#type), name.as_str()) {
        (Some(real), ops::arith::REMF) if real.r#type == real.element => remainder(real.is_wide),
        (None, _) | (_, ops::arith::REMF) => return Ok(()),
        (Some(real), ops::arith::MAXIMUMF) => extreme(&real, ["ogt", "andi"]),
        (Some(real), ops::arith::MINIMUMF) => extreme(&real, ["olt", "ori"]),
        (Some(real), _) => rounded(&name, &real),
    };
    let operands: Vec<Value> = op.operands().collect();
    let made = splice(op, &operands, &text, &[("%r".to_owned(), r#type)])?;
    let value = made.values.first().copied().ok_or("an expansion without a value")?;
    ir::replace_uses(op.result(0)?.into(), value);
    ir::erase(op);
    Ok(())
}

/// A type of reals, f32 or f64, or vectors of them.
struct Real<'t> {
    r#type: &'t str,
    element: &'t str,
    is_wide: bool,
}

impl<'t> Real<'t> {
    fn of(r#type: &'t str) -> Option<Real<'t>> {
        let element = match r#type.strip_prefix("vector<") {
            None => r#type,
            Some(vector) => vector.strip_suffix('>')?.rsplit_once('x')?.1,
        };
        matches!(element, "f32" | "f64").then_some(Real { r#type, element, is_wide: element == "f64" })
    }

    /// The type of integers or truth values with as many elements.
    fn with(&self, element: &str) -> String {
        self.r#type.replace(self.element, element)
    }

    /// A constant in all elements.
    fn constant(&self, lines: &mut Lines, value: &str, r#type: &str) -> String {
        let value = if r#type.starts_with("vector<") { format!("dense<{value}>") } else { value.to_owned() };
        lines.value(format!("arith.constant {value} : {type}"))
    }
}

/// From this number on, every real is whole.
fn whole_from(is_wide: bool) -> &'static str {
    if is_wide { "4503599627370496.0" } else { "8388608.0" }
}

/// By selections in both orders, whose bits are equal but for the sign of zeros.
fn extreme(real: &Real, [comparison, combination]: [&str; 2]) -> String {
    let mut lines = Lines::default();
    let l = &mut lines;
    let t = real.r#type;
    let integers = real.with(if real.is_wide { "i64" } else { "i32" });
    let truths = real.with("i1");
    let selected = [("%0", "%1"), ("%1", "%0")].map(|(a, b)| {
        let is_first = l.value(format!("arith.cmpf {comparison}, {a}, {b} : {t}"));
        let one = l.value(format!("arith.select {is_first}, {a}, {b} : {truths}, {t}"));
        l.value(format!("arith.bitcast {one} : {t} to {integers}"))
    });
    let bits = l.value(format!("arith.{combination} {} : {integers}", selected.join(", ")));
    let number = l.value(format!("arith.bitcast {bits} : {integers} to {t}"));
    let nan = if real.is_wide { "0x7FF8000000000000" } else { "0x7FC00000" };
    let nan = real.constant(l, nan, t);
    let is_nan = l.value(format!("arith.cmpf uno, %0, %1 : {t}"));
    l.line(format!("%r = arith.select {is_nan}, {nan}, {number} : {truths}, {t}"));
    lines.text().to_owned()
}

/// By a conversion to an integer, where the magnitude is small enough that a fraction can be.
fn rounded(name: &str, real: &Real) -> String {
    let mut lines = Lines::default();
    let l = &mut lines;
    let (t, element) = (real.r#type, if real.is_wide { "i64" } else { "i32" });
    let (integers, truths) = (real.with(element), real.with("i1"));
    let absolute = l.value(format!("math.absf %0 : {t}"));
    let limit = real.constant(l, whole_from(real.is_wide), t);
    let zero = real.constant(l, "0.0", t);
    let one = real.constant(l, "1.0", t);
    let small = l.value(format!("arith.cmpf olt, {absolute}, {limit} : {t}"));
    let held = l.value(format!("arith.select {small}, {absolute}, {zero} : {truths}, {t}"));
    let integer = l.value(format!("arith.fptosi {held} : {t} to {integers}"));
    let whole = l.value(format!("arith.sitofp {integer} : {integers} to {t}"));
    // Of the magnitude, or of the number with its sign, by which a result differs from its whole part.
    let signed = |l: &mut Lines, magnitude: &str| l.value(format!("math.copysign {magnitude}, %0 : {t}"));
    let result = match name {
        ops::math::FLOOR | ops::math::CEIL => {
            let (beyond, step) = if name == ops::math::FLOOR { ("ogt", "subf") } else { ("olt", "addf") };
            let whole = signed(l, &whole);
            let is_beyond = l.value(format!("arith.cmpf {beyond}, {whole}, %0 : {t}"));
            let next = l.value(format!("arith.{step} {whole}, {one} : {t}"));
            l.value(format!("arith.select {is_beyond}, {next}, {whole} : {truths}, {t}"))
        }
        ops::math::ROUND | ops::math::ROUNDEVEN => {
            let half = real.constant(l, "0.5", t);
            let rest = l.value(format!("arith.subf {held}, {whole} : {t}"));
            let up = if name == ops::math::ROUND {
                l.value(format!("arith.cmpf oge, {rest}, {half} : {t}"))
            } else {
                let above = l.value(format!("arith.cmpf ogt, {rest}, {half} : {t}"));
                let tie = l.value(format!("arith.cmpf oeq, {rest}, {half} : {t}"));
                let bit = real.constant(l, "1", &integers);
                let last = l.value(format!("arith.andi {integer}, {bit} : {integers}"));
                let odd = l.value(format!("arith.cmpi eq, {last}, {bit} : {integers}"));
                let to_even = l.value(format!("arith.andi {tie}, {odd} : {truths}"));
                l.value(format!("arith.ori {above}, {to_even} : {truths}"))
            };
            let next = l.value(format!("arith.addf {whole}, {one} : {t}"));
            let magnitude = l.value(format!("arith.select {up}, {next}, {whole} : {truths}, {t}"));
            signed(l, &magnitude)
        }
        _ => signed(l, &whole),
    };
    l.line(format!("%r = arith.select {small}, {result}, %0 : {truths}, {t}"));
    lines.text().to_owned()
}

/// The remainder of a division that truncates, by long division of the significands: exact for all numbers.
pub(crate) fn remainder(is_wide: bool) -> String {
    let (real, word, width, bias) =
        if is_wide { ("f64", "i64", 52u32, 1023i64) } else { ("f32", "i32", 23, 127) };
    let (magnitude, infinity) =
        if is_wide { (i64::MAX, 0x7FF0_0000_0000_0000i64) } else { (i64::from(i32::MAX), 0x7F80_0000) };
    let nan = if is_wide { "0x7FF8000000000000" } else { "0x7FC00000" };
    // Conversions between words and integers of 64 bits, which are one type for f64.
    let widened = |name: &str, from: &str| {
        if is_wide {
            format!("%{name} = arith.ori {from}, {from} : i64")
        } else {
            format!("%{name} = arith.extui {from} : i32 to i64")
        }
    };
    let narrowed = |name: &str, from: &str| {
        if is_wide {
            format!("%{name} = arith.ori {from}, {from} : i64")
        } else {
            format!("%{name} = arith.trunci {from} : i64 to i32")
        }
    };
    let implicit = 1i64 << width;
    let lines = [
        format!("%magnitude_mask = arith.constant {magnitude} : {word}"),
        format!("%x_bits = arith.bitcast %0 : {real} to {word}"),
        format!("%y_bits = arith.bitcast %1 : {real} to {word}"),
        format!("%x_low = arith.andi %x_bits, %magnitude_mask : {word}"),
        format!("%y_low = arith.andi %y_bits, %magnitude_mask : {word}"),
        widened("x_word", "%x_low"),
        widened("y_word", "%y_low"),
        format!("%width = arith.constant {width} : i64"),
        format!("%fraction = arith.constant {} : i64", implicit - 1),
        format!("%implicit = arith.constant {implicit} : i64"),
        format!("%bias = arith.constant {} : i64", bias + i64::from(width)),
        format!("%own_bias = arith.constant {bias} : i64"),
        DIVISION.to_owned(),
        narrowed("lower_bits", "%lower_field"),
        narrowed("upper_bits", "%upper_field"),
        format!("%lower_scale = arith.bitcast %lower_bits : {word} to {real}"),
        format!("%upper_scale = arith.bitcast %upper_bits : {word} to {real}"),
        format!("%number = arith.uitofp %rest : i64 to {real}"),
        format!("%half_scaled = arith.mulf %number, %lower_scale : {real}"),
        format!("%scaled = arith.mulf %half_scaled, %upper_scale : {real}"),
        format!("%is_less = arith.cmpi ult, %x_low, %y_low : {word}"),
        format!("%signed = math.copysign %scaled, %0 : {real}"),
        format!("%found = arith.select %is_less, %0, %signed : {real}"),
        format!("%infinity = arith.constant {infinity} : {word}"),
        format!("%x_wrong = arith.cmpi uge, %x_low, %infinity : {word}"),
        format!("%y_wrong = arith.cmpi ugt, %y_low, %infinity : {word}"),
        "%no_divisor = arith.cmpi eq, %y_word, %zero : i64".to_owned(),
        "%wrong_operand = arith.ori %x_wrong, %y_wrong : i1".to_owned(),
        "%wrong = arith.ori %wrong_operand, %no_divisor : i1".to_owned(),
        format!("%nan = arith.constant {nan} : {real}"),
        format!("%r = arith.select %wrong, %nan, %found : {real}"),
    ];
    lines.join("\n")
}

/// The rest of the significands, and the exponents of the two factors that scale it.
const DIVISION: &str = "
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %x_field = arith.shrui %x_word, %width : i64
  %y_field = arith.shrui %y_word, %width : i64
  %x_exponent = arith.maxsi %x_field, %one : i64
  %y_exponent = arith.maxsi %y_field, %one : i64
  %x_part = arith.andi %x_word, %fraction : i64
  %y_part = arith.andi %y_word, %fraction : i64
  %x_normal = arith.cmpi ne, %x_field, %zero : i64
  %y_normal = arith.cmpi ne, %y_field, %zero : i64
  %x_full = arith.ori %x_part, %implicit : i64
  %y_full = arith.ori %y_part, %implicit : i64
  %x_significand = arith.select %x_normal, %x_full, %x_part : i64
  %y_held = arith.select %y_normal, %y_full, %y_part : i64
  %y_significand = arith.maxsi %y_held, %one : i64
  %shift = arith.subi %x_exponent, %y_exponent : i64
  %first = arith.remui %x_significand, %y_significand : i64
  %begin = arith.constant 0 : index
  %step = arith.constant 1 : index
  %steps = arith.index_cast %shift : i64 to index
  %rest = scf.for %n = %begin to %steps step %step iter_args(%held = %first) -> (i64) {
    %doubled = arith.shli %held, %one : i64
    %next = arith.remui %doubled, %y_significand : i64
    scf.yield %next : i64
  }
  %power = arith.subi %y_exponent, %bias : i64
  %lower = arith.shrsi %power, %one : i64
  %upper = arith.subi %power, %lower : i64
  %lower_biased = arith.addi %lower, %own_bias : i64
  %upper_biased = arith.addi %upper, %own_bias : i64
  %lower_field = arith.shli %lower_biased, %width : i64
  %upper_field = arith.shli %upper_biased, %width : i64
";
