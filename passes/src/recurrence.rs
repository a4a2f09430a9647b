// SPDX-License-Identifier: Apache-2.0
//! Loops whose steps depend on each other: what does not depend on the loop-carried values moves out of them.

mod classes;
mod counted;
pub(crate) mod hoist_projections;
mod profit;
mod widen;
