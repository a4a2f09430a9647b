// SPDX-License-Identifier: Apache-2.0
//! The table of scalar operations: their meaning with corner cases, and their spelling in other dialects.
//!
//! The compile-time evaluator of the frontend, the reference evaluator, the lowerings and the docs read it.
//!
//! Internal to the compiler: programs embed the crate `skript`. This interface changes without notice.
#![warn(missing_docs, unnameable_types, unreachable_pub)]
mod checked;
mod derivative;
mod eval;
pub mod expansion;
pub mod integer;
mod numbers;
mod op;
pub mod real;
mod scalar;
mod stablehlo;
mod table;

pub use checked::Undefined;
pub use derivative::Derivative;
pub use expansion::{Class, Emitter, Expansion, Operation};
pub use numbers::{IntType, Numbers, RealType};
pub use op::ScalarOp;
pub use scalar::{Scalar, ScalarKind};
pub use stablehlo::StableHlo;
pub use table::{Domain, ResultKind, Row};
