use crate::diagnostics::Code;

/// All branches must yield tensors of equal types; loop-carried values must keep their type (2.10.1).
pub static BRANCH_RESULTS: Code = Code {
    id: "SK1056",
    title: "branches or iterations give different results",
    explanation: "All branches must yield tensors of equal types; loop-carried values must keep their type (2.10.1).\n\
        \n    if c then x else floats_to_ints(x)\n    # rather\n    if c then x else neg(x)\n",
};

pub(super) use BRANCH_RESULTS as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&BRANCH_RESULTS, &with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = if flag then f(x) else z;"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = if flag then f(x) else x;"));
    }
}
