//! Formulas to `linalg`, `affine` or `scf`.
