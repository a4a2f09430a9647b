//! Named pipelines as data.
//!
//! A pipeline is a list of passes in MLIR's textual form; `skript-opt --skript-to-linalg` and the compiler run the same.

pub mod stages;

use crate::codegen::apart::ONE_SHOT;
use skript_dialect::pass::register_pipeline;

/// A named pipeline on a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// Name on the command line.
    pub flag: &'static str,
    /// One line for `--help`.
    pub summary: &'static str,
    /// Lists of passes that follow each other.
    pub stages: &'static [&'static [&'static str]],
}

/// Operator instances become one function, where what follows each other is seen together, and what checks say of extents; narrow
/// sums get wide destinations.
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

/// Maps join each other first: what they feed, a contraction say, would compute them again at each of its points.
const FUSE_MAPS: &[&str] = &[
    "convert-skript-formula-to-linalg{maps-only=true}",
    "convert-skript-elementwise-to-linalg",
    "skript-fuse-elementwise",
    "canonicalize",
    "skript-merge-duplicates",
];

/// Formulas that linalg does not take run as loops of scf: those that run in order, and writes to places that data
/// choose. Each says so before, in its attribute `not_linalg`.
const FORMULAS_TO_LINALG: &[&str] = &[
    "convert-skript-formula-to-linalg{leave-sequential=true}",
    "convert-skript-formula-to-scf",
];

/// Windows read a border of zeros instead of a guard, which no named operation has.
const FORMULAS_TO_PLAIN_LINALG: &[&str] = &[
    "convert-skript-formula-to-linalg{leave-sequential=true finite-factors=true}",
    "convert-skript-formula-to-scf",
];

/// For backends with kernels of their own for what linalg has a name for.
const NAMED: &[&str] = &["skript-raise-to-named-linalg", "canonicalize", "cse"];

/// Everything becomes loops at once; what is elementwise is a formula first.
const FORMULAS_TO_AFFINE: &[&str] = &[
    "convert-skript-elementwise-to-formula",
    "convert-skript-formula-to-affine",
];
const FORMULAS_TO_SCF: &[&str] = &[
    "convert-skript-elementwise-to-formula",
    "convert-skript-formula-to-scf",
];

/// What is elementwise outside of formulas.
const MAPS_TO_LINALG: &[&str] = &["convert-skript-elementwise-to-linalg"];

/// Bottom-up: in the other order upstream's driver walks a loop's whole body again for each op that folds in it.
const SCALARS: &[&str] = &[
    "convert-skript-scalar-to-arith",
    "canonicalize{top-down=false}",
    "cse",
];

/// Tensors become memrefs; arguments that carry `bufferization.writable = false` are never written. For any module: functions keep their
/// arguments and results, which [`stages`] gives a calling convention.
const BUFFERIZE: &[&str] = &[
    "skript-separate-inits",
    "skript-write-carried{apart=if-refused}",
    "eliminate-empty-tensors",
    ONE_SHOT,
    "canonicalize",
    "cse",
];

/// Loops without a schedule. Other lowerings leave none of linalg, a module that comes with some may be given to any.
const LINALG_TO_LOOPS: &[&str] = &["convert-linalg-to-loops"];

/// Everything left becomes LLVM's dialect; what was not inlined is called.
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

/// The flags of the pipelines that differ in what they take.
pub const LOWERINGS: [&str; 3] = ["skript-to-linalg", "skript-to-affine", "skript-to-scf"];

/// Every named pipeline.
pub const ALL: &[Pipeline] = &[
    Pipeline {
        flag: "skript-to-linalg",
        summary: "models become linalg on tensors",
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
        summary: "models become linalg on tensors, with named operations where linalg has them",
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
        summary: "models become affine loops on memrefs",
        stages: &[INLINE, FORMULAS_TO_AFFINE, SCALARS],
    },
    Pipeline {
        flag: "skript-to-scf",
        summary: "models become scf loops on memrefs",
        stages: &[INLINE, FORMULAS_TO_SCF, SCALARS],
    },
    Pipeline {
        flag: "skript-bufferize",
        summary: "what a lowering left on tensors works on memrefs; operators that are kept stay invocations",
        stages: &[BUFFERIZE],
    },
    Pipeline {
        flag: "skript-linalg-to-llvm",
        summary: "models become LLVM's dialect by way of linalg",
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
        summary: "models become LLVM's dialect by way of affine loops",
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
        summary: "models become LLVM's dialect by way of scf loops",
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

/// Makes the pipelines known to MLIR.
pub fn register() {
    for pipeline in ALL {
        register_pipeline(pipeline.flag, pipeline.summary, &pipeline.text());
    }
}
