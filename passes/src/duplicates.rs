// SPDX-License-Identifier: Apache-2.0
//! Merges equal operations.

pub(crate) mod merge_duplicates;
