// SPDX-License-Identifier: Apache-2.0
//! An operator's declarations in one line, as they were written.

use crate::ast::{Declaration, Definition};
use crate::source::{SourceMap, Span};

/// `nn.elu{alpha: real = 1.0}(x: real[s..]) -> (y: real[s..])`; declarations are separated by `;`, as in blocks.
pub(super) fn written(name: &str, definition: &Definition, sources: &SourceMap) -> String {
    let one_line = |span: Span| {
        let words: Vec<&str> = sources.text(span).split_whitespace().collect();
        words.join(" ").trim_end_matches(';').trim_end().to_string()
    };
    let list = |spans: Vec<Span>| {
        let items: Vec<String> = spans.into_iter().map(one_line).collect();
        items.join("; ")
    };
    let spans = |declarations: &[Declaration]| declarations.iter().map(|d| d.span).collect();
    let types = list(definition.dtypes.iter().map(|t| t.span).collect());
    let attributes = list(spans(&definition.attributes));
    let mut text = name.to_string();
    if !types.is_empty() {
        text += &format!("<{types}>");
    }
    if !attributes.is_empty() {
        text += &format!("{{{attributes}}}");
    }
    let inputs = list(spans(&definition.inputs));
    let outputs = list(spans(&definition.outputs));
    format!("{text}({inputs}) -> ({outputs})")
}

#[cfg(test)]
mod tests {
    use crate::documentation::of_library;

    #[test]
    fn signatures_hold_types_attributes_inputs_and_outputs() {
        let entries = of_library();
        let signature = |name: &str| {
            let entry = entries.iter().find(|e| e.name == name);
            entry.map(|e| e.signature.clone()).unwrap()
        };
        assert_eq!(signature("nn.elu"), "nn.elu{alpha: real = 1.0}(x: real[s..]) -> (y: real[s..])");
        assert_eq!(signature("layout.cast"), "layout.cast<R: arith; T: arith>(x: T[s..]) -> (y: R[s..])");
        assert!(signature("layout.concat").contains("..z,t..]..(n)"));
    }
}
