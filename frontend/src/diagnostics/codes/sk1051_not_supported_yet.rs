use crate::diagnostics::Code;

/// The language has it, this compiler does not yet.
pub static NOT_SUPPORTED_YET: Code = Code {
    id: "SK1051",
    title: "this construct cannot be composed yet",
    explanation: "The language has it, this compiler does not yet.\n",
};

pub(super) use NOT_SUPPORTED_YET as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    const FORMULA: &str = "@input { a: real[n]; } @output { b: real[n]; } @variable { w: real[n]; } \
        @lower { b[i,] = a[i,] * w[i,], i < n; }";

    #[test]
    fn fires() {
        let text = with_operator(&format!("{FORMULA} @update {{ w = pass(a); }}"), "y = f(x);");
        assert_fires(&NOT_SUPPORTED_YET, &text);
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator(FORMULA, "y = f(x);"));
    }
}
