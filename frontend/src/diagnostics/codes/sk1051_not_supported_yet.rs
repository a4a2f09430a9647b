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

    #[test]
    fn fires() {
        assert_fires(&NOT_SUPPORTED_YET, &with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "c = with p = [x, x] do..(40) { yield p; }; y = f(x);"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "c = with p = x do..(40) { yield p; }; y = f(x);"));
    }
}
