// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A number (2.4).
pub static NUMBER: Code = Code {
    id: "SK1607",
    title: "a number is malformed",
    explanation: r#"Integers have digits only and fit in 64 bits; reals have a point or an exponent with digits. A blank separates an
integer from `..`.

    [1..(5)]    # wrong
    [1 ..(5)]   # right
"#,
};

pub(super) use NUMBER as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::testing::codes;

    #[test]
    fn fires() {
        assert_eq!(codes("operator o { @using { a = [1..(5)]; } }"), [NUMBER.id]);
    }

    #[test]
    fn the_smallest_int_is_one() {
        let using = |lines: &str| codes(&format!("operator o {{ @using {{ {lines} }} }}"));
        assert!(using("a = -9223372036854775808; b = [1, - 9223372036854775808];").is_empty());
        assert_eq!(using("a = 9223372036854775808;"), [NUMBER.id]);
        assert_eq!(using("a = -9223372036854775809;"), [NUMBER.id]);
        assert_eq!(using("a = -9223372036854775808 ** 2;"), [NUMBER.id]);
    }

    #[test]
    fn near_miss() {
        assert!(codes("operator o { @using { a = [1 ..(5)]; } }").is_empty());
    }
}
