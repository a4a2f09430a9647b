//! No file has more of the terms that are never right than `tidy/words-allowed.txt` allows.
//!
//! Each line of the list has the path of a file and the number of such terms in it. A file with fewer terms fails the rule
//! too, so that the list shrinks with the text. `cargo run -p skript-tidy -- words` prints the list for the current tree.

use crate::tree::Tree;
use std::collections::BTreeMap;

/// The list of files that still have such terms.
const ALLOWED: &str = "tidy/words-allowed.txt";

/// Files that name the terms to forbid them.
const EXEMPT: [&str; 2] = ["tidy/src/words.rs", ALLOWED];

/// Terms in lower case; words are separated by one space.
const TERMS: [&str; 26] = [
    "told",
    "tells",
    "station",
    "stations",
    "room",
    "rooms",
    "the run knows",
    "the run says",
    "the run has",
    "a run knows",
    "a run says",
    "a run has",
    "machine type",
    "machine types",
    "work type",
    "work types",
    "made of others",
    "hand out",
    "hands out",
    "handed out",
    "handing out",
    "hand_out",
    "hands_out",
    "handed_out",
    "machine_type",
    "work_type",
];

/// Compares every file's number of terms with the list.
pub fn check(tree: &Tree) -> Vec<String> {
    let listed = tree.file(ALLOWED).map_or("", |file| &file.text);
    let (allowed, mut complaints) = parse(listed);
    let found = counts(tree);
    for (path, terms) in &found {
        let most = allowed.get(path.as_str()).copied().unwrap_or(0);
        if terms.len() > most {
            let lines: Vec<String> = terms.iter().map(Occurrence::to_string).collect();
            complaints.push(format!(
                "{path}: {} terms that are never right, {most} allowed: {}",
                terms.len(),
                lines.join(", ")
            ));
        }
    }
    for (path, most) in allowed {
        let number = found.get(path).map_or(0, Vec::len);
        if number < most {
            complaints.push(format!(
                "{ALLOWED}: {path} has {number} of {most} terms: lower its number to {number}"
            ));
        }
    }
    complaints
}

/// The list for the current tree.
pub fn document(tree: &Tree) -> String {
    let found = counts(tree);
    found
        .iter()
        .map(|(path, terms)| format!("{path} {}\n", terms.len()))
        .collect()
}

/// A term and the line that it begins in, counted from 1.
#[derive(Debug, PartialEq, Eq)]
struct Occurrence {
    line: usize,
    term: &'static str,
}

impl std::fmt::Display for Occurrence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` in line {}", self.term, self.line)
    }
}

/// The terms of every file that has some.
fn counts(tree: &Tree) -> BTreeMap<String, Vec<Occurrence>> {
    let files = tree.files.iter();
    let files = files.filter(|file| !EXEMPT.contains(&file.path.as_str()));
    let found = files.map(|file| (file.path.clone(), occurrences(&file.text)));
    found.filter(|(_, terms)| !terms.is_empty()).collect()
}

/// The numbers of the list by path, and complaints about malformed lines.
fn parse(list: &str) -> (BTreeMap<&str, usize>, Vec<String>) {
    let (mut allowed, mut complaints) = (BTreeMap::new(), Vec::new());
    for (n, line) in list.lines().enumerate() {
        let entry = line.rsplit_once(' ');
        match entry.and_then(|(path, number)| Some((path, number.parse().ok()?))) {
            Some((path, number)) => {
                allowed.insert(path, number);
            }
            None => complaints.push(format!(
                "{ALLOWED}:{}: is not a path and a number: `{line}`",
                n + 1
            )),
        }
    }
    (allowed, complaints)
}

/// The terms of a text as whole words, whatever their case. A term may continue on the next line, also in a comment.
fn occurrences(text: &str) -> Vec<Occurrence> {
    let words: Vec<(usize, String)> = text
        .lines()
        .enumerate()
        .flat_map(|(n, line)| words(line).map(move |word| (n + 1, word)))
        .collect();
    let mut found = Vec::new();
    for (start, (line, _)) in words.iter().enumerate() {
        let rest = words.get(start..).unwrap_or_default();
        let begins = |term: &&&str| {
            let parts: Vec<&str> = term.split(' ').collect();
            rest.len() >= parts.len() && parts.iter().zip(rest).all(|(part, word)| *part == word.1)
        };
        found.extend(
            TERMS
                .iter()
                .filter(begins)
                .map(|term| Occurrence { line: *line, term }),
        );
    }
    found
}

/// The words of a line in lower case. Punctuation counts as a word, so that no term matches across it; the markers of comments are
/// skipped.
fn words(line: &str) -> impl Iterator<Item = String> {
    let line = line.trim_start().trim_start_matches(['/', '!', '#', '*']);
    let mut words = vec![String::new()];
    for c in line.chars() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let continues = words
            .last()
            .and_then(|word| word.chars().last())
            .is_some_and(is_word);
        if c.is_whitespace() {
            words.push(String::new());
            continue;
        }
        if is_word(c) != continues || !continues {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    words.into_iter().filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::File;

    fn tree(files: &[(&str, &str)]) -> Tree {
        let files = files.iter().map(|(path, text)| File {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
        });
        Tree {
            files: files.collect(),
        }
    }

    #[test]
    fn whole_words_count_in_any_case_and_over_lines() {
        let found = |text| occurrences(text).len();
        assert_eq!(found("Told by a Station."), 2);
        assert_eq!(found("/// only the run\n/// knows it"), 1);
        assert_eq!(found("a machine-readable type, the run: knows"), 0);
        assert_eq!(found("retold bathroom stationary told_extents"), 0);
        let occurrence = Occurrence {
            line: 2,
            term: "work type",
        };
        assert_eq!(occurrences("one\n// of the work type\n"), [occurrence]);
    }

    #[test]
    fn new_terms_fail_and_so_do_lists_that_are_too_long() {
        let one = ("a.rs", "// nobody is told\n");
        assert_eq!(
            check(&tree(&[one])),
            ["a.rs: 1 terms that are never right, 0 allowed: `told` in line 1"]
        );
        assert!(check(&tree(&[one, (ALLOWED, "a.rs 1\n")])).is_empty());
        let complaints = check(&tree(&[one, (ALLOWED, "a.rs 2\nb.rs 1\n")]));
        assert_eq!(
            complaints,
            [
                "tidy/words-allowed.txt: a.rs has 1 of 2 terms: lower its number to 1",
                "tidy/words-allowed.txt: b.rs has 0 of 1 terms: lower its number to 0",
            ]
        );
    }

    #[test]
    fn the_list_of_a_tree_is_what_the_rule_accepts() {
        let files = [("a.rs", "// rooms of a work type\n"), ("b.rs", "fine\n")];
        let list = document(&tree(&files));
        assert_eq!(list, "a.rs 2\n");
        assert!(check(&tree(&[files[0], files[1], (ALLOWED, &list)])).is_empty());
    }

    #[test]
    fn lines_of_another_form_are_reported() {
        let complaints = check(&tree(&[(ALLOWED, "a.rs many\n")]));
        assert_eq!(
            complaints,
            ["tidy/words-allowed.txt:1: is not a path and a number: `a.rs many`"]
        );
    }
}
