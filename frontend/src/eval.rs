// SPDX-License-Identifier: Apache-2.0
//! Compile-time values and all expressions of 2.4, at compile time and inside formulas.
//!
//! The checker has proven types and names before; whatever is found inconsistent here all the same becomes a
//! diagnostic.

pub(crate) mod access;
pub(crate) mod broadcast;
mod conditions;
pub(crate) mod demand;
mod dynamic_pack;
mod empty_fold;
pub(crate) mod evaluator;
pub(crate) mod fold;
mod formula_state;
mod guard;
pub(crate) mod index;
mod item_kind;
pub(crate) mod list;
mod logic;
mod position;
pub(crate) mod ranges;
pub(crate) mod runtime;
pub(crate) mod scalar;
pub(crate) mod scope;
mod selection;
pub(crate) mod series;
mod size_limits;
pub mod spelling;
pub(crate) mod stop;
pub(crate) mod sum;
pub(crate) mod value;

pub(crate) use access::TargetIndex;
pub(crate) use demand::{Demand, Demands, Position, Subject};
pub(crate) use dynamic_pack::{DynamicPack, PackPart, PackSlice};
pub(crate) use evaluator::{Evaluator, FormulaState, TypeName};
pub(crate) use formula_state::Accessed;
pub(crate) use scope::Scope;
pub(crate) use series::Series;
pub(crate) use stop::Stop;
pub(crate) use value::{Atom, Pack, Selected, TensorRef, Value};
