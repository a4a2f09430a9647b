// SPDX-License-Identifier: Apache-2.0
//! The bytes that tokens stand for.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::error::Error;
use crate::vocabulary::{Kind, TokenKind, Vocabulary};

/// The character of a space in the tokens of SentencePiece.
pub(crate) const SPACE: char = '▁';

/// The characters that stand for bytes in the tokens of GPT-2: themselves if they are visible in Latin-1, otherwise the characters
/// from U+0100.
static BYTES: LazyLock<HashMap<char, u8>> = LazyLock::new(|| {
    let is_visible = |byte: u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    let visible = (0..=u8::MAX).filter(|byte| is_visible(*byte)).map(|byte| (char::from(byte), byte));
    let others = ('\u{100}'..).zip((0..=u8::MAX).filter(|byte| !is_visible(*byte)));
    visible.chain(others).collect()
});

/// The bytes of each token; empty for tokens that are not text.
///
/// # Errors
/// [`Error::Tokenizer`] if a token of a byte has another form than `<0x0A>`.
pub(crate) fn bytes_of_tokens(vocabulary: &Vocabulary) -> Result<Vec<Box<[u8]>>, Error> {
    let tokens = vocabulary.tokens.iter().zip(&vocabulary.kinds);
    tokens
        .map(|(token, kind)| match kind {
            TokenKind::Control | TokenKind::Unknown | TokenKind::Unused => Ok(Box::default()),
            TokenKind::UserDefined if vocabulary.kind != Kind::Scores => Ok(token.as_bytes().into()),
            TokenKind::Byte => byte(token).map(|byte| [byte].into()),
            TokenKind::Normal | TokenKind::UserDefined => Ok(text(vocabulary.kind, token).into()),
        })
        .collect()
}

/// The byte of a token such as `<0x0A>`.
fn byte(token: &str) -> Result<u8, Error> {
    let digits = token.strip_prefix("<0x").and_then(|rest| rest.strip_suffix('>'));
    let is_hexadecimal = |digits: &&str| digits.len() == 2 && digits.bytes().all(|c| c.is_ascii_hexdigit());
    let byte = digits.filter(is_hexadecimal).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    let shown: String = token.chars().take(20).collect();
    byte.ok_or_else(|| Error::Tokenizer(format!("the token `{shown}` of a byte is not of the form <0x0A>")))
}

fn text(kind: Kind, token: &str) -> Vec<u8> {
    if kind == Kind::Scores {
        return token.replace(SPACE, " ").into_bytes();
    }
    // A token that was added to the vocabulary may have characters that do not stand for bytes.
    let bytes: Option<Vec<u8>> = token.chars().map(|c| BYTES.get(&c).copied()).collect();
    bytes.unwrap_or_else(|| token.as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_stand_for_all_bytes() {
        let mut bytes: Vec<u8> = BYTES.values().copied().collect();
        bytes.sort_unstable();
        assert_eq!(bytes, (0..=u8::MAX).collect::<Vec<u8>>());
        // The characters of a space and of a line feed in GPT-2's vocabulary.
        assert_eq!((BYTES[&'Ġ'], BYTES[&'Ċ'], BYTES[&'a']), (b' ', b'\n', b'a'));
    }

    #[test]
    fn bytes_have_two_hexadecimal_digits() {
        assert_eq!(byte("<0x0A>").unwrap(), 10);
        for wrong in ["<0xA>", "<0x+A>", "0x0A", "<0x0AB>", ""] {
            assert!(byte(wrong).is_err(), "{wrong}");
        }
    }
}
