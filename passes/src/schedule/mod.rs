//! Schedules of bufferized code: loop nests over linear addresses, and how to tile them into registers.
//!
//! Everything here is decided from extents and strides; nothing asks what an operator is called.

pub mod nest;
pub mod plan;
