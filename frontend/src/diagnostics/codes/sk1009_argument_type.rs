// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Type and packedness of an argument are those that the input declares; compile-time scalars are tensors of
/// rank 0, and ints among them may stand for reals (2.10).
pub static ARGUMENT_TYPE: Code = Code {
    id: "SK1009",
    title: "an argument does not fit its input",
    explanation: "\
An argument has the declared type of the input, and is a pack if the input is. Compile-time scalars become tensors of
rank 0, and ints among them are converted to reals (2.10).

    y = scale{k=1.0}(flags);   # wrong: flags: bool[4]
    y = scale{k=1.0}(x);   # right: x: real[4]
",
};

pub(super) use ARGUMENT_TYPE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&ARGUMENT_TYPE, &in_compose("y = scale{k=1.0}(b);"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("y = add(x, 1);"));
    }
}
