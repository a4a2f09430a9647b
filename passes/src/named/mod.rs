// SPDX-License-Identifier: Apache-2.0

pub mod arrangement;
pub mod change;
pub mod contraction;
pub mod convolution;
pub mod direction;
pub mod factor;
pub mod generic;
pub mod movement;
pub mod operand;
pub mod payload;
pub mod raise_to_named_linalg;
pub mod reduction;
pub mod signature;
pub mod table;
pub mod write;
