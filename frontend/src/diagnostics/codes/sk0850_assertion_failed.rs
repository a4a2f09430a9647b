// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// An invocation must fulfil all conditions of the operator's @assert block (2.8).
pub static ASSERTION_FAILED: Code = Code {
    id: "SK0850",
    title: "an assertion of an operator does not hold",
    explanation: "An invocation must fulfil all conditions of the operator's @assert block (2.8).\n\
        \n    y = conv{stride=0}(x, f);\n    # rather\n    y = conv{stride=1}(x, f);\n",
};

pub(super) use ASSERTION_FAILED as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&ASSERTION_FAILED, &with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; } @assert { n > 4: 'too short', n; }", "y = f(x);"));
    }

    #[test]
    fn labels_are_formatted_as_messages_are() {
        let document = with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; } @assert { n > 4: 'short by {5 - n}', \"n of {2 + 3}\": n; }", "y = f(x);");
        let found = composed(&document).unwrap_err();
        let message = &found.first().unwrap().message;
        assert!(message.contains("short by 1; n of 5 = 4"), "{message}");
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; } @assert { n > 3: 'too short', n; }", "y = f(x);"));
    }
}
