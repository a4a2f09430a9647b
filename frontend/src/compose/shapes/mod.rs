// SPDX-License-Identifier: Apache-2.0
//! Shapes: extents known at compile time and at run time, their bounds and checks.

pub mod affine_extent;
pub mod checks;
pub mod dynamic_extent;
pub mod input_shape;
pub mod named_extents;
pub mod upper_bound;
