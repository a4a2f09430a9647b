// SPDX-License-Identifier: Apache-2.0
//! Gradients of models, as documents.
//!
//! `extents` makes extents static and writes dynamic ones, `flatten` lists the operators of a model in execution order (`branches` those of branches, `loops` those of loops), `adjoint` differentiates one operator in
//! reverse mode and `tangent` in forward mode, `intrinsics` has formulas for operators without, `accumulate` differentiates all operators, and `document` writes what `request` names. `training` adds the update of an optimizer.
//!
//! Internal to the compiler: programs embed the crate `skript`. This interface changes without notice.
mod accumulate;
mod adjoint;
mod branches;
mod builder;
mod differential;
mod document;
mod domain;
mod expr;
mod extents;
mod flatten;
mod formula;
mod gather;
mod intrinsics;
mod loops;
mod names;
mod operator;
mod partials;
mod recurrence;
mod refusal;
mod request;
mod rules;
mod sequence;
mod slopes;
mod tangent;
mod text;
mod training;

pub use document::{Gradient, gradient};
pub use request::{Mode, Request};
pub use training::Training;
