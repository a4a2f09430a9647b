// SPDX-License-Identifier: Apache-2.0
//! Every pass has a test folder named after its flag, with a positive test and `errors.mlir`.

use crate::tree::Tree;

pub fn check(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in tree.ending(&[".rs"]) {
        if !file.path.starts_with("passes/src/") {
            continue;
        }
        for flag in flags(&file.text) {
            let folder = format!("test/passes/{flag}/");
            let tests: Vec<&str> = tree.files.iter().filter_map(|f| f.path.strip_prefix(&folder)).collect();
            if !tests.iter().any(|t| t.ends_with(".mlir") && *t != "errors.mlir") {
                complaints.push(format!("{}: pass {flag} has no positive test in {folder}", file.path));
            }
            if !tests.contains(&"errors.mlir") {
                complaints.push(format!("{}: pass {flag} has no {folder}errors.mlir", file.path));
            }
        }
    }
    complaints
}

/// The flags of `const …: Pass = Pass { flag: "…", … }`. Flags of pipelines are not included.
fn flags(text: &str) -> Vec<&str> {
    crate::tree::without_tests(text)
        .split(": Pass = Pass {")
        .skip(1)
        .filter_map(|rest| {
            let named = rest.trim_start().strip_prefix("flag:")?;
            named.split('"').nth(1)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_flag_is_read() {
        assert_eq!(
            super::flags("pub const PASS: Pass = Pass { flag: \"skript-a\", run, ..Pass::NONE };"),
            ["skript-a"]
        );
        let others = "const LOOPS: Pass = Pass { options: &[], ..Pass::NONE }; Pipeline { flag: \"no\" }";
        assert!(super::flags(others).is_empty());
    }
}
