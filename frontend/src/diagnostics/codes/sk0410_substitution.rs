// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// `a[i] <- b` replaces items of a by items of the same type, one for each index (2.4).
pub static SUBSTITUTION: Code = Code {
    id: "SK0410",
    title: "the replacement does not fit",
    explanation: "\
`a[i] <- b` replaces items of a by items of the same type, one for each index (2.4).

    v = p[0] <- 1.5;   # wrong
    v = p[0] <- 1;   # right
",
};

pub(super) use SUBSTITUTION as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&SUBSTITUTION, &in_using("v = p[0] <- r;"));
        assert_fires(&SUBSTITUTION, &in_using("v = p[[0, 1]] <- 1;"));
        assert_fires(&SUBSTITUTION, &in_using("v = p[1:] <- n;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_using("v = p[0] <- 1; u = p[[0, 1]] <- [2, 3];"));
    }
}
