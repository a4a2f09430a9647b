//! Quantizers (2.14), and values that the storage types must hold.

pub mod constant_results;
pub mod narrow_ints;
pub mod quantizers;
