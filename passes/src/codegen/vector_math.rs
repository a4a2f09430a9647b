// SPDX-License-Identifier: Apache-2.0
//! `skript-expand-math`: expands math functions into arithmetic, which LLVM vectorizes.
//!
//! Functions of the C library are scalar. Each operation of `math` with an expansion in `semantics`
//! ([`ScalarOp::expansion`]), on scalars or vectors, becomes a call of a function that LLVM inlines. `docs/numerics.md` lists the
//! errors. Results for infinities, NaN, signed zeros and subnormal numbers are specified by the operation table.
//!
//! A power with a constant exponent may have a shorter expansion ([`ScalarOp::power_expansion`]).
//!
//! If one instruction converts reals to the nearest integers, `roundeven` before a conversion becomes a rounding in the
//! current rounding mode. The result is the same, because no code changes the mode.
//!
//! Requires: functions of the dialect `func`. Guarantees: no such operations remain.

use super::extremes::{self, Extremes};
use crate::ir::arith::Constant;
use crate::ir::steps::{self, Steps};
use crate::ir::{self, Builder, attributes, ops, types, vector};
use melior::ir::attribute::FlatSymbolRefAttribute;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::IntegerType;
use melior::ir::{Type, TypeLike, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError, PassOption};
use skript_semantics::{Class, Emitter, Expansion, Operation, RealType, Scalar, ScalarKind, ScalarOp};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};

/// The pass `skript-expand-math`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-expand-math",
    summary: "expand functions into arithmetic that LLVM vectorizes",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Func, Dialect::Llvm, Dialect::Math],
    options: &[
        PassOption {
            name: "scales",
            summary: "whether the processor has an instruction that multiplies the elements of a vector by powers of two",
            default: "false",
        },
        Extremes::OPTION,
        PassOption {
            name: "rounds",
            summary: "whether the processor has an instruction that converts the elements of a vector to the nearest integers",
            default: "false",
        },
    ],
    run: |root, options, rewriter| {
        let instructions = Instructions {
            scales: options.get("scales")?,
            extremes: Extremes::named(options.text("extremes"))?,
        };
        // Kernels call functions in their module.
        let mut modules = ir::children(root);
        modules.retain(|op| skript_dialect::op::is(op, ops::gpu::MODULE));
        for kernels in modules {
            let instructions = Instructions { extremes: Extremes::Selections, ..Instructions::default() };
            expand(kernels, instructions, rewriter.context())?;
        }
        if options.get("rounds")? {
            round_by_mode(root)?;
        }
        expand(root, instructions, rewriter.context())
    },
};

/// The instructions of the processor.
#[derive(Clone, Copy, Default)]
struct Instructions {
    scales: bool,
    extremes: Extremes,
}

/// The scalar operation that an operation on reals computes.
fn function_of(name: &str) -> Option<ScalarOp> {
    match name {
        ops::arith::MAXNUMF => Some(ScalarOp::Max),
        ops::arith::MINNUMF => Some(ScalarOp::Min),
        _ => steps::scalar_of(name).filter(|(_, kind)| *kind == ScalarKind::Real).map(|(op, _)| op),
    }
}

/// A function for operands of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Function {
    op: ScalarOp,
    real: RealType,
    /// The number of elements of a vector; `None` for a scalar.
    lanes: Option<i64>,
    variant: Variant,
}

/// A special case with a shorter expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Variant {
    General,
    /// A constant exponent, as bits.
    Exponent(u64),
    /// No operand is NaN, or the result for NaN is not used.
    Numbers,
}

impl Function {
    /// `None` for other operations, and for operands that are neither scalars nor vectors of one dimension.
    fn from_op(op: OperationRef) -> Option<Function> {
        let name = ir::name(op);
        let function = function_of(&name)?;
        let r#type = op.result(0).ok()?.r#type();
        let lanes = match (r#type.is_vector(), vector::extents(r#type).as_deref()) {
            (false, _) => None,
            (true, Some([lanes])) => Some(*lanes),
            _ => return None,
        };
        let real = types::reals(vector::element_or_self(r#type))?;
        if !matches!(real, RealType::F32 | RealType::F64) {
            return None;
        }
        let is_of_numbers = [ops::arith::MAXNUMF, ops::arith::MINNUMF].contains(&name.as_str());
        let general = Function {
            op: function,
            real,
            lanes,
            variant: if is_of_numbers { Variant::Numbers } else { Variant::General },
        };
        let second = ir::operand_at(op, 1).and_then(constant);
        // LLVM optimizes a clamp by a constant itself.
        let is_bounded = is_extreme(function) && second.is_some();
        if is_bounded {
            return None;
        }
        let exponent = second.filter(|_| function == ScalarOp::Pow);
        let special =
            exponent.map(|exponent| Function { variant: Variant::Exponent(exponent.to_bits()), ..general });
        Some(special.filter(|special| special.expansion().is_some()).unwrap_or(general))
    }

    /// Whether the function is a minimum or maximum of vectors. Scalar ones are not expanded, so that LLVM recognizes reductions by them.
    fn is_extreme_of_vectors(self) -> bool {
        is_extreme(self.op) && self.lanes.is_some()
    }

    fn expansion(self) -> Option<Expansion> {
        if self.lanes.is_none() && is_extreme(self.op) {
            return None;
        }
        match self.variant {
            Variant::General => self.op.expansion(self.real),
            Variant::Numbers => self.op.number_expansion(self.real),
            Variant::Exponent(bits) => ScalarOp::power_expansion(f64::from_bits(bits), self.real),
        }
    }

    /// The type of arguments and result.
    fn r#type(self, context: &melior::Context) -> Type<'_> {
        let element = steps::type_of(context, Class::Real(self.real));
        self.lanes.map_or(element, |lanes| vector::of(&[lanes], element))
    }

    fn symbol(self) -> String {
        let name = format!("{:?}", self.op).to_lowercase();
        let name = match self.variant {
            Variant::General => name,
            Variant::Numbers => format!("{name}_of_numbers"),
            Variant::Exponent(bits) => format!("{name}_{bits:x}"),
        };
        let real = self.real;
        match self.lanes {
            None => format!("skript.{name}.{real}"),
            Some(lanes) => format!("skript.{name}.{lanes}x{real}"),
        }
    }
}

/// Replaces the operations nested in `root`.
fn expand<'c: 'a, 'a>(
    root: OperationRef<'c, 'a>,
    instructions: Instructions,
    context: &'c melior::Context,
) -> Result<(), PassError> {
    let selects = instructions.extremes != Extremes::Operations;
    let is_extreme = |op: OperationRef| Function::from_op(op).is_some_and(Function::is_extreme_of_vectors);
    if selects {
        extremes::test_chains(root, is_extreme, context)?;
    }
    let mut needed = BTreeMap::new();
    let mut calls = Vec::new();
    for op in ir::nested(root) {
        let Some(function) = Function::from_op(op) else {
            continue;
        };
        if function.is_extreme_of_vectors() && !selects {
            continue;
        }
        if let Entry::Vacant(place) = needed.entry(function) {
            let Some(expansion) = function.expansion() else {
                continue;
            };
            place.insert(expansion);
        }
        calls.push((op, function));
    }
    for (op, function) in calls {
        // Do not collect the operands earlier: the previous iterations replace results that may be operands.
        let mut operands: Vec<Value> = op.operands().collect();
        if matches!(function.variant, Variant::Exponent(_)) {
            operands.truncate(1);
        }
        let callee = FlatSymbolRefAttribute::new(context, &function.symbol()).into();
        let result: Value = op.result(0)?.into();
        let value =
            Builder::at(op).value(ops::func::CALL, &operands, &[("callee", callee)], result.r#type())?;
        ir::replace_uses(result, value);
        ir::erase(op);
    }
    let present = ir::symbols(root);
    for (function, expansion) in needed {
        let symbol = function.symbol();
        if present.contains(&symbol) {
            continue;
        }
        let r#type = function.r#type(context);
        let arguments = vec![r#type; expansion.arguments.len()];
        ir::func::define_inline(root, &symbol, &arguments, r#type, |at, arguments| {
            let steps = Steps::new(*at, r#type);
            Emission { at: *at, steps, function, instructions }.body(&expansion, arguments)
        })?;
    }
    Ok(())
}

/// Rounds operands of conversions to 32-bit integers in the current rounding mode.
fn round_by_mode(root: OperationRef) -> Result<(), PassError> {
    let kernels = ir::walk::named(root, ops::gpu::MODULE).into_iter();
    let kernels: HashSet<usize> = kernels.flat_map(ir::nested).map(ir::key).collect();
    for op in ir::walk::named(root, ops::math::ROUNDEVEN) {
        let result: Value = op.result(0)?.into();
        let is_short = vector::element_or_self(result.r#type()).is_f32();
        let is_kernel = kernels.contains(&ir::key(op));
        let is_conversion = |user: &OperationRef| {
            let mut kinds = user.results().map(|result| vector::element_or_self(result.r#type()));
            ir::name(*user) == ops::arith::FPTOSI && kinds.all(|kind| kind.to_string() == "i32")
        };
        if is_kernel || !is_short || !ir::users(result).iter().all(is_conversion) {
            continue;
        }
        let operand = op.operand(0)?;
        let rounded = Builder::at(op).value(ops::llvm::INTR_RINT, &[operand], &[], result.r#type())?;
        ir::replace_uses(result, rounded);
        ir::erase(op);
    }
    Ok(())
}

fn is_extreme(op: ScalarOp) -> bool {
    matches!(op, ScalarOp::Min | ScalarOp::Max)
}

/// The value of a constant real, or of a splat of one.
fn constant(value: Value) -> Option<f64> {
    let attribute = Constant::of(value)?.value().ok()?;
    let element = ir::splat::element(attribute).unwrap_or(attribute);
    attributes::real(element)
}

/// Emits the steps of a function.
struct Emission<'c, 'a> {
    at: Builder<'c, 'a>,
    steps: Steps<'c, 'a>,
    function: Function,
    instructions: Instructions,
}

impl<'c: 'a, 'a> Emission<'c, 'a> {
    fn body(
        &mut self,
        expansion: &Expansion,
        arguments: &[Value<'c, 'a>],
    ) -> Result<Value<'c, 'a>, melior::Error> {
        match arguments {
            [x, y] if self.instructions.extremes == Extremes::Ranges => match self.range(*x, *y)? {
                Some(value) => Ok(value),
                None => expansion.emit(self, arguments),
            },
            _ => expansion.emit(self, arguments),
        }
    }

    /// A constant operand of an intrinsic, such as a mask of all lanes or a rounding mode.
    fn number(&mut self, number: i64, width: u32) -> Result<Value<'c, 'a>, melior::Error> {
        self.at.constant(Scalar::Int(number), IntegerType::new(self.at.context, width).into())
    }

    fn intrinsic(
        &self,
        name: &str,
        operands: &[Value<'c, 'a>],
        class: Class,
    ) -> Result<Value<'c, 'a>, melior::Error> {
        let call = ir::llvm::call_intrinsic(&self.at, name, operands, &[self.steps.r#type(class)])?;
        Ok(call.result(0)?.into())
    }

    /// The minimum or maximum of full vectors by AVX-512's `vrangeps`, which ignores a NaN operand. `None` for other vectors.
    fn range(&mut self, x: Value<'c, 'a>, y: Value<'c, 'a>) -> Result<Option<Value<'c, 'a>>, melior::Error> {
        // The bits that select minimum or maximum, and that preserve the sign.
        let selection = match self.function.op {
            ScalarOp::Min => 0b0100,
            ScalarOp::Max => 0b0101,
            _ => return Ok(None),
        };
        let (name, class, mask) = match (self.function.real, self.function.lanes) {
            (RealType::F32, Some(16)) => ("llvm.x86.avx512.mask.range.ps.512", Class::F32, 16),
            (RealType::F64, Some(8)) => ("llvm.x86.avx512.mask.range.pd.512", Class::F64, 8),
            _ => return Ok(None),
        };
        let (selection, lanes) = (self.number(selection, 32)?, self.number(-1, mask)?);
        let operands = [x, y, selection, x, lanes, self.number(BY_MODE, 32)?];
        let selected = self.intrinsic(name, &operands, class)?;
        if self.function.variant == Variant::Numbers {
            return Ok(Some(selected));
        }
        let or_nan =
            Expansion::record([class; 3], |[x, y, selected]| x.unordered(y).select(f64::NAN, selected));
        or_nan.emit(self, &[x, y, selected]).map(Some)
    }

    /// `x · 2ⁿ`
    fn scaled(
        &mut self,
        operands: &[(Value<'c, 'a>, Class)],
        class: Class,
    ) -> Result<Value<'c, 'a>, melior::Error> {
        let &[(x, _), (n, _), (power, _)] = operands else {
            return Err(melior::Error::OperationBuild);
        };
        if !self.instructions.scales {
            // Multiplies by two powers of two, because 2ⁿ may not be a normal number.
            let product = Expansion::record([class, Class::I32], |[x, n]| {
                let half = n.shift_right_signed(1);
                let powers = [half, n - half].into_iter();
                powers.fold(x, |product, n| product * (n + 127).shift_left(23).bits(class))
            });
            return product.emit(self, &[x, n]);
        }
        // The instructions for full vectors take the exponents as reals.
        match self.function.lanes.filter(|_| class == Class::F32) {
            Some(16) => {
                let operands = [x, power, x, self.number(-1, 16)?, self.number(BY_MODE, 32)?];
                self.intrinsic("llvm.x86.avx512.mask.scalef.ps.512", &operands, class)
            }
            Some(8) => {
                let operands = [x, power, x, self.number(-1, 8)?];
                self.intrinsic("llvm.x86.avx512.mask.scalef.ps.256", &operands, class)
            }
            // MLIR's `llvm.intr.ldexp` does not support vectors.
            _ => self.intrinsic("llvm.ldexp", &[x, n], class),
        }
    }
}

/// The operand that makes an intrinsic round in the current rounding mode.
const BY_MODE: i64 = 4;

impl<'c: 'a, 'a> Emitter for Emission<'c, 'a> {
    type Value = Value<'c, 'a>;
    type Error = melior::Error;

    fn constant(&mut self, number: Scalar, class: Class) -> Result<Self::Value, melior::Error> {
        self.steps.constant(number, class)
    }

    fn apply(
        &mut self,
        operation: Operation,
        operands: &[(Self::Value, Class)],
        class: Class,
    ) -> Result<Self::Value, melior::Error> {
        match operation {
            Operation::Scale => self.scaled(operands, class),
            _ => self.steps.apply(operation, operands, class),
        }
    }
}
