// SPDX-License-Identifier: Apache-2.0
//! The stages from the `skript` dialect to LLVM's, as data: the one description that the compiler and `skript-opt` run.
//!
//! A stage is a list of passes in MLIR's textual form. The driver runs them one after the other and can stop after each;
//! [`text`] joins them to what `skript-opt --pass-pipeline` accepts.

use super::Pipeline;
use crate::codegen::conflict_copies::ONE_SHOT;
use crate::codegen::{
    accesses, annotations, library_math, narrow_reals, parallel_calls, streams, vector_math,
};
use crate::elementwise::factor_sums;
use crate::fast_math::FastMath;
use crate::invoke::keep_operators;
use crate::profile::{kernels, mark, number};
use crate::recurrence;
use crate::target::{Architecture, TargetDescription};
use skript_dialect::Pass;

/// A named list of passes that end where `skript compile --emit` can stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stage {
    /// Names the stage in messages and in `--print-pipeline`.
    pub name: &'static str,
    /// Passes separated by commas, without the anchor.
    pub passes: String,
}

/// The modules that a stage runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Modules {
    /// Models: the entry gets a C calling convention.
    Models,
    /// Any module: functions keep their arguments and results. The named pipelines run on these.
    Any,
}

/// A pass of a stage, and the modules that it is for: all of them if `None`.
#[derive(Clone, Copy, Debug)]
struct Step(Option<Modules>, &'static str);

const fn every(pass: &'static str) -> Step {
    Step(None, pass)
}

const fn models(pass: &'static str) -> Step {
    Step(Some(Modules::Models), pass)
}

const fn any(pass: &'static str) -> Step {
    Step(Some(Modules::Any), pass)
}

/// Tensors become buffers, a model's results arguments. Variables and inputs are never written: their arguments have
/// `bufferization.writable = false`.
const BUFFERIZE: &[Step] = &[
    every("skript-hoist-invariants"),
    every("skript-compute-in-users"),
    every("skript-separate-inits"),
    every("skript-write-carried{apart=if-refused}"),
    models("skript-write-outputs"),
    every("skript-write-parts"),
    every("eliminate-empty-tensors"),
    every(ONE_SHOT),
    models("skript-split-phases"),
    every(CANONICALIZE),
    models("lower-affine"),
    models(CANONICALIZE),
    every("cse"),
];

/// Arrays become pointers and views of one arena; intrinsics, run-time checks and strided copies are lowered; a long entry becomes
/// calls of functions of bounded size. [`to_llvm`] leaves the verifier of accesses out unless the target requires it.
const MEMORY: &[&str] = &[
    "skript-open-arguments",
    CANONICALIZE,
    "cse",
    "skript-point-arguments",
    "skript-plan-memory",
    accesses::PASS.flag,
    "skript-lower-intrinsics",
    "skript-number-checks",
    "skript-lower-copies",
    "skript-yield-offsets",
    "skript-outline-parts",
];

/// Loops over buffers become LLVM's dialect; models get the C entry. In other modules, invocations that were not inlined
/// become calls. Passes that allow it run on functions: MLIR does so on several threads.
const LLVM: &[Step] = &[
    models("skript-name-entry"),
    models("func.func(convert-linalg-to-parallel-loops)"),
    models("skript-share-loops"),
    any("convert-linalg-to-loops"),
    any("skript-lower-invocations"),
    models(LIBRARY_MATH),
    every("func.func(expand-strided-metadata,lower-affine,convert-vector-to-scf,convert-scf-to-cf)"),
    models("skript-lower-checks"),
    any("func.func(convert-vector-to-llvm)"),
    models(EXPAND_MATH),
    // What those expansions round.
    models(LIBRARY_MATH),
    every("convert-math-to-funcs"),
    every("func.func(convert-math-to-llvm)"),
    every("convert-math-to-libm"),
    // With what math makes of functions of vectors: calls for each element.
    every("func.func(convert-vector-to-llvm)"),
    every("func.func(expand-strided-metadata,lower-affine)"),
    // At once, as each conversion walks all operations, and on functions, of which MLIR converts several at a time.
    models("func.func(convert-to-llvm{filter-dialects=arith,cf,complex,index,ub})"),
    // With the constant arrays of the module, which functions refer to.
    models("finalize-memref-to-llvm"),
    models("convert-func-to-llvm{use-bare-ptr-memref-call-conv=true}"),
    any("convert-to-llvm"),
    any("reconcile-unrealized-casts"),
    models("llvm.func(reconcile-unrealized-casts)"),
    models(NARROW_REALS),
    models("llvm.func(canonicalize{region-simplify=disabled},cse)"),
    models("skript-add-entry"),
    models("skript-merge-functions"),
    models("skript-parallelize-calls"),
    models(ANNOTATE_LOOPS),
];

/// Canonicalization without that of regions, which looks for equal blocks and for dead loop-carried values in the whole module:
/// after the stage `lower` there are none, and LLVM simplifies the blocks that loops become.
const CANONICALIZE: &str = "canonicalize{region-simplify=disabled}";

/// The pass of [`LLVM`] for targets without a C library.
const LIBRARY_MATH: &str = library_math::PASS.flag;

/// The pass of [`LLVM`] that interleaves loops.
const ANNOTATE_LOOPS: &str = annotations::PASS.flag;

/// The pass of [`LLVM`] for f16 and bf16.
const NARROW_REALS: &str = narrow_reals::PASS.flag;

/// The passes of [`LLVM`] for threads.
const THREADS: [&str; 2] = ["skript-share-loops", "skript-parallelize-calls"];

/// The pass of [`LLVM`] that depends on the target.
const EXPAND_MATH: &str = vector_math::PASS.flag;

fn of(steps: &[Step], modules: Modules) -> Vec<&'static str> {
    steps
        .iter()
        .filter(|Step(only, _)| only.is_none_or(|only| only == modules))
        .map(|Step(_, pass)| *pass)
        .collect()
}

/// From the `skript` dialect to the dialects of a lowering. Operators of `keep`, by their qualified names, stay invocations.
pub(crate) fn lower(lowering: &Pipeline, keep: &[String], target: &TargetDescription) -> Stage {
    let passes =
        if target.computes_integers { lowering.text().replace(FUSION, WIDE_FUSION) } else { lowering.text() };
    let passes = match target.gpu {
        // A thread has no vectors.
        Some(gpu) => {
            let most = match gpu.iterations {
                0 => String::new(),
                most => format!(" iterations={most}"),
            };
            passes.replace(" lanes=true", &format!(" threads=true{most}"))
        }
        None => passes,
    };
    Stage {
        name: "lower",
        passes: match self::keep(keep) {
            Some(keep) => format!("{keep},{passes}"),
            None => passes,
        },
    }
}

/// A quantization takes some 30 operations before `skript-compute-integers` makes it shorter: it must not be split.
const FUSION: &str = "skript-fuse-elementwise,";
const WIDE_FUSION: &str = "skript-fuse-elementwise{operations=256},";

/// The pass that keeps operators as invocations; `None` if there are none to keep.
pub(crate) fn keep(operators: &[String]) -> Option<String> {
    let flag = keep_operators::PASS.flag;
    (!operators.is_empty()).then(|| format!("{flag}{{operators={}}}", operators.join(",")))
}

/// What a level of fast math requires or allows, on tensors or loops.
fn fast_math(level: FastMath) -> &'static [&'static str] {
    match level {
        FastMath::None => &["skript-drop-fast-math"],
        FastMath::Default | FastMath::Winograd => &["skript-fold-scales"],
    }
}

/// Quantized values become bytes; what reads them computes them again in its own payload.
const INTEGERS: &[&str] = &[
    "skript-compute-integers",
    "canonicalize",
    "cse",
    "skript-fuse-elementwise{maps-only=true}",
    "canonicalize",
    "cse",
    "skript-hoist-constants",
];

/// From tensors or loops to buffers.
pub(crate) fn bufferize(target: &TargetDescription) -> Stage {
    let before = fast_math(target.fast_math);
    let layouts = [format!("skript-assign-layouts{{{}}}", schedules(target))];
    let integers = if target.computes_integers { INTEGERS } else { &[] };
    // Kernels of GPUs read tensors in the order of their formulas, at any subscripts.
    let (sums, layouts) = match (target.gpu, target.fast_math) {
        (Some(_), _) => (None, &[][..]),
        (None, FastMath::None) => (None, &layouts[..]),
        (None, _) => (Some(factor_sums::PASS.flag), &layouts[..]),
    };
    let passes = integers
        .iter()
        .copied()
        .chain([recurrence::hoist_projections::PASS.flag])
        .chain(before.iter().copied())
        .chain(sums)
        .chain(layouts.iter().map(String::as_str))
        .chain(of(BUFFERIZE, Modules::Models));
    Stage { name: BUFFERS, passes: passes.collect::<Vec<_>>().join(",") }
}

/// The passes of [`bufferize`] for any module, without those of a level of fast math.
pub(crate) fn bufferize_any() -> Vec<&'static str> {
    of(BUFFERIZE, Modules::Any)
}

/// The passes from buffers to LLVM's dialect for any module, without a target.
pub(crate) fn to_llvm_any() -> Vec<&'static str> {
    of(LLVM, Modules::Any)
}

/// Reductions become register-tiled kernels, as wide as the target's vectors.
pub(crate) fn schedule(target: &TargetDescription) -> Stage {
    let options = schedules(target);
    let winograd = match target.fast_math {
        FastMath::None | FastMath::Default => String::new(),
        FastMath::Winograd => format!("skript-winograd{{{options}}},"),
    };
    let (cache, bits) = (target.processor.l2, target.processor.vector_bits);
    let halves = target.processor.bf16_products.name();
    let plans = match target.plans.as_str() {
        "" => String::new(),
        plans => format!(" plans={plans}"),
    };
    let [rows, maps] = match target.streams() {
        Some(bytes) => {
            [" rows-only=true", ""].map(|only| format!("skript-stream-results{{cache-bytes={bytes}{only}}},"))
        }
        None => [String::new(), String::new()],
    };
    let vectors = if target.has_fused_vectors() {
        format!(
            "skript-vectorize-maps{{vector-bits={bits} vector-registers={} functions={}}},",
            target.processor.vector_registers, target.processor.scales
        )
    } else {
        String::new()
    };
    Stage {
        name: "schedule",
        passes: format!(
            "skript-sort-comparisons,skript-split-scatters,skript-fill-borders,skript-fuse-rows{{cache-bytes={cache}}},{rows}{winograd}skript-test-exponents{{vector-bits={bits} bf16-products={halves}}},skript-widen-operands,skript-vectorize-reductions{{{options}{plans}}},skript-merge-reductions,skript-interchange-reductions,skript-block-transpositions{{vector-bits={bits}}},skript-split-clamps,{maps}skript-shuffle-reads{{vector-bits={bits}}},skript-divide-by-invariants,{vectors}{CANONICALIZE},cse"
        ),
    }
}

/// The options of passes that plan kernels.
fn schedules(target: &TargetDescription) -> String {
    let processor = &target.processor;
    let (bits, registers) = (processor.vector_bits, processor.vector_registers);
    let cache = processor.l2;
    // One chain of each sum, as its formula has it.
    let order = match target.fast_math {
        FastMath::None => " keep-order=true",
        FastMath::Default | FastMath::Winograd => "",
    };
    let halves = processor.bf16_products.name();
    let costs = processor.costs.text();
    let products = if target.computes_integers {
        format!(" byte-products={}", processor.byte_products.name())
    } else {
        String::new()
    };
    format!(
        "vector-bits={bits} vector-registers={registers} cache-bytes={cache} {costs}{products} bf16-products={halves}{order}"
    )
}

/// The stages with marks where the steps of the code begin: set before schedules, numbered after the preparation.
pub(crate) fn with_profile(stages: Vec<Stage>) -> Vec<Stage> {
    let profile = |pass: &Pass| Stage { name: "profile", passes: pass.flag.to_owned() };
    let followed = stages.into_iter().flat_map(|stage| {
        let follower = match stage.name {
            BUFFERS => Some(profile(&mark::PASS)),
            PREPARED => Some(profile(&number::PASS)),
            _ => None,
        };
        [Some(stage), follower].into_iter().flatten()
    });
    followed.collect()
}

/// Calls of the profiler around launches of kernels.
pub(crate) fn numbered_kernels() -> Stage {
    Stage { name: "profile", passes: kernels::PASS.flag.to_owned() }
}

/// The names of stages that others follow.
const BUFFERS: &str = "bufferize";
const PREPARED: &str = "prepare";

/// What depends on variables alone moves into functions that run once.
pub(crate) fn prepare() -> Stage {
    Stage { name: PREPARED, passes: "skript-prepare-variables".to_owned() }
}

/// From buffers to a module in LLVM's dialect for a target.
pub(crate) fn to_llvm(target: &TargetDescription) -> [Stage; 2] {
    let is_kept = |pass: &&str| target.verifies_accesses || *pass != accesses::PASS.flag;
    let memory: Vec<&str> = MEMORY.iter().copied().filter(is_kept).collect();
    [
        Stage { name: "memory", passes: memory.join(",") },
        Stage { name: "llvm", passes: to_llvm_dialect(target) },
    ]
}

/// Vectors in a step of a loop with long steps. Times on processors with AVX2 and AVX-512 (`bench/notes.md`).
const INTERLEAVED: u32 = 4;

fn to_llvm_dialect(target: &TargetDescription) -> String {
    let passes = of(LLVM, Modules::Models).into_iter();
    // Without a system there are no threads, and no C library.
    let is_freestanding = target.is_freestanding();
    let passes =
        passes.filter(|pass| if is_freestanding { !THREADS.contains(pass) } else { *pass != LIBRARY_MATH });
    let processor = &target.processor;
    let (scales, rounds) = (processor.scales, processor.rounds);
    let extremes = processor.extremes.name();
    let architecture = Architecture::of_target(&target.code);
    let library_math = architecture.library_math;
    let conversions = Architecture::conversions(&target.code);
    let interleave = match processor.vector_bits {
        ..=64 => 1,
        _ => INTERLEAVED,
    };
    let passes = passes.map(|pass| match pass {
        EXPAND_MATH => format!("{pass}{{scales={scales} extremes={extremes} rounds={rounds}}}"),
        NARROW_REALS if !conversions.is_empty() => format!("{pass}{{conversions={conversions}}}"),
        LIBRARY_MATH => format!("{pass}{{operations={library_math}}}"),
        ANNOTATE_LOOPS => format!("{pass}{{interleave={interleave}}}"),
        pass => pass.to_owned(),
    });
    let triple = format!("skript-set-target{{triple={}}}", target.code.triple);
    let mut passes: Vec<String> = passes.chain([triple]).collect();
    if target.streams().is_some() {
        let before = passes.iter().position(|pass| *pass == parallel_calls::PASS.flag);
        passes.insert(before.unwrap_or(0), streams::PASS.flag.to_owned());
    }
    passes.join(",")
}

/// Every stage from the `skript` dialect to LLVM's.
pub(crate) fn all(lowering: &Pipeline, keep: &[String], target: &TargetDescription) -> Vec<Stage> {
    let mut stages = vec![lower(lowering, keep, target)];
    stages.extend(after_lowering(target));
    stages
}

/// Every stage after the lowering. For GPUs those of kernels follow; [`super::gpu_stages::host`] has those of the host.
pub(crate) fn after_lowering(target: &TargetDescription) -> Vec<Stage> {
    if let Some(gpu) = target.gpu {
        let mut stages = super::gpu_stages::to_kernels(target, gpu);
        stages.extend(super::gpu_stages::kernels(gpu));
        return stages;
    }
    let mut stages = vec![bufferize(target), schedule(target), prepare()];
    stages.extend(to_llvm(target));
    stages
}

/// What `skript-opt --pass-pipeline` accepts to run these stages.
pub(crate) fn text(stages: &[Stage]) -> String {
    let passes: Vec<&str> = stages.iter().map(|stage| stage.passes.as_str()).collect();
    format!("builtin.module({})", passes.join(","))
}
