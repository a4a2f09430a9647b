// SPDX-License-Identifier: Apache-2.0
//! Packs whose length is known only at run time (2.4, 2.12).

pub(crate) mod concatenation;
pub(crate) mod destructuring;
pub(crate) mod dynamic_length;
pub(crate) mod packed_assignment;
