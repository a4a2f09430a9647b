// SPDX-License-Identifier: Apache-2.0
//! Tests of the suggestions for misspelled names.

use crate::check::testing::{Document, check, in_compose, in_document, in_using};

fn help(document: &Document) -> Vec<String> {
    let diagnostics = check(document).into_iter();
    diagnostics.filter_map(|d| d.help).collect()
}

/// Modules in folders have no short names.
#[test]
fn modules_are_named_in_full() {
    let mut document = in_document(
        "import lib.a; graph G { @input { x: real[1]; } @output { y: real[1]; } @compose { y = a.exp(x); } }",
    )
    .with_module("lib.a");
    let helps = help(&document);
    assert_eq!(helps, ["modules are named in full: `lib.a.exp`"]);
    let (_, text) = document.first_mut().unwrap();
    *text = text.replace("a.exp(", "lib.a.exp(");
    assert_eq!(help(&document), [""; 0]);
}

#[test]
fn distant_names_are_not_suggested() {
    for document in [in_compose("y = nothing{k=2.0}(x);"), in_using("v = unrelated;")] {
        let helps = help(&document);
        assert!(!helps.iter().any(|h| h.contains("did you mean")), "{helps:?}");
    }
}

trait WithModule {
    fn with_module(self, name: &'static str) -> Self;
}

impl WithModule for Document {
    fn with_module(mut self, name: &'static str) -> Self {
        self.push((name, "operator exp { @input { x: real[n]; } @output { y: real[n]; } }".to_string()));
        self
    }
}
