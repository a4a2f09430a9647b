// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Packs that are combined item by item must have equal lengths (2.4).
pub static PACK_LENGTHS_DIFFER: Code = Code {
    id: "SK0453",
    title: "packs have different lengths",
    explanation: "Packs that are combined item by item must have equal lengths (2.4).\n\
        \n    [1, 2] + [1, 2, 3]\n    # rather\n    [1, 2] + [3, 4]\n",
};

pub(super) use PACK_LENGTHS_DIFFER as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&PACK_LENGTHS_DIFFER, &with_symbols("v = p + [1, 2, 3];"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_symbols("v = p + [1, 2];"));
    }
}
