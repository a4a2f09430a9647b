// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A variable of several instances has one type (2.10): they read one file.
pub static SHARED_VARIABLE: Code = Code {
    id: "SK1059",
    title: "instances of one name have different variables",
    explanation: r#"Instances with one label share their variables, and so do invocations of a graph without a label: their names
are the names of files. Their types and shapes must be equal.

    a = lab: dense{units=3}(x);    b = lab: dense{units=4}(x);     # which of them is lab.w?
    # rather
    a = small: dense{units=3}(x);  b = large: dense{units=4}(x);
"#,
};

pub(super) use SHARED_VARIABLE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    const SCALED: &str = "@input { a: real[n]; } @output { b: real[n]; } @variable { w: real[n]; } \
        @lower { b[i,] = a[i,] * w[i,], i < n; }";

    #[test]
    fn fires() {
        let document = with_operator(SCALED, "y = lab: f(x); u = lab: f(z);");
        assert_fires(&SHARED_VARIABLE, &document);
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator(SCALED, "y = lab: f(x); u = f(z);"));
        // One file for both.
        let model = composed(&with_operator(SCALED, "u = lab: f(x); y = lab: f(u);")).unwrap();
        assert_eq!(model.variables.len(), 1);
    }
}
