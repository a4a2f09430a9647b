// SPDX-License-Identifier: Apache-2.0
//! Finds the operations of an MLIR text from its tokens, independent of line ends and of the registered dialects.
//!
//! A generic operation is a string before `(`. A pretty one is a word with a dot at a position where an operation may
//! begin. Words with dots are also names in attribute dictionaries, and the operation that a reduction applies.

/// The name of an operation, and the offset at which it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start<'t> {
    pub name: &'t str,
    pub at: usize,
}

/// All operations of a text, except those whose name has no dialect.
pub(crate) fn starts(text: &str) -> Vec<Start<'_>> {
    let mut tokens = Tokens { text, at: 0 };
    let mut found = Vec::new();
    let (mut before, mut behind) = ("", 0);
    let mut token = tokens.next();
    while let Some((at, piece)) = token {
        let next = tokens.next();
        let after = next.map_or("", |(_, piece)| piece);
        if piece == "loc" && after == "(" {
            tokens.leave();
            (before, behind) = (")", tokens.at);
            token = tokens.next();
            continue;
        }
        let name = piece.trim_matches('"');
        let is_operation = if piece.starts_with('"') {
            after == "(" && is_quoted_name(name)
        } else {
            // The first of several attributes, or the only one; a region with one operation is on separate lines.
            let own_line = text.get(behind..at).is_some_and(|t| t.contains('\n'));
            let is_attribute = before == "{" && (after == "," || after == "}" && !own_line);
            is_name(name)
                && !matches!(before, "," | "<" | "(" | "[" | "applies")
                && after != "="
                && !is_attribute
        };
        if is_operation {
            found.push(Start { name, at });
        }
        (before, behind) = (piece, at + piece.len());
        token = next;
    }
    found
}

/// Types in a text that are not supported, with their offsets: StableHLO's own types such as `!stablehlo.token`,
/// quantized types, floats of 4 to 8 bits, and integers of 2.
pub(crate) fn foreign_types(text: &str) -> Vec<Start<'_>> {
    let mut tokens = Tokens { text, at: 0 };
    let mut found = Vec::new();
    let mut before = "";
    while let Some((at, piece)) = tokens.next() {
        let element = piece.rsplit('x').next().unwrap_or(piece);
        let is_small = ["f4E", "f6E", "f8E"].iter().any(|f| element.starts_with(f))
            || ["i2", "si2", "ui2"].contains(&element);
        if ["!stablehlo.", "!quant."].iter().any(|own| piece.starts_with(own)) {
            found.push(Start { name: piece, at });
        } else if is_small && matches!(before, "<" | ":" | "(") {
            found.push(Start { name: element, at });
        }
        before = piece;
    }
    found
}

/// The offsets at which literals of tensors begin: `dense<` and `sparse<`.
pub(crate) fn literals(text: &str) -> Vec<usize> {
    let mut tokens = Tokens { text, at: 0 };
    let mut found = Vec::new();
    let mut before = None;
    while let Some((at, piece)) = tokens.next() {
        found.extend(before.filter(|_| piece == "<"));
        before = matches!(piece, "dense" | "sparse").then_some(at);
    }
    found
}

/// Whether a word is `dialect.operation`.
fn is_name(word: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$');
    word.contains('.')
        && word.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && word.chars().all(is_word)
}

/// The name of a generic operation may contain other characters, as in `stablehlo.cross-replica-sum`.
fn is_quoted_name(text: &str) -> bool {
    let begins = text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    text.contains('.') && begins && !text.contains(char::is_whitespace)
}

/// Words, strings and single characters, without whitespace, comments, and the text after the module.
struct Tokens<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Tokens<'t> {
    fn next(&mut self) -> Option<(usize, &'t str)> {
        loop {
            let rest = self.text.get(self.at..)?;
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            let first = trimmed.chars().next()?;
            let until = |what: &str| trimmed.find(what).unwrap_or(trimmed.len());
            if trimmed.starts_with("//") {
                self.at += until("\n");
                continue;
            }
            if trimmed.starts_with("{-#") {
                self.at += until("#-}");
                continue;
            }
            let length = match first {
                '"' => string(trimmed),
                // Values, symbols, types, attributes and blocks are not words.
                '%' | '@' | '#' | '!' | '^' => {
                    let sigil = first.len_utf8();
                    sigil
                        + match trimmed.get(sigil..) {
                            Some(rest) if rest.starts_with('"') => string(rest),
                            Some(rest) => word(rest),
                            None => 0,
                        }
                }
                c if is_part(c) => word(trimmed),
                c => c.len_utf8(),
            };
            let at = self.at;
            self.at += length;
            return Some((at, trimmed.get(..length)?));
        }
    }

    /// The position after the parenthesis that closes the one that was just read.
    fn leave(&mut self) {
        let mut depth = 1;
        while depth > 0 {
            match self.next() {
                Some((_, "(")) => depth += 1,
                Some((_, ")")) => depth -= 1,
                Some(_) => {}
                None => return,
            }
        }
    }
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '$')
}

fn word(text: &str) -> usize {
    text.find(|c| !is_part(c)).unwrap_or(text.len())
}

/// The length of the string at the beginning of a text; unterminated strings end at the end of the line.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return at,
            '"' if !escaped => return at + 1,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    text.len()
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
    fn other_words_with_dots_are_none() {
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
