//! Extents that only a run knows, given a fixed size.

pub mod bounds;
mod control;
mod formula;
mod function;
pub mod intrinsic;
pub mod pad_extents;
mod padding;
mod slice;
