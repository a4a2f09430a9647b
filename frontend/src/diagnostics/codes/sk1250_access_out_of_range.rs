// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// An index that is out of bounds in some step must be guarded, as in `x[|i - 1|,]` (2.12).
pub static ACCESS_OUT_OF_RANGE: Code = Code {
    id: "SK1250",
    title: "an index is out of bounds",
    explanation: "An index that is out of bounds in some step must be guarded, as in `x[|i - 1|,]` (2.12).\n\
        \n    y[i,] = x[i + 1,], i < n;   # x: real[n]\n    # rather\n    y[i,] = x[|i + 1|,], i < n;\n\
        \nAn access that no step evaluates is not an error, as in `i + 1 < n ? x[i + 1,] : 0.0`. An index that depends on data \
        needs no guard: a read uses the nearest element, a write is dropped.\n",
};

pub(super) use ACCESS_OUT_OF_RANGE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&ACCESS_OUT_OF_RANGE, &with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i + 1,], i < n; }", "y = f(x);"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[|i + 1|,], i < n; }", "y = f(x);"));
    }
}
