// SPDX-License-Identifier: Apache-2.0
//! LLVM through its C API: target machines, optimization, objects. The unsafe part of code generation.
//!
//! libLLVM is the one that libMLIR links.

use crate::error::CodegenError;
use melior::ir::Module;
use skript_runtime::artifact::Target;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::Once;

type Ref = *mut c_void;

unsafe extern "C" {
    fn LLVMGetVersion(major: *mut c_uint, minor: *mut c_uint, patch: *mut c_uint);
    fn LLVMContextCreate() -> Ref;
    fn LLVMContextDispose(context: Ref);
    fn mlirTranslateModuleToLLVMIR(module: mlir_sys::MlirOperation, context: Ref) -> Ref;
    fn LLVMDisposeModule(module: Ref);
    fn LLVMPrintModuleToString(module: Ref) -> *mut c_char;
    fn LLVMSetTarget(module: Ref, triple: *const c_char);
    fn LLVMSetSourceFileName(module: Ref, name: *const c_char, length: usize);
    fn LLVMSetModuleIdentifier(module: Ref, name: *const c_char, length: usize);
    fn LLVMGetTargetFromTriple(
        triple: *const c_char,
        target: *mut Ref,
        message: *mut *mut c_char,
    ) -> c_int;
    fn LLVMCreateTargetMachine(
        target: Ref,
        triple: *const c_char,
        cpu: *const c_char,
        features: *const c_char,
        level: c_uint,
        relocation: c_uint,
        model: c_uint,
    ) -> Ref;
    fn LLVMDisposeTargetMachine(machine: Ref);
    fn LLVMCreateTargetDataLayout(machine: Ref) -> Ref;
    fn LLVMCopyStringRepOfTargetData(layout: Ref) -> *mut c_char;
    fn LLVMSetModuleDataLayout(module: Ref, layout: Ref);
    fn LLVMDisposeTargetData(layout: Ref);
    fn LLVMCreatePassBuilderOptions() -> Ref;
    fn LLVMDisposePassBuilderOptions(options: Ref);
    fn LLVMRunPasses(module: Ref, passes: *const c_char, machine: Ref, options: Ref) -> Ref;
    fn LLVMTargetMachineEmitToMemoryBuffer(
        machine: Ref,
        module: Ref,
        kind: c_uint,
        message: *mut *mut c_char,
        buffer: *mut Ref,
    ) -> c_int;
    fn LLVMGetBufferStart(buffer: Ref) -> *const c_char;
    fn LLVMGetBufferSize(buffer: Ref) -> usize;
    fn LLVMDisposeMemoryBuffer(buffer: Ref);
    fn LLVMDisposeMessage(message: *mut c_char);
    fn LLVMGetErrorMessage(error: Ref) -> *mut c_char;
    fn LLVMDisposeErrorMessage(message: *mut c_char);
    fn LLVMGetDefaultTargetTriple() -> *mut c_char;
    fn LLVMGetHostCPUName() -> *mut c_char;
    fn LLVMGetHostCPUFeatures() -> *mut c_char;
    fn LLVMInitializeX86TargetInfo();
    fn LLVMInitializeX86Target();
    fn LLVMInitializeX86TargetMC();
    fn LLVMInitializeX86AsmPrinter();
    fn LLVMInitializeAArch64TargetInfo();
    fn LLVMInitializeAArch64Target();
    fn LLVMInitializeAArch64TargetMC();
    fn LLVMInitializeAArch64AsmPrinter();
}

/// The form of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// LLVM IR as text, as it is translated from LLVM's dialect.
    Unoptimized,
    /// Optimized LLVM IR as text.
    Llvm,
    /// Assembly text.
    Assembly,
    /// An object file.
    Object,
}

/// LLVM's passes: those of `default<O3>` that change this code. What is left out takes half of the time and finds nothing,
/// as kernels are vectors already: SLP vectorization, elimination of loads across iterations, jump threading, passes for
/// coroutines and OpenMP.
const PASSES: [&str; 5] = [
    "inferattrs,function(sroa<modify-cfg>,early-cse<>,simplifycfg,instcombine<no-verify-fixpoint>),",
    "ipsccp,globalopt,always-inline,",
    "cgscc(devirt<4>(inline,function-attrs,function<eager-inv;no-rerun>(sroa<modify-cfg>,early-cse<memssa>,\
     simplifycfg,instcombine<no-verify-fixpoint>,loop-mssa(loop-instsimplify,loop-simplifycfg,\
     licm<no-allowspeculation>,loop-rotate,licm<allowspeculation>,simple-loop-unswitch<nontrivial;trivial>),\
     simplifycfg,instcombine<no-verify-fixpoint>,loop(loop-idiom,indvars,loop-deletion,loop-unroll-full),\
     sroa<modify-cfg>,gvn<>,bdce,instcombine<no-verify-fixpoint>,adce,dse,loop-mssa(licm<allowspeculation>),\
     simplifycfg,instcombine<no-verify-fixpoint>))),globaldce,",
    "function(float2int,loop(loop-rotate,loop-deletion),loop-vectorize,infer-alignment,simplifycfg,vector-combine,\
     instcombine<no-verify-fixpoint>,loop-unroll<O3>,sroa<preserve-cfg>,instcombine<no-verify-fixpoint>,\
     loop-mssa(licm<allowspeculation>),instsimplify,div-rem-pairs,simplifycfg),",
    "globaldce,constmerge",
];

fn initialize() {
    static TARGETS: Once = Once::new();
    // SAFETY: once, under `Once`'s lock.
    TARGETS.call_once(|| unsafe {
        LLVMInitializeX86TargetInfo();
        LLVMInitializeX86Target();
        LLVMInitializeX86TargetMC();
        LLVMInitializeX86AsmPrinter();
        LLVMInitializeAArch64TargetInfo();
        LLVMInitializeAArch64Target();
        LLVMInitializeAArch64TargetMC();
        LLVMInitializeAArch64AsmPrinter();
    });
}

/// Frees its content.
struct Owned(Ref, unsafe extern "C" fn(Ref));

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: made with the function that frees this kind of handle; the only owner.
        unsafe { self.1(self.0) }
    }
}

/// # Safety
/// `text` is null, or a C string of LLVM that nothing else owns.
unsafe fn message(text: *mut c_char) -> String {
    if text.is_null() {
        return "no reason given".to_owned();
    }
    unsafe {
        let owned = CStr::from_ptr(text).to_string_lossy().into_owned();
        LLVMDisposeMessage(text);
        owned
    }
}

fn text(value: &str) -> Result<CString, CodegenError> {
    CString::new(value).map_err(|e| CodegenError::Llvm(e.to_string()))
}

/// The version of the LLVM that generates code, such as 22.1.8.
pub fn version() -> String {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: the function writes three numbers.
    unsafe { LLVMGetVersion(&mut major, &mut minor, &mut patch) }
    format!("{major}.{minor}.{patch}")
}

/// This processor as LLVM names it.
pub(crate) fn host() -> Target {
    // SAFETY: each call returns a C string of its own.
    unsafe {
        Target {
            triple: message(LLVMGetDefaultTargetTriple()),
            cpu: message(LLVMGetHostCPUName()),
            features: message(LLVMGetHostCPUFeatures()),
        }
    }
}

/// The data layout of a target, as LLVM IR writes it.
///
/// # Errors
/// [`CodegenError::Llvm`] if LLVM does not know the target.
pub(crate) fn data_layout(triple: &str) -> Result<String, CodegenError> {
    initialize();
    let target = Target {
        triple: triple.to_owned(),
        ..Target::default()
    };
    let machine = machine(&target)?;
    // SAFETY: the machine is alive; the text is ours and freed by `message`.
    unsafe {
        let layout = Owned(LLVMCreateTargetDataLayout(machine.0), LLVMDisposeTargetData);
        Ok(message(LLVMCopyStringRepOfTargetData(layout.0)))
    }
}

/// A machine that generates code for a target.
fn machine(target: &Target) -> Result<Owned, CodegenError> {
    const DEFAULT_LEVEL: c_uint = 2;
    const POSITION_INDEPENDENT: c_uint = 2;
    const DEFAULT_MODEL: c_uint = 0;
    let (triple, cpu) = (text(&target.triple)?, text(&target.cpu)?);
    // Wide vectors where the processor has them: kernels are written for them, and mixing widths costs more.
    let features = text(&match target.features.as_str() {
        f if f.contains("+avx512f") => format!("{f},-prefer-256-bit"),
        f => f.to_owned(),
    })?;
    // SAFETY: handles are used as the C API documents; texts live until the calls return.
    unsafe {
        let mut found = null_mut();
        let mut reason = null_mut();
        if LLVMGetTargetFromTriple(triple.as_ptr(), &mut found, &mut reason) != 0 {
            return Err(CodegenError::Llvm(message(reason)));
        }
        let machine = LLVMCreateTargetMachine(
            found,
            triple.as_ptr(),
            cpu.as_ptr(),
            features.as_ptr(),
            DEFAULT_LEVEL,
            POSITION_INDEPENDENT,
            DEFAULT_MODEL,
        );
        if machine.is_null() {
            return Err(CodegenError::Llvm(format!(
                "no code for `{}` on `{}`",
                target.cpu, target.triple
            )));
        }
        Ok(Owned(machine, LLVMDisposeTargetMachine))
    }
}

/// Optimizes a module in the LLVM dialect for `target` and gives its code; the same module gives the same bytes.
///
/// # Errors
/// [`CodegenError::Llvm`] if the target is unknown or LLVM refuses the module.
pub fn emit(module: &Module, target: &Target, form: Form) -> Result<Vec<u8>, CodegenError> {
    initialize();
    let triple = text(&target.triple)?;
    let machine = machine(target)?;
    // SAFETY: handles are used as the C API documents and freed once, in reverse order, by `Owned`.
    unsafe {
        let context = Owned(LLVMContextCreate(), LLVMContextDispose);
        let translated = mlirTranslateModuleToLLVMIR(module.as_operation().to_raw(), context.0);
        if translated.is_null() {
            return Err(CodegenError::Llvm(
                "the module does not translate to LLVM IR".to_owned(),
            ));
        }
        let translated = Owned(translated, LLVMDisposeModule);
        if form == Form::Unoptimized {
            return Ok(message(LLVMPrintModuleToString(translated.0)).into_bytes());
        }
        let name = "model";
        LLVMSetModuleIdentifier(translated.0, name.as_ptr().cast(), name.len());
        LLVMSetSourceFileName(translated.0, name.as_ptr().cast(), name.len());
        LLVMSetTarget(translated.0, triple.as_ptr());
        let layout = Owned(LLVMCreateTargetDataLayout(machine.0), LLVMDisposeTargetData);
        LLVMSetModuleDataLayout(translated.0, layout.0);
        let options = Owned(
            LLVMCreatePassBuilderOptions(),
            LLVMDisposePassBuilderOptions,
        );
        let passes = text(&PASSES.concat())?;
        let error = LLVMRunPasses(translated.0, passes.as_ptr(), machine.0, options.0);
        if !error.is_null() {
            let reason = LLVMGetErrorMessage(error);
            let owned = CStr::from_ptr(reason).to_string_lossy().into_owned();
            LLVMDisposeErrorMessage(reason);
            return Err(CodegenError::Llvm(owned));
        }
        let kind = match form {
            Form::Llvm | Form::Unoptimized => {
                return Ok(message(LLVMPrintModuleToString(translated.0)).into_bytes());
            }
            Form::Assembly => 0,
            Form::Object => 1,
        };
        let mut buffer = null_mut();
        let mut reason = null_mut();
        if LLVMTargetMachineEmitToMemoryBuffer(
            machine.0,
            translated.0,
            kind,
            &mut reason,
            &mut buffer,
        ) != 0
        {
            return Err(CodegenError::Llvm(message(reason)));
        }
        let buffer = Owned(buffer, LLVMDisposeMemoryBuffer);
        let start = LLVMGetBufferStart(buffer.0).cast::<u8>();
        Ok(std::slice::from_raw_parts(start, LLVMGetBufferSize(buffer.0)).to_vec())
    }
}
