// SPDX-License-Identifier: Apache-2.0
//! Checks that files do not contain forbidden terms.

use crate::tree::Tree;

/// The file with the list of terms.
const EXEMPT: &str = "tidy/src/words.rs";

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

/// Reports every occurrence of a term.
pub fn check(tree: &Tree) -> Vec<String> {
    let files = tree.files.iter().filter(|file| file.path != EXEMPT);
    let complaints = files.flat_map(|file| {
        occurrences(&file.text).into_iter().map(|occurrence| {
            format!("{}:{}: `{}` is never right", file.path, occurrence.line, occurrence.term)
        })
    });
    complaints.collect()
}

/// A term and the line where it begins, counted from 1.
#[derive(Debug, PartialEq, Eq)]
struct Occurrence {
    line: usize,
    term: &'static str,
}

/// Finds the terms of a text as whole words, ignoring case. A term may continue on the next line, also in a comment.
fn occurrences(text: &str) -> Vec<Occurrence> {
    let words: Vec<(usize, String)> =
        text.lines().enumerate().flat_map(|(n, line)| words(line).map(move |word| (n + 1, word))).collect();
    let mut occurrences = Vec::new();
    for (start, (line, _)) in words.iter().enumerate() {
        let (_, rest) = words.split_at(start);
        let begins = |term: &&&str| {
            let parts: Vec<&str> = term.split(' ').collect();
            rest.len() >= parts.len() && parts.iter().zip(rest).all(|(part, word)| *part == word.1)
        };
        occurrences.extend(TERMS.iter().filter(begins).map(|term| Occurrence { line: *line, term }));
    }
    occurrences
}

/// The words of a line in lower case. Punctuation counts as a word, so that no term matches across it; comment markers are
/// skipped.
fn words(line: &str) -> impl Iterator<Item = String> {
    let line = line.trim_start().trim_start_matches(['/', '!', '#', '*']);
    let mut words = vec![String::new()];
    for c in line.chars() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let continues = words.last().and_then(|word| word.chars().last()).is_some_and(is_word);
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

    #[test]
    fn whole_words_count_in_any_case_and_over_lines() {
        let count = |text| occurrences(text).len();
        assert_eq!(count("Told by a Station."), 2);
        assert_eq!(count("/// only the run\n/// knows it"), 1);
        assert_eq!(count("a machine-readable type, the run: knows"), 0);
        assert_eq!(count("retold bathroom stationary told_extents"), 0);
        let occurrence = Occurrence { line: 2, term: "work type" };
        assert_eq!(occurrences("one\n// of the work type\n"), [occurrence]);
    }

    #[test]
    fn every_occurrence_fails() {
        let file = |path: &str| File {
            path: path.to_owned(),
            text: "// nobody is\n// told of stations\n".to_owned(),
        };
        let tree = Tree { files: vec![file("a.rs"), file(EXEMPT)] };
        assert_eq!(check(&tree), ["a.rs:2: `told` is never right", "a.rs:2: `stations` is never right",]);
    }
}
