// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A packed input accepts a pack of tensors, any other input one tensor; the element types must match (2.6).
pub static ARGUMENT_KIND: Code = Code {
    id: "SK0654",
    title: "an argument does not fit the declared input",
    explanation: "A packed input accepts a pack of tensors, any other input one tensor; the element types must match (2.6).\n\
        \n    y = sqrt(flags);   # a bool tensor\n    # rather\n    y = sqrt(values);\n",
};

pub(super) use ARGUMENT_KIND as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&ARGUMENT_KIND, &with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = f([x, x]);"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = f([x, x][0]);"));
    }
}
