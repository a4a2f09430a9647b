// SPDX-License-Identifier: Apache-2.0
//! The versions of ONNX operators: the operator sets that changed them.

use super::signatures::{FIRST, all};

/// Lists the versions of an operator, beginning with the version that is valid in set 7; empty for operators of other domains.
pub(super) fn text(name: &str) -> String {
    if name.contains('.') {
        return String::new();
    }
    let all = all(name);
    // Operators that are newer than set 7 have no earlier version to skip.
    let first = all.iter().rposition(|s| s.since <= FIRST).unwrap_or(0);
    let shown: Vec<String> = all.iter().skip(first).map(|s| s.since.to_string()).collect();
    shown.join(", ")
}

/// Whether an operator has changed from an operator set before [`FIRST`] to [`FIRST`].
pub(super) fn has_changed(name: &str, opset: i64) -> bool {
    let mut versions = all(name).iter().map(|s| s.since);
    versions.any(|version| version > opset && version <= FIRST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_that_changed_up_to_set_7_are_detected() {
        assert!(has_changed("Pow", 6));
        assert!(has_changed("PRelu", 6));
        assert!(has_changed("Dropout", 1));
        assert!(!has_changed("Relu", 6));
        assert!(!has_changed("Pow", 7));
        assert!(!has_changed("MatMul", 1));
    }

    #[test]
    fn versions_begin_with_that_of_set_7() {
        assert_eq!(text("Slice"), "1, 10, 11, 13");
        assert_eq!(text("Relu"), "6, 13, 14");
        assert_eq!(text("Frobnicate"), "");
    }

    #[test]
    fn all_operators_have_versions() {
        for group in super::super::GROUPS {
            for operator in group.operators {
                assert!(!all(&operator.full_name()).is_empty(), "{}", operator.name);
            }
        }
    }
}
