// SPDX-License-Identifier: Apache-2.0
//! Schedules bufferized code: loop nests over linear addresses, and their register tiles.
//!
//! Schedules depend on extents and strides, but not on operator names. A reduction over static arrays is analyzed as a
//! [`nest`] with a [`body`], a register tile is [`plan`]ned, and a [`kernel`] replaces it.

pub(crate) mod blocks;
pub mod body;
pub mod borders;
mod buffer_uses;
mod caller;
pub mod choices;
pub(crate) mod clamps;
pub mod comparisons;
pub(crate) mod contraction;
pub mod costs;
mod counts;
pub(crate) mod dependences;
pub(crate) mod divisions;
pub mod dot;
pub(crate) mod elements;
mod elementwise;
pub(crate) mod exponents;
pub(crate) mod forward_copies;
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
pub(crate) mod prefixes;
pub mod reading;
mod reduction_lanes;
pub(crate) mod rows;
mod scalars;
pub(crate) mod scatter_blocks;
pub(crate) mod scatters;
pub(crate) mod select;
pub(crate) mod shuffles;
pub mod signature;
pub(crate) mod skew;
mod squares;
mod strides;
mod taps;
pub mod target;
pub mod targets;
mod tile;
pub mod tiling;
mod transpose;
pub(crate) mod unpack;
pub(crate) mod unswitch;
pub mod vectorize;
mod vectors;
pub(crate) mod widen_operands;
pub(crate) mod winograd;
mod works;
mod writer;
