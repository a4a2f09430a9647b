// SPDX-License-Identifier: Apache-2.0
//! Emits the code of a GPU module: PTX and AMDGPU code by LLVM, SPIR-V by MLIR's serialization.

use super::kernel_math;
use crate::codegen::{self, Form};
use crate::error::CodegenError;
use crate::ir::func::symbol;
use crate::ir::{self, Builder, attributes, ops, types};
use crate::schedule::targets::gpus::{Gpu, Language, triple};
use melior::dialect::llvm::r#type::pointer;
use melior::ir::operation::{OperationLike, OperationPrintingFlags, OperationRef};
use melior::ir::{Module, Operation};
use skript_runtime::artifact::Target;

/// Returns a copy of the module that contains only its GPU modules.
pub(crate) fn kernels_alone<'c>(module: &Module<'c>) -> Result<Module<'c>, CodegenError> {
    let copy = Module::from_operation(Operation::clone(&module.as_operation()));
    let copy = copy.ok_or_else(|| CodegenError::Module("not a module".to_owned()))?;
    for op in ir::operations(copy.body()) {
        if ir::name(op) != ops::gpu::MODULE {
            ir::erase(op);
        }
    }
    Ok(copy)
}

/// Returns the names of the kernels, in the order of their numbers.
pub(crate) fn names(module: &Module) -> Vec<String> {
    let modules = ir::walk::named(module.as_operation(), ops::gpu::MODULE);
    let functions = modules.into_iter().flat_map(ir::children);
    functions.filter(|op| ir::name(*op) == ops::gpu::FUNC).filter_map(symbol).collect()
}

/// Emits the code of kernels that were lowered for a GPU.
pub(crate) fn emit(module: &Module, gpu: &Gpu, form: Form) -> Result<Vec<u8>, CodegenError> {
    match gpu.language {
        Language::Ptx | Language::Amdgcn => {
            let target = Target {
                triple: triple(gpu.language).to_owned(),
                cpu: gpu.name.to_owned(),
                features: gpu.features.to_owned(),
            };
            unwrap_kernels(module);
            if gpu.language == Language::Amdgcn {
                read_grid(module)?;
            }
            let form = match (form, gpu.language) {
                // PTX is text.
                (Form::Object, Language::Ptx) => Form::Assembly,
                (other, _) => other,
            };
            codegen::emit(module, &target, form)
        }
        Language::SpirV => spirv(module, form),
    }
}

/// Rejects kernels that call functions without a GPU implementation.
pub(crate) fn check(module: &Module) -> Result<(), CodegenError> {
    let missing = kernel_math::unavailable(module.as_operation());
    if missing.is_empty() {
        return Ok(());
    }
    Err(CodegenError::Module(format!("GPUs have no code for {}", missing.join(", "))))
}

/// Replaces reads of the number of blocks by loads of the first implicit argument of a kernel; MLIR would call a function of
/// AMD's device library. Launches have one dimension.
fn read_grid(module: &Module) -> Result<(), CodegenError> {
    for op in ir::walk::named(module.as_operation(), ops::rocdl::GRID_DIM_X) {
        let at = Builder::at(op);
        let counts = at.intrinsic("llvm.amdgcn.implicitarg.ptr", &[], pointer(at.context, 4));
        let count = at.load_from(counts, types::int(at.context, 32));
        ir::replace_uses(op.result(0)?.into(), count);
        ir::erase(op);
    }
    Ok(())
}

/// Moves kernels out of their GPU modules.
fn unwrap_kernels(module: &Module) {
    for op in ir::walk::named(module.as_operation(), ops::gpu::MODULE) {
        for inner in ir::children(op) {
            for name in ["gpu.kernel", "gpu.known_block_size"] {
                ir::mutation::remove(inner, name);
            }
            ir::uses::move_to_end(inner, module.body());
        }
        ir::erase(op);
    }
}

/// Arithmetic that drivers must not contract.
const EXACT: [&str; 6] =
    ["spirv.FAdd", "spirv.FSub", "spirv.FMul", "spirv.FDiv", "spirv.FRem", "spirv.FNegate"];

fn spirv(module: &Module, form: Form) -> Result<Vec<u8>, CodegenError> {
    let modules = ir::walk::named(module.as_operation(), ops::spirv::MODULE);
    let Some(module) = modules.first().copied() else {
        return Ok(Vec::new());
    };
    finish_spirv(module)?;
    if form == Form::Object {
        let bytes = skript_dialect::gpu::serialize_spirv(module);
        return bytes
            .ok_or_else(|| CodegenError::Module("the SPIR-V module cannot be serialized".to_owned()));
    }
    let text = module.to_string_with_flags(OperationPrintingFlags::new())?;
    Ok(format!("{}\n", text.trim_end()).into_bytes())
}

/// Sets the SPIR-V version, which MLIR would derive from the operations alone, and forbids drivers to contract arithmetic.
fn finish_spirv(module: OperationRef) -> Result<(), CodegenError> {
    let context = ir::context::of(module);
    let triple = module.attribute("vce_triple")?;
    ir::set_attribute(module, "vce_triple", ir::spirv::with_version(context, triple));
    for op in ir::nested(module) {
        if EXACT.contains(&ir::name(op).as_str()) {
            ir::set_attribute(op, "no_contraction", attributes::unit(context));
        }
    }
    Ok(())
}
