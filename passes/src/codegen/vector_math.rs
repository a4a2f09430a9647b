// SPDX-License-Identifier: Apache-2.0
//! `skript-expand-math`: f32 functions as polynomials, which LLVM vectorizes.
//!
//! A call of the C library takes one number at a time. Each `math.exp`, `math.tanh`, `math.erf` and `math.log` of f32, or of a
//! vector of f32, becomes a call of a function that LLVM inlines: arguments are reduced to a small interval, where a
//! polynomial has the function's value. `scripts/fit-math.py` fits the polynomials and measures the errors: at most 1.0 units
//! in the last place for exp, 1.3 for tanh, 1.3 for erf, 0.9 for log. Infinities, NaN, signed zeros and subnormal numbers are
//! those of IEEE 754.
//!
//! The methods: W. J. Cody and W. Waite, *Software Manual for the Elementary Functions* (1980).
//!
//! Requires: functions of the dialect `func`. Guarantees: none of these operations is left on f32.

use crate::ir::{self, ops};
use melior::ir::attribute::FlatSymbolRefAttribute;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError, PassOption};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The pass `skript-expand-math`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-expand-math",
    summary: "expand f32 functions into polynomials that LLVM vectorizes",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Func, Dialect::Llvm, Dialect::Math],
    options: &[PassOption {
        name: "scales",
        summary: "whether one instruction multiplies the elements of a vector by powers of two",
        default: "false",
    }],
    run: |root, options, rewriter| expand(root, options.get("scales")?, rewriter.context()),
};

/// A function that is expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Function {
    Exp,
    Tanh,
    Erf,
    Log,
}

impl Function {
    const ALL: [(&'static str, Function); 4] = [
        (ops::math::EXP, Function::Exp),
        (ops::math::TANH, Function::Tanh),
        (ops::math::ERF, Function::Erf),
        (ops::math::LOG, Function::Log),
    ];

    fn of(op: OperationRef) -> Option<Function> {
        let name = ir::name(op);
        let known = Function::ALL.iter().find(|(known, _)| *known == name);
        known.map(|(_, function)| *function)
    }

    /// The functions that its expansion calls.
    fn calls(self) -> &'static [Function] {
        match self {
            Function::Exp | Function::Log => &[],
            Function::Tanh | Function::Erf => &[Function::Exp],
        }
    }
}

/// The lanes of a type; `None` if it is neither f32 nor a vector of f32.
fn lanes_of(r#type: &str) -> Option<Lanes> {
    if r#type == "f32" {
        return Some(None);
    }
    let lanes = r#type.strip_prefix("vector<")?.strip_suffix("xf32>")?;
    lanes.parse().ok().map(Some)
}

/// The number of elements of a vector; `None` for a scalar.
type Lanes = Option<u32>;

fn symbol(function: Function, lanes: Lanes) -> String {
    let name = format!("{function:?}").to_lowercase();
    match lanes {
        None => format!("skript.{name}.f32"),
        Some(lanes) => format!("skript.{name}.{lanes}xf32"),
    }
}

/// Replaces the operations below `root`.
fn expand<'c: 'a, 'a>(
    root: OperationRef<'c, 'a>,
    scales: bool,
    context: &'c melior::Context,
) -> Result<(), PassError> {
    let mut needed = BTreeSet::new();
    let mut calls = Vec::new();
    for op in ir::nested(root) {
        let Some(function) = Function::of(op) else {
            continue;
        };
        let operand: Value = ir::operand(op)?;
        let Some(lanes) = lanes_of(&operand.r#type().to_string()) else {
            continue;
        };
        needed.insert((function, lanes));
        needed.extend(function.calls().iter().map(|other| (*other, lanes)));
        calls.push((op, symbol(function, lanes)));
    }
    for (op, symbol) in calls {
        // It may be the result of a function that was replaced before.
        let operand: Value = ir::operand(op)?;
        let callee = FlatSymbolRefAttribute::new(context, &symbol).into();
        let at = ir::Builder::before(context, op)?.with_location(op.location());
        let result = at.value(
            ops::func::CALL,
            &[operand],
            &[("callee", callee)],
            operand.r#type(),
        )?;
        ir::replace_uses(op.result(0)?.into(), result);
        ir::erase(op);
    }
    let present = ir::symbols(root);
    let new = needed.into_iter();
    let new = new.filter(|(function, lanes)| !present.contains(&symbol(*function, *lanes)));
    let text: Vec<String> = new
        .map(|(function, lanes)| Text::of(function, lanes, scales))
        .collect();
    ir::append_functions(root, &text.concat())?;
    Ok(())
}

/// Coefficients from the constant on; `scripts/fit-math.py` prints them.
const EXP: [f32; 6] = [
    5.0e-1,
    1.6666666e-1,
    4.1666295e-2,
    8.333498e-3,
    1.3944758e-3,
    1.9790244e-4,
];
const TANH: [f32; 5] = [
    -3.333328e-1,
    1.3331442e-1,
    -5.3739715e-2,
    2.0639088e-2,
    -5.7049873e-3,
];
const ERF: [f32; 6] = [
    1.2837915e-1,
    -3.7612468e-1,
    1.1281553e-1,
    -2.6757037e-2,
    4.9791336e-3,
    -5.919432e-4,
];
const ERFC: [f32; 8] = [
    1.128561e+0,
    6.355825e-1,
    1.0534499e-1,
    -2.2760184e-2,
    2.9829275e-3,
    -6.8557245e-5,
    -4.1880798e-5,
    4.6361533e-6,
];
const LOG: [f32; 9] = [
    3.3333313e-1,
    -2.500001e-1,
    2.0002119e-1,
    -1.6667996e-1,
    1.4219552e-1,
    -1.2405589e-1,
    1.1888162e-1,
    -1.1675652e-1,
    6.746641e-2,
];

/// ln 2 as a sum: the first has so few bits that its product with an exponent is exact.
const LN2_HIGH: f32 = 0.693_359_4;
const LN2_LOW: f32 = -2.121_944_4e-4;

/// 1.5 · 2²³: a number added to it is rounded to an integer, which is then in the low bits.
const ROUNDER: f32 = 12_582_912.0;

/// The text of a function.
struct Text {
    lanes: Lanes,
    /// Whether the processor multiplies by powers of two.
    scales: bool,
    lines: String,
    counter: usize,
}

impl Text {
    fn of(function: Function, lanes: Lanes, scales: bool) -> String {
        let mut text = Text {
            lanes,
            scales,
            lines: String::new(),
            counter: 0,
        };
        let result = match function {
            Function::Exp => text.exp("%x"),
            Function::Tanh => text.tanh("%x"),
            Function::Erf => text.erf("%x"),
            Function::Log => text.log("%x"),
        };
        let r#type = text.real();
        format!(
            "func.func private @{}(%x: {type}) -> {type} attributes {{llvm.linkage = #llvm.linkage<internal>, \
             passthrough = [\"alwaysinline\"]}} {{\n{}  return {result} : {type}\n}}\n",
            symbol(function, lanes),
            text.lines,
        )
    }

    fn typed(&self, element: &str) -> String {
        match self.lanes {
            None => element.to_owned(),
            Some(lanes) => format!("vector<{lanes}x{element}>"),
        }
    }

    fn real(&self) -> String {
        self.typed("f32")
    }

    fn line(&mut self, text: &str) -> String {
        self.counter += 1;
        let name = format!("%v{}", self.counter);
        let _ = writeln!(self.lines, "  {name} = {text}");
        name
    }

    fn constant(&mut self, value: &str, element: &str) -> String {
        let r#type = self.typed(element);
        match self.lanes {
            None => self.line(&format!("arith.constant {value} : {type}")),
            Some(_) => self.line(&format!("arith.constant dense<{value}> : {type}")),
        }
    }

    fn number(&mut self, value: f32) -> String {
        self.constant(&format!("0x{:08X}", value.to_bits()), "f32")
    }

    fn integer(&mut self, value: i32) -> String {
        self.constant(&value.to_string(), "i32")
    }

    fn reals(&mut self, name: &str, operands: &[&str]) -> String {
        let r#type = self.real();
        self.line(&format!("{name} {} : {type}", operands.join(", ")))
    }

    fn integers(&mut self, name: &str, operands: &[&str]) -> String {
        let r#type = self.typed("i32");
        self.line(&format!("{name} {} : {type}", operands.join(", ")))
    }

    /// `a · b + c`, fused where the processor can.
    fn multiply_add(&mut self, a: &str, b: &str, c: &str) -> String {
        let r#type = self.real();
        let name = ops::llvm::INTR_FMULADD;
        self.line(&format!(
            "\"{name}\"({a}, {b}, {c}) : ({type}, {type}, {type}) -> {type}"
        ))
    }

    fn bits(&mut self, value: &str, from: &str, to: &str) -> String {
        let (from, to) = (self.typed(from), self.typed(to));
        self.line(&format!("{} {value} : {from} to {to}", ops::arith::BITCAST))
    }

    fn compare(&mut self, predicate: &str, left: &str, right: &str) -> String {
        let r#type = self.real();
        self.line(&format!(
            "{} {predicate}, {left}, {right} : {type}",
            ops::arith::CMPF
        ))
    }

    fn select(&mut self, condition: &str, then: &str, otherwise: &str) -> String {
        let (mask, r#type) = (self.typed("i1"), self.real());
        self.line(&format!(
            "\"{}\"({condition}, {then}, {otherwise}) : ({mask}, {type}, {type}) -> {type}",
            ops::arith::SELECT
        ))
    }

    fn call(&mut self, function: Function, operand: &str) -> String {
        let r#type = self.real();
        let symbol = symbol(function, self.lanes);
        self.line(&format!(
            "{} @{symbol}({operand}) : ({type}) -> {type}",
            ops::func::CALL
        ))
    }

    /// The polynomial at `x`.
    fn polynomial(&mut self, coefficients: &[f32], x: &str) -> String {
        let mut result: Option<String> = None;
        for coefficient in coefficients.iter().rev() {
            let constant = self.number(*coefficient);
            result = Some(match &result {
                None => constant,
                Some(above) => self.multiply_add(above, x, &constant),
            });
        }
        result.unwrap_or_default()
    }

    /// The lesser of a value and a bound; NaN stays.
    fn at_most(&mut self, value: &str, bound: f32) -> String {
        let bound = self.number(bound);
        let above = self.compare("ogt", value, &bound);
        self.select(&above, &bound, value)
    }

    /// `exp(x) = 2ⁿ · exp(r)` with `x = n · ln 2 + r`.
    fn exp(&mut self, x: &str) -> String {
        // Beyond these, the result is 0 or infinite.
        let x = self.at_most(x, 89.0);
        let least = self.number(-104.0);
        let below = self.compare("olt", &x, &least);
        let x = self.select(&below, &least, &x);
        let (log2e, rounder) = (self.number(std::f32::consts::LOG2_E), self.number(ROUNDER));
        let scaled = self.reals(ops::arith::MULF, &[&x, &log2e]);
        let shifted = self.reals(ops::arith::ADDF, &[&scaled, &rounder]);
        let n = self.reals(ops::arith::SUBF, &[&shifted, &rounder]);
        let high = self.number(-LN2_HIGH);
        let r = self.multiply_add(&n, &high, &x);
        let low = self.number(-LN2_LOW);
        let r = self.multiply_add(&n, &low, &r);
        let square = self.reals(ops::arith::MULF, &[&r, &r]);
        let p = self.polynomial(&EXP, &r);
        let p = self.multiply_add(&p, &square, &r);
        let one = self.number(1.0);
        let p = self.reals(ops::arith::ADDF, &[&p, &one]);
        let bits = self.bits(&shifted, "f32", "i32");
        let zero = self.integer(ROUNDER.to_bits().cast_signed());
        let n = self.integers(ops::arith::SUBI, &[&bits, &zero]);
        self.scaled(&p, &n)
    }

    /// `x · 2ⁿ`.
    fn scaled(&mut self, x: &str, n: &str) -> String {
        if self.scales {
            // `llvm.intr.ldexp` takes no vectors.
            let (real, integer) = (self.real(), self.typed("i32"));
            let name = ops::llvm::CALL_INTRINSIC;
            return self.line(&format!(
                "{name} \"llvm.ldexp\"({x}, {n}) : ({real}, {integer}) -> {real}"
            ));
        }
        // 2ⁿ as a product of two powers, each of which is a normal number.
        let one = self.integer(1);
        let half = self.integers(ops::arith::SHRSI, &[n, &one]);
        let rest = self.integers(ops::arith::SUBI, &[n, &half]);
        let mut result = x.to_owned();
        for exponent in [half, rest] {
            let (bias, position) = (self.integer(127), self.integer(23));
            let biased = self.integers(ops::arith::ADDI, &[&exponent, &bias]);
            let bits = self.integers(ops::arith::SHLI, &[&biased, &position]);
            let power = self.bits(&bits, "i32", "f32");
            result = self.reals(ops::arith::MULF, &[&result, &power]);
        }
        result
    }

    /// A polynomial near 0, `1 - 2 / (exp(2|x|) + 1)` elsewhere.
    fn tanh(&mut self, x: &str) -> String {
        let a = self.reals(ops::math::ABSF, &[x]);
        let square = self.reals(ops::arith::MULF, &[&a, &a]);
        let p = self.polynomial(&TANH, &square);
        let p = self.reals(ops::arith::MULF, &[&p, &square]);
        let small = self.multiply_add(&p, &a, &a);
        let twice = self.reals(ops::arith::ADDF, &[&a, &a]);
        let e = self.call(Function::Exp, &twice);
        let (one, two) = (self.number(1.0), self.number(2.0));
        let e = self.reals(ops::arith::ADDF, &[&e, &one]);
        let quotient = self.reals(ops::arith::DIVF, &[&two, &e]);
        let large = self.reals(ops::arith::SUBF, &[&one, &quotient]);
        self.joined(&a, 0.625, &small, &large, x)
    }

    /// A polynomial near 0, `1 - exp(-a·R(a))` elsewhere, with `a = |x|`.
    fn erf(&mut self, x: &str) -> String {
        let a = self.reals(ops::math::ABSF, &[x]);
        let square = self.reals(ops::arith::MULF, &[&a, &a]);
        let p = self.polynomial(&ERF, &square);
        let small = self.multiply_add(&p, &a, &a);
        let near = self.at_most(&a, 4.0);
        let p = self.polynomial(&ERFC, &near);
        let p = self.reals(ops::arith::MULF, &[&p, &near]);
        let p = self.reals(ops::arith::NEGF, &[&p]);
        let e = self.call(Function::Exp, &p);
        let one = self.number(1.0);
        let large = self.reals(ops::arith::SUBF, &[&one, &e]);
        self.joined(&a, 0.9375, &small, &large, x)
    }

    /// `small` below a limit, `large` from there on, with the sign of `x`.
    fn joined(&mut self, a: &str, limit: f32, small: &str, large: &str, x: &str) -> String {
        let limit = self.number(limit);
        let is_small = self.compare("olt", a, &limit);
        let result = self.select(&is_small, small, large);
        self.reals(ops::math::COPYSIGN, &[&result, x])
    }

    /// `log(x) = e · ln 2 + log(1 + f)` with `x = 2ᵉ · (1 + f)` and 1 + f between √½ and √2.
    fn log(&mut self, x: &str) -> String {
        let (normal, scale) = (self.number(f32::MIN_POSITIVE), self.number(8_388_608.0));
        let is_subnormal = self.compare("olt", x, &normal);
        let scaled = self.reals(ops::arith::MULF, &[x, &scale]);
        let own = self.select(&is_subnormal, &scaled, x);
        let (shift, none) = (self.number(-23.0), self.number(0.0));
        let shift = self.select(&is_subnormal, &shift, &none);
        let bits = self.bits(&own, "f32", "i32");
        // From the bits of √½ on, those of a mantissa between √½ and √2.
        let root = std::f32::consts::FRAC_1_SQRT_2.to_bits().cast_signed();
        let start = self.integer(root);
        let above = self.integers(ops::arith::SUBI, &[&bits, &start]);
        let position = self.integer(23);
        let e = self.integers(ops::arith::SHRSI, &[&above, &position]);
        let power = self.integers(ops::arith::SHLI, &[&e, &position]);
        let mantissa = self.integers(ops::arith::SUBI, &[&bits, &power]);
        let mantissa = self.bits(&mantissa, "i32", "f32");
        let one = self.number(1.0);
        let f = self.reals(ops::arith::SUBF, &[&mantissa, &one]);
        let (from, to) = (self.typed("i32"), self.real());
        let e = self.line(&format!("{} {e} : {from} to {to}", ops::arith::SITOFP));
        let e = self.reals(ops::arith::ADDF, &[&e, &shift]);
        let square = self.reals(ops::arith::MULF, &[&f, &f]);
        let p = self.polynomial(&LOG, &f);
        let p = self.reals(ops::arith::MULF, &[&p, &f]);
        let p = self.reals(ops::arith::MULF, &[&p, &square]);
        let low = self.number(LN2_LOW);
        let y = self.multiply_add(&e, &low, &p);
        let half = self.number(-0.5);
        let y = self.multiply_add(&square, &half, &y);
        let y = self.reals(ops::arith::ADDF, &[&f, &y]);
        let high = self.number(LN2_HIGH);
        let mut result = self.multiply_add(&e, &high, &y);
        let infinity = self.number(f32::INFINITY);
        // NaN compares with nothing: it stays itself.
        for (predicate, bound, value) in [
            ("oeq", &infinity, infinity.clone()),
            ("oeq", &none, self.number(f32::NEG_INFINITY)),
            ("olt", &none, self.number(f32::NAN)),
        ] {
            let holds = self.compare(predicate, x, bound);
            result = self.select(&holds, &value, &result);
        }
        let is_nan = self.compare("uno", x, x);
        self.select(&is_nan, x, &result)
    }
}
