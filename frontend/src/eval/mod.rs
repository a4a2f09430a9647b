// SPDX-License-Identifier: Apache-2.0
//! Compile-time values and all expressions of 2.4, at compile time and inside formulas.
//!
//! The checker has proven types and names before; whatever is found inconsistent here all the same becomes a
//! diagnostic.

pub mod access;
pub mod broadcast;
pub mod demand;
mod dynamic_pack;
mod empty_fold;
pub mod evaluator;
pub mod fold;
mod formula_state;
mod guard;
pub mod index;
mod item_kind;
pub mod list;
mod logic;
mod position;
pub mod ranges;
pub mod runtime;
pub mod scalar;
pub mod scope;
mod selection;
pub mod series;
pub mod spelling;
pub mod sum;
pub mod value;

pub use access::TargetIndex;
pub use demand::{Demand, Demands, Position, Subject};
pub use dynamic_pack::{DynamicPack, PackPart, PackSlice};
pub use evaluator::{Evaluator, FormulaState, Stop, TypeName};
pub use formula_state::Accessed;
pub use scope::Scope;
pub use series::Series;
pub use value::{Atom, Guarded, Pack, Selected, TensorRef, Value};
