// SPDX-License-Identifier: Apache-2.0
//! Compile-time values and all expressions of 2.4, at compile time and inside formulas.
//!
//! The checker has already verified types and names; any inconsistency that remains is reported as a diagnostic.

pub(crate) mod access;
pub(crate) mod broadcast;
mod conditions;
pub(crate) mod demand;
mod dynamic_pack;
pub(crate) mod evaluator;
mod expression;
pub(crate) mod fold;
pub(crate) mod index;
mod language;
pub(crate) mod list;
mod logic;
pub(crate) mod pack;
pub(crate) mod position;
pub(crate) mod ranges;
pub(crate) mod runtime;
pub(crate) mod scalar;
pub(crate) mod scope;
mod selection;
pub(crate) mod series;
pub mod spelling;
pub(crate) mod stop;
pub(crate) mod sum;
pub(crate) mod value;

pub(crate) use access::TargetIndex;
pub(crate) use demand::{Demand, Demands, Position, Subject};
pub(crate) use dynamic_pack::{DynamicPack, PackPart, PackSlice};
pub(crate) use evaluator::{Evaluator, TypeName};
pub(crate) use language::Language;
pub(crate) use pack::{ItemType, Pack};
pub(crate) use scope::{Accessed, FormulaState, Scope};
pub(crate) use series::Series;
pub(crate) use stop::Stop;
pub(crate) use value::{Atom, Selected, TensorRef, Value};
