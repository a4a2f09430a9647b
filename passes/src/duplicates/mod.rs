//! Operations that are there twice.

pub mod merge_duplicates;
