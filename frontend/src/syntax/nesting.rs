// SPDX-License-Identifier: Apache-2.0
//! An upper bound for the depth of a statement's syntax tree, computed from its tokens in one pass, so that neither the
//! recursive parser nor a walk over the tree exceeds the depth in [`Limits`].

use super::token::{Token, TokenKind};
use crate::limits::Limits;

/// One open bracket.
#[derive(Default)]
struct Level {
    /// The nesting since the last comma or semicolon.
    current: usize,
    /// The deepest nesting before it.
    deepest: usize,
}

impl Level {
    fn depth(&self) -> usize {
        self.current.max(self.deepest)
    }

    fn finish_part(&mut self) {
        self.deepest = self.depth();
        self.current = 0;
    }
}

/// The limit that a statement exceeds, and the first token beyond it.
pub(super) enum TooDeep<'t> {
    Nesting(&'t Token<'t>),
    Chain(&'t Token<'t>),
}

/// Returns the recursion depth of the parser. The parser does not recurse for operators between operands, but each of
/// them adds a level to the tree, so the limit for the tree is larger by [`Limits::chain`].
pub(super) fn depth<'t>(tokens: &'t [Token<'t>], limits: &Limits) -> Result<usize, TooDeep<'t>> {
    let nested = levels(tokens, limits.nesting, false).map_err(TooDeep::Nesting)?;
    if let Some(token) = beyond_chain(tokens, limits.chain) {
        return Err(TooDeep::Chain(token));
    }
    let max_count = limits.nesting.saturating_add(limits.chain);
    levels(tokens, max_count, true).map_err(TooDeep::Chain)?;
    Ok(nested)
}

/// The first binary operator after a sequence of `max_count` binary operators in the same brackets.
fn beyond_chain<'t>(tokens: &'t [Token<'t>], max_count: usize) -> Option<&'t Token<'t>> {
    let mut outer: Vec<usize> = Vec::new();
    let mut count = 0;
    let mut before: Option<&Token> = None;
    tokens.iter().find(|token| {
        match token.kind {
            TokenKind::Open(_) => outer.push(std::mem::take(&mut count)),
            TokenKind::Close(_) => count = outer.pop().unwrap_or_default(),
            TokenKind::Comma | TokenKind::Semicolon => count = 0,
            TokenKind::Operator if is_infix(before, token) => count += 1,
            TokenKind::Word if is_word_operator(token) => count += 1,
            _ => {}
        }
        before = Some(token);
        count > max_count
    })
}

/// Whether an operator is binary: an operand precedes it.
fn is_infix(before: Option<&Token>, token: &Token) -> bool {
    let operand = before.is_some_and(|t| match t.kind {
        TokenKind::Word => !is_word_operator(t),
        TokenKind::String | TokenKind::Close(_) => true,
        // `x + .. == 6`
        TokenKind::Other => t.text.starts_with('.'),
        _ => false,
    });
    operand && !token.text.starts_with('?') && token.text != "<-"
}

/// An upper bound of the nesting: brackets, plus operators in sequence with the deepest part. Operators between operands
/// count only if `chains_count` is set. `(a + b) + c` counts three. `Err` is the first token at which the nesting may
/// exceed `limit`.
fn levels<'t>(tokens: &'t [Token<'t>], limit: usize, chains_count: bool) -> Result<usize, &'t Token<'t>> {
    let mut outer: Vec<Level> = Vec::new();
    let mut level = Level::default();
    // Levels down to the innermost bracket: right-hand operators nest in all open levels.
    let mut above = 0;
    let mut deepest = 0;
    // `a[i][j]`: each bracket after another bracket nests the expression before it.
    let mut closed = false;
    let mut chains: Vec<bool> = Vec::new();
    let mut before: Option<&Token> = None;
    for token in tokens {
        match token.kind {
            TokenKind::Open(_) => {
                above += level.current + 1;
                chains.push(closed);
                outer.push(std::mem::take(&mut level));
            }
            TokenKind::Close(_) => {
                let inner = level.depth() + 1;
                level = outer.pop().unwrap_or_default();
                above = above.saturating_sub(level.current + 1);
                let chained = chains.pop().unwrap_or_default();
                level.current = inner.max(level.current + usize::from(chained));
            }
            TokenKind::Comma | TokenKind::Semicolon => level.finish_part(),
            TokenKind::Operator if chains_count || !is_infix(before, token) => {
                level.current += 1;
            }
            TokenKind::Word if chains_count && is_word_operator(token) => level.current += 1,
            _ => {}
        }
        before = Some(token);
        closed = matches!(token.kind, TokenKind::Close(_));
        deepest = deepest.max(above + level.depth());
        if deepest > limit {
            return Err(token);
        }
    }
    Ok(deepest)
}

fn is_word_operator(token: &Token) -> bool {
    matches!(token.text, "is" | "in")
}

#[cfg(test)]
mod tests {
    use super::super::token::scan;
    use super::*;

    fn too_deep(text: &str, limit: usize) -> bool {
        levels(&scan(text), limit, true).is_err()
    }

    #[test]
    fn counts_brackets_and_chains() {
        assert!(!too_deep("((a))", 2));
        assert!(too_deep("(((a)))", 2));
        assert!(too_deep("a + a + a + a", 2));
        assert!(too_deep("((a + b) + c) + d", 4));
        assert!(too_deep("----a", 3));
        assert!(!too_deep("a[i][j][k]", 3));
        assert!(too_deep("a[i][j][k][l]", 3));
        assert!(too_deep("a ? (a ? (a ? b : c) : d) : e", 4));
    }

    #[test]
    fn operators_side_by_side_do_not_nest() {
        let nested = |text: &str| levels(&scan(text), 100, false).ok();
        assert_eq!(nested("a + b * c - d is e && f in g"), Some(0));
        assert_eq!(nested("x + .. * .. == 6"), Some(0));
        assert_eq!(nested("a + -b"), Some(1));
        assert_eq!(nested("a ? b : c"), Some(1));
        assert_eq!(nested("a[0] <- b[0] <- c"), Some(3));
        assert_eq!(nested("(a + b) + (c + d) + (e + f)"), Some(2));
    }

    #[test]
    fn chains_are_counted_by_themselves() {
        let beyond = |text: &str, max_count| {
            let tokens = scan(text);
            beyond_chain(&tokens, max_count).map(|t| t.start)
        };
        assert_eq!(beyond("y[i,] = a + b + c, i < n", 2), None);
        assert_eq!(beyond("y[i,] = a + b + c + d, i < n", 2), Some(18));
        assert_eq!(beyond("(a + b) * (c - d) is -e", 2), None);
        assert_eq!(beyond("(a + b) * (c - d) is e in f", 2), Some(23));
        assert_eq!(beyond("[a + b, a + b, a + b]", 1), None);
    }

    #[test]
    fn parts_of_a_list_stand_side_by_side() {
        assert!(!too_deep("[a + a, a + a, a + a, a + a]", 3));
        assert!(!too_deep("{ a = b; a = b; a = b; a = b; }", 3));
    }
}
