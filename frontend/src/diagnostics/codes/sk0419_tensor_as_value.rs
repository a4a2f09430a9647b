use crate::diagnostics::Code;

/// Compile-time expressions compute with attributes and shapes, formulas with elements of tensors (2.4).
pub static TENSOR_AS_VALUE: Code = Code {
    id: "SK0419",
    title: "a whole tensor stands where a value is needed",
    explanation: "\
Compile-time expressions compute with attributes and shapes, formulas with elements of tensors (2.4).

    @lower { y[i,] = x, i < n; }   # wrong
    @lower { y[i,] = x[i,], i < n; }   # right
",
};

pub(super) use TENSOR_AS_VALUE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&TENSOR_AS_VALUE, &in_lower("y[i,] = line, i < a;"));
    }

    /// The index of a loop is a tensor; that of an unrolled one is a number.
    #[test]
    fn s2_10_items_of_packs_are_taken_by_numbers() {
        let step = |how: &str| in_compose(&format!("y = with s = x {how}..(k -> 3) same(s, xs[k]);"));
        assert_fires(&TENSOR_AS_VALUE, &step("do"));
        assert_silent(&step("unroll"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_lower("y[i,] = line[i,], i < a;"));
    }
}
