// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A generic type is given explicitly, deduced from arguments, or has a default, and must satisfy its bound (2.13).
pub static TYPE_DEDUCTION: Code = Code {
    id: "SK1350",
    title: "a generic type cannot be determined",
    explanation: "A generic type is given explicitly, deduced from arguments, or has a default, and must satisfy its bound (2.13).\n\
        \n    x = uniform{shape=[2]}();\n    # rather\n    x = uniform<real>{shape=[2], value=1.0}();\n",
};

pub(super) use TYPE_DEDUCTION as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&TYPE_DEDUCTION, &with_operator("@dtype { T: num; } @attrib { t: optional T; } @input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = f(x);"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator("@dtype { T: num; } @attrib { t: optional T; } @input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = f<int>(x);"));
    }
}
