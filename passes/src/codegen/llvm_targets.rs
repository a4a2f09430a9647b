// SPDX-License-Identifier: Apache-2.0
//! Initializes the LLVM targets.

use std::sync::Once;

/// Declares the functions that initialize targets, and a function that calls them.
macro_rules! targets {
    ($($function:ident)*) => {
        unsafe extern "C" {
            $(fn $function();)*
        }

        /// Registers the targets with LLVM, once.
        pub(super) fn initialize() {
            static TARGETS: Once = Once::new();
            // SAFETY: the functions have no preconditions; `Once` prevents concurrent calls.
            TARGETS.call_once(|| unsafe { $($function();)* });
        }
    };
}

targets! {
    LLVMInitializeX86TargetInfo LLVMInitializeX86Target LLVMInitializeX86TargetMC LLVMInitializeX86AsmPrinter
    LLVMInitializeAArch64TargetInfo LLVMInitializeAArch64Target LLVMInitializeAArch64TargetMC LLVMInitializeAArch64AsmPrinter
    LLVMInitializeRISCVTargetInfo LLVMInitializeRISCVTarget LLVMInitializeRISCVTargetMC LLVMInitializeRISCVAsmPrinter
    LLVMInitializeWebAssemblyTargetInfo LLVMInitializeWebAssemblyTarget LLVMInitializeWebAssemblyTargetMC
    LLVMInitializeWebAssemblyAsmPrinter
    LLVMInitializeARMTargetInfo LLVMInitializeARMTarget LLVMInitializeARMTargetMC LLVMInitializeARMAsmPrinter
    LLVMInitializeNVPTXTargetInfo LLVMInitializeNVPTXTarget LLVMInitializeNVPTXTargetMC LLVMInitializeNVPTXAsmPrinter
    LLVMInitializeAMDGPUTargetInfo LLVMInitializeAMDGPUTarget LLVMInitializeAMDGPUTargetMC LLVMInitializeAMDGPUAsmPrinter
}
