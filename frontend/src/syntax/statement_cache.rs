// SPDX-License-Identifier: Apache-2.0
//! Keeps the trees of statements, for texts that are parsed again after small changes.

use super::grammar::Rule;
use crate::ast::{EditionMarks, Relocate, Relocation};
use crate::source::FileId;
use rustc_hash::FxHashMap;
use std::any::Any;
use std::cell::RefCell;

/// The statements without errors of the texts that were parsed last, by their texts.
#[derive(Default)]
pub struct StatementCache {
    /// Those of the parse that runs, or that ran last.
    used: RefCell<Statements>,
    /// Those of the parse before.
    before: RefCell<Statements>,
}

type Statements = FxHashMap<(Rule, Box<str>), Parsed>;

/// The tree of a statement at the place where it was parsed.
pub(super) struct Parsed {
    tree: Box<dyn Any>,
    marks: EditionMarks,
    start: usize,
}

impl std::fmt::Debug for StatementCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StatementCache").finish_non_exhaustive()
    }
}

impl StatementCache {
    /// Begins another parse of the texts: statements that the last one did not use are dropped.
    pub fn begin(&self) {
        self.before.replace(self.used.take());
    }

    /// The tree and the marks of a statement with this text, at this place.
    pub(super) fn get<T: Clone + Relocate + 'static>(
        &self,
        entry: Rule,
        text: &str,
        file: FileId,
        start: usize,
    ) -> Option<(T, EditionMarks)> {
        let key = (entry, Box::from(text));
        let mut used = self.used.borrow_mut();
        if !used.contains_key(&key) {
            let parsed = self.before.borrow_mut().remove(&key)?;
            used.insert(key.clone(), parsed);
        }
        let parsed = used.get(&key)?;
        // The number of bytes is negative if the statement has moved to the front, so the sum wraps.
        let by = u32::try_from(start).ok()?.wrapping_sub(u32::try_from(parsed.start).ok()?);
        let to = Relocation { file, by };
        let mut tree = parsed.tree.downcast_ref::<T>()?.clone();
        let mut marks = parsed.marks.clone();
        tree.relocate(to);
        marks.relocate(to);
        Some((tree, marks))
    }

    pub(super) fn put<T: Clone + 'static>(
        &self,
        (entry, text): (Rule, &str),
        (tree, marks): (&T, &EditionMarks),
        start: usize,
    ) {
        let parsed = Parsed { tree: Box::new(tree.clone()), marks: marks.clone(), start };
        self.used.borrow_mut().insert((entry, Box::from(text)), parsed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::Module;
    use crate::diagnostics::Sink;
    use crate::limits::Limits;
    use crate::syntax::{parse_definitions, parse_module};

    fn tree(module: &Module) -> String {
        format!("{module:#?}")
    }

    /// The tree of a text that is parsed after another one is that of the text alone.
    fn assert_same(cache: &StatementCache, text: &str) {
        let (limits, mut sink, mut again) = (Limits::default(), Sink::default(), Sink::default());
        let alone = parse_module(FileId(3), text, "main", &limits, &mut sink);
        cache.begin();
        let cached =
            parse_definitions((FileId(3), text), "main", &|_| true, &limits, &mut again, Some(cache));
        assert_eq!(tree(&alone), tree(&cached), "{text}");
        assert_eq!(sink.diagnostics().len(), again.diagnostics().len(), "{text}");
    }

    #[test]
    fn trees_of_changed_texts_are_those_of_the_texts_alone() {
        let folder = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/stdlib"));
        let mut files = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let Ok(text) = std::fs::read_to_string(entry.unwrap().path()) else { continue };
            let cache = StatementCache::default();
            assert_same(&cache, &text);
            // Everything moves to the back, to the front, and a part is missing.
            assert_same(&cache, &format!("# A comment before all.\n{text}"));
            assert_same(&cache, &text);
            assert_same(&cache, text.split_at(text.floor_char_boundary(text.len() / 2)).1);
            files += 1;
        }
        assert!(files > 5);
    }

    #[test]
    fn marks_of_editions_move_with_their_statements() {
        let cache = StatementCache::default();
        let operator =
            "operator f { @input { x: real[n]; } @output { y: real[n]; } @lower { y[i] = x[i], i < n; } }\n";
        for comments in [3, 0, 1] {
            assert_same(&cache, &("# Text.\n".repeat(comments) + operator));
        }
    }

    #[test]
    fn statements_of_a_text_are_parsed_once() {
        let cache = StatementCache::default();
        let text = "operator f { @input { x: real[n]; } @output { y: real[n]; } @lower { y[i,] = x[i,], i < n; } }\n";
        assert_same(&cache, text);
        assert_eq!(cache.used.borrow().len(), 3);
        assert_same(&cache, &text.replace("= x[i,]", "= 2.0 * x[i,]"));
        let known = cache.used.borrow();
        assert_eq!(known.len(), 3);
        // Two statements come from the text before, the third replaced its former version.
        assert_eq!(cache.before.borrow().len(), 1);
    }
}
