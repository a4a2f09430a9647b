// SPDX-License-Identifier: Apache-2.0
//! Checks that each function ends with the return operation of the same dialect. The draft's `ml_program` functions are
//! parsed as `func` functions, so the parser does not check this.

use super::operations::starts;
use super::refusal::Refusal;

/// Refuses the return operations whose dialect differs from that of their function.
pub(crate) fn foreign_returns(text: &str) -> Vec<Refusal> {
    let mut function = None;
    let mut refusals = Vec::new();
    for start in starts(text) {
        let Some((dialect, operation)) = start.name.split_once('.') else {
            continue;
        };
        if !matches!(dialect, "func" | "ml_program") {
            continue;
        }
        match (operation, function) {
            ("func", _) => function = Some(dialect),
            ("return", Some(begun)) if begun != dialect => {
                let name = start.name;
                let message =
                    format!("'{name}' op ends a function that `{begun}.func` begins: write `{begun}.return`");
                refusals.push(Refusal::malformed_at(text, start.at, message));
            }
            _ => {}
        }
    }
    refusals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_have_the_dialect_of_their_function() {
        let text = "ml_program.func @f() {\n  func.return\n}\nfunc.func @g() {\n  ml_program.return\n}";
        let refusals = foreign_returns(text);
        let locations: Vec<_> = refusals.iter().filter_map(|r| r.source_position).collect();
        assert_eq!(locations, [(2, 3), (5, 3)]);
        assert_eq!(
            refusals.first().map(|r| r.message.as_str()),
            Some("'func.return' op ends a function that `ml_program.func` begins: write `ml_program.return`")
        );
        // Near misses: each function with its own return, and a return without a dialect prefix.
        for text in [
            "ml_program.func @f() {\n ml_program.return\n}\nfunc.func @g() {\n func.return\n}",
            "ml_program.func @f() {\n return\n}\n\"func.func\"() ({\n \"func.return\"() : () -> ()\n})",
        ] {
            assert_eq!(foreign_returns(text), []);
        }
    }
}
