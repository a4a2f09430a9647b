// SPDX-License-Identifier: Apache-2.0
//! Quantizers (2.14), and the range of storage types.

pub mod constant_results;
pub mod narrow_ints;
pub mod quantizers;
