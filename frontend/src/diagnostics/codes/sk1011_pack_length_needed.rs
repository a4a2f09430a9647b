// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A name that receives a pack states its length, as does a list of names (2.10).
pub static PACK_LENGTH_NEEDED: Code = Code {
    id: "SK1011",
    title: "a packed result needs a length",
    explanation: "\
A name that receives a pack states its length, as does a list of names (2.10).

    ys = split{n=2}(x);   # wrong
    ys..(2) = split{n=2}(x);   # right
",
};

pub(super) use PACK_LENGTH_NEEDED as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&PACK_LENGTH_NEEDED, &in_compose("zs = split{n=2}(x); y = id(x);"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("zs..(2) = split{n=2}(x); [u, v] = split{n=2}(x); y = add(u, zs[0]);"));
    }
}
