// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Inputs of operators, and outputs that no composition gives a shape, have a shape; only graphs may omit it (2.6).
pub static SHAPE_MISSING: Code = Code {
    id: "SK0606",
    title: "a tensor of an operator has no shape",
    explanation: "\
Inputs of operators, and outputs that no composition gives a shape, have a shape; only graphs may omit it (2.6).

    operator o { @input { x: real; } … }   # wrong
    operator o { @input { x: real[]; } … }   # right: no dimensions, one element
    operator o { @input { x: real[s..]; } … }   # right: any number of dimensions
",
};

pub(super) use SHAPE_MISSING as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        let of = |input: &str, output: &str| {
            in_module(&format!(
                "operator o {{ @input {{ x: {input}; }} @output {{ y: {output}; }} @lower {{ y[] = 0.0; }} }}"
            ))
        };
        assert_fires(&SHAPE_MISSING, &of("real", "real[]"));
        assert_fires(&SHAPE_MISSING, &of("real..(k)", "real[]"));
        assert_fires(&SHAPE_MISSING, &of("real[]", "real"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_document(
            "operator o { @input { x: real[]; } @output { y: real[]; } @lower { y[] = x[]; } }
            operator composed { @input { x: real[]; } @output { y: real; } @compose { y = o(x); } }
            graph G { @input { x: real[]; } @output { y: real; } @compose { y = H(x); } }
            graph H { @input { x: real; } @output { y: real; } @compose { y = composed(x); } }",
        ));
    }
}
