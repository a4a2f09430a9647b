// SPDX-License-Identifier: Apache-2.0
//! Declared tensors, constants and helper symbols.

pub mod constant_elements;
pub mod helper_symbols;
pub mod label_spellings;
pub mod outputs;
pub mod tensors;
pub mod total_size;
