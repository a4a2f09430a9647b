// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// `+=`, `*=`, `<=`, `>=` accumulate int and real, `&=` and `|=` accumulate bool (2.12).
pub static ACCUMULATION_TYPE: Code = Code {
    id: "SK1204",
    title: "an accumulation does not support the type of the output",
    explanation: "\
`+=`, `*=`, `<=`, `>=` accumulate int and real, `&=` and `|=` accumulate bool (2.12).

    @output { y: real[n]; } @lower { y[i,] &= x[i,], i < n; }   # wrong
    @output { y: bool[n]; } @lower { y[i,] &= x[i,] > 0.0, i < n; }   # right
",
};

pub(super) use ACCUMULATION_TYPE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&ACCUMULATION_TYPE, &in_lower("y[i,] &= line[i,] > 0.0, i < a;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_lower("y[i,] += line[i,], i < a;"));
    }
}
