// SPDX-License-Identifier: Apache-2.0
//! Functions in kernels: GPUs have no C library.
//!
//! `skript-expand-kernel-math` expands remainders and powers of integers, which neither PTX nor SPIR-V has with the table's results.
//! `skript-approximate-math` runs after `skript-expand-math`, this project's recipes, and replaces functions that those leave by
//! upstream's polynomials. `skript-call-math-intrinsics` replaces what PTX has by calls of LLVM's intrinsics, for which upstream's
//! lowering would call functions of CUDA's library.
//!
//! Requires: kernels. Guarantees: no function of `math` on f32 in kernels that neither NVPTX nor SPIR-V has.

use crate::codegen::library_math::remainder;
use crate::ir::splice::splice;
use crate::ir::{self, Builder, ops};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError};

/// The pass `skript-expand-kernel-math`.
pub(crate) const EXPAND: Pass = Pass {
    flag: "skript-expand-kernel-math",
    summary: "expand remainders and powers of integers in kernels into other functions",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Math, Dialect::Scf],
    run: |root, _, _| {
        for op in kernels(root) {
            let kind = kind(op)?;
            let text = match (ir::name(op).as_str(), kind.as_str()) {
                (ops::arith::REMF, "f32") => remainder(false),
                (ops::arith::REMF, "f64") => remainder(true),
                (ops::math::TRUNC, _) => TRUNCATION.replace("TYPE", &kind),
                (ops::arith::REMSI, "i64" | "index") => INTEGER_REMAINDER.replace("TYPE", &kind),
                (ops::math::IPOWI, _) => INTEGER_POWER.replace("TYPE", &kind),
                _ => continue,
            };
            let operands: Vec<Value> = op.operands().collect();
            let made = splice(op, &operands, &text, &[("%r".to_owned(), kind)])?;
            let value = made.values.first().copied().ok_or("an expansion without a value")?;
            ir::replace_uses(op.result(0)?.into(), value);
            ir::erase(op);
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Towards 0.
const TRUNCATION: &str = "
  %zero = arith.constant 0.0 : TYPE
  %lower = math.floor %0 : TYPE
  %upper = math.ceil %0 : TYPE
  %is_negative = arith.cmpf olt, %0, %zero : TYPE
  %r = arith.select %is_negative, %upper, %lower : TYPE
";

/// By the quotient: drivers of Vulkan compute that of the least number, whose absolute value is none, but not its remainder.
const INTEGER_REMAINDER: &str = "
  %quotient = arith.divsi %0, %1 : TYPE
  %product = arith.muli %quotient, %1 : TYPE
  %r = arith.subi %0, %product : TYPE
";

/// By the bits of the exponent, which is not negative.
const INTEGER_POWER: &str = "
  %zero = arith.constant 0 : TYPE
  %one = arith.constant 1 : TYPE
  %begin = arith.constant 0 : index
  %step = arith.constant 1 : index
  %end = arith.constant 63 : index
  %power:3 = scf.for %n = %begin to %end step %step iter_args(%held = %one, %square = %0, %rest = %1)
      -> (TYPE, TYPE, TYPE) {
    %bit = arith.andi %rest, %one : TYPE
    %is_set = arith.cmpi ne, %bit, %zero : TYPE
    %product = arith.muli %held, %square : TYPE
    %next = arith.select %is_set, %product, %held : TYPE
    %squared = arith.muli %square, %square : TYPE
    %shifted = arith.shrui %rest, %one : TYPE
    scf.yield %next, %squared, %shifted : TYPE, TYPE, TYPE
  }
  %r = arith.ori %power#0, %zero : TYPE
";

/// The pass `skript-approximate-math`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-approximate-math",
    summary: "functions of f32 in kernels become polynomials",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Math, Dialect::Scf, Dialect::Vector],
    run: |root, _, _| {
        for kernels in ir::walk::named(root, ops::gpu::MODULE) {
            // Drivers of GPUs know no multiplication that may or may not be fused.
            for op in ir::walk::named(kernels, ops::llvm::INTR_FMULADD) {
                let at = Builder::before(ir::context::of(op), op)?;
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
    summary: "functions in kernels that PTX has become calls of LLVM's intrinsics",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Llvm],
    run: |root, _, _| {
        for op in kernels(root) {
            let name = ir::name(op);
            let known = CALLED.iter().find(|(known, _)| *known == name);
            let Some((_, intrinsic)) = known else {
                continue;
            };
            let kind = kind(op)?;
            let operands: Vec<Value> = op.operands().collect();
            let names: Vec<String> = (0..operands.len()).map(|n| format!("%{n}")).collect();
            let types = vec![kind.as_str(); operands.len()].join(", ");
            let call = format!(
                "llvm.call_intrinsic \"llvm.{intrinsic}.{kind}\"({}) : ({types}) -> {kind}",
                names.join(", ")
            );
            let text = if name == ops::math::RSQRT {
                format!(
                    "%root = {call}\n%one = arith.constant 1.0 : {kind}\n%r = arith.divf %one, %root : {kind}"
                )
            } else {
                format!("%r = {call}")
            };
            let made = splice(op, &operands, &text, &[("%r".to_owned(), kind)])?;
            let value = made.values.first().copied().ok_or("a call without a value")?;
            ir::replace_uses(op.result(0)?.into(), value);
            ir::erase(op);
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Functions that LLVM has instructions of PTX for.
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

/// The operations of kernels.
fn kernels<'c, 'a>(root: OperationRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let modules = ir::walk::named(root, ops::gpu::MODULE).into_iter();
    modules.flat_map(ir::nested).collect()
}

/// The type of an operation's result; empty without one.
fn kind(op: OperationRef) -> Result<String, PassError> {
    Ok(match op.result_count() {
        0 => String::new(),
        _ => op.result(0)?.r#type().to_string(),
    })
}

/// Functions that remain in kernels, and that GPUs have.
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

/// Functions without code for GPUs, with the type of their results: LLVM would end the process at them.
pub(super) fn unavailable(root: OperationRef) -> Vec<String> {
    let all = ir::nested(root).into_iter();
    let math = all.filter(|op| {
        let name = ir::name(*op);
        let is_function = name.starts_with("math.") || name == ops::arith::REMF;
        is_function && !AVAILABLE.contains(&name.as_str())
    });
    let names = math.map(|op| {
        let result = op.result(0).map(|result| result.r#type().to_string());
        format!("{} on {}", ir::name(op), result.unwrap_or_default())
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.dedup();
    names
}
