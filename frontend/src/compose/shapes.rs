// SPDX-License-Identifier: Apache-2.0
//! Shapes: extents known at compile time and at run time, their bounds and checks.

pub(crate) mod affine_extent;
pub(super) mod block_checks;
pub(super) mod checks;
pub(crate) mod dynamic_extent;
pub(super) mod input_shape;
pub(crate) mod named_extents;
pub(super) mod size;
