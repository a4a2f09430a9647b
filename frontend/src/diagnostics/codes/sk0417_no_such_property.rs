// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Single tensors have `.shape` and `.rank`, packs of tensors have `.size` (2.4).
pub static NO_SUCH_PROPERTY: Code = Code {
    id: "SK0417",
    title: "a name has no such property",
    explanation: "\
Single tensors have `.shape` and `.rank`, packs of tensors have `.size` (2.4).

    @input { xs: real[n]..; } @using { v = xs.shape; }   # wrong
    @input { xs: real[n]..; } @using { v = xs.size; }   # right
",
};

pub(super) use NO_SUCH_PROPERTY as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&NO_SUCH_PROPERTY, &in_using("v = xs.shape;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_using("v = xs.size; u = x.shape; z = x.rank;"));
    }
}
