// SPDX-License-Identifier: Apache-2.0
//! Formulas of `@lower` blocks (2.12).

pub mod assigned_tensors;
pub mod full_slices;
pub mod index_order;
pub mod lower_block;
pub mod write_counter;
pub mod write_partition;
