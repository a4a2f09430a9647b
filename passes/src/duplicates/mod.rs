//! Merging of equal operations.

pub mod merge_duplicates;
