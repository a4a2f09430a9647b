// SPDX-License-Identifier: Apache-2.0
//! Every diagnostic has tests: a `wrong` or `warning` document and a `right` document in its Markdown file, or the test file
//! named by a line ``Tested in `PATH`.``, which contains the code's id and the words `near miss`.

use crate::tree::{File, Tree};

const CODES: &str = "frontend/src/diagnostics/codes/sk";

pub fn check(tree: &Tree) -> Vec<String> {
    let codes = tree.ending(&[".md"]);
    codes.filter(|f| f.path.starts_with(CODES)).filter_map(|file| complaint(tree, file)).collect()
}

fn complaint(tree: &Tree, file: &File) -> Option<String> {
    let path = &file.path;
    let tests = file.text.split_once("\n## Tests\n").map_or("", |(_, tests)| tests);
    let Some((_, reference)) = tests.split_once("Tested in `") else {
        let has = |kind: &str| tests.contains(&format!("\n```sknd {kind}"));
        let lacking = if !has("wrong") && !has("warning") {
            "wrong"
        } else if !has("right") {
            "right"
        } else {
            return None;
        };
        return Some(format!("{path}: no `{lacking}` document below `## Tests`"));
    };
    let named = reference.split('`').next().unwrap_or("");
    let Some(test) = tree.file(named) else {
        return Some(format!("{path}: {named} does not exist"));
    };
    let id = file.text.strip_prefix("# ")?.split(':').next()?;
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

    fn complaints(tests: &str) -> Vec<String> {
        let file = |path: &str, text: &str| File { path: path.to_string(), text: text.to_string() };
        let files = vec![
            file(
                &format!("{CODES}0001_a.md"),
                &format!("# SK0001: a title\n\nA rule.\n\n## Tests\n\n{tests}"),
            ),
            file("test/a.test", "CHECK: SK0001\nNear miss: it runs\n"),
            file("test/b.test", "CHECK: SK0001\n"),
            file("test/c.test", "CHECK: SK0002\nNear miss: it runs\n"),
        ];
        check(&Tree { files })
    }

    #[test]
    fn tests_in_the_file_or_in_a_named_one() {
        for right in [
            "```sknd wrong\na\n```\n\n```sknd right\nb\n```\n",
            "```sknd warning in=using\na\n```\n\n```sknd right in=using\nb\n```\n",
            "Tested in `test/a.test`.\n",
        ] {
            assert_eq!(complaints(right), Vec::<String>::new());
        }
        for wrong in [
            "",
            "```sknd right\nb\n```\n",
            "```sknd wrong\na\n```\n",
            "Tested in `test/b.test`.\n",
            "Tested in `test/c.test`.\n",
            "Tested in `test/d.test`.\n",
        ] {
            assert_eq!(complaints(wrong).len(), 1, "{wrong}");
        }
    }
}
