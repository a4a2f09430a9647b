// SPDX-License-Identifier: Apache-2.0
//! `skript-vectorize-reductions`: replaces reductions over static buffers by calls of register-tiled vector kernels.
//!
//! A `linalg.generic` with a reduction is read as a loop nest with linear addresses. The plan selects the loop along
//! the vector lanes and the loops that are unrolled around it, from extents and strides alone. Equal nests share one
//! kernel; a kernel with more than eight callers is not inlined. Reductions that gain nothing, and those whose output
//! may alias an input, stay.
//!
//! Requires: buffers with static extents.

use super::kernel::kernel;
use super::plan::{Plan, Vectors};
use super::reading::read;
use crate::ir::func::call_before;
use crate::ir::memref::root_of;
use crate::ir::walk::named;
use crate::ir::{self, Builder, append_functions, context, erase, ops};
use melior::ir::Value;
use melior::ir::operation::OperationRef;
use skript_dialect::{Dialect, Pass, PassError, PassOption};
use std::collections::{HashMap, HashSet};

/// The pass `skript-vectorize-reductions`; see [`vectorize`].
pub const PASS: Pass = Pass {
    flag: "skript-vectorize-reductions",
    summary: "replace reductions over static buffers by calls of register-tiled vector kernels",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[
        Dialect::Arith,
        Dialect::Func,
        Dialect::MemRef,
        Dialect::Scf,
        Dialect::Vector,
    ],
    options: &[
        PassOption {
            name: "vector-bits",
            summary: "bits of a vector register",
            default: "512",
        },
        PassOption {
            name: "vector-registers",
            summary: "number of vector registers",
            default: "32",
        },
    ],
    run: |root, options, _| {
        let vector_bits: i64 = options.get("vector-bits")?;
        if vector_bits < 64 || vector_bits % 64 != 0 {
            return Err(PassError::from(format!(
                "option vector-bits is {vector_bits}, which is not a multiple of 64"
            )));
        }
        let vector_registers: i64 = options.get("vector-registers")?;
        if !(8..=256).contains(&vector_registers) {
            return Err(PassError::from(format!(
                "option vector-registers is {vector_registers}, which is not between 8 and 256"
            )));
        }
        let target = Target {
            vector_bits,
            vector_registers,
        };
        vectorize(root, target).map_err(PassError::from)?;
        Ok(())
    },
};

/// The vector registers of the target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Bits of one vector register.
    pub vector_bits: i64,
    pub vector_registers: i64,
}

/// Vectorizes every `linalg.generic` on static arrays that reduces and that a register tile can compute; returns their
/// number.
///
/// # Errors
/// The text of a kernel that MLIR does not parse: a defect of this pass.
pub fn vectorize(module: OperationRef<'_, '_>, target: Target) -> Result<usize, String> {
    let found = named(module, ops::linalg::GENERIC);
    let mut kernels: HashMap<String, String> = HashMap::new();
    let mut taken: HashSet<String> = ir::symbols(module);
    let mut texts = Vec::new();
    let mut calls: HashMap<String, usize> = HashMap::new();
    for op in found {
        let Some((body_text, mut arguments, steps)) = schedule(op, target) else {
            continue;
        };
        let next = (kernels.len()..)
            .map(|number| format!("kernel_{number}"))
            .find(|name| !taken.contains(name))
            .unwrap_or_default();
        let name = kernels
            .entry(body_text.clone())
            .or_insert_with(|| {
                let text = body_text.replacen("@KERNEL(", &format!("@{next}("), 1);
                taken.insert(next.clone());
                texts.push((next.clone(), text));
                next
            })
            .clone();
        let wrong = |error: melior::Error| error.to_string();
        if let Some(steps) = steps {
            let at = Builder::before(context::of(op), op).map_err(wrong)?;
            arguments.push(at.index(0).map_err(wrong)?);
            arguments.push(at.index(steps).map_err(wrong)?);
        }
        call_before(op, &name, &arguments).map_err(wrong)?;
        erase(op);
        *calls.entry(name).or_default() += 1;
    }
    let is_shared = |name: &str| calls.get(name).is_some_and(|count| *count > MOST_COPIES);
    let texts = texts
        .into_iter()
        .map(|(name, text)| match is_shared(&name) {
            true => text.replacen(
                "attributes {",
                "attributes {passthrough = [\"noinline\"], ",
                1,
            ),
            false => text,
        });
    append_functions(module, &texts.collect::<String>()).map_err(|e| e.to_string())?;
    Ok(calls.values().sum())
}

/// Maximum number of callers of a kernel that LLVM may inline. A kernel with more stays one function.
const MOST_COPIES: usize = 8;

/// The kernel of one reduction, named `@KERNEL`, its arguments, and the steps that are two more.
fn schedule<'c, 'a>(
    op: OperationRef<'c, 'a>,
    target: Target,
) -> Option<(String, Vec<Value<'c, 'a>>, Option<i64>)> {
    let mut reduction = read(op)?;
    // Kernels require that the output does not alias an input.
    let arrays = reduction.signature.arrays.len();
    let (output, inputs) = reduction.arguments.get(..arrays)?.split_last()?;
    let root = root_of(*output);
    if inputs.iter().any(|i| root_of(*i) == root) {
        return None;
    }
    reduction.nest.simplify(&reduction.body.used_dimensions());
    let bits = reduction
        .signature
        .elements
        .iter()
        .map(|e| {
            e.trim_start_matches(['b', 'f', 'i'])
                .parse::<i64>()
                .unwrap_or(64)
        })
        .max()?;
    let vectors = Vectors {
        lanes: target.vector_bits / bits,
        registers: target.vector_registers,
    };
    let plan = Plan::of(&reduction.nest, vectors)?;
    let text = kernel(
        "KERNEL",
        &reduction.nest,
        &plan,
        &reduction.body,
        &reduction.signature,
    );
    let steps = plan.steps(&reduction.nest);
    Some((text, reduction.arguments, steps))
}
