use crate::diagnostics::Code;

/// Every index of a formula has one bound (2.12).
pub static DUPLICATE_INDEX: Code = Code {
    id: "SK1208",
    title: "an index is bounded twice",
    explanation: "\
Every index of a formula has one bound (2.12).

    y[i,] = 1.0, i < n, i < n;   # wrong
    y[i,] = 1.0, i < n;   # right
",
};

pub(super) use DUPLICATE_INDEX as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&DUPLICATE_INDEX, &in_lower("y[i,] = 1.0, i < a, i < a;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_lower("y[i,] += 1.0, i < a, j < a;"));
    }
}
