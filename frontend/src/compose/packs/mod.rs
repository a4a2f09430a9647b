// SPDX-License-Identifier: Apache-2.0
//! Packs whose length is known at run time only (2.4, 2.12).

pub mod accumulation;
pub mod concatenation;
pub mod destructuring;
pub mod dynamic_length;
pub mod packed_assignment;
