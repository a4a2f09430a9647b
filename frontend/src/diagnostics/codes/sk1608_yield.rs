// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A block without `yield`, or with something after it (2.10.1).
pub static YIELD: Code = Code {
    id: "SK1608",
    title: "a block does not end with yield",
    explanation: r#"A block of a composition ends with `yield` and the tensors that are its results.

    y = { z = neg(x); };            # wrong
    y = { z = neg(x); yield z; };   # right
"#,
};

pub(super) use YIELD as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::testing::codes;

    #[test]
    fn fires() {
        assert_eq!(codes("graph G { @compose { y = { z = x; }; } }"), [YIELD.id]);
    }

    #[test]
    fn near_miss() {
        assert!(codes("graph G { @compose { y = { z = x; yield z; }; } }").is_empty());
    }
}
