// SPDX-License-Identifier: Apache-2.0
//! The library as one Markdown document.

use super::{Comment, Entry};

/// Writes a section per module, and a heading per operator.
pub fn page(entries: &[Entry]) -> String {
    let mut text = String::from(
        "# The standard library\n\n\
         Written by `skript ops --markdown` from the comments in `frontend/stdlib`; `scripts/docs.sh` updates it. `test/library/sweep.py` runs every example: nested lists are tensors, packs are in parentheses, `with` names variables.\n",
    );
    let mut module = "";
    let mut section = None;
    for entry in entries {
        if entry.module != module {
            module = &entry.module;
            text += &format!("\n## {module}\n");
        }
        if section != Some(&entry.section) && !entry.khronos {
            section = Some(&entry.section);
            text += &paragraphs(&entry.section);
        }
        let edition = if entry.khronos { " (edition khronos)" } else { "" };
        text += &format!("\n### {}{edition}\n\n```\n{}\n```\n", entry.name, entry.signature);
        text += &paragraphs(&entry.comment);
        if !entry.comment.examples.is_empty() {
            text += &format!("\n```\n{}\n```\n", entry.comment.examples.join("\n"));
        }
    }
    text
}

/// Writes each paragraph; a run of indented lines is preformatted.
fn paragraphs(comment: &Comment) -> String {
    let mut text = String::new();
    for paragraph in &comment.paragraphs {
        let mut kept = false;
        text.push('\n');
        for line in paragraph {
            if line.starts_with(' ') != kept {
                kept = !kept;
                text += "```\n";
            }
            text += &format!("{line}\n");
        }
        if kept {
            text += "```\n";
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documentation::of_library;

    #[test]
    fn every_operator_has_a_heading() {
        let entries = of_library();
        let page = page(&entries);
        let headings = page.lines().filter(|l| l.starts_with("### ")).count();
        assert_eq!(headings, entries.len());
        assert!(page.contains("### layout.slice (edition khronos)\n"));
        assert_eq!(page.matches("```").count() % 2, 0);
    }
}
