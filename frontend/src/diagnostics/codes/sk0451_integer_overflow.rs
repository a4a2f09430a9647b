// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Compile-time ints are 64-bit; a result beyond that range has no value. In the edition khronos infinity is not an int.
pub static INTEGER_OVERFLOW: Code = Code {
    id: "SK0451",
    title: "an integer does not fit in 64 bits",
    explanation: "\
Compile-time ints are 64-bit; a result beyond that range has no value. A real that is too large becomes the nearest
int; in the edition khronos `int(inf)` and `int(-inf)` are errors.

    n = 2 ** 64;
    # rather
    n = 2 ** 62;
",
};

pub(super) use INTEGER_OVERFLOW as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;
    use crate::program::Edition;

    #[test]
    fn fires() {
        assert_fires(&INTEGER_OVERFLOW, &with_symbols("v = 2 ** (k + 60);"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_symbols("v = 2 ** (k + 59);"));
    }

    #[test]
    fn editions_infinity_is_no_int() {
        for value in ["int(inf)", "int(-inf)", "int([1.0, 2.0 * inf])"] {
            let text = with_symbols(&format!("v = {value};"));
            assert_fires_in(Edition::Khronos, &INTEGER_OVERFLOW, &text);
            assert_composes_in(Edition::Draft6, &text);
        }
        for value in ["int(1e30)", "int(1.0 / inf)", "int(k < 4 ? 2.0 : inf)"] {
            assert_composes_in(Edition::Khronos, &with_symbols(&format!("v = {value};")));
        }
    }
}
