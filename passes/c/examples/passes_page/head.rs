// SPDX-License-Identifier: Apache-2.0
//! Reads the module documentation of a pass.

/// The documentation shown on the page. The first paragraph is dropped, as it repeats the summary.
#[derive(Default)]
pub struct Head {
    /// Paragraphs, without the sentences of the other fields.
    pub description: Vec<String>,
    /// The text after `Requires:`.
    pub requires: Option<String>,
    /// The text after `Guarantees:`.
    pub guarantees: Option<String>,
}

impl Head {
    /// Reads the module documentation below the license.
    pub fn from_source(source: &str) -> Head {
        let lines = source.lines().skip_while(|line| !line.starts_with("//!"));
        let lines: Vec<&str> = lines.map_while(|line| line.strip_prefix("//!")).map(str::trim).collect();
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

/// Splits a paragraph into sentences: each ends with a full stop outside code spans, before a space.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let (mut begin, mut in_code) = (0, false);
    for (at, character) in text.char_indices() {
        in_code ^= character == '`';
        if character == '.' && !in_code && text[at + 1..].starts_with(' ') {
            sentences.push(&text[begin..=at]);
            begin = at + 2;
        }
    }
    sentences.push(&text[begin..]);
    sentences
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + characters.as_str()
}
