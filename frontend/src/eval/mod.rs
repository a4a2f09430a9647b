//! Compile-time values and the expressions over them (2.4).
