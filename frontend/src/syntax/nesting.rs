//! How deep the syntax tree of a statement can become, told from its tokens in one pass, so that neither the
//! recursive parser nor anybody who walks the tree meets more than [`crate::limits::Limits::nesting`] levels.

use super::token::{Token, TokenKind};

/// One open bracket.
#[derive(Default)]
struct Level {
    /// Levels of what was read since the last comma or semicolon.
    current: usize,
    /// The deepest part before it.
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

/// How many levels may arise: brackets, plus all operators that stand beside the deepest part. An upper bound:
/// `(a + b) + c` counts three. `Err` is the first token with which there may be more than `limit`.
pub(super) fn depth<'t>(text: &str, tokens: &'t [Token], limit: usize) -> Result<usize, &'t Token> {
    let mut outer: Vec<Level> = Vec::new();
    let mut level = Level::default();
    // Levels on the way down to the innermost bracket: right-hand operators nest what is still open.
    let mut above = 0;
    let mut deepest = 0;
    // `a[i][j]`: each bracket behind another nests what is before it
    let mut closed = false;
    let mut chains: Vec<bool> = Vec::new();
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
            TokenKind::Operator => level.current += 1,
            TokenKind::Word if matches!(text.get(token.start..token.end), Some("is" | "in")) => {
                level.current += 1;
            }
            _ => {}
        }
        closed = matches!(token.kind, TokenKind::Close(_));
        deepest = deepest.max(above + level.depth());
        if deepest > limit {
            return Err(token);
        }
    }
    Ok(deepest)
}

#[cfg(test)]
mod tests {
    use super::super::token::scan;
    use super::*;

    fn too_deep(text: &str, limit: usize) -> bool {
        depth(text, &scan(text), limit).is_err()
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
    fn parts_of_a_list_stand_side_by_side() {
        assert!(!too_deep("[a + a, a + a, a + a, a + a]", 3));
        assert!(!too_deep("{ a = b; a = b; a = b; a = b; }", 3));
    }
}
