// SPDX-License-Identifier: Apache-2.0
//! Sets the stack size of the WebAssembly module. Rust's default of 1 MiB is less than the stack of a browser allows.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm") {
        println!("cargo:rustc-cdylib-link-arg=-zstack-size=16777216");
    }
}
