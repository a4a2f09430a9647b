// SPDX-License-Identifier: Apache-2.0

pub(crate) mod arrangement;
pub(crate) mod change;
pub(crate) mod contraction;
pub(crate) mod convolution;
pub(crate) mod direction;
pub(crate) mod factor;
pub(crate) mod generic;
pub(crate) mod movement;
pub(crate) mod operand;
pub(crate) mod payload;
pub(crate) mod raise_to_named_linalg;
pub(crate) mod reduction;
pub(crate) mod signature;
pub(crate) mod table;
pub(crate) mod write;
