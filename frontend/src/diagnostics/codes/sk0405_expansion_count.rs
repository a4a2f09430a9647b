// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// `x..` expands a pack; a single item is repeated with a count, `x ..(n)`, which is an int, or a bool for an
/// item that may be absent (2.4).
pub static EXPANSION_COUNT: Code = Code {
    id: "SK0405",
    title: "an expansion is not possible",
    explanation: "\
`x..` expands a pack; a single item is repeated with a count, `x ..(n)`, which is an int, or a bool for an
item that may be absent (2.4).

    v = [n..];   # wrong
    v = [n ..(3)];   # right
",
};

pub(super) use EXPANSION_COUNT as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&EXPANSION_COUNT, &in_using("v = [n..];"));
        assert_fires(&EXPANSION_COUNT, &in_using("v = [p ..(3)];"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_using("v = [n ..(3), p.., n ..(f)];"));
    }
}
