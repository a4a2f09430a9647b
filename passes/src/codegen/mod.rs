//! From a module on tensors to an artifact: outputs as arguments, buffers, memory plan, LLVM, objects.
//!
//! [`compile`] takes a module whose entry works on tensors with `linalg`, `scf`, `arith`, `math` and `tensor` ops, all
//! calls inlined. Its stations, in order: [`buffers`], the schedules, [`native`], [`emit`].

pub mod aligned;
pub mod annotations;
mod apart;
pub mod arguments;
pub mod carried;
mod chains;
pub mod checks;
pub mod copies;
pub mod entry;
pub mod error;
pub mod inits;
pub mod interface;
pub mod intrinsics;
pub mod llvm;
pub mod memory;
pub mod mlir;
pub mod offsets;
mod order;
pub mod outputs;
pub mod parts;
pub mod placement;
pub mod pointers;
pub(crate) mod size;
pub mod table;

pub use error::CodegenError;
pub use interface::Interface;
pub use llvm::{Form, emit};

use crate::mlir::regions;
use melior::ir::{Module, Operation};
use skript_runtime::artifact::{ArenaLayout, Artifact, Check, Target};

/// Tensors become buffers, written in place where nobody reads the old value. Variables and inputs are never written. A tensor
/// whose buffer is not known yet, as an arm of a branch may yield it, is row-major: or what the branch chooses had strides that
/// only the run knows, and no kernel, and no part of a long entry, could take it.
const BUFFERIZE: &str = "eliminate-empty-tensors,\
    one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map \
    unknown-type-conversion=identity-layout-map},\
    canonicalize,lower-affine,canonicalize,cse";

/// Loops over buffers become LLVM's dialect; arrays travel as bare pointers.
const TO_LLVM: &str = "convert-linalg-to-loops,expand-strided-metadata,lower-affine,\
    convert-vector-to-scf,convert-scf-to-cf,skript-lower-checks,convert-vector-to-llvm,convert-math-to-funcs,convert-math-to-llvm,\
    convert-math-to-libm,convert-complex-to-llvm,expand-strided-metadata,lower-affine,finalize-memref-to-llvm,convert-arith-to-llvm,\
    convert-index-to-llvm,convert-ub-to-llvm,convert-cf-to-llvm,\
    convert-func-to-llvm{use-bare-ptr-memref-call-conv},reconcile-unrealized-casts,canonicalize,cse";

/// The entry's results become arguments, tensors become buffers. A module whose tensors cannot be written in place is made
/// again with copies of what loops carry and branches choose.
///
/// # Errors
/// [`CodegenError`] with what MLIR says, if the module holds something that has no buffer.
pub fn buffers(module: &Module) -> Result<(), CodegenError> {
    crate::all::register();
    let again = Module::from_operation(Operation::clone(&module.as_operation()));
    let found = bufferize(module, false);
    match again {
        Some(again) if found.is_err() && bufferize(&again, true).is_ok() => {
            regions::replace(module.as_operation(), again.as_operation(), 0)
                .map_err(|e| CodegenError::Module(e.to_string()))
        }
        _ => found,
    }
}

fn bufferize(module: &Module, apart: bool) -> Result<(), CodegenError> {
    inits::separate_inits(module.as_operation())?;
    carried::write_carried(module.as_operation(), apart)?;
    outputs::write_outputs(module.as_operation())?;
    mlir::run_pipeline(module, "bufferization", BUFFERIZE)
}

/// Reductions become register-tiled kernels, as wide as the target's vectors.
///
/// # Errors
/// [`CodegenError`] if a kernel is not well formed: a defect of the schedule.
pub fn schedules(module: &Module, target: &Target) -> Result<(), CodegenError> {
    crate::all::register();
    let has = |feature: &str| target.features.split(',').any(|f| f == feature);
    let vector_bits = match (has("+avx512f"), has("+avx2")) {
        (true, _) => 512,
        (false, true) => 256,
        (false, false) => 128,
    };
    mlir::run_pipeline(
        module,
        "schedules",
        &format!(
            "skript-vectorize-reductions{{vector-bits={vector_bits}}},skript-interchange-reductions,canonicalize,cse"
        ),
    )
}

/// What callers of native code must know.
#[derive(Clone, Debug)]
pub struct Native {
    pub arena: ArenaLayout,
    /// Status n is check n − 1.
    pub checks: Vec<Check>,
}

/// Allocations become views of the arena, everything becomes LLVM's dialect, and the C entry is added.
///
/// # Errors
/// [`CodegenError`] if an allocation has no fixed size, or an op has no lowering.
pub fn native(module: &Module) -> Result<Native, CodegenError> {
    crate::all::register();
    mlir::run_pipeline(
        module,
        "arguments",
        "skript-open-arguments,canonicalize,cse,skript-point-arguments",
    )?;
    let arena = memory::plan_memory(module.as_operation())?;
    mlir::run_pipeline(module, "intrinsics", "skript-lower-intrinsics")?;
    let checks = checks::number_checks(module.as_operation())?;
    copies::lower_copies(module.as_operation())?;
    mlir::run_pipeline(module, "parts", "skript-yield-offsets,skript-outline-parts")?;
    entry::name_model(module.as_operation())?;
    mlir::run_pipeline(module, "lowering to LLVM", TO_LLVM)?;
    annotations::annotate_loops(module.as_operation())?;
    entry::add_entry(module, !checks.is_empty())?;
    Ok(Native { arena, checks })
}

/// A module on tensors becomes an artifact.
///
/// # Errors
/// [`CodegenError`] from the stations.
pub fn compile(
    module: &Module,
    interface: Interface,
    target: &Target,
) -> Result<Artifact, CodegenError> {
    buffers(module)?;
    schedules(module, target)?;
    let Native { arena, checks } = native(module)?;
    let object = emit(module, target, Form::Object)?;
    Ok(Artifact {
        target: target.clone(),
        entry: entry::SYMBOL.to_owned(),
        arena,
        inputs: interface.inputs,
        variables: interface.variables,
        outputs: interface.outputs,
        updates: interface.updates,
        checks,
        object,
    })
}
