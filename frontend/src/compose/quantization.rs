// SPDX-License-Identifier: Apache-2.0
//! Quantizers (2.14), and the range of storage types.

pub(crate) mod constant_results;
pub(crate) mod narrow_ints;
pub(super) mod quantizer;
pub(crate) mod quantizers;
