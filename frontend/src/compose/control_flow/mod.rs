// SPDX-License-Identifier: Apache-2.0
//! Branches and loops (2.10.1).

pub mod branch_results;
pub mod branches;
pub mod dynamic_loop;
pub mod loops;
