// SPDX-License-Identifier: Apache-2.0
//! Checks that the counts of awkward phrases and of unusual Rust, by top-level folder in `tidy/wording.txt`, do not rise.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::Regex;

use crate::tree::{File, Tree};

/// The file with the allowed counts.
const LIMITS: &str = "tidy/wording.txt";

const HEADER: &str = "# Folder, phrases in prose, idioms in Rust; `skript-tidy wording` prints this file. The numbers only fall.\n";

/// Phrases in comments, documentation, and strings. A sentence with a hit should be rewritten in the field's terms.
const PHRASES: [&str; 14] = [
    r"^(?:Of|By|As|That|With) (?:a|an|the|all|two|each|one|what|so|such)\b",
    r"^What\b[^?]*$",
    r"\b(?:is|are|was|were) no [a-z]",
    r"\b(?:is|are) none\b|\bnone that\b",
    r"\bso many\b|\bas many as there\b",
    r"\b(?:is|are) (?:another|others)\b|\bothers (?:are|have|do)\b",
    r"\b(?:of|with|in) (?:\d+|sixteen|eight) bits\b",
    r"\bof (?:LLVM|MLIR|jax|JAX|XLA|ONNX|Vulkan|NVIDIA|AMD|Python|torch|numpy|upstream|GPUs|Debian|Rust)\b",
    r"\bleast (?:int|number|integer|value)\b",
    r"\bfor ever\b|\bthe other way around\b|\bby turns\b|\bin turn\b|\bas far as\b|\bseldom\b",
    r"\bof (?:its|their|his|our) own\b|\b(?:is|are) made (?:of|by|from)\b",
    r"\bstays?\b",
    r"\bwhat (?:is|are|was|has|reads|views|writes|it|they|no|follows|comes)\b",
    r"\b(?:says?|said) (?:so|what|which|that)\b",
];

/// Unidiomatic Rust.
const IDIOMS: [&str; 5] = [
    r"match [^{;]+\{\s*(?:true|false) =>",
    r"\bfn (?:of|at)(?:<[^>]*>)?\(",
    r"\blet (?:mut )?(?:own|found)\b",
    r"\bfn \w*(?:knows|_says|_run_)\w*\(",
    r"\.unwrap_or\((?:0|1|-1|false|true|i64::MAX|usize::MAX)\)|\.unwrap_or_default\(\)",
];

static PROSE: LazyLock<Regex> = LazyLock::new(|| any(&PHRASES));
static CODE: LazyLock<Regex> = LazyLock::new(|| any(&IDIOMS));
static INLINE_CODE: LazyLock<Regex> = LazyLock::new(|| any(&["`[^`]*`"]));
static SENTENCE: LazyLock<Regex> = LazyLock::new(|| any(&[r#""((?:[^"\\]|\\.){12,})""#]));

/// Combines several regular expressions into one.
fn any(patterns: &[&str]) -> Regex {
    Regex::new(&patterns.join("|")).unwrap_or_else(|e| unreachable!("the patterns are constants: {e}"))
}

/// The phrases and idioms of a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    phrases: usize,
    idioms: usize,
}

type Folders = BTreeMap<String, Counts>;

/// Reports every folder whose number of phrases or idioms differs from that in `tidy/wording.txt`.
pub fn check(tree: &Tree) -> Vec<String> {
    let Some(file) = tree.file(LIMITS) else { return vec![format!("{LIMITS} is missing")] };
    let allowed = match parse(&file.text) {
        Ok(allowed) => allowed,
        Err(problem) => return vec![problem],
    };
    let counted = count(tree);
    let folders: std::collections::BTreeSet<&String> = allowed.keys().chain(counted.keys()).collect();
    let counts = |of: &Folders, folder: &str| of.get(folder).copied().unwrap_or_default();
    folders
        .into_iter()
        .flat_map(|folder| complaints(folder, counts(&allowed, folder), counts(&counted, folder)))
        .collect()
}

/// The text of `tidy/wording.txt` for the tree.
pub fn document(tree: &Tree) -> String {
    let mut text = HEADER.to_owned();
    for (folder, counts) in count(tree) {
        // Writing to a string succeeds.
        let _ = writeln!(text, "{folder} {} {}", counts.phrases, counts.idioms);
    }
    text
}

fn complaints(folder: &str, allowed: Counts, counted: Counts) -> Vec<String> {
    let kinds = [
        ("phrases that readers stumble over", allowed.phrases, counted.phrases),
        ("unusual idioms in Rust", allowed.idioms, counted.idioms),
    ];
    let complain = |(kind, allowed, counted): (&str, usize, usize)| match counted.cmp(&allowed) {
        std::cmp::Ordering::Greater => Some(format!(
            "{folder}: {counted} {kind}, {allowed} before: rewrite what was added (tidy/src/wording.rs has the list)"
        )),
        std::cmp::Ordering::Less => {
            Some(format!("{folder}: {counted} {kind}: lower {LIMITS} from {allowed}"))
        }
        std::cmp::Ordering::Equal => None,
    };
    kinds.into_iter().filter_map(complain).collect()
}

fn parse(text: &str) -> Result<Folders, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#'));
    let entry = |(n, line): (usize, &str)| {
        let fields: Vec<&str> = line.split(' ').collect();
        match fields[..] {
            [folder, phrases, idioms] => phrases
                .parse()
                .and_then(|phrases| Ok((folder.to_owned(), Counts { phrases, idioms: idioms.parse()? })))
                .map_err(|e| format!("{LIMITS}:{}: {e}", n + 1)),
            _ => Err(format!("{LIMITS}:{}: it does not have three fields", n + 1)),
        }
    };
    lines.map(entry).collect()
}

/// The counts of all folders that have any.
fn count(tree: &Tree) -> Folders {
    let mut folders = Folders::new();
    for file in tree.files.iter().filter(|file| is_written_by_hand(&file.path)) {
        let folder = file.path.split_once('/').map_or(file.path.as_str(), |(folder, _)| folder);
        let phrases = prose(file).iter().filter(|text| PROSE.is_match(text)).count();
        let idioms = if file.path.ends_with(".rs") { CODE.find_iter(&file.text).count() } else { 0 };
        if phrases + idioms > 0 {
            let counts = folders.entry(folder.to_owned()).or_default();
            counts.phrases += phrases;
            counts.idioms += idioms;
        }
    }
    folders
}

/// Whether the prose of the file counts. This list and files of earlier releases do not.
fn is_written_by_hand(path: &str) -> bool {
    path != "tidy/src/wording.rs" && !path.starts_with("test/stability/")
}

/// The prose of a file by line: comments, Markdown, and sentences in strings.
fn prose(file: &File) -> Vec<String> {
    let extension = file.path.rsplit_once('.').map_or("", |(_, extension)| extension);
    let comment = match extension {
        "md" => {
            return file
                .text
                .lines()
                .map(|line| INLINE_CODE.replace_all(line.trim_start_matches(is_marker), "`x`").into_owned())
                .collect();
        }
        "rs" | "cpp" | "h" | "td" => "//",
        "py" | "sh" | "sknd" | "toml" => "#",
        _ => return Vec::new(),
    };
    file.text.lines().flat_map(|line| prose_of_line(line, comment)).collect()
}

/// Whether the character begins a heading, a list item, a quotation, or a cell of Markdown.
fn is_marker(c: char) -> bool {
    c.is_whitespace() || c.is_ascii_digit() || "-*#>|.".contains(c)
}

fn prose_of_line(line: &str, comment: &str) -> Vec<String> {
    let is_start = |at: usize| {
        line.get(..at).is_some_and(|before| before.is_empty() || before.ends_with(char::is_whitespace))
    };
    let text = line
        .match_indices(comment)
        .find(|(at, _)| is_start(*at))
        .and_then(|(at, _)| line.get(at + comment.len()..));
    let comment = text
        .map(|text| INLINE_CODE.replace_all(text.trim_start_matches(['/', '!', ' ']), "`x`").into_owned());
    let strings = SENTENCE.captures_iter(line).filter_map(|captures| captures.get(1));
    let sentences = strings.map(|text| text.as_str().to_owned()).filter(|text| text.contains(' '));
    comment.into_iter().chain(sentences).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str, limits: &str) -> Tree {
        let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
        Tree { files: vec![file("a/b.rs", text), file(LIMITS, limits)] }
    }

    #[test]
    fn comments_strings_and_code_are_counted() {
        let text =
            "// What it is.\nlet own = \"there is no file here\"; // a `what is` here\nfn of(x: u8) {}\n";
        let counts = count(&tree(text, ""));
        assert_eq!(counts.get("a"), Some(&Counts { phrases: 2, idioms: 2 }));
    }

    #[test]
    fn counts_neither_rise_nor_fall_unnoticed() {
        let text = "// What it is.\nlet own = 1;\n";
        assert!(check(&tree(text, "# x\na 1 1\n")).is_empty());
        let risen = check(&tree(text, "a 0 1\n"));
        assert!(
            matches!(&risen[..], [line] if line.starts_with("a: 1 phrases") && line.contains("0 before")),
            "{risen:?}"
        );
        let fallen = check(&tree(text, "a 1 1\nb 0 3\n"));
        assert_eq!(fallen, ["b: 0 unusual idioms in Rust: lower tidy/wording.txt from 3"]);
        assert_eq!(check(&tree(text, "a 1\n")), ["tidy/wording.txt:1: it does not have three fields"]);
    }

    #[test]
    fn the_document_is_what_the_check_accepts() {
        let text = "// What it is.\nlet own = 1;\n";
        let limits = document(&tree(text, ""));
        assert!(check(&tree(text, &limits)).is_empty(), "{limits}");
    }
}
