// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// An unknown block (2.2).
pub static BLOCK_NAME: Code = Code {
    id: "SK1603",
    title: "a block has an unknown name",
    explanation: r#"An operator or graph consists of blocks @dtype, @attrib, @input, @using, @constant, @variable, @output, @assert,
@lower, @compose, @update and @quantize.

    @lowering { … }   # wrong
    @lower { … }      # right
"#,
};

pub(super) use BLOCK_NAME as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::testing::codes;

    #[test]
    fn fires() {
        assert_eq!(codes("operator o { @lowering { } }"), [BLOCK_NAME.id]);
    }

    #[test]
    fn near_miss() {
        assert!(codes("operator o { @lower { } }").is_empty());
    }
}
