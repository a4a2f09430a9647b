//! Instantiates a graph: attribute values, shapes, helpers, assertions, invocations, formulas in normal form (chapter 3).
