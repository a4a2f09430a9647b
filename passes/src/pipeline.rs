// SPDX-License-Identifier: Apache-2.0
//! Named pipelines as data.
//!
//! A pipeline is a list of passes in MLIR's textual form; `skript-opt --skript-to-linalg` and the compiler run the same.

pub(crate) mod gpu_stages;
pub(crate) mod stages;

use skript_dialect::pass::register_pipeline;

/// A named pipeline on a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// Name on the command line.
    pub flag: &'static str,
    /// One line for `--help`.
    pub summary: &'static str,
    /// Lists of passes that lower models, in order.
    lists: &'static [&'static [&'static str]],
    /// Where it ends. From buffers on it runs the passes of [`stages`].
    end: End,
}

/// What a pipeline converts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// Tensors, or loops.
    Lowered,
    Buffers,
    /// The LLVM dialect.
    Llvm,
}

/// Inlines all operator instances into one function, then simplifies with the shape constraints that checks establish;
/// widens narrow accumulators.
const INLINE: &[&str] = &[
    "inline",
    "symbol-dce",
    "canonicalize",
    "skript-fold-extents",
    "skript-merge-duplicates",
    "skript-drop-clamps{if-bounded=true}",
    "skript-drop-covered-fills",
    "skript-widen-accumulators",
];

/// Fuses maps with each other first: fused into a contraction they would be recomputed at each of its points.
const FUSE_MAPS: &[&str] = &[
    "convert-skript-formula-to-linalg{maps-only=true}",
    "convert-skript-elementwise-to-linalg",
    "skript-fuse-elementwise",
    "canonicalize",
    "skript-merge-duplicates",
];

/// Formulas without a `linalg.generic` become scf loops: those that run in order, and writes at indices that data decide.
/// Their attribute `not_linalg` states the reason.
const FORMULAS_TO_LINALG: &[&str] = &[
    "convert-skript-formula-to-linalg{leave-sequential=true}",
    "convert-skript-formula-to-scf{parallel=true lanes=true}",
];

/// Windows read a border of zeros instead of a guard, which no named operation has.
const FORMULAS_TO_PLAIN_LINALG: &[&str] = &[
    "convert-skript-formula-to-linalg{leave-sequential=true finite-factors=true}",
    "convert-skript-formula-to-scf",
];

/// For backends with kernels for named operations of linalg.
const NAMED: &[&str] = &["skript-raise-to-named-linalg", "canonicalize", "cse"];

/// Everything becomes loops; elementwise operations become formulas first.
const FORMULAS_TO_AFFINE: &[&str] =
    &["convert-skript-elementwise-to-formula", "convert-skript-formula-to-affine"];
const FORMULAS_TO_SCF: &[&str] = &["convert-skript-elementwise-to-formula", "convert-skript-formula-to-scf"];

/// Elementwise operations outside of formulas.
const MAPS_TO_LINALG: &[&str] = &["convert-skript-elementwise-to-linalg"];

/// Bottom-up, because in the other order upstream's driver walks a whole loop body for each operation that folds in it.
const SCALARS: &[&str] = &["convert-skript-scalar-to-arith", "canonicalize{top-down=false}", "cse"];

/// The lowerings: pipelines that support different formulas.
pub(crate) const LOWERINGS: [&str; 3] = ["skript-to-linalg", "skript-to-affine", "skript-to-scf"];

/// Every named pipeline.
pub const ALL: &[Pipeline] = &[
    Pipeline {
        flag: "skript-to-linalg",
        summary: "lower models to linalg on tensors",
        lists: &[INLINE, FUSE_MAPS, FORMULAS_TO_LINALG, MAPS_TO_LINALG, SCALARS],
        end: End::Lowered,
    },
    Pipeline {
        flag: "skript-to-linalg-named",
        summary: "lower models to linalg on tensors, with named operations where linalg has them",
        lists: &[INLINE, FUSE_MAPS, FORMULAS_TO_PLAIN_LINALG, MAPS_TO_LINALG, SCALARS, NAMED],
        end: End::Lowered,
    },
    Pipeline {
        flag: "skript-to-affine",
        summary: "lower models to affine loops on memrefs",
        lists: &[INLINE, FORMULAS_TO_AFFINE, SCALARS],
        end: End::Lowered,
    },
    Pipeline {
        flag: "skript-to-scf",
        summary: "lower models to scf loops on memrefs",
        lists: &[INLINE, FORMULAS_TO_SCF, SCALARS],
        end: End::Lowered,
    },
    Pipeline {
        flag: "skript-bufferize",
        summary: "bufferize what a lowering leaves on tensors; kept operators stay invocations",
        lists: &[],
        end: End::Buffers,
    },
    Pipeline {
        flag: "skript-linalg-to-llvm",
        summary: "lower models to the LLVM dialect through linalg",
        lists: &[INLINE, FUSE_MAPS, FORMULAS_TO_LINALG, MAPS_TO_LINALG, SCALARS],
        end: End::Llvm,
    },
    Pipeline {
        flag: "skript-affine-to-llvm",
        summary: "lower models to the LLVM dialect through affine loops",
        lists: &[INLINE, FORMULAS_TO_AFFINE, SCALARS],
        end: End::Llvm,
    },
    Pipeline {
        flag: "skript-scf-to-llvm",
        summary: "lower models to the LLVM dialect through scf loops",
        lists: &[INLINE, FORMULAS_TO_SCF, SCALARS],
        end: End::Llvm,
    },
];

impl Pipeline {
    /// The pipeline of this flag.
    pub fn named(flag: &str) -> Option<&'static Pipeline> {
        ALL.iter().find(|p| p.flag == flag)
    }

    /// The passes in order, in MLIR's textual form.
    pub fn passes(&self) -> Vec<&'static str> {
        let mut passes = self.lists.concat();
        if self.end >= End::Buffers {
            passes.extend(stages::bufferize_any());
        }
        if self.end >= End::Llvm {
            passes.extend(stages::to_llvm_any());
        }
        passes
    }

    /// Passes separated by commas, without the anchor.
    pub fn text(&self) -> String {
        self.passes().join(",")
    }
}

/// Registers the pipelines with MLIR.
pub(crate) fn register() {
    for pipeline in ALL {
        register_pipeline(pipeline.flag, pipeline.summary, &pipeline.text());
    }
}
