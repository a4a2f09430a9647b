// SPDX-License-Identifier: Apache-2.0
//! Invocations of operators: arguments, binding of parameters, instances.

pub mod arguments;
pub mod attribute_lengths;
pub mod binding;
pub mod coercion;
pub mod default_input;
pub mod deferred_attributes;
pub mod generic_types;
pub mod instance;
pub mod invocation;
pub mod invocation_count;
pub mod tensor_identity;
