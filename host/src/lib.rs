// SPDX-License-Identifier: Apache-2.0
//! The boundary to the host system: reading files ([`file`]), writing them ([`replace()`]), their formats ([`format`]), text for
//! terminals ([`printable`]), and threads with large stacks ([`on_stack`]).
//!
//! Paths and files are untrusted: a path may name a pipe or a device, a file may have any size, and its text may contain
//! control characters of terminals.
//!
//! Internal to the compiler: programs embed the crate `skript`. This interface changes without notice.
#![warn(missing_docs, unnameable_types, unreachable_pub)]
pub mod file;
pub mod format;
mod printable;
mod replace;
mod stack;

pub use file::{FileError, RegularFile};
pub use printable::{one_line, printable};
pub use replace::{Sync, overwrite, replace, replace_bytes};
pub use stack::on_stack;
