//! What crosses the border to the host system: files that are read ([`file`]), and text for terminals ([`printable`]).
//!
//! Both are untrusted: a path may name a pipe or a device, a file may have any size, and its text may hold characters
//! that a terminal obeys.
pub mod file;
mod printable;

pub use file::{FileError, RegularFile};
pub use printable::{one_line, printable};
