// SPDX-License-Identifier: Apache-2.0
//! Splits a text into the same tokens as MLIR's lexer, so that the checks and the parser agree.
//!
//! MLIR scans the body of an attribute or type of a dialect (`#d.a<…>`) character by character before the dialect
//! parses it, and does not skip comments. A comment in such a body could hide text either from this lexer or from MLIR,
//! so it is rejected.

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Word,
    Number,
    String,
    /// A word after `%`, `^`, `#`, `!` or `@`.
    Name,
    /// One character, `->`, `{-#` or `#-}`.
    Mark,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'t> {
    pub kind: Kind,
    pub at: usize,
    pub text: &'t str,
}

/// The error at which the lexer stops, and its offset in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stop {
    pub at: usize,
    pub message: &'static str,
}

/// The tokens in order; the last one may be a [`Stop`].
pub(crate) struct Tokens<'t> {
    text: &'t str,
    at: usize,
    /// The open brackets in the body of a dialect's attribute or type, outermost first.
    body: Vec<u8>,
}

impl<'t> Tokens<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Tokens { text, at: 0, body: Vec::new() }
    }

    fn byte(&self, offset: usize) -> u8 {
        let bytes = self.text.as_bytes();
        bytes.get(self.at + offset).copied().unwrap_or_default()
    }

    fn remaining(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Skips whitespace and comments.
    fn skip(&mut self) -> Result<(), Stop> {
        loop {
            match self.byte(0) {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                b'/' if self.byte(1) == b'/' => {
                    if !self.body.is_empty() {
                        let message = "a comment inside of an attribute or type of a dialect: remove it";
                        return Err(Stop { at: self.at, message });
                    }
                    let comment = self.remaining();
                    self.at += comment.find(['\n', '\r']).unwrap_or(comment.len());
                }
                _ => return Ok(()),
            }
        }
    }

    /// The kind and the length of the token at the current position.
    fn length(&self) -> Result<(Kind, usize), Stop> {
        Ok(match self.byte(0) {
            b'"' => (Kind::String, self.string(0)?),
            b'0'..=b'9' => (Kind::Number, self.number()),
            b'@' if self.byte(1) == b'"' => (Kind::Name, self.string(1)?),
            b'@' if is_letter(self.byte(1)) => (Kind::Name, self.run(1, is_of_word)),
            b'#' if self.byte(1) == b'-' && self.byte(2) == b'}' => (Kind::Mark, 3),
            b'%' | b'^' | b'#' | b'!' => match self.byte(1) {
                c if c.is_ascii_digit() => (Kind::Name, self.run(1, |c| c.is_ascii_digit())),
                c if is_of_suffix(c) => (Kind::Name, self.run(1, is_of_suffix)),
                _ => (Kind::Mark, 1),
            },
            b'{' if self.byte(1) == b'-' && self.byte(2) == b'#' => (Kind::Mark, 3),
            b'-' if self.byte(1) == b'>' => (Kind::Mark, 2),
            c if is_letter(c) => (Kind::Word, self.run(0, is_of_word)),
            _ => (Kind::Mark, self.remaining().chars().next().map_or(1, char::len_utf8)),
        })
    }

    /// The end of the run of bytes that satisfy a predicate, from an offset.
    fn run(&self, mut offset: usize, is_part: impl Fn(u8) -> bool) -> usize {
        while is_part(self.byte(offset)) {
            offset += 1;
        }
        offset
    }

    fn number(&self) -> usize {
        let is_digit = |c: u8| c.is_ascii_digit();
        if self.byte(0) == b'0' && self.byte(1) == b'x' && self.byte(2).is_ascii_hexdigit() {
            return self.run(2, |c| c.is_ascii_hexdigit());
        }
        let whole = self.run(0, is_digit);
        if self.byte(whole) != b'.' {
            return whole;
        }
        let fraction = self.run(whole + 1, is_digit);
        let sign = usize::from(matches!(self.byte(fraction + 1), b'+' | b'-'));
        if matches!(self.byte(fraction), b'e' | b'E') && is_digit(self.byte(fraction + 1 + sign)) {
            self.run(fraction + 1 + sign, is_digit)
        } else {
            fraction
        }
    }

    /// The end of the string whose opening quotation mark is at an offset.
    fn string(&self, mut offset: usize) -> Result<usize, Stop> {
        let stop = |offset: usize, message| {
            let at = self.at + offset;
            Err(Stop { at, message })
        };
        loop {
            offset += 1;
            match self.byte(offset) {
                b'"' => return Ok(offset + 1),
                // The text contains no NUL characters, so NUL is the end of the text.
                0 | b'\n' | 0x0b | 0x0c => return stop(offset, "expected '\"' in string literal"),
                b'\\' => match (self.byte(offset + 1), self.byte(offset + 2)) {
                    (b'"' | b'\\' | b'n' | b't', _) => offset += 1,
                    (a, b) if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => offset += 2,
                    _ => return stop(offset, "unknown escape in string literal"),
                },
                _ => {}
            }
        }
    }

    /// Tracks the brackets in the body of a dialect's attribute or type, like MLIR.
    fn follow(&mut self, token: Token) {
        let Some(&first) = token.text.as_bytes().first() else { return };
        let is_attribute = token.kind == Kind::Name && matches!(first, b'#' | b'!');
        if self.body.is_empty() {
            // The opening bracket is the next token, which is pushed then.
            if is_attribute && self.byte(0) == b'<' {
                self.body.push(b'#');
            }
            return;
        }
        if token.kind != Kind::Mark {
            return;
        }
        match (first, token.text) {
            (_, "->") => {}
            (b'<' | b'(' | b'[' | b'{', _) => self.body.push(first),
            (b'>' | b')' | b']' | b'}', _) | (_, "#-}") => {
                self.body.pop();
            }
            _ => {}
        }
        // Only the marker of the body remains: the bracket that opened the body is closed.
        if self.body.len() == 1 {
            self.body.clear();
        }
    }
}

impl<'t> Iterator for Tokens<'t> {
    type Item = Result<Token<'t>, Stop>;

    fn next(&mut self) -> Option<Self::Item> {
        let (kind, length) = match self.skip().and_then(|()| self.length()) {
            Ok(token) => token,
            Err(stop) => {
                self.at = self.text.len();
                return Some(Err(stop));
            }
        };
        let at = self.at;
        let text = self.text.get(at..at + length)?;
        self.at += length;
        let token = Token { kind, at, text };
        self.follow(token);
        Some(Ok(token))
    }
}

fn is_letter(c: u8) -> bool {
    c.is_ascii_alphabetic() || c == b'_'
}

fn is_of_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'_' | b'$' | b'.')
}

fn is_of_suffix(c: u8) -> bool {
    is_of_word(c) || c == b'-'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<&str> {
        let tokens = Tokens::new(text).map_while(Result::ok);
        tokens.map(|token| token.text).collect()
    }

    fn stop(text: &str) -> Option<usize> {
        Tokens::new(text).find_map(|token| Some(token.err()?.at))
    }

    #[test]
    fn tokens_are_those_of_mlir() {
        assert_eq!(
            pieces("%a-b:2 = \"x.y\\\"\"(%0#1) {k = -1.5e-3 : f32} -> !t<i8> @\"a b\" @f.g"),
            [
                "%a-b",
                ":",
                "2",
                "=",
                "\"x.y\\\"\"",
                "(",
                "%0",
                "#1",
                ")",
                "{",
                "k",
                "=",
                "-",
                "1.5e-3",
                ":",
                "f32",
                "}",
                "->",
                "!t",
                "<",
                "i8",
                ">",
                "@\"a b\"",
                "@f.g"
            ]
        );
        assert_eq!(
            pieces("{-# a: \"#-}\" #-} 0xi32 0x1Fg"),
            ["{-#", "a", ":", "\"#-}\"", "#-}", "0", "xi32", "0x1F", "g"]
        );
        // Both kinds of line end end a comment.
        assert_eq!(pieces("a // \"\nb // {\rc"), ["a", "b", "c"]);
    }

    #[test]
    fn invalid_tokens_stop_the_lexer() {
        assert_eq!(stop("a \"b\n\""), Some(4));
        assert_eq!(stop("\"\\q\""), Some(1));
        assert_eq!(stop("\"a"), Some(2));
        assert_eq!(stop("#a.b<\"<\", [ //>"), Some(12));
        // Near misses: a comment after the body, a comment after an alias, an arrow in the body.
        assert_eq!(stop("#a.b<[(->)]> // \"\n #a // \" \n #a < // \""), None);
    }
}
