// SPDX-License-Identifier: Apache-2.0
//! Finds the operations of an MLIR text from its tokens, independently of line ends and of the registered dialects.
//!
//! An operation in the generic form is a string before `(`. An operation in the pretty form is a word with a dot at a
//! position where an operation may begin. Words with dots are also names in attribute dictionaries, and the operation
//! that a reduction applies.

use super::tokens::{Kind, Token, Tokens};

/// The name and the offset of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start<'t> {
    pub name: &'t str,
    pub at: usize,
}

/// The tokens of a text up to the first invalid token, without locations and without the resources after the module.
fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut last = "";
    // The number of open parentheses in a location.
    let mut depth = 0;
    let mut in_resources = false;
    Tokens::new(text).map_while(Result::ok).filter(move |token| {
        let mut is_kept = false;
        match token.text {
            "{-#" => in_resources = true,
            "#-}" => in_resources = false,
            _ if in_resources => {}
            "(" if depth > 0 || last == "loc" => depth += 1,
            ")" if depth > 0 => depth -= 1,
            _ => is_kept = depth == 0,
        }
        if is_kept {
            last = token.text;
        }
        is_kept
    })
}

/// The operations of a text whose names have a dialect prefix.
pub(crate) fn starts(text: &str) -> Vec<Start<'_>> {
    let mut tokens = tokens(text).peekable();
    let mut starts = Vec::new();
    let (mut before, mut end) = ("", 0);
    while let Some(Token { kind, at, text: piece }) = tokens.next() {
        let after = tokens.peek().map_or("", |next| next.text);
        let name = piece.trim_matches('"');
        let is_operation = if kind == Kind::String {
            after == "(" && is_quoted_name(name)
        } else {
            // The first attribute of a dictionary, or the only one; a region with one operation is on separate lines.
            let is_on_separate_line = text.get(end..at).is_some_and(|t| t.contains('\n'));
            let is_attribute = before == "{" && (after == "," || after == "}" && !is_on_separate_line);
            kind == Kind::Word
                && name.contains('.')
                && !matches!(before, "," | "<" | "(" | "[" | "applies")
                && after != "="
                && !is_attribute
        };
        if is_operation {
            starts.push(Start { name, at });
        }
        (before, end) = (piece, at + piece.len());
    }
    starts
}

/// The unsupported types in a text, with their offsets: types of StableHLO such as `!stablehlo.token`, quantized types,
/// 4-bit to 8-bit floats, and 2-bit integers.
pub(crate) fn foreign_types(text: &str) -> Vec<Start<'_>> {
    let mut types = Vec::new();
    // The token before a type, and the offset of its first extent.
    let (mut before, mut first) = ("", None);
    for Token { kind, at, text: piece } in tokens(text) {
        if kind == Kind::Number {
            first = first.or(Some(at));
            continue;
        }
        let element = piece.rsplit('x').next().unwrap_or(piece);
        let is_small = ["f4E", "f6E", "f8E"].iter().any(|f| element.starts_with(f))
            || ["i2", "si2", "ui2"].contains(&element);
        if ["!stablehlo.", "!quant."].iter().any(|prefix| piece.starts_with(prefix)) {
            types.push(Start { name: piece, at });
        } else if is_small && matches!(before, "<" | ":" | "(") {
            types.push(Start { name: element, at: first.unwrap_or(at) });
        }
        (before, first) = (piece, None);
    }
    types
}

/// The offsets of tensor literals: `dense<` and `sparse<`.
pub(crate) fn literals(text: &str) -> Vec<usize> {
    let mut offsets = Vec::new();
    let mut before = None;
    for token in tokens(text) {
        offsets.extend(before.filter(|_| token.text == "<"));
        before = matches!(token.text, "dense" | "sparse").then_some(token.at);
    }
    offsets
}

/// Whether a string is the name of an operation. Names in the generic form may contain other characters than
/// identifiers, as in `stablehlo.cross-replica-sum`.
fn is_quoted_name(text: &str) -> bool {
    let begins = text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    text.contains('.') && begins && !text.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<&str> {
        starts(text).into_iter().map(|s| s.name).collect()
    }

    #[test]
    fn operations_begin_anywhere_on_a_line() {
        let text = "func.func @main(%x: tensor<4xf32> {jax.buffer_donor, a.b = 1}) -> (tensor<4xf32> {jax.result_info = \"r.s\"}) attributes {c.d} { %0:2 = a.one %x : tensor<4xf32> \"b.two\"(%0#0) ({ ^bb0(%p: tensor<f32>): c.three %p : tensor<f32> %1 = \"d.four\"(%p) : () -> () stablehlo.return %1 }) {e.f = #g.h<1.5>} : () -> !i.j func.return }";
        assert_eq!(
            names(text),
            ["func.func", "a.one", "b.two", "c.three", "d.four", "stablehlo.return", "func.return"]
        );
    }

    /// Near misses: locations, comments, symbols, strings, resources, the operation that a reduction applies.
    #[test]
    fn other_words_with_dots_are_not_operations() {
        for text in [
            "#loc1 = loc(\"a.py\"(#loc2))\n#loc3 = loc(callsite(\"b.c\"(\"d.e\":1:2) at #loc1))",
            "// a.b %x\n module @jit_f.g attributes {mhlo.num = 1 : i32,\n  jax.uses = false}",
            "%5 = call @f.g(%0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>}",
            "{-# dialect_resources: { builtin: { a.b: \"0x00\" } } #-}",
            "%a.b = call @\"c.d\"(%x) {n = \"e.f\", escaped = \"g\\\"h.i(\"} : tensor<1.0>",
        ] {
            assert_eq!(names(text), [""; 0], "{text}");
        }
        let text = "%1 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [0]";
        assert_eq!(names(text), ["stablehlo.reduce"]);
    }
}
