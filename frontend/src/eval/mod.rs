//! Compile-time values and all expressions of 2.4, at compile time and inside formulas.
//!
//! The checker has proven types and names before; whatever is found inconsistent here all the same becomes a
//! diagnostic.

pub mod access;
pub mod affine;
mod chosen;
pub mod demand;
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
mod row;
pub mod runtime;
pub mod scalar;
pub mod scope;
pub mod series;
mod series_beside;
mod series_fold;
mod series_items;
mod series_parts;
pub mod spelling;
pub mod spread;
pub mod value;

pub use access::TargetIndex;
pub use demand::{Demand, Demands, Position, Subject};
pub use evaluator::{Evaluator, FormulaState, Stop, TypeName};
pub use formula_state::Accessed;
pub use row::{Places, Row, RowPart};
pub use scope::Scope;
pub use series::Series;
pub use value::{Atom, Chosen, Guarded, Pack, TensorRef, Value};

#[cfg(test)]
mod tests;
