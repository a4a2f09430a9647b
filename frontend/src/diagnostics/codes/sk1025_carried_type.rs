// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A variable of `with` keeps its type from step to step (2.10.1).
pub static CARRIED_TYPE: Code = Code {
    id: "SK1025",
    title: "a loop variable changes its type",
    explanation: "\
A variable of `with` keeps its type from step to step (2.10.1).

    y = with u = x do..(2) less(u);   # wrong
    y = with u = x do..(2) id(u);   # right
",
};

pub(super) use CARRIED_TYPE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&CARRIED_TYPE, &in_compose("z = with u = x do..(2) less(u); y = x;"));
        assert_fires(&CARRIED_TYPE, &in_compose("y = with u: real[4] = [x, x] do..(2) id(u);"));
        assert_fires(&CARRIED_TYPE, &in_compose("z.. = with u: real[4]..(2) = x do..(2) split{n=2}(x); y = x;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("y = with u: real[4] = 0 do..(2) add(u, x);"));
        assert_silent(&in_compose("z.. = with u: real[4]..(3) = xs do..(2) split{n=3}(x); y = x;"));
    }
}
