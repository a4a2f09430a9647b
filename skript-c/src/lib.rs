// SPDX-License-Identifier: Apache-2.0
//! `libskript-c`: loads, compiles and runs models in C programs; `include/skript.h` has the contracts.
//!
//! The functions of the interface check pointers and handles, copy their arguments, and call the crate `skript`. They
//! convert panics to statuses, so no panic unwinds into C.
#![allow(non_camel_case_types)]
mod calls;
mod failure;
mod memory;
mod models;
mod registry;
mod tensors;
mod types;
