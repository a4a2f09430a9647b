// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The tensor must exist in the graph and the operator must have one input and one output (2.14).
pub static QUANTIZATION: Code = Code {
    id: "SK1450",
    title: "a quantization entry does not fit",
    explanation: "The tensor must exist in the graph and the operator must have one input and one output (2.14).\n\
        \n    nothing: quant.linear{…};\n    # rather\n    x: quant.linear{…};\n",
};

pub(super) use QUANTIZATION as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    fn quantized(tensor: &str) -> String {
        with_operator(
            "@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }",
            "y = pass(x);",
        )
        .replace("graph G {", &format!("graph G {{ @quantize {{ {tensor}: f; }} "))
    }

    #[test]
    fn fires() {
        assert_fires(&QUANTIZATION, &quantized("nothing"));
        assert_fires(&QUANTIZATION, &quantized("x").replace("x: f;", "x: f; G.x: f;"));
    }

    /// Of what is not public, variables and constants have names outside, also further out.
    #[test]
    fn s2_10_constants_of_private_operators_have_names() {
        let held = "operator held { @input { a: real[n]; } @output { b: real[n]; } @constant { k: real[4] = 1.5; } \
            @variable { w: real[4]; } @compose { t = pass(a); u = pass(w); b = pass(k); } } \
            operator around { @input { a: real[n]; } @output { b: real[n]; } @compose { s = pass(a); b = inner: held(s); } } ";
        let text = |tensor: &str| {
            let graph = quantized(tensor).replace("y = pass(x);", "y = l: held(x); v = o: around(x);");
            format!("{held}{graph}")
        };
        for known in ["l.k", "l.w", "o.inner.k", "o.inner.w"] {
            assert_composes(&text(known));
        }
        for inside in ["l.t", "o.s", "o.inner.t"] {
            assert_fires(&QUANTIZATION, &text(inside));
        }
        assert_composes(&text("l.t").replace("operator held", "public operator held"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&quantized("x"));
        let block = quantized("l.t").replace("y = pass(x);", "y = l: { t = f(x); r = f(t); yield r; };");
        assert_composes(&block);
    }
}
