// SPDX-License-Identifier: Apache-2.0
//! The stages from the `skript` dialect to the `llvm` dialect. The compiler and `skript-opt` use the same description.
//!
//! A stage is a list of passes. The driver runs the stages one after the other and can stop after each; [`text`] joins
//! them to a pipeline for `skript-opt --pass-pipeline`.

use super::gpu_stages;
use super::lowerings::Pipeline;
use super::stop::Stop;
use crate::codegen::line_tables::LineTables;
use crate::codegen::{
    accesses, annotations, arguments, bool_bytes, checks, conflict_copies, copies, entry, inits, intrinsics,
    library_math, loop_carried, memory, merged_functions, narrow_reals, outlined_functions, outputs,
    parallel_calls, parts, pointer_table, shared_loops, streams, target as code_target, vector_math,
    view_offsets,
};
use crate::elementwise::{
    compute_in_users, factor_sums, fold_integers, fuse_elementwise, hoist_invariants, move_factors,
    slice_gathers, split_sums, sum_bits,
};
use crate::fast_math::FastMath;
use crate::formula::drop_fast_math;
use crate::integers;
use crate::invoke::{keep_operators, lower_invocations};
use crate::ir::ops;
use crate::ir::step::{self, Step, canonicalize_operations, simplify};
use crate::layout;
use crate::prepare::{self, fold_scales, hoist_constants};
use crate::profile::{kernels, mark, number};
use crate::recurrence::hoist_projections;
use crate::schedule::{
    blocks, borders, clamps, comparisons, dependences, divisions, elements, exponents, forward_copies,
    interchange, maps, merge, phases, prefixes, rows, scatter_blocks, scatters, shuffles, skew, unpack,
    unswitch, vectorize, widen_operands, winograd,
};
use crate::target::{Architecture, TargetDescription};

/// A named list of passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stage {
    /// The name of the stage in messages and timings.
    pub name: &'static str,
    pub steps: Vec<Step>,
    /// Where `skript compile --emit` stops after this stage.
    pub stop: Option<Stop>,
}

impl Stage {
    pub(crate) fn new(name: &'static str, steps: impl IntoIterator<Item = Step>) -> Stage {
        Stage { name, steps: steps.into_iter().collect(), stop: None }
    }

    pub(crate) fn before(self, stop: Stop) -> Stage {
        Stage { stop: Some(stop), ..self }
    }

    /// Whether the stage has steps that MLIR runs on several threads.
    pub(crate) fn is_parallel(&self) -> bool {
        self.steps.iter().any(Step::is_nested)
    }
}

/// The stage from the `skript` dialect to the dialects of a lowering. The operators with the qualified names `keep` remain invocations.
pub(crate) fn lower(lowering: &Pipeline, keep: &[String], target: &TargetDescription) -> Stage {
    let kept = self::keep(keep);
    Stage::new("lower", kept.into_iter().chain(lowering.steps(Some(target)))).before(Stop::Lowered)
}

/// The pass that keeps operators as invocations; `None` without such operators.
pub(crate) fn keep(operators: &[String]) -> Option<Step> {
    let keep = Step::from(&keep_operators::PASS);
    (!operators.is_empty()).then(|| keep.with("operators", operators.join(",")))
}

/// Converts quantized values to bytes. Operations that read them dequantize them in their payloads.
fn integers() -> Vec<Step> {
    let fusion = Step::from(&fuse_elementwise::PASS).with("maps-only", true);
    [
        vec![Step::from(&integers::PASS)],
        simplify().to_vec(),
        vec![fusion],
        simplify().to_vec(),
        vec![Step::from(&hoist_constants::PASS)],
    ]
    .concat()
}

/// The passes on tensors or loops that compute sums of products in bytes.
pub(crate) fn integers_alone() -> Stage {
    Stage::new("integers", integers())
}

/// The passes from tensors or loops to buffers.
pub(crate) fn bufferize(target: &TargetDescription) -> Stage {
    let mut steps = Vec::new();
    if target.computes_integers() {
        steps.extend(integers());
    }
    steps.extend([&fold_integers::PASS, &sum_bits::PASS].map(Step::from));
    steps.push(Step::from(&hoist_projections::PASS));
    // The passes that a level of fast math requires or allows, on tensors or loops.
    steps.push(match target.fast_math {
        FastMath::None => Step::from(&drop_fast_math::PASS),
        FastMath::Default | FastMath::Winograd => Step::from(&fold_scales::PASS),
    });
    // GPU kernels read tensors in the order of their formulas, at any subscripts.
    if target.gpu.is_none() {
        steps.push(Step::from(&prefixes::PASS));
        steps.push(Step::from(&slice_gathers::PASS));
        if target.fast_math != FastMath::None {
            steps.push(Step::from(&move_factors::PASS));
            steps.push(Step::from(&factor_sums::PASS));
            steps.push(Step::from(&split_sums::PASS));
        }
        steps.push(with_target(Step::from(&layout::PASS), target));
    }
    steps.extend(to_buffers(true));
    Stage::new("bufferize", steps).before(Stop::Buffers)
}

/// Converts tensors to buffers, and the results of a model to arguments. Variables and inputs are never written, so their arguments
/// have `bufferization.writable = false`.
pub(crate) fn to_buffers(is_model: bool) -> Vec<Step> {
    let mut steps = vec![
        Step::from(&hoist_invariants::PASS),
        Step::from(&compute_in_users::PASS),
        Step::from(&inits::PASS),
        Step::from(&loop_carried::PASS).with("apart", "if-refused"),
    ];
    if is_model {
        steps.push(Step::from(&outputs::PASS));
    }
    steps.extend([
        Step::from(&parts::PASS),
        Step::upstream("eliminate-empty-tensors"),
        conflict_copies::one_shot_bufferize().with("unknown-type-conversion", "identity-layout-map"),
    ]);
    if is_model {
        steps.push(Step::from(&phases::PASS));
    }
    steps.push(canonicalize_operations());
    if is_model {
        steps.extend([Step::upstream("lower-affine"), canonicalize_operations()]);
    }
    steps.push(Step::upstream("cse"));
    steps
}

/// Converts reductions to register-tiled kernels with the vectors of the target.
fn schedule(target: &TargetDescription) -> Stage {
    let (cache, bits) = (target.processor.l2, target.processor.vector_bits);
    let streams = target.streams();
    let stream = |bytes: u64| Step::from(&rows::streams::PASS).with("cache-bytes", bytes);
    let mut steps = vec![
        Step::from(&forward_copies::PASS),
        unpack_products(target),
        Step::from(&comparisons::PASS),
        Step::from(&scatters::PASS),
        Step::from(&scatter_blocks::PASS),
        Step::from(&unswitch::PASS),
        Step::from(&dependences::PASS),
        Step::from(&skew::PASS),
        Step::from(&elements::PASS),
        Step::from(&borders::PASS),
        Step::from(&rows::PASS).with("cache-bytes", cache),
    ];
    steps.extend(streams.map(|bytes| stream(bytes).with("rows-only", true)));
    if target.fast_math == FastMath::Winograd {
        steps.push(with_target(Step::from(&winograd::PASS), target));
    }
    let plans = target.plans.as_str();
    let vectorize = with_target(Step::from(&vectorize::PASS), target);
    steps.extend([
        Step::from(&exponents::PASS)
            .with("vector-bits", bits)
            .with("bf16-products", target.processor.bf16_products.name()),
        Step::from(&widen_operands::PASS),
        vectorize.with_all((!plans.is_empty()).then_some(("plans", plans))),
        Step::from(&merge::PASS),
        Step::from(&interchange::PASS),
        Step::from(&blocks::PASS).with("vector-bits", bits),
        Step::from(&clamps::PASS),
    ]);
    steps.extend(streams.map(stream));
    steps.extend([Step::from(&shuffles::PASS).with("vector-bits", bits), Step::from(&divisions::PASS)]);
    if target.has_fused_vectors() {
        let maps = Step::from(&maps::PASS).with("vector-bits", bits);
        steps.push(
            maps.with("vector-registers", target.processor.vector_registers)
                .with("functions", target.processor.scales),
        );
    }
    steps.extend([canonicalize_operations(), Step::upstream("cse")]);
    Stage::new("schedule", steps)
}

fn unpack_products(target: &TargetDescription) -> Step {
    Step::from(&unpack::PASS)
        .with("vector-bits", target.processor.vector_bits)
        .with_flag("permutes", target.permutes())
        .with("byte-products", target.processor.byte_products.name())
}

/// The options of passes that plan kernels.
fn with_target(step: Step, target: &TargetDescription) -> Step {
    let processor = &target.processor;
    let products = target.computes_integers().then_some(("byte-products", processor.byte_products.name()));
    step.with("vector-bits", processor.vector_bits)
        .with("vector-registers", processor.vector_registers)
        .with("cache-bytes", processor.l2)
        .with_all(processor.costs.options())
        .with_all(products)
        .with("bf16-products", processor.bf16_products.name())
        // Compute each sum in the order of its formula.
        .with_flag("keep-order", target.fast_math == FastMath::None)
}

/// Moves computations that only depend on variables into functions that are executed once.
fn prepare() -> Stage {
    Stage::new("prepare", [Step::from(&prepare::PASS)]).before(Stop::Scheduled)
}

/// Converts arrays to pointers and views of one arena, lowers intrinsics, run-time checks and strided copies, and splits a long entry
/// into functions of limited size.
fn memory(target: &TargetDescription) -> Stage {
    let mut steps = vec![
        Step::from(&arguments::PASS),
        canonicalize_operations(),
        Step::upstream("cse"),
        Step::from(&pointer_table::PASS),
        Step::from(&memory::PASS),
    ];
    if target.verifies_accesses {
        steps.push(Step::from(&accesses::PASS));
    }
    let lowered =
        [&intrinsics::PASS, &checks::NUMBER, &copies::PASS, &view_offsets::PASS, &outlined_functions::PASS];
    steps.extend(lowered.map(Step::from));
    Stage::new("memory", steps)
}

/// Lowers loops on buffers to the `llvm` dialect, and adds the C entry to models.
pub(crate) fn llvm(target: &TargetDescription) -> Stage {
    let processor = &target.processor;
    // Without an operating system, there are no threads and no C library.
    let is_freestanding = target.is_freestanding();
    let threads = |pass| (!is_freestanding).then(|| Step::from(pass));
    let operations = Architecture::of_target(&target.code).library_math;
    let library_math =
        is_freestanding.then(|| Step::from(&library_math::PASS).with("operations", operations));
    let conversions = Some(Architecture::conversions(&target.code)).filter(|c| !c.is_empty());
    let mut steps = vec![
        Step::from(&entry::NAME),
        Step::nested(ops::func::FUNC, [Step::upstream("convert-linalg-to-parallel-loops")]),
    ];
    steps.extend(threads(&shared_loops::PASS));
    steps.extend(library_math.clone());
    steps.extend([
        vectors_to_loops(),
        Step::from(&checks::PASS),
        Step::from(&vector_math::PASS)
            .with("scales", processor.scales)
            .with("extremes", processor.extremes.name())
            .with("rounds", processor.rounds),
    ]);
    // The roundings in these expansions.
    steps.extend(library_math);
    steps.extend(math_to_calls());
    steps.extend([
        // In one pass, because each conversion walks all operations, and on functions, because MLIR converts several functions in parallel.
        Step::nested(
            ops::func::FUNC,
            [Step::upstream("convert-to-llvm").with("filter-dialects", "arith,cf,complex,index,ub")],
        ),
        // Includes the constant arrays of the module, which functions refer to.
        Step::upstream("finalize-memref-to-llvm"),
        Step::upstream("convert-func-to-llvm").with("use-bare-ptr-memref-call-conv", true),
        Step::nested(ops::llvm::FUNC, [Step::upstream("reconcile-unrealized-casts")]),
        Step::from(&narrow_reals::PASS).with_all(conversions.map(|names| ("conversions", names))),
        Step::from(&bool_bytes::PASS),
        Step::nested(ops::llvm::FUNC, [canonicalize_operations(), Step::upstream("cse")]),
        Step::from(&entry::ADD),
        Step::from(&merged_functions::PASS),
    ]);
    steps.extend(target.streams().map(|_| Step::from(&streams::PASS)));
    steps.extend(threads(&parallel_calls::PASS));
    let interleave = match processor.vector_bits {
        ..=64 => 1,
        _ => INTERLEAVED,
    };
    steps.extend([
        Step::from(&annotations::PASS).with("interleave", interleave),
        Step::from(&code_target::PASS).with("triple", &target.code.triple),
    ]);
    steps.extend(target.has_line_tables.then(|| LineTables::Dwarf.step()));
    Stage::new("llvm", steps)
}

/// The number of vectors in a step of a loop with long steps, from times on processors with AVX2 and AVX-512 (`bench/notes.md`).
const INTERLEAVED: u32 = 4;

/// Lowers loops on buffers of any module to the `llvm` dialect, and invocations that were not inlined to calls.
pub(crate) fn to_llvm_any() -> Vec<Step> {
    let mut steps = vec![
        Step::upstream("convert-linalg-to-loops"),
        Step::from(&lower_invocations::PASS),
        vectors_to_loops(),
        vectors_to_llvm(),
    ];
    steps.extend(math_to_calls());
    steps.extend(["convert-to-llvm", "reconcile-unrealized-casts"].map(Step::upstream));
    steps
}

fn vectors_to_loops() -> Step {
    let passes = ["expand-strided-metadata", "lower-affine", "convert-vector-to-scf", "convert-scf-to-cf"];
    Step::nested(ops::func::FUNC, passes.map(Step::upstream))
}

fn vectors_to_llvm() -> Step {
    Step::nested(ops::func::FUNC, [Step::upstream("convert-vector-to-llvm")])
}

/// Converts math functions of vectors to calls for each element.
fn math_to_calls() -> [Step; 5] {
    [
        Step::upstream("convert-math-to-funcs"),
        Step::nested(ops::func::FUNC, [Step::upstream("convert-math-to-llvm")]),
        Step::upstream("convert-math-to-libm"),
        vectors_to_llvm(),
        Step::nested(ops::func::FUNC, ["expand-strided-metadata", "lower-affine"].map(Step::upstream)),
    ]
}

/// Inserts calls of the profiler around launches of kernels.
pub(crate) fn numbered_kernels() -> Stage {
    Stage::new("profile", [Step::from(&kernels::PASS)])
}

/// The longest stride along a row of a reduction in C: C compilers compute vectors of such elements by permutations.
const C_STRIDE: i64 = 4;

/// Every stage from the `skript` dialect to loops on memory of the caller, for the writer of C: one loop nest for each formula, in the
/// order of the formula, without vectors.
pub(crate) fn to_c(lowering: &Pipeline) -> [Stage; 3] {
    let mut buffers: Vec<Step> =
        [&fold_integers::PASS, &sum_bits::PASS, &drop_fast_math::PASS].map(Step::from).into();
    buffers.extend(to_buffers(true));
    let to_loops = ["convert-linalg-to-loops", "lower-affine"].map(Step::upstream);
    let mut loops = vec![
        Step::from(&interchange::PASS).with("longest-stride", C_STRIDE),
        Step::nested(ops::func::FUNC, to_loops),
        canonicalize_operations(),
        Step::upstream("cse"),
        Step::from(&elements::PASS).with("nested", true),
    ];
    loops.extend([&arguments::PASS, &memory::PASS, &checks::NUMBER].map(Step::from));
    loops.extend([canonicalize_operations(), Step::upstream("cse")]);
    [Stage::new("lower", lowering.steps(None)), Stage::new("bufferize", buffers), Stage::new("loops", loops)]
}

/// Every stage from the `skript` dialect to the `llvm` dialect.
pub(crate) fn all(lowering: &Pipeline, keep: &[String], target: &TargetDescription) -> Vec<Stage> {
    let mut stages = vec![lower(lowering, keep, target)];
    stages.extend(after_lowering(target));
    stages
}

/// Every stage after the lowering. For GPUs, the stages of kernels follow; [`gpu_stages::host`] has the stages of the host.
pub(crate) fn after_lowering(target: &TargetDescription) -> Vec<Stage> {
    match target.gpu {
        Some(gpu) => {
            let mut stages = gpu_stages::to_kernels(target, gpu);
            stages.extend(gpu_stages::kernels(target, gpu));
            stages
        }
        None => vec![bufferize(target), schedule(target), prepare(), memory(target), llvm(target)],
    }
}

/// The stages of [`after_lowering`] for a CPU with marks where the steps of the code begin: set before schedules, numbered after the
/// preparation.
pub(crate) fn after_lowering_with_profile(target: &TargetDescription) -> Vec<Stage> {
    let followed = after_lowering(target).into_iter().flat_map(|stage| {
        let pass = match stage.stop {
            Some(Stop::Buffers) => Some(&mark::PASS),
            Some(Stop::Scheduled) => Some(&number::PASS),
            _ => None,
        };
        let profile = pass.map(|pass| Stage::new("profile", [Step::from(pass)]));
        std::iter::once(stage).chain(profile)
    });
    followed.collect()
}

/// The stages before the point at which a compilation stops.
pub(crate) fn before(stages: Vec<Stage>, stop: Stop) -> Vec<Stage> {
    let last = match stop {
        Stop::Skript => return Vec::new(),
        Stop::LlvmDialect | Stop::Code(_) => return stages,
        Stop::Lowered | Stop::Buffers | Stop::Scheduled => {
            stages.iter().position(|stage| stage.stop == Some(stop))
        }
    };
    let count = last.map_or(stages.len(), |last| last + 1);
    stages.into_iter().take(count).collect()
}

/// The pipeline of these stages for `skript-opt --pass-pipeline`.
pub(crate) fn text(stages: &[Stage]) -> String {
    let stages: Vec<String> = stages.iter().map(|stage| step::text(&stage.steps)).collect();
    format!("builtin.module({})", stages.join(","))
}
