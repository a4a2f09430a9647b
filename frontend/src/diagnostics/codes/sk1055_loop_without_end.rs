use crate::diagnostics::Code;

/// A loop needs a `for` clause, a count or a condition (2.10.1).
pub static LOOP_WITHOUT_END: Code = Code {
    id: "SK1055",
    title: "a loop has no count and no condition",
    explanation: "A loop needs a `for` clause, a count or a condition (2.10.1).\n\
        \n    with a = x do f(a)\n    # rather\n    with a = x do..(3) f(a)\n",
};

pub(super) use LOOP_WITHOUT_END as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&LOOP_WITHOUT_END, &with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = with p = x do f(p);"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = with p = x do..(2) f(p);"));
    }
}
