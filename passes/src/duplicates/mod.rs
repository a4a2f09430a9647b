// SPDX-License-Identifier: Apache-2.0
//! Merging of equal operations.

pub mod merge_duplicates;
