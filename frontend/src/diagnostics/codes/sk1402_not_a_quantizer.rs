// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A quantization is an operator with exactly one input and one output (2.14).
pub static NOT_A_QUANTIZER: Code = Code {
    id: "SK1402",
    title: "an operator cannot quantize",
    explanation: "\
A quantization is an operator with exactly one input and one output (2.14).

    @quantize { x: math.add; }   # wrong
    @quantize { x: quant.min_max_linear_quantize{min=0.0, max=1.0, bits=8}; }   # right
",
};

pub(super) use NOT_A_QUANTIZER as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&NOT_A_QUANTIZER, &in_document("operator q { @input { x: real[s..]; z: real[s..]; } @output { y: real[s..]; } } graph G { @input { x: real[2]; } @output { y: real[2]; } @compose { y = x; } @quantize { x: q; } }"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_document("operator q { @input { x: real[s..]; } @output { y: real[s..]; } } graph G { @input { x: real[2]; } @output { y: real[2]; } @compose { y = x; } @quantize { x: q; } }"));
    }
}
