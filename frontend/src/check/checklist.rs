// SPDX-License-Identifier: Apache-2.0
//! Tests of the statements of chapter 2 that concern a single definition, by their number in the checklist.
//! Each diagnostic code has its own tests; these test the other rules.

mod declarations;
mod expressions;
mod statements;

use super::testing::{Document, check, in_document};
use crate::diagnostics::Code;

const GRAPH: &str = "graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }";

/// Rows with unexpected results.
#[derive(Default)]
struct Rows(Vec<String>);

impl Rows {
    fn accept(&mut self, numbers: &[u16], document: Document) {
        let found = check(&document);
        if let Some(d) = found.first() {
            let text = document.first().map_or("", |(_, t)| t.as_str());
            self.0.push(format!("{numbers:?} {}: {}\n{text}", d.code.id, d.message));
        }
    }

    fn reject(&mut self, numbers: &[u16], code: &Code, document: Document) {
        let found: Vec<(&str, String)> =
            check(&document).into_iter().map(|d| (d.code.id, d.message)).collect();
        if found.len() != 1 || found.iter().any(|(id, _)| *id != code.id) {
            let text = document.first().map_or("", |(_, t)| t.as_str());
            self.0.push(format!("{numbers:?} wanted {}, got {found:?}\n{text}", code.id));
        }
    }

    fn finish(self) {
        assert!(self.0.is_empty(), "{}", self.0.join("\n"));
    }
}

/// An operator with these blocks, and a graph.
fn operator(blocks: &str) -> Document {
    in_document(&format!("operator o {{ {blocks} }} {GRAPH}"))
}

/// A graph with these blocks, alone.
fn graph(blocks: &str) -> Document {
    in_document(&format!("graph G {{ {blocks} }}"))
}
