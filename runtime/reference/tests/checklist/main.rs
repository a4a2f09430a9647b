// SPDX-License-Identifier: Apache-2.0
//! Tests of the normative statements of chapters 2 and 3, by their number in `test/statements.txt`: documents are parsed,
//! checked, composed and run. Expected values are worked out by hand from the draft's text and the errata.
//!
//! What a definition alone shows is in `frontend/src/check/checklist`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod blocks;
mod composition;
mod control;
mod documents;
mod expressions;
mod folds;
mod formulas;
mod generics;
mod guide;
mod rows;
mod shapes;
