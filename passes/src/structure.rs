// SPDX-License-Identifier: Apache-2.0
//! The recognizer: classifies a formula for all lowerings, without the name of an operator.
//!
//! [`nest`] is the data structure for a formula. [`guard`] and [`target`] analyze its subscripts, its predicate and
//! its writes. [`positions`] evaluates subscripts that depend on a single index. `substitute` replaces indices by forms
//! of others, `digits` splits divided indices. [`disjoint`] finds parallel loops, [`pieces`] piecewise affine subscripts, [`order`] the
//! order of loops, [`arg_reduction`] arg-reductions, [`compaction`] stream compactions. [`classify`] determines the kind.

pub(crate) mod annotate_structure;
pub mod arg_reduction;
pub(crate) mod classify;
pub(crate) mod compaction;
mod digits;
pub(crate) mod disjoint;
pub(crate) mod guard;
pub(crate) mod nest;
pub(crate) mod order;
pub(crate) mod pieces;
pub(crate) mod positions;
pub(crate) mod read;
mod substitute;
pub(crate) mod target;

pub use arg_reduction::ArgReduction;
pub(crate) use classify::Structure;
pub use compaction::Compaction;
pub use guard::Guard;
pub use nest::{Nest, NestTarget, NestTensor, Term, TermId};
pub use pieces::Pieces;
pub use positions::Positions;
pub use read::{ReadError, Reading, StaticReading};
pub use skript_symbolic::{Affine, Extent};
pub use target::{Placement, Slot};
