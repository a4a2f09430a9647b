// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A label names one instance (2.10).
pub static LABEL_TWICE: Code = Code {
    id: "SK1060",
    title: "two instances have the same label",
    explanation: r#"A label names an instance: its variables lie in files of that name, and `@quantize` finds its tensors by it. Two
instances of one label share their variables, which is rarely intended, except in different branches of an `if`.

    a = lab: dense(x);   b = lab: dense(a);     # one lab.w for both
    # rather
    a = first: dense(x); b = second: dense(a);
"#,
};

pub(super) use LABEL_TWICE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;
    use crate::diagnostics::Severity;

    #[test]
    fn fires_as_a_warning() {
        for components in [
            "u = l: id(x); y = l: id(u);",
            "u = id(x); y = u: id(u);",
            "u = l: { t = id(x); yield t; }; y = l: id(u);",
        ] {
            let found = check(&in_compose(components));
            let found: Vec<_> = found.iter().map(|d| (d.code.id, d.severity)).collect();
            assert_eq!(found, [(LABEL_TWICE.id, Severity::Warning)], "{components}");
        }
    }

    #[test]
    fn near_miss() {
        for components in [
            "u = l: id(x); y = m: id(u);",
            "u = l: { t = m: id(x); yield t; }; y = m: id(u);",
            "y = if b then l: id(x) else l: id(x);",
        ] {
            assert_silent(&in_compose(components));
        }
    }
}
