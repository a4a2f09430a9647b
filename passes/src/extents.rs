// SPDX-License-Identifier: Apache-2.0
//! Simplifies and pads dynamic extents.

pub mod bounds;
mod control;
pub mod drop_clamps;
pub(crate) mod fold_extents;
mod formula;
mod function;
pub(crate) mod intrinsic;
pub mod pad_extents;
mod padding;
pub(crate) mod size;
mod slice;
