// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// An invocation must set attributes that are not optional and have no default; a default of null counts as none (2.5).
pub static ATTRIBUTE_MISSING: Code = Code {
    id: "SK0550",
    title: "an attribute without default has no value",
    explanation: "An invocation must set attributes that are not optional and have no default; a default of null counts as none (2.5).\n\
        \n    y = slice{begin=[0]}(x);   # 'end' is missing\n    # rather\n    y = slice{begin=[0], end=[2]}(x);\n",
};

pub(super) use ATTRIBUTE_MISSING as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&ATTRIBUTE_MISSING, &with_operator("@attrib { s: real; } @input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = f(x);"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator("@attrib { s: real; } @input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = f{s=1.0}(x);"));
    }
}
