//! Operator instances and their invocations, before they are inlined.

pub mod keep_operators;
