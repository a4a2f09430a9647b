// SPDX-License-Identifier: Apache-2.0
//! Declared tensors, constants and helper symbols.

pub(super) mod captures;
pub(super) mod constant_elements;
pub(crate) mod helper_symbols;
pub(crate) mod label_spellings;
pub(super) mod outputs;
pub(super) mod tensors;
pub(super) mod types;
