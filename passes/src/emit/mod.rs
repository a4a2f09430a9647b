//! Model → `skript` dialect: one file per construct.
