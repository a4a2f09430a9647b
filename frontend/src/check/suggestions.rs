//! Tests: a name that is nearly right is answered with the one that was probably meant.

use super::testing::{Document, check, in_compose, in_document, in_lower, in_using};

/// What all messages advise.
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

#[test]
fn far_names_are_not() {
    for document in [
        in_compose("y = nothing{k=2.0}(x);"),
        in_using("v = unrelated;"),
    ] {
        let found = help(&document);
        assert!(
            !found.iter().any(|h| h.contains("did you mean")),
            "{found:?}"
        );
    }
}

trait WithModule {
    fn with_module(self, name: &'static str) -> Self;
}

impl WithModule for Document {
    fn with_module(mut self, name: &'static str) -> Self {
        self.push((
            name,
            "operator exp { @input { x: real[n]; } @output { y: real[n]; } }".to_string(),
        ));
        self
    }
}
