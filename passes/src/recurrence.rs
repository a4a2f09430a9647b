// SPDX-License-Identifier: Apache-2.0
//! Moves computations that do not depend on loop-carried values out of recurrences.

mod classes;
mod counted;
pub(crate) mod hoist_projections;
mod profit;
mod widen;
