// SPDX-License-Identifier: Apache-2.0
//! The lowerings of models, and the named pipelines that begin with them.

use super::stages;
use crate::codegen::check_to_cf;
use crate::duplicates::merge_duplicates;
use crate::elementwise::{elementwise_to_formula, elementwise_to_linalg, fuse_elementwise, merge_slices};
use crate::extents::{drop_clamps, fold_extents};
use crate::formula::{
    covered_fills, formula_to_linalg, formula_to_loops, raise_accumulations, scalar_to_arith, split_choices,
    widen_accumulators,
};
use crate::ir::step::{self, Step, simplify};
use crate::named::raise_to_named_linalg;
use crate::target::TargetDescription;

/// A named pipeline on a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// Name on the command line.
    pub flag: &'static str,
    /// One line for `--help`.
    pub summary: &'static str,
    /// The lowering of models at its beginning.
    lowering: Option<Lowering>,
    /// Where it ends. From buffers on, it runs the passes of [`stages`].
    end: End,
}

/// The lowering of formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lowering {
    Linalg,
    /// For backends with kernels for named operations of linalg.
    NamedLinalg,
    /// For other compilers: no buffers, and no operation of the `skript` dialect except kept operators and kernels of the runtime.
    Tensors,
    Affine,
    Scf,
}

/// The target of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// Tensors, or loops.
    Lowered,
    Buffers,
    /// The LLVM dialect.
    Llvm,
}

/// The lowerings that support different formulas.
pub(crate) const LOWERINGS: [&str; 3] = ["skript-to-linalg", "skript-to-affine", "skript-to-scf"];

/// Every named pipeline.
pub const ALL: &[Pipeline] = &[
    Pipeline {
        flag: "skript-to-linalg",
        summary: "lower models to linalg on tensors",
        lowering: Some(Lowering::Linalg),
        end: End::Lowered,
    },
    Pipeline {
        flag: "skript-to-linalg-named",
        summary: "lower models to linalg on tensors, with named operations where linalg has them",
        lowering: Some(Lowering::NamedLinalg),
        end: End::Lowered,
    },
    Pipeline {
        flag: "skript-to-linalg-tensors",
        summary: "lower models to linalg and scf on tensors, without buffers, for other compilers",
        lowering: Some(Lowering::Tensors),
        end: End::Lowered,
    },
    Pipeline {
        flag: "skript-to-affine",
        summary: "lower models to affine loops on memrefs",
        lowering: Some(Lowering::Affine),
        end: End::Lowered,
    },
    Pipeline {
        flag: "skript-to-scf",
        summary: "lower models to scf loops on memrefs",
        lowering: Some(Lowering::Scf),
        end: End::Lowered,
    },
    Pipeline {
        flag: "skript-bufferize",
        summary: "bufferize lowered models; kept operators remain invocations",
        lowering: None,
        end: End::Buffers,
    },
    Pipeline {
        flag: "skript-linalg-to-llvm",
        summary: "lower models to the LLVM dialect through linalg",
        lowering: Some(Lowering::Linalg),
        end: End::Llvm,
    },
    Pipeline {
        flag: "skript-affine-to-llvm",
        summary: "lower models to the LLVM dialect through affine loops",
        lowering: Some(Lowering::Affine),
        end: End::Llvm,
    },
    Pipeline {
        flag: "skript-scf-to-llvm",
        summary: "lower models to the LLVM dialect through scf loops",
        lowering: Some(Lowering::Scf),
        end: End::Llvm,
    },
];

impl Pipeline {
    /// The pipeline of this flag.
    pub fn named(flag: &str) -> Option<&'static Pipeline> {
        ALL.iter().find(|pipeline| pipeline.flag == flag)
    }

    /// The passes in order, in MLIR's textual form.
    pub fn passes(&self) -> Vec<String> {
        self.steps(None).iter().map(Step::to_string).collect()
    }

    /// Passes separated by commas, without the anchor.
    pub fn text(&self) -> String {
        step::text(&self.steps(None))
    }

    /// The passes in order, with the options for a target.
    pub(super) fn steps(&self, target: Option<&TargetDescription>) -> Vec<Step> {
        let mut steps = self.lowering.map(|lowering| lowering.steps(target)).unwrap_or_default();
        if self.end >= End::Buffers {
            steps.extend(stages::to_buffers(false));
        }
        if self.end >= End::Llvm {
            steps.extend(stages::to_llvm_any());
        }
        steps
    }
}

impl Lowering {
    fn steps(self, target: Option<&TargetDescription>) -> Vec<Step> {
        let scf = Step::from(&formula_to_loops::SCF);
        let to_formulas = Step::from(&elementwise_to_formula::PASS);
        let mut steps = inline();
        match self {
            Lowering::Linalg => {
                steps.extend(fuse_maps(target));
                steps.extend([formulas_to_linalg(), in_order(scf.with("parallel", true), target)]);
                steps.push(Step::from(&elementwise_to_linalg::PASS));
            }
            Lowering::NamedLinalg => {
                steps.extend(fuse_maps(target));
                // Windows read a border of zeros instead of a guard, which named operations do not support.
                steps.extend([formulas_to_linalg().with("finite-factors", true), scf]);
                steps.push(Step::from(&elementwise_to_linalg::PASS));
            }
            Lowering::Tensors => {
                steps.extend(fuse_maps(target));
                steps.extend([formulas_to_linalg(), scf.with("tensors", true)]);
                steps.extend([&elementwise_to_linalg::PASS, &check_to_cf::PASS].map(Step::from));
            }
            Lowering::Affine => steps.extend([to_formulas, Step::from(&formula_to_loops::AFFINE)]),
            Lowering::Scf => steps.extend([to_formulas, scf]),
        }
        // Bottom-up, because in top-down order, upstream's driver walks the entire body of a loop for each operation that folds in it.
        let canonicalize = Step::upstream("canonicalize").with("top-down", false);
        steps.extend([Step::from(&scalar_to_arith::PASS), canonicalize, Step::upstream("cse")]);
        if self == Lowering::NamedLinalg {
            steps.push(Step::from(&raise_to_named_linalg::PASS));
            steps.extend(simplify());
        }
        steps
    }
}

/// Inlines all operator instances into one function, then simplifies with the shape constraints that checks establish, and
/// widens narrow accumulators.
fn inline() -> Vec<Step> {
    let clamps = Step::from(&drop_clamps::PASS).with("if-bounded", true);
    let upstream = ["inline", "symbol-dce", "canonicalize"].map(Step::upstream);
    let simplified = [&fold_extents::PASS, &merge_duplicates::PASS].map(Step::from);
    let formulas = [&covered_fills::PASS, &widen_accumulators::PASS].map(Step::from);
    let prepared = [&raise_accumulations::PASS, &split_choices::PASS].map(Step::from);
    upstream.into_iter().chain(simplified).chain(prepared).chain([clamps]).chain(formulas).collect()
}

/// Fuses maps with each other first. If they were fused into a contraction, they would be recomputed at each of its points.
fn fuse_maps(target: Option<&TargetDescription>) -> [Step; 6] {
    // A quantization has about 30 operations before `skript-compute-integers` simplifies it, and must not be split.
    let operations = target.filter(|target| target.computes_integers()).map(|_| ("operations", 256));
    [
        Step::from(&formula_to_linalg::PASS).with("maps-only", true),
        Step::from(&elementwise_to_linalg::PASS),
        Step::from(&fuse_elementwise::PASS).with_all(operations),
        Step::from(&merge_slices::PASS),
        Step::upstream("canonicalize"),
        Step::from(&merge_duplicates::PASS),
    ]
}

/// Lowers formulas to linalg. Formulas without a `linalg.generic` become scf loops: those that are executed in order, and writes at
/// indices that depend on data. Their attribute `not_linalg` has the reason.
fn formulas_to_linalg() -> Step {
    Step::from(&formula_to_linalg::PASS).with("leave-sequential", true)
}

/// Lowers formulas that are executed in order to loops. A thread of a GPU has no vectors.
fn in_order(step: Step, target: Option<&TargetDescription>) -> Step {
    match target.and_then(|target| target.gpu) {
        Some(gpu) => {
            let iterations = (gpu.iterations > 0).then_some(("iterations", gpu.iterations));
            step.with("threads", true).with_all(iterations)
        }
        None => step.with("lanes", true),
    }
}
