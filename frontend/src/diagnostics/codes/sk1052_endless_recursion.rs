// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Chained invocations are limited; operators that invoke themselves unconditionally never end (2.10).
pub static ENDLESS_RECURSION: Code = Code {
    id: "SK1052",
    title: "operators invoke each other without end",
    explanation: "Chained invocations are limited; operators that invoke themselves unconditionally never end (2.10).\n\
        \n    operator f { … @compose { y = f(x); } }\n    # rather\n    operator f { … @compose { y = g(x); } }\n",
};

pub(super) use ENDLESS_RECURSION as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&ENDLESS_RECURSION, &with_operator("@input { a: real[n]; } @output { b: real[n]; } @compose { b = f(a); }", "y = f(x);"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator("@input { a: real[n]; } @output { b: real[n]; } @compose { b = pass(a); }", "y = f(x);"));
    }
}
