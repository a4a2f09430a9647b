//! The recognizer: what a formula *is*, asked by every lowering, never by an operator's name.
//!
//! [`nest`] is a formula as plain data; [`affine`], [`guard`] and [`target`] analyse its subscripts, its predicate and its
//! writes; [`positions`] computes places that need no data; `substitute` puts other indices in the place of
//! these, `digits` those that formulas take apart; [`disjoint`] has loops that may run at the same time; [`pieces`] has places that are affine by parts;
//! [`arg_reduction`] sees running bests, [`counting`] writes that are counted; [`classify`] names the whole.

pub mod affine;
pub mod annotate_structure;
pub mod arg_reduction;
pub mod classify;
pub mod counting;
mod digits;
pub mod disjoint;
pub mod guard;
pub mod nest;
pub mod pieces;
pub mod positions;
pub mod read;
mod substitute;
pub mod target;

pub use affine::Affine;
pub use arg_reduction::ArgReduction;
pub use classify::Structure;
pub use counting::Counting;
pub use guard::{DomainBox, Guard};
pub use nest::{Nest, Term, TermId};
pub use pieces::Pieces;
pub use positions::Positions;
pub use read::{LARGEST_EXTENT, ReadError, Reading, SAME_TENSOR};
pub use target::{Placement, Slot};
