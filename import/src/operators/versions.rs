// SPDX-License-Identifier: Apache-2.0
//! The versions of ONNX's operators: the operator sets since which they are as they are.

use super::signatures::{FIRST, all};

/// The versions of an operator from set 7 on, and the one that is in force there; empty for an operator of another domain.
pub(super) fn text(name: &str) -> String {
    if name.contains('.') {
        return String::new();
    }
    let all = all(name);
    let first = all.iter().rposition(|s| s.since <= FIRST).unwrap_or(0);
    let shown: Vec<String> = all.iter().skip(first).map(|s| s.since.to_string()).collect();
    shown.join(", ")
}

/// Whether an operator of an operator set before [`FIRST`] is another one from that on.
pub(super) fn has_changed(name: &str, opset: i64) -> bool {
    let mut versions = all(name).iter().map(|s| s.since);
    versions.any(|version| version > opset && version <= FIRST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_before_set_7_are_others_if_they_changed() {
        assert!(has_changed("Pow", 6));
        assert!(has_changed("PRelu", 6));
        assert!(has_changed("Dropout", 1));
        assert!(!has_changed("Relu", 6));
        assert!(!has_changed("Pow", 7));
        assert!(!has_changed("MatMul", 1));
    }

    #[test]
    fn versions_begin_where_set_7_is() {
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
