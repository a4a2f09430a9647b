// SPDX-License-Identifier: Apache-2.0
//! Invocations of operators: arguments, binding of parameters, instances.

pub(super) mod arguments;
pub(crate) mod attribute_lengths;
pub(super) mod attributes;
pub(super) mod binding;
pub(super) mod builder;
pub(crate) mod default_input;
mod edition_warning;
pub(crate) mod generic_types;
pub(super) mod instance;
pub(super) mod invocation;
pub(crate) mod invocation_count;
pub(crate) mod tensor_identity;
