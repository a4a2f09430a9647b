//! The one table of scalar operations: what each means, corner cases included, and how others spell it.
//!
//! Read by the compile-time evaluator of the frontend, the reference evaluator, the lowerings and the docs.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing
    )
)]

pub mod op;
pub mod scalar;

pub use op::ScalarOp;
pub use scalar::{Scalar, ScalarKind};
