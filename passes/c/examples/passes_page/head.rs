// SPDX-License-Identifier: Apache-2.0
//! The documentation at the head of a pass's file.

/// The parts of a head that the page shows. Its first paragraph repeats the summary, and is left out.
#[derive(Default)]
pub struct Head {
    /// Paragraphs without the sentences below.
    pub description: Vec<String>,
    /// The text after `Requires:`.
    pub requires: Option<String>,
    /// The text after `Guarantees:`.
    pub guarantees: Option<String>,
}

impl Head {
    /// The head of a Rust file, below its license.
    pub fn of(source: &str) -> Head {
        let lines = source.lines().skip_while(|line| !line.starts_with("//!"));
        let lines = lines.map_while(|line| line.strip_prefix("//!"));
        let lines: Vec<&str> = lines.map(str::trim).collect();
        let mut head = Head::default();
        for paragraph in lines.split(|line| line.is_empty()).skip(1) {
            head.add(paragraph);
        }
        head
    }

    fn add(&mut self, lines: &[&str]) {
        if lines.iter().any(|line| line.starts_with("- ") || line.starts_with('|')) {
            return self.description.push(lines.join("\n"));
        }
        let text = lines.join(" ");
        let mut rest = Vec::new();
        for sentence in sentences(&text) {
            if let Some(stated) = sentence.strip_prefix("Requires: ") {
                self.requires = Some(capital(stated));
            } else if let Some(stated) = sentence.strip_prefix("Guarantees: ") {
                self.guarantees = Some(capital(stated));
            } else {
                rest.push(sentence);
            }
        }
        if !rest.is_empty() {
            self.description.push(rest.join(" "));
        }
    }
}

/// The sentences of a paragraph: each ends with a full stop outside of code spans, before a space.
fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut begin, mut in_code) = (0, false);
    for (at, character) in text.char_indices() {
        in_code ^= character == '`';
        if character == '.' && !in_code && text[at + 1..].starts_with(' ') {
            found.push(&text[begin..=at]);
            begin = at + 2;
        }
    }
    found.push(&text[begin..]);
    found
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + characters.as_str()
}
