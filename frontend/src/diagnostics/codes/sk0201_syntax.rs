// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The text does not follow the grammar (2.16).
pub static SYNTAX: Code = Code {
    id: "SK0201",
    title: "the text does not follow the grammar",
    explanation: "The parser expected something else at this location; the message lists what is allowed there.\n\
        \n    y = add(x, 1.0     # wrong: the parenthesis is not closed\n    y = add(x, 1.0);   # right\n",
};

pub(super) use SYNTAX as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::testing::codes;

    #[test]
    fn fires() {
        assert_eq!(codes("operator o { @using { a = 1 +; } }"), [SYNTAX.id]);
    }

    #[test]
    fn fires_where_an_operator_is_invoked_in_an_expression() {
        use crate::check::testing::{assert_fires, in_compose};
        assert_fires(&SYNTAX, &in_compose("y = id(id(x));"));
        assert_fires(&SYNTAX, &in_compose("zs..(2) = [x, id(x)]; y = zs[1];"));
    }

    #[test]
    fn near_miss() {
        assert!(codes("operator o { @using { a = 1 + 2; } }").is_empty());
    }
}
