use crate::diagnostics::Code;

/// `|i|` says which positions a tensor is read at; it stands in an index, or in an intermediate that does (2.12).
pub static GUARD_AS_VALUE: Code = Code {
    id: "SK0423",
    title: "a guard is no value",
    explanation: "\
`|i|` says which positions a tensor is read at; it stands in an index, or in an intermediate that does (2.12).

    @lower { y[i,] = |i - 1|, i < n; }   # wrong
    @lower { y[i,] = x[|i - 1|,], i < n; }   # right
    @lower { k = |i - 1|, y[i,] = x[k,], i < n; }   # right
",
};

pub(super) use GUARD_AS_VALUE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&GUARD_AS_VALUE, &in_lower("y[i,] = x[i,0], i < a | |i| > 1;"));
        assert_fires(&GUARD_AS_VALUE, &in_lower("y[i,] = x[i,0] + real(|i|), i < a;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_lower("y[i,] = x[|i - 1|,0], i < a;"));
        assert_silent(&in_lower("k = |i - 1|, y[i,] = x[k,0], i < a;"));
    }
}
