// SPDX-License-Identifier: Apache-2.0
//! Links the libLLVM of the prefix that the workspace builds against (`MLIR_SYS_220_PREFIX`, else `llvm-config-22`).

use std::process::Command;

fn prefix() -> Result<String, String> {
    println!("cargo:rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    if let Ok(prefix) = std::env::var("MLIR_SYS_220_PREFIX") {
        return Ok(prefix);
    }
    let answer = Command::new("llvm-config-22").arg("--prefix").output();
    let prefix = answer.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned());
    prefix.map_err(|e| {
        format!("LLVM 22 is not found ({e}): set MLIR_SYS_220_PREFIX, or install llvm-22-dev")
    })
}

fn main() {
    let prefix = match prefix() {
        Ok(prefix) => prefix,
        Err(problem) => {
            println!("cargo::error={problem}");
            return;
        }
    };
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-link-search=native={prefix}/lib");
    println!("cargo:rustc-link-lib=dylib=LLVM-22");
    println!("cargo:rustc-link-arg=-Wl,-rpath,{prefix}/lib");
}
