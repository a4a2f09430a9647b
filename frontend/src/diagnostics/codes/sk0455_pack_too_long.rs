// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Lengths of packs are limited so that a document cannot exhaust memory.
pub static PACK_TOO_LONG: Code = Code {
    id: "SK0455",
    title: "a pack is longer than the limit",
    explanation: "Lengths of packs are limited so that a document cannot exhaust memory.\n\
        \n    [0 ..(1000000000000)]\n    # rather\n    [0 ..(1000)]\n",
};

pub(super) use PACK_TOO_LONG as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&PACK_TOO_LONG, &with_symbols("v = [0 ..(k * 10000000)];"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_symbols("v = [0 ..(k * 10)];"));
    }
}
