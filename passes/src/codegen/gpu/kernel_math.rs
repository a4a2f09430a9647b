// SPDX-License-Identifier: Apache-2.0
//! Math functions in kernels: GPUs have no C library.
//!
//! `skript-expand-kernel-math` expands remainders and integer powers, for which neither PTX nor SPIR-V has operations with the
//! required results. `skript-approximate-math` runs after `skript-expand-math` and replaces the remaining functions by MLIR's
//! polynomial approximations. `skript-call-math-intrinsics` calls LLVM intrinsics for functions with PTX instructions; MLIR's
//! lowering would call the CUDA library.
//!
//! Requires: kernels. Guarantees: kernels have no operation of `math` on f32 that neither NVPTX nor SPIR-V supports.

use crate::ir::{self, Builder, ops, steps};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError};
use skript_semantics::expansion::{self, rounding};
use skript_semantics::{Class, Expansion, Scalar};
use std::collections::BTreeSet;

/// The pass `skript-expand-kernel-math`.
pub(crate) const EXPAND: Pass = Pass {
    flag: "skript-expand-kernel-math",
    summary: "expand remainders and integer powers in kernels",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Math, Dialect::Scf],
    run: |root, _, _| {
        for op in kernels(root) {
            if let Some(expansion) = expansion(op) {
                steps::replace(op, &expansion)?;
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

fn expansion(op: OperationRef) -> Option<Expansion> {
    let class = steps::class_of(op.result(0).ok()?.r#type())?;
    let function: for<'b> fn(expansion::Value<'b>, expansion::Value<'b>) -> expansion::Value<'b> =
        match (ir::name(op).as_str(), class) {
            (ops::math::TRUNC, _) => {
                return Some(Expansion::record([class], |[x]| rounding::trunc_by_sides(x)));
            }
            (ops::arith::REMF, Class::F32 | Class::F64) => rounding::real_remainder,
            (ops::arith::REMSI, Class::I64 | Class::Index) => rounding::integer_remainder,
            (ops::math::IPOWI, _) => rounding::integer_power,
            _ => return None,
        };
    Some(Expansion::record([class; 2], |[x, y]| function(x, y)))
}

/// The pass `skript-approximate-math`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-approximate-math",
    summary: "replace f32 functions in kernels by polynomials",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Math, Dialect::Scf, Dialect::Vector],
    run: |root, _, _| {
        for kernels in ir::walk::named(root, ops::gpu::MODULE) {
            // SPIR-V has no multiply-add with optional fusion.
            for op in ir::walk::named(kernels, ops::llvm::INTR_FMULADD) {
                let at = Builder::at(op);
                let operands: Vec<Value> = op.operands().collect();
                let result: Value = op.result(0)?.into();
                let fused = at.value(ops::math::FMA, &operands, &[], result.r#type())?;
                ir::replace_uses(result, fused);
                ir::erase(op);
            }
            if !skript_dialect::gpu::approximate_math(kernels) {
                return Err(PassError::at(kernels, "does not converge"));
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// The pass `skript-call-math-intrinsics`.
pub(crate) const INTRINSICS: Pass = Pass {
    flag: "skript-call-math-intrinsics",
    summary: "call LLVM intrinsics for functions in kernels that have PTX instructions",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Llvm],
    run: |root, _, _| {
        for op in kernels(root) {
            let name = ir::name(op);
            let Some((_, intrinsic)) = CALLED.iter().find(|(known, _)| *known == name) else {
                continue;
            };
            let at = Builder::at(op);
            let (operands, r#type): (Vec<Value>, _) = (op.operands().collect(), op.result(0)?.r#type());
            let call =
                ir::llvm::call_intrinsic(&at, &format!("llvm.{intrinsic}.{type}"), &operands, &[r#type])?;
            let mut value: Value = call.result(0)?.into();
            if name == ops::math::RSQRT {
                let one = at.constant(Scalar::Real(1.0), r#type)?;
                value = at.divf(one, value);
            }
            ir::replace_uses(op.result(0)?.into(), value);
            ir::erase(op);
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Functions for which LLVM selects PTX instructions, with the names of the intrinsics.
const CALLED: &[(&str, &str)] = &[
    (ops::math::ABSF, "fabs"),
    (ops::math::CEIL, "ceil"),
    (ops::math::COPYSIGN, "copysign"),
    (ops::math::FLOOR, "floor"),
    (ops::math::FMA, "fma"),
    (ops::math::ROUND, "round"),
    (ops::math::ROUNDEVEN, "roundeven"),
    (ops::math::RSQRT, "sqrt"),
    (ops::math::SQRT, "sqrt"),
    (ops::math::TRUNC, "trunc"),
];

/// Returns the operations of all kernels.
fn kernels<'c, 'a>(root: OperationRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let modules = ir::walk::named(root, ops::gpu::MODULE).into_iter();
    modules.flat_map(ir::nested).collect()
}

/// Functions that remain in kernels, because GPUs support them.
const AVAILABLE: &[&str] = &[
    ops::math::ABSF,
    ops::math::ABSI,
    ops::math::CEIL,
    ops::math::COPYSIGN,
    ops::math::CTLZ,
    ops::math::CTPOP,
    ops::math::FLOOR,
    ops::math::FMA,
    ops::math::ROUND,
    ops::math::ROUNDEVEN,
    ops::math::RSQRT,
    ops::math::SQRT,
    ops::math::TRUNC,
];

/// Returns the functions without a GPU implementation, with the types of their results: LLVM would abort the process.
pub(super) fn unavailable(root: OperationRef) -> Vec<String> {
    let unavailable = |op: OperationRef| {
        let name = ir::name(op);
        let is_function = name.starts_with("math.") || name == ops::arith::REMF;
        let result = op.result(0).ok().filter(|_| is_function && !AVAILABLE.contains(&name.as_str()))?;
        Some(format!("{name} on {}", result.r#type()))
    };
    let names: BTreeSet<String> = ir::nested(root).into_iter().filter_map(unavailable).collect();
    names.into_iter().collect()
}
