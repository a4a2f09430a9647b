// SPDX-License-Identifier: Apache-2.0
//! A light scanner: just enough of the lexical grammar to cut a file into statements and to bound its nesting.

/// The kinds of tokens that the splitter must distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Letters, digits and `_`, numbers included.
    Word,
    /// A quoted text.
    String,
    /// A quote that is not closed on its line; it extends to the end of the line.
    OpenString,
    /// An opening bracket.
    Open(Bracket),
    /// A closing bracket.
    Close(Bracket),
    /// `;`
    Semicolon,
    /// `,`
    Comma,
    /// `@`
    At,
    /// One operator; adds at most one level to a syntax tree.
    Operator,
    /// `.`, `:`, `|`, `~`, `=`, and everything that is not part of the language.
    Other,
    /// From `#` to the end of the line.
    Comment,
}

/// The kinds of brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bracket {
    /// `()`
    Round,
    /// `[]`
    Square,
    /// `{}`
    Curly,
}

impl Bracket {
    pub(super) fn opening(self) -> &'static str {
        match self {
            Bracket::Round => "(",
            Bracket::Square => "[",
            Bracket::Curly => "{",
        }
    }

    pub(super) fn closing(self) -> &'static str {
        match self {
            Bracket::Round => ")",
            Bracket::Square => "]",
            Bracket::Curly => "}",
        }
    }
}

/// One token, or a comment.
#[derive(Clone, Copy, Debug)]
pub struct Token<'t> {
    /// The kind of the token.
    pub kind: TokenKind,
    /// The token's part of the scanned text, or the text that an edit writes in its place.
    pub text: &'t str,
    /// The byte offset of its beginning.
    pub start: usize,
    /// The byte offset of its end.
    pub end: usize,
    /// The number of open brackets around the token: the contents of a bracket are the deeper tokens after it.
    pub depth: usize,
}

/// All tokens of `text` without whitespace and comments. Linear; never fails.
pub fn scan(text: &str) -> Vec<Token<'_>> {
    let mut tokens = lex(text);
    tokens.retain(|token| token.kind != TokenKind::Comment);
    tokens
}

/// All tokens and comments of `text`; only whitespace is between them.
pub fn lex(text: &str) -> Vec<Token<'_>> {
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

/// The index of the innermost bracket that is open after some tokens.
pub fn enclosing(tokens: &[Token]) -> Option<usize> {
    let is_open = |t: &Token| matches!(t.kind, TokenKind::Open(_));
    let depth = tokens.last().map(|t| t.depth + usize::from(is_open(t)))?;
    tokens.iter().rposition(|t| is_open(t) && t.depth + 1 == depth)
}

/// The dotted path in `text` with which some tokens end.
pub fn path<'t>(text: &'t str, tokens: &[Token]) -> Option<&'t str> {
    let (last, mut before) = tokens.split_last().filter(|(last, _)| last.kind == TokenKind::Word)?;
    let mut start = last.start;
    while let [rest @ .., word, point] = before
        && text.get(word.start..start).is_some_and(|path| path == format!("{}.", word.text))
        && (word.kind, point.text) == (TokenKind::Word, ".")
    {
        (before, start) = (rest, word.start);
    }
    text.get(start..last.end)
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
