use crate::diagnostics::Code;

/// The tensor that is composed must have the output's declared type, rank and extents (2.10).
pub static OUTPUT_MISMATCH: Code = Code {
    id: "SK0655",
    title: "a result does not fit the declared output",
    explanation: "The tensor that is composed must have the output's declared type, rank and extents (2.10).\n\
        \n    y: real[2] computed as a tensor of shape [3]\n    # rather\n    y: real[3]\n",
};

pub(super) use OUTPUT_MISMATCH as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&OUTPUT_MISMATCH, &with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = f(z);"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = f(x);"));
    }
}
