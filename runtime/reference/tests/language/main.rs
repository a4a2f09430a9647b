// SPDX-License-Identifier: Apache-2.0
//! Documents of every section of chapters 2 and 3, run through the evaluator; values worked out by hand.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod accesses;
mod dynamic_extents;
mod expressions;
mod khronos_edition;
mod loops;
mod quantization;
mod run;
mod run_time_packs;
mod updates;
mod write_counters;
