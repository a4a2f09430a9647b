// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// `@quantize` names inputs, outputs, intermediates, variables and constants of the same definition, or
/// scoped names (2.14).
pub static QUANTIZED_TENSOR: Code = Code {
    id: "SK1401",
    title: "a tensor to quantize does not exist",
    explanation: "\
`@quantize` names inputs, outputs, intermediates, variables and constants of the same definition, or scoped
names (2.14).

    @quantize { nothing: q{bits=8}; }   # wrong
    @quantize { x: q{bits=8}; }   # right
",
};

pub(super) use QUANTIZED_TENSOR as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&QUANTIZED_TENSOR, &in_document("operator q { @attrib { bits: int; } @input { x: real[s..]; } @output { y: real[s..]; } } graph G { @input { x: real[2]; } @output { y: real[2]; } @compose { y = x; } @quantize { nothing: q{bits=8}; } }"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_document("operator q { @attrib { bits: int; } @input { x: real[s..]; } @output { y: real[s..]; } } graph G { @input { x: real[2]; } @output { y: real[2]; } @compose { y = x; } @quantize { x: q{bits=8}; a.b: q{bits=4}; } }"));
    }
}
