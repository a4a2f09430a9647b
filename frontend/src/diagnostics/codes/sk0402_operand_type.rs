use crate::diagnostics::Code;

/// Arithmetic is for int and real, logic for bool; comparisons and `!= ..`, `== ..`, `:= ..` for every type.
/// A generic type must allow the operator for all that it may stand for (2.4, 2.13).
pub static OPERAND_TYPE: Code = Code {
    id: "SK0402",
    title: "an operator does not take this type",
    explanation: "\
Arithmetic is for int and real, logic for bool; comparisons and `!= ..`, `== ..`, `:= ..` for every type. A
generic type must allow the operator for all that it may stand for (2.4, 2.13).

    v = !n;   # wrong
    v = !(n == 0);   # right
",
};

pub(super) use OPERAND_TYPE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&OPERAND_TYPE, &in_using("v = -f;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_using("v = -n; u = s == S(); z = t * t;"));
    }
}
