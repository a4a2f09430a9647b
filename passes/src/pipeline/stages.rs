// SPDX-License-Identifier: Apache-2.0
//! The stages from the `skript` dialect to LLVM's, as data: the one description that the compiler and `skript-opt` run.
//!
//! A stage is a list of passes in MLIR's textual form. The driver runs them one after the other and can stop after each;
//! [`text`] joins them to what `skript-opt --pass-pipeline` accepts.

use super::Pipeline;
use crate::codegen::conflict_copies::ONE_SHOT;
use crate::invoke::keep_operators;
use skript_runtime::artifact::Target;

/// A named list of passes that end where `skript compile --emit` can stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Names the stage in messages and in `--print-pipeline`.
    pub name: &'static str,
    /// Passes separated by commas, without the anchor.
    pub passes: String,
}

/// Tensors become buffers, the entry's results arguments. Variables and inputs are never written.
const BUFFERIZE: &[&str] = &[
    "skript-separate-inits",
    "skript-write-carried{apart=if-refused}",
    "skript-write-outputs",
    "eliminate-empty-tensors",
    ONE_SHOT,
    "canonicalize",
    "lower-affine",
    "canonicalize",
    "cse",
];

/// Arrays become pointers and views of one arena; intrinsics, run-time checks and strided copies are lowered; a long entry becomes
/// calls of functions of bounded size.
const MEMORY: &[&str] = &[
    "skript-open-arguments",
    "canonicalize",
    "cse",
    "skript-point-arguments",
    "skript-plan-memory",
    "skript-lower-intrinsics",
    "skript-number-checks",
    "skript-lower-copies",
    "skript-yield-offsets",
    "skript-outline-parts",
];

/// Loops over buffers become LLVM's dialect; the C entry is added.
const LLVM: &[&str] = &[
    "skript-name-entry",
    "convert-linalg-to-loops",
    "expand-strided-metadata",
    "lower-affine",
    "convert-vector-to-scf",
    "convert-scf-to-cf",
    "skript-lower-checks",
    "convert-vector-to-llvm",
    "convert-math-to-funcs",
    "convert-math-to-llvm",
    "convert-math-to-libm",
    "convert-complex-to-llvm",
    "expand-strided-metadata",
    "lower-affine",
    "finalize-memref-to-llvm",
    "convert-arith-to-llvm",
    "convert-index-to-llvm",
    "convert-ub-to-llvm",
    "convert-cf-to-llvm",
    "convert-func-to-llvm{use-bare-ptr-memref-call-conv=true}",
    "reconcile-unrealized-casts",
    "canonicalize",
    "cse",
    "skript-parallelize-calls",
    "skript-annotate-loops",
    "skript-add-entry",
];

/// From the `skript` dialect to the dialects of a lowering. Operators of `keep`, by their qualified names, stay invocations.
pub fn lower(lowering: &Pipeline, keep: &[String]) -> Stage {
    Stage {
        name: "lower",
        passes: match self::keep(keep) {
            Some(keep) => format!("{keep},{}", lowering.text()),
            None => lowering.text(),
        },
    }
}

/// The pass that keeps operators as invocations; `None` if there are none to keep.
pub fn keep(operators: &[String]) -> Option<String> {
    let flag = keep_operators::PASS.flag;
    (!operators.is_empty()).then(|| format!("{flag}{{operators={}}}", operators.join(",")))
}

/// From tensors or loops to buffers.
pub fn bufferize() -> Stage {
    Stage {
        name: "bufferize",
        passes: BUFFERIZE.join(","),
    }
}

/// Reductions become register-tiled kernels, as wide as the target's vectors.
pub fn schedule(target: &Target) -> Stage {
    let (bits, registers) = vectors(target);
    Stage {
        name: "schedule",
        passes: format!(
            "skript-vectorize-reductions{{vector-bits={bits} vector-registers={registers}}},skript-interchange-reductions,canonicalize,cse"
        ),
    }
}

/// From buffers to a module in LLVM's dialect for a target.
pub fn to_llvm(target: &Target) -> [Stage; 2] {
    [
        Stage {
            name: "memory",
            passes: MEMORY.join(","),
        },
        Stage {
            name: "llvm",
            passes: format!(
                "{},skript-set-target{{triple={}}}",
                LLVM.join(","),
                target.triple
            ),
        },
    ]
}

/// Every stage from the `skript` dialect to LLVM's.
pub fn all(lowering: &Pipeline, keep: &[String], target: &Target) -> Vec<Stage> {
    let mut stages = vec![lower(lowering, keep), bufferize(), schedule(target)];
    stages.extend(to_llvm(target));
    stages
}

/// What `skript-opt --pass-pipeline` accepts to run these stages.
pub fn text(stages: &[Stage]) -> String {
    let passes: Vec<&str> = stages.iter().map(|stage| stage.passes.as_str()).collect();
    format!("builtin.module({})", passes.join(","))
}

/// Bits and number of the target's widest vector registers.
fn vectors(target: &Target) -> (u32, u32) {
    let has = |feature: &str| target.features.split(',').any(|f| f == feature);
    let is_x86 = target.triple.starts_with("x86_64");
    match (has("+avx512f"), has("+avx2")) {
        (true, _) => (512, 32),
        (false, true) => (256, 16),
        (false, false) => (128, if is_x86 { 16 } else { 32 }),
    }
}
