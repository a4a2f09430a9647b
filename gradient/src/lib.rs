// SPDX-License-Identifier: Apache-2.0
//! Gradients of models, as documents.
//!
//! `constant_extents` makes extents static, `flatten` lists the operators of a model in execution order (`branches` those of branches, `loops` those of loops), `adjoint` differentiates one operator, `accumulate` adds adjoints
//! over the operators in reversed order, and `document` writes the result. `training` adds the update of an optimizer.
//!
//! Internal to the compiler: programs embed the crate `skript`. This interface changes without notice.
mod accumulate;
mod adjoint;
mod branches;
mod constant_extents;
mod document;
mod domain;
mod expr;
mod flatten;
mod formula;
mod gather;
mod loops;
mod names;
mod operator;
mod partials;
mod recurrence;
mod refusal;
mod rules;
mod sequence;
mod text;
mod training;

pub use document::{Gradient, Request, gradient};
pub use training::Training;
