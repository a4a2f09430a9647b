//! LLVM's ORC through its C API: the unsafe part of loading code.
//!
//! Object code is linked into the process by LLJIT; symbols it lacks (the C library's mathematics) are looked up in the
//! process.

use skript_intrinsics::compiled::Context;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::Once;

type Ref = *mut c_void;

unsafe extern "C" {
    fn LLVMOrcCreateLLJIT(result: *mut Ref, builder: Ref) -> Ref;
    fn LLVMOrcDisposeLLJIT(jit: Ref) -> Ref;
    fn LLVMOrcLLJITGetMainJITDylib(jit: Ref) -> Ref;
    fn LLVMOrcLLJITGetGlobalPrefix(jit: Ref) -> c_char;
    fn LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
        result: *mut Ref,
        prefix: c_char,
        filter: Ref,
        context: Ref,
    ) -> Ref;
    fn LLVMOrcJITDylibAddGenerator(dylib: Ref, generator: Ref);
    fn LLVMOrcLLJITMangleAndIntern(jit: Ref, name: *const c_char) -> Ref;
    fn LLVMOrcAbsoluteSymbols(symbols: *mut Absolute, count: usize) -> Ref;
    fn LLVMOrcJITDylibDefine(dylib: Ref, unit: Ref) -> Ref;
    fn LLVMOrcLLJITAddObjectFile(jit: Ref, dylib: Ref, buffer: Ref) -> Ref;
    fn LLVMOrcLLJITLookup(jit: Ref, result: *mut u64, name: *const c_char) -> Ref;
    fn LLVMCreateMemoryBufferWithMemoryRangeCopy(
        data: *const c_char,
        length: usize,
        name: *const c_char,
    ) -> Ref;
    fn LLVMGetErrorMessage(error: Ref) -> *mut c_char;
    fn LLVMDisposeErrorMessage(message: *mut c_char);
    fn LLVMConsumeError(error: Ref);
    fn LLVMGetDefaultTargetTriple() -> *mut c_char;
    fn LLVMGetHostCPUName() -> *mut c_char;
    fn LLVMGetHostCPUFeatures() -> *mut c_char;
    fn LLVMDisposeMessage(message: *mut c_char);
}

/// A name and where it lies (C: `LLVMOrcCSymbolMapPair`).
#[repr(C)]
struct Absolute {
    name: Ref,
    address: u64,
    flags: u8,
    target_flags: u8,
}

/// `LLVMJITSymbolGenericFlagsExported` and `LLVMJITSymbolGenericFlagsCallable`.
const CALLABLE: u8 = 1 | 1 << 2;

#[cfg(target_arch = "x86_64")]
mod native {
    unsafe extern "C" {
        pub fn LLVMInitializeX86TargetInfo();
        pub fn LLVMInitializeX86Target();
        pub fn LLVMInitializeX86TargetMC();
        pub fn LLVMInitializeX86AsmPrinter();
    }
    /// # Safety
    /// Only under a lock: LLVM's registry of targets is global.
    pub unsafe fn initialize() {
        unsafe {
            LLVMInitializeX86TargetInfo();
            LLVMInitializeX86Target();
            LLVMInitializeX86TargetMC();
            LLVMInitializeX86AsmPrinter();
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod native {
    unsafe extern "C" {
        pub fn LLVMInitializeAArch64TargetInfo();
        pub fn LLVMInitializeAArch64Target();
        pub fn LLVMInitializeAArch64TargetMC();
        pub fn LLVMInitializeAArch64AsmPrinter();
    }
    /// # Safety
    /// Only under a lock: LLVM's registry of targets is global.
    pub unsafe fn initialize() {
        unsafe {
            LLVMInitializeAArch64TargetInfo();
            LLVMInitializeAArch64Target();
            LLVMInitializeAArch64TargetMC();
            LLVMInitializeAArch64AsmPrinter();
        }
    }
}

/// The host as LLVM names it: triple, processor, features.
pub fn host() -> (String, String, String) {
    // SAFETY: each call hands out a C string of its own.
    unsafe {
        (
            message(LLVMGetDefaultTargetTriple()),
            message(LLVMGetHostCPUName()),
            message(LLVMGetHostCPUFeatures()),
        )
    }
}

/// # Safety
/// `text` is a C string that LLVM allocated and nobody else holds.
unsafe fn message(text: *mut c_char) -> String {
    unsafe {
        let owned = CStr::from_ptr(text).to_string_lossy().into_owned();
        LLVMDisposeMessage(text);
        owned
    }
}

/// # Safety
/// `error` comes from an LLVM function and was not looked at yet.
unsafe fn check(error: Ref) -> Result<(), String> {
    if error.is_null() {
        return Ok(());
    }
    unsafe {
        let text = LLVMGetErrorMessage(error);
        let owned = CStr::from_ptr(text).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(text);
        Err(owned)
    }
}

/// The C entry of a compiled model.
pub type Entry = unsafe extern "C" fn(*const *mut u8, *mut u8, *mut c_void) -> c_int;

/// The one function of the runtime that compiled code calls.
type Kernels = unsafe extern "C" fn(*const u8, usize, *const i64, *mut Context) -> c_int;

/// Object code in this process.
pub struct Linked {
    jit: Ref,
    entry: Entry,
}

// SAFETY: after linking, nothing but `drop` touches the LLJIT; the entry has no globals (contract of the artifact).
unsafe impl Send for Linked {}
unsafe impl Sync for Linked {}

impl Linked {
    /// Links `object` and finds `symbol` in it.
    pub fn new(object: &[u8], symbol: &str) -> Result<Linked, String> {
        static TARGET: Once = Once::new();
        // SAFETY: once, under `Once`'s lock.
        TARGET.call_once(|| unsafe { native::initialize() });
        let name = CString::new(symbol).map_err(|e| e.to_string())?;
        // SAFETY: handles are created, used and passed on as the C API documents; each error is consumed; `jit` is
        // disposed of on every way out, by this function or by `drop`.
        unsafe {
            let mut jit = null_mut();
            check(LLVMOrcCreateLLJIT(&mut jit, null_mut()))?;
            match Self::link(jit, object, &name) {
                Ok(entry) => Ok(Linked { jit, entry }),
                Err(e) => {
                    dispose(jit);
                    Err(e)
                }
            }
        }
    }

    /// # Safety
    /// `jit` is a live LLJIT.
    unsafe fn link(jit: Ref, object: &[u8], name: &CStr) -> Result<Entry, String> {
        unsafe {
            let dylib = LLVMOrcLLJITGetMainJITDylib(jit);
            let mut process = null_mut();
            check(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
                &mut process,
                LLVMOrcLLJITGetGlobalPrefix(jit),
                null_mut(),
                null_mut(),
            ))?;
            LLVMOrcJITDylibAddGenerator(dylib, process);
            // Not among the process's dynamic symbols: the generator does not find it.
            let kernels: Kernels = skript_intrinsics::compiled::skript_intrinsic;
            let mut symbol = Absolute {
                name: LLVMOrcLLJITMangleAndIntern(jit, c"skript_intrinsic".as_ptr()),
                address: (kernels as *const c_void).expose_provenance() as u64,
                flags: CALLABLE,
                target_flags: 0,
            };
            check(LLVMOrcJITDylibDefine(
                dylib,
                LLVMOrcAbsoluteSymbols(&raw mut symbol, 1),
            ))?;
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
                object.as_ptr().cast(),
                object.len(),
                c"model".as_ptr(),
            );
            check(LLVMOrcLLJITAddObjectFile(jit, dylib, buffer))?;
            let mut address = 0u64;
            check(LLVMOrcLLJITLookup(jit, &mut address, name.as_ptr()))?;
            let address = usize::try_from(address).map_err(|e| e.to_string())?;
            if address == 0 {
                return Err("the entry has no address".to_owned());
            }
            let pointer = std::ptr::with_exposed_provenance::<c_void>(address);
            Ok(std::mem::transmute::<*const c_void, Entry>(pointer))
        }
    }

    /// The entry; valid while `self` lives.
    pub fn entry(&self) -> Entry {
        self.entry
    }
}

/// # Safety
/// `jit` is a live LLJIT; none of its code runs any more.
unsafe fn dispose(jit: Ref) {
    unsafe {
        let error = LLVMOrcDisposeLLJIT(jit);
        if !error.is_null() {
            LLVMConsumeError(error);
        }
    }
}

impl Drop for Linked {
    fn drop(&mut self) {
        // SAFETY: callers hold the program while they run its code.
        unsafe { dispose(self.jit) }
    }
}
