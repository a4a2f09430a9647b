//! Text → [`crate::ast`].
