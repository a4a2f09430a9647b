// SPDX-License-Identifier: Apache-2.0
//! Checks that every normative statement in `test/statements.txt` has tests. Evidence are expectations
//! `#= result  # numbers` of fixtures, rows `kind(&[numbers], …)` in Rust tests, and lit files with a line
//! `statements: numbers`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::tree::{File, Tree};

const LIST: &str = "test/statements.txt";
/// The folder with expectations in fixtures, and rows in Rust files.
const FIXTURES: &str = "runtime/reference/tests/fixtures/";
/// The marker of the statements that a lit file verifies.
const MARK: &str = "statements:";

/// The evidence of each kind of rows and expectations, as letters of the list. Every kind also shows that something is
/// accepted or rejected.
const KINDS: &[(&str, &str)] = &[
    ("accept", "A"),
    ("reject", "R"),
    ("message", "VR"),
    ("stop", "TR"),
    ("value", "VA"),
    ("model", "VA"),
    ("lit", "AVRT"),
];

struct Statement<'a> {
    section: &'a str,
    number: u16,
    needs: &'a str,
    text: &'a str,
}

/// The names of the tests of each statement, and the letters of their evidence.
type Evidence = BTreeMap<u16, (BTreeSet<String>, BTreeSet<char>)>;

pub fn check(tree: &Tree) -> Vec<String> {
    let (statements, mut complaints) = list(tree);
    let evidence = evidence(tree, &mut complaints);
    for statement in &statements {
        let shown = evidence.get(&statement.number);
        for letter in statement.needs.chars() {
            if !shown.is_some_and(|(_, letters)| letters.contains(&letter)) {
                complaints.push(format!(
                    "{LIST}: no test shows {letter} of statement {}: {}",
                    statement.number, statement.text
                ));
            }
        }
    }
    for number in evidence.keys() {
        if !statements.iter().any(|s| s.number == *number) {
            complaints.push(format!("a test names statement {number}, which {LIST} lacks"));
        }
    }
    complaints
}

/// The text of docs/status.md.
pub fn document(tree: &Tree) -> String {
    let (statements, mut complaints) = list(tree);
    let evidence = evidence(tree, &mut complaints);
    let shown = |s: &&Statement| evidence.contains_key(&s.number);
    let count = statements.iter().filter(shown).count();
    let missing = statements.len() - count;
    let mut text = String::from(
        "<!-- Written by scripts/docs.sh from test/statements.txt and the tests. -->\n# Status\n\n",
    );
    let _ = writeln!(
        text,
        "The statements of chapters 2 and 3 of the draft, with their tests. Evidence: A, a document is accepted;\n\
         R, a document is refused; V, a value equals one worked out by hand; T, a run is stopped.\n\n\
         {count} of {} statements are shown, {}.",
        statements.len(),
        if missing == 0 { "none is missing".to_string() } else { format!("{missing} are missing") }
    );
    let mut section = "";
    for statement in &statements {
        if statement.section != section {
            section = statement.section;
            let _ = writeln!(
                text,
                "\n## {section}\n| number | statement | evidence | tests |\n|---|---|---|---|"
            );
        }
        let tests: Vec<String> = match evidence.get(&statement.number) {
            Some((names, _)) => names.iter().map(|n| format!("`{n}`")).collect(),
            None => vec!["**missing**".to_string()],
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} |",
            statement.number,
            statement.text.replace('|', "\\|"),
            statement.needs,
            tests.join(", ")
        );
    }
    text
}

fn list(tree: &Tree) -> (Vec<Statement<'_>>, Vec<String>) {
    let Some(file) = tree.file(LIST) else {
        return (Vec::new(), vec![format!("{LIST} is missing")]);
    };
    let (mut statements, mut complaints, mut section) = (Vec::new(), Vec::new(), "");
    for line in file.text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            section = title;
        } else if !line.starts_with('#') {
            let mut words = line.splitn(3, ' ');
            let number = words.next().and_then(|n| n.parse().ok());
            match (number, words.next(), words.next()) {
                (Some(number), Some(needs), Some(text)) => {
                    statements.push(Statement { section, number, needs, text })
                }
                _ => complaints.push(format!("{LIST}: not a statement: {line}")),
            }
        }
    }
    (statements, complaints)
}

fn evidence(tree: &Tree, complaints: &mut Vec<String>) -> Evidence {
    let mut evidence = Evidence::new();
    for file in &tree.files {
        if file.path.starts_with(FIXTURES) {
            if file.path.ends_with(".rs") {
                rows(file, &mut evidence, complaints);
            } else if file.path.ends_with(".sknd") {
                expectations(file, &mut evidence, complaints);
            }
        } else if file.path.starts_with("test/")
            && [".test", ".sknd", ".mlir"].iter().any(|e| file.path.ends_with(e))
        {
            let marks = file.text.lines().filter_map(|l| l.split_once(MARK));
            for (_, numbers) in marks {
                for number in numbers.split_whitespace().filter_map(|n| n.parse().ok()) {
                    add(&mut evidence, number, &file.path, "lit", complaints);
                }
            }
        }
    }
    evidence
}

/// Adds the expectations `#= result  # 1, 2` and `#! SK0401  # 3` of a fixture, under the names of their tests.
fn expectations(file: &File, evidence: &mut Evidence, complaints: &mut Vec<String>) {
    let stem = file.path.rsplit('/').next().unwrap_or("").trim_end_matches(".sknd");
    let mut name = String::new();
    for line in file.text.lines() {
        if let Some(test) = line.strip_prefix("## ") {
            name = format!("{stem}::{test}");
        }
        let Some((expectation, numbers)) = line.rsplit_once("  # ") else {
            continue;
        };
        let kind = match (expectation.split_once("#= "), expectation.split_once("#! ")) {
            (Some((_, "composes" | "checks")), _) => "accept",
            (Some(_), _) => "value",
            (_, Some((_, error))) if !error.starts_with("SK") => "stop",
            (_, Some((_, error))) if error.contains(' ') => "message",
            (_, Some(_)) => "reject",
            (None, None) => continue,
        };
        for number in numbers.split(',').filter_map(|n| n.trim().parse().ok()) {
            add(evidence, number, &name, kind, complaints);
        }
    }
}

/// Adds the rows `kind(&[1, 2],` of a Rust file, under the names of their tests.
fn rows(file: &File, evidence: &mut Evidence, complaints: &mut Vec<String>) {
    let stem = file.path.rsplit('/').next().unwrap_or("").trim_end_matches(".rs");
    let whole: String = file.text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (at, _) in whole.match_indices("&[") {
        let head = whole.get(..at).unwrap_or("").trim_end();
        let Some(head) = head.strip_suffix('(') else {
            continue;
        };
        let kind = head.rsplit(|c: char| !c.is_ascii_lowercase()).next().unwrap_or("");
        if !KINDS.iter().any(|(k, _)| *k == kind) {
            continue;
        }
        let test = head.rsplit("#[test] fn ").next().and_then(|t| t.split('(').next());
        let name = format!("{stem}::{}", test.unwrap_or(""));
        let numbers = whole.get(at + 2..).and_then(|t| t.split(']').next()).unwrap_or("");
        for number in numbers.split(',').filter_map(|n| n.trim().parse().ok()) {
            add(evidence, number, &name, kind, complaints);
        }
    }
}

fn add(evidence: &mut Evidence, number: u16, name: &str, kind: &str, complaints: &mut Vec<String>) {
    let Some((_, letters)) = KINDS.iter().find(|(k, _)| *k == kind) else {
        complaints.push(format!("{name}: a row of the unknown kind {kind}"));
        return;
    };
    let (names, shown) = evidence.entry(number).or_default();
    names.insert(name.to_string());
    shown.extend(letters.chars());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(expectations: &str) -> Tree {
        let file = |path: &str, text: &str| File { path: path.to_string(), text: text.to_string() };
        Tree {
            files: vec![
                file(LIST, "# remark\n## 2.4 Lists\n1 VR a list\n2 A a pack\n"),
                file("runtime/reference/tests/fixtures/checklist/lists.sknd", expectations),
                file(
                    "runtime/reference/tests/fixtures/models.rs",
                    "#[test] fn packs() { model(&[2], \"\"); }",
                ),
                file("test/tools/run/a.test", "statements: 2\n"),
            ],
        }
    }

    #[test]
    fn expectations_rows_and_marks_are_evidence() {
        let tree = tree("## a_list\n[1]  #= [1]  # 1\n1[0]  #! SK0401  # 1\n");
        assert_eq!(check(&tree), Vec::<String>::new());
        let text = document(&tree);
        assert!(text.contains("2 of 2 statements are shown, none is missing"));
        assert!(text.contains("| 1 | a list | VR | `lists::a_list` |"));
        assert!(text.contains("`models::packs`, `test/tools/run/a.test`"));
    }

    #[test]
    fn values_need_values() {
        let tree = tree("## a_list\n1[0]  #! SK0401  # 1\n2[0]  #! SK0401  # 3\n");
        let complaints = check(&tree);
        assert_eq!(complaints.len(), 2, "{complaints:?}");
        assert!(complaints[0].contains("no test shows V of statement 1"));
        assert!(complaints[1].contains("names statement 3"));
    }
}
