// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Tokens of both editions in one module.
pub static EDITIONS_MIXED: Code = Code {
    id: "SK1514",
    title: "a module mixes two editions of the language",
    explanation: r#"The module has syntax that only the draft has and syntax that only the Khronos edition has. It is read as draft 6;
pass `--edition=khronos`, or write both tokens in one edition.

    b = a << 1.0; c = a <? 1.0;   # wrong: `<<` is the draft's minimum, `<?` the Khronos edition's
    b = a << 1.0; c = a << 1.0;   # right
"#,
};

pub(super) use EDITIONS_MIXED as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source_files::testing::loaded;

    fn using(lines: &str) -> Vec<&'static str> {
        let text = format!("operator o {{ @attrib {{ a: real; }} @using {{ {lines} }} }}");
        loaded(&[("main.sknd", text.as_bytes())])
    }

    #[test]
    fn fires() {
        assert_eq!(using("b = a << 1.0; c = a <? 1.0;"), [EDITIONS_MIXED.id]);
    }

    #[test]
    fn near_miss() {
        assert!(using("b = a << 1.0; c = `sqrt`(a);").is_empty());
        assert!(using("b = a <? 1.0; c = sqrt(a);").is_empty());
        // The draft has no bounds of lengths, so there is no other way to write them.
        let bounded = "operator o { @input { xs: real[2]..(k|3); } @using { b = k << 2; } @output { y: real[2]; } @lower { y[i,] = 0.0, i < 2; } }";
        assert!(loaded(&[("main.sknd", bounded.as_bytes())]).is_empty());
    }
}
