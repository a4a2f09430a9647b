// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Compile-time expressions compute with attributes and shapes, formulas with elements of tensors (2.4).
pub static TENSOR_AS_VALUE: Code = Code {
    id: "SK0419",
    title: "a tensor is used as a scalar value",
    explanation: "\
Compile-time expressions compute with attributes and shapes, formulas with elements of tensors (2.4).

    @lower { y[i,] = x, i < n; }   # wrong
    @lower { y[i,] = x[i,], i < n; }   # right

An extent has a name of its own, which no tensor has.

    @input { x: real[b]; b: real[b]; }   # wrong
    @input { x: real[n]; b: real[n]; }   # right
",
};

pub(super) use TENSOR_AS_VALUE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&TENSOR_AS_VALUE, &in_lower("y[i,] = line, i < a;"));
    }

    /// The index of a loop is a tensor; that of an unrolled one is a number.
    #[test]
    fn s2_10_items_of_packs_are_taken_by_numbers() {
        let step = |how: &str| in_compose(&format!("y = with s = x {how}..(k -> 3) same(s, xs[k]);"));
        assert_fires(&TENSOR_AS_VALUE, &step("do"));
        assert_silent(&step("unroll"));
    }

    /// A tensor that is named as an extent is reported once, however often it is used.
    #[test]
    fn tensors_are_no_extents() {
        let graph = |extent: &str| {
            in_document(&format!(
                "graph G {{ @input {{ x: real[{extent}|8]; b: real[{extent}]; }} @output {{ y: real[{extent}]; }} @compose {{ y = x; }} }}"
            ))
        };
        let found = check(&graph("b"));
        let messages: Vec<&str> = found.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(messages, ["`b` is an input, so it cannot name an extent"]);
        assert_silent(&graph("n"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_lower("y[i,] = line[i,], i < a;"));
    }
}
