// SPDX-License-Identifier: Apache-2.0
//! Formulas of `@lower` blocks (2.12).

pub(crate) mod assigned_tensors;
pub(crate) mod full_slices;
pub(crate) mod index_order;
mod local_tensors;
pub(crate) mod lower_block;
mod recurrences;
pub(crate) mod write_counter;
