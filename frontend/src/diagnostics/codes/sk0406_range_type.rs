// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Bounds and strides of ranges are single ints (2.4).
pub static RANGE_TYPE: Code = Code {
    id: "SK0406",
    title: "a bound of a range is not an int",
    explanation: "\
Bounds and strides of ranges are single ints (2.4).

    v = [0:1.5];   # wrong
    v = [0:int(1.5)];   # right
",
};

pub(super) use RANGE_TYPE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&RANGE_TYPE, &in_using("v = [0:r];"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_using("v = [0:n:2];"));
    }
}
