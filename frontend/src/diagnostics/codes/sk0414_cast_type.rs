// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Casts are for int, real and bool (2.4); numbers become text in a string, `"{n}"`.
pub static CAST_TYPE: Code = Code {
    id: "SK0414",
    title: "a cast from or to a string",
    explanation: "\
Casts are for int, real and bool (2.4); numbers become text in a string, `\"{n}\"`.

    v = int(w);   # wrong
    v = int(r);   # right
",
};

pub(super) use CAST_TYPE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&CAST_TYPE, &in_using("v = int(w);"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_using(r#"v = int(r); u = T(n); z = "{n}";"#));
    }
}
