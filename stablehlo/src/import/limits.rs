// SPDX-License-Identifier: Apache-2.0
//! Limits on nesting, aliases and numbers of a program, checked on tokens before MLIR parses it, because MLIR's parser
//! and printer recurse.
//!
//! The parser replaces an alias of a type or attribute by its text, and an alias that uses another alias twice doubles
//! the text. This module computes the size of the expanded text without expanding it.

use super::refusal::Refusal;
use super::tokens::{Kind, Token, Tokens};
use std::collections::HashMap;
use std::iter::Peekable;

/// The maximum nesting of brackets, including those of regions.
const MAX_NESTING: usize = 256;
/// The maximum nesting of brackets in locations: a level for each call of a call stack.
const MAX_LOCATION_NESTING: usize = 4096;
/// The maximum size in bytes of an expanded alias.
const MAX_ALIAS: u64 = 64 << 10;
/// The maximum total size in bytes of all expanded uses of aliases outside of locations.
const MAX_ALIASES: u64 = 4 << 20;
/// The maximum number of characters of a number: enough for the exact value of each 64-bit float. MLIR's parser needs
/// cubic time for long integers. LLVM misreads floats of more than about 16,000 digits, and overflows the stack for
/// even longer floats.
const MAX_DIGITS: usize = 1100;
/// The maximum rank of a type. MLIR needs quadratic time for the shapes of longer ones.
const MAX_RANK: usize = 1024;
/// The maximum alignment of elements in the file's resources. MLIR does not check the alignment: it aborts for 0, and
/// passes other numbers to the allocator.
const MAX_ALIGNMENT: u32 = 4096;
/// Keywords of attributes that MLIR parses by recursion and that no supported program contains.
const FOREIGN: [&str; 2] = ["affine_map", "affine_set"];

/// The entry for `{-#` on the stack of open brackets.
const METADATA: u8 = b'-';

/// Refuses the first token that exceeds a limit, or that MLIR's lexer rejects.
pub(super) fn refusal(text: &str) -> Option<Refusal> {
    let mut scan = Scan {
        tokens: Tokens::new(text).peekable(),
        open: Vec::new(),
        location: None,
        aliases: HashMap::new(),
        definition: None,
        used: 0,
        rank: 0,
        before: "",
        earlier: "",
    };
    let violation = scan.run().err()?;
    Some(Refusal {
        malformed: violation.malformed,
        ..Refusal::malformed_at(text, violation.at, violation.message)
    })
}

struct Violation {
    malformed: bool,
    at: usize,
    message: String,
}

impl Violation {
    /// The error of a program that exceeds a limit.
    fn excess(at: usize, message: String) -> Self {
        Violation { malformed: false, at, message }
    }
}

/// The size of an alias after expansion.
#[derive(Clone, Copy, Default)]
struct Extent {
    bytes: u64,
    /// The nesting of brackets.
    levels: usize,
}

/// The alias whose definition is being scanned.
struct Definition<'t> {
    name: &'t str,
    at: usize,
    is_location: bool,
    extent: Extent,
    /// The number of bytes in `extent` that come from the expansion of other aliases.
    added: u64,
}

struct Scan<'t> {
    tokens: Peekable<Tokens<'t>>,
    /// The stack of open brackets.
    open: Vec<u8>,
    /// The number of open brackets at the outermost `loc`.
    location: Option<usize>,
    aliases: HashMap<&'t str, Extent>,
    definition: Option<Definition<'t>>,
    /// The total size of the expanded uses so far.
    used: u64,
    /// The number of dimensions before the current token, if it continues a shape.
    rank: usize,
    before: &'t str,
    /// The token before that.
    earlier: &'t str,
}

impl<'t> Scan<'t> {
    fn run(&mut self) -> Result<(), Violation> {
        while let Some(token) = self.tokens.next() {
            let token = token.map_err(|stop| Violation {
                malformed: true,
                at: stop.at,
                message: stop.message.to_owned(),
            })?;
            let next = self.tokens.peek().and_then(|next| next.as_ref().ok());
            let next = next.map_or("", |token| token.text);
            if self.open.is_empty() {
                self.begin(token, next);
            }
            self.bracket(token);
            let is_location =
                self.location.is_some() || self.definition.as_ref().is_some_and(|d| d.is_location);
            self.name(token, is_location)?;
            self.check(token, is_location)?;
            self.rank += dimensions(token);
            if self.rank > MAX_RANK {
                let message = format!("a shape of more than {MAX_RANK} dimensions is not supported");
                return Err(Violation::excess(token.at, message));
            }
            if !(token.kind == Kind::Number || token.text == "?" || ends_in_dimension(token)) {
                self.rank = 0;
            }
            self.earlier = std::mem::replace(&mut self.before, token.text);
        }
        Ok(())
    }

    /// Ends the definition of an alias at the beginning of the next statement, and begins a new one.
    fn begin(&mut self, token: Token<'t>, next: &str) {
        let is_alias = token.kind == Kind::Name && token.text.starts_with(['#', '!']) && next == "=";
        let is_statement = match token.kind {
            Kind::Word => {
                token.text.contains('.') || token.text == "module" || next.starts_with('@') || next == "{"
            }
            Kind::String => next == "(",
            Kind::Name => is_alias || token.text.starts_with('%'),
            Kind::Mark => token.text == "{-#",
            Kind::Number => false,
        };
        if !is_statement {
            return;
        }
        if let Some(done) = self.definition.take() {
            self.aliases.insert(done.name, done.extent);
        }
        if is_alias {
            self.definition = Some(Definition {
                name: token.text,
                at: token.at,
                is_location: false,
                extent: Extent::default(),
                added: 0,
            });
        }
    }

    /// Tracks brackets. In affine constraints `<` and `>` are comparisons: they do not open, and a `>` without an open
    /// `<` is ignored.
    fn bracket(&mut self, token: Token) {
        if token.kind == Kind::Word && token.text == "loc" {
            if let Some(definition) = &mut self.definition {
                definition.is_location |= self.before == "=" && self.open.is_empty();
            }
            return;
        }
        let first = match token.text.as_bytes() {
            b"{-#" => METADATA,
            [first, ..] => *first,
            [] => return,
        };
        let closes = match (token.kind, first) {
            (Kind::Mark, b'(' | b'[' | b'{' | b'<' | METADATA) if token.text != "->" => {
                if self.before == "loc" && first == b'(' {
                    self.location.get_or_insert(self.open.len());
                }
                self.open.push(first);
                return;
            }
            (Kind::Mark, b')') => b'(',
            (Kind::Mark, b']') => b'[',
            (Kind::Mark, b'}') => b'{',
            (Kind::Mark, b'>') if self.open.last() == Some(&b'<') => b'<',
            (Kind::Mark, b'#') if token.text == "#-}" => METADATA,
            _ => return,
        };
        if let Some(at) = self.open.iter().rposition(|open| *open == closes) {
            self.open.truncate(at);
        }
        if self.location.is_some_and(|levels| self.open.len() <= levels) {
            self.location = None;
        }
    }

    /// Adds a token, or the expansion of an alias, to the definition that contains it.
    fn name(&mut self, token: Token<'t>, is_location: bool) -> Result<(), Violation> {
        let is_alias = token.kind == Kind::Name && token.text.starts_with(['#', '!']);
        let known = match self.aliases.get(token.text) {
            Some(known) if is_alias => *known,
            // An undefined alias has no size: the parser reports it.
            _ => Extent::default(),
        };
        let levels = self.open.len() + known.levels;
        let Some(definition) = &mut self.definition else {
            if !is_location {
                self.used = self.used.saturating_add(known.bytes);
            }
            return self.check_levels(token.at, levels, is_location);
        };
        let length = u64::try_from(token.text.len()).unwrap_or(u64::MAX);
        let bytes = length.saturating_add(known.bytes);
        definition.extent.bytes = definition.extent.bytes.saturating_add(bytes);
        // A definition may contain the elements of a tensor: only expansions are limited.
        definition.added = definition.added.saturating_add(known.bytes);
        definition.extent.levels = definition.extent.levels.max(levels);
        if definition.added > MAX_ALIAS {
            let message = format!(
                "the alias `{}` stands for more than {MAX_ALIAS} bytes of text, through the aliases that it names",
                definition.name
            );
            return Err(Violation::excess(definition.at, message));
        }
        self.check_levels(token.at, levels, is_location)
    }

    fn check_levels(&self, at: usize, levels: usize, is_location: bool) -> Result<(), Violation> {
        let max_levels = if is_location { MAX_LOCATION_NESTING } else { MAX_NESTING };
        if levels <= max_levels {
            return Ok(());
        }
        let message = format!(
            "regions and brackets are nested more than {max_levels} levels deep here: write a function for the inner ones, or \
             a loop"
        );
        Err(Violation::excess(at, message))
    }

    fn check(&self, token: Token, is_location: bool) -> Result<(), Violation> {
        if self.used > MAX_ALIASES && !is_location {
            let message = format!(
                "the uses of aliases up to here stand for more than {MAX_ALIASES} bytes of text: name shorter types"
            );
            return Err(Violation::excess(token.at, message));
        }
        if let Some((offset, digits)) = longest_number(token).filter(|(_, n)| *n > MAX_DIGITS) {
            let message = format!(
                "a number of {digits} characters: at most {MAX_DIGITS} are read, and no type needs more"
            );
            return Err(Violation { malformed: true, at: token.at + offset, message });
        }
        let is_resource = token.kind == Kind::String && self.open.first() == Some(&METADATA);
        if let Some(bytes) = alignment(token.text).filter(|_| is_resource)
            && !(1..=MAX_ALIGNMENT).contains(&bytes)
        {
            let message = format!(
                "a resource cannot be aligned to {bytes} bytes: its first four bytes, the lowest first, are a power of \
                 two up to {MAX_ALIGNMENT}"
            );
            return Err(Violation { malformed: true, at: token.at, message });
        }
        if token.kind == Kind::Word && FOREIGN.contains(&token.text) {
            let message = format!("`{}` is not supported", token.text);
            return Err(Violation::excess(token.at, message));
        }
        // MLIR's parser asks for the width of the elements, which `index` does not have; an alias may be `index`.
        if self.earlier == "array"
            && self.before == "<"
            && (token.text == "index" || token.text.starts_with('!'))
        {
            let message = format!("`array<{}: …>` is not supported: use i64", token.text);
            return Err(Violation::excess(token.at, message));
        }
        Ok(())
    }
}

/// The number of dimensions that a token ends: MLIR's lexer splits `2x?x3xf32` into `2`, `x`, `?`, `x3xf32`.
fn dimensions(token: Token) -> usize {
    let is_part = token.kind == Kind::Word && token.text.starts_with('x');
    let shape = token.text.bytes().take_while(|c| c.is_ascii_digit() || *c == b'x');
    if is_part { shape.filter(|c| *c == b'x').count() } else { 0 }
}

/// Whether a shape may continue after a token.
fn ends_in_dimension(token: Token) -> bool {
    token.kind == Kind::Word && token.text.bytes().all(|c| c.is_ascii_digit() || c == b'x')
}

/// The offset and the length of the longest number in a token; `None` for marks and strings. Words and names may
/// contain numbers: extents, as in `x4xf32`, and numbers of values.
fn longest_number(token: Token) -> Option<(usize, usize)> {
    match token.kind {
        Kind::Number => Some((0, token.text.len())),
        Kind::Name if token.text.starts_with('@') => None,
        Kind::Word | Kind::Name => {
            let runs = token.text.split(|c: char| !c.is_ascii_digit());
            let offset = |run: &str| run.as_ptr().addr() - token.text.as_ptr().addr();
            runs.map(|run| (offset(run), run.len())).max_by_key(|run| run.1)
        }
        Kind::String | Kind::Mark => None,
    }
}

/// The alignment of a resource, from its string in the text.
fn alignment(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\"0x")?.get(..8)?;
    u32::from_str_radix(digits, 16).ok().map(u32::swap_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MLIR aborts on an alignment of 0.
    #[test]
    fn alignments_of_resources_are_supported_by_the_system() {
        let aligned = |digits: &str| {
            source_position(&format!("{{-# dialect_resources: {{ builtin: {{ a: \"0x{digits}FF\" }} }} #-}}"))
        };
        for digits in ["00000000", "00000080", "00200000"] {
            assert_eq!(aligned(digits), Some((1, 40)), "{digits}");
        }
        for digits in ["01000000", "00100000", "0400"] {
            assert_eq!(aligned(digits), None, "{digits}");
        }
        // Near misses: other positions.
        assert_eq!(source_position("dense<\"0x00000000\">"), None);
        assert_eq!(source_position("{-# a: {} #-} {a = \"0x00000000\"}"), None);
    }

    fn source_position(text: &str) -> Option<(usize, usize)> {
        refusal(text)?.source_position
    }

    #[test]
    fn ranks_are_bounded() {
        let shape = |dimension: &str, rank: usize| format!("tensor<{}f32>", dimension.repeat(rank));
        for dimension in ["1x", "?x", "2x?x"] {
            let rank = MAX_RANK / dimension.matches('x').count();
            assert_eq!(source_position(&shape(dimension, rank)), None, "{dimension}");
            assert!(source_position(&shape(dimension, rank + 1)).is_some(), "{dimension}");
        }
        // Near misses: many types, a word.
        assert_eq!(source_position(&shape("1x", 9).repeat(MAX_RANK)), None);
        assert_eq!(source_position(&format!("y{}", "x".repeat(4 * MAX_RANK))), None);
    }

    fn doubled(kind: &str, levels: usize) -> String {
        let mut text = format!("{kind}0 = f32\n");
        for n in 1..=levels {
            text.push_str(&format!("{kind}{n} = tuple<{kind}{0}, {kind}{0}>\n", n - 1));
        }
        text
    }

    #[test]
    fn nesting_is_bounded_where_it_exceeds() {
        let nested = |levels: usize| format!("x\n{}{}", "({".repeat(levels), "})".repeat(levels));
        assert_eq!(source_position(&nested(MAX_NESTING / 2)), None);
        assert_eq!(source_position(&nested(MAX_NESTING / 2 + 1)), Some((2, MAX_NESTING + 1)));
        // Near misses: in sequence, in strings and comments.
        assert_eq!(source_position(&"({}) ".repeat(MAX_NESTING * 4)), None);
        let many = "(".repeat(MAX_NESTING * 4);
        assert_eq!(source_position(&format!("\"{many}\" // {many}\n")), None);
    }

    /// Comparisons of affine constraints do not close brackets.
    #[test]
    fn a_bracket_that_closes_nothing_hides_no_level() {
        let hidden = "({ >= ".repeat(MAX_NESTING);
        assert!(source_position(&hidden).is_some());
    }

    #[test]
    fn the_expansion_of_aliases_is_bounded() {
        assert_eq!(source_position(&doubled("!a", 10)), None);
        let (line, _) = source_position(&doubled("!a", 22)).unwrap();
        assert!((12..=15).contains(&line), "{line}");
        // An undefined alias, and many uses of a short alias.
        assert_eq!(source_position("!a = tuple<!b, !b>\n"), None);
        assert_eq!(source_position(&format!("!a = f32\n{}", "x.y !a ".repeat(1000))), None);
        let uses = "x.y !a10\n".repeat(400);
        assert!(source_position(&(doubled("!a", 10) + &uses)).is_some_and(|p| p.0 > 100));
    }

    #[test]
    fn chains_of_aliases_are_levels() {
        let chain = |levels: usize| {
            let mut text = "#a0 = 1\n".to_owned();
            for n in 1..=levels {
                text.push_str(&format!("#a{n} = [#a{}]\n", n - 1));
            }
            text
        };
        assert_eq!(source_position(&chain(MAX_NESTING)), None);
        assert_eq!(source_position(&chain(MAX_NESTING + 1)), Some((MAX_NESTING + 2, 10)));
    }

    /// A call stack is deep, and many operations name each of its frames.
    #[test]
    fn locations_may_be_deep() {
        let mut text = "#loc0 = loc(\"a.py\":1:2)\n".to_owned();
        for n in 1..=500 {
            let line = format!("#loc{n} = loc(callsite(\"f\"(\"a.py\":{n}:2) at #loc{}))\n", n - 1);
            text.push_str(&line);
        }
        let uses = "%0 = x.y %a loc(#loc500)\n".repeat(1000);
        assert_eq!(refusal(&(text.clone() + &uses)), None);
        assert_eq!(
            source_position(&(text + "#l = loc(fused[#loc500, #loc500, #loc500, #loc500, #loc500])")),
            Some((502, 1))
        );
    }

    #[test]
    fn long_numbers_are_found_before_the_parser_reads_them() {
        let many = "1".repeat(MAX_DIGITS + 1);
        assert_eq!(source_position(&format!("x\n dense<{many}>")), Some((2, 8)));
        assert_eq!(source_position(&format!("dense<-{many}")), Some((1, 8)));
        // After a string that ends with a backslash.
        assert_eq!(source_position(&format!("\"\\\\\" {many}")), Some((1, 6)));
        for (text, column) in [
            (format!("dense<0.{many}>"), 7),
            (format!("dense<{many}.5e3>"), 7),
            (format!("dense<1.5e{many}>"), 7),
            (format!("a = 0x{many} : f32"), 5),
            (format!("tensor<4x{many}xf32>"), 10),
            (format!("tensor<{many}xf32>"), 8),
            (format!("loc(\"a\":{many}:2)"), 9),
            (format!("x : i{many}"), 6),
            (format!("%{many} = x"), 2),
            (format!("%0#{many}"), 4),
        ] {
            assert_eq!(source_position(&text), Some((1, column)), "{text}");
        }
        for other in [
            format!("dense<\"0x{many}\">"),
            format!("// {many}"),
            format!("@f_{many} @\"{many}\""),
            format!("dense<{}>", &many[1..]),
            format!("dense<{}.5>", &many[3..]),
        ] {
            assert_eq!(source_position(&other), None, "{other}");
        }
    }
}
