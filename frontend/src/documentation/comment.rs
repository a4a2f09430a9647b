// SPDX-License-Identifier: Apache-2.0
//! The comment above a definition.

/// Lines without their `# `.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comment {
    /// Paragraphs; an indented paragraph is preformatted.
    pub paragraphs: Vec<Vec<String>>,
    /// Each `NAME<types>{attributes}(arguments) = results`, in one line.
    pub examples: Vec<String>,
}

/// The lines, without `#`, of the comment that ends directly above the line of `offset`.
pub fn lines_above(text: &str, offset: usize) -> Vec<&str> {
    let before = text.get(..offset).unwrap_or("");
    // The first line is the part of the definition's line before `offset`.
    let lines = before.rsplit('\n').skip(1);
    let mut lines: Vec<&str> = lines.map_while(|l| l.trim().strip_prefix('#')).collect();
    lines.reverse();
    lines
}

const EXAMPLE: &str = "Example: ";

impl Comment {
    /// The comment that ends directly above the line of `offset`.
    pub(crate) fn above(text: &str, offset: usize) -> Self {
        Self::parse(&lines_above(text, offset))
    }

    /// The text under the last heading `# --- activations ---` before `offset`, for all operators of the section.
    pub(crate) fn of_section(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or("");
        let heading = before.rfind("\n# --- ");
        let section = heading.and_then(|at| before.get(at + 1..)).unwrap_or("");
        let lines = section.lines().skip(1);
        let lines: Vec<&str> = lines.map_while(|l| l.trim().strip_prefix('#')).collect();
        Self::parse(&lines)
    }

    fn parse(lines: &[&str]) -> Self {
        let mut comment = Comment::default();
        let mut paragraph: Vec<String> = Vec::new();
        let mut example: Option<String> = None;
        for line in lines {
            let line = line.strip_prefix(' ').unwrap_or(line).trim_end();
            if let Some(start) = line.strip_prefix(EXAMPLE) {
                comment.examples.extend(example.replace(start.to_string()));
            } else if let Some(open) = &mut example
                && line.starts_with(' ')
            {
                open.push(' ');
                open.push_str(line.trim());
            } else {
                comment.examples.extend(example.take());
                if line.is_empty() {
                    comment.end(&mut paragraph);
                } else {
                    paragraph.push(line.to_string());
                }
            }
        }
        comment.examples.extend(example);
        comment.end(&mut paragraph);
        comment
    }

    fn end(&mut self, paragraph: &mut Vec<String>) {
        if !paragraph.is_empty() {
            self.paragraphs.push(std::mem::take(paragraph));
        }
    }

    /// The first sentence.
    pub fn summary(&self) -> String {
        let first = self.paragraphs.first().map_or_else(String::new, |p| p.join(" "));
        match first.find(". ") {
            Some(end) => first.get(..=end).unwrap_or("").to_string(),
            None => first,
        }
    }

    /// Everything but the examples.
    pub fn text(&self) -> String {
        let paragraphs: Vec<String> = self.paragraphs.iter().map(|p| p.join("\n")).collect();
        paragraphs.join("\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# --- part ---\n\n# The double. Of anything.\n# Twice.\n#\n# Example: m.double([1.0,\n#   2.0]) = [2.0, 4.0]\n# Example: m.double(0) = 0\n\
        operator double { }\n\noperator bare { }\n";

    #[test]
    fn sentences_and_examples() {
        let at = TEXT.find("operator double").unwrap();
        let comment = Comment::above(TEXT, at);
        assert_eq!(comment.summary(), "The double.");
        assert_eq!(comment.text(), "The double. Of anything.\nTwice.");
        assert_eq!(comment.examples, ["m.double([1.0, 2.0]) = [2.0, 4.0]", "m.double(0) = 0"]);
    }

    #[test]
    fn a_public_operator_s_comment_stands_above_its_line() {
        let text = "# One.\npublic operator o { }";
        assert_eq!(Comment::above(text, text.find("operator").unwrap()).summary(), "One.");
    }

    #[test]
    fn a_section_s_comment_is_for_all_of_it() {
        let text =
            "\n# --- pairs ---\n#\n# Both are broadcast.\n\n# Sum.\noperator add { }\n\noperator sub { }";
        let at = text.find("operator sub").unwrap();
        assert_eq!(Comment::of_section(text, at).text(), "Both are broadcast.");
        assert_eq!(Comment::of_section("operator add { }", 0), Comment::default());
    }

    #[test]
    fn detached_comments_are_ignored() {
        let at = TEXT.find("operator bare").unwrap();
        assert_eq!(Comment::above(TEXT, at), Comment::default());
    }
}
