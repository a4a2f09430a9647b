//! What a formula is.
