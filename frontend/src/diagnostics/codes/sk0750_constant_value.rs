// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A constant has one value, one value for each element, or an expression of index symbols (2.7).
pub static CONSTANT_VALUE: Code = Code {
    id: "SK0750",
    title: "a constant's value does not fit its declaration",
    explanation: "A constant has one value, one value for each element, or an expression of index symbols (2.7).\n\
        \n    c: real[3] = [1.0, 2.0];\n    # rather\n    c: real[3] = [1.0, 2.0, 3.0];\n",
};

pub(super) use CONSTANT_VALUE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&CONSTANT_VALUE, &with_operator("@input { a: real[n]; } @constant { c: real[3] = [1.0, 2.0]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = f(x);"));
    }

    #[test]
    fn index_symbols_run_over_the_dimensions() {
        let with = |bounds: &str| with_operator(&format!("@input {{ a: real[n]; }} @constant {{ c: real[2,3] = real(10 * i), {bounds}; }} @output {{ b: real[n]; }} @lower {{ b[i,] = a[i,], i < n; }}"), "y = f(x);");
        assert_fires(&CONSTANT_VALUE, &with("i < 3, j < 2"));
        assert_fires(&CONSTANT_VALUE, &with("i < 6"));
        assert_composes(&with("i < 2, j < 3"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator("@input { a: real[n]; } @constant { c: real[3] = [1.0, 2.0, 3.0]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = f(x);"));
    }
}
