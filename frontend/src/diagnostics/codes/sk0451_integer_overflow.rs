use crate::diagnostics::Code;

/// Compile-time ints are 64-bit; a result beyond that range has no value.
pub static INTEGER_OVERFLOW: Code = Code {
    id: "SK0451",
    title: "an integer does not fit in 64 bits",
    explanation: "Compile-time ints are 64-bit; a result beyond that range has no value.\n\
        \n    n = 2 ** 64;\n    # rather\n    n = 2 ** 62;\n",
};

pub(super) use INTEGER_OVERFLOW as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&INTEGER_OVERFLOW, &with_symbols("v = 2 ** (k + 60);"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_symbols("v = 2 ** (k + 59);"));
    }
}
