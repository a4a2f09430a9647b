// SPDX-License-Identifier: Apache-2.0
//! `skript-expand-narrow-reals`: f16 and bf16 become integers of 16 bits, their conversions arithmetic where the processor has none.
//!
//! Reals of 16 bits are storage types: code moves and converts them. LLVM (22) moves them as if it computed with them: on processors
//! without instructions for a type, it calls functions of the compiler's library for each element of a vector, or ends with an error.
//! Memory, registers, constants and signatures therefore have integers with the same bits, for which every processor has loads, masks
//! and shuffles. A conversion that the option names is left to LLVM, between casts of the bits; any other one becomes integer
//! arithmetic in a function that LLVM inlines, on whole vectors too. Arithmetic and comparisons are done in f32
//! and rounded, as `docs/numerics.md` has it.
//!
//! Requires: a module in LLVM's dialect. Guarantees: no value is an f16 or a bf16, but operands and results of the conversions
//! in the option, of intrinsics of processors and of functions that are defined elsewhere.

mod conversions;
mod types;

use crate::ir::vector::{element_or_self, shaped_like};
use crate::ir::{self, Builder, ops};
use conversions::{Conversion, Functions};
use melior::Context;
use melior::ir::attribute::FlatSymbolRefAttribute;
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
        summary: "conversions that the processor has, in both directions, of f16-f32, f16-f64, separated by commas, or none",
        default: "none",
    }],
    run: |root, options, rewriter| {
        let names = options.text("conversions").split(',');
        let names = names.filter(|name| !name.is_empty() && *name != "none");
        let native: Vec<Conversion> = names
            .map(|name| {
                Conversion::named(name).ok_or_else(|| {
                    let message = format!(
                        "option conversions: `{name}` is no conversion; there are {}",
                        Conversion::names()
                    );
                    PassError::at(root, message)
                })
            })
            .collect::<Result<_, _>>()?;
        Module::of(root, rewriter.context(), native).lower(root)
    },
};

/// Operations that move elements, or create them from constants: they are the same on integers.
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

/// Operations that compute with numbers: they are done in a wider type.
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

/// Operations without narrow values whose attributes may have narrow types.
const ADDRESSES: &[&str] = &[ops::llvm::ALLOCA, ops::llvm::GETELEMENTPTR];

fn is_any(op: OperationRef, names: &[&str]) -> bool {
    names.iter().any(|name| op::is(&op, name))
}

/// An operation that is not the same on integers, with the types that its operands and results have before the pass.
struct Computation<'c, 'a> {
    op: OperationRef<'c, 'a>,
    operands: Vec<Type<'c>>,
    results: Vec<Type<'c>>,
}

struct Module<'c> {
    context: &'c Context,
    native: Vec<Conversion>,
    types: Types<'c>,
    functions: Functions,
    /// The functions that are defined elsewhere: their signatures stay.
    foreign: HashSet<String>,
}

impl<'c> Module<'c> {
    fn of(root: OperationRef, context: &'c Context, native: Vec<Conversion>) -> Module<'c> {
        let functions = ir::blocks(root).into_iter().flat_map(ir::operations);
        let functions = functions.filter(|op| op::is(op, ops::llvm::FUNC));
        let foreign = functions.filter(|op| ir::first_block(*op).is_none());
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
        let symbols = ir::blocks(root).into_iter().flat_map(ir::operations);
        let symbols = symbols.filter(|op| is_any(*op, &[ops::llvm::FUNC, ops::llvm::MLIR_GLOBAL]));
        for symbol in symbols.collect::<Vec<_>>() {
            self.symbol(symbol)?;
        }
        let present = ir::symbols(root);
        Ok(ir::append_functions(root, &self.functions.text(&present))?)
    }

    /// A function or a global variable.
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
        let changed = computations.iter().map(|own| own.op);
        for op in moves.iter().copied().chain(changed) {
            for result in op.results() {
                self.retype(result.into())?;
            }
        }
        for op in moves {
            self.attributes(op)?;
            self.erase_cast(op)?;
        }
        computations.iter().try_for_each(|own| self.compute(own))
    }

    fn retype(&mut self, value: Value<'c, '_>) -> Result<(), PassError> {
        if let Some(r#type) = self.types.integers(value.r#type())? {
            ir::mutation::retype(value, r#type);
        }
        Ok(())
    }

    /// Narrow types and constants in attributes.
    fn attributes<'a>(&mut self, op: OperationRef<'c, 'a>) -> Result<(), PassError>
    where
        'c: 'a,
    {
        let own: Vec<_> = op.attributes().collect();
        for (name, value) in own {
            let new = self.types.attribute(value);
            if let Some(new) = new.map_err(|message| PassError::at(op, message))? {
                let name = name.as_string_ref().as_str().unwrap_or_default().to_owned();
                ir::set_attribute(op, &name, new);
            }
        }
        Ok(())
    }

    /// Erases a cast between bits that are of one type now.
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

    /// Replaces an operation, whose narrow results have the types of integers already.
    fn compute<'a>(&mut self, own: &Computation<'c, 'a>) -> Result<(), PassError>
    where
        'c: 'a,
    {
        let op = own.op;
        let at = Builder::before(self.context, op)?.with_location(op.location());
        let operands: Vec<Value> = op.operands().collect();
        let results = if op::is(&op, ops::llvm::FPEXT) {
            let (value, from) = (op.operand(0)?, first(&own.operands)?);
            let to = element_or_self(first(&own.results)?);
            vec![self.widened(&at, value, from, to)?]
        } else if op::is(&op, ops::llvm::FPTRUNC) {
            vec![self.narrowed(&at, op.operand(0)?, first(&own.results)?)?]
        } else if is_any(op, COMPUTES) {
            self.computed(&at, own, &operands)?
        } else {
            self.kept(&at, own, &operands)?
        };
        for (old, new) in op.results().zip(results) {
            ir::replace_uses(old.into(), new);
        }
        ir::erase(op);
        Ok(())
    }

    /// The results of an operation that is done in a wider type: f32, and f64 for integers that f32 does not hold.
    fn computed<'a>(
        &mut self,
        at: &Builder<'c, 'a>,
        own: &Computation<'c, 'a>,
        operands: &[Value<'c, 'a>],
    ) -> Result<Vec<Value<'c, 'a>>, PassError>
    where
        'c: 'a,
    {
        let of_integers = is_any(own.op, &[ops::llvm::SITOFP, ops::llvm::UITOFP]);
        let is_brain = |r#type: &Type| Narrow::of(*r#type) == Some(Narrow::Brain);
        let wide = if of_integers && own.results.iter().any(is_brain) {
            Type::float64(self.context)
        } else {
            Type::float32(self.context)
        };
        let mut widened = Vec::with_capacity(operands.len());
        for (value, before) in operands.iter().zip(&own.operands) {
            widened.push(match Narrow::of(*before) {
                Some(_) => self.widened(at, *value, *before, wide)?,
                None => *value,
            });
        }
        let wider = |before: &Type<'c>| match Narrow::of(*before) {
            Some(_) => shaped_like(*before, wide),
            None => *before,
        };
        let types: Vec<Type> = own.results.iter().map(wider).collect();
        let again = ir::copy::with_attributes(own.op, &widened, &types, Vec::new(), &[], at)?;
        let results = again.results().zip(&own.results);
        results
            .map(|(result, before)| match Narrow::of(*before) {
                Some(_) => self.narrowed(at, result.into(), *before),
                None => Ok(result.into()),
            })
            .collect()
    }

    /// The results of an operation that needs the narrow types.
    fn kept<'a>(
        &mut self,
        at: &Builder<'c, 'a>,
        own: &Computation<'c, 'a>,
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
            .zip(&own.operands)
            .map(|(value, before)| cast(*value, *before))
            .collect::<Result<_, _>>()?;
        let again = ir::copy::with_attributes(own.op, &operands, &own.results, Vec::new(), &[], at)?;
        let results = again.results().zip(own.op.results());
        Ok(results.map(|(new, old)| cast(new.into(), old.r#type())).collect::<Result<_, _>>()?)
    }

    /// The numbers in a wider type that bits are of, which are narrow ones of the type `from`.
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

    /// The bits of the narrow numbers of the type `to` that wider ones are rounded to.
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
            let function = self.functions.rounding_to_odd(to)?;
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
    let segments = ir::attributes::i32s(at.context, &[1, 0]);
    let attributes = [
        ("callee", FlatSymbolRefAttribute::new(at.context, function).into()),
        ("operandSegmentSizes", segments),
        ("op_bundle_sizes", ir::attributes::i32s(at.context, &[])),
    ];
    Ok(at.value(ops::llvm::CALL, &[operand], &attributes, result)?)
}
