use crate::diagnostics::Code;

/// The declared shape has more or fewer dimensions than the tensor, or an access more or fewer indices (2.6).
pub static RANK_MISMATCH: Code = Code {
    id: "SK0650",
    title: "a tensor has another rank than needed",
    explanation: "The declared shape has more or fewer dimensions than the tensor, or an access more or fewer indices (2.6).\n\
        \n    x: real[m,n] invoked with a tensor of shape [2,3,4]\n    # rather\n    x: real[m,n] invoked with a tensor of shape [2,3]\n",
};

pub(super) use RANK_MISMATCH as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&RANK_MISMATCH, &with_operator("@input { a: real[n,m]; } @output { b: real[n]; } @lower { b[i,] = 0.0, i < n; }", "y = f(x);"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = f(x);"));
    }
}
