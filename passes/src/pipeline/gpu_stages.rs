// SPDX-License-Identifier: Apache-2.0
//! The stages for GPUs: the stages for CPUs up to planned memory, then kernels and the code that launches them.

use super::stages::{self, Stage};
use super::stop::Stop;
use crate::codegen::gpu::{kernel_math, kernel_memory, launches};
use crate::codegen::line_tables::LineTables;
use crate::codegen::{arguments, checks, copies, intrinsics, memory, vector_math, view_offsets};
use crate::ir::ops;
use crate::ir::step::{Step, simplify};
use crate::prepare;
use crate::schedule::gpu::{blocks, iterations, lanes, long_loops, outline, reductions};
use crate::schedule::{borders, rows};
use crate::target::TargetDescription;
use crate::target::{Gpu, Language, Precision};

/// The stages from tensors to kernels and launches.
pub(crate) fn to_kernels(target: &TargetDescription, gpu: &Gpu) -> Vec<Stage> {
    vec![stages::bufferize(target), memory(target, gpu), schedule(gpu)]
}

/// Converts rows and reductions to kernels with blocks, and arrays to views of one arena. The entry remains one function.
fn memory(target: &TargetDescription, gpu: &Gpu) -> Stage {
    let precision = match target.gpu_precision {
        Precision::F32 => None,
        other => Some(("precision", other.name())),
    };
    let map = |pass| Step::from(pass).with("gpu", gpu.name).with_all(precision);
    let mut steps = vec![Step::from(&borders::PASS)];
    steps.extend(simplify());
    steps.extend([
        Step::from(&prepare::PASS),
        Step::from(&rows::PASS).with("gpu", gpu.name),
        map(&blocks::PASS),
    ]);
    steps.extend(simplify());
    steps.extend([map(&reductions::PASS), Step::from(&arguments::PASS)]);
    steps.extend(simplify());
    let lowered = [&memory::PASS, &intrinsics::PASS, &checks::NUMBER, &copies::PASS, &view_offsets::PASS];
    steps.extend(lowered.map(Step::from));
    Stage::new("memory", steps)
}

/// Converts parallel loops to kernels.
fn schedule(gpu: &Gpu) -> Stage {
    let is_bounded = gpu.iterations > 0;
    let mut steps = vec![Step::upstream("convert-linalg-to-parallel-loops")];
    steps.extend(simplify());
    steps.push(Step::from(&lanes::PASS).with("gpu", gpu.name));
    if is_bounded {
        steps.push(Step::from(&long_loops::PASS).with("iterations", gpu.iterations));
    }
    steps.push(Step::from(&outline::PASS).with("block", gpu.block));
    steps.extend(simplify());
    if is_bounded {
        steps.extend([Step::from(&iterations::PASS), Step::from(&checks::NUMBER)]);
        steps.extend(simplify());
    }
    Stage::new("schedule", steps).before(Stop::Scheduled)
}

/// The stages from kernels to the dialect for the code.
pub(crate) fn kernels(target: &TargetDescription, gpu: &Gpu) -> [Stage; 2] {
    let mut code = code(gpu);
    code.extend(line_tables(gpu.language).filter(|_| target.has_line_tables).map(LineTables::step));
    [functions(), Stage::new("kernels", code)]
}

/// The form of line tables in kernels. SPIR-V has none.
fn line_tables(language: Language) -> Option<LineTables> {
    match language {
        Language::Ptx => Some(LineTables::Directives),
        Language::Amdgcn => Some(LineTables::Dwarf),
        Language::SpirV => None,
    }
}

/// Expands functions and loops that upstream does not lower, subviews, and affine maps.
fn functions() -> Stage {
    let expanded = Step::upstream("math-expand-ops").with("ops", "tan,sinh,cosh,asinh,acosh,atanh,exp2");
    let mut lower = vec![
        Step::upstream("scf-parallel-for-to-nested-fors"),
        Step::upstream("convert-vector-to-scf"),
        Step::upstream("arith-expand").with("include-bf16", true),
        Step::upstream("expand-strided-metadata"),
        Step::upstream("lower-affine"),
    ];
    lower.extend(simplify());
    Stage::new(
        "functions",
        [
            Step::from(&kernel_math::EXPAND),
            Step::from(&vector_math::PASS),
            Step::nested(ops::gpu::MODULE, [expanded]),
            Step::from(&kernel_math::PASS),
            Step::nested(ops::gpu::MODULE, lower),
        ],
    )
}

fn code(gpu: &Gpu) -> Vec<Step> {
    let bare = |step: Step| step.with("use-bare-ptr-memref-call-conv", 1);
    match gpu.language {
        Language::Ptx => llvm(bare(Step::upstream("convert-gpu-to-nvvm"))),
        Language::Amdgcn => {
            let conversion = Step::upstream("convert-gpu-to-rocdl");
            llvm(bare(conversion.with("chipset", gpu.name).with("runtime", "HIP")))
        }
        Language::SpirV => {
            let mut steps = vec![Step::from(&kernel_memory::PASS)];
            steps.extend(simplify());
            steps.extend([
                Step::upstream("convert-math-to-spirv"),
                Step::upstream("convert-gpu-to-spirv").with("use-64bit-index", true),
                Step::nested(
                    ops::spirv::MODULE,
                    ["spirv-lower-abi-attrs", "spirv-update-vce"].map(Step::upstream),
                ),
            ]);
            steps
        }
    }
}

/// Lowers kernels to the `llvm` dialect, with `conversion` for the operations of a GPU.
fn llvm(conversion: Step) -> Vec<Step> {
    let before = ["convert-scf-to-cf", "convert-complex-to-standard", "convert-math-to-llvm"];
    let after = ["convert-to-llvm", "reconcile-unrealized-casts", "canonicalize", "cse"];
    let steps = before.map(Step::upstream).into_iter().chain([conversion]).chain(after.map(Step::upstream));
    vec![Step::from(&kernel_math::INTRINSICS), Step::nested(ops::gpu::MODULE, steps)]
}

/// The stages from launches to host code in the `llvm` dialect.
pub(crate) fn host(target: &TargetDescription) -> [Stage; 2] {
    let [canonicalize, cse] = simplify();
    let calls = Stage::new("launches", [Step::from(&launches::PASS), canonicalize, cse]);
    [calls, stages::llvm(target)]
}
