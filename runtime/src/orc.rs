// SPDX-License-Identifier: Apache-2.0
//! LLVM's ORC through its C API: the unsafe part of loading code.
//!
//! Object code is linked into the process by LLJIT. Symbols that it lacks come from a fixed table ([`crate::symbols`]) and
//! never from the process: loaded code reaches the mathematics of the C library, but not its system calls.

use crate::symbols;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Mutex, Once, PoisonError, mpsc};

type Ref = *mut c_void;

unsafe extern "C" {
    fn LLVMOrcCreateLLJIT(result: *mut Ref, builder: Ref) -> Ref;
    fn LLVMOrcDisposeLLJIT(jit: Ref) -> Ref;
    fn LLVMOrcLLJITGetExecutionSession(jit: Ref) -> Ref;
    fn LLVMOrcExecutionSessionSetErrorReporter(
        session: Ref,
        report: unsafe extern "C" fn(*mut c_void, Ref),
        context: *mut c_void,
    );
    fn LLVMOrcExecutionSessionCreateBareJITDylib(session: Ref, name: *const c_char) -> Ref;
    fn LLVMOrcExecutionSessionLookup(
        session: Ref,
        kind: c_int,
        order: *mut SearchOrder,
        order_length: usize,
        symbols: *mut Wanted,
        symbols_length: usize,
        handle: unsafe extern "C" fn(Ref, *mut Absolute, usize, *mut c_void),
        context: *mut c_void,
    );
    fn LLVMOrcLLJITMangleAndIntern(jit: Ref, name: *const c_char) -> Ref;
    fn LLVMOrcAbsoluteSymbols(symbols: *mut Absolute, count: usize) -> Ref;
    fn LLVMOrcJITDylibDefine(dylib: Ref, unit: Ref) -> Ref;
    fn LLVMOrcLLJITAddObjectFile(jit: Ref, dylib: Ref, buffer: Ref) -> Ref;
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

/// `LLVMOrcCJITDylibSearchOrderElement`; flags of 0 match exported symbols only.
#[repr(C)]
struct SearchOrder {
    dylib: Ref,
    flags: c_int,
}

/// `LLVMOrcCLookupSetElement`; flags of 0 require the symbol.
#[repr(C)]
struct Wanted {
    name: Ref,
    flags: c_int,
}

/// `LLVMOrcLookupKindStatic`.
const STATIC: c_int = 0;

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
    // SAFETY: each call returns a C string of its own.
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

/// Object code in this process.
pub struct Linked {
    jit: Ref,
    entry: Entry,
    /// What ORC reports; its session holds the address.
    _reports: Box<Reports>,
}

/// Messages of ORC, which prints them if nobody collects them.
type Reports = Mutex<Vec<String>>;

/// # Safety
/// `reports` is a live [`Reports`], `error` comes from LLVM and was not looked at yet.
unsafe extern "C" fn report(reports: *mut c_void, error: Ref) {
    unsafe {
        let reports = &*reports.cast::<Reports>();
        if let Err(text) = check(error) {
            let mut reports = reports.lock().unwrap_or_else(PoisonError::into_inner);
            reports.push(text);
        }
    }
}

/// What a lookup of one symbol finds.
type Answer = Result<u64, String>;

/// # Safety
/// `sender` is a live sender of answers; the rest is as ORC hands it in.
unsafe extern "C" fn answer(error: Ref, found: *mut Absolute, count: usize, sender: *mut c_void) {
    unsafe {
        let sender = &*sender.cast::<mpsc::Sender<Answer>>();
        let answer = check(error).and_then(|()| match count {
            0 => Err("the entry is missing".to_owned()),
            _ => Ok((*found).address),
        });
        // The receiver waits for it.
        let _ = sender.send(answer);
    }
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
            let reports: Box<Reports> = Box::default();
            LLVMOrcExecutionSessionSetErrorReporter(
                LLVMOrcLLJITGetExecutionSession(jit),
                report,
                (&raw const *reports).cast_mut().cast(),
            );
            match Self::link(jit, object, &name) {
                Ok(entry) => Ok(Linked {
                    jit,
                    entry,
                    _reports: reports,
                }),
                Err(error) => {
                    dispose(jit);
                    let mut all = reports.into_inner().unwrap_or_else(PoisonError::into_inner);
                    all.push(error);
                    Err(all.join("; "))
                }
            }
        }
    }

    /// # Safety
    /// `jit` is a live LLJIT.
    unsafe fn link(jit: Ref, object: &[u8], name: &CStr) -> Result<Entry, String> {
        unsafe {
            let session = LLVMOrcLLJITGetExecutionSession(jit);
            // The main library of an LLJIT is linked against the process.
            let dylib = LLVMOrcExecutionSessionCreateBareJITDylib(session, c"model".as_ptr());
            let mut table: Vec<Absolute> = symbols::table()
                .into_iter()
                .map(|(name, address)| Absolute {
                    name: LLVMOrcLLJITMangleAndIntern(jit, name.as_ptr()),
                    address: address.expose_provenance() as u64,
                    flags: CALLABLE,
                    target_flags: 0,
                })
                .collect();
            check(LLVMOrcJITDylibDefine(
                dylib,
                LLVMOrcAbsoluteSymbols(table.as_mut_ptr(), table.len()),
            ))?;
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
                object.as_ptr().cast(),
                object.len(),
                c"model".as_ptr(),
            );
            check(LLVMOrcLLJITAddObjectFile(jit, dylib, buffer))?;
            let address = Self::find(jit, session, dylib, name)?;
            let address = usize::try_from(address).map_err(|e| e.to_string())?;
            if address == 0 {
                return Err("the entry has no address".to_owned());
            }
            let pointer = std::ptr::with_exposed_provenance::<c_void>(address);
            Ok(std::mem::transmute::<*const c_void, Entry>(pointer))
        }
    }

    /// Links what `name` needs and returns its address.
    ///
    /// # Safety
    /// All handles are live and of one LLJIT.
    unsafe fn find(jit: Ref, session: Ref, dylib: Ref, name: &CStr) -> Answer {
        let (sender, receiver) = mpsc::channel::<Answer>();
        let mut order = SearchOrder { dylib, flags: 0 };
        unsafe {
            let mut wanted = Wanted {
                name: LLVMOrcLLJITMangleAndIntern(jit, name.as_ptr()),
                flags: 0,
            };
            LLVMOrcExecutionSessionLookup(
                session,
                STATIC,
                &raw mut order,
                1,
                &raw mut wanted,
                1,
                answer,
                (&raw const sender).cast_mut().cast(),
            );
        }
        // ORC answers exactly once; `sender` lives until then.
        receiver.recv().map_err(|e| e.to_string())?
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
