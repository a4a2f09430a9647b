// SPDX-License-Identifier: Apache-2.0
//! `skript-expand-library-math`: expands rounding, remainders, maxima and minima into arithmetic, for processors without the
//! instructions and systems without the library functions.
//!
//! LLVM compiles an operation without an instruction on the processor to a call of the C library. For systems without a C
//! library, this pass expands the operations listed in the option into arithmetic with the same results. NaN, infinities,
//! signed zeros and subnormal numbers are handled as IEEE 754 requires.
//!
//! Requires: for remainders, that `scf` is lowered later. Guarantees: none of these operations on f32 or f64 is left.

use crate::ir::{self, ops, steps, vector};
use melior::ir::operation::OperationRef;
use melior::ir::{TypeLike, ValueLike};
use skript_dialect::{Dialect, Pass, PassError, PassOption};
use skript_semantics::expansion::{Value, extremes, rounding};
use skript_semantics::{Class, Expansion};

/// The pass `skript-expand-library-math`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-expand-library-math",
    summary: "expand library calls for rounding, remainders, maxima and minima into arithmetic",
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
        let expanded: Vec<&str> =
            NAMES.iter().filter(|(name, _)| names.contains(name)).map(|(_, operation)| *operation).collect();
        for op in ir::nested(root) {
            if expanded.contains(&ir::name(op).as_str()) {
                expand(op)?;
            }
        }
        Ok(())
    },
};

/// The operations, with their names in the option.
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

/// Replaces an operation on f32 or f64 by arithmetic; operations on other types are not changed.
fn expand(op: OperationRef) -> Result<(), PassError> {
    let r#type = op.result(0)?.r#type();
    let class = steps::class_of(vector::element_or_self(r#type));
    let Some(class @ (Class::F32 | Class::F64)) = class else {
        return Ok(());
    };
    let unary = |function: fn(Value) -> Value| Expansion::record([class], |[x]| function(x));
    let expansion = match ir::name(op).as_str() {
        // The number of iterations differs between elements.
        ops::arith::REMF if r#type.is_vector() => return Ok(()),
        ops::arith::REMF => Expansion::record([class; 2], |[x, y]| rounding::real_remainder(x, y)),
        ops::arith::MAXIMUMF => Expansion::record([class; 2], |[x, y]| extremes::maximum(x, y)),
        ops::arith::MINIMUMF => Expansion::record([class; 2], |[x, y]| extremes::minimum(x, y)),
        ops::math::CEIL => unary(rounding::ceil),
        ops::math::FLOOR => unary(rounding::floor),
        ops::math::ROUND => unary(rounding::round),
        ops::math::ROUNDEVEN => unary(rounding::round_even),
        ops::math::TRUNC => unary(rounding::trunc),
        name => unreachable!("internal compiler error: {name} is not expanded"),
    };
    Ok(steps::replace(op, &expansion)?)
}
