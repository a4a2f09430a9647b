// SPDX-License-Identifier: Apache-2.0
//! Named pipelines as data.
//!
//! A pipeline is a list of passes in MLIR's textual form; `skript-opt --skript-to-linalg` and the compiler run the same.

pub mod stages;

use crate::codegen::conflict_copies::ONE_SHOT;
use skript_dialect::pass::register_pipeline;

/// A named pipeline on a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// Name on the command line.
    pub flag: &'static str,
    /// One line for `--help`.
    pub summary: &'static str,
    /// Lists of passes, in order.
    pub stages: &'static [&'static [&'static str]],
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
    "convert-skript-formula-to-scf",
];

/// Windows read a border of zeros instead of a guard, which no named operation has.
const FORMULAS_TO_PLAIN_LINALG: &[&str] = &[
    "convert-skript-formula-to-linalg{leave-sequential=true finite-factors=true}",
    "convert-skript-formula-to-scf",
];

/// For backends with kernels for named operations of linalg.
const NAMED: &[&str] = &["skript-raise-to-named-linalg", "canonicalize", "cse"];

/// Everything becomes loops; elementwise operations become formulas first.
const FORMULAS_TO_AFFINE: &[&str] = &[
    "convert-skript-elementwise-to-formula",
    "convert-skript-formula-to-affine",
];
const FORMULAS_TO_SCF: &[&str] = &[
    "convert-skript-elementwise-to-formula",
    "convert-skript-formula-to-scf",
];

/// Elementwise operations outside of formulas.
const MAPS_TO_LINALG: &[&str] = &["convert-skript-elementwise-to-linalg"];

/// Bottom-up, because in the other order upstream's driver walks a whole loop body for each operation that folds in it.
const SCALARS: &[&str] = &[
    "convert-skript-scalar-to-arith",
    "canonicalize{top-down=false}",
    "cse",
];

/// Converts tensors to memrefs. Arguments with `bufferization.writable = false` are never written. Functions keep their
/// arguments and results; [`stages`] changes those of the entry to a calling convention.
const BUFFERIZE: &[&str] = &[
    "skript-separate-inits",
    "skript-write-carried{apart=if-refused}",
    "eliminate-empty-tensors",
    ONE_SHOT,
    "canonicalize",
    "cse",
];

/// Loops without a schedule. Only the linalg lowering leaves linalg, but a module may come with some.
const LINALG_TO_LOOPS: &[&str] = &["convert-linalg-to-loops"];

/// Converts everything left to the LLVM dialect; invocations that were not inlined become calls.
const TO_LLVM: &[&str] = &[
    "skript-lower-invocations",
    "lower-affine",
    "convert-vector-to-scf",
    "convert-scf-to-cf",
    "expand-strided-metadata",
    "lower-affine",
    "convert-math-to-funcs",
    "convert-math-to-llvm",
    "convert-math-to-libm",
    "convert-vector-to-llvm",
    "convert-to-llvm",
    "reconcile-unrealized-casts",
];

/// The lowerings: pipelines that support different formulas.
pub const LOWERINGS: [&str; 3] = ["skript-to-linalg", "skript-to-affine", "skript-to-scf"];

/// Every named pipeline.
pub const ALL: &[Pipeline] = &[
    Pipeline {
        flag: "skript-to-linalg",
        summary: "lower models to linalg on tensors",
        stages: &[
            INLINE,
            FUSE_MAPS,
            FORMULAS_TO_LINALG,
            MAPS_TO_LINALG,
            SCALARS,
        ],
    },
    Pipeline {
        flag: "skript-to-linalg-named",
        summary: "lower models to linalg on tensors, with named operations where linalg has them",
        stages: &[
            INLINE,
            FUSE_MAPS,
            FORMULAS_TO_PLAIN_LINALG,
            MAPS_TO_LINALG,
            SCALARS,
            NAMED,
        ],
    },
    Pipeline {
        flag: "skript-to-affine",
        summary: "lower models to affine loops on memrefs",
        stages: &[INLINE, FORMULAS_TO_AFFINE, SCALARS],
    },
    Pipeline {
        flag: "skript-to-scf",
        summary: "lower models to scf loops on memrefs",
        stages: &[INLINE, FORMULAS_TO_SCF, SCALARS],
    },
    Pipeline {
        flag: "skript-bufferize",
        summary: "bufferize what a lowering leaves on tensors; kept operators stay invocations",
        stages: &[BUFFERIZE],
    },
    Pipeline {
        flag: "skript-linalg-to-llvm",
        summary: "lower models to the LLVM dialect through linalg",
        stages: &[
            INLINE,
            FUSE_MAPS,
            FORMULAS_TO_LINALG,
            MAPS_TO_LINALG,
            SCALARS,
            BUFFERIZE,
            LINALG_TO_LOOPS,
            TO_LLVM,
        ],
    },
    Pipeline {
        flag: "skript-affine-to-llvm",
        summary: "lower models to the LLVM dialect through affine loops",
        stages: &[
            INLINE,
            FORMULAS_TO_AFFINE,
            SCALARS,
            BUFFERIZE,
            LINALG_TO_LOOPS,
            TO_LLVM,
        ],
    },
    Pipeline {
        flag: "skript-scf-to-llvm",
        summary: "lower models to the LLVM dialect through scf loops",
        stages: &[
            INLINE,
            FORMULAS_TO_SCF,
            SCALARS,
            BUFFERIZE,
            LINALG_TO_LOOPS,
            TO_LLVM,
        ],
    },
];

impl Pipeline {
    /// The pipeline of this flag.
    pub fn named(flag: &str) -> Option<&'static Pipeline> {
        ALL.iter().find(|p| p.flag == flag)
    }

    /// Passes separated by commas, without the anchor.
    pub fn text(&self) -> String {
        self.stages.concat().join(",")
    }
}

/// Registers the pipelines with MLIR.
pub fn register() {
    for pipeline in ALL {
        register_pipeline(pipeline.flag, pipeline.summary, &pipeline.text());
    }
}
