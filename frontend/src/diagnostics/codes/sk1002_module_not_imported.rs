// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Operators of other modules need an `import` in the file that uses them; imports of imported modules do not
/// count (2.15).
pub static MODULE_NOT_IMPORTED: Code = Code {
    id: "SK1002",
    title: "a module is not imported here",
    explanation: "\
Operators of other modules need an `import` in the file that uses them; imports of imported modules do not
count (2.15).

    graph G { @compose { y = nn.relu(x); } … }   # wrong
    import nn;  graph G { @compose { y = nn.relu(x); } … }   # right
",
};

pub(super) use MODULE_NOT_IMPORTED as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&MODULE_NOT_IMPORTED, &in_compose("y = nn.relu(x);"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("y = id(x);"));
    }
}
