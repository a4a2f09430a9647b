// SPDX-License-Identifier: Apache-2.0
//! Every diagnostic has a test that fires it and a near miss: `fires…` and `near_miss…` at the foot of its file, or in
//! the test that a line `// Tested in PATH` names, which has the code's id and the words `near miss` in it.

use crate::tree::{File, Tree};

const CODES: &str = "frontend/src/diagnostics/codes/sk";

pub fn check(tree: &Tree) -> Vec<String> {
    let codes = tree.ending(&[".rs"]);
    codes.filter(|f| f.path.starts_with(CODES)).filter_map(|file| complaint(tree, file)).collect()
}

fn complaint(tree: &Tree, file: &File) -> Option<String> {
    let path = &file.path;
    let Some((_, rest)) = file.text.split_once("// Tested in ") else {
        let (_, tests) = file.text.split_once("#[cfg(test)]").unwrap_or_default();
        let lacking = ["fires", "near_miss"].into_iter().find(|name| !tests.contains(&format!("fn {name}")));
        return lacking.map(|name| format!("{path}: no test `{name}` at its foot"));
    };
    let named = rest.lines().next().unwrap_or("").trim();
    let Some(test) = tree.file(named) else {
        return Some(format!("{path}: {named} does not exist"));
    };
    let id = file.text.split("id: \"").nth(1)?.split('"').next()?;
    let lacking = if !test.text.contains(id) {
        id
    } else if !test.text.to_lowercase().contains("near miss") {
        "a near miss"
    } else {
        return None;
    };
    Some(format!("{path}: {named} lacks {lacking}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(code: &str) -> Vec<String> {
        let file = |path: &str, text: &str| File { path: path.to_string(), text: text.to_string() };
        let files = vec![
            file(&format!("{CODES}0001_a.rs"), code),
            file("test/a.test", "CHECK: SK0001\nNear miss: it runs\n"),
            file("test/b.test", "CHECK: SK0001\n"),
        ];
        check(&Tree { files })
    }

    #[test]
    fn tests_at_the_foot_or_in_a_named_file() {
        assert!(complaints("#[cfg(test)] fn fires() {} fn near_miss() {}").is_empty());
        assert!(complaints("id: \"SK0001\", // Tested in test/a.test\n").is_empty());
        for wrong in [
            "",
            "fn fires() {} fn near_miss() {}",
            "#[cfg(test)] fn fires() {}",
            "id: \"SK0001\", // Tested in test/b.test\n",
            "id: \"SK0002\", // Tested in test/a.test\n",
            "id: \"SK0001\", // Tested in test/c.test\n",
        ] {
            assert_eq!(complaints(wrong).len(), 1, "{wrong}");
        }
    }
}
