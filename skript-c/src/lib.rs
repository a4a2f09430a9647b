// SPDX-License-Identifier: Apache-2.0
//! `libskript-c`: loads, compiles and runs models in C programs; `include/skript.h` has the contracts.
//!
//! Functions of the interface check pointers and handles, copy what they are given, and call the crate `skript`. A panic
//! is a status: none crosses the boundary.
#![allow(non_camel_case_types)]
mod calls;
mod failure;
mod memory;
mod models;
mod registry;
mod tensors;
mod types;
