// SPDX-License-Identifier: Apache-2.0
//! Calls LLVM's C API: target machines, optimization, objects.
//!
//! The library is the libLLVM that libMLIR links.

use super::partition::{self, Part};
use super::{llvm_targets, merged_object};
use crate::error::CodegenError;
use crate::ir;
use crate::schedule::targets::architectures::Architecture;
use crate::schedule::targets::cpus::Cpu;
use crate::schedule::targets::triples::is_freestanding;
use melior::Context;
use melior::ir::Module;
use skript_runtime::artifact::Target;
use std::cmp::Reverse;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

type Ref = *mut c_void;
/// Returns the first symbol of a module.
type Start = unsafe extern "C" fn(Ref) -> Ref;
/// Returns the symbol after another one.
type Next = unsafe extern "C" fn(Ref) -> Ref;

// Visibilities and a linkage in LLVM's C API.
const DEFAULT: c_uint = 0;
const HIDDEN: c_uint = 1;
const INTERNAL: c_uint = 8;

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
    fn LLVMGetTargetFromTriple(triple: *const c_char, target: *mut Ref, message: *mut *mut c_char) -> c_int;
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
    fn LLVMSetTargetMachineAsmVerbosity(machine: Ref, is_verbose: c_int);
    fn LLVMGetNamedMetadata(module: Ref, name: *const c_char, length: usize) -> Ref;
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
    fn LLVMWriteBitcodeToMemoryBuffer(module: Ref) -> Ref;
    fn LLVMCreateMemoryBufferWithMemoryRangeCopy(
        bytes: *const c_char,
        size: usize,
        name: *const c_char,
    ) -> Ref;
    fn LLVMParseBitcodeInContext2(context: Ref, buffer: Ref, module: *mut Ref) -> c_int;
    fn LLVMLinkModules2(to: Ref, from: Ref) -> c_int;
    fn LLVMGetEnumAttributeKindForName(name: *const c_char, length: usize) -> c_uint;
    fn LLVMCreateEnumAttribute(context: Ref, kind: c_uint, value: u64) -> Ref;
    fn LLVMAddAttributeAtIndex(function: Ref, index: c_uint, attribute: Ref);
    fn LLVMGetFirstFunction(module: Ref) -> Ref;
    fn LLVMGetNextFunction(function: Ref) -> Ref;
    fn LLVMGetFirstGlobal(module: Ref) -> Ref;
    fn LLVMGetNextGlobal(global: Ref) -> Ref;
    fn LLVMGetVisibility(symbol: Ref) -> c_uint;
    fn LLVMSetVisibility(symbol: Ref, visibility: c_uint);
    fn LLVMSetLinkage(symbol: Ref, linkage: c_uint);
    fn LLVMIsDeclaration(symbol: Ref) -> c_int;
    fn LLVMGetBufferStart(buffer: Ref) -> *const c_char;
    fn LLVMGetBufferSize(buffer: Ref) -> usize;
    fn LLVMDisposeMemoryBuffer(buffer: Ref);
    fn LLVMDisposeMessage(message: *mut c_char);
    fn LLVMGetErrorMessage(error: Ref) -> *mut c_char;
    fn LLVMDisposeErrorMessage(message: *mut c_char);
    fn LLVMGetDefaultTargetTriple() -> *mut c_char;
    fn LLVMGetHostCPUName() -> *mut c_char;
    fn LLVMGetHostCPUFeatures() -> *mut c_char;
}

/// The format of the generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// LLVM IR as text, as translated from the dialect `llvm`.
    Unoptimized,
    /// Optimized LLVM IR as text.
    Llvm,
    /// Assembly text.
    Assembly,
    /// An object file.
    Object,
}

/// The LLVM pass pipeline: the passes of `default<O3>` that change this code. Other passes take half of the compile time without
/// an effect, because kernels are already vectorized: SLP vectorization, elimination of loads across iterations, jump
/// threading, passes for coroutines and OpenMP. [`gvn`] replaces loads by values of the previous iteration only after
/// vectorization. Otherwise, the vectorizer would compute the remainder of such loops one element at a time.
///
/// [`gvn`]: https://llvm.org/docs/Passes.html#gvn-global-value-numbering
const PASSES: [&str; 5] = [
    "inferattrs,function(sroa<modify-cfg>,early-cse<>,simplifycfg,instcombine<no-verify-fixpoint>),",
    "ipsccp,globalopt,always-inline,",
    "cgscc(devirt<4>(inline,function-attrs,function<eager-inv;no-rerun>(sroa<modify-cfg>,early-cse<memssa>,\
     simplifycfg,instcombine<no-verify-fixpoint>,loop-mssa(loop-instsimplify,loop-simplifycfg,\
     licm<no-allowspeculation>,loop-rotate,licm<allowspeculation>,simple-loop-unswitch<nontrivial;trivial>),\
     simplifycfg,instcombine<no-verify-fixpoint>,loop(loop-idiom,indvars,loop-deletion,loop-unroll-full),\
     sroa<modify-cfg>,gvn<no-load-pre>,bdce,instcombine<no-verify-fixpoint>,adce,dse,loop-mssa(licm<allowspeculation>),\
     simplifycfg,instcombine<no-verify-fixpoint>))),globaldce,",
    "function(float2int,loop(loop-rotate,loop-deletion),loop-vectorize,infer-alignment,simplifycfg,vector-combine,\
     gvn<>,instcombine<no-verify-fixpoint>,loop-unroll<O3>,sroa<preserve-cfg>,instcombine<no-verify-fixpoint>,\
     loop-mssa(licm<allowspeculation>),instsimplify,div-rem-pairs,simplifycfg),",
    "globaldce,constmerge",
];

/// An owned handle, and the function that frees it.
struct Owned(Ref, unsafe extern "C" fn(Ref));

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the function frees this kind of handle, and this is the only owner.
        unsafe { self.1(self.0) }
    }
}

/// # Safety
/// `text` is null, or a C string that LLVM allocated and nothing else owns.
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

/// The LLVM version, such as 22.1.8.
pub fn version() -> String {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: the function writes three numbers.
    unsafe { LLVMGetVersion(&mut major, &mut minor, &mut patch) }
    format!("{major}.{minor}.{patch}")
}

/// The target for the processor of this machine.
pub(crate) fn host() -> Target {
    // SAFETY: each call returns a new C string.
    unsafe {
        Target {
            triple: message(LLVMGetDefaultTargetTriple()),
            cpu: message(LLVMGetHostCPUName()),
            features: message(LLVMGetHostCPUFeatures()),
        }
    }
}

/// The data layout string of a target.
///
/// # Errors
/// [`CodegenError::Llvm`] if LLVM does not support the target.
pub(crate) fn data_layout(triple: &str) -> Result<String, CodegenError> {
    llvm_targets::initialize();
    let target = Target { triple: triple.to_owned(), ..Target::default() };
    let machine = machine(&target)?;
    // SAFETY: the machine is alive; `message` frees the text.
    unsafe {
        let layout = Owned(LLVMCreateTargetDataLayout(machine.0), LLVMDisposeTargetData);
        Ok(message(LLVMCopyStringRepOfTargetData(layout.0)))
    }
}

/// A target machine.
fn machine(target: &Target) -> Result<Owned, CodegenError> {
    const DEFAULT_LEVEL: c_uint = 2;
    const STATIC: c_uint = 1;
    const POSITION_INDEPENDENT: c_uint = 2;
    const DEFAULT_MODEL: c_uint = 0;
    // Freestanding code is linked at fixed addresses.
    let relocation = if is_freestanding(&target.triple) { STATIC } else { POSITION_INDEPENDENT };
    let cpu = Cpu::named(&target.cpu).map_or(target.cpu.as_str(), |cpu| cpu.llvm_name());
    let (triple, cpu) = (text(&target.triple)?, text(cpu)?);
    // Use 512-bit vectors on all processors with AVX-512, because kernels use them, and mixed widths are slower. Do not use
    // AVX512-FP16, because LLVM would compute in f16 and contract products with sums, without rounding products to f16.
    let features = text(&match Architecture::llvm_features(target) {
        f if f.contains("+avx512f") => format!("{f},-prefer-256-bit,-avx512fp16"),
        f => f,
    })?;
    // SAFETY: handles are used as the C API documents; texts live until the calls return.
    unsafe {
        let mut llvm_target = null_mut();
        let mut reason = null_mut();
        if LLVMGetTargetFromTriple(triple.as_ptr(), &mut llvm_target, &mut reason) != 0 {
            return Err(CodegenError::Llvm(message(reason)));
        }
        let machine = LLVMCreateTargetMachine(
            llvm_target,
            triple.as_ptr(),
            cpu.as_ptr(),
            features.as_ptr(),
            DEFAULT_LEVEL,
            relocation,
            DEFAULT_MODEL,
        );
        if machine.is_null() {
            return Err(CodegenError::Llvm(format!("no code for `{}` on `{}`", target.cpu, target.triple)));
        }
        Ok(Owned(machine, LLVMDisposeTargetMachine))
    }
}

/// Optimizes a module in the LLVM dialect for `target`, and returns its code. The output is deterministic. A large module is
/// compiled in parts, on one thread for each processor.
///
/// # Errors
/// [`CodegenError::Llvm`] if LLVM does not support the target, or rejects the module.
pub fn emit(module: &Module, target: &Target, form: Form) -> Result<Vec<u8>, CodegenError> {
    llvm_targets::initialize();
    let machine = machine(target)?;
    let operation = module.as_operation();
    let context = ir::context::of(operation);
    let parts = match form {
        Form::Unoptimized => Vec::new(),
        // GPU kernels are small.
        _ if Architecture::for_triple(&target.triple).is_none() => Vec::new(),
        _ => partition::parts(operation, context)?,
    };
    if parts.is_empty() {
        let code = Code::translated(module)?;
        if form != Form::Unoptimized {
            code.optimize(target, &machine)?;
        }
        return code.emit(&machine, form);
    }
    // Each part has a separate machine, because a machine is not thread-safe.
    let compile = |part: &Module, emit: &Emission| {
        let machine = self::machine(target)?;
        let code = Code::translated(part)?;
        code.optimize(target, &machine)?;
        emit(&code, &machine)
    };
    if form == Form::Object && Architecture::of_target(target).joins_objects {
        let emit = |code: &Code, machine: &Owned| code.emit(machine, form);
        return merged_object::merge(&each(context, &parts, |part| compile(part, &emit))?);
    }
    let optimized = each(context, &parts, |part| compile(part, &|code, _| Ok(code.bitcode())))?;
    Code::linked(&optimized)?.emit(&machine, form)
}

/// Emits code with a machine.
type Emission<'e> = dyn Fn(&Code, &Owned) -> Result<Vec<u8>, CodegenError> + 'e;

/// An LLVM module in a separate LLVM context.
struct Code {
    // The order of the fields matters: the module is freed before its context.
    module: Owned,
    context: Owned,
}

impl Code {
    fn translated(module: &Module) -> Result<Code, CodegenError> {
        // SAFETY: the handles are used as the C API documents, and freed by `Owned`.
        unsafe {
            let context = Owned(LLVMContextCreate(), LLVMContextDispose);
            let module = mlirTranslateModuleToLLVMIR(module.as_operation().to_raw(), context.0);
            if module.is_null() {
                return Err(CodegenError::Llvm("the module does not translate to LLVM IR".to_owned()));
            }
            let module = Owned(module, LLVMDisposeModule);
            Ok(Code { module, context })
        }
    }

    /// Runs [`PASSES`].
    fn optimize(&self, target: &Target, machine: &Owned) -> Result<(), CodegenError> {
        let triple = text(&target.triple)?;
        let passes = text(&PASSES.concat())?;
        let name = "model";
        // SAFETY: handles are used as the C API documents; texts live until the calls return.
        unsafe {
            LLVMSetModuleIdentifier(self.module.0, name.as_ptr().cast(), name.len());
            LLVMSetSourceFileName(self.module.0, name.as_ptr().cast(), name.len());
            LLVMSetTarget(self.module.0, triple.as_ptr());
            let layout = Owned(LLVMCreateTargetDataLayout(machine.0), LLVMDisposeTargetData);
            LLVMSetModuleDataLayout(self.module.0, layout.0);
            self.state_register_lengths(target);
            let options = Owned(LLVMCreatePassBuilderOptions(), LLVMDisposePassBuilderOptions);
            let error = LLVMRunPasses(self.module.0, passes.as_ptr(), machine.0, options.0);
            if error.is_null() {
                return Ok(());
            }
            let reason = LLVMGetErrorMessage(error);
            let owned = CStr::from_ptr(reason).to_string_lossy().into_owned();
            LLVMDisposeErrorMessage(reason);
            Err(CodegenError::Llvm(owned))
        }
    }

    /// Sets `vscale_range`, so that vectors of the minimum length of a scalable register are in one register.
    fn state_register_lengths(&self, target: &Target) {
        const FUNCTION: c_uint = c_uint::MAX;
        let Some((min_length, max_length)) = Architecture::register_lengths(target) else {
            return;
        };
        let name = "vscale_range";
        // SAFETY: handles are used as the C API documents; the attribute is in the module's context.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let range = u64::from(min_length) << 32 | u64::from(max_length);
            let range = LLVMCreateEnumAttribute(self.context.0, kind, range);
            let mut function = LLVMGetFirstFunction(self.module.0);
            while !function.is_null() {
                LLVMAddAttributeAtIndex(function, FUNCTION, range);
                function = LLVMGetNextFunction(function);
            }
        }
    }

    /// The code as text or as an object.
    fn emit(&self, machine: &Owned, form: Form) -> Result<Vec<u8>, CodegenError> {
        // SAFETY: handles are used as the C API documents.
        unsafe {
            let kind = match form {
                Form::Llvm | Form::Unoptimized => {
                    return Ok(message(LLVMPrintModuleToString(self.module.0)).into_bytes());
                }
                Form::Assembly => 0,
                Form::Object => 1,
            };
            // With line tables, comments in the text state the lines and the invocations around them.
            let name = "llvm.dbg.cu";
            let lines = LLVMGetNamedMetadata(self.module.0, name.as_ptr().cast(), name.len());
            LLVMSetTargetMachineAsmVerbosity(machine.0, c_int::from(!lines.is_null()));
            let mut buffer = null_mut();
            let mut reason = null_mut();
            if LLVMTargetMachineEmitToMemoryBuffer(machine.0, self.module.0, kind, &mut reason, &mut buffer)
                != 0
            {
                return Err(CodegenError::Llvm(message(reason)));
            }
            Ok(content(buffer))
        }
    }

    fn bitcode(&self) -> Vec<u8> {
        // SAFETY: the module is alive; `content` frees the buffer.
        unsafe { content(LLVMWriteBitcodeToMemoryBuffer(self.module.0)) }
    }

    /// Links the bitcode of several parts into one module. Hidden symbols, which the parts share, become internal.
    fn linked(parts: &[Vec<u8>]) -> Result<Code, CodegenError> {
        let error = || CodegenError::Llvm("the parts of the module cannot be linked".to_owned());
        let name = "model";
        // SAFETY: handles are used as the C API documents. Linking consumes the second module, and the buffer is a copy of
        // the bytes.
        unsafe {
            let context = Owned(LLVMContextCreate(), LLVMContextDispose);
            let mut linked: Option<Owned> = None;
            for part in parts {
                let bytes = LLVMCreateMemoryBufferWithMemoryRangeCopy(
                    part.as_ptr().cast(),
                    part.len(),
                    c"part".as_ptr(),
                );
                let bytes = Owned(bytes, LLVMDisposeMemoryBuffer);
                let mut module = null_mut();
                if LLVMParseBitcodeInContext2(context.0, bytes.0, &mut module) != 0 {
                    return Err(error());
                }
                match &linked {
                    None => linked = Some(Owned(module, LLVMDisposeModule)),
                    Some(linked) if LLVMLinkModules2(linked.0, module) == 0 => {}
                    Some(_) => return Err(error()),
                }
            }
            let module = linked.ok_or_else(error)?;
            LLVMSetModuleIdentifier(module.0, name.as_ptr().cast(), name.len());
            let iterators: [(Start, Next); 2] =
                [(LLVMGetFirstFunction, LLVMGetNextFunction), (LLVMGetFirstGlobal, LLVMGetNextGlobal)];
            for (first, next) in iterators {
                let mut symbol = first(module.0);
                while !symbol.is_null() {
                    if LLVMGetVisibility(symbol) == HIDDEN && LLVMIsDeclaration(symbol) == 0 {
                        LLVMSetVisibility(symbol, DEFAULT);
                        LLVMSetLinkage(symbol, INTERNAL);
                    }
                    symbol = next(symbol);
                }
            }
            Ok(Code { module, context })
        }
    }
}

/// Copies the bytes of a buffer, and frees it.
///
/// # Safety
/// LLVM allocated the buffer, and nothing else owns it.
unsafe fn content(buffer: Ref) -> Vec<u8> {
    unsafe {
        let buffer = Owned(buffer, LLVMDisposeMemoryBuffer);
        let start = LLVMGetBufferStart(buffer.0).cast::<u8>();
        std::slice::from_raw_parts(start, LLVMGetBufferSize(buffer.0)).to_vec()
    }
}

/// Parts of a module that threads translate.
struct Parts<'p, 'c>(&'p [Part<'c>]);

// SAFETY: a part is used by one thread at a time. Parts share only the context, for which [`each`] enables multi-threading.
unsafe impl Sync for Parts<'_, '_> {}

impl<'c> Parts<'_, 'c> {
    fn module(&self, position: usize) -> Option<&Module<'c>> {
        self.0.get(position).map(|part| &part.module)
    }
}

/// Runs `work` on each part, starting with the largest parts, and returns the results in the order of the parts.
fn each(
    context: &Context,
    parts: &[Part],
    work: impl Fn(&Module) -> Result<Vec<u8>, CodegenError> + Sync,
) -> Result<Vec<Vec<u8>>, CodegenError> {
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|position| Reverse(parts.get(*position).map_or(0, |part| part.weight)));
    let threads = available_parallelism().map_or(1, usize::from).min(parts.len());
    let (next, shared) = (AtomicUsize::new(0), Parts(parts));
    let run = || {
        let mut done = Vec::new();
        while let Some(position) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Some(module) = shared.module(*position) {
                done.push((*position, work(module)));
            }
        }
        done
    };
    let mut done = Vec::new();
    context.enable_multi_threading(threads > 1);
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        done.extend(run());
        // The results of a thread that panicked are missing.
        done.extend(others.into_iter().filter_map(|other| other.join().ok()).flatten());
    });
    context.enable_multi_threading(false);
    done.sort_by_key(|(position, _)| *position);
    if done.len() != parts.len() {
        return Err(CodegenError::Llvm("a thread failed".to_owned()));
    }
    done.into_iter().map(|(_, code)| code).collect()
}
