// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Indices run from 0 to the pack's length - 1, or from -1 (the last item) down to minus the length (2.4).
pub static INDEX_OUT_OF_RANGE: Code = Code {
    id: "SK0452",
    title: "an index is outside of its pack",
    explanation: "Indices run from 0 to the pack's length - 1, or from -1 (the last item) down to minus the length (2.4).\n\
        \n    [5, 6][2]\n    # rather\n    [5, 6][1]\n",
};

pub(super) use INDEX_OUT_OF_RANGE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&INDEX_OUT_OF_RANGE, &with_symbols("v = p[2];"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_symbols("v = p[-2];"));
    }
}
