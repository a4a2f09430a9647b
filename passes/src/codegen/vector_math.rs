// SPDX-License-Identifier: Apache-2.0
//! `skript-expand-math`: functions as arithmetic, which LLVM vectorizes.
//!
//! A call of the C library takes one number at a time. Each operation of `math` whose function has an expansion in `semantics`
//! ([`ScalarOp::expansion`]), on such a number or on a vector of them, becomes a call of a function that LLVM inlines.
//! `docs/numerics.md` has the errors. Infinities, NaN, signed zeros and subnormal numbers are those of the table.
//!
//! A power with a constant exponent may have a shorter one, of the base ([`ScalarOp::power_expansion`]).
//!
//! Where a processor converts reals to the nearest integers, a real that is rounded to the even one of two and converted is rounded by the
//! mode of the processor instead, which is the same: no code changes it.
//!
//! Requires: functions of the dialect `func`. Guarantees: none of these operations is left.

use super::extremes::{self, Extremes};
use crate::ir::vector::element_or_self;
use crate::ir::{self, ops};
use melior::ir::attribute::{FlatSymbolRefAttribute, FloatAttribute};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{TypeLike, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError, PassOption};
use skript_semantics::expansion::{Class, Expansion, Operand, Operation, Step};
use skript_semantics::{RealType, ScalarOp};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

/// The pass `skript-expand-math`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-expand-math",
    summary: "expand functions into arithmetic that LLVM vectorizes",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Func, Dialect::Llvm, Dialect::Math],
    options: &[
        PassOption {
            name: "scales",
            summary: "whether one instruction multiplies the elements of a vector by powers of two",
            default: "false",
        },
        Extremes::OPTION,
        PassOption {
            name: "rounds",
            summary: "whether one instruction converts the elements of a vector to the nearest integers",
            default: "false",
        },
    ],
    run: |root, options, rewriter| {
        let instructions = Instructions {
            scales: options.get("scales")?,
            extremes: Extremes::named(options.text("extremes"))?,
        };
        // Kernels call functions of their own module.
        let modules = ir::blocks(root).into_iter().flat_map(ir::operations);
        let modules = modules.filter(|op| skript_dialect::op::is(op, ops::gpu::MODULE));
        for kernels in modules.collect::<Vec<_>>() {
            let instructions = Instructions { extremes: Extremes::Selections, ..Instructions::default() };
            expand(kernels, instructions, rewriter.context())?;
        }
        if options.get("rounds")? {
            round_by_mode(root, rewriter.context())?;
        }
        expand(root, instructions, rewriter.context())
    },
};

/// What the processor has instructions for.
#[derive(Clone, Copy, Default)]
struct Instructions {
    scales: bool,
    extremes: Extremes,
}

/// The operations with functions that may have an expansion.
const FUNCTIONS: [(&str, ScalarOp); 20] = [
    (ops::arith::MAXIMUMF, ScalarOp::Max),
    (ops::arith::MAXNUMF, ScalarOp::Max),
    (ops::arith::MINIMUMF, ScalarOp::Min),
    (ops::arith::MINNUMF, ScalarOp::Min),
    (ops::math::ACOS, ScalarOp::Acos),
    (ops::math::ACOSH, ScalarOp::Acosh),
    (ops::math::ASIN, ScalarOp::Asin),
    (ops::math::ASINH, ScalarOp::Asinh),
    (ops::math::ATAN, ScalarOp::Atan),
    (ops::math::ATANH, ScalarOp::Atanh),
    (ops::math::COS, ScalarOp::Cos),
    (ops::math::COSH, ScalarOp::Cosh),
    (ops::math::ERF, ScalarOp::Erf),
    (ops::math::EXP, ScalarOp::Exp),
    (ops::math::LOG, ScalarOp::Log),
    (ops::math::POWF, ScalarOp::Pow),
    (ops::math::SIN, ScalarOp::Sin),
    (ops::math::SINH, ScalarOp::Sinh),
    (ops::math::TAN, ScalarOp::Tan),
    (ops::math::TANH, ScalarOp::Tanh),
];

/// A function for operands of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Function {
    op: ScalarOp,
    is_wide: bool,
    /// The number of elements of a vector; `None` for a scalar.
    lanes: Option<u32>,
    variant: Variant,
}

/// What a function spares its expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Variant {
    General,
    /// The exponent is constant, and has these bits.
    Exponent(u64),
    /// No operand is NaN, or the result is not used there.
    Numbers,
}

impl Function {
    /// `None` if the operation is no function, or its operands are neither numbers nor vectors of one dimension.
    fn of(op: OperationRef) -> Option<Function> {
        let name = ir::name(op);
        let (_, function) = FUNCTIONS.iter().find(|(known, _)| *known == name)?;
        let r#type = op.result(0).ok()?.r#type().to_string();
        let (element, lanes) = match r#type.strip_prefix("vector<") {
            None => (r#type.as_str(), None),
            Some(vector) => {
                let (lanes, element) = vector.strip_suffix('>')?.split_once('x')?;
                (element, Some(lanes.parse().ok()?))
            }
        };
        let is_wide = match element {
            "f32" => false,
            "f64" => true,
            _ => return None,
        };
        let is_of_numbers = [ops::arith::MAXNUMF, ops::arith::MINNUMF].contains(&name.as_str());
        let general = Function {
            op: *function,
            is_wide,
            lanes,
            variant: if is_of_numbers { Variant::Numbers } else { Variant::General },
        };
        let second = ir::operand_at(op, 1).and_then(constant);
        // LLVM knows what a constant bound spares.
        let is_bounded = is_extreme(*function) && second.is_some();
        if is_bounded {
            return None;
        }
        let exponent = second.filter(|_| *function == ScalarOp::Pow);
        let special =
            exponent.map(|exponent| Function { variant: Variant::Exponent(exponent.to_bits()), ..general });
        Some(special.filter(|special| special.expansion().is_some()).unwrap_or(general))
    }

    /// Whether it selects the lesser or the greater of elements. LLVM has reductions of scalars by these.
    fn is_extreme_of_vectors(self) -> bool {
        is_extreme(self.op) && self.lanes.is_some()
    }

    fn expansion(self) -> Option<Expansion> {
        if self.lanes.is_none() && is_extreme(self.op) {
            return None;
        }
        let real = if self.is_wide { RealType::F64 } else { RealType::F32 };
        match self.variant {
            Variant::General => self.op.expansion(real),
            Variant::Numbers => self.op.number_expansion(real),
            Variant::Exponent(bits) => ScalarOp::power_expansion(f64::from_bits(bits), real),
        }
    }

    fn symbol(self) -> String {
        let name = format!("{:?}", self.op).to_lowercase();
        let name = match self.variant {
            Variant::General => name,
            Variant::Numbers => format!("{name}_of_numbers"),
            Variant::Exponent(bits) => format!("{name}_{bits:x}"),
        };
        let element = if self.is_wide { "f64" } else { "f32" };
        match self.lanes {
            None => format!("skript.{name}.{element}"),
            Some(lanes) => format!("skript.{name}.{lanes}x{element}"),
        }
    }
}

/// Replaces the operations below `root`.
fn expand<'c: 'a, 'a>(
    root: OperationRef<'c, 'a>,
    instructions: Instructions,
    context: &'c melior::Context,
) -> Result<(), PassError> {
    let selects = instructions.extremes != Extremes::Operations;
    let is_extreme = |op: OperationRef| Function::of(op).is_some_and(Function::is_extreme_of_vectors);
    if selects {
        extremes::test_chains(root, is_extreme, context)?;
    }
    let mut needed = BTreeMap::new();
    let mut calls = Vec::new();
    for op in ir::nested(root) {
        let Some(function) = Function::of(op) else {
            continue;
        };
        if function.is_extreme_of_vectors() && !selects {
            continue;
        }
        let expansion = match needed.get(&function) {
            None => function.expansion(),
            Some(_) => None,
        };
        if let Some(expansion) = expansion {
            needed.insert(function, expansion);
        }
        if needed.contains_key(&function) {
            calls.push((op, function));
        }
    }
    for (op, function) in calls {
        // They may be results of functions that were replaced before.
        let mut operands: Vec<Value> = op.operands().collect();
        if matches!(function.variant, Variant::Exponent(_)) {
            operands.truncate(1);
        }
        let callee = FlatSymbolRefAttribute::new(context, &function.symbol()).into();
        let at = ir::Builder::before(context, op)?.with_location(op.location());
        let result: Value = op.result(0)?.into();
        let attributes = [("callee", callee)];
        let called = at.value(ops::func::CALL, &operands, &attributes, result.r#type())?;
        ir::replace_uses(result, called);
        ir::erase(op);
    }
    let present = ir::symbols(root);
    let text: Vec<String> = needed
        .iter()
        .filter(|(function, _)| !present.contains(&function.symbol()))
        .map(|(function, expansion)| Text::of(*function, expansion, instructions))
        .collect();
    ir::append_functions(root, &text.concat())?;
    Ok(())
}

/// Rounds what is converted to integers of 32 bits by the mode of the processor.
fn round_by_mode<'c: 'a, 'a>(
    root: OperationRef<'c, 'a>,
    context: &'c melior::Context,
) -> Result<(), PassError> {
    let kernels = ir::walk::named(root, ops::gpu::MODULE).into_iter();
    let kernels: HashSet<usize> = kernels.flat_map(ir::nested).map(ir::key).collect();
    for op in ir::walk::named(root, ops::math::ROUNDEVEN) {
        let result: Value = op.result(0)?.into();
        let is_short = element_or_self(result.r#type()).is_f32();
        let is_kernel = kernels.contains(&ir::key(op));
        let is_conversion = |user: &OperationRef<'c, 'a>| {
            let mut kinds = user.results().map(|own| element_or_self(own.r#type()));
            ir::name(*user) == ops::arith::FPTOSI && kinds.all(|kind| kind.to_string() == "i32")
        };
        if is_kernel || !is_short || !ir::users(result).iter().all(is_conversion) {
            continue;
        }
        let at = ir::Builder::before(context, op)?.with_location(op.location());
        let rounded = at.value(ops::llvm::INTR_RINT, &[op.operand(0)?], &[], result.r#type())?;
        ir::replace_uses(result, rounded);
        ir::erase(op);
    }
    Ok(())
}

fn is_extreme(op: ScalarOp) -> bool {
    matches!(op, ScalarOp::Min | ScalarOp::Max)
}

/// The real that a value always is, in all elements.
fn constant(value: Value) -> Option<f64> {
    let (op, _) = ir::definition(value)?;
    let is_constant = ir::name(op) == ops::arith::CONSTANT;
    let attribute = op.attribute("value").ok().filter(|_| is_constant)?;
    let element = ir::splat::element(attribute).unwrap_or(attribute);
    Some(FloatAttribute::try_from(element).ok()?.value())
}

/// The text of a function.
struct Text {
    lanes: Option<u32>,
    instructions: Instructions,
    lines: String,
    counter: usize,
    /// The names of results, by step.
    results: Vec<String>,
}

impl Text {
    fn of(function: Function, expansion: &Expansion, instructions: Instructions) -> String {
        let mut text = Text {
            lanes: function.lanes,
            instructions,
            lines: String::new(),
            counter: 0,
            results: Vec::new(),
        };
        let result = match text.range(function) {
            Some(result) => result,
            None => {
                for step in &expansion.steps {
                    let result = text.step(step);
                    text.results.push(result);
                }
                text.operand(expansion.result, expansion.class)
            }
        };
        let r#type = text.r#type(expansion.class);
        let arguments: Vec<String> = (0..expansion.arity).map(|n| format!("%x{n}: {type}")).collect();
        format!(
            "func.func private @{}({}) -> {type} attributes {{llvm.linkage = #llvm.linkage<internal>, \
             passthrough = [\"alwaysinline\"]}} {{\n{}  return {result} : {type}\n}}\n",
            function.symbol(),
            arguments.join(", "),
            text.lines,
        )
    }

    fn r#type(&self, class: Class) -> String {
        let element = match class {
            Class::I1 => "i1",
            Class::I32 => "i32",
            Class::I64 => "i64",
            Class::F32 => "f32",
            Class::F64 => "f64",
        };
        match self.lanes {
            None => element.to_owned(),
            Some(lanes) => format!("vector<{lanes}x{element}>"),
        }
    }

    fn line(&mut self, text: &str) -> String {
        self.counter += 1;
        let name = format!("%v{}", self.counter);
        let _ = writeln!(self.lines, "  {name} = {text}");
        name
    }

    fn constant(&mut self, value: &str, class: Class) -> String {
        let r#type = self.r#type(class);
        let name = ops::arith::CONSTANT;
        match self.lanes {
            None => self.line(&format!("{name} {value} : {type}")),
            Some(_) => self.line(&format!("{name} dense<{value}> : {type}")),
        }
    }

    fn operand(&mut self, operand: Operand, class: Class) -> String {
        match operand {
            Operand::Argument(number) => format!("%x{number}"),
            Operand::Step(number) => self.results.get(number).cloned().unwrap_or_default(),
            Operand::Real(x) if class == Class::F32 => {
                self.constant(&format!("0x{:08X}", (x as f32).to_bits()), class)
            }
            Operand::Real(x) => self.constant(&format!("0x{:016X}", x.to_bits()), class),
            Operand::Integer(i) => self.constant(&i.to_string(), class),
            // The type of a truth value is not written.
            Operand::Truth(b) if self.lanes.is_none() => self.line(&format!("{} {b}", ops::arith::CONSTANT)),
            Operand::Truth(b) => self.constant(&b.to_string(), class),
        }
    }

    /// An operation in the generic form.
    fn apply(&mut self, name: &str, attributes: &str, operands: &[(String, Class)], result: Class) -> String {
        let values: Vec<&str> = operands.iter().map(|(value, _)| value.as_str()).collect();
        let types: Vec<String> = operands.iter().map(|(_, class)| self.r#type(*class)).collect();
        let result = self.r#type(result);
        self.line(&format!(
            "\"{name}\"({}) {attributes} : ({}) -> {result}",
            values.join(", "),
            types.join(", ")
        ))
    }

    fn step(&mut self, step: &Step) -> String {
        let operands: Vec<(String, Class)> =
            step.operands.iter().map(|(operand, class)| (self.operand(*operand, *class), *class)).collect();
        let from = step.operands.first().map_or(step.class, |(_, class)| *class);
        if step.operation == Operation::Scale {
            return self.scaled(&operands, step.class);
        }
        let (name, attributes) = spelling(step.operation, from, step.class);
        self.apply(name, attributes, &operands, step.class)
    }

    /// The lesser or the greater of the arguments, by the instruction of AVX-512 for whole vectors. It yields the number where the
    /// other operand is NaN.
    fn range(&mut self, function: Function) -> Option<String> {
        let (element, class, mask) = match (function.is_wide, self.lanes) {
            (false, Some(16)) => ("ps", Class::F32, "i16"),
            (true, Some(8)) => ("pd", Class::F64, "i8"),
            _ => return None,
        };
        // The sign is that of the result.
        let selection = match function.op {
            ScalarOp::Min => 0b0100,
            ScalarOp::Max => 0b0101,
            _ => return None,
        };
        if self.instructions.extremes != Extremes::Ranges {
            return None;
        }
        let number = |value: &str, r#type: &str| format!("{} {value} : {type}", ops::arith::CONSTANT);
        let selection = self.line(&number(&selection.to_string(), "i32"));
        let lanes = self.line(&number("-1", mask));
        // As the mode of the processor has it.
        let rounding = self.line(&number("4", "i32"));
        let r#type = self.r#type(class);
        let chosen = self.line(&format!(
            "{} \"llvm.x86.avx512.mask.range.{element}.512\"(%x0, %x1, {selection}, %x0, {lanes}, {rounding}) : \
             ({type}, {type}, i32, {type}, {mask}, i32) -> {type}",
            ops::llvm::CALL_INTRINSIC
        ));
        if function.variant == Variant::Numbers {
            return Some(chosen);
        }
        let operands = ["%x0", "%x1"].map(|name| (name.to_owned(), class));
        let (name, attributes) = spelling(Operation::Unordered, class, Class::I1);
        let is_nan = self.apply(name, attributes, &operands, Class::I1);
        let nan = self.operand(Operand::Real(f64::NAN), class);
        let operands = [(is_nan, Class::I1), (nan, class), (chosen, class)];
        Some(self.apply(ops::arith::SELECT, "", &operands, class))
    }

    /// `x · 2ⁿ`
    fn scaled(&mut self, operands: &[(String, Class)], class: Class) -> String {
        let [(x, _), (n, _), (power, _)] = operands else {
            return String::new();
        };
        // Of whole vectors, the exponents may be reals.
        let own = match self.lanes.filter(|_| class == Class::F32) {
            Some(16) => Some(("512", "i16", true)),
            Some(8) => Some(("256", "i8", false)),
            _ => None,
        };
        if let Some((bits, mask, rounds)) = own.filter(|_| self.instructions.scales) {
            let number = |value: &str, r#type: &str| format!("{} {value} : {type}", ops::arith::CONSTANT);
            let lanes = self.line(&number("-1", mask));
            let real = self.r#type(class);
            let (mode, mode_type) = if rounds {
                // As the mode of the processor has it.
                (format!(", {}", self.line(&number("4", "i32"))), ", i32")
            } else {
                (String::new(), "")
            };
            return self.line(&format!(
                "{} \"llvm.x86.avx512.mask.scalef.ps.{bits}\"({x}, {power}, {x}, {lanes}{mode}) : \
                 ({real}, {real}, {real}, {mask}{mode_type}) -> {real}",
                ops::llvm::CALL_INTRINSIC
            ));
        }
        if self.instructions.scales {
            // `llvm.intr.ldexp` takes no vectors.
            let (real, integer) = (self.r#type(class), self.r#type(Class::I32));
            let name = ops::llvm::CALL_INTRINSIC;
            return self.line(&format!("{name} \"llvm.ldexp\"({x}, {n}) : ({real}, {integer}) -> {real}"));
        }
        // 2ⁿ as a product of two powers, each of which is a normal number.
        let integer = |value: &str| (value.to_owned(), Class::I32);
        let one = self.constant("1", Class::I32);
        let half = [integer(n), integer(&one)];
        let half = self.apply(ops::arith::SHRSI, "", &half, Class::I32);
        let rest = [integer(n), integer(&half)];
        let rest = self.apply(ops::arith::SUBI, "", &rest, Class::I32);
        let mut result = x.clone();
        for exponent in [half, rest] {
            let (bias, position) = (self.constant("127", Class::I32), self.constant("23", Class::I32));
            let biased = [integer(&exponent), integer(&bias)];
            let biased = self.apply(ops::arith::ADDI, "", &biased, Class::I32);
            let bits = [integer(&biased), integer(&position)];
            let bits = self.apply(ops::arith::SHLI, "", &bits, Class::I32);
            let power = self.apply(ops::arith::BITCAST, "", &[integer(&bits)], class);
            let factors = [(result, class), (power, class)];
            result = self.apply(ops::arith::MULF, "", &factors, class);
        }
        result
    }
}

/// The operation for operands and results of these classes, and its attributes.
fn spelling(operation: Operation, from: Class, to: Class) -> (&'static str, &'static str) {
    let is_real = matches!(from, Class::F32 | Class::F64);
    let by_kind = |real, integer| if is_real { real } else { integer };
    let name = match operation {
        Operation::Add => by_kind(ops::arith::ADDF, ops::arith::ADDI),
        Operation::Sub => by_kind(ops::arith::SUBF, ops::arith::SUBI),
        Operation::Mul => by_kind(ops::arith::MULF, ops::arith::MULI),
        Operation::Div => ops::arith::DIVF,
        Operation::MultiplyAdd => ops::llvm::INTR_FMULADD,
        Operation::Neg => ops::arith::NEGF,
        Operation::Abs => ops::math::ABSF,
        Operation::CopySign => ops::math::COPYSIGN,
        Operation::Sqrt => ops::math::SQRT,
        Operation::Floor => ops::math::FLOOR,
        Operation::ShiftLeft => ops::arith::SHLI,
        Operation::ShiftRight => ops::arith::SHRUI,
        Operation::ShiftRightSigned => ops::arith::SHRSI,
        Operation::And => ops::arith::ANDI,
        Operation::Or => ops::arith::ORI,
        Operation::Xor => ops::arith::XORI,
        Operation::Equal => by_kind(ops::arith::CMPF, ops::arith::CMPI),
        Operation::Less | Operation::Greater | Operation::Unordered => ops::arith::CMPF,
        Operation::Select => ops::arith::SELECT,
        Operation::Bits => ops::arith::BITCAST,
        Operation::Convert if !is_real => ops::arith::SITOFP,
        Operation::Convert if to == Class::F64 => ops::arith::EXTF,
        Operation::Convert => ops::arith::TRUNCF,
        Operation::Scale => ops::llvm::CALL_INTRINSIC,
    };
    // `oeq`, `eq`, `olt`, `ogt` and `uno`.
    let attributes = match operation {
        Operation::Equal if is_real => "{predicate = 1 : i64}",
        Operation::Equal => "{predicate = 0 : i64}",
        Operation::Less => "{predicate = 4 : i64}",
        Operation::Greater => "{predicate = 2 : i64}",
        Operation::Unordered => "{predicate = 14 : i64}",
        _ => "",
    };
    (name, attributes)
}
