// SPDX-License-Identifier: Apache-2.0
//! The types of `skript.h`.

use std::ffi::{c_char, c_void};

pub(crate) const MAX_RANK: usize = 16;

pub(crate) const OK: i32 = 0;
pub(crate) const ARGUMENT: i32 = -1;
pub(crate) const WEIGHTS: i32 = -2;
pub(crate) const MEMORY: i32 = -3;
pub(crate) const PROCESSOR: i32 = -4;
pub(crate) const BUSY: i32 = -5;
pub(crate) const HANDLE: i32 = -6;
pub(crate) const DOCUMENT: i32 = -7;
pub(crate) const COMPILE: i32 = -8;
pub(crate) const FILE: i32 = -9;
pub(crate) const CHECK: i32 = -10;
pub(crate) const INTERNAL: i32 = -11;
pub(crate) const DEVICE: i32 = -12;
pub(crate) const STOPPED: i32 = -13;

/// A handle of a model.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct skc_model {
    pub(crate) id: u64,
}

/// A handle of an instance.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct skc_instance {
    pub(crate) id: u64,
}

/// An input, variable or output.
#[repr(C)]
pub struct skc_port {
    pub(crate) name: *const c_char,
    pub(crate) r#type: u32,
    pub(crate) rank: u32,
    pub(crate) bounds: [i64; MAX_RANK],
    pub(crate) dynamic: [u8; MAX_RANK],
    pub(crate) bytes: u64,
}

/// A tensor in memory of the caller.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct skc_tensor {
    pub(crate) r#type: u32,
    pub(crate) rank: u32,
    pub(crate) extents: [i64; MAX_RANK],
    pub(crate) data: *mut c_void,
    pub(crate) bytes: u64,
}

/// A failure.
#[repr(C)]
pub struct skc_error {
    pub(crate) status: i32,
    pub(crate) code: *const c_char,
    pub(crate) text: *const c_char,
    pub(crate) path: *const c_char,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) end_line: u32,
    pub(crate) end_column: u32,
}

/// Options of a compilation.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct skc_options {
    pub(crate) size: u64,
    pub(crate) graph: *const c_char,
    pub(crate) cpu: *const c_char,
    pub(crate) features: *const c_char,
    pub(crate) real: *const c_char,
    pub(crate) integer: *const c_char,
    pub(crate) weights: *const c_char,
    pub(crate) bounds: *const c_char,
    pub(crate) shapes: *const c_char,
    pub(crate) device: *const c_char,
    pub(crate) threads: u64,
}
