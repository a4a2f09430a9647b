// SPDX-License-Identifier: Apache-2.0
//! Initialization of LLVM's targets.

use std::sync::Once;

/// Declares the functions that initialize targets, and one that calls them.
macro_rules! targets {
    ($($function:ident)*) => {
        unsafe extern "C" {
            $(fn $function();)*
        }

        /// Makes the targets known to LLVM.
        pub(super) fn initialize() {
            static TARGETS: Once = Once::new();
            // SAFETY: once, under `Once`'s lock.
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
