// SPDX-License-Identifier: Apache-2.0
//! The table of scalar operations: their meaning with corner cases, and their spelling in other dialects.
//!
//! The compile-time evaluator of the frontend, the reference evaluator, the lowerings and the docs read it.
pub mod checked;
pub mod eval;
pub mod integer;
pub mod numbers;
pub mod op;
pub mod real;
pub mod recipe;
pub mod scalar;
pub mod stablehlo;
pub mod table;

pub use checked::Undefined;
pub use numbers::{IntType, Numbers, RealType};
pub use op::ScalarOp;
pub use recipe::{Recipe, Step, TypeClass};
pub use scalar::{Scalar, ScalarKind};
pub use stablehlo::StableHlo;
pub use table::{Domain, ResultKind, Row};
