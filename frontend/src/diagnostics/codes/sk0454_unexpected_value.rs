use crate::diagnostics::Code;

/// The expression gives null, a pack, a tensor or a scalar of another type than this place needs.
pub static UNEXPECTED_VALUE: Code = Code {
    id: "SK0454",
    title: "a value is of a kind that this place does not take",
    explanation: "The expression gives null, a pack, a tensor or a scalar of another type than this place needs.\n\
        \n    int..(k) items where k is 'abc'\n    # rather\n    int..(k) items where k is 3\n",
};

pub(super) use UNEXPECTED_VALUE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&UNEXPECTED_VALUE, &with_symbols("v = -word;"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_symbols("v = -k;"));
    }
}
