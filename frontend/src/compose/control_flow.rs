// SPDX-License-Identifier: Apache-2.0
//! Branches and loops (2.10.1).

pub(super) mod branches;
pub(crate) mod dynamic_loop;
pub(super) mod loops;
