//! Schedules of bufferized code: loop nests over linear addresses, and how to tile them into registers.
//!
//! Everything here is decided from extents and strides; nothing asks what an operator is called. A reduction over static
//! arrays is read as a [`nest`] with a [`body`], a register tile is [`plan`]ned, and its [`kernel`] replaces it.

pub mod body;
mod boundary;
pub mod interchange;
pub mod kernel;
pub mod nest;
pub mod plan;
pub mod reading;
pub mod vectorize;
