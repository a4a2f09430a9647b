// SPDX-License-Identifier: Apache-2.0
//! Tests that a misspelled name is answered with the one that was probably meant.

use super::testing::{Document, check, in_compose, in_document, in_lower, in_using};

/// The help of all messages.
fn help(document: &Document) -> Vec<String> {
    let found = check(document).into_iter();
    found.filter_map(|d| d.help).collect()
}

#[test]
fn misspelled_names_are_answered() {
    let rows: &[(&str, Document)] = &[
        ("`scale`", in_compose("y = scal{k=2.0}(x);")),
        ("`k`", in_compose("y = scale{K=2.0}(x);")),
        ("`math`", in_document("import math; graph G { @input { x: real[1]; } @output { y: real[1]; } @compose { y = maths.exp(x); } }").with_module("math")),
        ("`real`", in_compose("y = convert<rael>(x);")),
        ("`bool`", in_document("operator o { @attrib { a: boll; } }")),
        ("`length`", in_document("operator o { @attrib { length: int; } @using { u = lenght + 1; } }")),
        ("`sqrt`", in_using("v = `sqtr`(r);")),
        ("`@compose`", in_document("graph G { @output { y: real[]; } @compos { y = 1.0; } }")),
        ("`@output`", in_document("graph G { @uotput { y: real[]; } @compose { y = 1.0; } }")),
        ("`line`", in_lower("y[i,] = lime[i,], i < a;")),
        ("`tensor`", in_document("operator q { @input { x: real[n]; } @output { y: real[n]; } } graph G { @input { tensor: real[1]; } @output { y: real[1]; } @compose { y = tensor; } @quantize { tensr: q; } }")),
    ];
    for (wanted, document) in rows {
        let found = help(document);
        let text = document.first().map_or("", |(_, text)| text.as_str());
        let wanted = format!("did you mean {wanted}?");
        assert!(found.contains(&wanted), "{found:?} lacks {wanted}: {text}");
    }
}

/// Modules in folders have no shorter names.
#[test]
fn modules_are_named_in_full() {
    let mut document = in_document(
        "import lib.a; graph G { @input { x: real[1]; } @output { y: real[1]; } @compose { y = a.exp(x); } }",
    )
    .with_module("lib.a");
    let found = help(&document);
    assert_eq!(found, ["modules are named in full: `lib.a.exp`"]);
    let (_, text) = document.first_mut().unwrap();
    *text = text.replace("a.exp(", "lib.a.exp(");
    assert_eq!(help(&document), [""; 0]);
}

/// The suggestion for a formula's value that may be null is accepted.
#[test]
fn values_for_null_are_ones() {
    for (value, advised) in [
        ("i < 1 ? line[i,]", "i < 1 ? line[i,] : 0.0"),
        ("(i < 1 ? line[i,])", "(i < 1 ? line[i,]) ?? 0.0"),
        ("maybe[i,]", "maybe[i,] ?? 0.0"),
        ("maybe[i,] + 1.0", "(maybe[i,] + 1.0) ?? 0.0"),
    ] {
        let text = |value: &str| in_lower(&format!("y[i,] = {value}, i < a;"));
        assert_eq!(help(&text(value)), [format!("write a value for null, as in `{advised}`")]);
        assert_eq!(help(&text(advised)), [""; 0], "{advised}");
    }
}

#[test]
fn far_names_are_not() {
    for document in [in_compose("y = nothing{k=2.0}(x);"), in_using("v = unrelated;")] {
        let found = help(&document);
        assert!(!found.iter().any(|h| h.contains("did you mean")), "{found:?}");
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
