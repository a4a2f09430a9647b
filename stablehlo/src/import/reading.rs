// SPDX-License-Identifier: Apache-2.0
//! Translates the spelling of the StableHLO draft to the spelling that the dialect parses; line numbers do not change.
//!
//! `siN` becomes `iN`, `pred` becomes `i1`, `c64` and `c128` become `complex<f32>` and `complex<f64>`, `max` and `min`
//! become `maximum` and `minimum`, `ml_program` functions become `func` functions.

use super::tokens::{Kind, Token, Tokens};
use skript_passes::ir::ops;

/// Element types of the draft, and their current names.
pub(crate) const TYPES: [(&str, &str); 8] = [
    ("si4", "i4"),
    ("si8", "i8"),
    ("si16", "i16"),
    ("si32", "i32"),
    ("si64", "i64"),
    ("pred", "i1"),
    ("c64", "complex<f32>"),
    ("c128", "complex<f64>"),
];

/// Other keywords of the draft, and their current names.
pub(crate) const WORDS: [(&str, &str); 4] = [
    ("stablehlo.max", ops::stablehlo::MAXIMUM),
    ("stablehlo.min", ops::stablehlo::MINIMUM),
    (ops::ml_program::FUNC, ops::func::FUNC),
    (ops::ml_program::RETURN, ops::func::RETURN),
];

/// Translates the text to the current spelling.
pub(crate) fn normalized(text: &str) -> String {
    let text = words(text);
    text.split('\n').map(packed).collect::<Vec<_>>().join("\n")
}

/// Repacks hexadecimal bools: JAX writes one byte per bool, MLIR reads eight bools per byte. The text after the literal
/// keeps its column.
fn packed(line: &str) -> String {
    const BEGIN: &str = "dense<\"0x";
    let mut result = String::new();
    let mut remaining = line;
    while let Some(at) = remaining.find(BEGIN) {
        let (before, digits) = remaining.split_at(at + BEGIN.len());
        result.push_str(before);
        remaining = digits;
        if let Some((digits, after)) = digits.split_once('"')
            && let Some(bits) = bits(digits, after)
        {
            result.push_str(&bits);
            result.push_str("\">");
            result.extend(std::iter::repeat_n(' ', digits.len() - bits.len()));
            remaining = after.strip_prefix('>').unwrap_or(after);
        }
    }
    result + remaining
}

/// The digits of bools with eight bools per byte, if the type after the literal shows that it has one byte per bool.
fn bits(digits: &str, after: &str) -> Option<String> {
    let r#type = after.strip_prefix('>')?.trim_start().strip_prefix(':')?;
    let (shape, _) = r#type.trim_start().strip_prefix("tensor<")?.split_once('>')?;
    let mut extents = shape.strip_suffix("xi1")?.split('x');
    let count = extents.try_fold(1usize, |count, extent| count.checked_mul(extent.trim().parse().ok()?))?;
    if count < 2 || Some(digits.len()) != count.checked_mul(2) {
        return None;
    }
    let bytes = digits.as_bytes().chunks(2).map(|byte| {
        let byte = std::str::from_utf8(byte).ok()?;
        u8::from_str_radix(byte, 16).ok().map(|byte| byte != 0)
    });
    let bools = bytes.collect::<Option<Vec<bool>>>()?;
    let packed = bools
        .chunks(8)
        .map(|bools| bools.iter().enumerate().fold(0u8, |byte, (n, bit)| byte | u8::from(*bit) << n));
    Some(packed.map(|byte| format!("{byte:02X}")).collect())
}

/// The text with the draft's keywords replaced, outside of strings and comments.
fn words(text: &str) -> String {
    let mut done = String::with_capacity(text.len());
    let mut copied = 0;
    for Token { kind, at, text: piece } in Tokens::new(text).map_while(Result::ok) {
        done.push_str(&text[copied..at]);
        copied = at + piece.len();
        let after = &text[copied..];
        match kind {
            Kind::Word => done.push_str(&word(piece, after)),
            // The name of an operation in the generic form.
            Kind::String if after.starts_with('(') => {
                done.push_str(&format!("\"{}\"", current_name(piece.trim_matches('"'))));
            }
            _ => done.push_str(piece),
        }
    }
    done + &text[copied..]
}

/// Translates an element type that ends a type, such as `2x3xsi32`, or a complete word.
fn word(piece: &str, after: &str) -> String {
    let ends_type = after.starts_with(['>', ',']);
    let (extents, element) = match piece.rfind('x') {
        Some(at) if piece[..at].chars().all(|c| c.is_ascii_digit() || c == 'x') => piece.split_at(at + 1),
        _ => ("", piece),
    };
    let renamed = TYPES.iter().find(|(old, _)| *old == element);
    if let Some((_, new)) = renamed.filter(|_| ends_type) {
        return format!("{extents}{new}");
    }
    current_name(piece).to_owned()
}

/// The current name of a word of the draft.
fn current_name(word: &str) -> &str {
    let renamed = WORDS.iter().find(|(old, _)| *old == word);
    renamed.map_or(word, |(_, new)| new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bools_of_a_byte_each_are_packed() {
        let line = "%c = stablehlo.constant dense<\"0x01000000000000000001\"> : tensor<2x5xi1>, dense<\"0xFF\"> : tensor<3xi1>";
        let read = normalized(line);
        assert!(read.starts_with("%c = stablehlo.constant dense<\"0x0102\"> "), "{read}");
        assert!(read.ends_with(": tensor<2x5xi1>, dense<\"0xFF\"> : tensor<3xi1>"), "{read}");
        assert_eq!(read.len(), line.len());
        // Another type, another length, no digits.
        for line in [
            "dense<\"0x0100\"> : tensor<2xi8>",
            "dense<\"0x0100\"> : tensor<9xi1>",
            "dense<\"0x01zz\"> : tensor<2xi1>",
            "dense<\"0x01",
        ] {
            assert_eq!(normalized(line), line);
        }
    }

    #[test]
    fn the_drafts_spelling_becomes_the_current_one() {
        let draft = "ml_program.func @max(%si32: tensor<2x3xsi32>) -> tensor<pred> { // tensor<si32>\n\
                     %x = stablehlo.max %a, %b : tensor<2xc128>";
        assert_eq!(
            normalized(draft),
            "func.func @max(%si32: tensor<2x3xi32>) -> tensor<i1> { // tensor<si32>\n\
             %x = stablehlo.maximum %a, %b : tensor<2xcomplex<f64>>"
        );
    }

    #[test]
    fn the_drafts_operations_are_read_in_the_generic_form() {
        let draft = "%0 = \"stablehlo.min\"(%a, %b) : (tensor<si8>, tensor<si8>) -> tensor<si8>";
        let line = "%0 = \"stablehlo.minimum\"(%a, %b) : (tensor<i8>, tensor<i8>) -> tensor<i8>";
        assert_eq!(normalized(draft), line);
    }

    /// Near misses: names, strings, unsigned types, words with the same beginning.
    #[test]
    fn other_words_are_unchanged() {
        let line = "%0 = call @si32(%pred) {a = \"tensor<si32>\"} : (tensor<4xui8>) -> tensor<2xf32>";
        assert_eq!(normalized(line), line);
        let line = "%0 = \"a.b\"(%x) {c = \"stablehlo.max\"} : (tensor<f32>) -> tensor<f32>";
        assert_eq!(normalized(line), line);
        let line = "stablehlo.maximum %max, %c64";
        assert_eq!(normalized(line), line);
    }
}
