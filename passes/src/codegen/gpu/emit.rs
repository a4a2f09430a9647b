// SPDX-License-Identifier: Apache-2.0
//! The code of a module of kernels: PTX by LLVM, SPIR-V by upstream's serialization.

use super::kernel_math;
use crate::codegen::{self, Form};
use crate::error::CodegenError;
use crate::ir::func::symbol;
use crate::ir::splice::splice;
use crate::ir::{self, attributes, ops};
use crate::schedule::targets::gpus::{Gpu, Language, triple};
use melior::ir::operation::{OperationLike, OperationPrintingFlags, OperationRef};
use melior::ir::{Attribute, Module, Operation};
use skript_runtime::artifact::Target;

fn wrong(error: melior::Error) -> CodegenError {
    CodegenError::Module(error.to_string())
}

/// A copy of the module of kernels, alone in a module.
///
/// # Errors
/// [`CodegenError::Module`] if the module is malformed.
pub(crate) fn kernels_alone<'c>(module: &Module<'c>) -> Result<Module<'c>, CodegenError> {
    let copy = Operation::clone(&module.as_operation());
    let copy = Module::from_operation(copy);
    let copy = copy.ok_or_else(|| CodegenError::Module("no module".to_owned()))?;
    for op in ir::operations(copy.body()) {
        if ir::name(op) != ops::gpu::MODULE {
            ir::erase(op);
        }
    }
    Ok(copy)
}

/// The names of the kernels, by their numbers.
pub(crate) fn names(module: &Module) -> Vec<String> {
    let modules = ir::walk::named(module.as_operation(), ops::gpu::MODULE);
    let bodies = modules.into_iter().filter_map(ir::first_block);
    let all = bodies.flat_map(ir::operations);
    all.filter(|op| ir::name(*op) == ops::gpu::FUNC).filter_map(symbol).collect()
}

/// Code of kernels that were lowered for a GPU.
///
/// # Errors
/// [`CodegenError`]: functions that GPUs lack, defects of upstream.
pub(crate) fn emit(module: &Module, gpu: &Gpu, form: Form) -> Result<Vec<u8>, CodegenError> {
    match gpu.language {
        Language::Ptx | Language::Amdgcn => {
            let target = Target {
                triple: triple(gpu.language).to_owned(),
                cpu: gpu.name.to_owned(),
                features: gpu.features.to_owned(),
            };
            unwrap_kernels(module)?;
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

/// Refuses kernels with functions that GPUs lack.
///
/// # Errors
/// [`CodegenError::Module`] with their names.
pub(crate) fn check(module: &Module) -> Result<(), CodegenError> {
    let missing = kernel_math::unavailable(module.as_operation());
    if missing.is_empty() {
        return Ok(());
    }
    Err(CodegenError::Module(format!("GPUs have no code for {}", missing.join(", "))))
}

/// The number of blocks, the first of the arguments that a launch adds to those of a kernel. Upstream would call a function of AMD's
/// library. Launches have one dimension.
fn read_grid(module: &Module) -> Result<(), CodegenError> {
    const COUNT: &str = "
        %counts = llvm.call_intrinsic \"llvm.amdgcn.implicitarg.ptr\"() : () -> !llvm.ptr<4>
        %r = llvm.load %counts : !llvm.ptr<4> -> i32";
    let wrong = |e: &dyn std::fmt::Display| CodegenError::Module(e.to_string());
    for op in ir::walk::named(module.as_operation(), ops::rocdl::GRID_DIM_X) {
        let result = op.result(0).map_err(|e| wrong(&e))?;
        let made = splice(op, &[], COUNT, &[("%r".to_owned(), "i32".to_owned())]);
        let made = made.map_err(|e| wrong(&e))?;
        let value =
            made.values.first().copied().ok_or_else(|| wrong(&"a number of blocks without a value"))?;
        ir::replace_uses(result.into(), value);
        ir::erase(op);
    }
    Ok(())
}

/// Moves kernels out of their module.
fn unwrap_kernels(module: &Module) -> Result<(), CodegenError> {
    for op in ir::walk::named(module.as_operation(), ops::gpu::MODULE) {
        let body = ir::first_block(op);
        for inner in body.map(ir::operations).unwrap_or_default() {
            for name in ["gpu.kernel", "gpu.known_block_size"] {
                ir::mutation::remove(inner, name);
            }
            ir::uses::move_to_end(inner, module.body());
        }
        ir::erase(op);
    }
    Ok(())
}

/// Arithmetic that drivers could change otherwise.
const EXACT: [&str; 6] =
    ["spirv.FAdd", "spirv.FSub", "spirv.FMul", "spirv.FDiv", "spirv.FRem", "spirv.FNegate"];

fn spirv(module: &Module, form: Form) -> Result<Vec<u8>, CodegenError> {
    let found = ir::walk::named(module.as_operation(), ops::spirv::MODULE);
    let Some(module) = found.first().copied() else {
        return Ok(Vec::new());
    };
    finish_spirv(module)?;
    if form == Form::Object {
        let bytes = skript_dialect::gpu::serialize_spirv(module);
        return bytes
            .ok_or_else(|| CodegenError::Module("the module of SPIR-V cannot be serialized".to_owned()));
    }
    let flags = OperationPrintingFlags::new();
    let text = module.to_string_with_flags(flags).map_err(wrong)?;
    Ok(format!("{}\n", text.trim_end()).into_bytes())
}

/// Sets the version, which upstream derives from operations alone, and forbids drivers to contract.
fn finish_spirv(module: OperationRef) -> Result<(), CodegenError> {
    let context = ir::context::of(module);
    let triple = module.attribute("vce_triple").map_err(wrong)?.to_string();
    let version = triple.find("<v").and_then(|start| {
        let end = triple.get(start..)?.find(',')?;
        triple.get(start + 1..start + end)
    });
    let version = version.unwrap_or("v1.0").to_owned();
    let triple = triple.replacen(&format!("<{version},"), "<v1.5,", 1);
    if let Some(triple) = Attribute::parse(context, &triple) {
        ir::set_attribute(module, "vce_triple", triple);
    }
    for op in ir::nested(module) {
        if EXACT.contains(&ir::name(op).as_str()) {
            ir::set_attribute(op, "no_contraction", attributes::unit(context));
        }
    }
    Ok(())
}
