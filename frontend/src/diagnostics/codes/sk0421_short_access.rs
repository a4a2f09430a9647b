// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// `x[i]` indexes a pack, `x[i,]` reads an element of a tensor of rank 1 (2.4). The short form is accepted
/// with a warning where the tensor can only be of rank 1.
pub static SHORT_ACCESS: Code = Code {
    id: "SK0421",
    title: "an access with one index needs a trailing comma",
    explanation: "\
`x[i]` indexes a pack, `x[i,]` reads an element of a tensor of rank 1 (2.4). The short form is accepted with a
warning where the tensor can only be of rank 1.

    y[i,] = x[i], i < n;   # wrong
    y[i,] = x[i,], i < n;   # right
",
};

pub(super) use SHORT_ACCESS as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;
    use crate::diagnostics::Severity;

    #[test]
    fn fires_as_a_warning_where_the_tensor_can_only_be_of_rank_one() {
        let found = check(&in_lower("y[i,] = line[i], i < a;"));
        let found: Vec<_> = found.iter().map(|d| (d.code.id, d.severity)).collect();
        assert_eq!(found, [(SHORT_ACCESS.id, Severity::Warning)]);
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_lower("y[i,] = line[i,], i < a;"));
    }
}
