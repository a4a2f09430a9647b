// SPDX-License-Identifier: Apache-2.0
//! Merging of equal operations.

pub(crate) mod merge_duplicates;
