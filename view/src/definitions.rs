// SPDX-License-Identifier: Apache-2.0
//! Collects the source text of the definitions of a model's functions.

use crate::picture::Definition;
use skript_frontend::ast::{self, BlockKind};
use skript_frontend::program::Program;
use skript_frontend::source::Span;
use std::collections::BTreeMap;

/// Definitions by the spans of their names; each text is stored once.
pub(crate) struct Definitions<'a> {
    program: &'a Program,
    known: BTreeMap<(u32, u32), &'a ast::Definition>,
    numbers: BTreeMap<(u32, u32), usize>,
    pub(crate) texts: Vec<Definition>,
}

impl<'a> Definitions<'a> {
    pub(crate) fn new(program: &'a Program) -> Self {
        let all = program.modules.values().flat_map(|module| &module.definitions);
        Definitions {
            program,
            known: all.map(|d| (key(d.name.span), d)).collect(),
            numbers: BTreeMap::new(),
            texts: Vec::new(),
        }
    }

    /// The number of the definition whose name has this span.
    pub(crate) fn number(&mut self, name: Span) -> Option<usize> {
        let definition = self.known.get(&key(name))?;
        if let Some(number) = self.numbers.get(&key(name)) {
            return Some(*number);
        }
        let file = self.program.sources.get(definition.span.file)?;
        let start = comment_start(&file.text, definition.span.start as usize);
        let text = file.text.get(start..definition.span.end as usize)?;
        let body = definition
            .blocks
            .iter()
            .find(|block| matches!(block.kind, BlockKind::Lower | BlockKind::Compose));
        let before = body.and_then(|block| file.text.get(start..block.span.start as usize));
        let first = file.line_column(u32::try_from(start).ok()?).0;
        self.texts.push(Definition {
            location: format!("{}:{first}", file.path.to_string_lossy()),
            text: text.to_owned(),
            body: before.map_or(0, |text| text.matches('\n').count()),
        });
        let number = self.texts.len() - 1;
        self.numbers.insert(key(name), number);
        Some(number)
    }
}

fn key(span: Span) -> (u32, u32) {
    (span.file.0, span.start)
}

/// The offset of the first line of the comment directly above the line of `offset`; `offset` itself if other code precedes it on its line.
fn comment_start(text: &str, offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or(text);
    let mut start = before.rfind('\n').map_or(0, |at| at + 1);
    if before.get(start..).is_some_and(|code| !code.trim().is_empty()) {
        return offset;
    }
    loop {
        let Some(above) = start.checked_sub(1).and_then(|end| text.get(..end)) else {
            return start;
        };
        let line = above.rfind('\n').map_or(0, |at| at + 1);
        let is_comment = above.get(line..).is_some_and(|line| line.trim_start().starts_with('#'));
        // A section heading does not belong to the definition.
        let heading = above.get(line..).is_some_and(|line| line.starts_with("# ---"));
        if !is_comment || heading {
            return start;
        }
        start = line;
    }
}

#[cfg(test)]
mod tests {
    use super::comment_start;

    #[test]
    fn the_comment_belongs_to_the_definition() {
        let text = "import nn;\n\n# --- all ---\n# One.\n# Two.\noperator f {}";
        let at = text.find("operator").unwrap();
        assert_eq!(&text[comment_start(text, at)..at], "# One.\n# Two.\n");
        assert_eq!(comment_start("operator f {}", 0), 0);
        assert_eq!(comment_start("# a\noperator f {}", 4), 0);
        assert_eq!(comment_start("# a\noperator f {} operator g {}", 18), 18);
    }
}
