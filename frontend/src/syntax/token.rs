// SPDX-License-Identifier: Apache-2.0
//! A light scanner: just enough of the lexical grammar to cut a file into statements and to bound its nesting.

/// The kinds of tokens that the splitter must distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// Letters, digits and `_`, numbers included.
    Word,
    String,
    /// A quote that is not closed on its line; it extends to the end of the line.
    OpenString,
    Open(Bracket),
    Close(Bracket),
    Semicolon,
    Comma,
    At,
    /// One operator; adds at most one level to a syntax tree.
    Operator,
    /// `.`, `:`, `|`, `~`, `=`, and everything that is not part of the language.
    Other,
    /// From `#` to the end of the line.
    Comment,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bracket {
    Round,
    Square,
    Curly,
}

impl Bracket {
    pub(crate) fn opening(self) -> &'static str {
        match self {
            Bracket::Round => "(",
            Bracket::Square => "[",
            Bracket::Curly => "{",
        }
    }

    pub(crate) fn closing(self) -> &'static str {
        match self {
            Bracket::Round => ")",
            Bracket::Square => "]",
            Bracket::Curly => "}",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'t> {
    pub(crate) kind: TokenKind,
    /// The token's part of the scanned text, or the text that an edit writes in its place.
    pub(crate) text: &'t str,
    /// Byte offsets.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The number of open brackets around the token: the contents of a bracket are the deeper tokens after it.
    pub(crate) depth: usize,
}

/// All tokens of `text` without whitespace and comments. Linear; never fails.
pub(crate) fn scan(text: &str) -> Vec<Token<'_>> {
    let mut tokens = lex(text);
    tokens.retain(|token| token.kind != TokenKind::Comment);
    tokens
}

/// All tokens and comments of `text`; only whitespace is between them.
pub(crate) fn lex(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        let kind = match c {
            c if c.is_ascii_whitespace() => continue,
            '#' => {
                while chars.next_if(|(_, c)| *c != '\n').is_some() {}
                TokenKind::Comment
            }
            '"' | '\'' => quoted(c, &mut chars),
            c if is_word(c) => {
                while chars.next_if(|(_, c)| is_word(*c)).is_some() {}
                TokenKind::Word
            }
            '(' => TokenKind::Open(Bracket::Round),
            '[' => TokenKind::Open(Bracket::Square),
            '{' => TokenKind::Open(Bracket::Curly),
            ')' => TokenKind::Close(Bracket::Round),
            ']' => TokenKind::Close(Bracket::Square),
            '}' => TokenKind::Close(Bracket::Curly),
            ';' => TokenKind::Semicolon,
            ',' => TokenKind::Comma,
            '@' => TokenKind::At,
            c => operator(c, &mut chars),
        };
        let end = chars.peek().map_or(text.len(), |(at, _)| *at);
        let Some(text) = text.get(start..end) else {
            unreachable!("internal compiler error: a token inside of a character")
        };
        tokens.push(Token { kind, text, start, end, depth: 0 });
    }
    nest(&mut tokens);
    tokens
}

/// Computes the depth of all tokens.
pub(super) fn nest(tokens: &mut [Token]) {
    let mut depth = 0_usize;
    for token in tokens {
        if let TokenKind::Close(_) = token.kind {
            depth = depth.saturating_sub(1);
        }
        token.depth = depth;
        depth += usize::from(matches!(token.kind, TokenKind::Open(_)));
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Operators of two characters that are never two consecutive prefixes.
const PAIRS: [(char, char); 15] = [
    ('*', '*'),
    ('=', '>'),
    ('=', '='),
    ('!', '='),
    ('<', '?'),
    ('>', '?'),
    ('<', '<'),
    ('>', '>'),
    ('<', '='),
    ('>', '='),
    ('&', '&'),
    ('|', '|'),
    ('<', '-'),
    ('-', '>'),
    ('<', '>'),
];

fn operator(c: char, chars: &mut std::iter::Peekable<std::str::CharIndices>) -> TokenKind {
    if chars.next_if(|(_, second)| PAIRS.contains(&(c, *second))).is_some()
        || matches!(c, '+' | '-' | '*' | '/' | '\\' | '%' | '<' | '>' | '!' | '?' | '&' | '^')
    {
        TokenKind::Operator
    } else {
        TokenKind::Other
    }
}

fn quoted(quote: char, chars: &mut std::iter::Peekable<std::str::CharIndices>) -> TokenKind {
    loop {
        match chars.peek() {
            None | Some((_, '\n')) => return TokenKind::OpenString,
            Some((_, '\\')) => {
                chars.next();
                chars.next_if(|(_, c)| *c != '\n');
            }
            Some((_, c)) => {
                let closed = *c == quote;
                chars.next();
                if closed {
                    return TokenKind::String;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        scan(text).into_iter().map(|t| t.kind).collect()
    }

    #[test]
    fn brackets_in_strings_and_comments_do_not_count() {
        use TokenKind::*;
        assert_eq!(kinds("a = '}' # } \n ; \"\\\"{\""), [Word, Other, String, Semicolon, String]);
    }

    #[test]
    fn an_unclosed_string_ends_with_its_line() {
        use TokenKind::*;
        let tokens = scan("x = 'ab;\ny");
        let kinds: Vec<_> = tokens.iter().map(|t| t.kind).collect();
        assert_eq!(kinds, [Word, Other, OpenString, Word]);
        assert_eq!(tokens[2].end, 8);
    }
}
