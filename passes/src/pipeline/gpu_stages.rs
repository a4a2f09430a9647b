// SPDX-License-Identifier: Apache-2.0
//! The stages of GPUs, as data: the same ones up to planned memory, then kernels and the code that launches them.

use super::stages::{self, Stage};
use crate::target::TargetDescription;
use crate::target::{Gpu, Language, Precision};

/// Arrays become views of one arena. The entry stays one function.
const MEMORY: &str = "skript-open-arguments,canonicalize,cse,skript-plan-memory,\
                      skript-lower-intrinsics,skript-number-checks,skript-lower-copies,skript-yield-offsets";

/// Parallel loops, for which [`crate::schedule::gpu`] makes kernels.
const LOOPS: &str = "convert-linalg-to-parallel-loops,canonicalize,cse";

/// Functions and loops of kernels.
const KERNELS: &str = "skript-expand-kernel-math,skript-expand-math,\
                       gpu.module(math-expand-ops{ops=tan,sinh,cosh,asinh,acosh,atanh,exp2}),\
                       skript-approximate-math";

/// Kernels without loops that upstream does not lower, without subviews and affine maps.
const LOWER: &str = "scf-parallel-for-to-nested-fors,convert-vector-to-scf,arith-expand{include-bf16=true},\
                     expand-strided-metadata,lower-affine,canonicalize,cse";

/// Kernels become LLVM's dialect, with the operations of a GPU by `conversion`.
fn llvm(conversion: &str) -> String {
    format!(
        "skript-call-math-intrinsics,gpu.module(convert-scf-to-cf,convert-complex-to-standard,convert-math-to-llvm,\
         {conversion},convert-to-llvm,reconcile-unrealized-casts,canonicalize,cse)"
    )
}

/// The environment of SPIR-V.
pub(crate) const ENVIRONMENT: &str = "#spirv.target_env<#spirv.vce<v1.5, [Shader, Int64, Int16, Int8, Float64, Float16, \
    PhysicalStorageBufferAddresses, StorageBuffer8BitAccess, StorageBuffer16BitAccess, GroupNonUniform], \
    [SPV_KHR_physical_storage_buffer, SPV_KHR_8bit_storage, SPV_KHR_16bit_storage]>, #spirv.resource_limits<>>";

/// From tensors to kernels and launches.
pub(crate) fn to_kernels(target: &TargetDescription, gpu: &Gpu) -> Vec<Stage> {
    let (name, block) = (gpu.name, gpu.block);
    let precision = match target.gpu_precision {
        Precision::F32 => String::new(),
        other => format!(" precision={}", other.name()),
    };
    let (split, check) = match gpu.iterations {
        0 => Default::default(),
        most => (
            format!("skript-split-loops{{iterations={most}}},"),
            ",skript-check-iterations,skript-number-checks,canonicalize,cse",
        ),
    };
    vec![
        stages::bufferize(target),
        Stage {
            name: "memory",
            passes: format!(
                "skript-fill-borders,canonicalize,cse,skript-prepare-variables,skript-fuse-rows{{gpu={name}}},\
                 skript-map-rows{{gpu={name}{precision}}},canonicalize,cse,\
                 skript-map-reductions{{gpu={name}{precision}}},{MEMORY}",
            ),
        },
        Stage {
            name: "schedule",
            passes: format!(
                "{LOOPS},skript-widen-iterations{{gpu={}}},{split}skript-outline-kernels{{block={block}}},canonicalize,cse{check}",
                gpu.name
            ),
        },
    ]
}

/// From kernels to the dialect that code is written from.
pub(crate) fn kernels(gpu: &Gpu) -> Vec<Stage> {
    let functions = Stage { name: "functions", passes: format!("{KERNELS},gpu.module({LOWER})") };
    let code = match gpu.language {
        Language::Ptx => llvm("convert-gpu-to-nvvm{use-bare-ptr-memref-call-conv=1}"),
        Language::Amdgcn => llvm(&format!(
            "convert-gpu-to-rocdl{{chipset={} runtime=HIP use-bare-ptr-memref-call-conv=1}}",
            gpu.name
        )),
        Language::SpirV => "skript-address-kernel-memory,canonicalize,cse,convert-math-to-spirv,\
                            convert-gpu-to-spirv{use-64bit-index=true},\
                            spirv.module(spirv-lower-abi-attrs,spirv-update-vce)"
            .to_owned(),
    };
    vec![functions, Stage { name: "kernels", passes: code }]
}

/// From launches to host code in LLVM's dialect.
pub(crate) fn host(target: &TargetDescription) -> Vec<Stage> {
    let host = stages::to_llvm(target).into_iter().filter(|stage| stage.name == "llvm");
    let calls = Stage { name: "launches", passes: "skript-lower-launches,canonicalize,cse".to_owned() };
    std::iter::once(calls).chain(host).collect()
}
