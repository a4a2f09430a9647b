// SPDX-License-Identifier: Apache-2.0
//! Schedules of bufferized code: loop nests over linear addresses, and their register tiles.
//!
//! Extents and strides decide everything; operator names are not read. A reduction over static arrays is read as a
//! [`nest`] with a [`body`], a register tile is [`plan`]ned, and a [`kernel`] replaces it.

pub(crate) mod blocks;
pub mod body;
pub mod borders;
mod buffer_uses;
mod caller;
pub mod choices;
pub(crate) mod clamps;
pub mod comparisons;
pub mod costs;
pub(crate) mod divisions;
pub mod dot;
mod elementwise;
pub(crate) mod exponents;
pub mod gpu;
pub mod interchange;
pub mod kernel;
pub(crate) mod maps;
pub(crate) mod merge;
pub mod nest;
mod outside;
pub mod packing;
mod payload;
pub mod phases;
pub mod plan;
mod predicates;
pub mod reading;
mod reduction_lanes;
pub(crate) mod rows;
mod scalars;
pub(crate) mod scatters;
pub(crate) mod select;
pub(crate) mod shuffles;
pub mod signature;
mod squares;
mod strides;
mod taps;
pub mod target;
pub mod targets;
mod tile;
pub mod tiling;
mod transpose;
pub mod vectorize;
mod vectors;
pub(crate) mod widen_operands;
pub(crate) mod winograd;
mod writer;
