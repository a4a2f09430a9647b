//! Elementwise operations on tensors: one pattern for every op with the trait.

pub mod elementwise_to_linalg;
