// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The value has the type that the attribute declares (an int may stand for a real); a pack takes one value
/// for all items; a single attribute accepts no pack (2.5, 2.10).
pub static ATTRIBUTE_TYPE: Code = Code {
    id: "SK1005",
    title: "an attribute has a value of the wrong type",
    explanation: "\
The value has the declared type of the attribute (an int is converted to a real). A pack accepts one value for
all items; a single attribute accepts no pack (2.5, 2.10).

    y = scale{k=\"big\"}(x);   # wrong
    y = scale{k=2.0}(x);   # right
",
};

pub(super) use ATTRIBUTE_TYPE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&ATTRIBUTE_TYPE, &in_compose("y = scale{k=1.0, n=1.5}(x);"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("y = scale{k=1, n=2, ks=3}(x);"));
    }
}
