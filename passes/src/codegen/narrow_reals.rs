// SPDX-License-Identifier: Apache-2.0
//! `skript-expand-narrow-reals`: replaces f16 and bf16 by 16-bit integers, and expands conversions that the processor lacks.
//!
//! 16-bit floats are storage types: code only moves and converts them. LLVM (22) compiles moves like arithmetic: on
//! processors without instructions for a type, it calls compiler runtime functions for each element of a vector, or fails.
//! Memory, registers, constants and signatures therefore use integers with the same bits, for which every processor has
//! loads, masks and shuffles. Conversions in the option remain, between bit casts; others become integer
//! arithmetic, also on vectors, in functions that LLVM inlines. Arithmetic and comparisons are computed in f32 and rounded, as
//! `docs/numerics.md` describes.
//!
//! Requires: a module in the dialect `llvm`. Guarantees: the only values of type f16 or bf16 are operands and results of the
//! conversions in the option, of processor intrinsics, and of functions that are only declared in the module.

mod conversions;
mod types;

use crate::ir::builder::llvm::Callee;
use crate::ir::vector::{element_or_self, shaped_like};
use crate::ir::{self, Builder, ops};
use conversions::{Conversion, Functions};
use melior::Context;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError, PassOption, op};
use std::collections::HashSet;
use types::{Narrow, Types};

/// The pass `skript-expand-narrow-reals`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-expand-narrow-reals",
    summary: "store f16 and bf16 as integers, and expand conversions that the processor lacks",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Llvm],
    options: &[PassOption {
        name: "conversions",
        summary: "conversions that the processor supports in both directions: f16-f32, f16-f64, separated by commas, or none",
        default: "none",
    }],
    run: |root, options, rewriter| {
        let named = |name| {
            Conversion::named(name).ok_or_else(|| {
                let message =
                    format!("option conversions: `{name}` is unknown; it must be {}", Conversion::names());
                PassError::at(root, message)
            })
        };
        let names = options.text("conversions").split(',').filter(|name| !name.is_empty() && *name != "none");
        let native: Vec<Conversion> = names.map(named).collect::<Result<_, _>>()?;
        Module::new(root, rewriter.context(), native).lower(root)
    },
};

/// Operations that move elements or create constants, which have the same effect on integers.
const MOVES: &[&str] = &[
    ops::llvm::ALLOCA,
    ops::llvm::BITCAST,
    ops::llvm::BR,
    ops::llvm::CALL,
    ops::llvm::COND_BR,
    ops::llvm::EXTRACTELEMENT,
    ops::llvm::EXTRACTVALUE,
    ops::llvm::FREEZE,
    ops::llvm::GETELEMENTPTR,
    ops::llvm::INSERTELEMENT,
    ops::llvm::INSERTVALUE,
    ops::llvm::INTR_MASKED_COMPRESSSTORE,
    ops::llvm::INTR_MASKED_EXPANDLOAD,
    ops::llvm::INTR_MASKED_GATHER,
    ops::llvm::INTR_MASKED_LOAD,
    ops::llvm::INTR_MASKED_SCATTER,
    ops::llvm::INTR_MASKED_STORE,
    ops::llvm::INTR_VECTOR_EXTRACT,
    ops::llvm::INTR_VECTOR_INSERT,
    ops::llvm::LOAD,
    ops::llvm::MLIR_CONSTANT,
    ops::llvm::MLIR_POISON,
    ops::llvm::MLIR_UNDEF,
    ops::llvm::MLIR_ZERO,
    ops::llvm::RETURN,
    ops::llvm::SELECT,
    ops::llvm::SHUFFLEVECTOR,
    ops::llvm::STORE,
    ops::llvm::SWITCH,
];

/// Arithmetic and comparisons, which are computed in a wider type.
const COMPUTES: &[&str] = &[
    ops::llvm::FADD,
    ops::llvm::FCMP,
    ops::llvm::FDIV,
    ops::llvm::FMUL,
    ops::llvm::FNEG,
    ops::llvm::FPTOSI,
    ops::llvm::FPTOUI,
    ops::llvm::FREM,
    ops::llvm::FSUB,
    ops::llvm::INTR_CEIL,
    ops::llvm::INTR_COPYSIGN,
    ops::llvm::INTR_COS,
    ops::llvm::INTR_EXP,
    ops::llvm::INTR_EXP2,
    ops::llvm::INTR_FABS,
    ops::llvm::INTR_FLOOR,
    ops::llvm::INTR_FMA,
    ops::llvm::INTR_FMULADD,
    ops::llvm::INTR_LOG,
    ops::llvm::INTR_MAXIMUM,
    ops::llvm::INTR_MAXNUM,
    ops::llvm::INTR_MINIMUM,
    ops::llvm::INTR_MINNUM,
    ops::llvm::INTR_NEARBYINT,
    ops::llvm::INTR_POW,
    ops::llvm::INTR_RINT,
    ops::llvm::INTR_ROUND,
    ops::llvm::INTR_ROUNDEVEN,
    ops::llvm::INTR_SIN,
    ops::llvm::INTR_SQRT,
    ops::llvm::INTR_TRUNC,
    ops::llvm::INTR_VECTOR_REDUCE_FADD,
    ops::llvm::INTR_VECTOR_REDUCE_FMAX,
    ops::llvm::INTR_VECTOR_REDUCE_FMAXIMUM,
    ops::llvm::INTR_VECTOR_REDUCE_FMIN,
    ops::llvm::INTR_VECTOR_REDUCE_FMINIMUM,
    ops::llvm::INTR_VECTOR_REDUCE_FMUL,
    ops::llvm::SITOFP,
    ops::llvm::UITOFP,
];

/// Operations without narrow values whose attributes may contain narrow types.
const ADDRESSES: &[&str] = &[ops::llvm::ALLOCA, ops::llvm::GETELEMENTPTR];

fn is_any(op: OperationRef, names: &[&str]) -> bool {
    names.iter().any(|name| op::is(&op, name))
}

/// An operation that requires floats, with the original types of its operands and results.
struct Computation<'c, 'a> {
    op: OperationRef<'c, 'a>,
    operands: Vec<Type<'c>>,
    results: Vec<Type<'c>>,
}

struct Module<'c> {
    context: &'c Context,
    native: Vec<Conversion>,
    types: Types<'c>,
    functions: Functions<'c>,
    /// The functions that are only declared in the module. Their signatures do not change.
    foreign: HashSet<String>,
}

impl<'c> Module<'c> {
    fn new(root: OperationRef, context: &'c Context, native: Vec<Conversion>) -> Module<'c> {
        let is_foreign = |op: &OperationRef| op::is(op, ops::llvm::FUNC) && ir::first_block(*op).is_none();
        let foreign = ir::children(root).into_iter().filter(is_foreign);
        Module {
            context,
            native,
            types: Types::new(context),
            functions: Functions::default(),
            foreign: foreign.filter_map(ir::func::symbol).collect(),
        }
    }

    fn lower<'a>(mut self, root: OperationRef<'c, 'a>) -> Result<(), PassError>
    where
        'c: 'a,
    {
        for symbol in ir::children(root) {
            if is_any(symbol, &[ops::llvm::FUNC, ops::llvm::MLIR_GLOBAL]) {
                self.symbol(symbol)?;
            }
        }
        self.functions.append(root)
    }

    /// Lowers a function or a global variable.
    fn symbol<'a>(&mut self, symbol: OperationRef<'c, 'a>) -> Result<(), PassError>
    where
        'c: 'a,
    {
        let is_function = op::is(&symbol, ops::llvm::FUNC);
        if is_function && ir::first_block(symbol).is_none() {
            return Ok(());
        }
        self.attributes(symbol)?;
        let (mut moves, mut computations) = (Vec::new(), Vec::new());
        for op in ir::nested(symbol) {
            let operands: Vec<Type> = op.operands().map(|v| v.r#type()).collect();
            let results: Vec<Type> = op.results().map(|v| v.r#type()).collect();
            let mut narrow = false;
            for r#type in operands.iter().chain(&results) {
                narrow |= self.types.integers(*r#type)?.is_some();
            }
            let is_foreign = || {
                let callee = ir::typed::symbol(op, "callee");
                callee.is_some_and(|callee| self.foreign.contains(&callee))
            };
            if !narrow && is_any(op, ADDRESSES) {
                self.attributes(op)?;
            } else if narrow && is_any(op, MOVES) && !is_foreign() {
                moves.push(op);
            } else if narrow {
                computations.push(Computation { op, operands, results });
            }
        }
        for block in ir::blocks(symbol) {
            for argument in ir::arguments(block) {
                self.retype(argument)?;
            }
        }
        for op in moves.iter().copied().chain(computations.iter().map(|computation| computation.op)) {
            for result in op.results() {
                self.retype(result.into())?;
            }
        }
        for op in moves {
            self.attributes(op)?;
            self.erase_cast(op)?;
        }
        computations.iter().try_for_each(|computation| self.compute(computation))
    }

    fn retype(&mut self, value: Value<'c, '_>) -> Result<(), PassError> {
        if let Some(r#type) = self.types.integers(value.r#type())? {
            ir::mutation::retype(value, r#type);
        }
        Ok(())
    }

    /// Replaces narrow types and constants in attributes.
    fn attributes<'a>(&mut self, op: OperationRef<'c, 'a>) -> Result<(), PassError>
    where
        'c: 'a,
    {
        for (name, value) in ir::copy::named_attributes(op) {
            let new = self.types.attribute(value);
            if let Some(new) = new.map_err(|message| PassError::at(op, message))? {
                ir::set_attribute(op, &name, new);
            }
        }
        Ok(())
    }

    /// Erases a bit cast whose operand and result now have the same type.
    fn erase_cast<'a>(&self, op: OperationRef<'c, 'a>) -> Result<(), PassError>
    where
        'c: 'a,
    {
        if !op::is(&op, ops::llvm::BITCAST) {
            return Ok(());
        }
        let (from, to) = (op.operand(0)?, Value::from(op.result(0)?));
        if from.r#type() == to.r#type() {
            ir::replace_uses(to, from);
            ir::erase(op);
        }
        Ok(())
    }

    /// Replaces an operation whose narrow operands and results already have integer types.
    fn compute<'a>(&mut self, computation: &Computation<'c, 'a>) -> Result<(), PassError>
    where
        'c: 'a,
    {
        let op = computation.op;
        let at = Builder::at(op);
        let operands: Vec<Value> = op.operands().collect();
        let results = if op::is(&op, ops::llvm::FPEXT) {
            let (value, from) = (op.operand(0)?, first(&computation.operands)?);
            let to = element_or_self(first(&computation.results)?);
            vec![self.widened(&at, value, from, to)?]
        } else if op::is(&op, ops::llvm::FPTRUNC) {
            vec![self.narrowed(&at, op.operand(0)?, first(&computation.results)?)?]
        } else if is_any(op, COMPUTES) {
            self.computed(&at, computation, &operands)?
        } else {
            self.cast(&at, computation, &operands)?
        };
        for (old, new) in op.results().zip(results) {
            ir::replace_uses(old.into(), new);
        }
        ir::erase(op);
        Ok(())
    }

    /// The results of an operation that is computed in f32, or in f64 for integers that f32 cannot represent.
    fn computed<'a>(
        &mut self,
        at: &Builder<'c, 'a>,
        computation: &Computation<'c, 'a>,
        operands: &[Value<'c, 'a>],
    ) -> Result<Vec<Value<'c, 'a>>, PassError>
    where
        'c: 'a,
    {
        let is_conversion = is_any(computation.op, &[ops::llvm::SITOFP, ops::llvm::UITOFP]);
        let is_brain = |r#type: &Type| Narrow::from_type(*r#type) == Some(Narrow::Brain);
        let wide = if is_conversion && computation.results.iter().any(is_brain) {
            Type::float64(self.context)
        } else {
            Type::float32(self.context)
        };
        let mut widened = Vec::with_capacity(operands.len());
        for (value, before) in operands.iter().zip(&computation.operands) {
            widened.push(match Narrow::from_type(*before) {
                Some(_) => self.widened(at, *value, *before, wide)?,
                None => *value,
            });
        }
        let wider = |before: &Type<'c>| match Narrow::from_type(*before) {
            Some(_) => shaped_like(*before, wide),
            None => *before,
        };
        let types: Vec<Type> = computation.results.iter().map(wider).collect();
        let op = ir::copy::with_attributes(computation.op, &widened, &types, Vec::new(), &[], at)?;
        op.results()
            .zip(&computation.results)
            .map(|(result, before)| match Narrow::from_type(*before) {
                Some(_) => self.narrowed(at, result.into(), *before),
                None => Ok(result.into()),
            })
            .collect()
    }

    /// The results of an operation that requires the narrow types, between bit casts.
    fn cast<'a>(
        &mut self,
        at: &Builder<'c, 'a>,
        computation: &Computation<'c, 'a>,
        operands: &[Value<'c, 'a>],
    ) -> Result<Vec<Value<'c, 'a>>, PassError>
    where
        'c: 'a,
    {
        let cast = |value: Value<'c, 'a>, to: Type<'c>| {
            if value.r#type() == to { Ok(value) } else { at.value(ops::llvm::BITCAST, &[value], &[], to) }
        };
        let operands: Vec<Value> = operands
            .iter()
            .zip(&computation.operands)
            .map(|(value, before)| cast(*value, *before))
            .collect::<Result<_, _>>()?;
        let op = computation.op;
        let copy = ir::copy::with_attributes(op, &operands, &computation.results, Vec::new(), &[], at)?;
        let results = copy.results().zip(op.results());
        Ok(results.map(|(new, old)| cast(new.into(), old.r#type())).collect::<Result<_, _>>()?)
    }

    /// Widens the bits of narrow numbers of type `from`.
    fn widened<'a>(
        &mut self,
        at: &Builder<'c, 'a>,
        bits: Value<'c, 'a>,
        from: Type<'c>,
        to: Type<'c>,
    ) -> Result<Value<'c, 'a>, PassError>
    where
        'c: 'a,
    {
        let wide = shaped_like(from, to);
        if self.native.contains(&Conversion::between(from, to)?) {
            let narrow = at.value(ops::llvm::BITCAST, &[bits], &[], from)?;
            return Ok(at.value(ops::llvm::FPEXT, &[narrow], &[], wide)?);
        }
        let single = Type::float32(self.context);
        if to != single {
            let value = self.widened(at, bits, from, single)?;
            return Ok(at.value(ops::llvm::FPEXT, &[value], &[], wide)?);
        }
        let function = self.functions.widening(from)?;
        call(at, &function, bits, wide)
    }

    /// Rounds numbers to the narrow type `to`, and returns the bits.
    fn narrowed<'a>(
        &mut self,
        at: &Builder<'c, 'a>,
        value: Value<'c, 'a>,
        to: Type<'c>,
    ) -> Result<Value<'c, 'a>, PassError>
    where
        'c: 'a,
    {
        let from = element_or_self(value.r#type());
        let bits = self.types.integers(to)?;
        let bits = bits.ok_or("a rounding to a type that is not narrow")?;
        if self.native.contains(&Conversion::between(to, from)?) {
            let narrow = at.value(ops::llvm::FPTRUNC, &[value], &[], to)?;
            return Ok(at.value(ops::llvm::BITCAST, &[narrow], &[], bits)?);
        }
        let single = Type::float32(self.context);
        if from != single {
            let function = self.functions.rounding_to_odd(to);
            let odd = call(at, &function, value, shaped_like(to, single))?;
            return self.narrowed(at, odd, to);
        }
        let function = self.functions.narrowing(to)?;
        call(at, &function, value, bits)
    }
}

fn first<'c>(types: &[Type<'c>]) -> Result<Type<'c>, PassError> {
    types.first().copied().ok_or_else(|| PassError::from("a conversion without a value".to_owned()))
}

fn call<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    function: &str,
    operand: Value<'c, 'a>,
    result: Type<'c>,
) -> Result<Value<'c, 'a>, PassError> {
    Ok(at.call_llvm(Callee::Symbol(function), &[operand], &[result]).result(0)?.into())
}
