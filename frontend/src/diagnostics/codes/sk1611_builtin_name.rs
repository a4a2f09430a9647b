// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// An unknown built-in function (2.4).
pub static BUILTIN_NAME: Code = Code {
    id: "SK1611",
    title: "a built-in function has an unknown name",
    explanation: r#"The name between back-ticks is one of: abs, acos, acosh, asin, asinh, atan, atanh, ceil, cos, cosh, erf, exp, floor,
frac, log, round, sign, sin, sinh, sqrt, tan, tanh.
"#,
};

pub(super) use BUILTIN_NAME as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::testing::codes;

    #[test]
    fn fires() {
        assert_eq!(codes("operator o { @using { a = `sine`(b); } }"), [BUILTIN_NAME.id]);
    }

    #[test]
    fn near_miss() {
        assert!(codes("operator o { @using { a = `sin`(b); } }").is_empty());
    }
}
