// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The items of a list have one type (2.4).
pub static LIST_TYPES_DIFFER: Code = Code {
    id: "SK0403",
    title: "items of a list have different types",
    explanation: "\
The items of a list have one type (2.4).

    v = [1, 2.0];   # wrong
    v = [1.0, 2.0];   # right
",
};

pub(super) use LIST_TYPES_DIFFER as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&LIST_TYPES_DIFFER, &in_using("v = [1, 2.0];"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_using("v = [1.0, 2.0]; u = [n, o];"));
    }
}
